//! Laws of numbers, vectors, angles, boxes, rates and random numbers: exact, in wider integers.

use proptest::prelude::*;
use rand_core::Rng;
use testudo_physics::math::{div_floor, isqrt_u64, mul_floor, mul_nearest, sqrt};
use testudo_physics::{Aabb, Angle, Fx, Pcg32, Rate, Vec2};

fn vector(x: i64, y: i64) -> Vec2 {
    Vec2::new(Fx::from_bits(x), Fx::from_bits(y))
}

/// Square of the length in steps of `Fx`'s resolution.
fn square(v: Vec2) -> u128 {
    let square = |c: Fx| u128::from(c.to_bits().unsigned_abs()).pow(2);
    square(v.x) + square(v.y)
}

proptest! {
    #[test]
    fn products_round_as_they_say(a: i64, b: i64, shift_a in 0..63, shift_b in 0..63) {
        let (a, b) = (a >> shift_a, b >> shift_b);
        let (clamp, product) = (|v: i128| v.clamp(i64::MIN.into(), i64::MAX.into()) as i64, i128::from(a) * i128::from(b));
        let floor = product.div_euclid(1 << 16);
        prop_assert_eq!(mul_floor(Fx::from_bits(a), Fx::from_bits(b)).to_bits(), clamp(floor));
        let away = (product.abs() * 2 + (1 << 16)) / (1 << 17) * product.signum();
        prop_assert_eq!(mul_nearest(Fx::from_bits(a), Fx::from_bits(b)).to_bits(), clamp(away));
    }

    #[test]
    fn quotients_round_down(a: i64, b: i64, shift_a in 0..63, shift_b in 0..63) {
        let (a, b) = (a >> shift_a, b >> shift_b);
        prop_assume!(b != 0);
        let (dividend, divisor) = (i128::from(a) << 16, i128::from(b));
        let exact = dividend * divisor.signum();
        let floor = exact.div_euclid(divisor.abs()).clamp(i64::MIN.into(), i64::MAX.into());
        prop_assert_eq!(i128::from(div_floor(Fx::from_bits(a), Fx::from_bits(b)).to_bits()), floor);
    }

    #[test]
    fn integer_roots_agree_with_both_oracles(value: u64, shift in 0..64) {
        let value = value >> shift;
        let root = isqrt_u64(value);
        prop_assert_eq!(root, value.isqrt());
        let (root, value) = (u128::from(root), u128::from(value));
        prop_assert!(root * root <= value && value < (root + 1) * (root + 1));
    }

    #[test]
    fn integer_roots_are_exact_around_squares(root in 1..=u64::from(u32::MAX)) {
        prop_assert_eq!(isqrt_u64(root * root), root);
        prop_assert_eq!(isqrt_u64(root * root - 1), root - 1);
        prop_assert_eq!(isqrt_u64(root * root + 2 * root), root);
    }

    #[test]
    fn fixed_point_roots_round_down(value in 0..=i64::MAX, shift in 0..63) {
        let value = value >> shift;
        let (root, square) = (u128::from(sqrt(Fx::from_bits(value)).to_bits() as u64), (value as u128) << 16);
        prop_assert!(root * root <= square && square < (root + 1) * (root + 1));
    }
}

