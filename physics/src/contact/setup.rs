//! Contact set-up: from hits to contacts in batches. Limits follow from the gap, shares from the masses, and the initial impulse from the
//! same contact in the last frame.

use core::hint::select_unpredictable;

use fearless_simd::Simd;

use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hit, Hits, UNIT, UNIT_BITS};
use crate::contact::cache::ContactCache;
use crate::math::lanes::PLAIN;
use crate::solve::bounce::Bounce;
use crate::solve::coloring::{Notes, Origin, WindowBatches, batch_and_lane};
use crate::solve::colors::{NOWHERE, Places};
use crate::solve::deep::OVERLAP_DEEP;
use crate::solve::solver::{Contact, NO_LIMIT};
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
    /// Cached contacts of each working body as an owner: start and end in the cache.
    pub(crate) cached: &'a [[u32; 2]],
    /// Working bodies that are new; empty when there are none.
    pub(crate) fresh: &'a [bool],
    pub(crate) contacts: &'a ContactCache,
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    pub(crate) stiff: &'a StiffContacts,
}

impl ContactSetup<'_> {
    /// Contacts of bodies of which only geometry, mass and restitution matter, in the places of their window.
    #[inline(always)]
    pub(crate) fn fill_window<S: Simd>(
        &self,
        simd: S,
        hits: &Hits,
        places: &Places,
        to: &mut WindowBatches<'_>,
        notes: &mut Notes,
    ) {
        for (hit, &place) in hits.iter().zip(&places.of_contacts) {
            if place != NOWHERE {
                let share_a = share(self.shells[hit.a as usize].mass, self.shells[hit.b as usize].mass);
                self.fill(simd, &hit, Solving::Shared(share_a), place, to, notes);
            }
        }
        to.empty(&places.ends);
    }

    /// Writes the contact of a pair into a place of its window, and returns that among those of the step.
    pub(crate) fn fill_one(
        &self,
        hit: &Hit,
        solving: Solving,
        place: u32,
        to: &mut WindowBatches<'_>,
        notes: &mut Notes,
    ) -> (u32, u32) {
        batch_and_lane(self.fill(PLAIN, hit, solving, place, to, notes))
    }

    /// Writes the contact of a pair of which a body can be moved.
    #[inline(always)]
    fn fill<S: Simd>(
        &self,
        simd: S,
        hit: &Hit,
        solving: Solving,
        place: u32,
        to: &mut WindowBatches<'_>,
        notes: &mut Notes,
    ) -> u32 {
        let (a, b) = (&self.shells[hit.a as usize], &self.shells[hit.b as usize]);
        let movable = [a.mass != 0, b.mass != 0];
        notes.leans |= self.stiff.leans(a.mass, b.mass);
        let (biased, share_a) = match solving {
            Solving::Shared(share_a) => (limit(hit.gap, self.fps, self.settings.push_factor), share_a),
            Solving::No => (NO_LIMIT, if movable[0] { UNIT } else { 0 }),
        };
        let mut contact = Contact { a: hit.a, b: hit.b, normal: hit.normal, biased, impulse: 0, share_a };
        // The owner is the body with the lower slot among those that contacts can move.
        let a_owns = movable[0] && (!movable[1] || a.slot < b.slot);
        let either = |of_a: u32, of_b: u32| select_unpredictable(a_owns, of_a, of_b);
        let (owner, own_slot) = (either(hit.a, hit.b), either(a.slot, b.slot));
        let (other, other_slot) = (either(hit.b, hit.a), either(b.slot, a.slot));
        let mut origin = Origin { owner, other: other_slot, cached: Origin::NEW, gap: hit.gap };
        let restitution = a.restitution.max(b.restitution);
        let fresh = |body: u32| self.fresh.get(body as usize).is_some_and(|&fresh| fresh);
        // The slot's last body may have had contacts.
        let reborn = !self.fresh.is_empty() && (fresh(owner) || fresh(other));
        if !reborn {
            let ranges = [self.cached[owner as usize], self.cached[other as usize]];
            (origin.cached, contact.impulse) = self.contacts.find(simd, own_slot, other_slot, ranges);
        }
        if solving == Solving::No {
            contact.impulse = 0;
        }
        let place = to.fill(place, &contact, origin, notes);
        if solving != Solving::No && restitution > 0 {
            // A pair that bounces without loss never comes to rest.
            let elastic = restitution >= ELASTIC;
            let threshold = if elastic { 0 } else { self.settings.restitution_threshold };
            let (at, restitution) = (batch_and_lane(place), restitution.min(ELASTIC));
            notes.bounces.list.push(Bounce { place: at, restitution, threshold });
        }
        place
    }
}

/// Overlap that is left alone, raw units: the smallest radius. Removing the last bit of an overlap would leave a little speed in every
/// contact of a stack, which would never come to rest.
pub(crate) const OVERLAP_ALLOWED: i64 = crate::math::num::EXTENT_MIN.to_bits();

/// Greatest speed at which shallow overlaps are separated, raw units per second: 1 unit per second. Some of it stays in the velocities.
pub(crate) const PUSH_MAX: i64 = 1 << 16;

/// Least separating speed in biased passes. Apart: the gap may close within this frame, no faster. Overlapping: a part
/// of the overlap beyond what is allowed is pushed out per frame; of a deep one nothing, see [`crate::solve::deep`].
#[inline(always)]
pub(crate) fn limit(gap: i32, fps: u32, push_factor: i32) -> i32 {
    let (gap, fps) = (i64::from(gap), i64::from(fps));
    let overlap = (-gap - OVERLAP_ALLOWED).max(0);
    let push = ((overlap * fps * i64::from(push_factor)) >> 16).min(PUSH_MAX);
    let push = select_unpredictable(gap < -i64::from(OVERLAP_DEEP), 0, push);
    (push - gap.max(0) * fps) as i32
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
