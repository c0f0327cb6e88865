//! Finds the unit of a body.

use alloc::vec::Vec;

use crate::crowd::Walker;

/// Where units are among all, by the low bits of their bodies' slots. Slots are dense, so that few units share an entry; an entry that is old or another
/// unit's only costs a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    /// Their number is a power of two.
    places: Vec<u32>,
}

impl Finder {
    /// Notes where all units are.
    pub(crate) fn fill(&mut self, walkers: &[Walker]) {
        self.places.clear();
        self.places.resize((2 * walkers.len()).next_power_of_two(), 0);
        (0..).zip(walkers).for_each(|(place, walker)| self.note(walker.body.index(), place));
    }

    /// Notes where one unit is, the last one of all.
    pub(crate) fn add(&mut self, walkers: &[Walker]) {
        if walkers.len() > self.places.len() {
            self.fill(walkers);
        } else if let Some(last) = walkers.last() {
            self.note(last.body.index(), walkers.len() as u32 - 1);
        }
    }

    fn note(&mut self, slot: u32, place: u32) {
        let mask = self.places.len() - 1;
        self.places[slot as usize & mask] = place;
    }

    /// The place of the unit whose body has a slot; if there is none, the place where it would be.
    pub(crate) fn find(&self, walkers: &[Walker], slot: u32) -> Result<usize, usize> {
        let entry = slot as usize & self.places.len().wrapping_sub(1);
        let place = self.places.get(entry).map_or(0, |place| *place as usize);
        if walkers.get(place).is_some_and(|walker| walker.body.index() == slot) {
            return Ok(place);
        }
        walkers.binary_search_by_key(&slot, |walker| walker.body.index())
    }
}
