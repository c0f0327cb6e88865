//! The boxes of a tree by number, and pairs of them.

use crate::body::working_index::WorkingPair;
use crate::math::boxes::LANES;
use crate::math::plain::plain_data;

/// A box of one level of a tree, counted along the curve: at the lowest level that of the body in its lane, above that the bounds of a whole
/// block of eight boxes, which are its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct CurveBox(u32);

plain_data!(CurveBox: 0);

impl CurveBox {
    #[inline(always)]
    pub(crate) fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// Where its children are among the blocks of the level below; at the lowest level, where its body is in an array by lane.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }

    /// One of the boxes of the level below.
    #[inline(always)]
    pub(crate) fn child(self, lane: u32) -> Self {
        Self(self.0 * LANES as u32 + lane)
    }

    /// Its block among those of its level, and its lane there.
    #[inline(always)]
    pub(crate) fn block_and_lane(self) -> (usize, usize) {
        (self.at() / LANES, self.at() % LANES)
    }

    /// The one of the level above.
    pub(crate) fn parent(self) -> Self {
        Self(self.0 / LANES as u32)
    }
}

/// Two boxes of one level: `a` of the first tree, `b` of the second one, which may be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct CurvePair {
    pub(crate) a: CurveBox,
    pub(crate) b: CurveBox,
}

plain_data!(CurvePair: a, b);

impl CurvePair {
    /// How far apart they are along the curve.
    pub(crate) fn distance(self) -> u32 {
        self.a.0.abs_diff(self.b.0)
    }

    /// As the kernels by hand compute pairs: `a` is the lower half.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    pub(crate) fn number(self) -> u64 {
        u64::from(self.a.0) | u64::from(self.b.0) << 32
    }

    /// Pairs of the lowest level of the tree of the moving bodies, whose lanes are their working indices.
    pub(crate) fn movers(pairs: &[Self]) -> &[WorkingPair] {
        bytemuck::cast_slice(pairs)
    }
}
