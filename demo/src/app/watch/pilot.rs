//! Bots and persons: who gives a player's orders.

use testudo_lockstep::{PlayerId, Session, SubmitError, Turn};

use crate::app::watch::game_copy::GameCopy;
use testudo_battle::Order;
use testudo_battle::bots::{self, Level};

/// Greatest number of orders for one click of a person: a scattered selection needs several.
pub(crate) const ORDERS_PER_TURN: u32 = 16;

/// The source of a player's orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Pilot {
    #[default]
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

/// Submits the bot's order, if it has one. If the queue is full, the order is dropped, and the bot knows it.
pub(crate) fn play_bot(
    level: Level,
    copy: &GameCopy,
    player: PlayerId,
    turn: Turn,
    session: &mut Session<Order>,
) {
    let order = bots::order_at(level, copy.seen(), player, turn);
    if let Some(order) = order {
        let submitted = session.submit(&order);
        // An order that could only run after the last turn is refused, too, and those of a player who comes back and is not there yet.
        let expected =
            matches!(submitted, Ok(()) | Err(SubmitError::TooLate { .. } | SubmitError::NotPlaying));
        debug_assert!(expected, "player {player} in turn {turn}: {submitted:?}");
    }
}
