//! Contact set-up: from hits to contacts in batches. Limits follow from the gap, shares from the masses, and the initial impulse from the
//! same contact in the last frame.

use core::hint::select_unpredictable;

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, u32x8, u64x4};

use crate::body::record::{Extra, Shell};
use crate::body::slot::Slot;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::{Hit, HitIndex, Hits, UNIT, UNIT_BITS};
use crate::contact::cache::ContactCache;
use crate::contact::cached::Owned;
use crate::math::axes::both;
use crate::math::boxes::LANES;
use crate::math::lanes::{base, each, each_lane, low_and_high};
use crate::solve::batches::{Cached, Origin, Origins, WindowBatches};
use crate::solve::bounce::Bounce;
use crate::solve::colors::BatchLayout;
use crate::solve::contact_place::{BatchIndex, ContactPlace, WindowPlace};
use crate::solve::deep::{OVERLAP_DEEP, OVERLAP_SHALLOW, is_deep};
use crate::solve::notes::Notes;
use crate::solve::push::{OVERLAP_ALLOWED, PUSH_MAX, push_speed};
use crate::solve::solver::{Batch, Contact, EVEN_SHARE, NO_LIMIT, Velocity};
use crate::solve::stiff::StiffContacts;
use crate::world_def::Settings;

/// Restitution 1, raw.
const ELASTIC: i32 = 1 << 16;

/// How the solver treats a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solving {
    /// The first body takes this part of each speed change, 30 fraction bits.
    Shared(i32),
    /// Not at all: it is only reported.
    No,
}

/// What contact set-up reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactSetup<'a> {
    pub(crate) shells: &'a [Shell],
    /// By working index, before anything is solved.
    pub(crate) velocities: &'a [Velocity],
    /// The cached contacts that each body owns.
    pub(crate) cached: &'a [Owned],
    /// Working bodies that are new; empty when there are none.
    pub(crate) fresh: &'a [bool],
    pub(crate) contacts: &'a ContactCache,
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    pub(crate) stiff: &'a StiffContacts,
    /// The ranks of the bodies by slot, if any may have one.
    pub(crate) ranks: Option<&'a [Extra]>,
}

/// A body of a pair.
#[derive(Clone, Copy, Debug)]
struct Role {
    body: WorkingIndex,
    slot: Slot,
}

/// Who of a pair owns its contact in the cache: the body with the lower slot among those that contacts can move.
#[derive(Clone, Copy, Debug)]
struct Roles {
    owner: Role,
    other: Role,
}

