//! Solver: contact constraints in batches of eight lanes, solved by warm-started sequential impulses.
//!
//! A *contact* requires that the separating speed along its normal is at least a limit. Impulses are stored as changes of that speed (raw
//! units per second), so masses appear only as each body's share of the change. Contacts of one batch touch eight different pairs of
//! movable bodies, so the lanes are independent and their order does not matter. The order of the batches ([`in_turns`]) defines the bits of
//! the step, whatever instructions run them.
//!
//! Passes of one frame without gravity (with gravity see [`crate::solve::soft`]): warm start; `iterations` biased passes with
//! over-relaxation, which also separate overlapping bodies; positions advance; one relaxing pass that removes the separation speed again
//! ("soft step" order, E. Catto, *Solver2D*, 2024).
//!
//! [`run_pass`] is the formula, written once for every instruction set. The few contacts that are solved one by one
//! ([`crate::solve::stiff`], [`crate::solve::friction`]) share the scalar steps below it.

use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x8};

use crate::body::working_index::{ByWorkingIndex, WorkingIndex};
use crate::math::boxes::LANES;
use crate::math::lanes::{
    UNIT, UNIT_BITS, half_scaled_twice, limit_plus, low_twice, once, rounded, scaled, scaled_twice, twice,
    twice_low,
};
use crate::math::plain::plain_data;
use crate::solve::contact_place::ByBatch;

/// A limit that no closing speed reaches: the contact does nothing.
pub(crate) const NO_LIMIT: i32 = -(1 << 29);

/// Greatest accumulated impulse of one contact, 4,096 units per second of closing speed. Two bodies alone need at most half of it. A very
/// heavy body that falls on a light one may need more and then takes further frames. Sums over a body's contacts fit 32 bits.
pub(crate) const IMPULSE_MAX: i32 = 1 << 28;

/// Share of bodies of equal mass. Half of a value, rounded as products are, is `(value + 1) >> 1`; wide registers test once for eight lanes
/// whether this applies.
pub(crate) const EVEN_SHARE: i32 = UNIT / 2;

/// What the solver needs to know about one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) a: WorkingIndex,
    pub(crate) b: WorkingIndex,
    /// Unit normal from `a` to `b`, 30 fraction bits.
    pub(crate) normal: [i32; 2],
    /// Least separating speed in biased passes, raw units per second. In relaxing ones nothing is pushed apart: it is 0 at most.
    pub(crate) biased: i32,
    /// Impulse of the last frame.
    pub(crate) impulse: i32,
    /// Part of the speed change that `a` takes, 30 fraction bits; `b` takes the rest.
    pub(crate) share_a: i32,
}

impl Contact {
    /// No contact: `dummy` is a body that never moves.
    pub(crate) const fn none(dummy: WorkingIndex) -> Self {
        Self { a: dummy, b: dummy, normal: [0; 2], biased: NO_LIMIT, impulse: 0, share_a: EVEN_SHARE }
    }
}

/// Eight contacts, field by field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Batch {
    pub(crate) a: [WorkingIndex; LANES],
    pub(crate) b: [WorkingIndex; LANES],
    /// x and y alternate, as in velocities.
    pub(crate) normal: [[i32; 2]; LANES],
    pub(crate) biased: [i32; LANES],
    pub(crate) impulse: [i32; LANES],
    pub(crate) share_a: [i32; LANES],
}

impl ByBatch for Batch {}

impl Batch {
    /// Eight empty lanes.
    pub(crate) fn empty(dummy: WorkingIndex) -> Self {
        let Contact { a, b, normal, biased, impulse, share_a } = Contact::none(dummy);
        Self {
            a: [a; LANES],
            b: [b; LANES],
            normal: [normal; LANES],
            biased: [biased; LANES],
            impulse: [impulse; LANES],
            share_a: [share_a; LANES],
        }
    }

    pub(crate) fn set(&mut self, lane: usize, c: &Contact) {
        (self.a[lane], self.b[lane]) = (c.a, c.b);
        self.normal[lane] = c.normal;
        self.biased[lane] = c.biased;
        (self.impulse[lane], self.share_a[lane]) = (c.impulse, c.share_a);
    }

    /// Empties the lanes from `first` on.
    pub(crate) fn clear_from(&mut self, first: usize, dummy: WorkingIndex) {
        for lane in first..LANES {
            self.set(lane, &Contact::none(dummy));
        }
    }

