//! Contacts that persist from frame to frame: cached impulses for the warm start, and begin and end events.
//!
//! A contact is kept at its *owner*: the body with the lower slot, or the only one that contacts can move. A body that changes its kind begins
//! new contacts, so none changes its owner. The contacts of one owner stand next to each other, so a look-up reads a handful of
//! neighbouring entries and hashes nothing. A contact is in the cache from when the surfaces meet (at the begin of a step, at its end, or
//! in between) until they have parted and the solver has nothing to do. That the solver holds two bodies apart before they touch is no
//! touch.
//!
//! Contacts between sleeping bodies are stored separately, sorted, and cost nothing per frame.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, u32x8};

use crate::body::record::{Body, Shell, flag};
use crate::body::slot::{Slot, SlotPair};
use crate::body::working_index::WorkingIndex;
use crate::contact::cached::{CachedContacts, Looked, Owned, Owner, RestingContact, look_up, merge_into};
use crate::math::boxes::LANES;
use crate::math::copy::clone_in_place;
use crate::math::lanes::{each, each_lane};
use crate::solve::batches::{Batches, Cached, Origins, PARTING_GAP};
use crate::solve::friction::FrictionContact;
use crate::solve::solver::IMPULSE_MAX;

/// The contact cache. `owners`, `contacts` and `resting` are state; the rest is derived or scratch.
#[derive(Debug, Default)]
pub(crate) struct ContactCache {
    pub(crate) owners: Vec<Owner>,
    pub(crate) contacts: CachedContacts,
    /// Sorted by owner, then other.
    pub(crate) resting: Vec<RestingContact>,
    /// By the owner's slot, in `contacts` (or, during a step, `old_contacts`).
    ranges: Vec<Owned>,
    old_owners: Vec<Owner>,
    /// Those of the last frame during a step, with a block of padding after them.
    pub(crate) old_contacts: CachedContacts,
    /// Resting contacts that take part in this step again, sorted; at the end of the step, those that come to rest.
    woken: Vec<RestingContact>,
    /// Owners whose resting contacts take part again in the next step; some more than once.
    stirred: Vec<Slot>,
    /// Whether the stirred owners are unknown, after a restore.
    unsure: bool,
    /// Whether a contact of the last frame (old, then woken) still touches.
    matched: Vec<bool>,
    /// Contacts per owner, by working index.
    counts: Vec<u32>,
    /// The next contact of an owner, by working index; anything if it has none.
    cursors: Vec<Cached>,
    /// The lanes of each batch whose contacts are kept, one bit each.
    kept_lanes: Vec<u8>,
    pub(crate) began: Vec<SlotPair>,
    /// Contacts that persisted; only listed if `lists_stayed`.
    pub(crate) stayed: Vec<SlotPair>,
    pub(crate) lists_stayed: bool,
    pub(crate) ended: Vec<SlotPair>,
}

clone_in_place!(
    ContactCache: owners, contacts, resting, ranges, stirred, unsure, began, stayed, lists_stayed, ended;
    not old_owners, old_contacts, woken, matched, counts, cursors, kept_lanes
);

impl ContactCache {
    /// Makes the contacts of the last frame available to [`Self::find`], and those resting ones for which `rejoins` is true. It can be true
    /// only for contacts of stirred owners; after a restore these are unknown, so all are tested.
    pub(crate) fn begin_step(&mut self, slots: usize, rejoins: impl Fn(&RestingContact) -> bool) {
        core::mem::swap(&mut self.owners, &mut self.old_owners);
        core::mem::swap(&mut self.contacts, &mut self.old_contacts);
        // Padding, so that every look-up can read a whole block.
        let len = self.old_contacts.len();
        self.old_contacts.others.resize(len + LANES, Slot::NONE);
        self.old_contacts.impulses.resize(len + LANES, 0);
        self.ranges.resize(slots.max(self.ranges.len()), Owned::default());
        self.woken.clear();
        if core::mem::take(&mut self.unsure) {
            self.stirred.clear();
            self.woken.extend(self.resting.iter().filter(|c| rejoins(c)));
            self.resting.retain(|c| !rejoins(c));
        } else {
            self.take_stirred(rejoins);
        }
        self.matched.clear();
        self.matched.resize(len + self.woken.len(), false);
    }

