//! Linear quadtree: bodies are sorted along a Hilbert curve, and leaves are found from the sorted keys.
//!
//! A key names the cell of the body's centre; its leading pairs of bits name the quadrants that contain it, from the root down. So the
//! bodies of one quadrant are adjacent in the sorted list, and one pass finds the leaves: a quadrant splits while it holds more than
//! `leaf_capacity` bodies and lies above `depth_max`. Neighbouring leaves are packed into blocks of eight lanes with tight boxes, and eight
//! blocks into the block above them, so that a few wide compares join two blocks (see [`crate::simd`]).
//!
//! The order is a pure function of (position, slot), so trees are not state.

use alloc::vec::Vec;
use core::hint::select_unpredictable;
use core::ops::Range;

use fearless_simd::i32x8;
use fearless_simd::prelude::*;

use crate::body::slot::Slot;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::math::copy::clone_in_place;
use crate::math::lanes::{base, each};
use crate::tree::curve::{self, Centre, DEPTH_LIMIT, Grid, shared_depth};
use crate::tree::curve_box::{CurveBox, CurvePair};
use crate::tree::radix_sort::radix_sort;

/// Number of centres whose bounds are widened at a time: they fill 256 bits.
const FOUR: usize = 4;

/// More levels of blocks than 2^32 bodies need.
pub(crate) const LEVELS_MAX: usize = 12;

/// A leaf quadrant: the lanes of its bodies, and its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// First lane of the leaf's bodies. A leaf of more than eight bodies continues in the next lanes.
    pub(crate) lane: CurveBox,
    /// Number of bodies.
    pub(crate) count: u32,
    /// Quadrants from the root to this leaf; 0 = the root itself.
    pub(crate) depth: u32,
    /// Curve key of the leaf's first body.
    pub(crate) key: u32,
}

impl Leaf {
    /// The lanes of its bodies.
    pub(crate) fn lanes(&self) -> Range<usize> {
        self.lane.at()..self.lane.at() + self.count as usize
    }
}

/// The rule for splitting a quadrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitRule {
    /// A quadrant with more bodies than this splits.
    pub(crate) leaf_capacity: u32,
    /// Quadrants at this depth never split (at most [`DEPTH_LIMIT`]).
    pub(crate) depth_max: u32,
}

/// Bodies in curve order with leaves and boxes.
#[derive(Debug, Default)]
pub(crate) struct Quadtree {
    grid: Grid,
    /// (key, slot) packed into 64 bits; sorted.
    sorted: Vec<u64>,
    scratch: Vec<u64>,
    /// For each sorted body, the number of quadrants that it shares with the one before it.
    shared_depths: Vec<u8>,
    /// For each sorted body, the depth of a leaf that would start with it.
    leaf_depths: Vec<u8>,
    leaves: Vec<Leaf>,
    /// Slot in each lane, [`Slot::NONE`] in holes. Its length is a multiple of eight.
    pub(super) slot_of_lane: Vec<Slot>,
    /// `levels[0]` holds the bodies' boxes. Each further level holds the bounds of eight blocks below; the last level has one block.
    pub(super) levels: Vec<Vec<BoxBlock>>,
}

clone_in_place!(
    Quadtree: grid, leaves, slot_of_lane, levels; not sorted, scratch, shared_depths, leaf_depths
);

impl Quadtree {
    /// Sorts `slots` by the cells of their centres and finds the leaves. The order of bodies in one cell is that of ascending `slots`, and any
    /// order if they are not. The boxes are empty until [`Self::set_boxes`].
    ///
    /// `centre_and_extent` gives a slot's centre and its larger half extent, raw units.
    #[inline(always)]
    pub(crate) fn sort<S: Simd>(
        &mut self,
        simd: S,
        slots: &[Slot],
        rule: SplitRule,
        centre_and_extent: impl Fn(Slot) -> ([i32; 2], i32),
    ) {
        self.choose_grid(simd, slots, rule.depth_max, centre_and_extent);
        curve::keys(simd, &self.grid, &self.scratch, slots, &mut self.sorted);
        radix_sort(&mut self.sorted, &mut self.scratch, self.grid.depth * 2);
        self.find_leaves(rule);
    }

