//! Soft contacts in sub-steps: how a world with gravity comes to rest.
//!
//! Under gravity a rigid contact that separates overlaps shakes the stack above it. A soft contact is a damped spring that never pulls: it
//! settles at a small overlap. A frame is divided into sub-steps of at most 1/80 second. Each has its part of gravity, a warm start, soft
//! passes, a part of the motion, and relaxing passes that remove the springs' speed. Collisions are found once per frame; gaps follow the
//! motion along their normals. ("Soft Step": E. Catto, *Solver2D*, 2024; formulas as in Box2D's `b2MakeSoft`.)

use alloc::vec::Vec;

use crate::math::boxes::LANES;
use crate::math::lanes::{UNIT, UNIT_BITS};
use crate::solve::coloring::Batches;
use crate::solve::deep::PUSH_MAX;
use crate::solve::push::OVERLAP_ALLOWED;
use crate::solve::solver::{Batch, NO_LIMIT, Softness, Velocity};
use crate::solve::wedged::Wedged;

/// Least number of sub-steps per second, up to [`PARTS_MAX`] per frame.
const RATE_MIN: u32 = 80;

/// Greatest number of sub-steps per frame.
const PARTS_MAX: u32 = 8;

/// A spring, 30 fraction bits. With frequency f, damping ratio z = 10, sub-step h, c = 2 pi f h and a = 2 z + c, `kept` is c a / (1 + c a)
/// and `push` is that times c / a: the speed per overlap and sub-step.
struct Spring {
    kept: i32,
    push: i64,
}

/// Between movable bodies: f h = 1/4. Twice as stiff against immovable ones, so that nothing sinks into them.
const SPRINGS: [Spring; 2] =
    [Spring { kept: 1_042_960_878, push: 75_948_940 }, Spring { kept: 1_059_173_024, push: 143_788_297 }];

/// Number of sub-steps of a frame.
pub(crate) fn parts(fps: u32) -> u32 {
    RATE_MIN.div_ceil(fps).min(PARTS_MAX)
}

/// Data of the sub-steps in addition to the batches. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftContacts {
    /// Distance between the surfaces along the normal, by batch and lane.
    gaps: Vec<[i32; LANES]>,
    /// Whether a lane is solved as rigid, whatever its overlap.
    rigid: Vec<[bool; LANES]>,
    pub(crate) softness: Vec<Softness>,
    /// Sub-steps per second.
    rate: u32,
}

impl SoftContacts {
    /// Starts a frame with `rate` sub-steps per second; the contacts in `rigid` (batch, lane) are not springs.
    pub(crate) fn begin(&mut self, batches: &mut Batches, rigid: &[(u32, u32)], wedged: &Wedged, rate: u32) {
        self.rate = rate;
        self.gaps.clear();
        self.gaps.extend(batches.origins().iter().map(|origins| origins.gap));
        for &((batch, lane), gap) in &wedged.gaps {
            self.gaps[batch as usize][lane as usize] = gap;
        }
        self.rigid.clear();
        self.rigid.resize(self.gaps.len(), [false; LANES]);
        for &(batch, lane) in rigid {
            self.rigid[batch as usize][lane as usize] = true;
        }
        self.softness.clear();
        self.softness.resize(self.gaps.len(), [UNIT; LANES]);
        self.set_limits(batches.as_mut_slice());
    }

    /// Advances the gaps by one sub-step. The limits stay the same until [`Self::set_limits`], so a gap that closes in the next sub-step
    /// does not brake in this one.
    pub(crate) fn advance(&mut self, batches: &[Batch], velocities: &[Velocity]) {
        let per_part = (1 << 32) / i64::from(self.rate);
        for (batch, gaps) in batches.iter().zip(&mut self.gaps) {
            for lane in 0..LANES {
                let way = (i64::from(batch.approach(lane, velocities)) * per_part + (1 << 31)) >> 32;
                gaps[lane] = gaps[lane].wrapping_sub(way as i32);
            }
        }
    }

    /// Limits and softness of the next sub-step.
    pub(crate) fn set_limits(&mut self, batches: &mut [Batch]) {
        let lanes = self.gaps.iter().zip(&self.rigid).zip(&mut self.softness);
        for (batch, ((gaps, rigid), softness)) in batches.iter_mut().zip(lanes) {
            for lane in 0..LANES {
                if batch.biased[lane] != NO_LIMIT {
                    let share = batch.share_a[lane];
                    let spring = &SPRINGS[usize::from(share == 0 || share == UNIT)];
                    let limit = limit(gaps[lane], self.rate, spring);
                    batch.biased[lane] = limit;
                    let soft = limit >= 0 && !rigid[lane];
                    softness[lane] = if soft { spring.kept } else { UNIT };
                }
            }
        }
    }
}

/// Least separating speed. Apart: the gap may close within this sub-step, no faster. Overlapping: the speed of the spring.
#[inline(always)]
fn limit(gap: i32, rate: u32, spring: &Spring) -> i32 {
    let (gap, rate) = (i64::from(gap), i64::from(rate));
    // Beyond 16 units every spring has its greatest speed; 2^20 * 2^13 * 2^28 fits.
    let overlap = (-gap - OVERLAP_ALLOWED).clamp(0, 16 << 16);
    let push = (overlap * rate * spring.push) >> UNIT_BITS;
    let apart = gap.max(0) * rate;
    (push.min(PUSH_MAX) - apart).max(i64::from(NO_LIMIT) + 1) as i32
}
