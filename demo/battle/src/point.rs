//! Positions and velocities as raw integers.

use core::ops::RangeInclusive;

use testudo_physics::math::isqrt_u64;
use testudo_physics::{Fx, Vec2};

/// Raw value of one unit of length, or of one unit per second: 16 fraction bits.
pub const UNIT: i32 = 1 << 16;

/// A position (raw units) or a velocity (raw units per second). Positions on a field lie within +-2^30.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Point {
    /// To the right in a picture.
    pub x: i32,
    /// Downwards in a picture.
    pub y: i32,
}

impl Point {
    /// The middle of a field.
    pub const ZERO: Self = Self { x: 0, y: 0 };

    /// Range of each component of a position.
    pub(crate) const RANGE: RangeInclusive<i64> = -(1 << 30)..=1 << 30;

    /// A point from whole units.
    #[cfg(test)]
    pub(crate) const fn from_units(x: i32, y: i32) -> Self {
        Self { x: x * UNIT, y: y * UNIT }
    }

    /// The world's positions and velocities fit 32 bits by their documented ranges.
    pub fn from_vec2(v: Vec2) -> Self {
        Self { x: v.x.to_bits() as i32, y: v.y.to_bits() as i32 }
    }

    pub(crate) fn to_vec2(self) -> Vec2 {
        Vec2::new(Fx::from_bits(i64::from(self.x)), Fx::from_bits(i64::from(self.y)))
    }

    /// Moves by an offset; saturates.
    pub(crate) fn offset(self, x: i32, y: i32) -> Self {
        Self { x: self.x.saturating_add(x), y: self.y.saturating_add(y) }
    }

    /// Held within +-`half`, a point without negative parts.
    pub(crate) fn clamped(self, half: Self) -> Self {
        Self { x: self.x.clamp(-half.x, half.x), y: self.y.clamp(-half.y, half.y) }
    }

    /// Square of the distance, raw units squared. Exact: each difference is below 2^32, the sum below 2^63 on a field.
    pub fn distance_squared(self, other: Self) -> u64 {
        let (dx, dy) = (i64::from(other.x) - i64::from(self.x), i64::from(other.y) - i64::from(self.y));
        dx.unsigned_abs().pow(2).saturating_add(dy.unsigned_abs().pow(2))
    }

    /// The vector of the given length (raw) from here towards `to`, rounded toward zero; zero if both are equal.
    pub(crate) fn towards(self, to: Self, length: i32) -> Self {
        let distance = isqrt_u64(self.distance_squared(to)) as i64;
        if distance == 0 {
            return Self::ZERO;
        }
        // |difference| < 2^32 and length < 2^31, so the product fits.
        let part =
            |from: i32, to: i32| ((i64::from(to) - i64::from(from)) * i64::from(length) / distance) as i32;
        Self { x: part(self.x, to.x), y: part(self.y, to.y) }
    }
}

/// Square of a raw length.
pub const fn squared(length: i32) -> u64 {
    length.unsigned_abs() as u64 * length.unsigned_abs() as u64
}

/// How many places there are, and their mean; none of none.
pub(crate) fn mean(places: impl Iterator<Item = Point>) -> Option<(u32, Point)> {
    let (mut count, mut x, mut y) = (0_u32, 0_i64, 0_i64);
    for place in places {
        count += 1;
        x += i64::from(place.x);
        y += i64::from(place.y);
    }
    let mean = |sum: i64| (sum / i64::from(count)) as i32;
    (count > 0).then(|| (count, Point { x: mean(x), y: mean(y) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towards_has_the_length_asked_for() {
        let from = Point::from_units(-3, 2);
        assert_eq!(from.towards(Point::from_units(0, 6), 10 * UNIT), Point::from_units(6, 8));
        assert_eq!(from.towards(from, 10 * UNIT), Point::ZERO);
        let far = Point::from_units(-16_384, -16_384);
        let speed = far.towards(Point::from_units(16_384, 16_384), 1_024 * UNIT);
        assert!(speed.x > 724 * UNIT && speed.x < 725 * UNIT, "{speed:?}");
    }

    #[test]
    fn the_longest_distance_does_not_overflow() {
        let (a, b) = (Point::from_units(-16_384, -16_384), Point::from_units(16_384, 16_384 - 1));
        assert_eq!(a.distance_squared(b), (1_u64 << 62) + (1_u64 << 16) * (1 << 16) * 32_767 * 32_767);
    }
}