    /// Chooses the grid: the root covers the centres, and the smallest cell is about as large as a body, but no finer than `depth_max`
    /// allows. Leaves the centres in `scratch`, so that the bodies are read only once.
    #[inline(always)]
    fn choose_grid<S: Simd>(
        &mut self,
        simd: S,
        slots: &[Slot],
        depth_max: u32,
        centre_and_extent: impl Fn(Slot) -> ([i32; 2], i32),
    ) {
        let Some(&first) = slots.first() else {
            self.grid = Grid::default();
            return;
        };
        // x and y alternate.
        let (mut low, mut high) = (i32x8::splat(simd, i32::MAX), i32x8::splat(simd, i32::MIN));
        let mut extent_sum: u64 = 0;
        // Room for a whole number of fours; all centres are written.
        self.scratch.resize(slots.len().next_multiple_of(FOUR), 0);
        let centres_of_all = self.scratch.as_chunks_mut::<FOUR>().0;
        for (at, to) in centres_of_all.iter_mut().enumerate() {
            let mut centres = [[0; 2]; FOUR];
            for place in 0..FOUR {
                // The first body again in the empty places, which changes no bound.
                let slot = slots.get(at * FOUR + place);
                let (centre, extent) = centre_and_extent(*slot.unwrap_or(&first));
                centres[place] = centre;
                extent_sum += if slot.is_some() { extent as u64 } else { 0 };
            }
            let points = i32x8::load_array(simd, bytemuck::cast(centres));
            (low, high) = (low.min(points), high.max(points));
            *to = bytemuck::cast::<_, [Centre; FOUR]>(centres);
        }
        let of_all = |corners: [i32; LANES], wider: fn(i32, i32) -> i32| {
            let corners: [[i32; 2]; FOUR] = bytemuck::cast(corners);
            corners.into_iter().reduce(|a, b| [wider(a[0], b[0]), wider(a[1], b[1])]).unwrap_or_default()
        };
        let bounds = RawBox { min: of_all(low.to_array(), i32::min), max: of_all(high.to_array(), i32::max) };
        let side = (0..2).map(|a| bounds.max[a].abs_diff(bounds.min[a])).max().unwrap_or(0);
        let body_side = (2 * extent_sum / slots.len() as u64).clamp(1, 1 << 30) as u32;
        let root_shift = u32::BITS - side.leading_zeros();
        let cell_shift = (u32::BITS - (body_side - 1).leading_zeros()).min(root_shift);
        let depth = (root_shift - cell_shift).min(depth_max.min(DEPTH_LIMIT));
        self.grid = Grid { origin: bounds.min, cell_shift: root_shift - depth, depth };
    }

    /// Finds the leaves in one pass over the sorted keys. A leaf that starts at `a` is the largest quadrant that (1) does not contain the
    /// body before it and (2) holds no more than the capacity, or lies at the depth limit.
    #[inline(always)]
    fn find_leaves(&mut self, rule: SplitRule) {
        self.find_depths(rule.leaf_capacity.max(1) as usize);
        let (sorted, shared) = (&self.sorted, &self.shared_depths);
        self.leaves.clear();
        let (mut a, mut lanes) = (0, 0);
        while a < sorted.len() {
            let depth = self.leaf_depths[a];
            let end = if depth == 0 { sorted.len() } else { first_below(shared, a + 1, depth) };
            let lane = place_leaf(&mut self.slot_of_lane, lanes, &sorted[a..], end - a);
            let key = (sorted[a] >> 32) as u32;
            self.leaves.push(Leaf {
                lane: CurveBox::new(lane),
                count: (end - a) as u32,
                depth: depth.into(),
                key,
            });
            (a, lanes) = (end, lane + end - a);
        }
        self.slot_of_lane.truncate(lanes.next_multiple_of(LANES));
    }

