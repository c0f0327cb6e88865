//! How a battle goes while it is played: a curve of its kills, and whether it is decided.

use testudo_lockstep::Simulation as _;

use crate::app::playback::curve::{ArmySample, Curve};
use testudo_battle::Game;

/// Frames of the match from one sample of the score to the next, at first: two seconds.
const SAMPLE_FRAMES: u32 = 40;

/// How a battle goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    curve: Option<Curve>,
    /// Time since the battle was decided, seconds; none before.
    decided: Option<f32>,
}

impl Score {
    /// Follows a battle for the time of one picture; true: in it the battle was decided.
    pub(crate) fn follow(&mut self, frame: u32, game: &Game, seconds: f32) -> bool {
        let is_new = game.result().is_some() && self.decided.is_none();
        let curve = self.curve.get_or_insert_with(|| Curve::every(SAMPLE_FRAMES, game));
        if is_new {
            curve.push(ArmySample::of(game));
        } else if self.decided.is_none() {
            curve.note(frame, game);
        }
        if game.result().is_some() {
            *self.decided.get_or_insert(0.0) += seconds;
        }
        is_new
    }

    /// The kills so far.
    pub(crate) fn curve(&self) -> Option<&Curve> {
        self.curve.as_ref()
    }

    /// Whether the battle was decided a moment ago, so that the last blow has been visible.
    pub(crate) fn is_last_blow_seen(&self) -> bool {
        /// Seconds.
        const LAST_LOOK: f32 = 1.5;
        self.decided.is_some_and(|seconds| seconds > LAST_LOOK)
    }
}
