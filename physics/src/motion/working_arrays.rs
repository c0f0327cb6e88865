//! Gathers the moving bodies, which the world stores by slot, into arrays along the curve, eight lanes at a time.

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, u32x8, u64x4};

use crate::body::record::{Body, Shell};
use crate::body::slot::Slot;
use crate::contact::cached::Owned;
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::lanes::each;
use crate::solve::solver::Velocity;

/// How many blocks ahead bodies are prefetched: far enough for memory to respond, near enough to stay in the cache.
pub(crate) const BLOCKS_AHEAD: usize = 2;

/// `still_ms` of a working body that does not move.
pub(crate) const AT_REST: u16 = u16::MAX;

/// What a lane without a body holds.
static HOLE: Body = Body {
    position: [0; 2],
    velocity: [0; 2],
    half: [0; 2],
    radius: 0,
    mass: 0,
    restitution: 0,
    flags: 0,
    position_remainder: [0; 2],
    acceleration_remainder: [0; 2],
    friction_remainder: 0,
    still_ms: AT_REST,
    ground_friction: 0,
    filter: [0; 2],
};

/// Where gathered bodies go: arrays by lane, of equal length.
pub(crate) struct WorkingArrays<'a> {
    pub(crate) shells: &'a mut [[Shell; LANES]],
    pub(crate) velocities: &'a mut [[Velocity; LANES]],
    pub(crate) still: &'a mut [[u16; LANES]],
    /// The cached contacts that each body owns.
    pub(crate) cached: &'a mut [[Owned; LANES]],
    pub(crate) boxes: &'a mut [BoxBlock],
}

/// What all gathered bodies have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GatherSummary {
    /// Bitwise or of their flags.
    pub(crate) flags: u32,
    /// Bitwise or of their half widths: 0 if all are discs.
    pub(crate) half: i32,
    /// Whether there is one that the solver cannot move.
    pub(crate) some_fixed: bool,
    /// Whether there is one that is faster than the limit.
    pub(crate) some_fast: bool,
}

impl GatherSummary {
    /// What these and others have in common.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            flags: self.flags | other.flags,
            half: self.half | other.half,
            some_fixed: self.some_fixed | other.some_fixed,
            some_fast: self.some_fast | other.some_fast,
        }
    }
}

impl<'a> WorkingArrays<'a> {
    /// The first blocks, and the others.
    pub(crate) fn split_at(self, blocks: usize) -> (WorkingArrays<'a>, WorkingArrays<'a>) {
        let (shells, later_shells) = self.shells.split_at_mut(blocks);
        let (velocities, later_velocities) = self.velocities.split_at_mut(blocks);
        let (still, later_still) = self.still.split_at_mut(blocks);
        let (cached, later_cached) = self.cached.split_at_mut(blocks);
        let (boxes, later_boxes) = self.boxes.split_at_mut(blocks);
        let later = WorkingArrays {
            shells: later_shells,
            velocities: later_velocities,
            still: later_still,
            cached: later_cached,
            boxes: later_boxes,
        };
        (WorkingArrays { shells, velocities, still, cached, boxes }, later)
    }

    /// Gathers the bodies in `slots`, [`Slot::NONE`] for a lane without one, with their boxes. `ranges` are the cached contacts by slot. Boxes
    /// grow by the bodies' own [growth](Shell::growth), those of bodies that the solver cannot move by twice as much. Of it `limits` are the greatest
    /// and the multiple from which on a speed is fast; `fast` gets one bit for each of those in a block.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn gather<S: Simd>(
        self,
        simd: S,
        slots: &[[Slot; LANES]],
        bodies: &[Body],
        ranges: &[Owned],
        limits: [i32; 2],
        fast: &mut [u8],
        prefetch: impl Fn(Slot),
    ) -> GatherSummary {
        let mut all = GatherSummary::default();
        let mut any_fast = 0;
        let to = self.shells.iter_mut().zip(self.velocities).zip(self.still).zip(self.cached).zip(self.boxes);
        for (block, (((((shells, velocities), still), cached), boxes), fast)) in to.zip(fast).enumerate() {
            let own = &slots[block];
            for &slot in slots.get(block + BLOCKS_AHEAD).unwrap_or(own) {
                prefetch(slot);
            }
            // Which lanes are empty is hard to predict, so there is no branch for it.
            let eight = each(*own, |slot| bodies.get(slot.at()).unwrap_or(&HOLE));
            for (l, &slot) in own.iter().enumerate() {
                let body = eight[l];
                shells[l] = body.plain_shell(slot);
                still[l] = body.still_ms;
                cached[l] = ranges.get(slot.at()).copied().unwrap_or_default();
                all.flags |= body.flags;
                all.half |= body.half[0];
            }
            let (fixed, fast_lanes) = box_eight(simd, own, &eight, limits, velocities, boxes);
            all.some_fixed |= fixed;
            *fast = fast_lanes as u8;
            any_fast |= fast_lanes;
        }
        all.some_fast = any_fast != 0;
        all
    }
}

