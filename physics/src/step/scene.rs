//! The bodies, and what else decides which of them meet.

use crate::body::record::Body;
use crate::body::terrain::Terrain;
use crate::contact::ignored::IgnoredPairs;

/// The bodies, and what else decides which of them meet.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// By slot.
    pub(crate) bodies: &'a [Body],
    pub(crate) ignored: &'a IgnoredPairs,
    pub(crate) terrain: &'a Terrain,
}

impl Scene<'_> {
    /// Whether the bodies in two slots may touch at all.
    #[inline]
    pub(crate) fn interact(&self, a: u32, b: u32) -> bool {
        let [body_a, body_b] = [a, b].map(|slot| &self.bodies[slot as usize]);
        body_a.interacts_with(body_b) && !self.ignored.contains(a, b)
    }

    /// Whether there are pairs that ignore each other.
    pub(crate) fn has_ignored_pairs(&self) -> bool {
        !self.ignored.as_slice().is_empty()
    }
}
