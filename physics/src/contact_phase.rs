//! From pairs of overlapping boxes to contacts in batches: narrow phase, limits, warm start, colours.

use core::hint::select_unpredictable;
use core::ops::Range;

use crate::block_join::{BODIES_OF_ONE, IndexPair};
use crate::body::{Body, Extra, Shell, flag};
use crate::broad_phase::WINDOW;
use crate::coloring::Origin;
use crate::contacts::ContactCache;
use crate::friction::FrictionContact;
use crate::narrow_phase::{Hit, Hits, UNIT, UNIT_BITS};
use crate::num::isqrt_u64;
use crate::quadtree::{LANES, NO_SLOT};
use crate::sensors::SensorOverlaps;
use crate::simd::{EqualLanes, equal_lanes};
use crate::solver::{Contact, NO_LIMIT, Velocity};
use crate::step::Stepper;
use crate::world_def::Settings;

/// Greatest speed at which overlapping bodies are pushed apart, raw units per second.
pub(crate) const PUSH_MAX: i64 = 256 << 16;

/// A contact ends only when the surfaces are further apart than this, so that bodies that move together do not flicker
/// between touching and not: 1/64 unit, raw.
pub(crate) const PARTING_GAP: i32 = 1 << 10;

/// What the contact phase reads and writes besides the working arrays.
pub(crate) struct ContactPhase<'a> {
    pub(crate) bodies: &'a [Body],
    pub(crate) extras: &'a [Extra],
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    pub(crate) contacts: &'a ContactCache,
    pub(crate) sensors: &'a mut SensorOverlaps,
}

/// What the solver does with a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Solving {
    /// The first body takes this part of each speed change, 30 fraction bits.
    Shared(i32),
    /// Nothing: it is only reported.
    No,
}

impl Stepper {
    /// Finds the contacts of the step, window by window.
    #[inline(never)]
    pub(crate) fn find_contacts(&mut self, phase: &mut ContactPhase<'_>) {
        let dummy = self.tree.slot_of_lane().len() as u32;
        self.batches.begin(self.shells.len(), dummy);
        self.frictions.clear();
        self.stiff.begin();
        let mut join = core::mem::take(&mut self.join);
        let mut pairs = core::mem::take(&mut self.pairs);
        for window in join.within(&self.tree, self.path).chunks(WINDOW) {
            let blocks = &self.tree.levels()[0];
            pairs.clear();
            self.path.join(window, blocks, blocks, BODIES_OF_ONE, &mut pairs);
            self.add_window(&pairs, phase);
        }
        let resting_pairs = core::mem::take(&mut self.resting_pairs);
        for window in resting_pairs.chunks(LANES * WINDOW) {
            pairs.clear();
            pairs.extend(window.iter().map(|&(lane, slot)| [lane, self.working[slot as usize]]));
            self.add_window(&pairs, phase);
        }
        for &(_, slot) in &resting_pairs {
            self.working[slot as usize] = NO_SLOT;
        }
        (self.join, self.pairs, self.resting_pairs) = (join, pairs, resting_pairs);
    }

    /// Narrow phase and contacts of one window's pairs.
    fn add_window(&mut self, pairs: &[IndexPair], phase: &mut ContactPhase<'_>) {
        let mut hits = core::mem::take(&mut self.hits);
        self.path.narrow(pairs, &self.shells, phase.settings.margin, &mut hits);
        if self.any_flags & flag::SPECIAL == 0 {
            self.path.add_contacts(self, &hits, phase);
        } else {
            hits.iter(0..hits.len).for_each(|hit| self.add_special(&hit, phase));
        }
        self.batches.end_window(&hits.pairs[..hits.len]);
        self.hits = hits;
    }

    /// Contacts of bodies of which only geometry, mass and restitution matter. `equal` compares eight slots with one.
    #[inline(always)]
    pub(crate) fn add_contacts(
        &mut self,
        hits: &Hits,
        range: Range<usize>,
        phase: &ContactPhase<'_>,
        equal: impl EqualLanes,
    ) {
        for hit in hits.iter(range) {
            let share_a = share(self.shells[hit.a as usize].mass, self.shells[hit.b as usize].mass);
            self.add_contact(&hit, Solving::Shared(share_a), phase, equal);
        }
    }

    /// Filters, sensors, locked axes and contact friction.
    fn add_special(&mut self, hit: &Hit, phase: &mut ContactPhase<'_>) {
        let (a, b) = (self.shells[hit.a as usize], self.shells[hit.b as usize]);
        let (body_a, body_b) = (&phase.bodies[a.slot as usize], &phase.bodies[b.slot as usize]);
        if !body_a.interacts_with(body_b) {
            return;
        }
        if (body_a.flags | body_b.flags) & flag::SENSOR != 0 {
            if hit.gap <= 0 {
                phase.sensors.push(a.slot, b.slot);
            }
            return;
        }
        let Some(share_a) = share_with_locks(phase.bodies, &a, &b, hit.normal) else {
            // It touches, but nothing can give way along its normal.
            self.add_contact(hit, Solving::No, phase, equal_lanes);
            return;
        };
        let friction =
            combined_friction(phase.extras[a.slot as usize].friction, phase.extras[b.slot as usize].friction);
        if let Some(place) = self.add_contact(hit, Solving::Shared(share_a), phase, equal_lanes)
            && friction > 0
        {
            self.frictions.push(FrictionContact::new(place, friction));
        }
    }

