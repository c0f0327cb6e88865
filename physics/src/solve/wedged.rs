//! Bodies that two walls leave no room, with gravity.
//!
//! The springs of their two contacts contradict each other. They agree on a speed in the passes, the walls take it back after the last one, and what lies
//! on the body was solved against that speed: it hovered, and fell, and hovered, for ever. So these contacts count as if the walls were as far apart as the
//! body is wide. Then the springs move it to the middle, where it has no speed in any pass.

use alloc::vec::Vec;

use crate::body::working_index::WorkingIndex;
use crate::math::boxes::LANES;
use crate::math::lanes::UNIT_BITS;
use crate::solve::batches::{Batches, PARTING_GAP};
use crate::solve::contact_place::ContactPlace;
use crate::solve::run::Run;
use crate::solve::solver::NO_LIMIT;

/// The contacts of wedged bodies with their walls. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wedged {
    /// Bodies at walls with their contacts. Ascending.
    at_walls: Vec<(WorkingIndex, ContactPlace)>,
    /// The contacts of wedged bodies, ascending, and the gaps that they count as.
    pub(crate) gaps: Vec<(ContactPlace, i32)>,
}

impl Wedged {
    /// Forgets the contacts of the last step.
    pub(crate) fn begin(&mut self) {
        self.gaps.clear();
    }

    /// The gap that a contact counts as.
    pub(crate) fn gap(&self, place: ContactPlace, gap: i32) -> i32 {
        self.gaps.binary_search_by_key(&place, |&(place, _)| place).map_or(gap, |at| self.gaps[at].1)
    }

    /// Finds them.
    pub(crate) fn find(&mut self, run: &Run<'_>) {
        self.list_walls(run);
        let Self { at_walls, gaps } = self;
        let batches = &run.contacts.batches;
        for same in at_walls.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            for &(body, place) in same {
                let gap = batches.origin(place).gap;
                let missing = |&(_, other): &(WorkingIndex, ContactPlace)| {
                    let both = i64::from(gap) + i64::from(batches.origin(other).gap);
                    // What pushes the body off one wall pushes it into the other one by this part.
                    (both.min(0) * facing(batches, body, place, other).max(0)) >> UNIT_BITS
                };
                let missing = same.iter().map(missing).min().unwrap_or(0);
                if missing < 0 {
                    gaps.push((place, gap.saturating_sub((missing / 2) as i32)));
                }
            }
        }
        gaps.sort_unstable();
    }

    /// Lists the contacts with walls that touch.
    fn list_walls(&mut self, run: &Run<'_>) {
        self.at_walls.clear();
        let batches = &run.contacts.batches;
        for (at, batch, origins) in batches.from(batches.at_rest()) {
            let touches = |&lane: &usize| origins.gap[lane] <= PARTING_GAP && batch.biased[lane] != NO_LIMIT;
            for lane in (0..LANES).filter(touches) {
                let (a, b) = (batch.a[lane], batch.b[lane]);
                if run.is_wall(a) || run.is_wall(b) {
                    self.at_walls.push((if run.is_wall(a) { b } else { a }, ContactPlace::new(at, lane)));
                }
            }
        }
        self.at_walls.sort_unstable();
    }
}

/// How much two walls push a body in opposite directions: the cosine of the angle to the opposite one, 30 fraction bits.
pub(crate) fn facing(batches: &Batches, body: WorkingIndex, place: ContactPlace, other: ContactPlace) -> i64 {
    let normal = |place: ContactPlace| {
        let (batch, lane) = place.of(batches.as_slice());
        let sign = if batch.a[lane] == body { -1 } else { 1 };
        batch.normal[lane].map(|n| sign * i64::from(n))
    };
    let (n, m) = (normal(place), normal(other));
    -((n[0] * m[0] + n[1] * m[1]) >> UNIT_BITS)
}
