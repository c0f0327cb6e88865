//! Solver: contact constraints in batches of eight lanes, solved by warm-started sequential impulses.
//!
//! A *contact* asks that the closing speed along its normal is at least a limit. Impulses are kept as changes of
//! that closing speed (raw units per second), so masses only appear as each body's share of the change. Contacts of
//! one batch touch eight different pairs of movable bodies, so the lanes are independent and the order inside a batch
//! does not matter; the order of the batches defines the bits of the step, whatever instructions run them.
//!
//! Passes of one frame: warm start, `iterations` biased passes with over-relaxation (they also push overlapping
//! bodies apart), positions move, one relaxing pass that takes the push-apart speed out again ("soft step" order,
//! E. Catto, *Solver2D*, 2024).

use crate::collide::narrow_phase::{UNIT, UNIT_BITS};
use crate::math::boxes::LANES;

/// A limit that no closing speed reaches: the contact does nothing.
pub(crate) const NO_LIMIT: i32 = -(1 << 29);

/// Greatest accumulated impulse of one contact, 4,096 units per second of closing speed. Two bodies alone need at most half of it;
/// a very heavy one that falls on a light one may need more and then takes further frames. Sums over a body's contacts fit 32 bits.
pub(crate) const IMPULSE_MAX: i32 = 1 << 28;

/// Share of bodies of equal mass. Half of a value, rounded as products are, is `(value + 1) >> 1`: wide registers ask once for eight lanes
/// whether that will do.
pub(crate) const EVEN_SHARE: i32 = UNIT / 2;

/// What the solver needs to know about one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Working index of the first body.
    pub(crate) a: u32,
    /// Working index of the second body.
    pub(crate) b: u32,
    /// Unit normal from `a` to `b`, 30 fraction bits.
    pub(crate) normal: [i32; 2],
    /// Least separating speed in biased passes, raw units per second.
    pub(crate) biased: i32,
    /// Least separating speed in the relaxing pass.
    pub(crate) relaxed: i32,
    /// Impulse of the last frame.
    pub(crate) impulse: i32,
    /// Part of the speed change that `a` takes, 30 fraction bits; `b` takes the rest.
    pub(crate) share_a: i32,
}

/// Eight contacts, field by field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Batch {
    pub(crate) a: [u32; LANES],
    pub(crate) b: [u32; LANES],
    pub(crate) normal_x: [i32; LANES],
    pub(crate) normal_y: [i32; LANES],
    pub(crate) biased: [i32; LANES],
    pub(crate) relaxed: [i32; LANES],
    pub(crate) impulse: [i32; LANES],
    pub(crate) share_a: [i32; LANES],
}

impl Batch {
    /// Eight empty lanes that all name the working index `dummy`, a body that never moves.
    pub(crate) fn empty(dummy: u32) -> Self {
        Self {
            a: [dummy; LANES],
            b: [dummy; LANES],
            normal_x: [0; LANES],
            normal_y: [0; LANES],
            biased: [NO_LIMIT; LANES],
            relaxed: [NO_LIMIT; LANES],
            impulse: [0; LANES],
            share_a: [EVEN_SHARE; LANES],
        }
    }

    pub(crate) fn set(&mut self, lane: usize, c: &Contact) {
        (self.a[lane], self.b[lane]) = (c.a, c.b);
        [self.normal_x[lane], self.normal_y[lane]] = c.normal;
        (self.biased[lane], self.relaxed[lane]) = (c.biased, c.relaxed);
        (self.impulse[lane], self.share_a[lane]) = (c.impulse, c.share_a);
    }
}

impl Batch {
    /// One lane as a contact.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Contact {
        Contact {
            a: self.a[lane],
            b: self.b[lane],
            normal: [self.normal_x[lane], self.normal_y[lane]],
            biased: self.biased[lane],
            relaxed: self.relaxed[lane],
            impulse: self.impulse[lane],
            share_a: self.share_a[lane],
        }
    }
}

/// What one pass over the batches does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Applies the impulses of the last frame.
    WarmStart,
    /// Drives each contact towards its biased limit, over-relaxed by a quarter.
    Biased,
    /// Drives each contact towards its relaxed limit.
    Relax,
}

