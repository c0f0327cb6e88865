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

/// No place: neither body can be moved.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Batch and lane of a place.
pub(crate) fn batch_and_lane(place: u32) -> (u32, u32) {
    (place / LANES as u32, place % LANES as u32)
}

/// The batches of one step, filled window by window: first every contact gets its place, then the places are filled.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    /// The first `len` are those of this step. The others keep what they held: a batch is written once, lane by lane.
    batches: Vec<Batch>,
    origins: Vec<[Origin; LANES]>,
    // not state: how many of the elements above count
    len: usize,
    /// Batch and lane of the contacts that overlap deeply.
    deep: Vec<(u32, u32)>,
    /// The colours that each working body has used in this window, one bit each; none outside of a window.
    used: Vec<u64>,
    /// The next place of each colour; a multiple of eight when it needs a batch.
    open: [u32; COLORS],
    dummy: u32,
    /// Places of a window's contacts. Scratch.
    pub(crate) places: Vec<u32>,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            batches: Vec::new(),
            origins: Vec::new(),
            len: 0,
            deep: Vec::new(),
            used: Vec::new(),
            open: [0; COLORS],
            dummy: 0,
            places: Vec::new(),
        }
    }
}

impl Batches {
    /// Forgets all contacts. `bodies` working bodies take part; `dummy` is the index of the body that never moves.
    pub(crate) fn begin(&mut self, bodies: usize, dummy: u32) {
        self.len = 0;
        self.deep.clear();
        self.used.resize(bodies, 0);
        assert!((dummy as usize) < bodies);
        self.dummy = dummy;
    }

    /// Starts all colours anew and empties the lanes that they have left. `pairs` are those of the contacts since the last window.
    pub(crate) fn end_window(&mut self, pairs: &[IndexPair]) {
        for body in pairs.as_flattened() {
            self.used[*body as usize] = 0;
        }
        for place in core::mem::replace(&mut self.open, [0; COLORS]) {
            let (batch, lane) = batch_and_lane(place);
            if lane != 0 {
                self.batches[batch as usize].clear_from(lane as usize, self.dummy);
                self.origins[batch as usize][lane as usize..].fill(Origin::default());
            }
        }
    }

    /// The place of a contact of `a` and `b` in a batch of its colour; `movable` tells which of them the solver can move.
    /// A body that has used up all colours of the window gets batches of a single contact.
    #[inline(always)]
    pub(crate) fn take_place(&mut self, [a, b]: IndexPair, movable: [bool; 2]) -> u32 {
        if movable == [false; 2] {
            return NOWHERE;
        }
        // Nothing is used by a body that cannot be moved: any number of its contacts may share a batch.
        let used = [a, b].map(|body| self.used[body as usize]);
        let color = (!(used[0] | used[1])).trailing_zeros();
        if color == u64::BITS {
            return self.take_batch();
        }
        self.used[a as usize] = used[0] | u64::from(movable[0]) << color;
        self.used[b as usize] = used[1] | u64::from(movable[1]) << color;
        let next = self.open[color as usize];
        let place = if next.is_multiple_of(LANES as u32) { self.new_batch() } else { next };
        self.open[color as usize] = place + 1;
        place
    }

    /// A batch for one contact.
    #[cold]
    fn take_batch(&mut self) -> u32 {
        let place = self.new_batch();
        let at = place as usize / LANES;
        self.batches[at].clear_from(0, self.dummy);
        self.origins[at] = [Origin::default(); LANES];
        place
    }

    /// The first place of a new batch.
    fn new_batch(&mut self) -> u32 {
        if self.len == self.batches.len() {
            self.batches.push(Batch::empty(self.dummy));
            self.origins.push([Origin::default(); LANES]);
        }
        self.len += 1;
        (self.len - 1) as u32 * LANES as u32
    }

    /// Writes a contact into its place.
    #[inline(always)]
    pub(crate) fn fill(&mut self, place: u32, contact: &Contact, origin: Origin) {
        let (batch, lane) = (place as usize / LANES, place as usize % LANES);
        self.batches[batch].set(lane, contact);
        self.origins[batch][lane] = origin;
        if origin.gap < -OVERLAP_DEEP && contact.biased != NO_LIMIT {
            self.deep.push(batch_and_lane(place));
        }
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
        &self.origins[..self.len]
    }

    /// The batches in the order of solving.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [Batch] {
        &mut self.batches[..self.len]
    }

    /// The same, to read.
    pub(crate) fn as_slice(&self) -> &[Batch] {
        &self.batches[..self.len]
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
        for (batch, origins) in self.as_slice()[first..].iter().zip(&self.origins[first..]) {
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
        for (batch, origins) in self.batches[..self.len].iter().zip(&mut self.origins) {
            for (lane, origin) in origins.iter_mut().enumerate() {
                if batch.a[lane] == self.dummy {
                    break;
                }
                with(batch, lane, origin);
            }
        }
    }
}