/// Writes velocities and boxes of eight bodies; the boxes of holes are empty. Returns whether there is a body that the solver cannot move, and
/// one bit for each fast body.
#[inline(always)]
fn box_eight<S: Simd>(
    simd: S,
    slots: &[Slot; LANES],
    bodies: &[&Body; LANES],
    [most, fast]: [i32; 2],
    velocities: &mut [Velocity; LANES],
    boxes: &mut BoxBlock,
) -> (bool, u32) {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = *bodies;
    let (low, high) = (vectors(simd, [b0, b1, b2, b3]), vectors(simd, [b4, b5, b6, b7]));
    let field = |at: usize| apart(low[at], high[at]);
    let [x, y] = field(0);
    let [speed_x, speed_y] = field(1);
    let [half_x, half_y] = field(2);
    let [radius, mass] = field(3);
    *velocities = bytemuck::cast([low[1].to_array(), high[1].to_array()]);
    let quarter = (half_x.min(half_y) + radius) >> 2;
    let fixed = mass.simd_eq(0);
    let most = i32x8::splat(simd, most);
    let growth = fixed.select(most, quarter.min(most));
    // A wall that is hardly not fast moves by twice its growth, and it may be thinner than that.
    let grown = fixed.select(most + most, growth);
    let hole = u32x8::load_array_ref(simd, bytemuck::cast_ref(slots)).simd_eq(Slot::NONE.0);
    let (none_min, none_max) = (i32x8::splat(simd, i32::MAX), i32x8::splat(simd, i32::MIN));
    let (reach_x, reach_y) = (half_x + radius + grown, half_y + radius + grown);
    boxes.x0 = hole.select(none_min, x - reach_x).to_array();
    boxes.x1 = hole.select(none_max, x + reach_x).to_array();
    boxes.y0 = hole.select(none_min, y - reach_y).to_array();
    boxes.y1 = hole.select(none_max, y + reach_y).to_array();
    let speed = speed_x.abs().max(speed_y.abs());
    ((fixed & !hole).any_true(), speed.simd_gt(growth * fast).to_bitmask() as u32)
}

/// Position, velocity, half extents, and radius with mass of four bodies: what they begin with, in this order.
#[inline(always)]
pub(crate) fn vectors<S: Simd>(simd: S, bodies: [&Body; 4]) -> [i32x8<S>; 4] {
    let [a, b, c, d] = each(bodies, |body| {
        let words: &[[u64; 4]; 2] = bytemuck::cast_ref(body);
        u64x4::load_array_ref(simd, &words[0])
    });
    let ((even_ab, odd_ab), (even_cd, odd_cd)) = (a.deinterleave(b), c.deinterleave(d));
    let ((position, half), (velocity, last)) = (even_ab.deinterleave(even_cd), odd_ab.deinterleave(odd_cd));
    [position.bitcast(), velocity.bitcast(), half.bitcast(), last.bitcast()]
}

/// The first number of each of eight pairs, and the second.
#[inline(always)]
fn apart<S: Simd>(low: i32x8<S>, high: i32x8<S>) -> [i32x8<S>; 2] {
    let (first, second) = low.deinterleave(high);
    [first, second]
}