proptest! {
    #[test]
    fn lengths_round_down(x: i64, y: i64, shift in 0..63) {
        let v = vector(x >> shift, y >> shift);
        let length = v.length();
        let root = u128::from(length.to_bits().unsigned_abs());
        prop_assert!(root * root <= square(v) && (length == Fx::MAX || square(v) < (root + 1) * (root + 1)));
    }

    #[test]
    fn unit_vectors_have_length_one_and_keep_their_direction(x: i64, y: i64, shift in 0..63) {
        let v = vector(x >> shift, y >> shift);
        prop_assume!(v != Vec2::ZERO);
        let unit = v.normalize();
        // Both components off by less than one step: the length by less than 1.5.
        let length = u64::try_from(square(unit)).unwrap().isqrt();
        prop_assert!(length.abs_diff(1 << 16) <= 2, "{unit:?}");
        let turned = v.angle().difference_to(unit.angle()).unsigned_abs();
        prop_assert!(turned < (1 << 16) / 4, "turned by {turned} / 2^32");
        prop_assert_eq!((-v).normalize(), -unit);
    }

    #[test]
    fn clamped_vectors_are_never_too_long(x: i64, y: i64, max in 0..=i64::MAX, shift in 0..63, shift_max in 0..63) {
        let (v, max) = (vector(x >> shift, y >> shift), Fx::from_bits(max >> shift_max));
        let clamped = v.clamp_length(max);
        let limit = (max.to_bits() as u128).pow(2);
        prop_assert!(square(clamped) <= limit);
        if square(v) <= limit {
            prop_assert_eq!(clamped, v);
        } else {
            // Rounding takes less than one step of either component and of the length.
            let reached = clamped.length().to_bits() + 3;
            prop_assert!(reached >= max.to_bits(), "{clamped:?} of {max}");
        }
    }

    #[test]
    fn rotations_keep_the_length(x: i32, y: i32, angle: u32) {
        let (v, angle) = (vector(x.into(), y.into()), Angle::from_bits(angle));
        let (turned, length) = (v.rotate(angle), v.length());
        // Sine and cosine are off by half a step each: the length by less than 1 / 65,536 of it and a step.
        let slack = Fx::from_bits((length.to_bits() >> 16) + 3);
        prop_assert!(turned.length().abs_diff(length) <= slack);
        prop_assert_eq!(v.rotate(angle + Angle::HALF), -turned);
        let back = turned.rotate(-angle);
        prop_assert!(back.distance(v) <= slack + slack);
    }

    #[test]
    fn interpolation_meets_both_ends_and_stays_between(a: [i64; 2], b: [i64; 2], part: u32, of: u32) {
        let (a, b) = (vector(a[0], a[1]), vector(b[0], b[1]));
        prop_assert_eq!(a.lerp(b, of, of), b);
        prop_assert_eq!(a.lerp(b, 0, of.max(1)), a);
        let v = a.lerp(b, part, of);
        let inside = v.min(a).min(b) == a.min(b) && v.max(a).max(b) == a.max(b);
        prop_assert!(inside, "{v:?}");
    }

    #[test]
    fn directions_come_back(angle: u32) {
        let angle = Angle::from_bits(angle);
        let error = angle.difference_to(Vec2::from_angle(angle).angle()).unsigned_abs();
        prop_assert!(error < (1 << 16) / 8, "off by {error} / 2^32 turn");
    }
}

proptest! {
    #[test]
    fn symmetries_are_exact(bits: u32) {
        let a = Angle::from_bits(bits);
        let (sin, cos) = a.sin_cos();
        prop_assert_eq!((-a).sin_cos(), (-sin, cos));
        prop_assert_eq!((a + Angle::HALF).sin_cos(), (-sin, -cos));
        prop_assert_eq!((Angle::QUARTER - a).sin_cos(), (cos, sin));
    }

    #[test]
    fn directions_mirror(x: i32, y: i32) {
        let (x, y) = (Fx::from_bits(x.into()), Fx::from_bits(y.into()));
        prop_assume!(x != 0 && y != 0);
        let a = Angle::atan2(y, x);
        prop_assert_eq!(Angle::atan2(-y, x), -a);
        prop_assert_eq!(Angle::atan2(y, -x), Angle::HALF - a);
        prop_assert_eq!(Angle::atan2(x, y), Angle::QUARTER - a);
    }
}