impl ContactSetup<'_> {
    /// Contacts of bodies of which only geometry, mass and restitution matter, batch by batch of a window. [`Hits::end`] comes before.
    #[inline(always)]
    pub(crate) fn fill_window<S: Simd>(
        &self,
        simd: S,
        hits: &Hits,
        layout: &BatchLayout,
        to: &mut WindowBatches<'_>,
        notes: &mut Notes,
    ) {
        let limits = Limits::new(self.fps, self.settings.push_factor);
        let batches = to.batches.iter_mut().zip(&mut *to.origins).zip(layout.hits());
        for (((batch, origins), own), at) in batches.zip(to.first.onward()) {
            self.fill_batch(simd, limits, hits, own, at, (batch, origins), notes);
        }
    }

    /// The contacts of eight hits, `own`: what [`Self::fill`] does for one. `at`: their batch.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn fill_batch<S: Simd>(
        &self,
        simd: S,
        limits: Limits,
        hits: &Hits,
        own: &[HitIndex; LANES],
        at: BatchIndex,
        (batch, origins): (&mut Batch, &mut Origins),
        notes: &mut Notes,
    ) {
        let (pairs, normals, gaps) =
            (&hits.pairs[..=hits.len], &hits.normals[..=hits.len], &hits.gaps[..=hits.len]);
        let pairs = each(*own, |hit| pairs[hit.at()]);
        let normal = each(*own, |hit| normals[hit.at()]);
        let gap = each(*own, |hit| gaps[hit.at()]);
        let bodies = [each(pairs, |pair| pair[0]), each(pairs, |pair| pair[1])];
        let a = each(bodies[0], |body| &self.shells[body]);
        let b = each(bodies[1], |body| &self.shells[body]);
        let masses = [each(a, |shell| shell.mass), each(b, |shell| shell.mass)];
        let [mass_a, mass_b] = [u32x8::load_array(simd, masses[0]), u32x8::load_array(simd, masses[1])];
        let slot_a = u32x8::load_array(simd, each(a, |shell| shell.slot.0));
        let slot_b = u32x8::load_array(simd, each(b, |shell| shell.slot.0));
        let a_owns = !mass_a.simd_eq(0) & (mass_b.simd_eq(0) | slot_a.simd_lt(slot_b));
        let [body_a, body_b] = both(bodies, |bodies| u32x8::load_array(simd, bytemuck::cast(bodies)));
        let owner: [WorkingIndex; LANES] = bytemuck::cast(a_owns.select(body_a, body_b).to_array());
        let other_body: [WorkingIndex; LANES] = bytemuck::cast(a_owns.select(body_b, body_a).to_array());
        let own_slot: [Slot; LANES] = bytemuck::cast(a_owns.select(slot_a, slot_b).to_array());
        let other: [Slot; LANES] = bytemuck::cast(a_owns.select(slot_b, slot_a).to_array());
        let is_even = mass_a.simd_eq(mass_b).all_true();
        let share_a =
            if is_even && self.ranks.is_none() { [EVEN_SHARE; LANES] } else { self.shares(a, b, notes) };
        let empty = u32x8::load_array_ref(simd, bytemuck::cast_ref(own)).simd_eq(hits.len as u32);
        let biased = limits.of(i32x8::load_array(simd, gap));
        let biased = empty.select(i32x8::splat(simd, NO_LIMIT), biased).to_array();
        // All look-ups before the first contact is written.
        let ranges = each(owner, |owner| self.cached[owner]);
        let (mut cached, mut impulse) = self.contacts.find_eight(simd, &own_slot, &other, ranges);
        if !self.fresh.is_empty() {
            for lane in 0..LANES {
                let is_new = self.is_new([owner[lane], other_body[lane]]);
                cached[lane] = select_unpredictable(is_new, Cached::NONE, cached[lane]);
                impulse[lane] = select_unpredictable(is_new, 0, impulse[lane]);
            }
        }
        let [a_of, b_of] = bodies;
        *batch = Batch { a: a_of, b: b_of, normal, biased, impulse, share_a };
        *origins = Origins { owner, other, cached, gap };
        self.note_unusual(simd, batch, [a, b], &gap, at, notes);
    }

    /// The shares of eight pairs of different mass or rank.
    #[inline(always)]
    fn shares(&self, a: [&Shell; LANES], b: [&Shell; LANES], notes: &mut Notes) -> [i32; LANES] {
        let mut shares = [EVEN_SHARE; LANES];
        for lane in 0..LANES {
            let (a, b) = (a[lane], b[lane]);
            shares[lane] = self.ranked(a, b, share(a.mass, b.mass));
            notes.leans |= self.stiff.leans(a.mass, b.mass);
        }
        shares
    }

    /// Great impulses, deep overlaps and restitution: few lanes have them.
    #[inline(always)]
    fn note_unusual<S: Simd>(
        &self,
        simd: S,
        batch: &mut Batch,
        [a, b]: [[&Shell; LANES]; 2],
        gap: &[i32; LANES],
        at: BatchIndex,
        notes: &mut Notes,
    ) {
        each_lane(
            i32x8::load_array_ref(simd, &batch.impulse).simd_gt(ROW << 16).to_bitmask() as u32,
            #[inline(always)]
            |lane| batch.impulse[lane] = self.kept(batch.impulse[lane], [batch.a[lane], batch.b[lane]]),
        );
        each_lane(
            i32x8::load_array_ref(simd, gap).simd_lt(-OVERLAP_SHALLOW).to_bitmask() as u32,
            #[inline(always)]
            |lane| {
                let (biased, impulse) = (&mut batch.biased[lane], &mut batch.impulse[lane]);
                if self.is_deep(a[lane], b[lane], gap[lane], biased, impulse) {
                    notes.deep.push(ContactPlace::new(at, lane));
                }
            },
        );
        let restitution_a = i32x8::load_array(simd, each(a, |shell| shell.restitution));
        let restitutions = restitution_a.max(i32x8::load_array(simd, each(b, |shell| shell.restitution)));
        let bouncing = restitutions.simd_gt(0).to_bitmask() as u32;
        let restitutions = restitutions.to_array();
        each_lane(
            bouncing,
            #[inline(always)]
            |lane| {
                let bodies = [batch.a[lane], batch.b[lane]];
                self.note_bounce(ContactPlace::new(at, lane), bodies, restitutions[lane], notes);
            },
        );
    }

    /// Writes the contact of a pair of which a body can be moved into a place of its window, and returns that among those of the step.
    pub(crate) fn fill(
        &self,
        hit: &Hit,
        solving: Solving,
        place: WindowPlace,
        to: &mut WindowBatches<'_>,
        notes: &mut Notes,
    ) -> ContactPlace {
        let (a, b) = (&self.shells[hit.a], &self.shells[hit.b]);
        let movable = [a.mass != 0, b.mass != 0];
        notes.leans |= self.stiff.leans(a.mass, b.mass);
        let (biased, share_a) = match solving {
            Solving::Shared(share_a) => (limit(hit.gap, self.fps, self.settings.push_factor), share_a),
            Solving::No => (NO_LIMIT, if movable[0] { UNIT } else { 0 }),
        };
        let (first, second) = (Role { body: hit.a, slot: a.slot }, Role { body: hit.b, slot: b.slot });
        let a_owns = movable[0] && (!movable[1] || a.slot < b.slot);
        let (owner, other) = if a_owns { (first, second) } else { (second, first) };
        let roles = Roles { owner, other };
        let (cached, impulse) = self.find(base(), roles);
        let impulse = if solving == Solving::No { 0 } else { self.kept(impulse, [hit.a, hit.b]) };
        let mut contact = Contact { a: hit.a, b: hit.b, normal: hit.normal, biased, impulse, share_a };
        let origin = Origin { owner: owner.body, other: other.slot, cached, gap: hit.gap };
        let deep =
            solving != Solving::No && self.is_deep(a, b, hit.gap, &mut contact.biased, &mut contact.impulse);
        to.fill(place, &contact, origin);
        let place = to.place(place);
        if deep {
            notes.deep.push(place);
        }
        if solving != Solving::No {
            self.note_bounce(place, [hit.a, hit.b], a.restitution.max(b.restitution), notes);
        }
        place
    }

    /// The share of the first body of a pair: of two movable bodies of different rank, the lower one yields alone.
    #[inline(always)]
    fn ranked(&self, a: &Shell, b: &Shell, share: i32) -> i32 {
        let Some(extras) = self.ranks else { return share };
        if a.mass == 0 || b.mass == 0 {
            return share;
        }
        let [rank_a, rank_b] = each([a, b], |shell| extras[shell.slot].dominance);
        if rank_a == rank_b {
            share
        } else if rank_a < rank_b {
            UNIT
        } else {
            0
        }
    }

    /// Whether a contact is deep. Then it is not pushed apart here: see [`crate::solve::deep`]. A soft contact never is.
    #[inline(always)]
    fn is_deep(&self, a: &Shell, b: &Shell, gap: i32, biased: &mut i32, impulse: &mut i32) -> bool {
        let deep = gap < -OVERLAP_SHALLOW && is_deep(a, b, gap) && !self.settings.is_soft();
        if deep {
            *biased = 0;
            // What squeezes a body from two sides would add up without end.
            if a.mass == 0 || b.mass == 0 {
                *impulse = 0;
            }
        }
        deep
    }

    /// The part of the last frame's impulse that a contact starts with. Rigid contacts that walls squeeze from two sides push each
    /// other up from frame to frame, because no pass separates them. So half of what an impulse has beyond a great one is not kept. A great
    /// one is that of a row of [`ROW`] bodies that all press with the speed of this pair, at least 1 unit per second.
    #[inline(always)]
    fn kept(&self, impulse: i32, pair: WorkingPair) -> i32 {
        let least = ROW << 16;
        if impulse <= least || self.settings.is_soft() {
            return impulse;
        }
        let speeds = both(pair, |body| self.velocities[body].get());
        let speed = speeds.into_iter().map(|[x, y]| x.abs().saturating_add(y.abs())).max().unwrap_or(0);
        let great = speed.saturating_mul(ROW).max(least);
        impulse - ((impulse - great).max(0) >> 1)
    }

    /// The same contact in the last frame, see [`ContactCache::find`].
    #[inline(always)]
    fn find<S: Simd>(&self, simd: S, roles: Roles) -> (Cached, i32) {
        let Roles { owner, other } = roles;
        if self.is_new([owner.body, other.body]) {
            return (Cached::NONE, 0);
        }
        self.contacts.find(simd, owner.slot, other.slot, self.cached[owner.body])
    }

    /// Whether one of the two bodies is new. The last body in its slot may have had contacts.
    #[inline(always)]
    fn is_new(&self, [a, b]: WorkingPair) -> bool {
        let fresh = |body: WorkingIndex| self.fresh.get(body.at()).is_some_and(|&fresh| fresh);
        !self.fresh.is_empty() && (fresh(a) | fresh(b))
    }

    /// Notes a contact with restitution. A pair that bounces without loss never comes to rest.
    #[inline(always)]
    fn note_bounce(&self, place: ContactPlace, bodies: WorkingPair, restitution: i32, notes: &mut Notes) {
        if restitution > 0 {
            let elastic = restitution >= ELASTIC;
            let threshold = if elastic { 0 } else { self.settings.restitution_threshold };
            let restitution = restitution.min(ELASTIC);
            notes.bounces.list.push(Bounce { place, bodies, restitution, threshold });
        }
    }
}

