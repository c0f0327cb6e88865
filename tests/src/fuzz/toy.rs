//! The smallest game with actions that have ranges, several sizes, and bits that decode to nothing.

use std::cell::Cell;

use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, Driver, PlayerId, Session, Simulation};

/// An action of 3 to 20 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// Kind 0, and zeros to the longest length: the input of who does nothing.
    Beat,
    /// Kind 1: -100..=100.
    Push(i8),
    /// Kind 2.
    Number(u16),
    /// Kind 3: 0..=9 in Exp-Golomb code, and an even number in 4 bits.
    Pair(u32, u8),
}

impl Action for Act {
    const MAX_BITS: u32 = 20;

    fn encode(&self, out: &mut BitWriter) {
        match *self {
            Self::Beat => out.write_bits(0, Self::MAX_BITS),
            Self::Push(by) => {
                out.write_bits(1, 3);
                out.write_bits((i64::from(by) + 100) as u64, 8);
            }
            Self::Number(number) => {
                out.write_bits(2, 3);
                out.write_bits(u64::from(number), 16);
            }
            Self::Pair(first, second) => {
                out.write_bits(3, 3);
                out.write_golomb(first, 1);
                out.write_bits(u64::from(second), 4);
            }
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match input.read_max(3, 3)? {
            0 => input.read_max(Self::MAX_BITS - 3, 0).map(|_| Self::Beat)?,
            1 => Self::Push((input.read_max(8, 200)? as i64 - 100) as i8),
            2 => Self::Number(input.read_bits(16)? as u16),
            _ => {
                let (first, second) = (input.read_golomb(1, 9)?, input.read_bits(4)? as u8);
                if second % 2 == 1 {
                    return Err(DecodeError::NotCanonical);
                }
                Self::Pair(first, second)
            }
        })
    }
}

/// Remembers every action in the order in which it ran, and the turn.
#[derive(Debug, Default)]
pub(super) struct Game {
    frames: u32,
    /// Turn, counted from the first one here; player; action.
    pub(super) log: Vec<(u32, u8, Act)>,
    turns: Cell<u32>,
}

impl Game {
    /// Turns that have ended.
    pub(super) fn turns(&self) -> u32 {
        self.turns.get()
    }
}

impl Simulation for Game {
    type Action = Act;

    fn apply(&mut self, player: PlayerId, action: &Act) {
        self.log.push((self.turns(), player.0, action.clone()));
    }

    fn step(&mut self, frames_per_second: u32) {
        assert!(frames_per_second > 0);
        self.frames += 1;
    }

    fn checksum(&mut self) -> u64 {
        // A turn ends with this call.
        self.turns.set(self.turns() + 1);
        (u64::from(self.frames) << 32) + self.log.len() as u64
    }
}

/// A peer of the game.
pub(super) type Peer = Driver<Game>;

/// A peer that runs a new game.
pub(super) fn peer(session: Session<Act>) -> Peer {
    Driver::new(Game::default(), session)
}
