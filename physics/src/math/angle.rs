//! Angles as fractions of a turn, and their functions in integers.
//!
//! `tests/physics_math/` checks the error bounds below against 64-bit floats.

use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use crate::math::num::Fx;

/// An angle: a fraction of a turn in 32 bits, from the x axis towards the y axis.
///
/// Addition wraps around at a full turn, so angles need no normalisation. One step is 2^-32 turn, about 8.4e-8 degrees.
///
/// ```
/// use testudo_physics::{Angle, Fx};
/// let northwest = Angle::QUARTER + Angle::from_degrees(45);
/// assert_eq!(northwest.cos(), -northwest.sin());
/// assert_eq!(northwest + northwest, Angle::HALF + Angle::QUARTER);
/// assert_eq!(Angle::atan2(Fx::from_num(3), Fx::from_num(-3)), northwest);
/// assert_eq!(Angle::from_degrees(-90), Angle::from_turns(Fx::lit("0.75")));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Angle(u32);

impl Angle {
    /// The direction of the x axis.
    pub const ZERO: Self = Self(0);
    /// A quarter of a turn: the direction of the y axis.
    pub const QUARTER: Self = Self(1 << 30);
    /// Half a turn: against the x axis.
    pub const HALF: Self = Self(1 << 31);

    /// The angle of `bits` steps of 2^-32 turn.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The angle in steps of 2^-32 turn.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// An angle in turns, modulo whole turns. Exact.
    #[must_use]
    pub const fn from_turns(turns: Fx) -> Self {
        Self((turns.to_bits() << 16) as u32)
    }

    /// An angle in degrees, rounded to the nearest step, modulo whole turns.
    #[must_use]
    pub const fn from_degrees(degrees: i32) -> Self {
        let turn = degrees.rem_euclid(360) as u64;
        Self((((turn << 32) + 180) / 360) as u32)
    }

    /// The shorter rotation from this angle to another one, in 2^-32 turns: positive towards the y axis. Half a turn is `i32::MIN`.
    ///
    /// ```
    /// use testudo_physics::Angle;
    /// let (east, north) = (Angle::ZERO, Angle::QUARTER);
    /// assert_eq!(east.difference_to(north), 1 << 30);
    /// assert_eq!(north.difference_to(east), -(1 << 30));
    /// ```
    #[must_use]
    pub const fn difference_to(self, other: Self) -> i32 {
        other.0.wrapping_sub(self.0) as i32
    }

    /// Rotates by the shorter direction towards another angle, by at most `step` (up to half a turn), and stops there.
    ///
    /// ```
    /// use testudo_physics::Angle;
    /// let (gun, target) = (Angle::from_degrees(350), Angle::from_degrees(20));
    /// let turned = gun.turn_toward(target, Angle::from_degrees(25));
    /// assert!(turned.difference_to(Angle::from_degrees(15)).abs() <= 1);
    /// assert_eq!(turned.turn_toward(target, Angle::from_degrees(25)), target);
    /// ```
    #[must_use]
    pub const fn turn_toward(self, target: Self, step: Self) -> Self {
        let difference = self.difference_to(target);
        if difference.unsigned_abs() <= step.0 {
            target
        } else if difference > 0 {
            Self(self.0.wrapping_add(step.0))
        } else {
            Self(self.0.wrapping_sub(step.0))
        }
    }

    /// Sine, with an error of at most 0.501 steps of [`Fx`]'s resolution (all but a few results are the nearest number). `(-a).sin() ==
    /// -a.sin()`. Exact at quarters of a turn.
    #[must_use]
    pub const fn sin(self) -> Fx {
        self.sin_cos().0
    }

    /// Cosine, with the precision of the sine. `(-a).cos() == a.cos()`.
    #[must_use]
    pub const fn cos(self) -> Fx {
        self.sin_cos().1
    }

    /// Sine and cosine together, at 1.5 times the cost of one.
    #[must_use]
    pub const fn sin_cos(self) -> (Fx, Fx) {
        // The nearest quarter of a turn, and the angle from there: at most an eighth of a turn.
        let quarter = self.0.wrapping_add(1 << 29) >> 30;
        let rest = self.0.wrapping_sub(quarter << 30) as i32;
        let x = (rest.unsigned_abs() as i64 * HALF_PI) >> 30;
        let sin = round_q30(taylor_sin(x)) * (rest.signum() as i64);
        let cos = round_q30(taylor_cos(x));
        let (sin, cos) = match quarter {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        };
        (Fx::from_bits(sin), Fx::from_bits(cos))
    }

