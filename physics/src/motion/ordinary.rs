//! Moves four ordinary bodies at once. A body is ordinary if contacts can move it, it has no speed limit of its own, the ground does not
//! slow it, it stays inside the world, it does not move further than its own size, and contacts do not throw it far. All others are moved
//! one by one ([`crate::motion::movers`]), which gives the same result for ordinary ones.

use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x8, u32x4, u64x4};

use crate::body::record::{Body, flag};
use crate::body::slot::Slot;
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::lanes::{each, low_and_high, once, twice};
use crate::motion::movers::{Movement, MoverBlock, MoverVelocities};
use crate::motion::working_arrays::{BLOCKS_AHEAD, vectors};

/// Number of bodies that are moved at a time: their velocities fill 256 bits.
const FOUR: usize = 4;

/// The reciprocal of fewer frames per second does not fit a factor of 31 bits.
const FPS_MIN: i32 = 3;

impl Movement<'_> {
    /// Moves all bodies and replaces their boxes, block by block. In a block, the empty lanes come last and have empty boxes.
    #[inline(always)]
    pub(crate) fn blocks<S: Simd>(
        &mut self,
        simd: S,
        slots: &[[Slot; LANES]],
        velocities: MoverVelocities<'_>,
        boxes: &mut [BoxBlock],
        prefetch: impl Fn(&[Body], Slot),
    ) {
        let MoverVelocities { moving, kept, calm } = velocities;
        let (moving, kept, calm) = (moving.as_chunks().0, kept.as_chunks().0, calm.as_chunks().0);
        let limits = Limits::new(simd, self);
        let lanes = slots.iter().zip(moving).zip(kept).zip(calm).zip(boxes);
        for (at, ((((own, moving), kept), calm), boxes)) in lanes.enumerate() {
            for &slot in slots.get(at + BLOCKS_AHEAD).unwrap_or(own) {
                prefetch(self.bodies, slot);
            }
            let block = MoverBlock { slots: own, moving, kept, calm };
            if !self.four::<S, 0>(simd, &limits, &block, boxes) {
                self.one_by_one(&block, 0..FOUR, boxes);
            }
            if own[FOUR] != Slot::NONE && !self.four::<S, FOUR>(simd, &limits, &block, boxes) {
                self.one_by_one(&block, FOUR..LANES, boxes);
            }
        }
    }

    /// Moves the four lanes from `FROM` on if all of them are ordinary; else does nothing and returns `false`. The first one is not empty.
    #[inline(always)]
    fn four<S: Simd, const FROM: usize>(
        &mut self,
        simd: S,
        limits: &Limits<S>,
        block: &MoverBlock<'_>,
        boxes: &mut BoxBlock,
    ) -> bool {
        let &[s0, s1, s2, s3, ..] = &block.slots[FROM..] else { return false };
        let own = u32x4::load_array(simd, [s0.0, s1.0, s2.0, s3.0]);
        let hole = own.simd_eq(Slot::NONE.0);
        // An empty lane moves the first body, too, and is written before it. Which lanes are empty is hard to predict for a branch.
        let slots: [Slot; FOUR] = bytemuck::cast(hole.select(u32x4::splat(simd, s0.0), own).to_array());
        let bodies = each(slots, |slot| &self.bodies[slot]);
        let unlike = |body: &Body| (body.flags ^ flag::DYNAMIC) & (flag::DYNAMIC | flag::LIMITED);
        let unlike = bodies.iter().fold(0, |any, body| any | unlike(body) | body.ground_friction as u32);
        if limits.fps < FPS_MIN || unlike != 0 {
            return false;
        }
        // x and y alternate.
        let velocities =
            |of: &[_; LANES]| i32x8::from_slice(simd, &bytemuck::cast_slice(of)[2 * FROM..2 * (FROM + FOUR)]);
        let moving = velocities(block.moving).min(limits.max_speed).max(-limits.max_speed);
        let kept = velocities(block.kept).min(limits.max_speed).max(-limits.max_speed);
        let remainder: [i32; LANES] =
            bytemuck::cast(each(bodies, |body| each(body.position_remainder, i32::from)));
        let remainder = i32x8::load_array(simd, remainder);
        let (step, remainder) = take(moving + remainder, limits.fps, limits.reciprocal);
        let [position, velocity, half, radius_and_mass] = vectors(simd, bodies);
        let extent = half + twice(once(radius_and_mass));
        let moved = position + step;
        let distance = step.abs();
        let unusual = distance.simd_gt(extent)
            | distance.simd_gt(swapped(extent))
            | moved.simd_le(limits.low)
            | moved.simd_ge(limits.high);
        // A body that moves no further than this has not left its reach.
        let most = limits.box_margin;
        if (unusual | distance.simd_gt(most)).any_true() {
            // See `is_thrown` in `movers`. A reach is at most 16 units, which fits 30 bits at 1,000 frames per second.
            let reach = (extent.min(swapped(extent)) >> 2).min(most) + most;
            let change = moving - velocity;
            let thrown = distance.simd_gt(reach) & change.abs().simd_gt(reach * limits.fps);
            if (unusual | thrown).any_true() {
                return false;
            }
        }
        let reach = extent + most;
        let edge = |of: i32x8<S>, none: i32| {
            let (low, high) = of.split();
            let (x, y) = low.deinterleave(high);
            let none = i32x4::splat(simd, none);
            (hole.select(none, x), hole.select(none, y))
        };
        let ((x0, y0), (x1, y1)) = (edge(moved - reach, i32::MAX), edge(moved + reach, i32::MIN));
        x0.store_slice(&mut boxes.x0[FROM..FROM + FOUR]);
        y0.store_slice(&mut boxes.y0[FROM..FROM + FOUR]);
        x1.store_slice(&mut boxes.x1[FROM..FROM + FOUR]);
        y1.store_slice(&mut boxes.y1[FROM..FROM + FOUR]);
        // Separation speed counts half.
        let (low, high) = kept.abs().max(moving.abs() >> 1).split();
        let (speed_x, speed_y) = low.deinterleave(high);
        let restless = speed_x.max(speed_y).simd_gt(limits.sleep_speed) | hole;
        let calm = i32x4::load_array(simd, each([0, 1, 2, 3], |lane| i32::from(block.calm[FROM + lane])));
        let still_ms =
            restless.select(i32x4::splat(simd, 0), (calm + limits.frame_ms).min(limits.still_most));
        self.tired |= still_ms.simd_ge(limits.sleep_ms).any_true();
        let [before, after, kept]: [[[i32; 2]; FOUR]; 3] =
            each([position, moved, kept], |v| bytemuck::cast(v.to_array()));
        let (low, high) = remainder.split();
        let remainder: [[u16; 2]; FOUR] = bytemuck::cast(low.narrow(high).to_array());
        let still_ms = still_ms.to_array();
        for lane in (0..FOUR).rev() {
            let slot = slots[lane];
            self.previous[slot.at()] = before[lane];
            let body = &mut self.bodies[slot];
            body.position = after[lane];
            body.velocity = kept[lane];
            body.position_remainder = remainder[lane];
            body.still_ms = still_ms[lane] as u16;
        }
        true
    }
}

