//! The broad phase's kernel: finds the overlapping boxes of two blocks.

use alloc::vec::Vec;

use fearless_simd::Simd;

use crate::math::boxes::{BoxBlock, LANES, Lanes8};
use crate::tree::curve_box::CurvePair;

/// Appends the overlapping children of each pair, in order. `a` and `b` are the blocks of the level below.
/// `keep_own` masks the result of a block paired with itself.
#[inline(always)]
pub(crate) fn join_blocks<S: Simd>(
    simd: S,
    pairs: &[CurvePair],
    a: &[BoxBlock],
    b: &[BoxBlock],
    keep_own: u64,
    out: &mut Vec<CurvePair>,
) {
    for &pair in pairs {
        let own = if pair.a == pair.b { keep_own } else { u64::MAX };
        push_pairs(pair, overlaps(simd, &a[pair.a.at()], &b[pair.b.at()]) & own, out);
    }
}

/// Appends a pair of children for each bit `8 i + j`, in order.
#[inline(always)]
pub(crate) fn push_pairs(CurvePair { a, b }: CurvePair, mut overlapping: u64, out: &mut Vec<CurvePair>) {
    while overlapping != 0 {
        let bit = overlapping.trailing_zeros();
        overlapping &= overlapping - 1;
        out.push(CurvePair { a: a.child(bit / LANES as u32), b: b.child(bit % LANES as u32) });
    }
}

/// Two different trees: every pair counts.
pub(crate) const ALL_PAIRS: u64 = u64::MAX;
/// Bit `8 i + j` for `i <= j`: each pair of children once, and each child with itself, so that its inside is searched.
pub(crate) const CHILDREN_OF_ONE: u64 = upper_triangle(0);
/// Bit `8 i + j` for `i < j`: each pair of bodies once.
pub(crate) const BODIES_OF_ONE: u64 = upper_triangle(1);

const fn upper_triangle(above: usize) -> u64 {
    let (mut mask, mut i) = (0, 0);
    while i < LANES {
        mask |= ((0xff << (i + above)) & 0xff) << (i * LANES);
        i += 1;
    }
    mask
}

/// Bit `8 i + j` is set when lane `i` of `a` overlaps lane `j` of `b`.
#[inline(always)]
pub(crate) fn overlaps<S: Simd>(simd: S, a: &BoxBlock, b: &BoxBlock) -> u64 {
    let b = Lanes8::new(simd, b);
    let mut mask = 0;
    for i in 0..LANES {
        mask |= u64::from(b.overlapping(simd, &a.get(i))) << (i * LANES);
    }
    mask
}
