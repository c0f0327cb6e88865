//! The states of the last frames.

use std::collections::VecDeque;

use twox_hash::XxHash3_64;

use crate::state::{self, State};

/// Greatest number of frames whose hashes fit into an answer.
pub const MOMENTS_MAX: usize = 64;

/// The states of the last frames, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    ring: VecDeque<Moment>,
    most: usize,
}

/// The state at the end of one frame.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) frame: u32,
    pub(super) hash: u64,
    pub(super) state: Vec<u8>,
}

impl Moments {
    /// Keeps the last `most` frames, 1..=[`MOMENTS_MAX`]: enough for the turns until a desync is noticed. Values out of range are clamped.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = most.clamp(1, MOMENTS_MAX);
        Self { ring: VecDeque::with_capacity(most), most }
    }

    /// A frame is over. Reuses the oldest frame's buffer. A repeated frame replaces the kept one.
    pub fn push<S: State>(&mut self, frame: u32, game: &mut S) {
        self.ring.pop_back_if(|last| last.frame == frame);
        let full = self.ring.len() == self.most;
        let mut state = self.ring.pop_front_if(|_| full).map(|moment| moment.state).unwrap_or_default();
        state::save(game, &mut state);
        self.ring.push_back(Moment { frame, hash: XxHash3_64::oneshot(&state), state });
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
