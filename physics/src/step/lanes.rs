//! The moving bodies in the order of the curve: their tree, and which lane of it a body has.

use alloc::vec::Vec;

use crate::body::record::Body;
use crate::body::slot::Slot;
use crate::body::working_index::WorkingIndex;
use crate::math::boxes::RawBox;
use crate::simd::Path;
use crate::tree::curve_box::CurveBox;
use crate::tree::quadtree::{Quadtree, SplitRule};

/// The tree of the moving bodies. It outlives the step: queries use it, too.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Moving bodies in curve order. After the step its boxes are those of the new positions.
    pub(crate) tree: Quadtree,
    /// Lane by slot, see [`Self::of`]; valid where the lane holds the slot.
    by_slot: Vec<WorkingIndex>,
    // not state: whether `by_slot` is that of the tree
    known: bool,
}

impl Clone for Lanes {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { tree, by_slot, known: _ } = source;
        self.tree.clone_from(tree);
        // As long as that of the source, and filled when somebody asks.
        self.by_slot.resize(by_slot.len(), WorkingIndex(0));
        self.known = false;
    }
}

impl Lanes {
    /// Sorts the moving bodies (`active`: ascending slots) along the curve.
    pub(crate) fn sort(&mut self, path: Path, active: &[Slot], split: SplitRule, bodies: &[Body]) {
        path.sort(&mut self.tree, active, split, bodies);
        self.by_slot.resize(bodies.len(), WorkingIndex(0));
        self.known = false;
    }

    /// Number of lanes, those without a body included.
    pub(crate) fn count(&self) -> usize {
        self.tree.slot_of_lane().len()
    }

    /// The lane of a body that moved in the last step. Few steps are asked for one, so the first call looks for all lanes.
    pub(crate) fn of(&mut self, slot: Slot) -> Option<WorkingIndex> {
        let slots = self.tree.slot_of_lane();
        if !self.known {
            self.known = true;
            for (lane, &slot) in (0..).zip(slots).filter(|&(_, &slot)| slot != Slot::NONE) {
                self.by_slot[slot.at()] = WorkingIndex(lane);
            }
        }
        let lane = *self.by_slot.get(slot.at())?;
        (slots.get(lane.at()) == Some(&slot)).then_some(lane)
    }

    /// Empties the lane of a body that stopped moving.
    pub(crate) fn vacate(&mut self, slot: Slot) {
        if let Some(lane) = self.of(slot) {
            self.tree.vacate(CurveBox::new(lane.at()));
        }
    }

    /// Updates the box of a moving body whose position was set.
    pub(crate) fn moved(&mut self, slot: Slot, bounds: &RawBox) {
        if let Some(lane) = self.of(slot) {
            self.tree.replace_box(CurveBox::new(lane.at()), bounds);
        }
    }

    /// Holds these bodies only, as after a step that moved them.
    pub(crate) fn fill(
        &mut self,
        active: &[Slot],
        bodies: &[Body],
        margin: i32,
        sort: impl Fn(&mut Quadtree, &[Slot]),
    ) {
        sort(&mut self.tree, active);
        self.tree.set_boxes(|_, slot| bodies[slot].bounds().grown(margin));
        self.by_slot.resize(bodies.len(), WorkingIndex(0));
        self.known = false;
    }
}
