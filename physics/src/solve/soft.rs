//! Soft contacts in sub-steps: how a world with gravity comes to rest.
//!
//! Under gravity a rigid contact that separates overlaps shakes the stack above it. A soft contact is a damped spring that never pulls: it
//! settles at a small overlap. A frame is divided into sub-steps of at most 1/80 second, but no more than eight. Each has its part of
//! gravity, a warm start, soft passes, a part of the motion, and relaxing passes that remove the springs' speed. Collisions are found once
//! per frame; gaps follow the motion along their normals. ("Soft Step": E. Catto, *Solver2D*, 2024; formulas as in Box2D's `b2MakeSoft`.)

use alloc::vec::Vec;

use crate::math::boxes::LANES;
use crate::math::lanes::UNIT;
use crate::solve::batches::Batches;
use crate::solve::contact_place::ByBatch;
use crate::solve::solver::{Batch, NO_LIMIT, Softness, Velocity};
use crate::solve::spring::Spring;
use crate::solve::stiff::StiffContacts;
use crate::solve::wedged::Wedged;

/// Least number of sub-steps per second, up to [`PARTS_MAX`] per frame.
const RATE_MIN: u32 = 80;

/// Greatest number of sub-steps per frame.
const PARTS_MAX: u32 = 8;

/// Number of sub-steps of a frame.
pub(crate) fn parts(fps: u32) -> u32 {
    RATE_MIN.div_ceil(fps).min(PARTS_MAX)
}

/// Numbers of the lanes of a batch: gaps or softness.
impl ByBatch for [i32; LANES] {}

/// Data of the sub-steps in addition to the batches. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftContacts {
    /// Distance between the surfaces along the normal, by batch and lane.
    gaps: Vec<[i32; LANES]>,
    /// The part of an impulse that a lane keeps at least.
    hard: Vec<Softness>,
    pub(crate) softness: Vec<Softness>,
    /// Sub-steps per second.
    rate: u32,
}

impl SoftContacts {
    /// Starts a frame with `rate` sub-steps per second.
    pub(crate) fn begin(&mut self, batches: &mut Batches, stiff: &StiffContacts, wedged: &Wedged, rate: u32) {
        self.rate = rate;
        self.gaps.clear();
        self.gaps.extend(batches.origins().iter().map(|origins| origins.gap));
        for &(place, gap) in &wedged.gaps {
            let (gaps, lane) = place.of_mut(&mut self.gaps);
            gaps[lane] = gap;
        }
        self.hard.clear();
        self.hard.resize(self.gaps.len(), [0; LANES]);
        for (place, &kept) in stiff.places.iter().zip(&stiff.kept) {
            let (hard, lane) = place.of_mut(&mut self.hard);
            hard[lane] = kept;
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
        let lanes = self.gaps.iter().zip(&self.hard).zip(&mut self.softness);
        for (batch, ((gaps, hard), softness)) in batches.iter_mut().zip(lanes) {
            for lane in 0..LANES {
                if batch.biased[lane] != NO_LIMIT {
                    let spring = Spring::of(batch.share_a[lane]);
                    let limit = spring.limit(gaps[lane], self.rate);
                    batch.biased[lane] = limit;
                    softness[lane] = if limit >= 0 { spring.kept.max(hard[lane]) } else { UNIT };
                }
            }
        }
    }
}
