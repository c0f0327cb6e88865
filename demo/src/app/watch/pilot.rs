//! Who gives a player's orders.

use testudo_lockstep::{PlayerId, Session, SubmitError, Turn};

use crate::app::watch::client::Client;
use crate::bots::{self, Level};
use crate::game::Order;

/// Orders that one click of a person may need: a scattered selection goes out in several.
pub(crate) const ORDERS_PER_TURN: u32 = 16;

/// Whose orders a player's army obeys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pilot {
    Person,
    Bot(Level),
}

impl Pilot {
    /// How well a bot plays; none if a person plays.
    pub(crate) fn level(self) -> Option<Level> {
        match self {
            Self::Person => None,
            Self::Bot(level) => Some(level),
        }
    }
}

/// Gives the bot's order, if it has one. An order that finds the queue full is not given: the bot has seen the refusal.
pub(crate) fn play_bot(
    level: Level,
    client: &Client,
    player: PlayerId,
    turn: Turn,
    session: &mut Session<Order>,
) {
    let order = bots::order_at(level, client.seen(), player, turn);
    if let Some(order) = order {
        let submitted = session.submit(&order);
        // What could only run after the last turn is refused too.
        let expected = matches!(submitted, Ok(()) | Err(SubmitError::TooLate { .. }));
        debug_assert!(expected, "player {player} in turn {turn}: {submitted:?}");
    }
}
