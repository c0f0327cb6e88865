//! Where a contact stands among the batches of a step, or of one window.

use crate::body::indexed::indexed_by;
use crate::math::boxes::LANES;

/// A batch of the step, counted in the order of solving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct BatchIndex(u32);

impl BatchIndex {
    #[inline(always)]
    pub(crate) fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// Where the batch is in an array by batch.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }

    /// The one `batches` behind this one.
    #[inline(always)]
    pub(crate) fn behind(self, batches: u32) -> Self {
        Self(self.0 + batches)
    }

    /// This batch and all behind it.
    #[inline(always)]
    pub(crate) fn onward(self) -> impl Iterator<Item = Self> {
        (self.0..).map(Self)
    }
}

/// What is stored by batch of the step only. Its arrays take such an index as it is, and no other.
pub(crate) trait ByBatch {}

indexed_by!(BatchIndex, ByBatch);

/// A lane of a batch of the step; places are ordered by batch, then lane.
/// Two numbers: heaps are solved contact by contact, some hundreds of times, and taking one number apart costs 2 % of their steps.
///
/// A lane within its batch is a plain number everywhere: what it indexes has exactly [`LANES`] elements, and kernels shift masks by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ContactPlace {
    batch: BatchIndex,
    lane: u32,
}

impl ContactPlace {
    #[inline(always)]
    pub(crate) fn new(batch: BatchIndex, lane: usize) -> Self {
        Self { batch, lane: lane as u32 }
    }

    /// Its batch, or what else stands for that in an array by batch, and its lane there.
    #[inline(always)]
    pub(crate) fn of<T: ByBatch>(self, by_batch: &[T]) -> (&T, usize) {
        (&by_batch[self.batch], self.lane as usize)
    }

    /// [`Self::of`], to write.
    #[inline(always)]
    pub(crate) fn of_mut<T: ByBatch>(self, by_batch: &mut [T]) -> (&mut T, usize) {
        (&mut by_batch[self.batch], self.lane as usize)
    }
}

/// A lane of a batch of one window while that is filled, counted in lanes from the window's first batch on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct WindowPlace(u32);

impl WindowPlace {
    /// No place: neither body can be moved.
    pub(crate) const NOWHERE: Self = Self(u32::MAX);

    /// The first lane of a batch, which is behind `batches` others of its window.
    #[inline(always)]
    pub(crate) fn first_of(batches: u32) -> Self {
        Self(batches * LANES as u32)
    }

    /// Whether it is the first lane of a batch.
    #[inline(always)]
    pub(crate) fn is_first(self) -> bool {
        self.0.is_multiple_of(LANES as u32)
    }

    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Where it is in an array with an element for each lane of the window.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }

    /// Its batch, counted from the window's first one on, and its lane there.
    #[inline(always)]
    pub(crate) fn batch_and_lane(self) -> (usize, usize) {
        (self.at() / LANES, self.at() % LANES)
    }
}
