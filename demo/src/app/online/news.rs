//! What a seat tells while a match is prepared and played.

use std::net::SocketAddr;

use testudo_lockstep::PlayerId;

use crate::app::terms::Terms;
use crate::app::watch::diagnosis::Desync;
use crate::game::Order;

/// What happens while a match is prepared and played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// The host listens here.
    Listening(SocketAddr),
    /// The match, and the player's number.
    Seated { terms: Terms, player: u8 },
    /// A player has come.
    Joined(PlayerId),
    /// A player gives no more orders; a bot may play on.
    Gone { player: PlayerId, is_taken_over: bool },
    /// Everybody is here.
    Started,
    /// A turn has begun.
    Turn(u32),
    /// An order runs, here as everywhere.
    Ran { turn: u32, player: PlayerId, order: Order },
    /// The match stands and waits for these players.
    WaitingFor(Vec<PlayerId>),
    /// A player has asked for a pause, or for its end.
    Paused { player: PlayerId, paused: bool },
    /// The copies differ since this turn.
    Differs(u32),
}

/// What a seat knows of a difference between the copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Diagnosis {
    /// The host only answers.
    GuestsAsk,
    /// The host is being asked.
    Asking,
    /// The host has not answered, or no number differs any more.
    Unknown,
    Found {
        /// The first value is the host's, the second this copy's.
        desync: Desync,
        /// Whether the orders lead to this copy's state again; none if that cannot be told.
        is_reproduced: Option<bool>,
    },
}
