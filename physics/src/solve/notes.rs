//! What is noted of contacts while they are set up.

use alloc::vec::Vec;

use crate::solve::bounce::Bounces;
use crate::solve::contact_place::ContactPlace;

/// Intermediate values of contacts. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// The contacts that overlap deeply.
    pub(crate) deep: Vec<ContactPlace>,
    pub(crate) bounces: Bounces,
    /// Whether a heavy body leans on a light one, see [`crate::solve::stiff`].
    // not state: of this step
    pub(crate) leans: bool,
}

impl Notes {
    pub(crate) fn clear(&mut self) {
        self.deep.clear();
        self.bounces.list.clear();
        self.leans = false;
    }

    /// Puts them into the order of their places, which is nearly theirs.
    pub(crate) fn sort(&mut self) {
        self.deep.sort_unstable();
        self.bounces.list.sort_unstable_by_key(|bounce| bounce.place);
    }

    /// Adds those of a later window.
    pub(crate) fn append(&mut self, later: &mut Self) {
        self.deep.append(&mut later.deep);
        self.bounces.list.append(&mut later.bounces.list);
        self.leans |= later.leans;
    }
}
