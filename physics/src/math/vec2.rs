//! Two-dimensional vectors.

use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::math::angle::Angle;
use crate::math::num::{Fx, div_nearest, isqrt_u64, mul_nearest, round_product};

/// A vector of two fixed-point numbers: a position or distance in units, a velocity in units per second, ...
///
/// Every operation is exact or rounds once: to nearest, ties away from zero, unless its documentation says otherwise. So mirrored vectors
/// give mirrored results. Operations saturate at the limits of [`Fx`] in every build profile.
///
/// ```
/// use testudo_physics::{Angle, Fx, Vec2};
/// let (unit, goal) = (Vec2::from_ints(10, 20), Vec2::from_ints(13, 24));
/// assert_eq!(unit.distance(goal), Fx::from_num(5));
/// let velocity = (goal - unit).normalize() * Fx::from_num(10);
/// assert_eq!(velocity.clamp_length(Fx::from_num(2)).length().round(), 2);
/// assert_eq!(Vec2::from_ints(7, 0).rotate(Angle::QUARTER), Vec2::from_ints(0, 7));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vec2 {
    /// Horizontal component.
    pub x: Fx,
    /// Vertical component.
    pub y: Fx,
}

impl Vec2 {
    /// The zero vector.
    pub const ZERO: Self = Self { x: Fx::ZERO, y: Fx::ZERO };

    /// A vector of two numbers.
    #[must_use]
    pub const fn new(x: Fx, y: Fx) -> Self {
        Self { x, y }
    }

    /// A vector of two whole numbers.
    #[must_use]
    pub const fn from_ints(x: i32, y: i32) -> Self {
        Self { x: Fx::const_from_int(x as i64), y: Fx::const_from_int(y as i64) }
    }

    /// The vector of length 1 in a direction.
    #[must_use]
    pub const fn from_angle(angle: Angle) -> Self {
        let (y, x) = angle.sin_cos();
        Self { x, y }
    }

    /// The direction of the vector; [`Angle::ZERO`] for the zero vector.
    #[must_use]
    pub const fn angle(self) -> Angle {
        Angle::atan2(self.y, self.x)
    }

    /// Scalar product `x1 x2 + y1 y2`; rounds once, after the sum.
    #[must_use]
    pub const fn dot(self, other: Self) -> Fx {
        round_product(product(self.x, other.x).saturating_add(product(self.y, other.y)))
    }

    /// `x1 y2 - y1 x2`: positive if the shorter rotation from this vector to `other` goes from the x axis towards the y axis.
    #[must_use]
    pub const fn cross(self, other: Self) -> Fx {
        round_product(product(self.x, other.y).saturating_sub(product(self.y, other.x)))
    }

    /// Square of the length. It is cheaper and enough to compare lengths, but it saturates at a length of 2^23.5 units.
    #[must_use]
    pub const fn length_squared(self) -> Fx {
        self.dot(self)
    }

    /// Length, rounded down; exact for vectors of any length.
    #[must_use]
    #[inline]
    pub const fn length(self) -> Fx {
        let (length, _) = self.raw_length();
        if length > i64::MAX as u64 { Fx::MAX } else { Fx::from_bits(length as i64) }
    }

    /// Distance between two points, rounded down.
    #[must_use]
    #[inline]
    pub const fn distance(self, other: Self) -> Fx {
        self.minus(other).length()
    }

    /// Square of the distance between two points; see [`length_squared`](Self::length_squared).
    #[must_use]
    pub const fn distance_squared(self, other: Self) -> Fx {
        self.minus(other).length_squared()
    }

