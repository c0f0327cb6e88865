//! Moves four ordinary bodies at once. A body is ordinary if contacts can move it, it has no speed limit of its own, the ground does not
//! slow it, it stays inside the world, it does not move further than its own size, and contacts do not throw it far. All others are moved
//! one by one ([`crate::motion::movers`]), which gives the same result for ordinary ones.

use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x8, u32x4, u64x4};

use crate::body::record::{Body, flag};
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::lanes::{each, low_and_high};
use crate::motion::gathered::{BLOCKS_AHEAD, NOBODY};
use crate::motion::movers::{Movement, MoverBlock, MoverVelocities};

/// Number of bodies that are moved at a time: their velocities fill 256 bits.
const FOUR: usize = 4;

/// The reciprocal of fewer frames per second does not fit a factor of 31 bits.
const FPS_MIN: i64 = 3;

impl Movement<'_> {
    /// Moves all bodies and replaces their boxes, block by block.
    #[inline(always)]
    pub(crate) fn blocks<S: Simd>(
        &mut self,
        simd: S,
        slots: &[[u32; LANES]],
        velocities: MoverVelocities<'_>,
        boxes: &mut [BoxBlock],
        prefetch: impl Fn(&[Body], u32),
    ) {
        let MoverVelocities { moving, kept, calm } = velocities;
        let (moving, kept, calm) = (moving.as_chunks().0, kept.as_chunks().0, calm.as_chunks().0);
        let lanes = slots.iter().zip(moving).zip(kept).zip(calm).zip(boxes);
        for (at, ((((own, moving), kept), calm), boxes)) in lanes.enumerate() {
            for &slot in slots.get(at + BLOCKS_AHEAD).unwrap_or(own) {
                prefetch(self.bodies, slot);
            }
            self.block(simd, &MoverBlock { slots: own, moving, kept, calm }, boxes);
        }
    }

    /// Moves the bodies of a block and replaces their boxes.
    #[inline(always)]
    fn block<S: Simd>(&mut self, simd: S, block: &MoverBlock<'_>, boxes: &mut BoxBlock) {
        for from in [0, FOUR] {
            if !self.four(simd, block, from, boxes) {
                self.one_by_one(block, from..from + FOUR, boxes);
            }
        }
    }

    /// Moves the four lanes from `from` on if all of them are ordinary; else does nothing and returns `false`.
    #[inline(always)]
    fn four<S: Simd>(&mut self, simd: S, block: &MoverBlock<'_>, from: usize, boxes: &mut BoxBlock) -> bool {
        let (settings, count) = (self.settings, self.bodies.len());
        let &[s0, s1, s2, s3, ..] = &block.slots[from..] else { return false };
        let slots = [s0, s1, s2, s3];
        // Empty lanes read a body that rests and are never written.
        let bodies = each(slots, |slot| self.bodies.get(slot as usize).unwrap_or(&EMPTY));
        let unlike = |body: &Body| (body.flags ^ flag::DYNAMIC) & (flag::DYNAMIC | flag::LIMITED);
        let unlike = bodies.iter().fold(0, |any, body| any | unlike(body) | body.ground_friction as u32);
        let fps = self.per_frame.fps();
        if fps < FPS_MIN || unlike != 0 {
            return false;
        }
        // x and y alternate.
        let vectors = |of: [[i32; 2]; FOUR]| i32x8::load_array(simd, bytemuck::cast(of));
        let velocities =
            |of: &[_; LANES]| i32x8::from_slice(simd, &bytemuck::cast_slice(of)[2 * from..2 * (from + FOUR)]);
        let max_speed = i32x8::splat(simd, settings.max_speed);
        let moving = velocities(block.moving).min(max_speed).max(-max_speed);
        let kept = velocities(block.kept).min(max_speed).max(-max_speed);
        let remainder = vectors(each(bodies, |body| each(body.position_remainder, i32::from)));
        let (step, remainder) = take(moving + remainder, fps as i32, self.per_frame.reciprocal as i32);
        let position = vectors(each(bodies, |body| body.position));
        let extent = vectors(each(bodies, |body| body.half)) + vectors(each(bodies, |body| [body.radius; 2]));
        let moved = position + step;
        let point = |at: [i32; 2]| vectors([at; FOUR]);
        let distance = step.abs();
        let unusual = distance.simd_gt(extent)
            | distance.simd_gt(swapped(extent))
            | moved.simd_le(point(settings.bounds.min))
            | moved.simd_ge(point(settings.bounds.max));
        // Who does not move further than this has not left its reach.
        let most = settings.box_margin();
        if (unusual | distance.simd_gt(most)).any_true() {
            // See `is_thrown` in `movers`. A reach is at most 16 units, which fits 30 bits at 1,000 frames per second.
            let reach = (extent.min(swapped(extent)) >> 2).min(most) + most;
            let change = moving - vectors(each(bodies, |body| body.velocity));
            let thrown = distance.simd_gt(reach) & change.abs().simd_gt(reach * fps as i32);
            let unusual = (unusual | thrown).to_bitmask();
            let is_held = |lane: usize| (slots[lane] as usize) < count;
            if (0..FOUR).any(|lane| unusual >> (2 * lane) & 0b11 != 0 && is_held(lane)) {
                return false;
            }
        }
        let reach = extent + settings.box_margin();
        let hole = u32x4::load_array(simd, slots).simd_ge(count as u32);
        let edge = |of: i32x8<S>, none: i32| {
            let (low, high) = of.split();
            let (x, y) = low.deinterleave(high);
            let none = i32x4::splat(simd, none);
            (hole.select(none, x), hole.select(none, y))
        };
        let ((x0, y0), (x1, y1)) = (edge(moved - reach, i32::MAX), edge(moved + reach, i32::MIN));
        let lanes = from..from + FOUR;
        x0.store_slice(&mut boxes.x0[lanes.clone()]);
        y0.store_slice(&mut boxes.y0[lanes.clone()]);
        x1.store_slice(&mut boxes.x1[lanes.clone()]);
        y1.store_slice(&mut boxes.y1[lanes]);
        // Separation speed counts half.
        let speed = kept.abs().max(moving.abs() >> 1);
        let restless = speed.simd_gt(settings.sleep_speed).to_bitmask();
        let [before, after, kept, remainder]: [[[i32; 2]; FOUR]; 4] =
            each([position, moved, kept, remainder], |v| bytemuck::cast(v.to_array()));
        let (limit, frame) = (settings.sleep_ms, self.frame_ms);
        for lane in 0..FOUR {
            let slot = slots[lane] as usize;
            let (Some(body), Some(previous)) = (self.bodies.get_mut(slot), self.previous.get_mut(slot))
            else {
                continue;
            };
            *previous = before[lane];
            body.position = after[lane];
            body.velocity = kept[lane];
            body.position_remainder = each(remainder[lane], |r| r as u16);
            let still_ms = block.calm[from + lane].saturating_add(frame).min(limit.max(1));
            body.still_ms = if restless >> (2 * lane) & 0b11 == 0 { still_ms } else { 0 };
            self.tired |= limit > 0 && body.still_ms >= limit;
        }
        true
    }
}

/// What an empty lane reads: an ordinary body at rest.
static EMPTY: Body = Body { flags: flag::DYNAMIC, ..NOBODY };

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
