//! Gathers the moving bodies, which the world stores by slot, into arrays along the curve, eight lanes at a time.

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, u32x8};

use crate::body::record::{Body, Shell};
use crate::math::boxes::{BoxBlock, LANES, NO_SLOT};
use crate::solve::solver::Velocity;

/// `still_ms` of a working body that does not move.
pub(crate) const AT_REST: u16 = u16::MAX;

/// What a lane without a body holds.
static NOBODY: Body = Body {
    position: [0; 2],
    velocity: [0; 2],
    half: [0; 2],
    radius: 0,
    mass: 0,
    restitution: 0,
    flags: 0,
    position_remainder: [0; 2],
    acceleration_remainder: [0; 2],
    friction_remainder: 0,
    still_ms: AT_REST,
    ground_friction: 0,
    filter: [0; 2],
};

/// Where gathered bodies go: arrays by lane, of equal length.
pub(crate) struct WorkingArrays<'a> {
    pub(crate) shells: &'a mut [[Shell; LANES]],
    pub(crate) velocities: &'a mut [[Velocity; LANES]],
    pub(crate) still: &'a mut [[u16; LANES]],
    /// Start and end of each body's cached contacts.
    pub(crate) cached: &'a mut [[[u32; 2]; LANES]],
    pub(crate) boxes: &'a mut [BoxBlock],
}

/// What all gathered bodies have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered {
    /// Bitwise or of their flags.
    pub(crate) flags: u32,
    /// Whether there is one that the solver cannot move.
    pub(crate) some_fixed: bool,
    /// Whether there is one that is faster than the limit.
    pub(crate) some_fast: bool,
}
