//! What the signed statements of the players show.

use crate::signed::proof::{Proof, Verdict};
use crate::signed::statement::Statement;
use crate::value::ids::{Identity, PlayerId, Turn};

/// Two statements that cannot both be true. Reported once for each player involved.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Contradiction {
    /// Both statements, for anybody with the roster.
    pub proof: Proof,
    /// What they prove to anybody.
    pub verdict: Verdict,
    /// The possible liars. This peer excludes itself, and uses the links over which the entries arrived. One of them lies, so a single suspect is the liar.
    /// Empty: this peer cannot tell, because in a mesh anybody may have passed on false entries of others.
    pub suspects: Vec<Identity>,
}

/// A player whose simulation reached another state than those of most players, with the same orders. More than half of the active players
/// have signed this.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Outlier {
    /// Up to the start of this turn.
    pub turn: Turn,
    /// The player.
    pub player: PlayerId,
    /// The statements of the majority, and as the last one the player's own.
    pub statements: Vec<Statement>,
}
