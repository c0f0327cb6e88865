//! How fast overlaps separate.

/// Overlap that is left alone, raw units: the smallest radius. Removing the last bit of an overlap would leave a little speed in every
/// contact of a stack, which would never come to rest.
pub(crate) const OVERLAP_ALLOWED: i64 = crate::math::num::EXTENT_MIN.to_bits();

/// Greatest speed at which shallow overlaps are separated, raw units per second: 1 unit per second. Some of it stays in the velocities.
pub(crate) const PUSH_MAX: i64 = 1 << 16;

/// The speed that separates a part of an overlap per frame, at most `most` raw units per second.
#[inline(always)]
pub(crate) fn push_speed(gap: i32, fps: u32, push_factor: i32, most: i64) -> i64 {
    let overlap = (-i64::from(gap) - OVERLAP_ALLOWED).max(0);
    ((overlap * i64::from(fps) * i64::from(push_factor)) >> 16).min(most)
}
