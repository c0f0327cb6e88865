//! Motion: amounts per second, applied frame by frame, without drift and without dead zone.
//!
//! `position += velocity / fps` and `speed -= ground friction / fps` leave remainders below one raw unit. The remainders are state: the
//! next frame adds them, so the sum is exact after any number of frames. When the frames per second change, a remainder `r` (in 1/old of a
//! raw unit) becomes `r * new / old`, rounded down: less than one raw unit is lost.

use crate::body::record::{Body, Extra, flag};
use crate::math::axes::each_axis;
use crate::math::num::isqrt_u64;
use crate::math::rate::rescale;

/// Division by the frames per second, with remainder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerFrame {
    fps: i64,
    /// 2^32 / fps, rounded down.
    pub(crate) reciprocal: i64,
}

impl PerFrame {
    /// `fps` lies in 1..=1000.
    pub(crate) fn new(fps: u32) -> Self {
        Self { fps: i64::from(fps), reciprocal: (1 << 32) / i64::from(fps) }
    }

    pub(crate) fn fps(&self) -> i64 {
        self.fps
    }

    /// The whole part (rounded down) of `(per_second + remainder) / fps`, and the new remainder. `|per_second| < 2^30`.
    #[inline]
    pub(crate) fn take(&self, per_second: i32, remainder: u16) -> (i32, u16) {
        let total = i64::from(per_second) + i64::from(remainder);
        // The product's error is below one, so the quotient is off by one at most.
        let mut quotient = (total * self.reciprocal) >> 32;
        let mut remainder = total - quotient * self.fps;
        if remainder >= self.fps {
            quotient += 1;
            remainder -= self.fps;
        } else if remainder < 0 {
            quotient -= 1;
            remainder += self.fps;
        }
        (quotient as i32, remainder as u16)
    }
}

/// Converts a remainder of 1/old of a raw unit to 1/new, rounded down: the rule of [`crate::math::rate`].
pub(crate) fn rescale_remainder(remainder: u16, old: u32, new: u32) -> u16 {
    rescale(remainder.into(), old, new) as u16
}

/// Adds an acceleration (raw units/s^2) to the velocity for one frame.
pub(crate) fn accelerate(body: &mut Body, acceleration: [i32; 2], per_frame: PerFrame, speed_max: i32) {
    for axis in 0..2 {
        let (change, remainder) = per_frame.take(acceleration[axis], body.acceleration_remainder[axis]);
        body.acceleration_remainder[axis] = remainder;
        body.velocity[axis] = body.velocity[axis].saturating_add(change).clamp(-speed_max, speed_max);
    }
}

/// A velocity without `damping / fps` of it, rounded toward zero: this does nothing below `fps / damping` raw units per second.
pub(crate) fn damp(velocity: [i32; 2], damping: i32, per_frame: PerFrame) -> [i32; 2] {
    let divisor = per_frame.fps() << 16;
    velocity.map(|v| {
        let taken = i64::from(v) * i64::from(damping) / divisor;
        if taken.abs() >= i64::from(v.abs()) { 0 } else { v - taken as i32 }
    })
}

/// Least portion of ground friction, raw units per second. Velocities are whole raw units: smaller portions, frame by frame, would be
/// rounded away in one direction and count twice in another. 64,000 at 1,000 frames per second fits the remainder.
pub(crate) const FRICTION_PORTION: u16 = 64;

/// Moves the velocity towards zero by `ground_friction / fps`, along its direction; small amounts accumulate first.
pub(crate) fn apply_ground_friction(body: &mut Body, per_frame: PerFrame) {
    if body.velocity == [0, 0] {
        body.friction_remainder = 0;
        return;
    }
    let saved = body.ground_friction.saturating_add(i32::from(body.friction_remainder));
    if i64::from(saved) < i64::from(FRICTION_PORTION) * per_frame.fps() {
        body.friction_remainder = saved as u16;
        return;
    }
    let (amount, remainder) = per_frame.take(saved, 0);
    body.friction_remainder = remainder;
    let (amount, speed) = (i64::from(amount) << SPEED_BITS, fine_speed(body.velocity));
    if amount >= speed {
        body.velocity = [0, 0];
        body.friction_remainder = 0;
    } else {
        scale_to(&mut body.velocity, speed - amount, speed);
    }
}

/// Further bits of [`fine_speed`]: squares of speeds are below 2^54.
const SPEED_BITS: u32 = 5;