    /// One lane as a contact.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Contact {
        Contact {
            a: self.a[lane],
            b: self.b[lane],
            normal: self.normal[lane],
            biased: self.biased[lane],
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

/// Softness of each lane of a batch: the part of an impulse that a soft pass keeps, 30 fraction bits; [`UNIT`] for a rigid contact.
pub(crate) type Softness = [i32; LANES];

/// Velocity of a working body, raw units per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Velocity([i32; 2]);

plain_data!(Velocity: 0);

impl ByWorkingIndex for Velocity {}

impl Velocity {
    #[inline(always)]
    pub(crate) fn new(v: [i32; 2]) -> Self {
        Self(v)
    }

    pub(crate) fn get(self) -> [i32; 2] {
        self.0
    }
}

/// Number of contacts that are solved at a time: their velocities fill 256 bits.
const FOUR: usize = 4;

/// Solves every batch, four lanes at a time, in the order of [`in_turns`].
#[inline(always)]
pub(crate) fn run_pass<S: Simd>(simd: S, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
    // A loop for each kind of pass, which then is a constant in it. With debug assertions, as in a debug build of a user, one loop does: it compiles faster.
    match pass {
        _ if cfg!(debug_assertions) => run(simd, batches, velocities, pass),
        Pass::WarmStart => run(simd, batches, velocities, Pass::WarmStart),
        Pass::Biased => run(simd, batches, velocities, Pass::Biased),
        Pass::Relax => run(simd, batches, velocities, Pass::Relax),
    }
}

#[inline(always)]
fn run<S: Simd>(simd: S, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
    for turn in 0..batches.len() {
        let at = in_turns(turn, batches.len());
        solve_batch(simd, &mut batches[at], velocities, pass);
    }
}

/// The order of solving: one element of the first half, one of the second half, and so on; then the last one if their number is odd. A batch
/// shares bodies with the one before it in the list, whose velocities it would have to wait for; the second half lies elsewhere.
#[inline(always)]
pub(crate) fn in_turns(turn: usize, len: usize) -> usize {
    let half = len / 2;
    if turn < 2 * half { turn / 2 + turn % 2 * half } else { turn }
}

/// One pass over soft contacts (see [`crate::solve::soft`]), in the order of [`run_pass`]: an impulse yields to its load, so a stack
/// settles instead of shaking.
#[inline(always)]
pub(crate) fn run_soft_pass<S: Simd>(
    simd: S,
    batches: &mut [Batch],
    softness: &[Softness],
    velocities: &mut [Velocity],
) {
    let len = batches.len().min(softness.len());
    for turn in 0..len {
        let at = in_turns(turn, len);
        solve_soft::<S, 0>(simd, &mut batches[at], &softness[at], velocities);
        solve_soft::<S, FOUR>(simd, &mut batches[at], &softness[at], velocities);
    }
}

/// A step of all lanes. Bodies of equal mass share impulses without products, if all in a batch do.
#[inline(always)]
fn solve_batch<S: Simd>(simd: S, batch: &mut Batch, velocities: &mut [Velocity], pass: Pass) {
    if i32x8::load_array_ref(simd, &batch.share_a).simd_eq(EVEN_SHARE).all_true() {
        solve::<S, 0, true>(simd, batch, velocities, pass);
        solve::<S, FOUR, true>(simd, batch, velocities, pass);
    } else {
        solve::<S, 0, false>(simd, batch, velocities, pass);
        solve::<S, FOUR, false>(simd, batch, velocities, pass);
    }
}

/// Applies the impulses of the last frame in the lanes from `FROM` on, or drives their contacts towards their limits. Accumulated impulses
/// never pull.
#[inline(always)]
fn solve<S: Simd, const FROM: usize, const EVEN: bool>(
    simd: S,
    batch: &mut Batch,
    velocities: &mut [Velocity],
    pass: Pass,
) {
    let bodies = [indices::<FROM>(&batch.a), indices::<FROM>(&batch.b)];
    let [va, vb] = [load(simd, bodies[0], velocities), load(simd, bodies[1], velocities)];
    let old = four::<S, FROM>(simd, &batch.impulse);
    if pass == Pass::WarmStart {
        return apply::<S, FROM, EVEN>(simd, batch, bodies, velocities, [va, vb], old);
    }
    let limit = i32x4::from_slice(simd, &batch.biased[FROM..FROM + FOUR]);
    let limit = if pass == Pass::Biased { limit } else { limit.min(0) };
    let missing = limit_plus(limit, va - vb, load_normals::<S, FROM>(simd, batch));
    let step = if pass == Pass::Biased { missing + (missing >> 2) } else { missing };
    let impulse = (old + step).max(0).min(IMPULSE_MAX);
    once(impulse).store_slice(&mut batch.impulse[FROM..FROM + FOUR]);
    apply::<S, FROM, EVEN>(simd, batch, bodies, velocities, [va, vb], impulse - old);
}

/// `impulse' = softness * (impulse - separating speed) + biased limit` in the lanes from `FROM` on, never pulling.
#[inline(always)]
fn solve_soft<S: Simd, const FROM: usize>(
    simd: S,
    batch: &mut Batch,
    softness: &Softness,
    velocities: &mut [Velocity],
) {
    let bodies = [indices::<FROM>(&batch.a), indices::<FROM>(&batch.b)];
    let [va, vb] = [load(simd, bodies[0], velocities), load(simd, bodies[1], velocities)];
    let along = low_twice(rounded((vb - va).pairwise_dot_product(load_normals::<S, FROM>(simd, batch))));
    let old = four::<S, FROM>(simd, &batch.impulse);
    let kept = scaled_twice(old - along, four::<S, FROM>(simd, softness));
    let impulse = (kept + four::<S, FROM>(simd, &batch.biased)).max(0).min(IMPULSE_MAX);
    once(impulse).store_slice(&mut batch.impulse[FROM..FROM + FOUR]);
    apply::<S, FROM, false>(simd, batch, bodies, velocities, [va, vb], impulse - old);
}

/// Adds impulses along the normals and stores the velocities. An immovable body's share is 0, so it keeps its velocity.
#[inline(always)]
fn apply<S: Simd, const FROM: usize, const EVEN: bool>(
    simd: S,
    batch: &Batch,
    bodies: [[WorkingIndex; FOUR]; 2],
    velocities: &mut [Velocity],
    [va, vb]: [i32x8<S>; 2],
    impulse: i32x8<S>,
) {
    let normals = load_normals::<S, FROM>(simd, batch);
    let (part_a, part_b) = if EVEN {
        let half = half_scaled_twice(impulse, normals);
        (half, half)
    } else {
        let share_a = twice(i32x4::from_slice(simd, &batch.share_a[FROM..FROM + FOUR]));
        let p = scaled_twice(impulse, normals);
        (scaled(p, share_a), scaled(p, i32x8::splat(simd, UNIT) - share_a))
    };
    store(bodies[0], velocities, va - part_a);
    store(bodies[1], velocities, vb + part_b);
}

/// The bodies in the lanes from `FROM` on, as values: nothing that is stored later can change them.
#[inline(always)]
fn indices<const FROM: usize>(bodies: &[WorkingIndex; LANES]) -> [WorkingIndex; FOUR] {
    [bodies[FROM], bodies[FROM + 1], bodies[FROM + 2], bodies[FROM + 3]]
}

#[inline(always)]
fn load<S: Simd>(simd: S, [a, b, c, d]: [WorkingIndex; FOUR], velocities: &[Velocity]) -> i32x8<S> {
    let four: [Velocity; FOUR] = [velocities[a], velocities[b], velocities[c], velocities[d]];
    // As one block: number by number, the compiler splits the pairs.
    i32x8::load_array(simd, bytemuck::cast(four))
}

#[inline(always)]
fn store<S: Simd>([a, b, c, d]: [WorkingIndex; FOUR], velocities: &mut [Velocity], v: i32x8<S>) {
    let v: [Velocity; FOUR] = bytemuck::cast(v.to_array());
    velocities[a] = v[0];
    velocities[b] = v[1];
    velocities[c] = v[2];
    velocities[d] = v[3];
}

#[inline(always)]
fn load_normals<S: Simd, const FROM: usize>(simd: S, batch: &Batch) -> i32x8<S> {
    // `as_flattened` stays a call in some builds.
    let flat: &[i32; 2 * LANES] = bytemuck::cast_ref(&batch.normal);
    i32x8::from_slice(simd, &flat[2 * FROM..2 * (FROM + FOUR)])
}

/// Numbers of four contacts, each twice: for x and y. So nothing has to move between lanes from loading velocities to storing them, where a
/// batch waits for the one before.
#[inline(always)]
fn four<S: Simd, const FROM: usize>(simd: S, values: &[i32; LANES]) -> i32x8<S> {
    twice_low(i32x4::from_slice(simd, &values[FROM..FROM + FOUR]))
}

/// Product of a raw value and a 30-bit fraction, rounded to nearest. Factors are below 2^31 and 2^30, so it fits.
#[inline(always)]
fn scale(value: i32, fraction: i32) -> i32 {
    ((i64::from(value) * i64::from(fraction) + (1 << (UNIT_BITS - 1))) >> UNIT_BITS) as i32
}

impl Batch {
    /// Closing speed of a lane; negative if its bodies separate.
    #[inline(always)]
    pub(crate) fn approach(&self, l: usize, velocities: &[Velocity]) -> i32 {
        self.missing(l, 0, velocities)
    }

    /// How much a lane's separating speed lacks to reach `limit`; negative if it is higher.
    #[inline(always)]
    fn missing(&self, l: usize, limit: i32, velocities: &[Velocity]) -> i32 {
        let (va, vb) = (velocities[self.a[l]].get(), velocities[self.b[l]].get());
        let d = [vb[0].wrapping_sub(va[0]), vb[1].wrapping_sub(va[1])];
        let along: i64 = (0..2).map(|x| i64::from(d[x]) * i64::from(self.normal[l][x])).sum();
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

    /// A step of one contact, over-relaxed by 15/16 if `over`.
    #[inline(always)]
    pub(crate) fn solve_stiff(&mut self, l: usize, biased: bool, over: bool, velocities: &mut [Velocity]) {
        let limit = if biased { self.biased[l] } else { self.biased[l].min(0) };
        let missing = self.missing(l, limit, velocities);
        let more = if over { missing - (missing >> 4) } else { 0 };
        self.push(l, missing.wrapping_add(more), velocities);
    }

    /// A step of one contact as a spring that keeps this part of an impulse, over-relaxed likewise. Apart, the bodies are stopped as by a rigid one.
    #[inline(always)]
    pub(crate) fn solve_spring(&mut self, l: usize, kept: i32, over: bool, velocities: &mut [Velocity]) {
        let kept = if self.biased[l] < 0 { UNIT } else { kept };
        let step = self.soft_step(l, kept, velocities);
        let more = if over { step - (step >> 4) } else { 0 };
        self.push(l, step.wrapping_add(more), velocities);
    }

    /// How much the impulse of a spring changes: to the part that it keeps of itself and of what stops the bodies, and what pushes them apart.
    #[inline(always)]
    fn soft_step(&self, l: usize, kept: i32, velocities: &[Velocity]) -> i32 {
        let held = scale(self.impulse[l].wrapping_add(self.approach(l, velocities)), kept);
        held.wrapping_add(self.biased[l]).wrapping_sub(self.impulse[l])
    }

    /// Adds an impulse along a lane's normal. An immovable body's share is 0, so it keeps its velocity.
    #[inline(always)]
    pub(crate) fn apply(&self, l: usize, impulse: i32, velocities: &mut [Velocity]) {
        apply_impulse(&self.get(l), self.normal[l], impulse, velocities);
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
    let (mut va, mut vb) = (velocities[contact.a].get(), velocities[contact.b].get());
    for axis in 0..2 {
        let p = scale(impulse, direction[axis]);
        va[axis] = va[axis].wrapping_sub(scale(p, contact.share_a));
        vb[axis] = vb[axis].wrapping_add(scale(p, UNIT - contact.share_a));
    }
    velocities[contact.a] = Velocity::new(va);
    velocities[contact.b] = Velocity::new(vb);
}

/// One lane of [`run_pass`], one number at a time: the reference for the tests of every instruction set.
#[cfg(test)]
pub(crate) fn solve_one(batch: &mut Batch, lane: usize, pass: Pass, velocities: &mut [Velocity]) {
    match pass {
        Pass::WarmStart => batch.apply(lane, batch.impulse[lane], velocities),
        Pass::Biased => {
            let missing = batch.missing(lane, batch.biased[lane], velocities);
            batch.push(lane, missing.wrapping_add(missing >> 2), velocities);
        }
        Pass::Relax => {
            batch.push(lane, batch.missing(lane, batch.biased[lane].min(0), velocities), velocities)
        }
    }
}

/// One lane of [`run_soft_pass`], likewise.
#[cfg(test)]
pub(crate) fn solve_one_soft(batch: &mut Batch, lane: usize, softness: i32, velocities: &mut [Velocity]) {
    batch.push(lane, batch.soft_step(lane, softness, velocities), velocities);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_alternate_between_the_halves_and_leave_nobody_out() {
        let order = |len: usize| -> [usize; 5] {
            core::array::from_fn(|turn| if turn < len { in_turns(turn, len) } else { 9 })
        };
        assert_eq!(order(5), [0, 2, 1, 3, 4]);
        assert_eq!(order(4), [0, 2, 1, 3, 9]);
        assert_eq!(order(1), [0, 9, 9, 9, 9]);
        for len in 0..64 {
            let seen = (0..len).fold(0_u64, |seen, turn| seen | 1 << in_turns(turn, len));
            assert_eq!(seen, (1 << len) - 1, "{len} batches");
        }
    }
}
