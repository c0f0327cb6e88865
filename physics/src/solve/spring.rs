//! The springs of soft contacts. They are damped and never pull.

use crate::math::lanes::{UNIT, UNIT_BITS};
use crate::solve::deep::PUSH_MAX;
use crate::solve::push::OVERLAP_ALLOWED;
use crate::solve::solver::NO_LIMIT;

/// A spring, 30 fraction bits. With frequency f, damping ratio z = 10, sub-step h, c = 2 pi f h and a = 2 z + c, `kept` is c a / (1 + c a)
/// and `push` is that times c / a: the speed per overlap and sub-step.
pub(crate) struct Spring {
    /// The part of an impulse that a soft pass keeps.
    pub(crate) kept: i32,
    push: i64,
}

/// Between movable bodies: f h = 1/4. Twice as stiff against immovable ones, so that nothing sinks into them.
const SPRINGS: [Spring; 2] =
    [Spring { kept: 1_042_960_878, push: 75_948_940 }, Spring { kept: 1_059_173_024, push: 143_788_297 }];

impl Spring {
    /// That of a contact whose first body takes this share of the speed change.
    #[inline(always)]
    pub(crate) fn of(share: i32) -> &'static Self {
        &SPRINGS[usize::from(share == 0 || share == UNIT)]
    }

    /// Least separating speed, with `rate` sub-steps per second. Apart: the gap may close within this sub-step, no faster. Overlapping: the speed of
    /// the spring.
    #[inline(always)]
    pub(crate) fn limit(&self, gap: i32, rate: u32) -> i32 {
        let (gap, rate) = (i64::from(gap), i64::from(rate));
        // Beyond 16 units every spring has its greatest speed; 2^20 * 2^13 * 2^28 fits.
        let overlap = (-gap - OVERLAP_ALLOWED).clamp(0, 16 << 16);
        let push = (overlap * rate * self.push) >> UNIT_BITS;
        let apart = gap.max(0) * rate;
        (push.min(PUSH_MAX) - apart).max(i64::from(NO_LIMIT) + 1) as i32
    }
}
