//! The numbers of bodies in the working arrays of a step.

use crate::body::indexed::indexed_by;
use crate::math::plain::plain_data;

/// A body of a step, see [`Working`](crate::step::working::Working): the lane of a moving one; behind these the dummy and the bodies at rest.
/// In memory it is the number itself, so kernels gather with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct WorkingIndex(pub(crate) u32);

plain_data!(WorkingIndex: 0);

/// Two bodies of a step. Of a moving one and one at rest, the moving one is the first.
pub(crate) type WorkingPair = [WorkingIndex; 2];

impl WorkingIndex {
    #[inline(always)]
    pub(crate) fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// Where the body is in an array by working index.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// What is stored by working index only. Its arrays take such an index as it is, and no other.
pub(crate) trait ByWorkingIndex {}

indexed_by!(WorkingIndex, ByWorkingIndex);
