//! The liar's copy of the battle: a right one, about which it may say something else.

use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::app::watch::game_copy::GameCopy;
use crate::lie::Lie;
use testudo_battle::Order;

/// From this turn on it says wrong checksums.
const WRONG_FROM: u32 = 20;

/// The copy.
pub(crate) struct LyingCopy {
    truth: GameCopy,
    lie: Lie,
    turn: u32,
}

impl LyingCopy {
    pub(crate) fn new(truth: GameCopy, lie: Lie) -> Self {
        Self { truth, lie, turn: 0 }
    }

    pub(crate) fn truth(&self) -> &GameCopy {
        &self.truth
    }
}

impl Simulation for LyingCopy {
    type Action = Order;

    fn turn_started(&mut self, turn: Turn, frames: u32) {
        self.turn = turn.0;
        self.truth.turn_started(turn, frames);
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        self.truth.turn_ended(turn, checksum);
    }

    fn apply(&mut self, player: PlayerId, order: &Order) {
        self.truth.apply(player, order);
    }

    fn step(&mut self, frames_per_second: u32) {
        self.truth.step(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        let checksum = self.truth.checksum();
        let lies = self.lie == Lie::Checksum && self.turn >= WRONG_FROM;
        if lies { checksum ^ 1 } else { checksum }
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.truth.player_gone(player, turn);
    }

    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.truth.player_surrendered(player, turn);
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.truth.player_taken_over(player, turn);
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        self.truth.play_for(player, turn);
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.truth.player_returned(player, turn);
    }

    fn save_point(&mut self, turn: Turn) {
        self.truth.save_point(turn);
    }

    /// Only the last bytes are not the battle's.
    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        let is_saved = self.truth.save_state(out);
        if self.lie == Lie::Flip {
            flip(out);
        }
        is_saved
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        self.truth.load_state(bytes)
    }

    fn result(&self) -> Option<u32> {
        self.truth.result()
    }
}

/// The lowest bit of some unit's number: a battle that can be, but is not this one.
fn flip(state: &mut [u8]) {
    let middle = state.len() / 2;
    if let Some(byte) = state.get_mut(middle) {
        *byte ^= 1;
    }
}
