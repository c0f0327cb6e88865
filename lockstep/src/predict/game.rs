//! What a game provides.

use crate::drive::simulation::Simulation;
use crate::value::ids::{PlayerId, Turn};

/// A game that can be predicted: it can be copied, and may guess what others do.
///
/// A copy must share nothing with its source that either of them changes. `Clone::clone_from` is called several times per second, and the default
/// one allocates: write it by hand if the state is large (`testudo_physics::World` has done so).
///
/// If the driver's simulation wraps this game, both must do the same for the same calls: the wrapper may record and measure, but a bot that plays for an absent
/// player ([`Simulation::play_for`]) must play in this game, too. A difference is never noticed.
pub trait Predict: Simulation + Clone {
    /// Called on each fresh copy before anything is predicted with it. What only the truth needs can be switched off here: hashes of each frame, a
    /// record, statistics. It must not change what the next frames look like. Default: does nothing.
    fn begin_prediction(&mut self) {}

    /// What a player does in a turn that nobody knows yet; the state is that before the turn's actions. Default: none, which means that the player's units
    /// continue their orders; in input mode ([`crate::SessionConfig::input`]), that the player holds the last known input.
    ///
    /// A wrong guess is worse than none: units that were sent the wrong way jump.
    fn guess(&self, player: PlayerId, turn: Turn) -> Option<Self::Action> {
        let _ = (player, turn);
        None
    }
}
