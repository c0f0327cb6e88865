//! What the cache keeps of contacts: of moving bodies by owner, of resting ones one by one.

use alloc::vec::Vec;
use core::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::u32x8;

use crate::body::slot::{BySlot, Slot};
use crate::body::working_index::ByWorkingIndex;
use crate::math::boxes::LANES;
use crate::math::copy::clone_in_place;
use crate::math::plain::plain_data;
use crate::solve::batches::Cached;

/// The cached contacts of all owners, field by field, so that a look-up compares eight slots at once.
#[derive(Debug, Default)]
pub(crate) struct CachedContacts {
    /// Slots of the other bodies.
    pub(crate) others: Vec<Slot>,
    /// Impulses of the last frame, raw units per second of closing speed; not negative.
    pub(crate) impulses: Vec<i32>,
    /// Friction impulses, likewise; empty if no body has friction.
    pub(crate) slides: Vec<i32>,
}

clone_in_place!(CachedContacts: others, impulses, slides);

impl CachedContacts {
    pub(crate) fn len(&self) -> usize {
        self.impulses.len()
    }

    /// Others and impulses, equally many.
    #[inline(always)]
    pub(super) fn near(&self) -> (&[Slot], &[i32]) {
        let len = self.others.len().min(self.impulses.len());
        (&self.others[..len], &self.impulses[..len])
    }

    pub(super) fn resize(&mut self, len: usize) {
        self.others.clear();
        self.others.resize(len, Slot::NONE);
        self.impulses.clear();
        self.impulses.resize(len, 0);
        self.slides.clear();
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.others.truncate(len);
        self.impulses.truncate(len);
        self.slides.truncate(len);
    }
}

/// A body that owns the next `count` contacts of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Owner {
    pub(crate) slot: Slot,
    pub(crate) count: u32,
}

plain_data!(Owner: slot, count);

/// Where the contacts of one owner are: from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Owned {
    pub(crate) start: Cached,
    pub(crate) end: Cached,
}

plain_data!(Owned: start, end);

impl ByWorkingIndex for Owned {}
impl BySlot for Owned {}

impl Owned {
    /// `count` contacts from `start` on.
    pub(super) fn new(start: Cached, count: u32) -> Self {
        Self { start, end: start.behind(count) }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start.at()..self.end.at()
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.end.0 - self.start.0
    }
}

/// A contact between bodies that do not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RestingContact {
    pub(crate) owner: Slot,
    pub(crate) other: Slot,
    pub(crate) impulse: i32,
    /// Friction impulse.
    pub(crate) slide: i32,
}

/// Merges a sorted list into another one, from the end: what stands between two newcomers moves as a block. `newcomers` is empty afterwards.
pub(super) fn merge_into(sorted: &mut Vec<RestingContact>, newcomers: &mut Vec<RestingContact>) {
    let mut left = sorted.len();
    sorted.extend_from_slice(newcomers);
    while let Some(newcomer) = newcomers.pop() {
        let place = sorted[..left].partition_point(|contact| *contact <= newcomer);
        let shift = newcomers.len() + 1;
        sorted.copy_within(place..left, place + shift);
        sorted[place + shift - 1] = newcomer;
        left = place;
    }
}

/// What a look-up gives.
#[derive(Clone, Copy)]
pub(super) struct Looked {
    /// The contact; if it is missing, any one of its owner.
    pub(super) contact: Cached,
    /// 0, or all ones if the contact is not there.
    pub(super) missing: u32,
}

/// Looks for a contact among the first eight of one owner. About every other pair is new, which no branch predicts, so there is none.
#[inline(always)]
pub(super) fn look_up<S: Simd>(simd: S, (others, _): (&[Slot], &[i32]), owned: Owned, other: Slot) -> Looked {
    let (start, first) = (owned.start, owned.start.at());
    let near = others.get(first..first + LANES).and_then(<[Slot]>::as_array::<LANES>);
    let Some(near) = near else { return Looked { contact: start, missing: u32::MAX } };
    let equal = u32x8::load_array_ref(simd, bytemuck::cast_ref(near)).simd_eq(other.0).to_bitmask() as u32;
    let equal = equal & ((1 << owned.count().min(LANES as u32)) - 1);
    let lane = equal.trailing_zeros() & (LANES as u32 - 1);
    Looked { contact: start.behind(lane), missing: u32::from(equal != 0).wrapping_sub(1) }
}
