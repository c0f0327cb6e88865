//! Where a body is stored in its world.

use crate::body::indexed::indexed_by;
use crate::math::plain::plain_data;

/// The number of a body in the arrays of its world, counted from 0. Users see it as [`BodyId::index`](crate::BodyId::index). In memory it is
/// the number itself, so kernels gather and compare with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Slot(pub(crate) u32);

plain_data!(Slot: 0);

impl Slot {
    /// No slot: that of a lane without a body.
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline(always)]
    pub(crate) fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// Where its body is in an array by slot.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }

    /// The first `count` slots.
    pub(crate) fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..count as u32).map(Self)
    }
}

/// Two slots, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotPair(pub(crate) Slot, pub(crate) Slot);

impl SlotPair {
    /// The pair of two slots in any order.
    #[inline(always)]
    pub(crate) fn of(a: Slot, b: Slot) -> Self {
        Self(a.min(b), a.max(b))
    }

    /// The pair as a number of the same order.
    #[inline(always)]
    fn number(self) -> u64 {
        u64::from(self.0.0) << 32 | u64::from(self.1.0)
    }

    /// Sorts pairs as numbers, which takes less time.
    pub(crate) fn sort(pairs: &mut [Self]) {
        pairs.sort_unstable_by_key(|pair| pair.number());
    }
}

/// What is stored by slot only. Its arrays take a slot as it is, and no other index.
pub(crate) trait BySlot {}

indexed_by!(Slot, BySlot);
