//! The time of a crowd.

use testudo_physics::Rate;

use crate::flow::SCATTER;

/// Microseconds.
pub(super) const MS: u32 = 1_000;
pub(super) const SECOND: i64 = 1_000_000;

/// The time since a crowd was made, microseconds: frames of any length add up. Units note times and no frames, so a pause is as long as it should be if the
/// rate of frames changes meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// When this frame begins; between two frames, when the next one does. It wraps.
    pub(super) now: u64,
    /// When this frame ends.
    // not state: the same as above between two frames
    next: u64,
    /// What a frame adds.
    pub(super) frames: Rate,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { now: 0, next: 0, frames: Rate::new(SECOND) }
    }

    /// A clock as it was saved: its time, and what the rate of frames left over.
    pub(super) fn restored(now: u64, remainder: (u32, u32)) -> Option<Self> {
        Some(Self { now, next: now, frames: Rate::from_parts(SECOND, remainder)? })
    }

    /// A frame begins. Returns the frames per second of the one before, 0 if there was none.
    pub(super) fn begin(&mut self, rate: u32) -> u32 {
        let (_, before) = self.frames.remainder();
        self.next = self.now.wrapping_add(self.frames.take(rate).unsigned_abs());
        before
    }

    pub(super) fn end(&mut self) {
        self.now = self.next;
    }

    /// Microseconds until the next turn of one of many that ask again and again, `period` apart: all frames have about as many of them.
    pub(super) fn until_turn(&self, number: u32, period: u32) -> u32 {
        let phase = (u64::from(number.wrapping_mul(SCATTER)) * u64::from(period)) >> 32;
        let period = u64::from(period.max(1));
        (period - self.now.wrapping_sub(phase) % period) as u32
    }

    /// When this frame begins, as units note it: the low bits, enough for half an hour.
    pub(super) fn now(&self) -> u32 {
        self.now as u32
    }

    /// When the next frame begins. What is due before that is done in this frame.
    pub(super) fn next(&self) -> u32 {
        self.next as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_a_second_whatever_the_rates() {
        let mut clock = Clock::new();
        for rate in [1, 3, 7, 20, 60, 144, 999, 1_000, 10] {
            let before = clock.now;
            for _ in 0..rate {
                clock.begin(rate);
                clock.end();
            }
            assert_eq!(clock.now - before, 1_000_000, "at {rate}");
        }
    }
}
