//! The contacts of a step in batches of eight lanes, and where each comes from.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::body::slot::Slot;
use crate::body::working_index::WorkingIndex;
use crate::math::boxes::LANES;
use crate::math::plain::plain_data;
use crate::solve::contact_place::{BatchIndex, ByBatch, ContactPlace, WindowPlace};
use crate::solve::solver::{Batch, Contact};

/// A contact of the last frame, by its number in the contact cache, or none. During a step those that have woken up follow the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Cached(pub(crate) u32);

plain_data!(Cached: 0);

impl Cached {
    /// No contact of the last frame.
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline(always)]
    pub(crate) fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// Where the contact is in the arrays of the cache.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }

    /// The one `contacts` behind this one.
    #[inline(always)]
    pub(crate) fn behind(self, contacts: u32) -> Self {
        Self(self.0 + contacts)
    }
}

/// What the contact cache needs to know about a lane later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The body that owns the contact.
    pub(crate) owner: WorkingIndex,
    /// Slot of the other body.
    pub(crate) other: Slot,
    /// The contact that it continues.
    pub(crate) cached: Cached,
    /// Distance between the surfaces, raw units; negative if they overlap, 0 if they meet within the frame.
    pub(crate) gap: i32,
}

impl Origin {
    /// Whether the surfaces touched before the step, or have not parted yet.
    #[inline(always)]
    pub(crate) fn is_touching(&self) -> bool {
        self.gap <= select_unpredictable(self.cached != Cached::NONE, PARTING_GAP, 0)
    }
}

/// The origins of a batch, field by field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Origins {
    pub(crate) owner: [WorkingIndex; LANES],
    pub(crate) other: [Slot; LANES],
    pub(crate) cached: [Cached; LANES],
    pub(crate) gap: [i32; LANES],
}

impl ByBatch for Origins {}

impl Origins {
    /// No contacts: none of them touches.
    const NONE: Self = Self {
        owner: [WorkingIndex(0); LANES],
        other: [Slot::NONE; LANES],
        cached: [Cached::NONE; LANES],
        gap: [i32::MAX; LANES],
    };

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Origin {
        let Self { owner, other, cached, gap } = self;
        Origin { owner: owner[lane], other: other[lane], cached: cached[lane], gap: gap[lane] }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, origin: Origin) {
        (self.owner[lane], self.other[lane]) = (origin.owner, origin.other);
        (self.cached[lane], self.gap[lane]) = (origin.cached, origin.gap);
    }
}

/// A contact ends only when the surfaces are further apart than this, so that contacts of bodies that move together do not flicker: 1/64
/// unit, raw.
pub(crate) const PARTING_GAP: i32 = 1 << 10;

/// The batches of one window while they are filled.
#[derive(Debug)]
pub(crate) struct WindowBatches<'a> {
    pub(crate) first: BatchIndex,
    pub(crate) batches: &'a mut [Batch],
    pub(crate) origins: &'a mut [Origins],
    pub(crate) dummy: WorkingIndex,
}

impl<'a> WindowBatches<'a> {
    /// Writes a contact into its place; does nothing if it has none.
    #[inline(always)]
    pub(crate) fn fill(&mut self, place: WindowPlace, contact: &Contact, origin: Origin) {
        let (batch, lane) = place.batch_and_lane();
        if let (Some(batch), Some(origins)) = (self.batches.get_mut(batch), self.origins.get_mut(batch)) {
            batch.set(lane, contact);
            origins.set(lane, origin);
        }
    }

    /// A place among those of the step.
    #[inline(always)]
    pub(crate) fn place(&self, place: WindowPlace) -> ContactPlace {
        let (batch, lane) = place.batch_and_lane();
        ContactPlace::new(self.first.behind(batch as u32), lane)
    }

    /// The first `count` batches, and the others.
    pub(crate) fn split_at(self, count: u32) -> (WindowBatches<'a>, WindowBatches<'a>) {
        let (batches, later_batches) = self.batches.split_at_mut(count as usize);
        let (origins, later_origins) = self.origins.split_at_mut(count as usize);
        let (first, dummy) = (self.first, self.dummy);
        let later = WindowBatches {
            first: first.behind(count),
            batches: later_batches,
            origins: later_origins,
            dummy,
        };
        (WindowBatches { first, batches, origins, dummy }, later)
    }

    /// `count` batches behind the first `skipped` ones.
    pub(crate) fn part(&mut self, skipped: u32, count: u32) -> WindowBatches<'_> {
        let range = skipped as usize..(skipped + count) as usize;
        let (batches, origins) = (&mut self.batches[range.clone()], &mut self.origins[range]);
        WindowBatches { first: self.first.behind(skipped), batches, origins, dummy: self.dummy }
    }

    /// Empties the unused lanes.
    pub(crate) fn empty(&mut self, ends: &[WindowPlace]) {
        for &end in ends {
            let (batch, lane) = end.batch_and_lane();
            self.batches[batch].clear_from(lane, self.dummy);
            let none = Origins::NONE.get(0);
            (lane..LANES).for_each(|lane| self.origins[batch].set(lane, none));
        }
    }
}