/// Velocity of a working body, raw units per second: x in the low half, y in the high one, so that a lane is one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Velocity(u64);

impl Velocity {
    pub(crate) fn new(v: [i32; 2]) -> Self {
        Self(u64::from(v[0] as u32) | u64::from(v[1] as u32) << 32)
    }

    pub(crate) fn get(self) -> [i32; 2] {
        [self.0 as i32, (self.0 >> 32) as i32]
    }
}

/// Solves every batch in order, lane by lane: scalar 64-bit products are the fastest that every machine has.
/// [`crate::simd`] has wider ways to the same bits.
pub(crate) fn run_pass(batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
    for batch in batches {
        match pass {
            Pass::WarmStart => {
                for l in 0..LANES {
                    batch.apply(l, batch.impulse[l], velocities);
                }
            }
            Pass::Biased => {
                for l in 0..LANES {
                    let missing = batch.missing(l, batch.biased[l], velocities);
                    batch.push(l, missing.wrapping_add(missing >> 2), velocities);
                }
            }
            Pass::Relax => {
                for l in 0..LANES {
                    let missing = batch.missing(l, batch.relaxed[l], velocities);
                    batch.push(l, missing, velocities);
                }
            }
        }
    }
}

/// Product of a raw value and a 30-bit fraction, rounded to nearest. Factors are below 2^31 and 2^30, so it fits.
#[inline(always)]
fn scale(value: i32, fraction: i32) -> i32 {
    ((i64::from(value) * i64::from(fraction) + (1 << (UNIT_BITS - 1))) >> UNIT_BITS) as i32
}

impl Batch {
    /// By how much a lane's separating speed falls short of `limit`; negative when it is faster.
    #[inline(always)]
    fn missing(&self, l: usize, limit: i32, velocities: &[Velocity]) -> i32 {
        let (va, vb) = (velocities[self.a[l] as usize].get(), velocities[self.b[l] as usize].get());
        let d = [vb[0].wrapping_sub(va[0]), vb[1].wrapping_sub(va[1])];
        let along =
            i64::from(d[0]) * i64::from(self.normal_x[l]) + i64::from(d[1]) * i64::from(self.normal_y[l]);
        limit.wrapping_sub(((along + (1 << (UNIT_BITS - 1))) >> UNIT_BITS) as i32)
    }

    /// Adds `step` to a lane's accumulated impulse, which never pulls, and applies the difference.
    #[inline(always)]
    fn push(&mut self, l: usize, step: i32, velocities: &mut [Velocity]) {
        let impulse = self.impulse[l].wrapping_add(step).clamp(0, IMPULSE_MAX);
        let change = impulse.wrapping_sub(self.impulse[l]);
        self.impulse[l] = impulse;
        if change != 0 {
            self.apply(l, change, velocities);
        }
    }

    /// A step of one contact, over-relaxed by 15/16.
    pub(crate) fn solve_stiff(&mut self, l: usize, biased: bool, velocities: &mut [Velocity]) {
        let missing = self.missing(l, if biased { self.biased[l] } else { self.relaxed[l] }, velocities);
        self.push(l, missing.wrapping_add(missing - (missing >> 4)), velocities);
    }

    /// Adds an impulse along a lane's normal. An immovable body's share is 0, so it keeps its velocity.
    #[inline(always)]
    fn apply(&self, l: usize, impulse: i32, velocities: &mut [Velocity]) {
        apply_impulse(&self.get(l), [self.normal_x[l], self.normal_y[l]], impulse, velocities);
    }
}

/// Adds `impulse` along `direction` to the two bodies of one contact.
#[inline(always)]
pub(crate) fn apply_impulse(
    contact: &Contact,
    direction: [i32; 2],
    impulse: i32,
    velocities: &mut [Velocity],
) {
    let (mut va, mut vb) = (velocities[contact.a as usize].get(), velocities[contact.b as usize].get());
    for axis in 0..2 {
        let p = scale(impulse, direction[axis]);
        va[axis] = va[axis].wrapping_sub(scale(p, contact.share_a));
        vb[axis] = vb[axis].wrapping_add(scale(p, UNIT - contact.share_a));
    }
    velocities[contact.a as usize] = Velocity::new(va);
    velocities[contact.b as usize] = Velocity::new(vb);
}
