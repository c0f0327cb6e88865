//! AVX2: the plain kernels with wider registers, and by hand the two that compilers do not get right.
//!
//! Velocities are packed as `[x y x y ...]`, so that a 64-bit lane is one body: `_mm256_mul_epi32` multiplies the low
//! halves (x), and after a shift by 32 the high ones (y). Nothing has to be transposed.

use core::arch::x86_64::*;

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::Shell;
use crate::body::slot_sort;
use crate::collide::narrow_phase::{Hits, find_hits};
use crate::contact::setup::ContactSetup;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::simd::sse;
use crate::tree::block_join::{IndexPair, push_pairs};
use crate::tree::quadtree::{Quadtree, each_lane};
use crate::tree::search::{self, Search};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
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

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn narrow(pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
    find_hits(pairs, shells, margin, hits);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn add_contacts(setup: &mut ContactSetup<'_>, hits: &Hits) {
    let equal = |values: &[u32; LANES], wanted| equal_lanes(values, wanted);
    setup.add_contacts(hits, 0..hits.len, equal);
}

/// See [`super::equal_lanes`].
#[inline]
#[target_feature(enable = "avx2")]
fn equal_lanes(values: &[u32; LANES], wanted: u32) -> u32 {
    // SAFETY: eight values are 32 bytes.
    let values = unsafe { _mm256_loadu_si256(values.as_ptr().cast()) };
    let equal = _mm256_cmpeq_epi32(values, _mm256_set1_epi32(wanted as i32));
    _mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u32
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn rebuild_bounds(tree: &mut Quadtree) {
    tree.rebuild_bounds_by(|boxes| sse::bounds(boxes));
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn search(tree: &Quadtree, search: &mut impl Search) {
    tree.search(search);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn search_listed(listed: &mut impl Iterator<Item = (u32, RawBox)>, search: &mut impl Search) {
    search::search_listed(listed, search);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn collect(tree: &Quadtree, area: &RawBox, out: &mut Vec<BodyId>) {
    let mut found = |index| out.push(BodyId { index, generation: 0 });
    let overlapping = |boxes: &BoxBlock, area: &RawBox| overlapping(boxes, area);
    tree.visit_blocks(overlapping, area, |slots, lanes| each_lane(slots, lanes, &mut found));
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn sort_by_slot(ids: &mut [BodyId]) {
    slot_sort::sort_by_slot(ids);
}

/// See [`BoxBlock::overlapping`].
#[inline]
#[target_feature(enable = "avx2")]
fn overlapping(boxes: &BoxBlock, area: &RawBox) -> u32 {
    let right = _mm256_cmpgt_epi32(load8(&boxes.x0), _mm256_set1_epi32(area.max[0]));
    let left = _mm256_cmpgt_epi32(_mm256_set1_epi32(area.min[0]), load8(&boxes.x1));
    let above = _mm256_cmpgt_epi32(load8(&boxes.y0), _mm256_set1_epi32(area.max[1]));
    let below = _mm256_cmpgt_epi32(_mm256_set1_epi32(area.min[1]), load8(&boxes.y1));
    let apart = _mm256_or_si256(_mm256_or_si256(right, left), _mm256_or_si256(above, below));
    !_mm256_movemask_ps(_mm256_castsi256_ps(apart)) as u32 & 0xff
}

/// See [`crate::tree::block_join::overlaps`]: one row of eight bits per lane of `a`.
#[target_feature(enable = "avx2")]
fn overlaps(a: &BoxBlock, b: &BoxBlock) -> u64 {
    let (bx0, bx1) = (load8(&b.x0), load8(&b.x1));
    let (by0, by1) = (load8(&b.y0), load8(&b.y1));
    let mut mask = 0;
    for i in 0..LANES {
        let apart_x = _mm256_or_si256(
            _mm256_cmpgt_epi32(_mm256_set1_epi32(a.x0[i]), bx1),
            _mm256_cmpgt_epi32(bx0, _mm256_set1_epi32(a.x1[i])),
        );
        let apart_y = _mm256_or_si256(
            _mm256_cmpgt_epi32(_mm256_set1_epi32(a.y0[i]), by1),
            _mm256_cmpgt_epi32(by0, _mm256_set1_epi32(a.y1[i])),
        );
        let apart = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(apart_x, apart_y)));
        mask |= u64::from(!apart as u8) << (i * LANES);
    }
    mask
}

#[inline]
#[target_feature(enable = "avx2")]
fn load8(values: &[i32; LANES]) -> __m256i {
    // SAFETY: eight values are 32 bytes.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}
