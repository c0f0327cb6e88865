//! Deep overlaps of two bodies.

use crate::body::record::Shell;
use crate::body::working_index::WorkingPair;
use crate::collide::narrow_phase::separation;
use crate::math::axes::both;

/// Whether two moving bodies overlap deeply, see [`is_deep`].
pub(crate) fn overlaps_deeply(shells: &[Shell], pair: WorkingPair) -> bool {
    let [a, b] = both(pair, |index| &shells[index]);
    is_deep(a, b, separation(a, b).1)
}

/// Whether two bodies that contacts can move overlap by more than half of the smaller one's least half extent.
pub(crate) fn is_deep(a: &Shell, b: &Shell, gap: i32) -> bool {
    let extent = |shell: &Shell| shell.half[0].min(shell.half[1]) + shell.radius;
    a.mass != 0 && b.mass != 0 && gap < -(extent(a).min(extent(b)) / 2)
}