    /// The direction of the vector (x, y); [`Angle::ZERO`] for the zero vector. `y` comes first, as in every other `atan2`.
    ///
    /// The error is at most one step (2^-32 turn) while both components are below 2^15 units, and at most three steps beyond.
    #[must_use]
    pub const fn atan2(y: Fx, x: Fx) -> Self {
        let (width, height) = (x.to_bits().unsigned_abs(), y.to_bits().unsigned_abs());
        let steep = height > width;
        let (major, minor) = if steep { (height, width) } else { (width, height) };
        if major == 0 {
            return Self::ZERO;
        }
        let eighth = atan_ratio(minor, major);
        let quarter = if steep { (1 << 30) - eighth } else { eighth };
        let half = if x.to_bits() < 0 { (1 << 31) - quarter } else { quarter };
        Self(if y.to_bits() < 0 { half.wrapping_neg() } else { half })
    }
}

impl Add for Angle {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl Sub for Angle {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

impl Neg for Angle {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.wrapping_neg())
    }
}

impl AddAssign for Angle {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Angle {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// 1 with 30 fraction bits.
const ONE: i64 = 1 << 30;

/// Pi / 2 with 30 fraction bits.
const HALF_PI: i64 = 1_686_629_713;

/// From 30 fraction bits to 16, to nearest.
const fn round_q30(v: i64) -> i64 {
    (v + (1 << 13)) >> 14
}

/// x - x^3/3! + x^5/5! - x^7/7! + x^9/9!; below pi/4 the next term is under 2e-9.
const fn taylor_sin(x: i64) -> i64 {
    let z = (x * x) >> 30;
    let mut sum = ONE / 362_880;
    sum = -ONE / 5_040 + ((z * sum) >> 30);
    sum = ONE / 120 + ((z * sum) >> 30);
    sum = -ONE / 6 + ((z * sum) >> 30);
    x + ((((z * sum) >> 30) * x) >> 30)
}

/// 1 - x^2/2! + x^4/4! - x^6/6! + x^8/8! - x^10/10!; below pi/4 the next term is under 2e-10.
const fn taylor_cos(x: i64) -> i64 {
    let z = (x * x) >> 30;
    let mut sum = -ONE / 3_628_800;
    sum = ONE / 40_320 + ((z * sum) >> 30);
    sum = -ONE / 720 + ((z * sum) >> 30);
    sum = ONE / 24 + ((z * sum) >> 30);
    sum = -ONE / 2 + ((z * sum) >> 30);
    ONE + ((z * sum) >> 30)
}

/// Intervals of the arc tangent's table in 0..=1.
const INTERVALS: u64 = 32;

/// atan(minor / major) in 2^-32 turns, at most an eighth of a turn. `minor <= major`, `major` is not zero.
const fn atan_ratio(minor: u64, major: u64) -> u32 {
    // Keep 31 bits of the larger number; with larger numbers both lose their lowest bits.
    let excess = (64 - major.leading_zeros()).saturating_sub(31);
    let (minor, major) = ((minor >> excess) as i64, (major >> excess) as i64);
    // With c the nearest multiple of 1/32: atan(t) = atan(c) + atan((t - c) / (1 + t c)), the latter at most 1/64.
    let n = INTERVALS as i64;
    let nearest = (minor * n + major / 2) / major;
    let u = ((minor * n - major * nearest) << 32) / (major * n + minor * nearest);
    // atan(u) = u - u^3/3; the next term is under 2^-32.
    let arc = u - ((((u * u) >> 32) * u) >> 32) / 3;
    let turns = ARC_TANGENTS[nearest as usize] + ((arc * INVERSE_TWO_PI) >> 16);
    ((turns + (1 << 15)) >> 16) as u32
}

/// 1 / (2 pi) with 32 fraction bits.
const INVERSE_TWO_PI: i64 = 683_565_276;

/// atan(i / 32) in 2^-48 turns.
static ARC_TANGENTS: [i64; INTERVALS as usize + 1] = arc_tangents();

const fn arc_tangents() -> [i64; INTERVALS as usize + 1] {
    // 1 / (2 pi) with 60 fraction bits.
    const INVERSE_TWO_PI: i128 = 183_493_156_455_125_077;
    let n = INTERVALS as i128;
    let mut table = [0; INTERVALS as usize + 1];
    let (mut i, mut sum) = (1, 0);
    while i < table.len() as i128 {
        // atan(i/n) - atan((i-1)/n) = atan(n / (n^2 + i (i-1))), at most 1/32, with 60 fraction bits.
        let u = (n << 60) / (n * n + i * (i - 1));
        let (mut power, mut odd) = (u, 1);
        while odd <= 11 {
            sum += power / odd;
            power = -((((power * u) >> 60) * u) >> 60);
            odd += 2;
        }
        table[i as usize] = (((sum * INVERSE_TWO_PI) >> 71) as i64 + 1) >> 1;
        i += 1;
    }
    table
}

// An eighth of a turn, to the last bit.
const _: () = assert!(arc_tangents()[INTERVALS as usize] == 1 << 45);

#[cfg(test)]
mod tests {
    use super::*;