    /// The number of quadrants that each sorted key shares with the one before it, none after the last; and for each body the depth of a leaf
    /// that would start there: below what it shares with the body before it, and with the first one that it has no room for. For all
    /// bodies, because one leaf after the other would wait for the end of the one before.
    #[inline(always)]
    fn find_depths(&mut self, capacity: usize) {
        let depth = self.grid.depth;
        let count = self.sorted.len();
        self.shared_depths.resize(count + LANES, 0);
        let key = |packed: u64| (packed >> 32) as u32;
        for (shared, pair) in self.shared_depths[1..].iter_mut().zip(self.sorted.windows(2)) {
            *shared = shared_depth(key(pair[0]), key(pair[1]), depth) as u8;
        }
        self.shared_depths[0] = 0;
        self.shared_depths[count..].fill(0);
        // Two keys share the least of what neighbours between them share.
        let (leaves, shared) = (&mut self.leaf_depths, &self.shared_depths);
        leaves.clear();
        leaves.extend_from_slice(&shared[1..=count]);
        for ahead in 2..=capacity.min(count) {
            leaves.iter_mut().zip(&shared[ahead..]).for_each(|(leaf, &next)| *leaf = (*leaf).min(next));
        }
        for (leaf, &before) in leaves.iter_mut().zip(shared) {
            *leaf = ((*leaf).max(before) + 1).min(depth as u8);
        }
        if count <= capacity {
            leaves.fill(0);
        }
    }

    /// Writes the bodies' boxes, lane by lane in curve order, and the bounds above them.
    pub(crate) fn set_boxes(&mut self, mut box_of: impl FnMut(usize, Slot) -> RawBox) {
        let (blocks, boxes) = self.blocks_mut();
        for (at, (slots, to)) in blocks.iter().zip(boxes).enumerate() {
            *to = BoxBlock::EMPTY;
            for (l, &slot) in slots.iter().enumerate().filter(|&(_, &slot)| slot != Slot::NONE) {
                to.set(l, &box_of(at * LANES + l, slot));
            }
        }
        self.rebuild_bounds(base());
    }

    /// The slots in the lanes of each block, and their boxes. New blocks hold any boxes; call [`Self::rebuild_bounds`] when all are set.
    pub(crate) fn blocks_mut(&mut self) -> (&[[Slot; LANES]], &mut [BoxBlock]) {
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        let (slots, boxes) = (self.slot_of_lane.as_chunks().0, &mut self.levels[0]);
        boxes.resize(slots.len(), BoxBlock::EMPTY);
        (slots, boxes)
    }

    /// Recomputes every level above the bodies.
    #[inline(always)]
    pub(crate) fn rebuild_bounds<S: Simd>(&mut self, simd: S) {
        let mut level = 0;
        while self.levels[level].len() > 1 {
            if self.levels.len() == level + 1 {
                self.levels.push(Vec::new());
            }
            let (below, above) = self.levels.split_at_mut(level + 1);
            let (below, above) = (&below[level], &mut above[0]);
            above.clear();
            above.resize(below.len().div_ceil(LANES), BoxBlock::EMPTY);
            for (at, child) in below.iter().enumerate() {
                above[at / LANES].set(at % LANES, &child.bounds(simd));
            }
            level += 1;
        }
        self.levels.truncate(level + 1);
    }