/// Number of bodies one behind the other that all press on a contact: 128. Longer rows in a crowd press a little deeper.
const ROW: i32 = 128;

/// Least separating speed in biased passes. Apart: the gap may close within this frame, no faster. Overlapping: a part
/// of the overlap beyond what is allowed is pushed out per frame.
#[inline(always)]
pub(crate) fn limit(gap: i32, fps: u32, push_factor: i32) -> i32 {
    let push = push_speed(gap.max(-OVERLAP_DEEP), fps, push_factor, PUSH_MAX);
    (push - i64::from(gap.max(0)) * i64::from(fps)) as i32
}

/// [`limit`] of eight contacts.
#[derive(Clone, Copy, Debug)]
struct Limits {
    fps: i32,
    /// Speed that separates a unit of overlap, times 2^16.
    push: i32,
    /// Overlap from which on the speed is the greatest one.
    most: i32,
}

impl Limits {
    fn new(fps: u32, push_factor: i32) -> Self {
        let fps = fps as i32; // at most 1,000, and the factor is at most 1
        let push = fps * push_factor;
        let deep = i64::from(OVERLAP_DEEP) - OVERLAP_ALLOWED;
        let most = (PUSH_MAX << 16).checked_div(push.into()).map_or(deep, |most| most + 1);
        Self { fps, push, most: most.min(deep) as i32 }
    }