/// What is the same for all bodies: see [`Movement`] and its settings.
struct Limits<S: Simd> {
    fps: i32,
    reciprocal: i32,
    max_speed: i32x8<S>,
    /// The corners of the world.
    low: i32x8<S>,
    high: i32x8<S>,
    box_margin: i32x8<S>,
    sleep_speed: i32x4<S>,
    frame_ms: i32x4<S>,
    /// The greatest time of stillness.
    still_most: i32x4<S>,
    /// The time of stillness from which on a body is tired; none is if bodies do not sleep.
    sleep_ms: i32x4<S>,
}

impl<S: Simd> Limits<S> {
    #[inline(always)]
    fn new(simd: S, movement: &Movement<'_>) -> Self {
        let Movement { settings, per_frame, frame_ms, .. } = movement;
        let point = |at: [i32; 2]| i32x8::load_array(simd, bytemuck::cast([at; FOUR]));
        let (all, four) = (|v| i32x8::splat(simd, v), |v| i32x4::splat(simd, v));
        Self {
            fps: per_frame.fps() as i32,
            reciprocal: per_frame.reciprocal as i32,
            max_speed: all(settings.max_speed),
            low: point(settings.bounds.min),
            high: point(settings.bounds.max),
            box_margin: all(settings.box_margin()),
            sleep_speed: four(settings.sleep_speed),
            frame_ms: four(i32::from(*frame_ms)),
            still_most: four(i32::from(settings.sleep_ms.max(1))),
            sleep_ms: four(if settings.sleep_ms == 0 { i32::MAX } else { settings.sleep_ms.into() }),
        }
    }
}

/// See [`PerFrame::take`](crate::motion::rates::PerFrame::take): whole parts and remainders of `total / fps`.
#[inline(always)]
fn take<S: Simd>(total: i32x8<S>, fps: i32, reciprocal: i32) -> (i32x8<S>, i32x8<S>) {
    let (low, high) = total.widening_mul(reciprocal);
    let (even, odd) = low.deinterleave(high);
    let (even, odd): (u64x4<S>, u64x4<S>) = (even.bitcast(), odd.bitcast());
    let quotient = low_and_high(even >> 32, odd);
    let rest = total - quotient * fps;
    // -1 where true.
    let (more, less) = (!(rest - fps) >> 31, rest >> 31);
    (quotient - more + less, rest - (more & fps) + (less & fps))
}

/// x and y exchanged.
#[inline(always)]
fn swapped<S: Simd>(v: i32x8<S>) -> i32x8<S> {
    let pairs: u64x4<S> = v.bitcast();
    (pairs << 32 | pairs >> 32).bitcast()
}
