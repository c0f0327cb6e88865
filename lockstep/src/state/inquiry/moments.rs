//! The states of the last frames.

use core::fmt;
use std::collections::VecDeque;

use twox_hash::XxHash3_64;

use crate::state::{self, State};

/// Greatest number of frames whose hashes fit into an answer.
pub const MOMENTS_MAX: usize = 64;

/// Why the states of the last frames are not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MomentsError {
    /// There are too few or too many of them.
    OutOfRange {
        /// The given number of frames.
        most: usize,
        /// The smallest.
        min: usize,
        /// The largest.
        max: usize,
    },
}

impl fmt::Display for MomentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::OutOfRange { most, min, max } = self;
        write!(f, "the states of the last {min} to {max} frames can be kept, not of {most}")
    }
}

impl std::error::Error for MomentsError {}

/// The states of the last frames, oldest first. The default keeps [`MOMENTS_MAX`] of them.
#[derive(Clone, Debug)]
pub struct Moments {
    ring: VecDeque<Moment>,
    most: usize,
    bytes_max: usize,
}

/// The state at the end of one frame.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) frame: u32,
    pub(super) hash: u64,
    pub(super) state: Vec<u8>,
}

impl Default for Moments {
    fn default() -> Self {
        Self { ring: VecDeque::with_capacity(MOMENTS_MAX), most: MOMENTS_MAX, bytes_max: usize::MAX }
    }
}

impl Moments {
    /// Keeps the last `most` frames, 1..=[`MOMENTS_MAX`]: enough for the turns until a desync is noticed.
    ///
    /// # Errors
    /// [`MomentsError::OutOfRange`] if `most` is out of its range.
    pub fn new(most: usize) -> Result<Self, MomentsError> {
        if !(1..=MOMENTS_MAX).contains(&most) {
            return Err(MomentsError::OutOfRange { most, min: 1, max: MOMENTS_MAX });
        }
        Ok(Self { ring: VecDeque::with_capacity(most), most, bytes_max: usize::MAX })
    }

    /// Keeps fewer frames if their states have more bytes together; the last one always. Default: no limit.
    #[must_use]
    pub fn bytes_max(self, bytes: usize) -> Self {
        Self { bytes_max: bytes, ..self }
    }

    /// A frame is over. Reuses the oldest frame's buffer. A repeated frame replaces the kept one.
    pub fn push<S: State>(&mut self, frame: u32, game: &mut S) {
        self.push_saved(frame, |state| state::save(game, state));
    }

    /// Like [`Moments::push`]. `save` writes the state into an empty buffer, as [`state::save`] would: a game that has that walk compiled already need not
    /// compile it again.
    pub fn push_saved(&mut self, frame: u32, save: impl FnOnce(&mut Vec<u8>)) {
        self.ring.pop_back_if(|last| last.frame == frame);
        let full = self.ring.len() == self.most;
        let mut state = self.ring.pop_front_if(|_| full).map(|moment| moment.state).unwrap_or_default();
        state.clear();
        save(&mut state);
        self.ring.push_back(Moment { frame, hash: XxHash3_64::oneshot(&state), state });
        let mut bytes: usize = self.ring.iter().map(|moment| moment.state.len()).sum();
        while bytes > self.bytes_max
            && self.ring.len() > 1
            && let Some(oldest) = self.ring.pop_front()
        {
            bytes -= oldest.state.len();
        }
    }

    /// The kept state of a frame.
    pub(super) fn of(&self, frame: u32) -> Option<&Moment> {
        self.ring.iter().find(|moment| moment.frame == frame)
    }

    /// The kept frames and their hashes, oldest first.
    pub(super) fn hashes(&self) -> Vec<(u32, u64)> {
        self.ring.iter().map(|moment| (moment.frame, moment.hash)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{StateError, Visit};

    struct Counter(u32);

    impl State for Counter {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.number("count", &mut self.0)
        }
    }

    fn kept(mut moments: Moments) -> usize {
        (0..200).for_each(|frame| moments.push(frame, &mut Counter(frame)));
        moments.hashes().len()
    }

    #[test]
    fn numbers_of_frames_out_of_range_are_refused() {
        for most in [0, MOMENTS_MAX + 1, usize::MAX] {
            let expected = MomentsError::OutOfRange { most, min: 1, max: 64 };
            assert_eq!(Moments::new(most).err(), Some(expected));
        }
        for most in [1, MOMENTS_MAX] {
            assert_eq!(kept(Moments::new(most).unwrap()), most);
        }
    }

    /// 64 states of the greatest size had a gigabyte.
    #[test]
    fn the_states_have_no_more_bytes_than_set() {
        for (bytes, frames) in [(0, 1), (4, 1), (39, 9), (40, 10), (4_000, MOMENTS_MAX)] {
            assert_eq!(kept(Moments::default().bytes_max(bytes)), frames, "{bytes}");
        }
    }

    /// It kept all frames.
    #[test]
    fn the_default_keeps_as_many_frames_as_fit_into_an_answer() {
        assert_eq!(kept(Moments::default()), MOMENTS_MAX);
    }
}
