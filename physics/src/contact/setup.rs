//! Contact set-up: from hits to contacts in batches. Limits come from the gap, shares from the masses, the impulse to start with from
//! the same contact of the last frame.

use core::hint::select_unpredictable;

use fearless_simd::Simd;

use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hit, Hits, UNIT, UNIT_BITS};
use crate::contact::cache::ContactCache;
use crate::solve::coloring::{Batches, Origin};
use crate::solve::solver::{Contact, NO_LIMIT, Velocity};
use crate::solve::stiff::StiffContacts;
use crate::world_def::Settings;

/// Greatest speed at which overlapping bodies are pushed apart, raw units per second.
pub(crate) const PUSH_MAX: i64 = 256 << 16;

/// A contact ends only when the surfaces are further apart than this, so that bodies that move together do not flicker
/// between touching and not: 1/64 unit, raw.
pub(crate) const PARTING_GAP: i32 = 1 << 10;

/// What the solver does with a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solving {
    /// The first body takes this part of each speed change, 30 fraction bits.
    Shared(i32),
    /// Nothing: it is only reported.
    No,
}

/// What contact set-up reads, and what it fills.
pub(crate) struct ContactSetup<'a> {
    pub(crate) shells: &'a [Shell],
    pub(crate) velocities: &'a [Velocity],
    /// Cached contacts of each working body as an owner: start and end in the cache.
    pub(crate) cached: &'a [[u32; 2]],
    /// Working bodies that are new; empty when there are none.
    pub(crate) fresh: &'a [bool],
    pub(crate) contacts: &'a ContactCache,
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    pub(crate) batches: &'a mut Batches,
    pub(crate) stiff: &'a mut StiffContacts,
}

impl ContactSetup<'_> {
    /// Contacts of bodies of which only geometry, mass and restitution matter.
    #[inline(always)]
    pub(crate) fn add_contacts<S: Simd>(&mut self, simd: S, hits: &Hits) {
        for hit in hits.iter() {
            let share_a = share(self.shells[hit.a as usize].mass, self.shells[hit.b as usize].mass);
            self.add_contact(simd, &hit, Solving::Shared(share_a));
        }
    }

    /// Makes the contact of a pair, unless neither body can be moved. Returns its batch and lane.
    #[inline(always)]
    pub(crate) fn add_contact<S: Simd>(
        &mut self,
        simd: S,
        hit: &Hit,
        solving: Solving,
    ) -> Option<(u32, u32)> {
        let (a, b) = (&self.shells[hit.a as usize], &self.shells[hit.b as usize]);
        let movable = [a.mass != 0, b.mass != 0];
        if !(movable[0] || movable[1]) {
            return None;
        }
        self.stiff.note(a.mass, b.mass);
        let ((biased, relaxed), share_a) = match solving {
            Solving::Shared(share_a) => (limits(hit.gap, self.fps, self.settings.push_factor), share_a),
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
            (origin.cached, contact.impulse) = self.contacts.find(simd, own_slot, other_slot, ranges);
            let known = origin.cached != Origin::NEW;
            origin.touching = hit.gap <= select_unpredictable(known, PARTING_GAP, 0);
        }
        if solving == Solving::No {
            contact.impulse = 0;
        } else if restitution > 0 {
            self.bounce(&mut contact, restitution, hit.gap);
        }
        Some(self.batches.push(&contact, origin, movable))
    }

    /// Restitution: a contact that closes within this frame must leave with `restitution` times its approach speed. One
    /// that approaches without closing yet does nothing in this frame, so that no energy is lost before the impact.
    fn bounce(&self, contact: &mut Contact, restitution: i32, gap: i32) {
        let (va, vb) = (self.velocities[contact.a as usize].get(), self.velocities[contact.b as usize].get());
        let along: i64 = (0..2).map(|x| i64::from(vb[x] - va[x]) * i64::from(contact.normal[x])).sum();
        let approach = -((along + (1 << (UNIT_BITS - 1))) >> UNIT_BITS);
        let closing = i64::from(gap.max(0)) * i64::from(self.fps);
        if gap > 0 && approach <= closing {
            contact.impulse = 0;
            (contact.biased, contact.relaxed) = (NO_LIMIT, NO_LIMIT);
        } else if approach > i64::from(self.settings.restitution_threshold) {
            contact.impulse = 0;
            let leave = ((approach * i64::from(restitution)) >> 16) as i32;
            contact.biased = contact.biased.max(leave);
            contact.relaxed = leave;
        } else if approach <= 0 {
            contact.impulse = 0;
        }
    }
}

/// Overlap that is left alone, raw units: the smallest radius. Pushing out the last of it would leave a little speed in every
/// contact of a stack, which would never come to rest.
pub(crate) const OVERLAP_ALLOWED: i64 = crate::math::num::EXTENT_MIN.to_bits();

/// What of an overlap is beyond this, raw units (1/4 unit), counts twice: newcomers in a crowd and heaps come apart in half as many
/// frames. Stacks, which would sway, never overlap as much.
pub(crate) const OVERLAP_DEEP: i64 = 1 << 14;

/// Least separating speeds, biased and relaxed. Apart: the gap may close within this frame, no faster. Overlapping: a part
/// of the overlap beyond what is allowed is pushed out per frame.
#[inline(always)]
pub(crate) fn limits(gap: i32, fps: u32, push_factor: i32) -> (i32, i32) {
    let (gap, fps) = (i64::from(gap), i64::from(fps));
    let overlap = (-gap - OVERLAP_ALLOWED).max(0);
    let pushed = overlap + (overlap - OVERLAP_DEEP).max(0);
    let push = ((pushed * fps * i64::from(push_factor)) >> 16).min(PUSH_MAX);
    let biased = push - gap.max(0) * fps;
    (biased as i32, biased.min(0) as i32)
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