proptest! {
    #[test]
    fn centre_and_extents_cover_the_box(a: [i32; 2], b: [i32; 2]) {
        let point = |[x, y]: [i32; 2]| Vec2::new(Fx::from_bits(x.into()), Fx::from_bits(y.into()));
        let area = Aabb::from_corners(point(a), point(b));
        prop_assert!(area.contains(point(a)) && area.contains(point(b)) && area.contains(area.center()));
        let round = Aabb::from_center_half(area.center(), area.half_extents());
        prop_assert!(round.contains_box(&area));
        prop_assert!(area.expand(Fx::DELTA).contains_box(&round), "no wider than rounding makes it");
        prop_assert_eq!(Aabb::from_center_half(area.center(), -area.half_extents()), round);
    }

    #[test]
    fn boxes_overlap_when_they_share_a_point(a: [i8; 4], b: [i8; 4]) {
        let area = |v: [i8; 4]| {
            let [x, y, z, w] = v.map(i32::from);
            Aabb::from_corners(Vec2::from_ints(x, y), Vec2::from_ints(z, w))
        };
        let (a, b) = (area(a), area(b));
        // If they share a point, they share this one.
        let shared = a.min.max(b.min);
        prop_assert_eq!(a.overlaps(&b), a.contains(shared) && b.contains(shared));
        prop_assert!(a.union(&b).contains_box(&a) && a.union(&b).contains_box(&b));
    }
}

proptest! {
    #[test]
    fn sums_are_exact_at_a_constant_rate(per_second in -1_000_000_i64..1_000_000, fps in 1..=1000_u32, frames in 0..500_u32) {
        let mut rate = Rate::new(per_second);
        let given: i64 = (0..frames).map(|_| rate.take(fps)).sum();
        prop_assert_eq!(given, (per_second * i64::from(frames)).div_euclid(fps.into()));
    }

    /// Each change of the frames per second loses less than one unit / new, so the total loss is below one unit.
    #[test]
    fn changing_frames_lose_little_and_gain_nothing(
        per_second in -100_000_i64..100_000,
        frames in prop::collection::vec(1..=1000_u32, 1..200),
    ) {
        let mut rate = Rate::new(per_second);
        // In 1/2^64 of a unit, between bounds: the exact sum has a denominator of thousands of digits.
        let (mut low, mut high) = (0_i128, 0_i128);
        let mut given = 0_i128;
        for &fps in &frames {
            given += i128::from(rate.take(fps));
            let share = i128::from(per_second) << 64;
            low += share.div_euclid(fps.into()) - (1 << 64) / i128::from(fps);
            high += share.div_euclid(fps.into()) + 1;
        }
        let (left, fps) = rate.remainder();
        let held = (given << 64) + (i128::from(left) << 64) / i128::from(fps);
        prop_assert!(low <= held && held <= high, "{} in {}..={}", held, low, high);
    }

    #[test]
    fn parts_give_the_same_rate(per_second: i64, remainder: u32, fps: u32) {
        let rate = Rate::from_parts(per_second, (remainder, fps));
        prop_assert_eq!(rate.is_some(), remainder < fps || (remainder, fps) == (0, 0));
        if let Some(rate) = rate {
            prop_assert_eq!(Rate::from_parts(rate.per_second(), rate.remainder()), Some(rate));
        }
    }
}

proptest! {
    #[test]
    fn draws_agree_with_another_pcg(seed: u64, stream: u64) {
        let mut rng = Pcg32::new(seed, stream);
        let mut oracle = rand_pcg::Pcg32::new(seed, stream);
        for _ in 0..100 {
            prop_assert_eq!(rng.next_u32(), oracle.next_u32());
            prop_assert_eq!(rng.next_u64(), oracle.next_u64());
        }
    }

    #[test]
    fn a_saved_state_goes_on_alike(seed: u64, stream: u64, draws in 0..100) {
        let mut rng = Pcg32::new(seed, stream);
        for _ in 0..draws {
            rng.next_u32();
        }
        let (state, stream) = rng.state();
        let mut restored = Pcg32::from_state(state, stream);
        prop_assert_eq!(&restored, &rng);
        prop_assert_eq!(restored.next_u64(), rng.next_u64());
    }
}
