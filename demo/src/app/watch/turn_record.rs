//! A copy's state turn by turn, kept until it has been compared with the others.

use testudo_lockstep::Simulation;

use testudo_battle::Game;

/// What a copy remembers about a turn until all copies have been compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnRecord {
    /// What each frame of the turn has come to.
    pub(crate) frames: Vec<FrameRecord>,
    /// Checksum of the match up to the end of the turn.
    pub(crate) checksum: u64,
}

/// The state after a frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FrameRecord {
    pub(crate) checksum: u64,
    /// All of it, as [`Simulation::save_state`] writes it: looked into when the copies differ.
    pub(crate) state: Vec<u8>,
}

impl FrameRecord {
    pub(crate) fn of(game: &mut Game) -> Self {
        let mut state = Vec::new();
        // The battle's own copy of the walk, which is optimised.
        game.save_state(&mut state);
        Self { checksum: game.checksum(), state }
    }
}
