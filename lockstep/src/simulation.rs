//! What a game implements.

use crate::action::Action;
use crate::ids::{PlayerId, Turn};

/// A deterministic simulation: the same calls in the same order give the same bits on every peer.
///
/// A turn runs as: `apply` for each action of the turn (players in order, each player's actions in the order in which they
/// were given), then `step` once per frame of the turn, then `checksum`.
pub trait Simulation {
    /// What players do.
    type Action: Action;

    /// Carries out a player's action. Impossible orders (a unit that is gone) must be ignored in the same way on every peer.
    fn apply(&mut self, player: PlayerId, action: &Self::Action);

    /// Advances by one frame of `1 / frames_per_second` seconds.
    fn step(&mut self, frames_per_second: u32);

    /// Hash of the whole state. Called after the last frame of each turn.
    fn checksum(&self) -> u64;

    /// The match is saved: keep a copy of the state as it is now, before the actions of `turn`. Called at the same turn on every peer;
    /// the state must not change by it. [`crate::Session::take_saved`] soon gives what belongs to it.
    fn save_point(&mut self, turn: Turn) {
        let _ = turn;
    }

    /// From `turn` on the player gives no more actions: left or dropped. Called at the start of the turn, before its actions.
    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        let _ = (player, turn);
    }
}
