//! The position of the match, and whether it can go on.

use crate::value::ids::Turn;
use crate::value::time::Duration;

/// Number of turns whose length is known: more than a player can be behind (the turns ahead, 8 at most, and the turn that it is in).
const LENGTHS: usize = 16;

/// Whether the next turn can begin. Exhaustive on purpose: a loop that forgets a case hangs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnStatus {
    /// Every player's entry for this turn is here.
    Ready(Turn),
    /// The match has not started, an entry is missing, the turn before has not ended, or the middle of the star has not been heard for long.
    Waiting,
    /// There are no more turns.
    Over,
}

/// The position of the match.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// Number of the next turn to begin.
    pub(super) turn: u32,
    /// The turn before `turn` has begun and has not ended.
    pub(super) in_turn: bool,
    pub(super) last_turn: Option<u32>,
    /// Folded checksum of the turn that ended last.
    pub(super) ended_checksum: Option<u32>,
    /// Number of frames simulated so far.
    pub(super) frames: u32,
    /// A relay: the entries below this number were complete when they were last forwarded.
    pub(super) complete: u32,
    /// Behind the middle of a star: the first turn that may not begin yet.
    pub(super) horizon: Option<u32>,
    /// Lengths of the last turns, by number.
    pub(super) lengths: [Duration; LENGTHS],
}

impl Gate {
    /// How long the turn `turn` lasts, which begins.
    pub(super) fn note_length(&mut self, turn: u32, length: Duration) {
        self.lengths[turn as usize % LENGTHS] = length;
    }

    /// How long one of the last turns lasts; zero if it did not begin here.
    pub(super) fn length_of(&self, turn: u32) -> Duration {
        self.lengths[turn as usize % LENGTHS]
    }

    /// The turn that ended last.
    pub(super) fn ended_turn(&self) -> Option<u32> {
        self.turn.checked_sub(1 + u32::from(self.in_turn))
    }

    /// Continues in a running match before this turn.
    pub(super) fn go_on(&mut self, turn: u32, frames: u32) {
        (self.turn, self.in_turn, self.frames) = (turn, false, frames);
        self.horizon = Some(turn);
    }
}