/// The batches of one step, window by window: first every contact of a window gets its place, then the places are filled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    /// The first `len` are those of this step. The others keep what they held: a batch is written once, lane by lane.
    batches: Vec<Batch>,
    origins: Vec<Origins>,
    // not state: how many of the elements above count
    len: usize,
    // not state: the first one with bodies at rest
    at_rest: BatchIndex,
    dummy: WorkingIndex,
}

impl Batches {
    /// Forgets all contacts. `dummy` is the body that never moves.
    pub(crate) fn begin(&mut self, dummy: WorkingIndex) {
        (self.len, self.at_rest) = (0, BatchIndex::default());
        self.dummy = dummy;
    }

    /// Adds batches, with anything in them.
    pub(crate) fn add(&mut self, count: u32) -> WindowBatches<'_> {
        let first = self.end();
        self.extend_to(first.behind(count));
        self.window(first)
    }

    /// The batch behind all others, which is added next.
    pub(crate) fn end(&self) -> BatchIndex {
        BatchIndex::new(self.len)
    }

    /// Takes the batches before `end` into this step.
    pub(crate) fn extend_to(&mut self, end: BatchIndex) {
        self.len = self.len.max(end.at());
        while self.batches.len() < self.len {
            self.batches.push(Batch::empty(self.dummy));
            self.origins.push(Origins::NONE);
        }
    }

    /// The batches from `first` on.
    pub(crate) fn window(&mut self, first: BatchIndex) -> WindowBatches<'_> {
        WindowBatches {
            first,
            batches: &mut self.batches[first.at()..self.len],
            origins: &mut self.origins[first.at()..self.len],
            dummy: self.dummy,
        }
    }

    /// The body that never moves. Moving bodies come before it, bodies at rest behind it.
    pub(crate) fn dummy(&self) -> WorkingIndex {
        self.dummy
    }

    pub(crate) fn origin(&self, place: ContactPlace) -> Origin {
        let (origins, lane) = place.of(&self.origins);
        origins.get(lane)
    }

    /// Notes that the surfaces of a contact met within the frame.
    pub(crate) fn note_meeting(&mut self, place: ContactPlace) {
        let (origins, lane) = place.of_mut(&mut self.origins);
        let gap = &mut origins.gap[lane];
        *gap = (*gap).min(0);
    }

    /// The origins of the contacts, parallel to the batches.
    pub(crate) fn origins(&self) -> &[Origins] {
        &self.origins[..self.len]
    }

    /// Contacts so far are between moving bodies, the others are with bodies at rest.
    pub(crate) fn end_movers(&mut self) {
        self.at_rest = self.end();
    }

    /// The first batch with bodies at rest; those between moving bodies come before it.
    pub(crate) fn at_rest(&self) -> BatchIndex {
        self.at_rest
    }

    /// The batches in the order of solving.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [Batch] {
        &mut self.batches[..self.len]
    }

    /// The same, to read.
    pub(crate) fn as_slice(&self) -> &[Batch] {
        &self.batches[..self.len]
    }

    /// Calls `with` for each contact (batch and lane) with its origin, in the order of solving. The lanes of a batch fill from the first
    /// on, so the first empty one ends it.
    #[inline(always)]
    pub(crate) fn for_each(&self, with: impl FnMut(&Batch, usize, &Origin)) {
        self.for_each_from(BatchIndex::default(), with);
    }

    /// [`Self::for_each`] from the batch `first` on.
    #[inline(always)]
    pub(crate) fn for_each_from(&self, first: BatchIndex, mut with: impl FnMut(&Batch, usize, &Origin)) {
        for (_, batch, origins) in self.from(first) {
            for lane in 0..LANES {
                if batch.a[lane] == self.dummy {
                    break;
                }
                with(batch, lane, &origins.get(lane));
            }
        }
    }

    /// The batches from `first` on, with their origins.
    #[inline(always)]
    pub(crate) fn from(&self, first: BatchIndex) -> impl Iterator<Item = (BatchIndex, &Batch, &Origins)> {
        let batches = self.as_slice()[first.at()..].iter().zip(&self.origins[first.at()..]);
        first.onward().zip(batches).map(|(at, (batch, origins))| (at, batch, origins))
    }

    /// The batches with their origins, in the order of solving; unused lanes have no impulse and do not touch.
    #[inline(always)]
    pub(crate) fn with_origins_mut(&mut self) -> impl Iterator<Item = (&Batch, &mut Origins)> {
        self.batches[..self.len].iter().zip(&mut self.origins)
    }

    /// The same, to read.
    #[inline(always)]
    pub(crate) fn with_origins(&self) -> impl Iterator<Item = (&Batch, &Origins)> {
        self.batches[..self.len].iter().zip(&self.origins)
    }
}
