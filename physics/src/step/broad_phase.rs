//! Broad phase: from blocks of boxes to the pairs whose boxes overlap.
//!
//! Two trees are joined level by level: a list of block pairs that may overlap becomes the list of their overlapping children. A tree
//! joined with itself gives each pair once. The pairs of body blocks come in a defined order and are processed in windows of [`WINDOW`], so
//! that the later phases work on data that fits the cache.

use alloc::vec::Vec;

use crate::simd::Path;
pub(crate) use crate::tree::block_join::{ALL_PAIRS, CHILDREN_OF_ONE};
pub(crate) use crate::tree::curve_box::CurvePair;
use crate::tree::quadtree::Quadtree;

/// Number of body-block pairs that the later phases process at a time.
pub(crate) const WINDOW: usize = 1024;

/// Buffers of a join, kept so that a steady step does not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Join {
    pairs: Vec<CurvePair>,
    next: Vec<CurvePair>,
}

impl Join {
    /// Finds the pairs of body blocks of one tree whose bounds overlap, each pair once; a block with itself stands for its inside.
    pub(crate) fn within(&mut self, tree: &Quadtree, path: Path) -> &[CurvePair] {
        self.pairs.clear();
        if !tree.is_empty() {
            self.pairs.push(CurvePair::default());
        }
        for level in tree.levels().iter().skip(1).rev() {
            self.next.clear();
            path.join(&self.pairs, level, level, CHILDREN_OF_ONE, &mut self.next);
            core::mem::swap(&mut self.pairs, &mut self.next);
        }
        &self.pairs
    }

    /// Pairs of body blocks, the first of `a`, the second of `b`, whose bounds overlap. Both trees have the same height.
    pub(crate) fn between(&mut self, a: &Quadtree, b: &Quadtree, path: Path) -> &[CurvePair] {
        self.pairs.clear();
        if !a.is_empty() && !b.is_empty() {
            debug_assert_eq!(a.levels().len(), b.levels().len());
            self.pairs.push(CurvePair::default());
        }
        for (level_a, level_b) in a.levels().iter().zip(b.levels()).skip(1).rev() {
            self.next.clear();
            path.join(&self.pairs, level_a, level_b, ALL_PAIRS, &mut self.next);
            core::mem::swap(&mut self.pairs, &mut self.next);
        }
        &self.pairs
    }
}

#[cfg(test)]
mod tests;
