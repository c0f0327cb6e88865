//! Compares a replay with its recorded checksums in small steps, from the first turn to the last.

use std::sync::Arc;

use crate::drive::simulation::Simulation;
use crate::replay::Replay;
use crate::replay::player::{Divergence, ReplayPlayer};
use crate::replay::viewer::kept::Keyframes;
use crate::state::State;

/// A comparison in progress.
pub(super) struct Checking<S> {
    player: ReplayPlayer<S>,
    /// The turn after which the match was decided, and what [`Simulation::result`] said.
    decided: Option<(u32, u32)>,
    /// The state right after the first turn whose checksum differs from the recorded one.
    differing: Option<Vec<u8>>,
    is_over: bool,
}

impl<S: Simulation + State> Checking<S> {
    /// `game` is the match before its first turn.
    pub(super) fn new(replay: Arc<Replay>, game: S) -> Self {
        Self { player: ReplayPlayer::new(replay, game), decided: None, differing: None, is_over: false }
    }

    /// Continues, by so many frames at most. Its states follow from the orders, so they are kept as targets of jumps.
    pub(super) fn work(&mut self, keyframes: &mut Keyframes, frames_max: u32) {
        for _ in 0..frames_max {
            if self.is_over {
                return;
            }
            if self.player.frame() == 0 {
                self.begin_turn(keyframes);
            }
            let turn = self.player.turn();
            self.is_over = !self.player.step_frame();
            if self.player.turn() > turn {
                self.end_turn(turn);
            }
        }
    }

    fn end_turn(&mut self, turn: u32) {
        if self.decided.is_none() {
            self.decided = self.player.simulation().result().map(|result| (turn, result));
        }
        if self
            .divergence()
            .is_some_and(|found| matches!(found, Divergence::Checksum { turn: first, .. } if first == turn))
        {
            self.player.save(self.differing.insert(Vec::new()));
        }
    }

    fn begin_turn(&mut self, keyframes: &mut Keyframes) {
        let turn = self.player.turn();
        self.player.check_keyframe();
        if keyframes.wants(turn) {
            let mut state = Vec::new();
            self.player.save(&mut state);
            keyframes.keep(turn, state);
        }
    }

    /// The game in its present state.
    pub(super) fn simulation(&self) -> &S {
        self.player.simulation()
    }

    /// Turns that have been compared.
    pub(super) fn turns(&self) -> u32 {
        self.player.turn()
    }

    /// All turns and the last keyframe have been compared.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The first of the compared turns that differs from the recording.
    pub(super) fn divergence(&self) -> Option<Divergence> {
        self.player.divergence()
    }

    /// The state right after the first turn whose checksum differs from the recorded one.
    pub(super) fn differing(&self) -> Option<&[u8]> {
        self.differing.as_deref()
    }

    /// The turn after which the match was decided, and [`Simulation::result`], within the compared turns.
    pub(super) fn decided(&self) -> Option<(u32, u32)> {
        self.decided
    }

    /// Whether no difference in the file's keyframe of a turn is known.
    pub(super) fn trusts(&self, turn: u32) -> bool {
        self.divergence().is_none_or(|found| turn <= found.sound_until())
    }

    /// Whether the file's keyframe of a turn is the state that follows from the orders.
    pub(super) fn has_proven(&self, turn: u32) -> bool {
        let is_passed = turn < self.turns() || (turn == self.turns() && self.is_over);
        is_passed && self.trusts(turn)
    }
}
