//! The smallest game, for actions of any kind: its state is a hash of everything that happened, in order.

use std::marker::PhantomData;

use testudo_lockstep::{Action, BitWriter, PlayerId, Simulation, Turn};

/// Two peers agree on it only if every action ran exactly once, in the same frame and order.
#[derive(Clone, Debug)]
pub(crate) struct Tally<A> {
    pub(crate) frames: u64,
    pub(crate) history: u64,
    pub(crate) actions: u64,
    /// Players that are gone, as this copy was told.
    pub(crate) gone: Vec<u8>,
    action: PhantomData<A>,
}

impl<A> Default for Tally<A> {
    fn default() -> Self {
        Self { frames: 0, history: 0, actions: 0, gone: Vec::new(), action: PhantomData }
    }
}

impl<A> Tally<A> {
    fn mix(&mut self, value: u64) {
        self.history = (self.history ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

impl<A: Action> Simulation for Tally<A> {
    type Action = A;

    fn apply(&mut self, player: PlayerId, action: &A) {
        let mut writer = BitWriter::new();
        action.encode(&mut writer);
        writer.bytes().iter().for_each(|byte| self.mix(u64::from(*byte)));
        self.mix(self.frames << 8 | u64::from(player.0));
        self.actions += 1;
    }

    fn step(&mut self, frames_per_second: u32) {
        self.frames += 1;
        self.mix(u64::from(frames_per_second) << 20);
    }

    fn checksum(&mut self) -> u64 {
        self.history
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.mix(1 << 48 | u64::from(turn.0) << 8 | u64::from(player.0));
        self.gone.push(player.0);
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.mix(2 << 48 | u64::from(turn.0) << 8 | u64::from(player.0));
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.mix(3 << 48 | u64::from(turn.0) << 8 | u64::from(player.0));
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        for number in [self.frames, self.history, self.actions] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let [frames, history, actions] = numbers else { return false };
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        (self.frames, self.history, self.actions) = (number(frames), number(history), number(actions));
        rest.is_empty()
    }
}