    /// The resting contacts of an owner take part again from the next step on.
    pub(crate) fn stir(&mut self, owner: Slot) {
        self.stirred.push(owner);
    }

    /// Moves contacts of the stirred owners from the resting to the woken ones: one search for each owner; then the gaps are closed.
    fn take_stirred(&mut self, rejoins: impl Fn(&RestingContact) -> bool) {
        self.stirred.sort_unstable();
        let (mut kept, mut seen) = (0, 0);
        for owner in self.stirred.drain(..) {
            let start = seen + self.resting[seen..].partition_point(|c| c.owner < owner);
            self.resting.copy_within(seen..start, kept);
            (kept, seen) = (kept + start - seen, start);
            while let Some(&contact) = self.resting.get(seen).filter(|c| c.owner == owner) {
                seen += 1;
                if rejoins(&contact) {
                    self.woken.push(contact);
                } else {
                    self.resting[kept] = contact;
                    kept += 1;
                }
            }
        }
        self.resting.copy_within(seen.., kept);
        self.resting.truncate(kept + self.resting.len() - seen);
    }

    /// [`Self::range`] of all slots.
    pub(crate) fn ranges(&self) -> &[Owned] {
        &self.ranges
    }

    /// Multiplies all impulses by `by / over`, toward zero.
    pub(crate) fn scale_impulses(&mut self, by: u32, over: u32) {
        let scale = |impulse: &mut i32| {
            let scaled = i64::from(*impulse) * i64::from(by) / i64::from(over.max(1));
            *impulse = scaled.clamp(-i64::from(IMPULSE_MAX), i64::from(IMPULSE_MAX)) as i32;
        };
        self.contacts.impulses.iter_mut().for_each(scale);
        self.contacts.slides.iter_mut().for_each(scale);
        for contact in &mut self.resting {
            scale(&mut contact.impulse);
            scale(&mut contact.slide);
        }
    }

    /// Where an owner's contacts of the last frame are.
    pub(crate) fn range(&self, slot: Slot) -> Owned {
        self.ranges.get(slot.at()).copied().unwrap_or_default()
    }

    /// The last frame's contact and its impulse, or none and 0. `range` is that of the owner.
    #[inline(always)]
    pub(crate) fn find<S: Simd>(&self, simd: S, owner: Slot, other: Slot, range: Owned) -> (Cached, i32) {
        let found = self.find_at(simd, range, other);
        if found.0 == Cached::NONE { self.find_woken(owner, other) } else { found }
    }

    /// [`Self::find`] for eight pairs. The look-ups wait for memory, and so they wait together.
    #[inline(always)]
    pub(crate) fn find_eight<S: Simd>(
        &self,
        simd: S,
        owners: &[Slot; LANES],
        others: &[Slot; LANES],
        ranges: [Owned; LANES],
    ) -> ([Cached; LANES], [i32; LANES]) {
        let near = self.old_contacts.near();
        let (mut found, mut missing) = ([Cached::NONE; LANES], [0; LANES]);
        let mut most = 0;
        for lane in 0..LANES {
            let looked = look_up(simd, near, ranges[lane], others[lane]);
            (found[lane], missing[lane]) = (looked.contact, looked.missing);
            most = most.max(ranges[lane].count());
        }
        if most > LANES as u32 {
            for lane in 0..LANES {
                let looked = Looked { contact: found[lane], missing: missing[lane] };
                let looked = self.look_further(looked, ranges[lane], others[lane]);
                (found[lane], missing[lane]) = (looked.contact, looked.missing);
            }
        }
        // Apart from the search: beside it, compilers make a branch of whether a contact was found.
        let impulses = each(found, |found| near.1.get(found.at()).copied().unwrap_or_default());
        let missing = u32x8::load_array(simd, missing);
        let none: i32x8<S> = missing.bitcast();
        let found = (u32x8::load_array(simd, bytemuck::cast(found)) | missing).to_array();
        let mut found: [Cached; LANES] = bytemuck::cast(found);
        let mut impulses = (i32x8::load_array(simd, impulses) & !none).to_array();
        if !self.woken.is_empty() {
            for lane in 0..LANES {
                if found[lane] == Cached::NONE {
                    (found[lane], impulses[lane]) = self.find_woken(owners[lane], others[lane]);
                }
            }
        }
        (found, impulses)
    }

