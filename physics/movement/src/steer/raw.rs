//! Vectors in raw units (1/65,536), for steering: everything near a unit fits 64 bits. All divisions round toward zero, so mirrored scenes give mirrored
//! results.

use testudo_physics::math::isqrt_u64;
use testudo_physics::{Fx, Vec2};

/// One unit, raw.
pub(crate) const ONE: i64 = 1 << 16;

pub(crate) type Raw = [i64; 2];

/// Both components as raw numbers, held within +-`limit`.
pub(crate) fn raw(v: Vec2, limit: i64) -> Raw {
    [v.x, v.y].map(|part| part.to_bits().clamp(-limit, limit))
}

pub(crate) fn vec2([x, y]: Raw) -> Vec2 {
    Vec2::new(Fx::from_bits(x), Fx::from_bits(y))
}

pub(crate) fn minus(a: Raw, b: Raw) -> Raw {
    [a[0] - b[0], a[1] - b[1]]
}

pub(crate) fn dot(a: Raw, b: Raw) -> i64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(crate) fn cross(a: Raw, b: Raw) -> i64 {
    a[0] * b[1] - a[1] * b[0]
}

/// Length, rounded down. Components are below 2^31.
pub(crate) fn length(v: Raw) -> i64 {
    isqrt_u64(dot(v, v) as u64) as i64
}

/// A vector of length `from` at length `to`; zero stays zero.
pub(crate) fn resized(v: Raw, from: i64, to: i64) -> Raw {
    if from == 0 { [0; 2] } else { v.map(|part| part * to / from) }
}

/// A vector shortened to `most` if it is longer.
#[inline(always)]
pub(crate) fn at_most(v: Raw, most: i64) -> Raw {
    if dot(v, v) <= most * most { v } else { resized(v, length(v) + 1, most) }
}
