//! Colouring: which contacts may share a batch.
//!
//! A contact takes the lowest colour that neither of its movable bodies has used yet, so contacts of one colour touch
//! different bodies and fill the lanes of one batch after another. Colours start anew with every *window* of the broad
//! phase: one window's bodies stay in the cache, and the batches never depend on how many threads made them.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::math::boxes::LANES;
use crate::solve::deep::OVERLAP_DEEP;
use crate::solve::solver::{Batch, Contact, NO_LIMIT};
use crate::tree::block_join::IndexPair;

/// Colours per window: one bit each.
const COLORS: usize = 64;

/// What the contact cache wants to know about a lane later on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    /// Working index of the contact's owner.
    pub(crate) owner: u32,
    /// Slot of the other body.
    pub(crate) other: u32,
    /// Index of the cached contact it continues, or [`Origin::NEW`].
    pub(crate) cached: u32,
    /// Distance between the surfaces, raw units; negative when they overlap. 0 for those that meet within the frame.
    pub(crate) gap: i32,
}

impl Origin {
    /// No contact of the last frame.
    pub(crate) const NEW: u32 = u32::MAX;

    /// Whether the surfaces touched before the step, or have not parted yet.
    #[inline(always)]
    pub(crate) fn is_touching(&self) -> bool {
        self.gap <= select_unpredictable(self.cached != Self::NEW, PARTING_GAP, 0)
    }
}

/// A contact ends only when the surfaces are further apart than this, so that bodies that move together do not flicker
/// between touching and not: 1/64 unit, raw.
pub(crate) const PARTING_GAP: i32 = 1 << 10;

/// The batches of one step, filled window by window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    batches: Vec<Batch>,
    origins: Vec<[Origin; LANES]>,
    /// Batch and lane of the contacts that overlap deeply.
    deep: Vec<(u32, u32)>,
    /// The colours that each working body has used in this window, one bit each; none outside of a window.
    used: Vec<u64>,
    /// The batch that each colour fills now and how many lanes it has.
    open: Vec<(u32, u32)>,
    dummy: u32,
}

impl Batches {
    /// Forgets all contacts. `bodies` working bodies take part; `dummy` is the index of the body that never moves.
    pub(crate) fn begin(&mut self, bodies: usize, dummy: u32) {
        self.batches.clear();
        self.origins.clear();
        self.deep.clear();
        self.used.resize(bodies, 0);
        assert!((dummy as usize) < bodies);
        self.dummy = dummy;
        self.open.clear();
        self.open.resize(COLORS, (0, LANES as u32));
    }

    /// Starts all colours anew. `pairs` are those of the contacts since the last window.
    pub(crate) fn end_window(&mut self, pairs: &[IndexPair]) {
        for body in pairs.as_flattened() {
            self.used[*body as usize] = 0;
        }
        self.open.fill((0, LANES as u32));
    }

    /// Adds a contact to the batch of its colour; `movable` tells which of its bodies the solver can move.
    /// Returns its batch and lane. A body that has used up all colours of the window gets batches of a single contact.
    #[inline(always)]
    pub(crate) fn push(&mut self, contact: &Contact, origin: Origin, movable: [bool; 2]) -> (u32, u32) {
        // Nothing is used by a body that cannot be moved: any number of its contacts may share a batch.
        let used = [contact.a, contact.b].map(|body| self.used[body as usize]);
        let color = (!(used[0] | used[1])).trailing_zeros();
        let place = if color == u64::BITS {
            (self.new_batch(), 0)
        } else {
            for (body, used, movable) in [(contact.a, used[0], movable[0]), (contact.b, used[1], movable[1])]
            {
                if movable {
                    self.used[body as usize] = used | 1 << color;
                }
            }
            self.lane_of_color(color as usize)
        };
        self.batches[place.0 as usize].set(place.1 as usize, contact);
        self.origins[place.0 as usize][place.1 as usize] = origin;
        if origin.gap < -OVERLAP_DEEP && contact.biased != NO_LIMIT {
            self.deep.push(place);
        }
        place
    }

    fn lane_of_color(&mut self, color: usize) -> (u32, u32) {
        if self.open[color].1 == LANES as u32 {
            self.open[color] = (self.new_batch(), 0);
        }
        let (batch, lanes) = &mut self.open[color];
        *lanes += 1;
        (*batch, *lanes - 1)
    }

    fn new_batch(&mut self) -> u32 {
        self.batches.push(Batch::empty(self.dummy));
        self.origins.push([Origin::default(); LANES]);
        self.batches.len() as u32 - 1
    }

    /// Where a contact comes from, by batch and lane.
    pub(crate) fn origin(&self, (batch, lane): (u32, u32)) -> &Origin {
        &self.origins[batch as usize][lane as usize]
    }

    /// Notes that the surfaces of a contact met within the frame.
    pub(crate) fn note_meeting(&mut self, (batch, lane): (u32, u32)) {
        let gap = &mut self.origins[batch as usize][lane as usize].gap;
        *gap = (*gap).min(0);
    }

    /// The contacts that overlap deeply.
    pub(crate) fn deep(&self) -> &[(u32, u32)] {
        &self.deep
    }

    /// Where the contacts come from, beside the batches.
    pub(crate) fn origins(&self) -> &[[Origin; LANES]] {
        &self.origins
    }

    /// The batches in the order of solving.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [Batch] {
        &mut self.batches
    }

    /// The same, to read.
    pub(crate) fn as_slice(&self) -> &[Batch] {
        &self.batches
    }

    /// Hands on each contact (batch and lane) with its origin, in the order of solving. The lanes of a batch fill from the
    /// first on, so the first empty one ends it.
    #[inline(always)]
    pub(crate) fn for_each(&self, with: impl FnMut(&Batch, usize, &Origin)) {
        self.for_each_from(0, with);
    }

    /// [`Self::for_each`] from the batch `first` on.
    #[inline(always)]
    pub(crate) fn for_each_from(&self, first: usize, mut with: impl FnMut(&Batch, usize, &Origin)) {
        for (batch, origins) in self.batches[first..].iter().zip(&self.origins[first..]) {
            for (lane, origin) in origins.iter().enumerate() {
                if batch.a[lane] == self.dummy {
                    break;
                }
                with(batch, lane, origin);
            }
        }
    }

    /// [`Self::for_each`], and the origins may be changed.
    #[inline(always)]
    pub(crate) fn for_each_mut(&mut self, mut with: impl FnMut(&Batch, usize, &mut Origin)) {
        for (batch, origins) in self.batches.iter().zip(&mut self.origins) {
            for (lane, origin) in origins.iter_mut().enumerate() {
                if batch.a[lane] == self.dummy {
                    break;
                }
                with(batch, lane, origin);
            }
        }
    }
}
