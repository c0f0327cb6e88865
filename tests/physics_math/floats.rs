//! The physics' integer functions against 64-bit floats: the error bounds that their docs state.
//!
//! Floats are used here only as a reference. Their last bits may differ between machines; the bounds leave room for that.

use std::f64::consts::{PI, TAU};

use proptest::prelude::*;
use testudo_physics::{Angle, Fx};

/// Steps of `Fx`'s resolution in 1.
const ONE: f64 = 65_536.0;

/// 2^-32 turns in a turn.
const TURN: f64 = 4_294_967_296.0;

/// Error of sine and cosine, in steps of `Fx`'s resolution.
fn sin_cos_error(angle: Angle) -> f64 {
    let radians = f64::from(angle.to_bits()) / TURN * TAU;
    let (sin, cos) = angle.sin_cos();
    let error = |v: Fx, exact: f64| (v.to_bits() as f64 - exact * ONE).abs();
    error(sin, radians.sin()).max(error(cos, radians.cos()))
}

/// Error of a direction, in 2^-32 turns.
fn atan2_error(y: i64, x: i64) -> f64 {
    let angle = Angle::atan2(Fx::from_bits(y), Fx::from_bits(x));
    let exact = (y as f64).atan2(x as f64) / TAU * TURN;
    let difference = (f64::from(angle.to_bits()) - exact).rem_euclid(TURN);
    difference.min(TURN - difference)
}

#[test]
fn sine_and_cosine_keep_their_bound_around_the_circle() {
    let worst = (0..1 << 20)
        .map(|i: u32| sin_cos_error(Angle::from_bits((i << 12) | (i % 4_096))))
        .fold(0.0, f64::max);
    assert!(worst <= 0.501, "off by {worst} steps");
    assert!(worst > 0.49, "off by {worst} steps at most: the oracle compares nothing");
}

#[test]
fn directions_keep_their_bound_around_the_circle() {
    let mut worst: f64 = 0.0;
    for i in 0..1 << 18 {
        let radians = f64::from(i) / f64::from(1 << 18) * 2.0 * PI;
        for radius in [1.0, 300.0, ONE, 1e7, 2_147_483_647.0] {
            let (x, y) = ((radians.cos() * radius) as i64, (radians.sin() * radius) as i64);
            if (x, y) != (0, 0) {
                worst = worst.max(atan2_error(y, x));
            }
        }
    }
    assert!(worst <= 1.0, "off by {worst} / 2^32 turn");
    assert!(worst > 0.49, "off by {worst} / 2^32 turn at most: the oracle compares nothing");
}

proptest! {
    #[test]
    fn sine_and_cosine_keep_their_bound(bits: u32) {
        prop_assert!(sin_cos_error(Angle::from_bits(bits)) <= 0.501);
    }

    #[test]
    fn directions_keep_their_bound(x: i32, y: i32, shift_x in 0..31, shift_y in 0..31) {
        let (x, y) = (i64::from(x >> shift_x), i64::from(y >> shift_y));
        prop_assume!((x, y) != (0, 0));
        prop_assert!(atan2_error(y, x) <= 1.0);
    }

    #[test]
    fn directions_of_long_vectors_keep_their_bound(x: i64, y: i64, shift_x in 0..40, shift_y in 0..40) {
        let (x, y) = (x >> shift_x, y >> shift_y);
        prop_assume!((x, y) != (0, 0));
        prop_assert!(atan2_error(y, x) <= 3.0);
    }
}
