//! Where a contact stands among the batches of a step.

/// A lane of a batch of the step; places are ordered by batch, then lane. A window that is being filled counts its own lanes, as plain numbers.
/// Two numbers: heaps are solved contact by contact, some hundreds of times, and taking one number apart costs 2 % of their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ContactPlace {
    batch: u32,
    lane: u32,
}

impl ContactPlace {
    #[inline(always)]
    pub(crate) fn new(batch: usize, lane: usize) -> Self {
        Self { batch: batch as u32, lane: lane as u32 }
    }

    /// Its batch, or what else stands for that in an array by batch, and its lane there.
    #[inline(always)]
    pub(crate) fn of<T>(self, by_batch: &[T]) -> (&T, usize) {
        (&by_batch[self.batch as usize], self.lane as usize)
    }

    /// [`Self::of`], to write.
    #[inline(always)]
    pub(crate) fn of_mut<T>(self, by_batch: &mut [T]) -> (&mut T, usize) {
        (&mut by_batch[self.batch as usize], self.lane as usize)
    }
}
