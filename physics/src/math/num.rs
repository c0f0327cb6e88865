//! The number type, its ranges, and arithmetic with explicit rounding and overflow.
//!
//! [`Fx`]'s own operators round down (`*`) and toward zero (`/`). On overflow they panic or wrap, depending on the build profile. Nothing
//! overflows inside the ranges below. For values beyond them use the functions here, which saturate in every profile.

/// The number type of the public API: 48.16 fixed point, -2^47..2^47 with a resolution of 1/65,536.
///
/// ```
/// use testudo_physics::Fx;
/// const HALF: Fx = Fx::lit("0.5"); // exact, at compile time
/// assert_eq!(Fx::from_num(7) / 2, Fx::from_num(3) + HALF);
/// assert_eq!(Fx::DELTA.to_bits(), 1); // the smallest step: 1/65,536
/// ```
pub type Fx = fixed::types::I48F16;

/// Greatest absolute value of a position component, units. So two positions differ by at most 2^31 raw units.
pub const POSITION_MAX: Fx = Fx::const_from_int(16_384);
/// Smallest radius or half extent, units: 1/1,024, which is 64 steps of the resolution.
pub const EXTENT_MIN: Fx = Fx::from_bits(64);
/// Greatest radius or half extent, units: a quarter of the greatest position.
pub const EXTENT_MAX: Fx = Fx::const_from_int(4_096);
/// Greatest absolute value of a velocity component, units per second. Also the greatest gravity and ground friction,
/// units/s^2, and damping, 1/s.
pub const SPEED_MAX: Fx = Fx::const_from_int(1_024);
/// Smallest mass of a dynamic body: 1/256, 2^22 times below the greatest.
pub const MASS_MIN: Fx = Fx::from_bits(256);
/// Greatest mass of a dynamic body.
pub const MASS_MAX: Fx = Fx::const_from_int(16_384);
/// Greatest coefficient of contact friction.
pub const FRICTION_MAX: Fx = Fx::const_from_int(4);
/// Greatest number of frames per second.
pub const FPS_MAX: u32 = 1_000;

// A difference of two positions fits 32 bits.
const _: () = assert!(2 * POSITION_MAX.to_bits() <= 1 << 31);

/// `a * b`, rounded to nearest, ties away from zero; saturates. `mul_nearest(-a, b) == -mul_nearest(a, b)`.
///
/// ```
/// use testudo_physics::{Fx, math::mul_nearest};
/// let third = Fx::ONE / 3; // 21,845 / 65,536
/// assert_eq!(mul_nearest(third, Fx::from_num(-3)), -Fx::from_bits(65_535));
/// assert_eq!(mul_nearest(Fx::DELTA, Fx::lit("0.5")), Fx::DELTA);
/// assert_eq!(mul_nearest(Fx::MAX, Fx::from_num(-2)), Fx::MIN);
/// ```
#[must_use]
pub const fn mul_nearest(a: Fx, b: Fx) -> Fx {
    round_product(a.to_bits() as i128 * b.to_bits() as i128)
}

/// `a * b`, rounded down; saturates. Without overflow it equals [`Fx`]'s `*`.
///
/// ```
/// use testudo_physics::{Fx, math::mul_floor};
/// assert_eq!(mul_floor(Fx::DELTA, Fx::lit("0.5")), Fx::ZERO);
/// assert_eq!(mul_floor(-Fx::DELTA, Fx::lit("0.5")), -Fx::DELTA);
/// ```
#[must_use]
pub const fn mul_floor(a: Fx, b: Fx) -> Fx {
    saturate((a.to_bits() as i128 * b.to_bits() as i128) >> 16)
}

