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
    /// The frame that was followed last.
    frame: u32,
    /// Time since the battle was decided, seconds; none before.
    decided: Option<f32>,
}

impl Score {
    /// Follows a battle for the time of one picture; true: in it the battle was decided.
    pub(crate) fn follow(&mut self, frame: u32, game: &Game, seconds: f32) -> bool {
        let is_new = game.result().is_some() && self.decided.is_none();
        // Who comes late, or back, is shown the first formation until the state is there.
        let comes_in = frame < self.frame || self.frame == 0 && frame > SAMPLE_FRAMES;
        if comes_in && self.decided.is_none() {
            self.curve = None;
        }
        self.frame = frame;
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

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_battle::Setup;

    /// The kills before it came stood as a jump in the first two seconds.
    #[test]
    fn the_score_of_who_comes_in_the_middle_begins_then() {
        let game = Game::new(Setup { players: 2, units: 2, seed: 1, map: None }).unwrap();
        let mut score = Score::default();
        let mut samples = |frame: u32| {
            score.follow(frame, &game, 0.02);
            score.curve().map_or(0, |curve| curve.samples().count())
        };
        assert_eq!([0, 0, 6_000, 6_001, 6_039, 6_040].map(&mut samples), [1, 1, 1, 1, 1, 2]);
        // The connection is made again, and the copy begins anew.
        assert_eq!([0, 6_100, 6_140].map(&mut samples), [1, 1, 2]);
        // Nobody has looked for a while.
        assert_eq!([6_149, 6_579, 6_580].map(&mut samples), [2, 12, 13]);
    }
}
