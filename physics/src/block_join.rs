//! The broad phase's kernel: which boxes of two blocks overlap. It stands below `simd`, which instantiates it for wider
//! registers; the broad phase stands above.

use alloc::vec::Vec;

use crate::quadtree::{BoxBlock, LANES};

/// Two indices of blocks, or of lanes once the lowest level has been joined.
pub(crate) type IndexPair = (u32, u32);

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
