//! Contacts that live from frame to frame: cached impulses for the warm start, and begin and end events.
//!
//! A contact is kept at its *owner*: the mover with the lower slot, or the only one that contacts can move. The contacts of one
//! owner stand next to each other, so a look-up reads a handful of neighbouring entries and hashes nothing. A contact is
//! in the cache exactly while it touches: its surfaces meet or the solver pushes.
//!
//! Contacts between bodies that all sleep are kept apart, sorted, and cost nothing per frame.

use alloc::vec::Vec;

use crate::body::{Body, Shell, flag};
use crate::coloring::{Batches, Origin};

/// The cached contacts of all owners, field by field, so that a look-up compares eight slots at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedContacts {
    /// Slots of the other bodies.
    pub(crate) others: Vec<u32>,
    /// Impulses of the last frame, raw units per second of closing speed; not negative.
    pub(crate) impulses: Vec<i32>,
}

impl CachedContacts {
    pub(crate) fn len(&self) -> usize {
        self.impulses.len()
    }

    fn resize(&mut self, len: usize) {
        self.others.clear();
        self.others.resize(len, 0);
        self.impulses.clear();
        self.impulses.resize(len, 0);
    }

    fn truncate(&mut self, len: usize) {
        self.others.truncate(len);
        self.impulses.truncate(len);
    }
}

/// Entries that one look-up compares; as many follow the last contact while the list is searched.
const LOOK_UP: usize = 8;

/// A body that owns the next `count` contacts of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) slot: u32,
    pub(crate) count: u32,
}

/// A contact between bodies that do not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RestingContact {
    pub(crate) owner: u32,
    pub(crate) other: u32,
    pub(crate) impulse: i32,
}

/// Two slots, the lower one first.
pub(crate) type SlotPair = (u32, u32);

/// The contact cache. `owners`, `contacts` and `resting` are state; the rest is derived or scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactCache {
    pub(crate) owners: Vec<Owner>,
    pub(crate) contacts: CachedContacts,
    /// Sorted by owner, then other.
    pub(crate) resting: Vec<RestingContact>,
    /// Start and end in `contacts` (or, during a step, `old_contacts`) by the owner's slot.
    ranges: Vec<[u32; 2]>,
    old_owners: Vec<Owner>,
    old_contacts: CachedContacts,
    /// Resting contacts that take part in this step again; sorted.
    woken: Vec<RestingContact>,
    /// Whether a contact of the last frame (old, then woken) still touches.
    matched: Vec<bool>,
    /// Contacts per owner by working index, then where the owner's next contact goes.
    places: Vec<u32>,
    pub(crate) began: Vec<SlotPair>,
    /// Contacts that went on; only listed when `lists_stayed`.
    pub(crate) stayed: Vec<SlotPair>,
    pub(crate) lists_stayed: bool,
    pub(crate) ended: Vec<SlotPair>,
}

impl ContactCache {
    /// Makes the contacts of the last frame available to [`Self::find`]. `rejoins` says which resting contacts are to be looked at again.
    pub(crate) fn begin_step(&mut self, slots: usize, rejoins: Option<impl Fn(&RestingContact) -> bool>) {
        core::mem::swap(&mut self.owners, &mut self.old_owners);
        core::mem::swap(&mut self.contacts, &mut self.old_contacts);
        // Padding, so that every look-up may read as many as it likes.
        let len = self.old_contacts.len();
        self.old_contacts.others.resize(len + LOOK_UP, 0);
        self.ranges.resize(slots.max(self.ranges.len()), [0; 2]);
        self.woken.clear();
        if let Some(rejoins) = rejoins {
            self.woken.extend(self.resting.iter().filter(|c| rejoins(c)));
            self.resting.retain(|c| !rejoins(c));
        }
        self.matched.clear();
        self.matched.resize(self.old_contacts.len() + self.woken.len(), false);
    }

    /// Where an owner's contacts of the last frame are.
    pub(crate) fn range(&self, slot: u32) -> [u32; 2] {
        self.ranges.get(slot as usize).copied().unwrap_or_default()
    }

    /// Where the contact of the last frame is kept, and its impulse. `owner` is the likelier owner, but a body that fell
    /// asleep or woke up may have changed roles with the other one. `ranges` are those of the two.
    #[inline(always)]
    pub(crate) fn find(&self, owner: u32, other: u32, ranges: [[u32; 2]; 2]) -> Option<(u32, i32)> {
        let at = self.position(ranges[0], other).or_else(|| self.position(ranges[1], owner));
        match at {
            Some(at) => Some((at as u32, self.old_contacts.impulses[at])),
            None if self.woken.is_empty() => None,
            None => self.find_woken(owner, other).or_else(|| self.find_woken(other, owner)),
        }
    }

    #[inline(always)]
    fn position(&self, [start, end]: [u32; 2], other: u32) -> Option<usize> {
        let (start, count) = (start as usize, (end - start) as usize);
        let near: &[u32; LOOK_UP] = self.old_contacts.others[start..].first_chunk()?;
        let mut equal = 0u32;
        for (l, &slot) in near.iter().enumerate() {
            equal |= u32::from(slot == other) << l;
        }
        equal &= (1 << count.min(LOOK_UP)) - 1;
        if equal != 0 {
            return Some(start + equal.trailing_zeros() as usize);
        }
        if count <= LOOK_UP {
            return None;
        }
        let far = &self.old_contacts.others[start + LOOK_UP..start + count];
        far.iter().position(|&slot| slot == other).map(|i| start + LOOK_UP + i)
    }

