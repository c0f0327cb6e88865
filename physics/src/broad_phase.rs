//! Broad phase: from blocks of boxes to the pairs whose boxes overlap.
//!
//! Two trees are joined level by level: a list of block pairs that may overlap becomes the list of their overlapping
//! children. A tree joined with itself yields each pair once. The pairs of body blocks come out in a defined order and
//! are handed on in windows of [`WINDOW`], so that everything that follows works on what fits the cache.

use alloc::vec::Vec;

use crate::quadtree::{BoxBlock, LANES, Quadtree};
use crate::simd::Path;

/// Body-block pairs that the later phases work on at a time.
pub(crate) const WINDOW: usize = 1024;

/// Two indices of blocks, or of lanes once the lowest level has been joined.
pub(crate) type IndexPair = (u32, u32);

/// Buffers of a join, kept so that a steady step does not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Join {
    pairs: Vec<IndexPair>,
    next: Vec<IndexPair>,
}

impl Join {
    /// Finds the pairs of body blocks of one tree whose bounds overlap, each pair once; `(b, b)` stands for the inside of a block.
    pub(crate) fn within(&mut self, tree: &Quadtree, path: Path) -> &[IndexPair] {
        self.pairs.clear();
        if !tree.is_empty() {
            self.pairs.push((0, 0));
        }
        for level in tree.levels().iter().skip(1).rev() {
            self.next.clear();
            path.join(&self.pairs, level, level, true, &mut self.next);
            core::mem::swap(&mut self.pairs, &mut self.next);
        }
        &self.pairs
    }

    /// Pairs of body blocks, the first of `a`, the second of `b`, whose bounds overlap. Both trees have the same height.
    pub(crate) fn between(&mut self, a: &Quadtree, b: &Quadtree, path: Path) -> &[IndexPair] {
        self.pairs.clear();
        if !a.is_empty() && !b.is_empty() {
            debug_assert_eq!(a.levels().len(), b.levels().len());
            self.pairs.push((0, 0));
        }
        for (level_a, level_b) in a.levels().iter().zip(b.levels()).skip(1).rev() {
            self.next.clear();
            path.join(&self.pairs, level_a, level_b, false, &mut self.next);
            core::mem::swap(&mut self.pairs, &mut self.next);
        }
        &self.pairs
    }
}

/// The overlapping children of each pair of blocks, in order. With `same`, `a` and `b` are one level of one tree: a block
/// paired with itself gives each pair of its children once, and each child with itself.
#[inline(always)]
pub(crate) fn join_blocks(
    pairs: &[IndexPair],
    a: &[BoxBlock],
    b: &[BoxBlock],
    same: bool,
    out: &mut Vec<IndexPair>,
) {
    for &(i, j) in pairs {
        let mut overlapping = overlaps(&a[i as usize], &b[j as usize]);
        if same && i == j {
            overlapping &= EACH_PAIR_ONCE;
        }
        out.reserve(LANES * LANES);
        while overlapping != 0 {
            let bit = overlapping.trailing_zeros();
            overlapping &= overlapping - 1;
            out.push((i * LANES as u32 + bit / LANES as u32, j * LANES as u32 + bit % LANES as u32));
        }
    }
}

/// Bit `8 i + j` for `i <= j`.
const EACH_PAIR_ONCE: u64 = {
    let (mut mask, mut i) = (0, 0);
    while i < LANES {
        mask |= (0xff << i & 0xff) << (i * LANES);
        i += 1;
    }
    mask
};

/// Bit `8 i + j` is set when lane `i` of `a` overlaps lane `j` of `b`.
#[inline(always)]
fn overlaps(a: &BoxBlock, b: &BoxBlock) -> u64 {
    let mut mask = 0;
    for i in 0..LANES {
        let mut row = 0u32;
        for j in 0..LANES {
            let hit =
                (a.x0[i] <= b.x1[j]) & (b.x0[j] <= a.x1[i]) & (a.y0[i] <= b.y1[j]) & (b.y0[j] <= a.y1[i]);
            row |= u32::from(hit) << j;
        }
        mask |= u64::from(row) << (i * LANES);
    }
    mask
}
