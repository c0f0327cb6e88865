//! The result of a match, as the players report it.

use crate::value::ids::{PlayerId, Turn};

/// The results that the players' simulations found at the end of one turn. They are compared like checksums.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MatchResult {
    /// The turn at whose end the match was decided, according to the first player who reported it.
    pub turn: Turn,
    /// The value of each player who was in the match then; none if the player found no decision at this turn.
    pub values: Vec<(PlayerId, Option<u32>)>,
    /// The value of this peer's own simulation, also on a watcher.
    pub own: Option<u32>,
    /// Whether all values are equal.
    pub agreed: bool,
}
