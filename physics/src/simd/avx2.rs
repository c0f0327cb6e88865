//! AVX2: the plain kernels with wider registers, and by hand the two that compilers do not get right.
//!
//! Velocities are packed as `[x y x y ...]`, so that a 64-bit lane is one body: `_mm256_mul_epi32` multiplies the low
//! halves (x), and after a shift by 32 the high ones (y). Nothing has to be transposed.

use core::arch::x86_64::*;

use alloc::vec::Vec;

use crate::body::id::{self, BodyId};
use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hits, UNIT, UNIT_BITS, find_hits};
use crate::contact::setup::ContactSetup;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::simd::sse;
use crate::solve::solver::{Batch, EVEN_SHARE, IMPULSE_MAX, Pass, Velocity};
use crate::tree::block_join::{IndexPair, push_pairs};
use crate::tree::quadtree::{Quadtree, each_lane};
use crate::tree::search::{self, Search};

/// Shift that takes a product with a unit factor back to raw units.
const SHIFT: i32 = UNIT_BITS as i32;

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
    id::sort_by_slot(ids);
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

/// See [`crate::solve::solver::run_pass`].
///
/// # Safety
/// Every body index of every batch is below `velocities.len()`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn solve(batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
    let velocities = velocities.as_mut_ptr().cast::<u64>();
    for batch in batches {
        // SAFETY: the caller vouches for the indices.
        unsafe {
            match pass {
                Pass::WarmStart => {
                    half_warm_start::<0>(batch, velocities);
                    half_warm_start::<4>(batch, velocities);
                }
                Pass::Biased => {
                    half_solve::<0, true>(batch, velocities);
                    half_solve::<4, true>(batch, velocities);
                }
                Pass::Relax => {
                    half_solve::<0, false>(batch, velocities);
                    half_solve::<4, false>(batch, velocities);
                }
            }
        }
    }
}

/// Lanes `FROM..FROM + 4`.
///
/// # Safety
/// As [`solve`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half_warm_start<const FROM: usize>(batch: &Batch, velocities: *mut u64) {
    // SAFETY: as the caller's.
    unsafe {
        let (va, vb) = (gather::<FROM>(&batch.a, velocities), gather::<FROM>(&batch.b, velocities));
        let impulse = widen::<FROM>(&batch.impulse);
        apply::<FROM>(batch, velocities, va, vb, impulse);
    }
}

/// # Safety
/// As [`solve`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half_solve<const FROM: usize, const BIASED: bool>(batch: &mut Batch, velocities: *mut u64) {
    // SAFETY: as the caller's.
    unsafe {
        let (va, vb) = (gather::<FROM>(&batch.a, velocities), gather::<FROM>(&batch.b, velocities));
        let limit = widen::<FROM>(if BIASED { &batch.biased } else { &batch.relaxed });
        let old = widen::<FROM>(&batch.impulse);
        let d = _mm256_sub_epi32(vb, va);
        let along = _mm256_add_epi64(
            _mm256_mul_epi32(d, widen::<FROM>(&batch.normal_x)),
            _mm256_mul_epi32(_mm256_srli_epi64::<32>(d), widen::<FROM>(&batch.normal_y)),
        );
        let missing = _mm256_sub_epi32(limit, rounded(along));
        let step = if BIASED { _mm256_add_epi32(missing, _mm256_srai_epi32::<2>(missing)) } else { missing };
        let wanted = _mm256_max_epi32(_mm256_add_epi32(old, step), _mm256_setzero_si256());
        let impulse = _mm256_min_epi32(wanted, _mm256_set1_epi32(IMPULSE_MAX));
        narrow4::<FROM>(&mut batch.impulse, impulse);
        apply::<FROM>(batch, velocities, va, vb, _mm256_sub_epi32(impulse, old));
    }
}

