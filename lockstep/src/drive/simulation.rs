//! What a game implements.

use crate::value::action::Action;
use crate::value::ids::{PlayerId, Turn};

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

    /// Hash of the whole state; must not change it. Called after the last frame of each turn. It is `&mut` because walks over the state
    /// are: usually `state::digest(self)`.
    fn checksum(&mut self) -> u64;

    /// The turn is over, and this is its checksum: for recordings. Default: nothing.
    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        let _ = (turn, checksum);
    }

    /// The match is saved: keep a copy of the state as it is now, before the actions of `turn`. Called at the same turn on every peer;
    /// the state must not change by it. [`crate::Session::take_saved`] soon gives what belongs to it.
    fn save_point(&mut self, turn: Turn) {
        let _ = turn;
    }

    /// From `turn` on the player gives no more actions: left or dropped. Called at the start of the turn, before its actions.
    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        let _ = (player, turn);
    }

    /// In place of [`Simulation::player_gone`] for a player who has given up. Default: the same.
    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.player_gone(player, turn);
    }

    /// In place of [`Simulation::player_gone`] if the game plays on for the player: who handed over, and with
    /// [`crate::SessionConfig::bots_take_over`] who left or was dropped. Default: the same as gone.
    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.player_gone(player, turn);
    }

    /// Plays for a player who was taken over: called at the player's place in the order of players, in place of the player's actions,
    /// in each turn from the one of [`Simulation::player_taken_over`] on in which the game does not stand. What it does must follow
    /// from the state alone, as every peer does it for itself. Default: nothing.
    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        let _ = (player, turn);
    }

    /// The result of the match when it is decided: a small value of the game's own (the team that has won). Asked for after the last frame
    /// of each turn; the first answer goes to all peers, who compare it ([`crate::Event::MatchResult`]). The match goes on: whether and
    /// when it ends is up to [`crate::Session::end_match`] or the number of turns. Default: never.
    fn result(&self) -> Option<u32> {
        None
    }
}