    /// Adds blocks with a single child on top until there are `height` levels, so that trees of different sizes can be joined.
    pub(crate) fn raise_to(&mut self, height: usize) {
        while self.levels.len() < height {
            let mut block = BoxBlock::EMPTY;
            if let Some(top) = self.levels.last().and_then(|level| level.first()) {
                block.set(0, &top.bounds(base()));
            }
            self.levels.push(alloc::vec![block]);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.sorted.clear();
        self.leaves.clear();
        self.slot_of_lane.clear();
        self.levels.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slot_of_lane.is_empty()
    }

    pub(crate) fn grid(&self) -> Grid {
        self.grid
    }

    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    pub(crate) fn slot_of_lane(&self) -> &[Slot] {
        &self.slot_of_lane
    }

    pub(crate) fn levels(&self) -> &[Vec<BoxBlock>] {
        &self.levels
    }

    /// Pairs of bodies whose boxes overlap, `a` of this tree and `b` of the other one: searches `other` for one body after the other, or for eight
    /// that are close together. This is less work than joining blocks if many of the other tree's bodies lie between two of this one.
    #[inline(always)]
    pub(crate) fn find_each_in<S: Simd>(&self, simd: S, other: &Self, out: &mut Vec<CurvePair>) {
        let blocks = self.levels.first().map_or(&[][..], |blocks| blocks);
        for (block, boxes) in blocks.iter().enumerate() {
            let (above, bounds) = (CurveBox::new(block), boxes.bounds(simd));
            if is_compact(boxes, &bounds) {
                other.visit_lanes(
                    simd,
                    &bounds,
                    #[inline(always)]
                    |b| {
                        let (block, lane) = b.block_and_lane();
                        let area = other.levels[0][block].get(lane);
                        let mut lanes = boxes.overlapping(simd, &area);
                        while lanes != 0 {
                            out.push(CurvePair { a: above.child(lanes.trailing_zeros()), b });
                            lanes &= lanes - 1;
                        }
                    },
                );
                continue;
            }
            let slots = &self.slot_of_lane[block * LANES..(block + 1) * LANES];
            for (lane, _) in slots.iter().enumerate().filter(|&(_, &slot)| slot != Slot::NONE) {
                other.visit_lanes(
                    simd,
                    &boxes.get(lane),
                    #[inline(always)]
                    |b| out.push(CurvePair { a: above.child(lane as u32), b }),
                );
            }
        }
    }

    /// The lowest level with a single block; [`Self::raise_to`] may have added levels above it.
    pub(crate) fn top(&self) -> Option<usize> {
        let last = (self.slot_of_lane.len() / LANES).checked_sub(1)?;
        // Each level has an eighth of the blocks below it, rounded up.
        Some((usize::BITS - last.leading_zeros()).div_ceil(LANES.ilog2()) as usize)
    }
}

/// Whether the bounds of a block are not much larger than the boxes in it: at most four times their areas.
#[inline(always)]
fn is_compact(boxes: &BoxBlock, bounds: &RawBox) -> bool {
    // Coarser than raw units, so that areas fit.
    let side = |b: &RawBox, a: usize| ((i64::from(b.max[a]) - i64::from(b.min[a])).max(0) >> 8) as u64;
    let area = |b: &RawBox| side(b, 0) * side(b, 1);
    let mut areas = 0;
    for lane in 0..LANES {
        areas += area(&boxes.get(lane));
    }
    area(bounds) <= 4 * areas
}

/// The first element from `from` on that is below `limit` (1..=127). One must exist, with seven more elements after it.
#[inline(always)]
fn first_below(elements: &[u8], from: usize, limit: u8) -> usize {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let limits = u64::from(limit) * (TOPS >> 7);
    let mut at = from;
    while let Some(eight) = elements.get(at..).and_then(|rest| rest.first_chunk()) {
        // Elements are below 128, so no byte borrows from the next.
        let below = !((u64::from_le_bytes(*eight) | TOPS) - limits) & TOPS;
        if below != 0 {
            return at + below.trailing_zeros() as usize / 8;
        }
        at += eight.len();
    }
    at
}

/// Puts the slots of a leaf (low halves of the `count` first `items`) after the first `len` lanes and returns its first lane. It starts a
/// new block if the leaf does not fit into the rest of the current one, so that small leaves stay whole. Up to the next block, the lanes
/// after `len` are holes before the call, and those after the leaf are holes after it.
#[inline(always)]
fn place_leaf(slot_of_lane: &mut Vec<Slot>, len: usize, items: &[u64], count: usize) -> usize {
    let rest = len.next_multiple_of(LANES) - len;
    let lane = len + select_unpredictable(rest < count, rest, 0);
    let end = lane + count;
    if slot_of_lane.len() < end + 2 * LANES {
        slot_of_lane.resize(end + 64 * LANES, Slot::NONE);
    }
    // Eight, whatever follows them: branches predict the number of bodies in a leaf badly.
    match (items.first_chunk::<LANES>(), slot_of_lane[lane..].first_chunk_mut()) {
        (Some(eight), Some(to)) if count <= LANES => *to = each(*eight, |item| Slot(item as u32)),
        _ => slot_of_lane[lane..end].iter_mut().zip(items).for_each(|(to, &item)| *to = Slot(item as u32)),
    }
    slot_of_lane[end..end + LANES].fill(Slot::NONE);
    lane
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::vec;

    pub(in crate::tree) fn points(n: u32, spread: i32) -> Vec<[i32; 2]> {
        let mut state = 12345u32;
        let mut next = move || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            ((state >> 8) as i32) % spread
        };
        (0..n).map(|_| [next(), next() / 3]).collect()
    }

