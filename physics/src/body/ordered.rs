//! Generational slots with insertion order: the order in which users see bodies.
//!
//! A slot table gives stable `{index, generation}` handles; a dense list keeps insertion order. Removal leaves a tombstone in the list
//! (O(1)). When half of the list is tombstones, it is compacted in order, so the cost of iteration stays proportional to the number of
//! living entries. The lockstep articles use a dictionary plus a linked list for the same guarantee; dense arrays iterate and hash faster.

use alloc::vec::Vec;

use crate::body::slot::Slot;
use crate::math::copy::clone_in_place;

/// Marks a vacant slot among the places.
const NONE: u32 = u32::MAX;

/// Slot table with insertion order and O(1) insert, remove and look-up.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    /// By slot: how often it was vacated; wraps after 2^32 uses of one slot.
    generations: Vec<u32>,
    /// By slot: its index in `order`, or [`NONE`] when vacant.
    places: Vec<u32>,
    /// Vacant slots; the last one is used next.
    free: Vec<Slot>,
    /// Slots in insertion order; [`Slot::NONE`] is a tombstone.
    order: Vec<Slot>,
    len: u32,
    /// Slots whose generation is not 0.
    used_again: u32,
}

clone_in_place!(Ordered: generations, places, free, order, len, used_again);

impl Ordered {
    /// Number of living entries.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Number of slots ever used; every living one is below it.
    pub(crate) fn slot_count(&self) -> usize {
        self.places.len()
    }

