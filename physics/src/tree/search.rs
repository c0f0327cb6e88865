//! Searches a tree, nearest boxes first, and skips boxes that cannot contain a result.
//!
//! The kernel of the queries. It lies below `simd`, which instantiates it for wider registers.

use fearless_simd::prelude::*;
use fearless_simd::u32x8;

use crate::body::slot::Slot;
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::lanes::each_lane;
use crate::tree::quadtree::{LEVELS_MAX, Quadtree};

/// A search.
pub(crate) trait Search {
    /// A lower bound of the measure (for example a distance) of the bodies in each of eight boxes; `u32::MAX` if none of them is of
    /// interest. Lanes without a box may have any value.
    fn least<S: Simd>(&self, simd: S, boxes: &BoxBlock) -> u32x8<S>;

    /// The greatest measure of interest; it may shrink during the search. Below `u32::MAX - 7`.
    fn reach(&self) -> u32;

    /// Visits a body whose box passed.
    fn visit(&mut self, slot: Slot);
}

/// Low bits of a measure that are replaced by the number of its lane.
const LANE_BITS: u32 = LANES as u32 - 1;

/// The lanes of a block by their measures, up to the last bits; lanes that were taken are `u32::MAX`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<S: Simd>(u32x8<S>);

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    pub(crate) fn new(simd: S, measures: u32x8<S>) -> Self {
        let lanes = u32x8::load_array(simd, [0, 1, 2, 3, 4, 5, 6, 7]);
        Self(measures & !LANE_BITS | lanes)
    }

    /// Takes the lane with the least measure, if that is within reach.
    #[inline(always)]
    pub(crate) fn take_least(&mut self, simd: S, reach: u32) -> Option<usize> {
        let least = self.0.reduce_min();
        if least & !LANE_BITS > reach {
            return None;
        }
        // No two measures are equal, since each ends in the number of its lane.
        self.0 = self.0.simd_eq(least).select(u32x8::splat(simd, u32::MAX), self.0);
        Some((least & LANE_BITS) as usize)
    }
}

impl Quadtree {
    /// Visits the bodies whose boxes pass, roughly in ascending order of their measures.
    #[inline(always)]
    pub(crate) fn search<S: Simd>(&self, simd: S, search: &mut impl Search) {
        let Some(top) = self.top() else { return };
        // From the top down to the present block: its lanes and its number, by level. A table instead of recursion, so that everything is
        // one function.
        let mut open = [(Lanes::new(simd, u32x8::splat(simd, u32::MAX)), 0); LEVELS_MAX];
        let mut level = top;
        open[top] = (self.lanes(simd, top, 0, search), 0);
        while level <= top {
            let (lanes, block) = &mut open[level];
            if level == 0 {
                self.search_bodies(simd, *lanes, *block, search);
                level += 1;
                continue;
            }
            let Some(lane) = lanes.take_least(simd, search.reach()) else {
                level += 1;
                continue;
            };
            let child = *block * LANES + lane;
            if child < self.levels()[level - 1].len() {
                level -= 1;
                open[level] = (self.lanes(simd, level, child, search), child);
            }
        }
    }

    /// Visits the bodies whose boxes pass, in the order of their lanes: for a tree without leaves, most of whose blocks pass.
    #[inline(always)]
    pub(crate) fn search_blocks<S: Simd>(&self, simd: S, search: &mut impl Search) {
        let slots = self.slot_of_lane().as_chunks::<LANES>().0;
        for (boxes, slots) in self.levels().iter().take(1).flatten().zip(slots) {
            let lanes = search.least(simd, boxes).simd_le(search.reach()).to_bitmask() as u32;
            each_lane(
                lanes,
                #[inline(always)]
                |lane| {
                    if slots[lane] != Slot::NONE {
                        search.visit(slots[lane]);
                    }
                },
            );
        }
    }

    /// Visits the bodies of one block.
    #[inline(always)]
    fn search_bodies<S: Simd>(&self, simd: S, mut lanes: Lanes<S>, block: usize, search: &mut impl Search) {
        // All at once, before it is known which: so memory answers earlier.
        let Some(slots) = self.slot_of_lane().as_chunks::<LANES>().0.get(block).copied() else { return };
        while let Some(lane) = lanes.take_least(simd, search.reach()) {
            let slot = slots[lane % LANES];
            if slot != Slot::NONE {
                search.visit(slot);
            }
        }
    }

    #[inline(always)]
    fn lanes<S: Simd>(&self, simd: S, level: usize, block: usize, search: &impl Search) -> Lanes<S> {
        Lanes::new(simd, search.least(simd, &self.levels()[level][block]))
    }
}
