//! Who gives a player's orders.

use testudo_lockstep::{PlayerId, Session, SubmitError, Turn};

use crate::app::watch::client::Client;
use crate::bots;
use crate::game::Order;

/// Orders that one click of a person may need: a scattered selection goes out in several.
pub(crate) const ORDERS_PER_TURN: u32 = 16;

/// Whose orders a player's army obeys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pilot {
    Person,
    Bot,
}

/// Gives the bot's order, if it has one. An order that finds the queue full is not given: the bot has seen the refusal.
pub(crate) fn play_bot(client: &Client, player: PlayerId, turn: Turn, session: &mut Session<Order>) {
    let order = bots::order(client.seen(), player, turn);
    if let Some(order) = order {
        let submitted = session.submit(&order);
        // What could only run after the last turn is refused too.
        let expected = matches!(submitted, Ok(()) | Err(SubmitError::TooLate { .. }));
        debug_assert!(expected, "player {player} in turn {turn}: {submitted:?}");
    }
}