    /// Searches one owner's contacts.
    #[inline(always)]
    fn find_at<S: Simd>(&self, simd: S, range: Owned, other: Slot) -> (Cached, i32) {
        let near = self.old_contacts.near();
        match self.look_further(look_up(simd, near, range, other), range, other) {
            Looked { contact, missing: 0 } => {
                (contact, near.1.get(contact.at()).copied().unwrap_or_default())
            }
            _ => (Cached::NONE, 0),
        }
    }

    /// [`look_up`], also among the contacts that one look-up does not compare.
    #[inline]
    fn look_further(&self, looked: Looked, owned: Owned, other: Slot) -> Looked {
        let range = owned.range();
        let first = range.start + LANES;
        if looked.missing == 0 || first >= range.end {
            return looked;
        }
        let at = self.old_contacts.others[first..range.end].iter().position(|&slot| slot == other);
        at.map_or(looked, |at| Looked { contact: Cached::new(first + at), missing: 0 })
    }

    /// [`Self::find`] among the contacts that rested until now.
    #[inline]
    fn find_woken(&self, owner: Slot, other: Slot) -> (Cached, i32) {
        match self.woken.binary_search_by_key(&(owner, other), |c| (c.owner, c.other)) {
            Ok(at) => (Cached::new(self.matched.len() - self.woken.len() + at), self.woken[at].impulse),
            Err(_) => (Cached::NONE, 0),
        }
    }

    /// Friction impulse of the last frame's contact; `cached` is what [`Self::find`] gave.
    pub(crate) fn slide(&self, cached: Cached) -> i32 {
        let cached = cached.at();
        match cached.checked_sub(self.matched.len() - self.woken.len()) {
            None => self.old_contacts.slides.get(cached).copied().unwrap_or(0),
            Some(woken) => self.woken.get(woken).map_or(0, |contact| contact.slide),
        }
    }

    /// Keeps the friction impulses of the contacts that are kept. Scenes without friction pay nothing.
    fn keep_slides(&mut self, frictions: &[FrictionContact], batches: &Batches, shells: &[Shell]) {
        if frictions.is_empty() {
            return;
        }
        self.contacts.slides.resize(self.contacts.len(), 0);
        for friction in frictions {
            let origin = batches.origin(friction.place);
            let range = self.range(shells[origin.owner].slot).range();
            let own = &self.contacts.others[range.clone()];
            if let Some(at) = own.iter().position(|&slot| slot == origin.other) {
                self.contacts.slides[range.start + at] = friction.impulse;
            }
        }
    }

    /// Keeps the solved contacts that touch and derives the events; [`Self::count_contacts`] comes before.
    pub(crate) fn end_step(&mut self, batches: &Batches, shells: &[Shell], frictions: &[FrictionContact]) {
        for owner in &self.old_owners {
            self.ranges[owner.slot] = Owned::default();
        }
        self.lay_out_owners(shells);
        self.write_contacts(batches);
        self.keep_slides(frictions, batches, shells);
        SlotPair::sort(&mut self.began);
        SlotPair::sort(&mut self.stayed);
        self.collect_ended();
    }

    /// Counts each owner's contacts and notes the new ones. Which contacts are kept is hard to predict for a branch, so they are found eight
    /// at a time. `touch` says whether two working bodies that were apart and have pushed each other touch.
    #[inline(always)]
    pub(crate) fn count_contacts<S: Simd>(
        &mut self,
        simd: S,
        batches: &mut Batches,
        shells: &[Shell],
        touch: &dyn Fn(WorkingIndex, WorkingIndex) -> bool,
    ) {
        let Self { counts, kept_lanes, began, stayed, lists_stayed, matched, .. } = self;
        counts.clear();
        counts.resize(shells.len(), 0);
        kept_lanes.clear();
        began.clear();
        stayed.clear();
        // Behind the last one, for contacts that are new.
        let last = matched.len();
        matched.push(false);
        for (batch, origins) in batches.with_origins_mut() {
            let known = !u32x8::load_array(simd, bytemuck::cast(origins.cached)).simd_eq(Cached::NONE.0);
            let parted = known.select(i32x8::splat(simd, PARTING_GAP), i32x8::splat(simd, 0));
            let touching = i32x8::load_array(simd, origins.gap).simd_le(parted).to_bitmask() as u32;
            let pushed = !i32x8::load_array(simd, batch.impulse).simd_eq(0).to_bitmask() as u32;
            let known = known.to_bitmask() as u32;
            // A contact persists until nothing holds the bodies together any more.
            let mut held = pushed & !touching & ALL_LANES;
            each_lane(
                held & !known,
                #[inline(always)]
                |lane| {
                    if !touch(batch.a[lane], batch.b[lane]) {
                        held &= !(1 << lane);
                    }
                },
            );
            each_lane(
                held,
                #[inline(always)]
                |lane| origins.gap[lane] = 0,
            );
            let kept = (touching | held) & ALL_LANES;
            kept_lanes.push(kept as u8);
            // All lanes: how many are kept is hard to predict for a branch.
            for lane in 0..LANES {
                let (is_kept, is_known) = (kept >> lane & 1, known >> lane & 1);
                counts[origins.owner[lane].at()] += is_kept;
                let at = origins.cached[lane].at();
                matched[select_unpredictable(is_kept & is_known != 0, at, last)] = true;
            }
            list_pairs(began, kept & !known, origins, shells);
            if *lists_stayed {
                list_pairs(stayed, kept & known, origins, shells);
            }
        }
        matched.truncate(last);
    }

