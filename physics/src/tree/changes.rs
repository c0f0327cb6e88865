//! Single bodies that come, go and move in a tree that is not sorted again.

use alloc::vec::Vec;

use crate::body::slot::Slot;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::math::lanes::base;
use crate::tree::curve_box::CurveBox;
use crate::tree::quadtree::Quadtree;

impl Quadtree {
    /// Puts a body into the lane behind all others, wherever it lies. Such a tree has no leaves, and [`Self::empty`] ends it.
    pub(crate) fn append(&mut self, lane: CurveBox, slot: Slot, b: &RawBox) {
        if lane.at() == self.slot_of_lane.len() {
            self.slot_of_lane.extend([Slot::NONE; LANES]);
            self.add_block();
        }
        self.slot_of_lane[lane.at()] = slot;
        self.replace_box(lane, b);
    }

    /// Adds an empty block of bodies, and what is missing above it.
    fn add_block(&mut self) {
        let mut blocks = self.slot_of_lane.len() / LANES;
        for height in 0.. {
            if self.levels.len() == height {
                self.levels.push(Vec::new());
            }
            let (below, level) = self.levels.split_at_mut(height);
            if let (Some(below), true) = (below.last(), level[0].is_empty()) {
                level[0].push(BoxBlock::EMPTY);
                level[0][0].set(0, &below[0].bounds(base()));
            }
            level[0].resize(blocks, BoxBlock::EMPTY);
            if blocks == 1 {
                break;
            }
            blocks = blocks.div_ceil(LANES);
        }
    }

    /// Forgets all bodies that were [appended](Self::append), and keeps the memory.
    pub(crate) fn empty(&mut self) {
        self.slot_of_lane.clear();
        self.levels.iter_mut().for_each(Vec::clear);
    }

    /// Replaces the box in one lane and widens the bounds above it (they are tight again after [`Self::rebuild_bounds`]).
    pub(crate) fn replace_box(&mut self, lane: CurveBox, b: &RawBox) {
        let mut at = lane;
        for (height, level) in self.levels.iter_mut().enumerate() {
            let (block, lane) = at.block_and_lane();
            let Some(block) = level.get_mut(block) else { return };
            let widened = if height == 0 { *b } else { block.get(lane).union(b) };
            block.set(lane, &widened);
            at = at.parent();
        }
    }

    /// Empties a lane, so that no search finds its body any more. The bounds above stay as they are.
    pub(crate) fn vacate(&mut self, lane: CurveBox) {
        self.slot_of_lane[lane.at()] = Slot::NONE;
        let (block, lane) = lane.block_and_lane();
        self.levels[0][block].set(lane, &RawBox::EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::quadtree::tests::points;
    use alloc::vec;

    #[test]
    fn appended_bodies_are_found_as_by_brute_force() {
        let points = points(700, 1 << 24);
        let mut t = Quadtree::default();
        for round in 0..3 {
            let mut boxes = vec![];
            for (slot, &p) in points[..700 >> round].iter().enumerate() {
                boxes.push(RawBox { min: p, max: [p[0] + 9, p[1] + 9] });
                t.append(CurveBox::new(slot), Slot::new(slot), &boxes[slot]);
                let moved = slot / 2;
                if slot % 5 == 0 && boxes[moved] != RawBox::EMPTY {
                    boxes[moved] = boxes[slot].grown(100);
                    t.replace_box(CurveBox::new(moved), &boxes[moved]);
                }
                if slot % 7 == 0 {
                    boxes[slot] = RawBox::EMPTY;
                    t.vacate(CurveBox::new(slot));
                }
                if slot % 31 != 0 {
                    continue;
                }
                let area = RawBox { min: p, max: p }.grown(slot as i32 * 5_000);
                let mut found = vec![];
                t.visit(base(), &area, |slot| found.push(slot));
                let mut expected = Slot::all(slot + 1).filter(|s| boxes[s.at()].overlaps(&area));
                assert!(expected.by_ref().eq(found.iter().copied()), "round {round}, {slot} bodies");
            }
            t.empty();
        }
    }
}
