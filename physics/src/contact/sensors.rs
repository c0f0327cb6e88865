//! Overlaps of sensors with other bodies, from frame to frame.

use alloc::vec::Vec;

use crate::contact::cache::{SlotPair, sorted_pair};
use crate::math::copy::clone_in_place;

/// The overlaps of the last step, and the changes. `overlaps` is state.
#[derive(Debug, Default)]
pub(crate) struct SensorOverlaps {
    /// Sorted, each pair once.
    pub(crate) overlaps: Vec<SlotPair>,
    found: Vec<SlotPair>,
    pub(crate) began: Vec<SlotPair>,
    pub(crate) ended: Vec<SlotPair>,
}

clone_in_place!(SensorOverlaps: overlaps, began, ended; not found);

impl SensorOverlaps {
    /// Starts a step.
    pub(crate) fn begin_step(&mut self) {
        self.found.clear();
    }

    /// Notes an overlap of this step.
    pub(crate) fn push(&mut self, a: u32, b: u32) {
        self.found.push(sorted_pair(a, b));
    }

    /// Compares with the last step. `unseen` says which old pairs no phase of this step looked at; they persist.
    pub(crate) fn end_step(&mut self, unseen: impl Fn(SlotPair) -> bool, reborn: impl Fn(SlotPair) -> bool) {
        self.began.clear();
        self.ended.clear();
        if self.overlaps.is_empty() && self.found.is_empty() {
            return;
        }
        self.found.extend(self.overlaps.iter().copied().filter(|&pair| unseen(pair)));
        self.found.sort_unstable();
        self.found.dedup();
        // A pair with a new body in an old slot is another pair: the old one ends, and the new one begins.
        let lasting =
            |pair: &SlotPair, other: &[SlotPair]| other.binary_search(pair).is_ok() && !reborn(*pair);
        self.began.extend(self.found.iter().filter(|pair| !lasting(pair, &self.overlaps)));
        self.ended.extend(self.overlaps.iter().filter(|pair| !lasting(pair, &self.found)));
        core::mem::swap(&mut self.overlaps, &mut self.found);
    }
}
