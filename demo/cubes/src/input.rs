//! The six keys of the scene, as bits.

use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError};
use testudo_physics::Pcg32;

/// The keys that are down in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Input {
    /// To the left.
    pub left: bool,
    /// To the right.
    pub right: bool,
    /// Upwards: y grows.
    pub up: bool,
    /// Downwards.
    pub down: bool,
    /// Lifts the player's cube and blows the others away.
    pub space: bool,
    /// Gathers the others.
    pub z: bool,
}

impl Input {
    fn keys(self) -> [bool; 6] {
        [self.left, self.right, self.up, self.down, self.space, self.z]
    }

    /// As one byte, the first key in the lowest bit.
    pub fn bits(self) -> u8 {
        self.keys().into_iter().rev().fold(0, |bits, key| bits << 1 | u8::from(key))
    }

    /// -1, 0 or 1 along each axis; y points up.
    pub fn direction(self) -> (i32, i32) {
        (i32::from(self.right) - i32::from(self.left), i32::from(self.up) - i32::from(self.down))
    }
}

impl Action for Input {
    const MAX_BITS: u32 = 6;

    fn encode(&self, out: &mut BitWriter) {
        self.keys().into_iter().for_each(|key| out.write_bool(key));
    }

    fn decode(bits: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let mut key = || bits.read_bool();
        Ok(Self { left: key()?, right: key()?, up: key()?, down: key()?, space: key()?, z: key()? })
    }
}

/// Shortest and longest time for which the autopilot holds the same keys, in frames.
const HOLD_FRAMES: (u32, u32) = (10, 70);

/// Presses keys like a person who tries them out. It is a player, not state: its choices reach the scene as [`Input`]s.
#[derive(Clone, Debug)]
pub struct Autopilot {
    rng: Pcg32,
    held: Input,
    frames_left: u32,
}

impl Autopilot {
    /// Other seeds press other keys.
    pub fn new(seed: u64) -> Self {
        Self { rng: Pcg32::new(seed, 1), held: Input::default(), frames_left: 0 }
    }

    /// The keys of the next frame.
    pub fn press(&mut self) -> Input {
        if self.frames_left == 0 {
            let (least, most) = HOLD_FRAMES;
            self.frames_left = least + self.rng.below(most - least + 1);
            let (x, y) = (self.rng.below(3), self.rng.below(3));
            let trick = self.rng.below(10);
            self.held = Input {
                left: x == 1,
                right: x == 2,
                up: y == 1,
                down: y == 2,
                space: trick < 2,
                z: (2..6).contains(&trick),
            };
        }
        self.frames_left -= 1;
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_keys_is_six_bits() {
        for bits in 0..64_u8 {
            let input = Input::decode(&mut BitReader::new(&[bits])).unwrap();
            let mut out = BitWriter::new();
            input.encode(&mut out);
            assert_eq!((out.bit_count(), out.bytes()), (Input::MAX_BITS, &[bits][..]), "{input:?}");
        }
    }

    #[test]
    fn the_autopilot_tries_every_key() {
        let mut autopilot = Autopilot::new(1);
        let mut pressed = [0; 6];
        for _ in 0..3_600 {
            let input = autopilot.press();
            assert!(!(input.left && input.right || input.up && input.down));
            for (count, key) in pressed.iter_mut().zip(input.keys()) {
                *count += u32::from(key);
            }
        }
        assert!(pressed.iter().all(|&frames| frames > 300), "{pressed:?}");
    }
}
