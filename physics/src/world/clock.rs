//! Frames, and the time that they take.

use crate::motion::rates::{self, PerFrame};

/// The world's clock; part of the state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// Number of steps so far.
    pub(crate) frame: u64,
    /// Frames per second of the last step; the remainders in the bodies count in it. 0 before the first step.
    pub(crate) fps: u32,
    /// Remainder of the elapsed milliseconds, in 1/fps of a millisecond; below fps.
    pub(crate) remainder: u16,
}

impl Clock {
    /// Takes the rate of a step. Returns the former one if it was another, because all remainders count in it.
    pub(crate) fn change_rate(&mut self, fps: u32) -> Option<u32> {
        let old = core::mem::replace(&mut self.fps, fps);
        if old == fps || old == 0 {
            return None;
        }
        self.remainder = rates::rescale_remainder(self.remainder, old, fps);
        Some(old)
    }

    /// Length of this frame in milliseconds. The remainder counts later, so the sum is exact.
    pub(crate) fn pass(&mut self, per_frame: PerFrame) -> u16 {
        let (milliseconds, remainder) = per_frame.take(1_000, self.remainder);
        self.remainder = remainder;
        milliseconds as u16
    }
}