    #[inline(always)]
    fn of<S: Simd>(self, gaps: i32x8<S>) -> i32x8<S> {
        let overlap = (-gaps - OVERLAP_ALLOWED as i32).max(0).min(self.most);
        let (low, high) = overlap.widening_mul(self.push);
        let (even, odd) = low.deinterleave(high);
        let (even, odd): (u64x4<S>, u64x4<S>) = (even.bitcast(), odd.bitcast());
        low_and_high(even >> 16, odd << 16).min(PUSH_MAX as i32) - gaps.max(0) * self.fps
    }
}

/// Part of a speed change that the first body takes: the heavier the other body, the more. 0 = immovable.
#[inline]
fn share(mass_a: u32, mass_b: u32) -> i32 {
    if mass_a == mass_b {
        UNIT / 2
    } else if mass_a == 0 {
        0
    } else if mass_b == 0 {
        UNIT
    } else {
        ((u64::from(mass_b) << UNIT_BITS) / (u64::from(mass_a) + u64::from(mass_b))) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Pcg32;

    #[test]
    fn limits_of_eight_contacts_are_those_of_one() {
        let mut rng = Pcg32::new(7, 7);
        for round in 0..20_000 {
            let fps = 1 + rng.next_u32() % 1_000;
            let push_factor = [0, 1, 1 << 16, (rng.next_u32() % 65_536) as i32][round % 4];
            let shift = rng.next_u32() % 20;
            let gaps = [(); LANES].map(|()| {
                let near = [-OVERLAP_DEEP, -OVERLAP_ALLOWED as i32, 0][rng.next_u32() as usize % 3];
                let any = (rng.next_u32() as i32 >> 12) >> shift;
                if round % 2 == 0 { near + any % 4 } else { any }
            });
            let found = Limits::new(fps, push_factor).of(i32x8::load_array(base(), gaps)).to_array();
            assert_eq!(found, gaps.map(|gap| limit(gap, fps, push_factor)), "{gaps:?}, {fps} {push_factor}");
        }
    }
}