    /// Gives each owner its range.
    #[inline(never)]
    fn lay_out_owners(&mut self, shells: &[Shell]) {
        let Self { owners, ranges, counts, cursors, .. } = self;
        cursors.resize(shells.len(), Cached::default());
        owners.resize(shells.len(), Owner { slot: Slot::NONE, count: 0 });
        // Without branches: who owns contacts is hard to predict.
        let (mut end, mut kept) = (Cached::default(), 0);
        let cursors = cursors.chunks_mut(LANES);
        for ((shells, counts), cursors) in shells.chunks(LANES).zip(counts.chunks(LANES)).zip(cursors) {
            // In worlds with few contacts most blocks own none.
            if counts.iter().all(|&count| count == 0) {
                continue;
            }
            for ((shell, &count), cursor) in shells.iter().zip(counts).zip(cursors) {
                *cursor = end;
                owners[kept] = Owner { slot: shell.slot, count };
                kept += usize::from(count > 0);
                end = end.behind(count);
            }
        }
        owners.truncate(kept);
        let mut start = Cached::default();
        for owner in owners {
            let owned = Owned::new(start, owner.count);
            (ranges[owner.slot], start) = (owned, owned.end);
        }
        self.contacts.resize(end.at());
    }

    /// Writes the contacts into their owners' ranges, in the order of solving; those that are not kept, behind the last one.
    #[inline(never)]
    fn write_contacts(&mut self, batches: &Batches) {
        let Self { cursors, kept_lanes, contacts, .. } = self;
        let end = contacts.len();
        contacts.resize(end + 1);
        let (others, impulses) = (&mut contacts.others[..=end], &mut contacts.impulses[..=end]);
        for ((batch, origins), &kept) in batches.with_origins().zip(&*kept_lanes) {
            for lane in 0..LANES {
                let is_kept = u32::from(kept >> lane & 1);
                let cursor = &mut cursors[origins.owner[lane].at()];
                let at = select_unpredictable(is_kept != 0, cursor.at(), end);
                (others[at], impulses[at]) = (origins.other[lane], batch.impulse[lane]);
                *cursor = cursor.behind(is_kept);
            }
        }
        contacts.truncate(end);
    }

    /// Contacts of the last frame that were not matched have ended.
    #[inline(never)]
    fn collect_ended(&mut self) {
        self.ended.clear();
        let (old, woken) = self.matched.split_at(self.matched.len() - self.woken.len());
        let mut owners = self.old_owners.iter();
        let (mut owner, mut end) = (Slot::NONE, 0);
        for (block, matched) in old.chunks(u64::BITS as usize).enumerate() {
            let mut unmatched =
                matched.iter().rev().fold(0u64, |bits, &matched| bits << 1 | u64::from(!matched));
            while unmatched != 0 {
                let at = block * u64::BITS as usize + unmatched.trailing_zeros() as usize;
                unmatched &= unmatched - 1;
                while at >= end
                    && let Some(next) = owners.next()
                {
                    (owner, end) = (next.slot, end + next.count as usize);
                }
                self.ended.push(SlotPair::of(owner, self.old_contacts.others[at]));
            }
        }
        let woken = self.woken.iter().zip(woken).filter(|(_, matched)| !**matched);
        self.ended.extend(woken.map(|(contact, _)| SlotPair::of(contact.owner, contact.other)));
        SlotPair::sort(&mut self.ended);
    }