    /// The vector of length 1 in the same direction; the zero vector stays zero. The error of each component is less than one step of the
    /// resolution, however short the vector is.
    #[must_use]
    pub const fn normalize(self) -> Self {
        let (x, y) = (self.x.to_bits().unsigned_abs(), self.y.to_bits().unsigned_abs());
        // Scaled so that the larger component has 30 bits. Then the squares fit 64 bits, and their root has at least 30 bits.
        let bits = 64 - (x | y).leading_zeros();
        if bits == 0 {
            return Self::ZERO;
        }
        let (x, y) = if bits <= 30 {
            (x << (30 - bits), y << (30 - bits))
        } else {
            (x >> (bits - 30), y >> (bits - 30))
        };
        let length = isqrt_u64(x * x + y * y);
        let (x, y) = (((x << 16) + length / 2) / length, ((y << 16) + length / 2) / length);
        Self::from_raw(x as i64 * self.x.to_bits().signum(), y as i64 * self.y.to_bits().signum())
    }

    /// The vector rotated by a quarter turn from the x axis towards the y axis: (-y, x).
    #[must_use]
    pub const fn perpendicular(self) -> Self {
        Self { x: self.y.saturating_neg(), y: self.x }
    }

    /// The vector rotated by an angle from the x axis towards the y axis.
    #[must_use]
    pub const fn rotate(self, angle: Angle) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self {
            x: round_product(product(self.x, cos) - product(self.y, sin)),
            y: round_product(product(self.x, sin) + product(self.y, cos)),
        }
    }

    /// The point at `part / of` of the distance from this point to `other`; `other` if `part >= of`.
    ///
    /// ```
    /// use testudo_physics::Vec2;
    /// let (start, end) = (Vec2::from_ints(0, 0), Vec2::from_ints(9, -3));
    /// assert_eq!(start.lerp(end, 2, 3), Vec2::from_ints(6, -2));
    /// assert_eq!(start.lerp(end, 0, 0), end);
    /// ```
    #[must_use]
    pub const fn lerp(self, other: Self, part: u32, of: u32) -> Self {
        if part >= of {
            return other;
        }
        let (part, of) = (part as i128, of as i128);
        Self::from_raw(
            between(self.x.to_bits(), other.x.to_bits(), part, of),
            between(self.y.to_bits(), other.y.to_bits(), part, of),
        )
    }

    /// The vector, shortened to `max` if it is longer. The result is never longer than `max`, because its components are rounded toward
    /// zero. Zero for a negative `max`.
    #[must_use]
    pub const fn clamp_length(self, max: Fx) -> Self {
        let (floor, exact) = self.raw_length();
        let max = if max.to_bits() < 0 { 0 } else { max.to_bits() as u64 };
        if floor < max || (floor == max && exact) {
            return self;
        }
        let (part, of) = (max as i128, floor as i128 + !exact as i128);
        Self::from_raw(
            (self.x.to_bits() as i128 * part / of) as i64,
            (self.y.to_bits() as i128 * part / of) as i64,
        )
    }

    /// The smaller of both x and the smaller of both y.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self { x: self.x.min(other.x), y: self.y.min(other.y) }
    }

    /// The larger of both x and the larger of both y.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { x: self.x.max(other.x), y: self.y.max(other.y) }
    }

    const fn from_raw(x: i64, y: i64) -> Self {
        Self { x: Fx::from_bits(x), y: Fx::from_bits(y) }
    }

    /// Length in raw units, rounded down, and whether it is exact.
    #[inline]
    const fn raw_length(self) -> (u64, bool) {
        let (x, y) = (self.x.to_bits().unsigned_abs(), self.y.to_bits().unsigned_abs());
        if (x | y) >> 31 == 0 {
            let square = x * x + y * y;
            let root = isqrt_u64(square);
            return (root, root * root == square);
        }
        let square = x as u128 * x as u128 + y as u128 * y as u128;
        let root = square.isqrt();
        (root as u64, root * root == square)
    }

    const fn minus(self, other: Self) -> Self {
        Self { x: self.x.saturating_sub(other.x), y: self.y.saturating_sub(other.y) }
    }
}

/// The exact product, with 32 fraction bits.
const fn product(a: Fx, b: Fx) -> i128 {
    a.to_bits() as i128 * b.to_bits() as i128
}

/// The number `part / of` of the distance from one raw value to another; `part < of`, both below 2^32.
const fn between(from: i64, to: i64, part: i128, of: i128) -> i64 {
    from.wrapping_add(div_nearest((to as i128 - from as i128) * part, of) as i64)
}