/// Adds the impulses (low halves) along the normals and stores the velocities.
///
/// # Safety
/// As [`solve`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn apply<const FROM: usize>(
    batch: &Batch,
    velocities: *mut u64,
    va: __m256i,
    vb: __m256i,
    impulse: __m256i,
) {
    let px = rounded(_mm256_mul_epi32(impulse, widen::<FROM>(&batch.normal_x)));
    let py = rounded(_mm256_mul_epi32(impulse, widen::<FROM>(&batch.normal_y)));
    let packed = |x, y| _mm256_blend_epi32::<0b1010_1010>(x, _mm256_slli_epi64::<32>(y));
    let share_a = widen::<FROM>(&batch.share_a);
    let even = _mm256_cmpeq_epi64(share_a, _mm256_set1_epi64x(EVEN_SHARE.into()));
    let parts = if _mm256_movemask_epi8(even) == -1 {
        [_mm256_srai_epi32::<1>(_mm256_add_epi32(packed(px, py), _mm256_set1_epi32(1))); 2]
    } else {
        let share_b = _mm256_sub_epi32(_mm256_set1_epi64x(i64::from(UNIT)), share_a);
        let part = |p, share| rounded(_mm256_mul_epi32(p, share));
        [packed(part(px, share_a), part(py, share_a)), packed(part(px, share_b), part(py, share_b))]
    };
    // SAFETY: as the caller's.
    unsafe {
        scatter::<FROM>(&batch.a, velocities, _mm256_sub_epi32(va, parts[0]));
        scatter::<FROM>(&batch.b, velocities, _mm256_add_epi32(vb, parts[1]));
    }
}

/// Products back in raw units, rounded to nearest; only the low half of each lane counts.
#[inline]
#[target_feature(enable = "avx2")]
fn rounded(product: __m256i) -> __m256i {
    _mm256_srli_epi64::<SHIFT>(_mm256_add_epi64(product, _mm256_set1_epi64x(1 << (SHIFT - 1))))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load8(values: &[i32; LANES]) -> __m256i {
    // SAFETY: eight values are 32 bytes.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// Four values, each in the low half of a 64-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
fn widen<const FROM: usize>(values: &[i32; LANES]) -> __m256i {
    // SAFETY: FROM is 0 or 4, so four of the eight values follow.
    _mm256_cvtepi32_epi64(unsafe { _mm_loadu_si128(values.as_ptr().add(FROM).cast()) })
}

/// Stores the low halves of four lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow4<const FROM: usize>(values: &mut [i32; LANES], lanes: __m256i) {
    let packed = _mm256_permutevar8x32_epi32(lanes, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    // SAFETY: FROM is 0 or 4, so four of the eight values follow.
    unsafe { _mm_storeu_si128(values.as_mut_ptr().add(FROM).cast(), _mm256_castsi256_si128(packed)) }
}

/// The velocities of four bodies.
///
/// # Safety
/// As [`solve`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn gather<const FROM: usize>(bodies: &[u32; LANES], velocities: *const u64) -> __m256i {
    // SAFETY: the indices are in range.
    let pair = |l: usize| unsafe {
        let low = _mm_loadl_epi64(velocities.add(bodies[FROM + l] as usize).cast());
        let high = velocities.add(bodies[FROM + l + 1] as usize).cast();
        _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), high))
    };
    _mm256_set_m128i(pair(2), pair(0))
}

/// Writes the velocities of four bodies back.
///
/// # Safety
/// As [`solve`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn scatter<const FROM: usize>(bodies: &[u32; LANES], velocities: *mut u64, v: __m256i) {
    // SAFETY: the indices are in range.
    let pair = |l: usize, v: __m128i| unsafe {
        _mm_storel_epi64(velocities.add(bodies[FROM + l] as usize).cast(), v);
        _mm_storeh_pd(velocities.add(bodies[FROM + l + 1] as usize).cast(), _mm_castsi128_pd(v));
    };
    pair(0, _mm256_castsi256_si128(v));
    pair(2, _mm256_extracti128_si256::<1>(v));
}
