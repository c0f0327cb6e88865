//! Overlaps of sensors with other bodies, from frame to frame.
//!
//! A pair with a moving body is looked at in every step. A pair of bodies at rest is looked at only after something changed: a call changed one
//! of them, or it has just come to rest. Otherwise its overlap persists.

use alloc::vec::Vec;

use crate::body::slot::{Slot, SlotPair};
use crate::math::copy::clone_in_place;

/// The overlaps of the last step, and the changes. `overlaps` is state.
#[derive(Debug, Default)]
pub(crate) struct SensorOverlaps {
    /// Sorted, each pair once.
    pub(crate) overlaps: Vec<SlotPair>,
    found: Vec<SlotPair>,
    merged: Vec<SlotPair>,
    pub(crate) began: Vec<SlotPair>,
    pub(crate) ended: Vec<SlotPair>,
    /// Bodies whose pairs with bodies at rest are looked at in the next step; sorted and each once during a step.
    touched: Vec<Slot>,
    /// Whether these are unknown, after a restore: then every body is one of them.
    unsure: bool,
}

clone_in_place!(SensorOverlaps: overlaps, began, ended, touched, unsure; not found, merged);

impl SensorOverlaps {
    /// Notes that a call changed a body, or that it came to rest.
    pub(crate) fn touch(&mut self, slot: Slot) {
        self.touched.push(slot);
    }

    /// Notes that nothing is known of the bodies.
    pub(crate) fn touch_all(&mut self) {
        self.unsure = true;
    }

    /// Starts a step.
    pub(crate) fn begin_step(&mut self) {
        self.found.clear();
        self.touched.sort_unstable();
        self.touched.dedup();
    }

    /// The bodies whose pairs with bodies at rest are looked at in this step; `None` for all bodies.
    pub(crate) fn touched(&self) -> Option<&[Slot]> {
        (!self.unsure).then_some(&self.touched)
    }

    /// Notes an overlap of this step.
    pub(crate) fn push(&mut self, a: Slot, b: Slot) {
        self.found.push(SlotPair::of(a, b));
    }

    /// Compares with the last step. `rests` says that a body has not moved in this step and is still the one that it was.
    pub(crate) fn end_step(&mut self, rests: impl Fn(Slot) -> bool, reborn: impl Fn(SlotPair) -> bool) {
        self.began.clear();
        self.ended.clear();
        if !(self.overlaps.is_empty() && self.found.is_empty()) {
            SlotPair::sort(&mut self.found);
            self.found.dedup();
            self.merge(rests, reborn);
        }
        self.touched.clear();
        self.unsure = false;
    }

    /// Goes through the old and the new overlaps in the order of their slots.
    fn merge(&mut self, rests: impl Fn(Slot) -> bool, reborn: impl Fn(SlotPair) -> bool) {
        let Self { overlaps, found, merged, began, ended, touched, unsure } = self;
        let persists =
            |SlotPair(a, b)| rests(a) && rests(b) && !is_touched(touched, a) && !is_touched(touched, b);
        merged.clear();
        let (mut old, mut new) = (overlaps.as_slice(), found.as_slice());
        while let Some(&pair) = [old.first(), new.first()].into_iter().flatten().min() {
            let (known, found) = (take(&mut old, pair), take(&mut new, pair));
            let now = found || (known && !*unsure && persists(pair));
            // A pair with a new body in an old slot is another pair: the old one ends, and the new one begins.
            let same = known && now && !reborn(pair);
            if known && !same {
                ended.push(pair);
            }
            if now && !same {
                began.push(pair);
            }
            if now {
                merged.push(pair);
            }
        }
        core::mem::swap(overlaps, merged);
    }
}

/// Whether a body is in a sorted list.
fn is_touched(touched: &[Slot], slot: Slot) -> bool {
    !touched.is_empty() && touched.binary_search(&slot).is_ok()
}

/// Takes a pair from the front of a list if it is there.
fn take(list: &mut &[SlotPair], pair: SlotPair) -> bool {
    let is_first = list.first() == Some(&pair);
    if is_first {
        *list = &list[1..];
    }
    is_first
}