    pub(in crate::tree) fn tree(points: &[[i32; 2]], rule: SplitRule, extent: i32) -> Quadtree {
        let slots: Vec<Slot> = Slot::all(points.len()).collect();
        let mut tree = Quadtree::default();
        tree.sort(base(), &slots, rule, |s| (points[s.at()], extent));
        tree.set_boxes(|_, s| RawBox { min: points[s.at()], max: points[s.at()] }.grown(extent));
        tree
    }

    #[test]
    fn every_body_lies_in_its_leafs_quadrant_and_quadrants_split_above_capacity() {
        for (n, spread, capacity, depth_max) in
            [(2000, 1 << 26, 8, 15), (2000, 1 << 20, 3, 15), (500, 1 << 28, 16, 3), (300, 5, 4, 15)]
        {
            let points = points(n, spread);
            let t = tree(&points, SplitRule { leaf_capacity: capacity, depth_max }, 1 << 15);
            let mut seen = vec![false; n as usize];
            for leaf in t.leaves() {
                let (corner, side) = t.grid().quadrant(leaf.key, leaf.depth);
                for &slot in &t.slot_of_lane()[leaf.lanes()] {
                    let p = points[slot.at()];
                    for axis in 0..2 {
                        let offset = i64::from(p[axis]) - corner[axis];
                        assert!((0..side).contains(&offset), "{slot:?} in leaf {leaf:?}");
                    }
                    assert!(!core::mem::replace(&mut seen[slot.at()], true), "each body once");
                }
                assert!(leaf.count <= capacity || leaf.depth == t.grid().depth, "{leaf:?} should have split");
                assert!(leaf.depth == 0 || side >= 1 << 16, "a cell is no smaller than a body: {leaf:?}");
                if leaf.depth > 0 {
                    let (corner, side) = t.grid().quadrant(leaf.key, leaf.depth - 1);
                    let inside =
                        |p: &[i32; 2]| (0..2).all(|a| (0..side).contains(&(i64::from(p[a]) - corner[a])));
                    let parent = points.iter().filter(|p| inside(p)).count();
                    assert!(parent > capacity as usize, "the parent of {leaf:?} need not have split");
                }
            }
            assert!(seen.iter().all(|&s| s));
        }
    }

    #[test]
    fn a_point_full_of_bodies_is_one_leaf() {
        let t = tree(&[[7, -9]; 100], SplitRule { leaf_capacity: 8, depth_max: 15 }, 1);
        assert_eq!(t.leaves().len(), 1);
        assert_eq!(t.leaves()[0].count, 100);
    }

    #[test]
    fn radix_sort_is_stable() {
        let mut items: Vec<u64> = (0..5000u64).map(|i| (i * 7919 % 1000) << 32 | i).collect();
        let mut expected = items.clone();
        expected.sort();
        radix_sort(&mut items, &mut Vec::new(), 10);
        assert_eq!(items, expected);
    }
}
