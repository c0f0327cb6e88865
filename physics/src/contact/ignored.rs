//! Pairs of bodies that do not collide, whatever their filters say.

use alloc::vec::Vec;

use crate::body::slot::{Slot, SlotPair};

/// Most pairs of bodies that a world can be told to ignore, see [`World::set_pair_ignored`](crate::World::set_pair_ignored).
pub const IGNORED_PAIRS_MAX: u32 = 65_536;

/// The pairs, sorted. State.
#[derive(Debug, Default)]
pub(crate) struct IgnoredPairs(Vec<SlotPair>);

impl Clone for IgnoredPairs {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl IgnoredPairs {
    /// Pairs read from a snapshot; [`Self::is_sorted`] tells whether they are valid.
    pub(crate) fn from_pairs(pairs: Vec<SlotPair>) -> Self {
        Self(pairs)
    }

    /// Whether the two bodies ignore each other.
    #[inline]
    pub(crate) fn contains(&self, a: Slot, b: Slot) -> bool {
        !self.0.is_empty() && self.0.binary_search(&SlotPair::of(a, b)).is_ok()
    }

    /// Adds or removes a pair. Returns whether that changed anything.
    pub(crate) fn set(&mut self, a: Slot, b: Slot, ignored: bool) -> bool {
        let pair = SlotPair::of(a, b);
        match (self.0.binary_search(&pair), ignored) {
            (Err(at), true) => self.0.insert(at, pair),
            (Ok(at), false) => {
                self.0.remove(at);
            }
            _ => return false,
        }
        true
    }

    /// Forgets all pairs of a body.
    pub(crate) fn forget(&mut self, slot: Slot) {
        self.0.retain(|&SlotPair(a, b)| a != slot && b != slot);
    }

    pub(crate) fn as_slice(&self) -> &[SlotPair] {
        &self.0
    }

    /// Whether the pairs are in order, each once and of two bodies.
    pub(crate) fn is_sorted(&self) -> bool {
        self.0.is_sorted_by(|a, b| a < b) && self.0.iter().all(|SlotPair(a, b)| a < b)
    }
}
