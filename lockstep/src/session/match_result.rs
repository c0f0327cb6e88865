//! The result of a match, as the players report it.

use core::fmt;

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

/// Values in hexadecimal digits.
impl fmt::Display for MatchResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.agreed {
            write!(f, "the match is decided in turn {}", self.turn)?;
            let value = self.values.iter().find_map(|(_, value)| *value).or(self.own);
            return value.map_or(Ok(()), |value| write!(f, ", with the result {value:08x}"));
        }
        write!(f, "the results of turn {} differ", self.turn)?;
        for (at, (player, value)) in self.values.iter().enumerate() {
            write!(f, "{} player {player} has ", if at == 0 { ":" } else { "," })?;
            match value {
                Some(value) => write!(f, "{value:08x}")?,
                None => write!(f, "none")?,
            }
        }
        self.own.map_or(Ok(()), |own| write!(f, "; here it is {own:08x}"))
    }
}
