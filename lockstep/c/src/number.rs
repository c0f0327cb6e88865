//! Arithmetic of the simulation. Every result is the same on every machine. Angles are `uint32_t`: 2^32 to a turn, from the x axis
//! towards the y axis, so adding them wraps around.

use testudo_physics::math::{div_floor, isqrt_u64, mul_floor, mul_nearest, sqrt};
use testudo_physics::{Angle, Vec2};

use crate::failure::{Outcome, TestudoStatus, status};
use crate::pointer::{read, write};
use crate::value::{TestudoFx, TestudoVec2, fx, vec2};

/// An angle: 2^32 to a turn, from the x axis towards the y axis. Adding and subtracting wrap around.
pub type TestudoAngle = u32;

// As `TESTUDO_ONE`.
/// A quarter of a turn.
///
/// cbindgen:ignore
pub const TESTUDO_QUARTER_TURN: TestudoAngle = 1073741824;

/// a * b, rounded down. At the ends of the range it stays there, as all functions here.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_mul(a: TestudoFx, b: TestudoFx) -> TestudoFx {
    mul_floor(fx(a), fx(b)).to_bits()
}

/// a * b, rounded to the nearest number, ties away from zero.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_mul_nearest(a: TestudoFx, b: TestudoFx) -> TestudoFx {
    mul_nearest(fx(a), fx(b)).to_bits()
}

/// a / b, rounded down. By zero: the greatest number for a positive one, the smallest for a negative one, zero for zero.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_div(a: TestudoFx, b: TestudoFx) -> TestudoFx {
    div_floor(fx(a), fx(b)).to_bits()
}

/// Square root, rounded down; 0 for negative numbers.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_sqrt(number: TestudoFx) -> TestudoFx {
    sqrt(fx(number)).to_bits()
}

/// Square root of a whole number, rounded down.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_isqrt(number: u64) -> u64 {
    isqrt_u64(number)
}

/// Length of a vector, rounded down.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_length(x: TestudoFx, y: TestudoFx) -> TestudoFx {
    vec2(x, y).length().to_bits()
}

/// Sine: within 0.501 steps of the resolution. Exact at quarters of a turn.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_sin(angle: TestudoAngle) -> TestudoFx {
    Angle::from_bits(angle).sin().to_bits()
}

/// Cosine, as precise as the sine.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_cos(angle: TestudoAngle) -> TestudoFx {
    Angle::from_bits(angle).cos().to_bits()
}

/// The direction of a vector; 0 for the zero vector. `y` comes first.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_atan2(y: TestudoFx, x: TestudoFx) -> TestudoAngle {
    Angle::atan2(fx(y), fx(x)).to_bits()
}

/// Turns by the shorter way towards another angle, by at most `step` (up to half a turn), and stops there.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_turn_toward(
    angle: TestudoAngle,
    target: TestudoAngle,
    step: TestudoAngle,
) -> TestudoAngle {
    Angle::from_bits(angle).turn_toward(Angle::from_bits(target), Angle::from_bits(step)).to_bits()
}

/// Gives a vector the length 1; the zero vector stays zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_normalize(vector: *mut TestudoVec2) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(vector, Vec2::normalize) })
}

/// Shortens a vector that is longer than this, units; it keeps its direction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_clamp_length(vector: *mut TestudoVec2, length: TestudoFx) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(vector, |vector| vector.clamp_length(fx(length))) })
}

/// Rotates a vector by an angle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_rotate(vector: *mut TestudoVec2, angle: TestudoAngle) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(vector, |vector| vector.rotate(Angle::from_bits(angle))) })
}

/// # Safety
/// The contract of pointers.
unsafe fn change(vector: *mut TestudoVec2, to: impl FnOnce(Vec2) -> Vec2) -> Outcome<()> {
    // SAFETY: the caller's promise.
    let given = unsafe { read(vector, "vector") }?;
    // SAFETY: as above.
    unsafe { write(vector, to(given.into()).into(), "vector") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::TESTUDO_ONE;

    #[test]
    fn numbers_are_as_the_docs_say() {
        let one = TESTUDO_ONE;
        assert_eq!([testudo_mul(3, one / 2), testudo_mul_nearest(3, one / 2)], [1, 2]);
        assert_eq!([testudo_div(one, 2 * one), testudo_div(-1, 2 * one)], [one / 2, -1]);
        assert_eq!([1, -1, 0].map(|number| testudo_div(number, 0)), [i64::MAX, i64::MIN, 0]);
        assert_eq!([testudo_sqrt(4 * one), testudo_sqrt(-one)], [2 * one, 0]);
        assert_eq!([testudo_isqrt(99), testudo_isqrt(u64::MAX)], [9, u64::from(u32::MAX)]);
        assert_eq!(testudo_length(3 * one, -4 * one), 5 * one);
        assert_eq!([testudo_atan2(one, 0), testudo_atan2(0, 0)], [TESTUDO_QUARTER_TURN, 0]);
        let quarter = TESTUDO_QUARTER_TURN;
        assert_eq!(testudo_turn_toward(0, quarter, 5), 5);
        assert_eq!(testudo_turn_toward(0, 3 * quarter, 5), u32::MAX - 4);
        assert_eq!(testudo_turn_toward(quarter - 3, quarter, 5), quarter);
    }
}