    /// Moves the contacts between bodies that are both at rest to the resting ones. Call this after bodies fell asleep.
    pub(crate) fn retire(&mut self, bodies: &[Body]) {
        let rests = |slot: Slot| !bodies[slot].has(flag::AWAKE);
        self.woken.clear();
        let (mut read, mut write) = (0, 0);
        for owner in &mut self.owners {
            let count = core::mem::replace(&mut owner.count, 0);
            let start = write;
            for i in read..read + count as usize {
                let (other, impulse) = (self.contacts.others[i], self.contacts.impulses[i]);
                let slide = self.contacts.slides.get(i).copied();
                if rests(owner.slot) && rests(other) {
                    let slide = slide.unwrap_or(0);
                    self.woken.push(RestingContact { owner: owner.slot, other, impulse, slide });
                } else {
                    self.contacts.others[write] = other;
                    self.contacts.impulses[write] = impulse;
                    if let Some(slide) = slide {
                        self.contacts.slides[write] = slide;
                    }
                    write += 1;
                    owner.count += 1;
                }
            }
            read += count as usize;
            let range = Owned { start: Cached::new(start), end: Cached::new(write) };
            self.ranges[owner.slot] = if owner.count > 0 { range } else { Owned::default() };
        }
        self.owners.retain(|o| o.count > 0);
        self.contacts.truncate(write);
        self.woken.sort_unstable();
        merge_into(&mut self.resting, &mut self.woken);
    }

    /// Recomputes what is derived from `owners`. Call this after these were replaced, with the number of slots.
    pub(crate) fn rebuild(&mut self, slots: usize) {
        self.unsure = true;
        self.ranges.clear();
        self.ranges.resize(slots, Owned::default());
        let mut start = Cached::default();
        for owner in &self.owners {
            let owned = Owned::new(start, owner.count);
            (self.ranges[owner.slot], start) = (owned, owned.end);
        }
        self.began.clear();
        self.stayed.clear();
        self.ended.clear();
    }

    /// Those of [`Self::iter`] that a body takes part in, in the same order. Reads a slot of each contact of other owners.
    pub(crate) fn of(&self, slot: Slot) -> impl Iterator<Item = RestingContact> + '_ {
        let mut start = 0;
        let awake = self.owners.iter().flat_map(move |owner| {
            let range = start..start + owner.count as usize;
            start = range.end;
            let at = if owner.slot == slot {
                range
            } else {
                // At most one contact of each owner is with this body.
                match self.contacts.others[range.clone()].iter().position(|&other| other == slot) {
                    Some(at) => range.start + at..range.start + at + 1,
                    None => range.end..range.end,
                }
            };
            at.map(|at| self.moving(owner.slot, at))
        });
        awake.chain(self.resting.iter().filter(move |c| c.owner == slot || c.other == slot).copied())
    }

    /// A contact of a moving body, by its place.
    fn moving(&self, owner: Slot, at: usize) -> RestingContact {
        let (other, impulse) = (self.contacts.others[at], self.contacts.impulses[at]);
        let slide = self.contacts.slides.get(at).copied().unwrap_or(0);
        RestingContact { owner, other, impulse, slide }
    }

    /// The contacts that touch now: owner, other, impulse. Resting ones come last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RestingContact> + '_ {
        self.moving_contacts().chain(self.resting.iter().copied())
    }

    /// Those of moving bodies.
    pub(crate) fn moving_contacts(&self) -> impl Iterator<Item = RestingContact> + '_ {
        let mut start = 0;
        self.owners.iter().flat_map(move |owner| {
            let range = start..start + owner.count as usize;
            start = range.end;
            range.map(move |at| self.moving(owner.slot, at))
        })
    }
}

/// One bit for each lane of a batch.
const ALL_LANES: u32 = (1 << LANES) - 1;

/// Appends the slots of the contacts in some lanes.
#[inline(always)]
fn list_pairs(list: &mut Vec<SlotPair>, lanes: u32, origins: &Origins, shells: &[Shell]) {
    each_lane(
        lanes,
        #[inline(always)]
        |lane| {
            let owner = shells[origins.owner[lane]].slot;
            list.push(SlotPair::of(owner, origins.other[lane]));
        },
    );
}