/// `a / b`, rounded down (not toward zero like [`Fx`]'s `/`); saturates. Division by zero gives [`Fx::MAX`] for a positive number,
/// [`Fx::MIN`] for a negative one, and zero for zero.
///
/// ```
/// use testudo_physics::{Fx, math::div_floor};
/// assert_eq!(div_floor(Fx::from_num(-1), Fx::from_num(3)), Fx::from_bits(-21_846));
/// assert_eq!(Fx::from_num(-1) / Fx::from_num(3), Fx::from_bits(-21_845));
/// assert_eq!(div_floor(Fx::ONE, Fx::ZERO), Fx::MAX);
/// ```
#[must_use]
pub const fn div_floor(a: Fx, b: Fx) -> Fx {
    let (a, b) = (a.to_bits(), b.to_bits());
    if b == 0 {
        return saturate(a as i128 * (1 << 64));
    }
    // 64-bit division is several times faster than 128-bit division, and enough below 2^31 units.
    if a.unsigned_abs() >> 47 == 0 {
        let (dividend, quotient) = (a << 16, (a << 16) / b);
        return Fx::from_bits(quotient - ((dividend % b != 0) && ((a < 0) != (b < 0))) as i64);
    }
    let dividend = (a as i128) << 16;
    let quotient = dividend / b as i128;
    saturate(quotient - ((dividend % b as i128 != 0) && ((a < 0) != (b < 0))) as i128)
}

/// Square root, rounded down; 0 for negative numbers.
///
/// ```
/// use testudo_physics::{Fx, math::sqrt};
/// assert_eq!(sqrt(Fx::lit("2.25")), Fx::lit("1.5"));
/// assert_eq!(sqrt(Fx::from_num(-1)), Fx::ZERO);
/// ```
#[must_use]
pub const fn sqrt(value: Fx) -> Fx {
    let raw = value.to_bits();
    if raw <= 0 {
        return Fx::ZERO;
    }
    let square = (raw as u128) << 16;
    Fx::from_bits(if square >> 64 == 0 { isqrt_u64(square as u64) as i64 } else { square.isqrt() as i64 })
}

/// The number nearest to a product, or sum of products, of raw values (32 fraction bits); ties away from zero.
pub(crate) const fn round_product(product: i128) -> Fx {
    saturate(product.saturating_add((1 << 15) - (product < 0) as i128) >> 16)
}

/// `a / b` in plain integers, rounded to nearest, ties away from zero. `b` is positive and below 2^126, as is `|a|`.
pub(crate) const fn div_nearest(a: i128, b: i128) -> i128 {
    let half = if a < 0 { -(b / 2) } else { b / 2 };
    (a + half) / b
}

/// The nearest number to a raw value of any size.
pub(crate) const fn saturate(raw: i128) -> Fx {
    if raw > i64::MAX as i128 {
        Fx::MAX
    } else if raw < i64::MIN as i128 {
        Fx::MIN
    } else {
        Fx::from_bits(raw as i64)
    }
}

/// Square root of an integer, rounded down; exact for every argument.
///
/// One look-up of the reciprocal root, one Newton step on it, one on the root, and an exact correction. It has no division and no loop, and
/// is two to three times as fast as [`u64::isqrt`].
///
/// ```
/// use testudo_physics::math::isqrt_u64;
/// assert_eq!(isqrt_u64(99), 9);
/// assert_eq!(isqrt_u64(u64::MAX), u64::from(u32::MAX));
/// ```
#[must_use]
pub const fn isqrt_u64(value: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    // x = scaled / 2^64 lies in 1/4..1.
    let shift = value.leading_zeros() & !1;
    let scaled = value << shift;
    let x = scaled >> 32;
    // 1/sqrt(x) with 15 fraction bits, relative error below 2^-9.
    let rough = ROOT_RECIPROCALS[(scaled >> 55) as usize - 128] as u64;
    // Newton, r (3 - x r^2) / 2, squares the error: 31 fraction bits, relative error below 2^-17.
    let reciprocal = (rough * (3 * (1 << 32) - ((x * rough * rough) >> 30))) >> 17;
    // sqrt(scaled) = 2^32 x / sqrt(x); then Newton on the root with the exact residual: within 1 of the true root.
    let root = (x * reciprocal) >> 31;
    let residual = scaled.wrapping_sub(root.wrapping_mul(root)) as i64;
    let root = root.wrapping_add_signed(((residual >> 18) * reciprocal as i64) >> 46);
    let root = root >> (shift / 2);
    let root = if root > u32::MAX as u64 { u32::MAX as u64 } else { root };
    // Exact: root^2 <= value < (root + 1)^2.
    let square = root * root;
    if square > value { root - 1 } else { root + (value - square > 2 * root) as u64 }
}