    #[cold]
    fn find_woken(&self, owner: u32, other: u32) -> Option<(u32, i32)> {
        let i = self.woken.binary_search_by_key(&(owner, other), |c| (c.owner, c.other)).ok()?;
        Some(((self.old_contacts.len() + i) as u32, self.woken[i].impulse))
    }

    /// Keeps the solved contacts that touch and derives the events.
    pub(crate) fn end_step(&mut self, batches: &Batches, shells: &[Shell]) {
        for owner in &self.old_owners {
            self.ranges[owner.slot as usize] = [0; 2];
        }
        self.began.clear();
        self.stayed.clear();
        self.count_contacts(batches, shells);
        self.place_owners(shells);
        self.place_contacts(batches);
        self.began.sort_unstable();
        self.stayed.sort_unstable();
        self.collect_ended();
    }

    /// Counts each owner's contacts and notes which are new.
    #[inline(never)]
    fn count_contacts(&mut self, batches: &Batches, shells: &[Shell]) {
        self.places.clear();
        self.places.resize(shells.len(), 0);
        let Self { places, began, stayed, lists_stayed, matched, .. } = self;
        batches.for_each(|batch, lane, origin| {
            if batch.impulse[lane] == 0 && !origin.touching {
                return;
            }
            places[origin.owner as usize] += 1;
            if origin.cached == Origin::NEW {
                began.push(sorted_pair(shells[origin.owner as usize].slot, origin.other));
            } else {
                matched[origin.cached as usize] = true;
                if *lists_stayed {
                    stayed.push(sorted_pair(shells[origin.owner as usize].slot, origin.other));
                }
            }
        });
    }

    /// Gives each owner its range.
    #[inline(never)]
    fn place_owners(&mut self, shells: &[Shell]) {
        self.owners.clear();
        let mut start = 0;
        for (shell, place) in shells.iter().zip(&mut self.places) {
            let count = core::mem::replace(place, start);
            if count > 0 {
                self.owners.push(Owner { slot: shell.slot, count });
                self.ranges[shell.slot as usize] = [start, start + count];
                start += count;
            }
        }
        self.contacts.resize(start as usize);
    }

    /// Writes the contacts into their owners' ranges, in the order of solving.
    #[inline(never)]
    fn place_contacts(&mut self, batches: &Batches) {
        let Self { places, contacts, .. } = self;
        batches.for_each(|batch, lane, origin| {
            let impulse = batch.impulse[lane];
            if impulse == 0 && !origin.touching {
                return;
            }
            let place = &mut places[origin.owner as usize];
            contacts.others[*place as usize] = origin.other;
            contacts.impulses[*place as usize] = impulse;
            *place += 1;
        });
    }

    /// Contacts of the last frame that were not matched have ended.
    #[inline(never)]
    fn collect_ended(&mut self) {
        self.ended.clear();
        let mut i = 0;
        for owner in &self.old_owners {
            for _ in 0..owner.count {
                if !self.matched[i] {
                    self.ended.push(sorted_pair(owner.slot, self.old_contacts.others[i]));
                }
                i += 1;
            }
        }
        for contact in &self.woken {
            if !self.matched[i] {
                self.ended.push(sorted_pair(contact.owner, contact.other));
            }
            i += 1;
        }
        self.ended.sort_unstable();
    }

    /// Moves the contacts between bodies that are both at rest to the resting ones. Call after bodies fell asleep.
    pub(crate) fn retire(&mut self, bodies: &[Body]) {
        let rests = |slot: u32| !bodies[slot as usize].has(flag::AWAKE);
        let (mut read, mut write) = (0, 0);
        for owner in &mut self.owners {
            let count = core::mem::replace(&mut owner.count, 0);
            let start = write;
            for i in read..read + count as usize {
                let (other, impulse) = (self.contacts.others[i], self.contacts.impulses[i]);
                if rests(owner.slot) && rests(other) {
                    self.resting.push(RestingContact { owner: owner.slot, other, impulse });
                } else {
                    self.contacts.others[write] = other;
                    self.contacts.impulses[write] = impulse;
                    write += 1;
                    owner.count += 1;
                }
            }
            read += count as usize;
            let range = if owner.count > 0 { [start as u32, write as u32] } else { [0; 2] };
            self.ranges[owner.slot as usize] = range;
        }
        self.owners.retain(|o| o.count > 0);
        self.contacts.truncate(write);
        self.resting.sort_unstable();
    }

    /// Recomputes what is derived from `owners`. Call after these were replaced, with the number of slots.
    pub(crate) fn rebuild(&mut self, slots: usize) {
        self.ranges.clear();
        self.ranges.resize(slots, [0; 2]);
        let mut start = 0;
        for owner in &self.owners {
            self.ranges[owner.slot as usize] = [start, start + owner.count];
            start += owner.count;
        }
        self.began.clear();
        self.stayed.clear();
        self.ended.clear();
    }

    /// The contacts that touch now: owner, other, impulse. Resting ones come last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RestingContact> + '_ {
        let mut start = 0;
        let awake = self.owners.iter().flat_map(move |owner| {
            let range = start..start + owner.count as usize;
            start = range.end;
            range.map(|i| {
                let (other, impulse) = (self.contacts.others[i], self.contacts.impulses[i]);
                RestingContact { owner: owner.slot, other, impulse }
            })
        });
        awake.chain(self.resting.iter().copied())
    }
}

/// The lower slot first.
pub(crate) fn sorted_pair(a: u32, b: u32) -> SlotPair {
    (a.min(b), a.max(b))
}
