//! The liar's copy of the battle: a right one, about which it may say something else.

use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::app::watch::client::Client;
use crate::lie::Lie;
use testudo_battle::Order;

/// From this turn on it says wrong checksums.
const WRONG_FROM: u32 = 20;

/// The copy.
pub(crate) struct Copy {
    client: Client,
    lie: Lie,
    turn: u32,
}

impl Copy {
    pub(crate) fn new(client: Client, lie: Lie) -> Self {
        Self { client, lie, turn: 0 }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

impl Simulation for Copy {
    type Action = Order;

    fn turn_started(&mut self, turn: Turn, frames: u32) {
        self.turn = turn.0;
        self.client.turn_started(turn, frames);
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        self.client.turn_ended(turn, checksum);
    }

    fn apply(&mut self, player: PlayerId, order: &Order) {
        self.client.apply(player, order);
    }

    fn step(&mut self, frames_per_second: u32) {
        self.client.step(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        let checksum = self.client.checksum();
        let lies = self.lie == Lie::Checksum && self.turn >= WRONG_FROM;
        if lies { checksum ^ 1 } else { checksum }
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.client.player_gone(player, turn);
    }

    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.client.player_surrendered(player, turn);
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.client.player_taken_over(player, turn);
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        self.client.play_for(player, turn);
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.client.player_returned(player, turn);
    }

    fn save_point(&mut self, turn: Turn) {
        self.client.save_point(turn);
    }

    /// Only the last bytes are not the battle's.
    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        let is_saved = self.client.save_state(out);
        if self.lie == Lie::Flip {
            flip(out);
        }
        is_saved
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        self.client.load_state(bytes)
    }

    fn result(&self) -> Option<u32> {
        self.client.result()
    }
}

/// The lowest bit of some unit's number: a battle that can be, but is not this one.
fn flip(state: &mut [u8]) {
    let middle = state.len() / 2;
    if let Some(byte) = state.get_mut(middle) {
        *byte ^= 1;
    }
}