/// `2^15 / sqrt(x)` at the middle of each of the 384 intervals of width 1/512 in 1/4..1.
static ROOT_RECIPROCALS: [u16; 384] = {
    let mut table = [0; 384];
    let mut i = 0;
    while i < table.len() {
        // x = (2 i + 257) / 1024 and 2^15 / sqrt(x) = sqrt(2^40 / (2 i + 257)).
        table[i] = ((1 << 40) / (2 * i as u64 + 257)).isqrt() as u16;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(bits: i64) -> Fx {
        Fx::from_bits(bits)
    }

    /// Checks the operators of the `fixed` crate. Everything else is built on them; a new version of `fixed` must keep this.
    #[test]
    fn plain_multiplication_floors_and_plain_division_truncates() {
        assert_eq!(raw(3) * raw(1 << 15), raw(1));
        assert_eq!(raw(-3) * raw(1 << 15), raw(-2));
        assert_eq!(raw(5) / raw(2 << 16), raw(2));
        assert_eq!(raw(-5) / raw(2 << 16), raw(-2));
        assert_eq!(raw(-5) / 2, raw(-2));
        assert_eq!(Fx::MAX.wrapping_add(Fx::DELTA), Fx::MIN);
        assert_eq!(Fx::MIN.wrapping_neg(), Fx::MIN);
    }

    #[test]
    fn results_saturate_in_every_profile() {
        for (a, b, product) in [
            (Fx::MAX, Fx::MAX, Fx::MAX),
            (Fx::MIN, Fx::MIN, Fx::MAX),
            (Fx::MAX, Fx::MIN, Fx::MIN),
            (Fx::MAX, Fx::ONE, Fx::MAX),
            (Fx::MIN, Fx::ONE, Fx::MIN),
            (Fx::MIN, -Fx::ONE, Fx::MAX),
        ] {
            assert_eq!((mul_nearest(a, b), mul_floor(a, b)), (product, product), "{a} * {b}");
        }
        assert_eq!(div_floor(Fx::MIN, -Fx::ONE), Fx::MAX);
        assert_eq!(div_floor(Fx::MAX, Fx::DELTA), Fx::MAX);
        assert_eq!(div_floor(Fx::MAX, -Fx::DELTA), Fx::MIN);
        assert_eq!([1, 0, -1].map(|a| div_floor(raw(a), Fx::ZERO)), [Fx::MAX, Fx::ZERO, Fx::MIN]);
    }

    #[test]
    fn roots_are_exact_around_every_square_of_a_power_of_two() {
        let near = |v: u64| (v.saturating_sub(3)..v).chain(v..=v.saturating_add(3));
        for bit in 0..64 {
            for value in near(1 << bit).chain(near(u64::MAX >> bit)) {
                assert_eq!(isqrt_u64(value), value.isqrt(), "{value}");
            }
        }
        for value in 0..100_000 {
            assert_eq!(isqrt_u64(value), value.isqrt(), "{value}");
        }
    }

    /// Tests the worst cases of the look-up: both ends of every interval of the table, at the smallest and largest scales.
    #[test]
    fn roots_are_exact_at_the_ends_of_the_table_intervals() {
        for start in 128..512_u64 {
            for low in [0, 1, u64::MAX >> 9] {
                for shift in (0..40).step_by(2) {
                    let value = (start << 55 | low) >> shift;
                    let root = value.isqrt();
                    for square in [root * root, (root * root).wrapping_sub(1), value] {
                        assert_eq!(isqrt_u64(square), square.isqrt(), "{square}");
                    }
                }
            }
        }
    }
}