    fn fx(bits: i64) -> Fx {
        Fx::from_bits(bits)
    }

    #[test]
    fn quarters_are_exact() {
        let (quarter, one) = (Angle::QUARTER, Fx::ONE);
        let mut angle = Angle::ZERO;
        for expected in [(Fx::ZERO, one), (one, Fx::ZERO), (Fx::ZERO, -one), (-one, Fx::ZERO)] {
            assert_eq!(angle.sin_cos(), expected);
            assert_eq!(Angle::atan2(expected.0, expected.1), angle);
            angle += quarter;
        }
        assert_eq!(angle, Angle::ZERO);
        assert_eq!(Angle::from_degrees(30).sin(), Fx::lit("0.5"));
        assert_eq!(Angle::from_degrees(120).cos(), Fx::lit("-0.5"));
    }

    #[test]
    fn directions_of_extreme_vectors() {
        let far = [Fx::MIN, Fx::MAX];
        assert_eq!(Angle::atan2(Fx::MAX, Fx::MAX), Angle::from_degrees(45));
        assert_eq!(Angle::atan2(Fx::MIN, Fx::MIN), Angle::from_degrees(-135));
        assert_eq!(far.map(|x| Angle::atan2(Fx::DELTA, x)), [Angle::HALF, Angle::ZERO]);
        assert_eq!(far.map(|y| Angle::atan2(y, Fx::ZERO)), [-Angle::QUARTER, Angle::QUARTER]);
        assert_eq!(Angle::atan2(Fx::ZERO, Fx::ZERO), Angle::ZERO);
    }

    #[test]
    fn degrees_and_turns_wrap() {
        assert_eq!(Angle::from_degrees(-1), -Angle::from_degrees(1));
        assert_eq!(Angle::from_degrees(i32::MIN), Angle::from_degrees(i32::MIN.rem_euclid(360)));
        assert_eq!(Angle::from_turns(Fx::lit("-3.25")), -Angle::QUARTER);
    }

    #[test]
    fn turning_takes_the_shorter_way_and_stops() {
        let (a, b) = (Angle::from_degrees(10), Angle::from_degrees(-10));
        assert_eq!(a.turn_toward(b, Angle::ZERO), a);
        assert_eq!(a.turn_toward(b, Angle::from_bits(1)), a - Angle::from_bits(1));
        assert_eq!(b.turn_toward(a, Angle::from_bits(1)), b + Angle::from_bits(1));
        assert_eq!(a.turn_toward(b, Angle::HALF), b);
        assert_eq!(a.turn_toward(a + Angle::HALF, Angle::HALF), a + Angle::HALF);
    }

    #[test]
    fn sine_rises_without_a_step_back() {
        let sines = (0..=1 << 16).map(|i: u32| Angle::from_bits(i << 14).sin());
        assert!(sines.is_sorted());
    }

    #[test]
    fn arc_tangent_rises_without_a_step_back() {
        let angles = (0..=1 << 16).map(|y| Angle::atan2(fx(y), Fx::ONE).to_bits());
        assert!(angles.is_sorted_by(|a, b| a < b));
    }
}
