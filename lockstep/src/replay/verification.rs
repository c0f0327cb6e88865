//! Verifies a whole replay in one call.

use core::fmt;

use crate::drive::simulation::Simulation;
use crate::replay::{Damage, Divergence, Ending, Replay, ReplayPlayer};
use crate::state::State;

/// The result of [`Replay::verify`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// Number of turns that were played.
    pub turns: u32,
    /// The turn of the match with which the recording begins, with the state before it in the file. None: with the first turn.
    pub start: Option<u32>,
    /// The first difference between the simulation and the recording.
    pub divergence: Option<Divergence>,
    /// Where the file is damaged. Later turns are lost.
    pub damage: Option<Damage>,
    /// How the recording ended. None: it was cut off, by a crash or by damage.
    pub ending: Option<Ending>,
    /// The first turn in which the peers of the match disagreed, if that was recorded. It does not make this replay unsound.
    pub desync: Option<u32>,
    /// Only the last checksum is recorded: see [`Replay::brief`].
    pub is_brief: bool,
}

impl Verification {
    /// Whether the replay is complete and undamaged, and every checksum and keyframe was reproduced.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.divergence.is_none() && self.damage.is_none() && self.ending.is_some()
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turns, start, divergence, damage, ending, desync: _, is_brief } = self;
        match divergence {
            Some(divergence) => write!(f, "differs from the recording: {divergence}")?,
            None if *is_brief => write!(f, "{turns} turns, the last checksum reproduced")?,
            None => write!(f, "{turns} turns, every checksum reproduced")?,
        }
        if let Some(start) = start {
            write!(f, "; it begins with a state before turn {start}")?;
        }
        match (damage, ending) {
            (Some(damage), _) => write!(f, "; the file is damaged: {damage}"),
            (None, None) => write!(f, "; the recording was cut off after turn {turns}"),
            (None, Some(_)) => Ok(()),
        }
    }
}

impl Replay {
    /// Plays the whole replay and compares every checksum and keyframe. `game` is the game in its state before the first turn.
    pub fn verify<S: Simulation + State>(self, game: S) -> Verification {
        let (damage, ending, desync) = (self.damage(), self.ending(), self.desync());
        let start = self.start().map(|(turn, _)| turn);
        let is_brief = self.is_brief();
        let mut player = ReplayPlayer::new(self, game);
        loop {
            player.check_keyframe();
            if !player.step_turn() {
                break;
            }
        }
        Verification {
            turns: player.turn(),
            start,
            divergence: player.divergence(),
            damage,
            ending,
            desync,
            is_brief,
        }
    }
}
