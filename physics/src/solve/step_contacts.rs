//! The contacts of a step.

use alloc::vec::Vec;

use crate::body::working_index::WorkingIndex;
use crate::math::boxes::LANES;
use crate::solve::batches::Batches;
use crate::solve::contact_place::{BatchIndex, ContactPlace};
use crate::solve::friction::FrictionContact;
use crate::solve::notes::Notes;
use crate::solve::solver::{Batch, NO_LIMIT};
use crate::solve::stiff::StiffContacts;

/// The contacts in batches, and what some of them need besides. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepContacts {
    pub(crate) batches: Batches,
    pub(crate) notes: Notes,
    pub(crate) frictions: Vec<FrictionContact>,
    pub(crate) stiff: StiffContacts,
}

impl StepContacts {
    /// Forgets all contacts. `dummy` is the body that never moves.
    pub(crate) fn begin(&mut self, dummy: WorkingIndex, soft: bool) {
        self.batches.begin(dummy);
        self.notes.clear();
        self.frictions.clear();
        self.stiff.begin(soft);
    }

    /// Appends the contacts that are solved and for which `counts` holds.
    pub(crate) fn list(&self, to: &mut Vec<ContactPlace>, mut counts: impl FnMut(&Batch, usize) -> bool) {
        for (at, batch, _) in self.batches.from(BatchIndex::default()) {
            for lane in (0..LANES).filter(|&lane| batch.biased[lane] != NO_LIMIT) {
                if counts(batch, lane) {
                    to.push(ContactPlace::new(at, lane));
                }
            }
        }
    }
}
