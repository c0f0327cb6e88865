//! Visits the bodies of a tree whose boxes overlap an area.

use alloc::vec::Vec;

use fearless_simd::prelude::*;

use crate::body::id::BodyId;
use crate::body::slot::Slot;
use crate::math::boxes::{LANES, RawBox};
use crate::tree::curve_box::CurveBox;
use crate::tree::quadtree::{LEVELS_MAX, Quadtree};

/// A search keeps up to this many blocks of one level in a list.
const SHORT_LIST: usize = 56;

impl Quadtree {
    /// Calls `found` with the slot of each body whose box overlaps `area`, in curve order.
    #[inline(always)]
    pub(crate) fn visit<S: Simd>(&self, simd: S, area: &RawBox, mut found: impl FnMut(Slot)) {
        self.visit_lanes(
            simd,
            area,
            #[inline(always)]
            |lane| found(self.slot_of_lane[lane.at()]),
        );
    }

    /// Appends the bodies whose boxes overlap `area`, in curve order, without their generations.
    #[inline(always)]
    pub(crate) fn collect<S: Simd>(&self, simd: S, area: &RawBox, out: &mut Vec<BodyId>) {
        let slots = self.slot_of_lane.as_chunks::<LANES>().0;
        self.visit_blocks_by_level(
            simd,
            area,
            #[inline(always)]
            |block, lanes| {
                // All eight are written, each over the last one if that was not found: branches predict badly which are.
                let from = out.len();
                out.extend_from_slice(&[BodyId::new(Slot::NONE, 0); LANES]);
                let Some(eight) = out[from..].first_chunk_mut::<LANES>() else { return };
                let mut count = 0;
                for (lane, &slot) in slots[block].iter().enumerate() {
                    eight[count % LANES].index = slot.0;
                    count += (lanes >> lane & 1) as usize;
                }
                out.truncate(from + count);
            },
        );
    }

    /// The same with the bodies' own boxes.
    #[inline(always)]
    pub(crate) fn visit_lanes<S: Simd>(&self, simd: S, area: &RawBox, mut found: impl FnMut(CurveBox)) {
        self.visit_blocks(
            simd,
            area,
            #[inline(always)]
            |block, mut lanes| {
                while lanes != 0 {
                    found(CurveBox::new(block).child(lanes.trailing_zeros()));
                    lanes &= lanes - 1;
                }
            },
        );
    }

    /// [`Self::visit_blocks`] for areas that hold more than a body or two.
    #[inline(always)]
    fn visit_blocks_by_level<S: Simd>(&self, simd: S, area: &RawBox, mut found: impl FnMut(usize, u32)) {
        let Some(top) = self.top() else { return };
        // Level by level while the lists are short: a branch for each block of a level, which is mispredicted once, at the end.
        let (mut blocks, mut count) = ([0; SHORT_LIST + LANES], 1);
        for level in (1..=top).rev() {
            let (mut below, mut count_below) = ([0; SHORT_LIST + LANES], 0);
            for &block in &blocks[..count] {
                let lanes = self.levels[level][block as usize].overlapping(simd, area);
                if count_below > SHORT_LIST {
                    return self.visit_blocks(simd, area, found);
                }
                for lane in 0..LANES as u32 {
                    below[count_below % below.len()] = block * LANES as u32 + lane;
                    count_below += (lanes >> lane & 1) as usize;
                }
            }
            (blocks, count) = (below, count_below);
        }
        for &block in &blocks[..count] {
            let block = block as usize;
            found(block, self.levels[0][block].overlapping(simd, area));
        }
    }

    /// Calls `found` with each block of bodies whose bounds overlap `area`, and its lanes whose boxes do, one bit each.
    #[inline(always)]
    fn visit_blocks<S: Simd>(&self, simd: S, area: &RawBox, mut found: impl FnMut(usize, u32)) {
        let Some(top) = self.top() else { return };
        // From the top down to the present block: its remaining lanes, and its number, by level.
        let mut open = [(0u32, 0); LEVELS_MAX];
        let mut level = top;
        open[top] = (self.levels[top][0].overlapping(simd, area), 0);
        if top == 0 {
            return found(0, open[0].0);
        }
        while level <= top {
            let (mut lanes, block) = open[level];
            // The blocks of bodies below one block follow each other, without a change of level.
            while level == 1 && lanes != 0 {
                let child = block * LANES + lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                found(child, self.levels[0][child].overlapping(simd, area));
            }
            if lanes == 0 {
                level += 1;
                continue;
            }
            open[level].0 = lanes & (lanes - 1);
            let child = block * LANES + lanes.trailing_zeros() as usize;
            level -= 1;
            open[level] = (self.levels[level][child].overlapping(simd, area), child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lanes::base;
    use crate::tree::quadtree::SplitRule;
    use crate::tree::quadtree::tests::{points, tree};
    use alloc::vec;

    #[test]
    fn visit_finds_what_brute_force_finds() {
        let points = points(3000, 1 << 24);
        let t = tree(&points, SplitRule { leaf_capacity: 8, depth_max: 15 }, 1 << 16);
        for (i, p) in points.iter().enumerate().step_by(37) {
            let area = RawBox { min: *p, max: [p[0] + (i as i32) * 2000, p[1] + (1 << 18)] };
            let mut found = vec![];
            t.visit(base(), &area, |slot| found.push(slot));
            found.sort_unstable();
            let expected: Vec<Slot> = Slot::all(points.len())
                .filter(|s| {
                    let p = points[s.at()];
                    RawBox { min: p, max: p }.grown(1 << 16).overlaps(&area)
                })
                .collect();
            assert_eq!(found, expected);
        }
    }
}
