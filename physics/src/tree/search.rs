//! Searches a tree, nearest boxes first, and skips boxes that cannot contain a result.
//!
//! The kernel of the queries. It lies below `simd`, which instantiates it for wider registers.

use crate::math::boxes::{BoxBlock, LANES, NO_SLOT, RawBox};
use crate::tree::quadtree::{LEVELS_MAX, Quadtree};

/// A search.
pub(crate) trait Search {
    /// A lower bound of the measure (for example a distance) of the bodies in each of eight boxes; `u32::MAX` if none of them is of
    /// interest. Lanes without a box may have any value.
    fn least(&self, boxes: &BoxBlock) -> [u32; LANES];

    /// The greatest measure of interest; it may shrink during the search. Below `u32::MAX - 7`.
    fn reach(&self) -> u32;

    /// Visits a body whose box passed.
    fn visit(&mut self, slot: u32);
}

/// Low bits of a measure that are replaced by the number of its lane.
const LANE_BITS: u32 = LANES as u32 - 1;

/// The lanes of a block by their measures, up to the last bits; lanes that were taken are `u32::MAX`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes([u32; LANES]);

impl Lanes {
    const NONE: Self = Self([u32::MAX; LANES]);

    #[inline(always)]
    pub(crate) fn new(mut measures: [u32; LANES]) -> Self {
        for (lane, measure) in measures.iter_mut().enumerate() {
            *measure = *measure & !LANE_BITS | lane as u32;
        }
        Self(measures)
    }

    /// Takes the lane with the least measure, if that is within reach.
    #[inline(always)]
    pub(crate) fn take_least(&mut self, reach: u32) -> Option<usize> {
        let least = self.0.iter().copied().fold(u32::MAX, u32::min);
        if least & !LANE_BITS > reach {
            return None;
        }
        let lane = (least & LANE_BITS) as usize;
        self.0[lane] = u32::MAX;
        Some(lane)
    }
}

impl Quadtree {
    /// Visits the bodies whose boxes pass, roughly in ascending order of their measures.
    #[inline(always)]
    pub(crate) fn search(&self, search: &mut impl Search) {
        let Some(top) = self.top() else { return };
        // From the top down to the present block: its lanes and its number, by level. A table instead of recursion, so that everything is
        // one function.
        let mut open = [(Lanes::NONE, 0); LEVELS_MAX];
        let mut level = top;
        open[top] = (self.lanes(top, 0, search), 0);
        while level <= top {
            let (lanes, block) = &mut open[level];
            let Some(lane) = lanes.take_least(search.reach()) else {
                level += 1;
                continue;
            };
            let child = *block * LANES + lane;
            if level == 0 {
                let slot = self.slot_of_lane()[child];
                if slot != NO_SLOT {
                    search.visit(slot);
                }
            } else if child < self.levels()[level - 1].len() {
                level -= 1;
                open[level] = (self.lanes(level, child, search), child);
            }
        }
    }

    #[inline(always)]
    fn lanes(&self, level: usize, block: usize, search: &impl Search) -> Lanes {
        Lanes::new(search.least(&self.levels()[level][block]))
    }
}

/// Like [`Quadtree::search`], for bodies that are in no tree.
#[inline(always)]
pub(crate) fn search_listed(listed: &mut impl Iterator<Item = (u32, RawBox)>, search: &mut impl Search) {
    loop {
        let mut slots = [NO_SLOT; LANES];
        let mut boxes = BoxBlock::EMPTY;
        for (lane, (slot, bounds)) in listed.take(LANES).enumerate() {
            slots[lane] = slot;
            boxes.set(lane, &bounds);
        }
        if slots[0] == NO_SLOT {
            return;
        }
        let mut lanes = Lanes::new(search.least(&boxes));
        while let Some(lane) = lanes.take_least(search.reach()) {
            if slots[lane] != NO_SLOT {
                search.visit(slots[lane]);
            }
        }
    }
}
