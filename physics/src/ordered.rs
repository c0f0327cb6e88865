//! Insertion-ordered generational slots: the order in which users see bodies.
//!
//! A slot table gives stable `{index, generation}` handles; a dense list keeps insertion order. Removal leaves a
//! tombstone in the list (O(1)); the list is compacted, keeping the order, once half of it is tombstones, so that
//! iteration stays proportional to what is alive. The lock-step articles use a dictionary plus a linked list for
//! the same promise; dense arrays iterate and hash faster.

use alloc::vec::Vec;

/// Marks "no slot" and "no place" in the dense arrays.
const NONE: u32 = u32::MAX;

/// One slot: which generation lives there, and where it stands in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// Counts how often the slot was vacated; wraps after 2^32 uses of one slot.
    generation: u32,
    /// Index into `order`, or `NONE` when vacant.
    place: u32,
}

/// Slot table with insertion order and O(1) insert, remove and look-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ordered {
    slots: Vec<Slot>,
    /// Vacant slots; the last one is used next.
    free: Vec<u32>,
    /// Slot indices in insertion order; `NONE` is a tombstone.
    order: Vec<u32>,
    len: u32,
}

impl Ordered {
    /// Number of living entries.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Number of slots ever used: every living index is below it.
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Takes a slot and appends it to the order. Returns `(index, generation)`.
    pub(crate) fn insert(&mut self) -> (u32, u32) {
        let place = self.order.len() as u32;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.slots.push(Slot { generation: 0, place: NONE });
                self.slots.len() as u32 - 1
            }
        };
        let slot = &mut self.slots[index as usize];
        slot.place = place;
        self.order.push(index);
        self.len += 1;
        (index, slot.generation)
    }

    /// Vacates a slot; its generation moves on, so old handles become stale. False when the handle was stale already.
    pub(crate) fn remove(&mut self, index: u32, generation: u32) -> bool {
        if !self.contains(index, generation) {
            return false;
        }
        let slot = &mut self.slots[index as usize];
        self.order[slot.place as usize] = NONE;
        slot.place = NONE;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        self.len -= 1;
        if self.order.len() > 32 && self.order.len() as u32 > self.len.saturating_mul(2) {
            self.compact();
        }
        true
    }

    /// Whether the handle names a living entry.
    pub(crate) fn contains(&self, index: u32, generation: u32) -> bool {
        self.slots.get(index as usize).is_some_and(|s| s.place != NONE && s.generation == generation)
    }

    /// The generation that lives in a slot, or `None` when it is vacant.
    pub(crate) fn generation(&self, index: u32) -> Option<u32> {
        self.slots.get(index as usize).filter(|s| s.place != NONE).map(|s| s.generation)
    }

    /// Living slot indices, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.order.iter().copied().filter(|&index| index != NONE)
    }

    /// Drops the tombstones; the order of the living stays.
    fn compact(&mut self) {
        self.order.retain(|&index| index != NONE);
        for (place, &index) in self.order.iter().enumerate() {
            self.slots[index as usize].place = place as u32;
        }
    }

    /// Vacant slots; the last one is used next.
    pub(crate) fn vacant(&self) -> &[u32] {
        &self.free
    }

    /// The generation of a slot, vacant or not; 0 for a slot that was never used.
    pub(crate) fn slot_generation(&self, index: u32) -> u32 {
        self.slots.get(index as usize).map_or(0, |s| s.generation)
    }

    /// Gives a slot its generation while a table is rebuilt.
    pub(crate) fn set_generation(&mut self, index: u32, generation: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.generation = generation;
        }
    }

    /// Rebuilds the table from the generations by slot, the vacant slots and the living ones in insertion order. `None` unless `free` and `order` together name every slot exactly once.
    pub(crate) fn from_parts(generations: &[u32], free: Vec<u32>, order: Vec<u32>) -> Option<Self> {
        if free.len() + order.len() != generations.len() {
            return None;
        }
        let mut slots: Vec<Slot> =
            generations.iter().map(|&generation| Slot { generation, place: NONE }).collect();
        for (place, &index) in order.iter().enumerate() {
            let slot = slots.get_mut(index as usize)?;
            if slot.place != NONE {
                return None;
            }
            slot.place = place as u32;
        }
        let mut seen = alloc::vec![false; slots.len()];
        for &index in &free {
            let seen = seen.get_mut(index as usize)?;
            if *seen || slots[index as usize].place != NONE {
                return None;
            }
            *seen = true;
        }
        let len = order.len() as u32;
        Some(Self { slots, free, order, len })
    }

    /// Whether slots, order and free list agree. For tests and debug builds.
    pub(crate) fn is_consistent(&self) -> bool {
        let living = self.order.iter().enumerate().filter(|&(_, &i)| i != NONE);
        let count = living.clone().count();
        count as u32 == self.len
            && count + self.free.len() == self.slots.len()
            && living.clone().all(|(place, &i)| self.slots[i as usize].place == place as u32)
            && self.free.iter().all(|&i| self.slots[i as usize].place == NONE)
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
        assert_eq!(t.insert(), (3, 1));
        assert_eq!(t.insert(), (1, 1));
        assert_eq!(t.iter().collect::<Vec<_>>(), [0, 2, 4, 3, 1]);
        assert!(!t.remove(1, 0), "a stale handle removes nothing");
        assert!(t.is_consistent());
    }

    #[test]
    fn compaction_keeps_the_order() {
        let mut t = Ordered::default();
        let ids: Vec<_> = (0..1000).map(|_| t.insert()).collect();
        for &(i, g) in ids.iter().filter(|(i, _)| i % 7 != 0) {
            assert!(t.remove(i, g));
        }
        assert!(t.order.len() < 400, "tombstones were dropped");
        assert!(t.iter().eq((0..1000).filter(|i| i % 7 == 0)));
        assert!(t.is_consistent());
    }

    #[test]
    fn parts_round_trip_and_refuse_nonsense() {
        let mut t = Ordered::default();
        let ids: Vec<_> = (0..6).map(|_| t.insert()).collect();
        t.remove(ids[2].0, 0);
        t.remove(ids[0].0, 0);
        let generations: Vec<u32> = (0..6).map(|i| t.slot_generation(i)).collect();
        let (free, order) = (t.vacant().to_vec(), t.iter().collect::<Vec<_>>());
        let mut u = Ordered::from_parts(&generations, free.clone(), order.clone()).unwrap();
        assert_eq!(u.insert(), t.insert());
        assert!(Ordered::from_parts(&generations, free.clone(), [1, 1, 4, 5].to_vec()).is_none());
        assert!(Ordered::from_parts(&generations, [2, 2].to_vec(), order.clone()).is_none());
        assert!(Ordered::from_parts(&generations, [2, 9].to_vec(), order).is_none());
    }
}
