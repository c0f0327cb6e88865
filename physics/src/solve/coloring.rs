//! Colouring: which contacts may share a batch.
//!
//! A contact takes the lowest colour that neither of its movable bodies has used yet, so contacts of one colour touch
//! different bodies and fill the lanes of one batch after another. Colours start anew with every *window* of the broad
//! phase: one window's bodies stay in the cache, and the batches never depend on how many threads made them.

use alloc::vec::Vec;

use crate::math::boxes::LANES;
use crate::solve::solver::{Batch, Contact};
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
    /// Whether the surfaces touch: before the step, or have not parted yet; once it is solved, at its end or on the way, too.
    pub(crate) touching: bool,
}

impl Origin {
    /// No contact of the last frame.
    pub(crate) const NEW: u32 = u32::MAX;
}

/// The batches of one step, filled window by window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    batches: Vec<Batch>,
    origins: Vec<[Origin; LANES]>,
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
    pub(crate) fn for_each(&self, mut with: impl FnMut(&Batch, usize, &Origin)) {
        for (batch, origins) in self.batches.iter().zip(&self.origins) {
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
