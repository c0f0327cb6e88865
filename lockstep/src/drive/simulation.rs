//! What a game implements.

use crate::value::action::Action;
use crate::value::ids::{PlayerId, Turn};

/// A deterministic simulation: the same calls in the same order give the same bits on every peer.
///
/// A turn calls `turn_started`, then `apply` for each action of the turn (players in order, each player's actions in the order in which they
/// were submitted), then `step` once per frame of the turn, then `checksum`, then `turn_ended`.
pub trait Simulation {
    /// The game's actions.
    type Action: Action;

    /// Applies a player's action. Impossible actions (a unit that is gone) must be ignored in the same way on every peer.
    fn apply(&mut self, player: PlayerId, action: &Self::Action);

    /// Advances by one frame of `1 / frames_per_second` seconds.
    fn step(&mut self, frames_per_second: u32);

    /// Hash of the whole state; must not change the state. Called after the last frame of each turn, when a state has been loaded, and with no
    /// turns ahead before the first turn. It takes `&mut self` because walks over the state do; it is usually `state::digest(self)`.
    ///
    /// A difference that heals within a turn is seen only if the game remembers: one that compares every frame keeps its own checksum of the frame before as
    /// one of its numbers. It takes this in `step`, of the state before the frame: whether somebody has asked for a checksum since must not decide.
    ///
    /// A paused turn has no frames, but orders and players may change the state in it: the checksum must show this, too.
    ///
    /// It must be computed from the state that the simulation has now. A checksum that came inside a loaded state must never be returned: the
    /// library compares this value with what the other players say, and would compare a wrong state with itself.
    /// [`crate::testing::assert_deterministic`] finds a game that does so.
    fn checksum(&mut self) -> u64;

    /// A turn begins, before anything else of it, and has this many frames: none while the match is paused. For recordings and measurements;
    /// must not change the state. After a state was loaded, this tells where in the match it belongs. Default: does nothing.
    fn turn_started(&mut self, turn: Turn, frames: u32) {
        let _ = (turn, frames);
    }

    /// The turn is over, and this is its checksum. For recordings and measurements; must not change the state. Default: does nothing.
    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        let _ = (turn, checksum);
    }

    /// The peers' states differ from this turn on ([`Event::Desync`](crate::Event::Desync)). Called once, and once more if a peer that joins loads another
    /// state after it; at any time between two other calls, also in a turn that runs. For recordings ([`Recorded`](crate::replay::Recorded) marks the turn);
    /// must not change the state. Default: does nothing.
    fn desync_found(&mut self, turn: Turn) {
        let _ = turn;
    }

    /// The match is saved: keep a copy of the present state, before the actions of `turn`. Called at the same turn on every peer; must not
    /// change the state. Soon after, [`Session::take_saved`](crate::AnySession::take_saved) returns the rest of the save.
    fn save_point(&mut self, turn: Turn) {
        let _ = turn;
    }

    /// From `turn` on the player gives no more actions: the player left or was dropped. Called at the start of the turn, before its
    /// actions.
    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        let _ = (player, turn);
    }

    /// Called instead of [`Simulation::player_gone`] for a player who has given up. Default: the same.
    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.player_gone(player, turn);
    }

    /// Called instead of [`Simulation::player_gone`] if the game plays on for the player: for players who handed over and, with
    /// [`crate::SessionConfig::bots_take_over`], for those who left or were dropped. Default: the same as gone.
    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.player_gone(player, turn);
    }

    /// Plays for a player who was taken over: called at the player's place in the order of players, instead of the player's actions, in
    /// each turn in which the game is not paused, from the turn of [`Simulation::player_taken_over`] on. It must depend on the state alone,
    /// because every peer computes it. Default: does nothing.
    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        let _ = (player, turn);
    }

    /// From `turn` on a player who was gone is back and gives actions again. Called at the start of the turn, before its actions. What
    /// [`Simulation::player_gone`] or a bot did in the meantime stays. Default: does nothing.
    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        let _ = (player, turn);
    }

    /// Writes the whole state into `out`, which is empty, for a peer that joins the running match; usually `state::save`. Returns whether
    /// the game supports this. Default: it does not, so no peer can join a running match with this peer's help.
    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        let _ = out;
        false
    }

    /// Loads what [`Simulation::save_state`] of another peer wrote; usually `state::load`. The bytes are not trusted: after this call
    /// [`Simulation::checksum`] is computed anew and compared with the other players'. Everything that decides how the match goes on must
    /// be covered by it. May be called again, with another state, when the first has turned out to be wrong. Returns whether the bytes are a state of this
    /// game. If not, another state follows, or the session ends. Default: false.
    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let _ = bytes;
        false
    }

    /// The result of the match, once it is decided: a small value that the game defines (for example the winning team). Called after the
    /// last frame of each turn. The first value goes to all peers, who compare it ([`crate::Event::MatchResult`]). The match goes on until
    /// [`Session::end_match`](crate::AnySession::end_match) or its last turn. Default: never.
    fn result(&self) -> Option<u32> {
        None
    }
}