/// Length of a velocity in 1/32 raw units per second.
fn fine_speed(velocity: [i32; 2]) -> i64 {
    let square = |v: i32| i64::from(v).unsigned_abs().pow(2);
    isqrt_u64((square(velocity[0]) + square(velocity[1])) << (2 * SPEED_BITS)) as i64
}

/// Shortens the velocity to `max_speed` raw units per second.
pub(crate) fn limit_speed(velocity: &mut [i32; 2], max_speed: i32) {
    let speed = speed(*velocity);
    if speed > i64::from(max_speed) {
        scale_to(velocity, i64::from(max_speed), speed);
    }
}

/// Length of a velocity, rounded down.
pub(crate) fn speed(velocity: [i32; 2]) -> i64 {
    let square = |v: i32| i64::from(v).unsigned_abs().pow(2);
    isqrt_u64(square(velocity[0]) + square(velocity[1])) as i64
}

/// `velocity * numerator / denominator`, rounded to nearest.
fn scale_to(velocity: &mut [i32; 2], numerator: i64, denominator: i64) {
    for v in velocity {
        let product = i64::from(*v) * numerator;
        let half = if product < 0 { -denominator / 2 } else { denominator / 2 };
        *v = ((product + half) / denominator) as i32;
    }
}

/// Greatest acceleration per axis, raw units/s^2; larger sums are clamped.
const ACCELERATION_MAX: i32 = (1 << 30) - 1;

/// Applies gravity, forces and damping to one body. Returns what gravity and forces added to its velocity, as far as damping has left it.
pub(crate) fn apply_forces(
    body: &mut Body,
    extra: &mut Extra,
    gravity: [i32; 2],
    max_speed: i32,
    per_frame: PerFrame,
) -> [i32; 2] {
    let mut before = body.velocity;
    let falls = body.has(flag::DYNAMIC) && gravity != [0, 0];
    if body.has(flag::FORCED) || falls {
        let g = if falls { gravity } else { [0, 0] };
        let sum = each_axis(|axis| {
            g[axis].saturating_add(extra.acceleration[axis]).clamp(-ACCELERATION_MAX, ACCELERATION_MAX)
        });
        extra.acceleration = [0; 2];
        body.set(flag::FORCED, false);
        body.set(flag::EXTRA, *extra != Extra::USUAL);
        accelerate(body, sum, per_frame, max_speed);
    }
    // The velocity of a kinematic body is the game's.
    if body.has(flag::DAMPED) && body.has(flag::DYNAMIC) {
        // The solver takes the gain back out of the damped velocity, and gives it in parts.
        before = damp(before, extra.damping, per_frame);
        body.velocity = damp(body.velocity, extra.damping, per_frame);
    }
    each_axis(|axis| body.velocity[axis] - before[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_divides_exactly_for_every_sign_and_rate() {
        for fps in [1, 2, 3, 7, 20, 30, 59, 60, 144, 999, 1000] {
            let per_frame = PerFrame::new(fps);
            let edge = (1 << 30) - 1;
            for v in (-2000..2000).chain([edge, -edge, 1 << 26, -(1 << 26), 12345679, -12345679]) {
                for remainder in [0, 1, fps as u16 - 1] {
                    let total = v + i32::from(remainder);
                    let expected = (total.div_euclid(fps as i32), total.rem_euclid(fps as i32) as u16);
                    assert_eq!(per_frame.take(v, remainder), expected, "{v} + {remainder} at {fps}");
                }
            }
        }
    }

    #[test]
    fn a_velocity_below_one_raw_unit_per_frame_still_moves() {
        let per_frame = PerFrame::new(60);
        let (mut position, mut remainder) = (0, 0);
        for _ in 0..600 {
            let (step, r) = per_frame.take(7, remainder);
            (position, remainder) = (position + step, r);
        }
        assert_eq!((position, remainder), (70, 0), "7 raw units per second for 10 seconds");
    }

    #[test]
    fn stopping_takes_exactly_speed_over_friction_seconds() {
        let mut body = Body { velocity: [5 << 16, 0], ground_friction: 2 << 16, ..Body::default() };
        let per_frame = PerFrame::new(60);
        for frame in 1..=150 {
            apply_ground_friction(&mut body, per_frame);
            assert_eq!(body.velocity == [0, 0], frame == 150, "5 units/s at 2 units/s^2 stop after 2.5 s");
        }
    }
}
