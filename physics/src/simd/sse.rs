//! 128-bit registers: SSE2, which every x86-64 machine has, and SSE4.2.
//!
//! The solver is that of [`super::avx2`] with two bodies per register instead of four.

use core::arch::x86_64::*;

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hits, find_hits};
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::tree::block_join::{IndexPair, push_pairs};
use crate::tree::quadtree::{Quadtree, each_lane};
use crate::tree::search::{self, Search};

/// See [`super::equal_lanes`].
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn equal_lanes(values: &[u32; LANES], wanted: u32) -> u32 {
    let values = values.as_ptr().cast::<__m128i>();
    // SAFETY: eight values are two registers.
    let (low, high) = unsafe { (_mm_loadu_si128(values), _mm_loadu_si128(values.add(1))) };
    let wanted = _mm_set1_epi32(wanted as i32);
    let equal = _mm_packs_epi32(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted));
    _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) as u32
}

#[target_feature(enable = "sse4.2")]
pub(super) fn join(
    pairs: &[IndexPair],
    a: &[BoxBlock],
    b: &[BoxBlock],
    keep_own: u64,
    out: &mut Vec<IndexPair>,
) {
    for &[i, j] in pairs {
        let own = if i == j { keep_own } else { u64::MAX };
        push_pairs(i, j, overlaps(&a[i as usize], &b[j as usize]) & own, out);
    }
}

#[target_feature(enable = "sse4.2")]
pub(super) fn narrow(pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
    find_hits(pairs, shells, margin, hits);
}

#[target_feature(enable = "sse4.2")]
pub(super) fn rebuild_bounds(tree: &mut Quadtree) {
    tree.rebuild_bounds_by(|boxes| bounds(boxes));
}

#[target_feature(enable = "sse4.2")]
pub(super) fn search(tree: &Quadtree, search: &mut impl Search) {
    tree.search(search);
}

#[target_feature(enable = "sse4.2")]
pub(super) fn search_listed(listed: &mut impl Iterator<Item = (u32, RawBox)>, search: &mut impl Search) {
    search::search_listed(listed, search);
}

#[target_feature(enable = "sse4.2")]
pub(super) fn collect(tree: &Quadtree, area: &RawBox, out: &mut Vec<BodyId>) {
    let mut found = |index| out.push(BodyId { index, generation: 0 });
    let overlapping = |boxes: &BoxBlock, area: &RawBox| overlapping(boxes, area);
    tree.visit_blocks(overlapping, area, |slots, lanes| each_lane(slots, lanes, &mut found));
}

/// See [`BoxBlock::overlapping`].
#[inline]
#[target_feature(enable = "sse4.2")]
fn overlapping(boxes: &BoxBlock, area: &RawBox) -> u32 {
    let [min_x, min_y] = area.min.map(|v| _mm_set1_epi32(v));
    let [max_x, max_y] = area.max.map(|v| _mm_set1_epi32(v));
    let [x0, x1, y0, y1] = [load8(&boxes.x0), load8(&boxes.x1), load8(&boxes.y0), load8(&boxes.y1)];
    let apart =
        [0, 1].map(|half| apart([min_x, max_x, min_y, max_y], [x0[half], x1[half], y0[half], y1[half]]));
    !mask8(apart) & 0xff
}

/// See [`BoxBlock::bounds`].
#[inline]
#[target_feature(enable = "sse4.2")]
pub(super) fn bounds(boxes: &BoxBlock) -> RawBox {
    let [[x0, x0_], [y0, y0_], [x1, x1_], [y1, y1_]] =
        [&boxes.x0, &boxes.y0, &boxes.x1, &boxes.y1].map(|values| load8(values));
    let (x, y) = (_mm_min_epi32(x0, x0_), _mm_min_epi32(y0, y0_));
    // [x y x y], twice: four of each are left, then two, then one.
    let min = _mm_min_epi32(_mm_unpacklo_epi32(x, y), _mm_unpackhi_epi32(x, y));
    let min = _mm_min_epi32(min, _mm_unpackhi_epi64(min, min));
    let (x, y) = (_mm_max_epi32(x1, x1_), _mm_max_epi32(y1, y1_));
    let max = _mm_max_epi32(_mm_unpacklo_epi32(x, y), _mm_unpackhi_epi32(x, y));
    let max = _mm_max_epi32(max, _mm_unpackhi_epi64(max, max));
    let pair = |v: __m128i| [_mm_cvtsi128_si32(v), _mm_extract_epi32::<1>(v)];
    RawBox { min: pair(min), max: pair(max) }
}

/// See [`crate::tree::block_join::overlaps`]: one row of eight bits per lane of `a`.
#[target_feature(enable = "sse4.2")]
fn overlaps(a: &BoxBlock, b: &BoxBlock) -> u64 {
    let [x0, x1, y0, y1] = [load8(&b.x0), load8(&b.x1), load8(&b.y0), load8(&b.y1)];
    let row = |i: usize| {
        let own = [a.x0[i], a.x1[i], a.y0[i], a.y1[i]].map(|v| _mm_set1_epi32(v));
        let [low, high] = [0, 1].map(|half| apart(own, [x0[half], x1[half], y0[half], y1[half]]));
        _mm_packs_epi32(low, high)
    };
    let mut mask = 0;
    for i in (0..LANES).step_by(2) {
        let apart = _mm_movemask_epi8(_mm_packs_epi16(row(i), row(i + 1)));
        mask |= u64::from(!apart as u16) << (i * LANES);
    }
    mask
}

/// Lanes whose boxes, given as `x0, x1, y0, y1`, do not overlap.
#[inline]
#[target_feature(enable = "sse4.2")]
fn apart(a: [__m128i; 4], b: [__m128i; 4]) -> __m128i {
    let x = _mm_or_si128(_mm_cmpgt_epi32(a[0], b[1]), _mm_cmpgt_epi32(b[0], a[1]));
    let y = _mm_or_si128(_mm_cmpgt_epi32(a[2], b[3]), _mm_cmpgt_epi32(b[2], a[3]));
    _mm_or_si128(x, y)
}

/// One bit per lane of two registers.
#[inline]
#[target_feature(enable = "sse4.2")]
fn mask8(lanes: [__m128i; 2]) -> u32 {
    _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(lanes[0], lanes[1]), _mm_setzero_si128())) as u32
}

#[inline]
#[target_feature(enable = "sse4.2")]
fn load8(values: &[i32; LANES]) -> [__m128i; 2] {
    let values = values.as_ptr().cast::<__m128i>();
    // SAFETY: eight values are two registers.
    unsafe { [_mm_loadu_si128(values), _mm_loadu_si128(values.add(1))] }
}
