//! Compares a replay with its recorded checksums in small steps, from the first turn to the last.

use std::rc::Rc;

use testudo_lockstep::Simulation as _;
use testudo_lockstep::replay::{Divergence, Replay, ReplayPlayer};

use crate::app::playback::budget::Budget;
use crate::app::playback::keyframes::Keyframes;
use crate::game::Game;

/// A comparison in progress.
pub(crate) struct Checking {
    player: ReplayPlayer<Game>,
    /// The turn after which the match was decided, and what [`Game::result`] said.
    decided: Option<(u32, u32)>,
    is_over: bool,
}

impl Checking {
    /// `game` is the match before its first turn.
    pub(crate) fn new(replay: Rc<Replay>, game: Game) -> Self {
        Self { player: ReplayPlayer::new(replay, game), decided: None, is_over: false }
    }

    /// Continues. Its states follow from the orders, so they are kept as targets of jumps.
    pub(crate) fn work(&mut self, keyframes: &mut Keyframes, budget: &mut Budget) {
        while !self.is_over && budget.take() {
            if self.player.frame() == 0 {
                self.begin_turn(keyframes);
            }
            let turn = self.player.turn();
            self.is_over = !self.player.step_frame();
            if self.decided.is_none() && self.player.turn() > turn {
                self.decided = self.player.simulation().result().map(|result| (turn, result));
            }
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

    /// Turns that have been compared.
    pub(crate) fn turns(&self) -> u32 {
        self.player.turn()
    }

    /// All turns and the last keyframe have been compared.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The first of the compared turns that differs from the recording.
    pub(crate) fn divergence(&self) -> Option<Divergence> {
        self.player.divergence()
    }

    /// The turn after which the match was decided, and [`Game::result`], within the compared turns.
    pub(crate) fn decided(&self) -> Option<(u32, u32)> {
        self.decided
    }

    /// Whether no difference in the file's keyframe of a turn is known.
    pub(crate) fn trusts(&self, turn: u32) -> bool {
        match self.divergence() {
            None => true,
            Some(Divergence::Keyframe { turn: first }) => turn < first,
            // The state after that turn already differs.
            Some(found) => turn <= found.turn(),
        }
    }

    /// Whether the file's keyframe of a turn is the state that follows from the orders.
    pub(crate) fn has_proven(&self, turn: u32) -> bool {
        let is_passed = turn < self.turns() || (turn == self.turns() && self.is_over);
        is_passed && self.trusts(turn)
    }
}