impl Add for Vec2 {
    type Output = Self;

    /// Saturates.
    fn add(self, other: Self) -> Self {
        Self { x: self.x.saturating_add(other.x), y: self.y.saturating_add(other.y) }
    }
}

impl Sub for Vec2 {
    type Output = Self;

    /// Saturates.
    fn sub(self, other: Self) -> Self {
        self.minus(other)
    }
}

impl Neg for Vec2 {
    type Output = Self;

    /// Saturates.
    fn neg(self) -> Self {
        Self { x: self.x.saturating_neg(), y: self.y.saturating_neg() }
    }
}

impl Mul<Fx> for Vec2 {
    type Output = Self;

    /// Each component like [`mul_nearest`]: to nearest, ties away from zero; saturates.
    fn mul(self, factor: Fx) -> Self {
        Self { x: mul_nearest(self.x, factor), y: mul_nearest(self.y, factor) }
    }
}

impl AddAssign for Vec2 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vec2 {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl MulAssign<Fx> for Vec2 {
    fn mul_assign(&mut self, factor: Fx) {
        *self = *self * factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(x: i64, y: i64) -> Vec2 {
        Vec2::from_raw(x, y)
    }

    #[test]
    fn operators_saturate_in_every_profile() {
        let (low, high) = (Vec2::new(Fx::MIN, Fx::MIN), Vec2::new(Fx::MAX, Fx::MAX));
        assert_eq!(high + high, high);
        assert_eq!(low - high, low);
        assert_eq!(-low, high);
        assert_eq!(high * Fx::from_num(-2), low);
        assert_eq!(low.dot(low), Fx::MAX);
        assert_eq!(low.dot(high), Fx::MIN);
        assert_eq!(low.length_squared(), Fx::MAX);
        assert_eq!(low.length(), Fx::MAX);
        assert_eq!(low.distance(high), Fx::MAX);
        assert_eq!(low.perpendicular(), Vec2::new(Fx::MAX, Fx::MIN));
        assert_eq!(low.cross(low.perpendicular()), Fx::MAX);
        assert_eq!(high.rotate(Angle::from_degrees(45)).y, Fx::MAX);
        assert_eq!(low.lerp(high, 1, 2), raw(0, 0), "half of 2^64 - 1, away from zero");
    }

    #[test]
    fn products_round_once_and_alike_on_both_sides() {
        let v = raw(1, 1);
        let half = Fx::lit("0.5");
        assert_eq!(v * half, v);
        assert_eq!(-v * half, -v);
        assert_eq!(v.dot(Vec2::new(half, Fx::ZERO)), Fx::DELTA);
        assert_eq!(v.dot(Vec2::new(half, half)), Fx::DELTA, "two halves are one, not two");
        assert_eq!(Vec2::from_ints(2, 0).cross(Vec2::from_ints(5, 3)), 6);
        assert_eq!(Vec2::from_ints(0, 3).cross(Vec2::from_ints(1, 0)), -3);
    }

    #[test]
    fn zero_stays_zero() {
        let zero = Vec2::ZERO;
        assert_eq!(zero.normalize(), zero);
        assert_eq!(zero.angle(), Angle::ZERO);
        assert_eq!(zero.clamp_length(Fx::ONE), zero);
        assert_eq!(Vec2::from_ints(3, 4).clamp_length(-Fx::ONE), zero);
    }

    #[test]
    fn known_lengths() {
        let v = Vec2::from_ints(-30, 40);
        assert_eq!((v.length(), v.length_squared()), (Fx::from_num(50), Fx::from_num(2_500)));
        assert_eq!(v.clamp_length(Fx::from_num(5)), Vec2::from_ints(-3, 4));
        assert_eq!(v.clamp_length(Fx::from_num(50)), v);
        assert_eq!(v.normalize(), Vec2::new(Fx::lit("-0.6"), Fx::lit("0.8")));
        assert_eq!(raw(3, -4).normalize(), Vec2::new(Fx::lit("0.6"), Fx::lit("-0.8")), "however short");
    }
}
