//! What gravity and forces add to velocities in a step.

use alloc::vec::Vec;

use crate::body::slot::Slot;

/// The gains by slot; slots beyond the end got nothing. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gains {
    by_slot: Vec<[i32; 2]>,
}

impl Gains {
    pub(crate) fn clear(&mut self) {
        self.by_slot.clear();
    }

    /// Notes what was added to the velocity of a body: once per step, because forces act once, before it or when the body wakes in it.
    pub(crate) fn note(&mut self, slot: Slot, gain: [i32; 2]) {
        let slot = slot.at();
        if gain != [0; 2] {
            self.by_slot.resize(self.by_slot.len().max(slot + 1), [0; 2]);
            debug_assert_eq!(self.by_slot[slot], [0; 2], "a second gain in one step");
            self.by_slot[slot] = gain;
        }
    }

    /// All gains, or none if no body got anything.
    pub(crate) fn by_slot(&self) -> &[[i32; 2]] {
        &self.by_slot
    }
}