    /// Takes a slot and appends it to the order. Returns it with its generation.
    pub(crate) fn insert(&mut self) -> (Slot, u32) {
        let place = self.order.len() as u32;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.generations.push(0);
                self.places.push(NONE);
                Slot::new(self.places.len() - 1)
            }
        };
        self.places[slot.at()] = place;
        self.order.push(slot);
        self.len += 1;
        (slot, self.generations[slot.at()])
    }

    /// Vacates a slot and advances its generation, so old handles become stale. False if the handle was stale already.
    pub(crate) fn remove(&mut self, slot: Slot, generation: u32) -> bool {
        if !self.contains(slot, generation) {
            return false;
        }
        let place = core::mem::replace(&mut self.places[slot.at()], NONE);
        self.order[place as usize] = Slot::NONE;
        self.set_generation(slot, generation.wrapping_add(1));
        self.free.push(slot);
        self.len -= 1;
        if self.order.len() > 32 && self.order.len() as u32 > self.len.saturating_mul(2) {
            self.compact();
        }
        true
    }

    /// Whether the handle names a living entry.
    #[inline]
    pub(crate) fn contains(&self, slot: Slot, generation: u32) -> bool {
        self.generation(slot) == Some(generation)
    }

    /// The generation of the living entry in a slot, or `None` if the slot is vacant.
    #[inline]
    pub(crate) fn generation(&self, slot: Slot) -> Option<u32> {
        let place = *self.places.get(slot.at())?;
        (place != NONE).then(|| self.generations[slot.at()])
    }

    /// Living slots, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Slot> + '_ {
        self.order.iter().copied().filter(|&slot| slot != Slot::NONE)
    }

    /// Removes the tombstones; the living entries keep their order.
    fn compact(&mut self) {
        self.order.retain(|&slot| slot != Slot::NONE);
        for (place, slot) in self.order.iter().enumerate() {
            self.places[slot.at()] = place as u32;
        }
    }

    /// Vacant slots; the last one is used next.
    pub(crate) fn vacant(&self) -> &[Slot] {
        &self.free
    }

    /// The generation of a slot, vacant or not; 0 for a slot that was never used.
    pub(crate) fn slot_generation(&self, slot: Slot) -> u32 {
        self.generations.get(slot.at()).copied().unwrap_or(0)
    }

    /// The generations of all slots; empty if all are 0.
    pub(crate) fn generations(&self) -> &[u32] {
        if self.used_again == 0 { &[] } else { &self.generations }
    }

    /// Whether the insertion order equals the order of the slots.
    pub(crate) fn is_in_slot_order(&self) -> bool {
        // Without tombstones it is a plain list, which is fast to scan.
        if self.order.len() == self.len as usize { self.order.is_sorted() } else { self.iter().is_sorted() }
    }

    /// Sets the generation of a slot.
    pub(crate) fn set_generation(&mut self, slot: Slot, generation: u32) {
        if let Some(place) = self.generations.get_mut(slot.at()) {
            self.used_again -= u32::from(*place != 0);
            self.used_again += u32::from(generation != 0);
            *place = generation;
        }
    }

    /// Rebuilds the table from the generations by slot, the vacant slots, and the living ones in insertion order. `None` unless `free` and
    /// `order` together name every slot exactly once.
    pub(crate) fn from_parts(generations: Vec<u32>, free: Vec<Slot>, order: Vec<Slot>) -> Option<Self> {
        if free.len() + order.len() != generations.len() {
            return None;
        }
        let mut places = alloc::vec![NONE; generations.len()];
        for (place, slot) in order.iter().enumerate() {
            let of_slot = places.get_mut(slot.at())?;
            if *of_slot != NONE {
                return None;
            }
            *of_slot = place as u32;
        }
        let mut seen = alloc::vec![false; places.len()];
        for slot in &free {
            let seen = seen.get_mut(slot.at())?;
            if *seen || places[slot.at()] != NONE {
                return None;
            }
            *seen = true;
        }
        let len = order.len() as u32;
        let used_again = generations.iter().filter(|&&generation| generation != 0).count() as u32;
        Some(Self { generations, places, free, order, len, used_again })
    }

    /// Whether slots, order and free list agree. For tests and debug builds.
    pub(crate) fn is_consistent(&self) -> bool {
        let living = self.order.iter().enumerate().filter(|&(_, &slot)| slot != Slot::NONE);
        let count = living.clone().count();
        count as u32 == self.len
            && count + self.free.len() == self.places.len()
            && self.generations.len() == self.places.len()
            && self.generations.iter().filter(|&&generation| generation != 0).count()
                == self.used_again as usize
            && living.clone().all(|(place, slot)| self.places[slot.at()] == place as u32)
            && self.free.iter().all(|slot| self.places[slot.at()] == NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_insertion_order_and_reuses_the_last_vacated_slot() {
        let mut t = Ordered::default();
        let ids: Vec<_> = (0..5).map(|_| t.insert()).collect();
        assert!(t.remove(ids[1].0, ids[1].1));
        assert!(t.remove(ids[3].0, ids[3].1));
        assert_eq!(t.insert(), (Slot(3), 1));
        assert_eq!(t.insert(), (Slot(1), 1));
        assert_eq!(t.iter().collect::<Vec<_>>(), [0, 2, 4, 3, 1].map(Slot));
        assert!(!t.remove(Slot(1), 0), "a stale handle removes nothing");
        assert!(t.is_consistent());
    }

    #[test]
    fn compaction_keeps_the_order() {
        let mut t = Ordered::default();
        let ids: Vec<_> = (0..1000).map(|_| t.insert()).collect();
        for &(i, g) in ids.iter().filter(|(i, _)| i.0 % 7 != 0) {
            assert!(t.remove(i, g));
        }
        assert!(t.order.len() < 400, "tombstones were dropped");
        assert!(t.iter().eq(Slot::all(1000).filter(|i| i.0 % 7 == 0)));
        assert!(t.is_consistent());
    }

    #[test]
    fn parts_round_trip_and_refuse_nonsense() {
        let mut t = Ordered::default();
        let ids: Vec<_> = (0..6).map(|_| t.insert()).collect();
        t.remove(ids[2].0, 0);
        t.remove(ids[0].0, 0);
        let generations: Vec<u32> = Slot::all(6).map(|i| t.slot_generation(i)).collect();
        let (free, order) = (t.vacant().to_vec(), t.iter().collect::<Vec<_>>());
        let mut u = Ordered::from_parts(generations.clone(), free.clone(), order.clone()).unwrap();
        assert_eq!(u.insert(), t.insert());
        assert!(
            Ordered::from_parts(generations.clone(), free.clone(), [1, 1, 4, 5].map(Slot).to_vec()).is_none()
        );
        assert!(Ordered::from_parts(generations.clone(), [2, 2].map(Slot).to_vec(), order.clone()).is_none());
        assert!(Ordered::from_parts(generations.clone(), [2, 9].map(Slot).to_vec(), order).is_none());
    }
}