    /// Makes the contact of a pair, unless neither body can be moved. Returns its batch and lane.
    #[inline(always)]
    fn add_contact(
        &mut self,
        hit: &Hit,
        solving: Solving,
        phase: &ContactPhase<'_>,
        equal: impl EqualLanes,
    ) -> Option<(u32, u32)> {
        let (a, b) = (&self.shells[hit.a as usize], &self.shells[hit.b as usize]);
        let movable = [a.mass != 0, b.mass != 0];
        if !(movable[0] || movable[1]) {
            return None;
        }
        self.stiff.note(a.mass, b.mass);
        let ((biased, relaxed), share_a) = match solving {
            Solving::Shared(share_a) => (limits(hit.gap, phase), share_a),
            Solving::No => ((NO_LIMIT, NO_LIMIT), if movable[0] { UNIT } else { 0 }),
        };
        let mut contact =
            Contact { a: hit.a, b: hit.b, normal: hit.normal, biased, relaxed, impulse: 0, share_a };
        // The owner is the body with the lower slot that contacts can move.
        let a_owns = movable[0] && (!movable[1] || a.slot < b.slot);
        let either = |of_a: u32, of_b: u32| select_unpredictable(a_owns, of_a, of_b);
        let (owner, own_slot) = (either(hit.a, hit.b), either(a.slot, b.slot));
        let (other, other_slot) = (either(hit.b, hit.a), either(b.slot, a.slot));
        let mut origin = Origin { owner, other: other_slot, cached: Origin::NEW, touching: hit.gap <= 0 };
        let restitution = a.restitution.max(b.restitution);
        let fresh = |body: u32| self.fresh.get(body as usize).is_some_and(|&fresh| fresh);
        // In a slot whose last body may have had contacts.
        let reborn = !self.fresh.is_empty() && (fresh(owner) || fresh(other));
        if !reborn {
            let ranges = [self.cached[owner as usize], self.cached[other as usize]];
            (origin.cached, contact.impulse) = phase.contacts.find(own_slot, other_slot, ranges, equal);
            let known = origin.cached != Origin::NEW;
            origin.touching = hit.gap <= select_unpredictable(known, PARTING_GAP, 0);
        }
        if solving == Solving::No {
            contact.impulse = 0;
        } else if restitution > 0 {
            bounce(&mut contact, &self.velocities, restitution, hit.gap, phase);
        }
        Some(self.batches.push(&contact, origin, movable))
    }
}

/// Overlap that is left alone, raw units: the smallest radius. Pushing out the last of it would leave a little speed in every
/// contact of a stack, which would never come to rest.
pub(crate) const OVERLAP_ALLOWED: i64 = crate::num::EXTENT_MIN.to_bits();

/// Least separating speeds, biased and relaxed. Apart: the gap may close within this frame, no faster. Overlapping: a part
/// of the overlap beyond what is allowed is pushed out per frame.
#[inline(always)]
pub(crate) fn limits(gap: i32, phase: &ContactPhase<'_>) -> (i32, i32) {
    let (gap, fps) = (i64::from(gap), i64::from(phase.fps));
    let push =
        (((-gap - OVERLAP_ALLOWED).max(0) * fps * i64::from(phase.settings.push_factor)) >> 16).min(PUSH_MAX);
    let biased = push - gap.max(0) * fps;
    (biased as i32, biased.min(0) as i32)
}

/// Restitution: a contact that closes within this frame must leave with `restitution` times its approach speed. One
/// that approaches without closing yet does nothing in this frame, so that no energy is lost before the impact.
fn bounce(
    contact: &mut Contact,
    velocities: &[Velocity],
    restitution: i32,
    gap: i32,
    phase: &ContactPhase<'_>,
) {
    let (va, vb) = (velocities[contact.a as usize].get(), velocities[contact.b as usize].get());
    let along: i64 = (0..2).map(|x| i64::from(vb[x] - va[x]) * i64::from(contact.normal[x])).sum();
    let approach = -((along + (1 << (UNIT_BITS - 1))) >> UNIT_BITS);
    let closing = i64::from(gap.max(0)) * i64::from(phase.fps);
    if gap > 0 && approach <= closing {
        contact.impulse = 0;
        (contact.biased, contact.relaxed) = (NO_LIMIT, NO_LIMIT);
    } else if approach > i64::from(phase.settings.restitution_threshold) {
        contact.impulse = 0;
        let leave = ((approach * i64::from(restitution)) >> 16) as i32;
        contact.biased = contact.biased.max(leave);
        contact.relaxed = leave;
    } else if approach <= 0 {
        contact.impulse = 0;
    }
}

/// Part of a speed change that the first body takes: the heavier the other, the more. 0 = immovable.
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

/// [`share`] where a locked axis takes no part: a body locked along the normal cannot be moved by this contact. `None`
/// when neither body can.
#[cold]
fn share_with_locks(bodies: &[Body], a: &Shell, b: &Shell, normal: [i32; 2]) -> Option<i32> {
    let freedom = |shell: &Shell| {
        let body = &bodies[shell.slot as usize];
        let along = |axis: usize, bit: u32| {
            let n = u64::from(normal[axis].unsigned_abs()) >> 15;
            if body.has(bit) { 0 } else { n * n }
        };
        // 30 fraction bits; mass 0 (immovable) has none.
        if shell.mass == 0 { 0 } else { along(0, flag::LOCK_X) + along(1, flag::LOCK_Y) }
    };
    let weight = |free: u64, mass: u32| u128::from(free) * u128::from(mass.max(1));
    let (to_a, to_b) = (weight(freedom(a), b.mass), weight(freedom(b), a.mass));
    ((to_a << UNIT_BITS).checked_div(to_a + to_b)).map(|share| share as i32)
}

/// Geometric mean of two coefficients of contact friction, as in Box2D.
fn combined_friction(a: i32, b: i32) -> i32 {
    isqrt_u64(a as u64 * b as u64) as i32
}
