//! AVX-512: the kernels that gain from sixteen lanes, masks and compressed stores. What else a step does runs as in [`super::avx2`].
//!
//! Needs what Ice Lake and Zen 4 brought, so that no kernel has to ask for parts of it.

use core::arch::x86_64::*;

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hits, RECIPROCAL_ROOT, UNIT_BITS, add_hits, separation};
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::tree::block_join::IndexPair;
use crate::tree::curve::{self, Centre, Grid, LEVELS, STEP, STEP_BITS};
use crate::tree::quadtree::Quadtree;

/// Shift that takes a product with a unit factor back to raw units.
const SHIFT: u32 = UNIT_BITS;

/// The upper half of every 64-bit lane, as lanes of 32 bits.
pub(super) const UPPER: __mmask16 = 0b1010_1010_1010_1010;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
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

/// See [`crate::tree::block_join::overlaps`]: two rows of eight bits per turn.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn overlaps(a: &BoxBlock, b: &BoxBlock) -> u64 {
    let both = |values: &[i32; LANES]| _mm512_broadcast_i64x4(load8(values));
    let (ax0, ax1, ay0, ay1) = (both(&a.x0), both(&a.x1), both(&a.y0), both(&a.y1));
    let (bx0, bx1, by0, by1) = (both(&b.x0), both(&b.x1), both(&b.y0), both(&b.y1));
    let mut rows = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let mut mask = 0;
    for two in 0..LANES / 2 {
        let x = _mm512_cmple_epi32_mask(_mm512_permutexvar_epi32(rows, ax0), bx1)
            & _mm512_cmple_epi32_mask(bx0, _mm512_permutexvar_epi32(rows, ax1));
        let y = _mm512_cmple_epi32_mask(_mm512_permutexvar_epi32(rows, ay0), by1)
            & _mm512_cmple_epi32_mask(by0, _mm512_permutexvar_epi32(rows, ay1));
        mask |= u64::from(x & y) << (two * 2 * LANES);
        rows = _mm512_add_epi32(rows, _mm512_set1_epi32(2));
    }
    mask
}

#[target_feature(enable = "avx512f,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn collect(tree: &Quadtree, area: &RawBox, out: &mut Vec<BodyId>) {
    const { assert!(size_of::<BodyId>() == 8 && core::mem::offset_of!(BodyId, index) == 0) }
    let overlapping = |boxes: &BoxBlock, area: &RawBox| overlapping(boxes, area);
    tree.visit_blocks(overlapping, area, |slots, lanes| {
        out.reserve(LANES);
        // SAFETY: there is room for eight handles; slots are their low halves.
        unsafe {
            let slots = _mm256_loadu_si256(slots.as_ptr().cast());
            let slots = _mm512_cvtepu32_epi64(_mm256_maskz_compress_epi32(lanes as __mmask8, slots));
            _mm512_storeu_si512(out.as_mut_ptr().add(out.len()).cast(), slots);
            out.set_len(out.len() + lanes.count_ones() as usize);
        }
    });
}

/// See [`BoxBlock::overlapping`].
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn overlapping(boxes: &BoxBlock, area: &RawBox) -> u32 {
    let left = _mm256_cmple_epi32_mask(load8(&boxes.x0), _mm256_set1_epi32(area.max[0]));
    let right = _mm256_cmpge_epi32_mask(load8(&boxes.x1), _mm256_set1_epi32(area.min[0]));
    let below = _mm256_cmple_epi32_mask(load8(&boxes.y0), _mm256_set1_epi32(area.max[1]));
    let above = _mm256_cmpge_epi32_mask(load8(&boxes.y1), _mm256_set1_epi32(area.min[1]));
    u32::from(left & right & below & above)
}

/// The numbers 0 to 63.
const EVERY_BIT: [u8; 64] = {
    let mut bits = [0; 64];
    let mut i = 0;
    while i < 64 {
        bits[i] = i as u8;
        i += 1;
    }
    bits
};

/// See [`crate::tree::block_join::push_pairs`]: eight pairs per turn, and hardly ever a second one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
fn push_pairs(i: u32, j: u32, overlapping: u64, out: &mut Vec<IndexPair>) {
    out.reserve(EVERY_BIT.len());
    let count = overlapping.count_ones() as usize;
    // SAFETY: both are 64 bytes.
    let every = unsafe { _mm512_loadu_si512(EVERY_BIT.as_ptr().cast()) };
    let mut bits = _mm512_maskz_compress_epi8(overlapping, every);
    let first = _mm512_set1_epi64((u64::from(i) << 3 | u64::from(j) << 35) as i64);
    let mut done = 0;
    loop {
        let bit = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(bits));
        let lane_of_b = _mm512_and_si512(bit, _mm512_set1_epi64(LANES as i64 - 1));
        let pair = _mm512_or_si512(_mm512_srli_epi64::<3>(bit), _mm512_slli_epi64::<32>(lane_of_b));
        // SAFETY: there is room for 64 pairs, `done` is a multiple of eight below that.
        unsafe {
            let place = out.as_mut_ptr().add(out.len() + done);
            _mm512_storeu_si512(place.cast(), _mm512_or_si512(first, pair));
        }
        done += LANES;
        if done >= count {
            break;
        }
        // The next eight bytes become the first.
        bits = _mm512_maskz_compress_epi8(u64::MAX << LANES, bits);
    }
    // SAFETY: `count` pairs were written.
    unsafe { out.set_len(out.len() + count) }
}

/// See [`curve::keys`]: eight centres at a time, x in the low half of each lane, y in the high one.
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn curve_keys(grid: &Grid, centres: &[Centre], slots: &[u32], out: &mut Vec<u64>) {
    let start = out.len();
    out.resize(start + slots.len(), 0);
    let (blocks, rest) = slots.as_chunks::<LANES>();
    let (centre_blocks, centres_left) = centres.as_chunks::<LANES>();
    let (key_blocks, _) = out[start..].as_chunks_mut::<LANES>();
    for ((slots, centres), keys) in blocks.iter().zip(centre_blocks).zip(key_blocks) {
        // SAFETY: eight of each.
        unsafe {
            let key = curve_key8(grid, _mm512_loadu_si512(centres.as_ptr().cast()));
            let slot = _mm512_cvtepu32_epi64(_mm256_loadu_si256(slots.as_ptr().cast()));
            _mm512_storeu_si512(
                keys.as_mut_ptr().cast(),
                _mm512_or_si512(_mm512_slli_epi64::<32>(key), slot),
            );
        }
    }
    out.truncate(start + slots.len() - rest.len());
    curve::keys(grid, centres_left, rest, out);
}

/// [`Grid::key`] of eight centres in the root's square.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn curve_key8(grid: &Grid, centres: __m512i) -> __m512i {
    let offset = _mm512_sub_epi32(centres, _mm512_set1_epi64(curve::centre(grid.origin) as i64));
    let cell = _mm512_srl_epi32(offset, _mm_cvtsi32_si128(grid.cell_shift as i32));
    let cell = _mm512_min_epu32(cell, _mm512_set1_epi32((1 << grid.depth) - 1));
    let (mut shift, orientation) = curve::start(grid.depth);
    let mut orientation = _mm512_set1_epi64(orientation.into());
    let mut key = _mm512_setzero_si512();
    while shift > 0 {
        shift -= STEP;
        let bits = _mm512_srl_epi32(cell, _mm_cvtsi32_si128(shift as i32));
        let bits = _mm512_and_si512(bits, _mm512_set1_epi32(STEP_BITS as i32));
        let x_bits = _mm512_and_si512(_mm512_slli_epi64::<STEP>(bits), _mm512_set1_epi64(0xffff_ffff));
        let at = _mm512_or_si512(x_bits, _mm512_srli_epi64::<32>(bits));
        let at = _mm512_or_si512(at, _mm512_slli_epi64::<{ 2 * STEP }>(orientation));
        // SAFETY: an index is below 4 << 2 * STEP, behind which the table has three more elements of two bytes.
        let entry = unsafe { _mm512_i64gather_epi64::<2>(at, LEVELS.as_ptr().cast()) };
        let entry = _mm512_and_si512(entry, _mm512_set1_epi64(0xffff));
        key = _mm512_or_si512(_mm512_slli_epi64::<{ 2 * STEP }>(key), _mm512_srli_epi64::<2>(entry));
        orientation = _mm512_and_si512(entry, _mm512_set1_epi64(3));
    }
    key
}

/// See [`crate::collide::narrow_phase::find_hits`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(super) fn narrow(pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
    hits.begin(pairs.len());
    let (blocks, rest) = pairs.as_chunks();
    for block in blocks {
        narrow_block(block, shells, margin, hits);
    }
    add_hits(rest, shells, margin, hits);
}

/// Eight pairs, each in a 64-bit lane: x (or the only number) in the low half, y in the high one. The formulas are those of
/// [`crate::collide::narrow_phase::unit_and_length`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn narrow_block(pairs: &[IndexPair; LANES], shells: &[Shell], margin: i32, hits: &mut Hits) {
    let [d, half, reach] = differences(pairs, shells);
    let outside = _mm512_max_epi32(_mm512_sub_epi32(_mm512_abs_epi32(d), half), _mm512_setzero_si512());
    let inner = _mm512_cmpeq_epi64_mask(outside, _mm512_setzero_si512());
    let (x, y) = (outside, _mm512_srli_epi64::<32>(outside));
    let square = _mm512_add_epi64(_mm512_mul_epu32(x, x), _mm512_mul_epu32(y, y));
    let shift = _mm512_andnot_si512(_mm512_set1_epi64(1), _mm512_lzcnt_epi64(square));
    let v = _mm512_srli_epi64::<32>(_mm512_sllv_epi64(square, shift));
    let mut r = first_guess(_mm512_sub_epi64(_mm512_srli_epi64::<25>(v), _mm512_set1_epi64(32)));
    for _ in 0..2 {
        let square = _mm512_srli_epi64::<30>(_mm512_mul_epu32(r, r));
        let error = _mm512_srli_epi64::<32>(_mm512_mul_epu32(v, square));
        r = _mm512_srli_epi64::<31>(_mm512_mul_epu32(r, _mm512_sub_epi64(_mm512_set1_epi64(3 << 30), error)));
    }
    let down = _mm512_sub_epi64(_mm512_set1_epi64(32), _mm512_srli_epi64::<1>(shift));
    let round = _mm512_srli_epi64::<1>(_mm512_sllv_epi64(_mm512_set1_epi64(1), down));
    let unit = |q| _mm512_srlv_epi64(_mm512_add_epi64(_mm512_mul_epu32(q, r), round), down);
    let (unit_x, unit_y) = (unit(x), unit(y));
    let length = rounded(_mm512_add_epi64(_mm512_mul_epu32(x, unit_x), _mm512_mul_epu32(y, unit_y)));
    let mut gap = _mm512_cvtepi64_epi32(_mm512_sub_epi32(length, reach));
    let unit = _mm512_mask_blend_epi32(UPPER, unit_x, _mm512_slli_epi64::<32>(unit_y));
    let negative = _mm512_movepi32_mask(d);
    let mut normal = _mm512_mask_sub_epi32(unit, negative, _mm512_setzero_si512(), unit);
    if inner != 0 {
        (normal, gap) = with_inner(pairs, shells, inner, normal, gap);
    }
    let kept = _mm256_cmple_epi32_mask(gap, _mm256_set1_epi32(margin));
    keep_hits(pairs, normal, gap, kept, hits);
}

/// Differences of the centres, sums of the half extents, and sums of the radii in the low halves.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn differences(pairs: &[IndexPair; LANES], shells: &[Shell]) -> [__m512i; 3] {
    // Of one pair: [dx dy, half x half y, radius and what nobody reads].
    let of_pair = |l: usize| {
        let [a, b] = pairs[l].map(|body| load_shell(&shells[body as usize]));
        _mm256_blend_epi32::<0b11>(_mm256_add_epi32(a, b), _mm256_sub_epi32(b, a))
    };
    let two = |l: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(of_pair(l)), of_pair(l + 4));
    let [d, half, reach, _] = columns([two(0), two(1), two(2), two(3)]);
    [d, half, reach]
}

/// Four columns of eight 64-bit fields from eight rows of four: register `l` holds the rows `l` and `l + 4`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn columns(rows: [__m512i; 4]) -> [__m512i; 4] {
    // In lanes of 128 bits: one field of the rows 0 and 1, and 4 and 5, side by side.
    let (even01, even23) = (_mm512_unpacklo_epi64(rows[0], rows[1]), _mm512_unpacklo_epi64(rows[2], rows[3]));
    let (odd01, odd23) = (_mm512_unpackhi_epi64(rows[0], rows[1]), _mm512_unpackhi_epi64(rows[2], rows[3]));
    let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    [
        _mm512_permutex2var_epi64(even01, low, even23),
        _mm512_permutex2var_epi64(odd01, low, odd23),
        _mm512_permutex2var_epi64(even01, high, even23),
        _mm512_permutex2var_epi64(odd01, high, odd23),
    ]
}

/// [`RECIPROCAL_ROOT`] for eight indices; whatever for others.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_guess(index: __m512i) -> __m512i {
    let sixteen = |from: usize| {
        let values: &[u32; 16] = RECIPROCAL_ROOT[from..].first_chunk().expect("96 guesses");
        // SAFETY: sixteen values are 64 bytes.
        unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
    };
    let third = |from: usize| _mm512_permutex2var_epi32(sixteen(from), index, sixteen(from + 16));
    let beyond = |limit: i64| _mm512_cmpge_epi64_mask(index, _mm512_set1_epi64(limit));
    let guess = _mm512_mask_blend_epi64(beyond(32), third(0), third(32));
    let guess = _mm512_mask_blend_epi64(beyond(64), guess, third(64));
    // The upper halves hold what upper halves of indices have chosen.
    _mm512_and_si512(guess, _mm512_set1_epi64(0xffff_ffff))
}

/// Cores that overlap, one by one.
#[cold]
#[target_feature(enable = "avx512f,avx512vl")]
fn with_inner(
    pairs: &[IndexPair; LANES],
    shells: &[Shell],
    inner: __mmask8,
    normal: __m512i,
    gap: __m256i,
) -> (__m512i, __m256i) {
    let (mut normals, mut gaps) = ([[0i32; 2]; LANES], [0i32; LANES]);
    // SAFETY: the arrays have the sizes of the registers.
    unsafe {
        _mm512_storeu_si512(normals.as_mut_ptr().cast(), normal);
        _mm256_storeu_si256(gaps.as_mut_ptr().cast(), gap);
    }
    for (l, &[a, b]) in pairs.iter().enumerate().filter(|(l, _)| inner & 1 << l != 0) {
        (normals[l], gaps[l]) = separation(&shells[a as usize], &shells[b as usize]);
    }
    // SAFETY: as above.
    unsafe { (_mm512_loadu_si512(normals.as_ptr().cast()), load8(&gaps)) }
}

/// Appends the hits of a mask in order.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn keep_hits(pairs: &[IndexPair; LANES], normal: __m512i, gap: __m256i, kept: __mmask8, hits: &mut Hits) {
    let room = hits.len..hits.len + LANES;
    let to: (&mut [IndexPair], &mut [[i32; 2]], &mut [i32]) =
        (&mut hits.pairs[room.clone()], &mut hits.normals[room.clone()], &mut hits.gaps[room]);
    // SAFETY: eight elements of each list are there.
    unsafe {
        let pairs = _mm512_loadu_si512(pairs.as_ptr().cast());
        _mm512_storeu_si512(to.0.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(kept, pairs));
        _mm512_storeu_si512(to.1.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(kept, normal));
        _mm256_storeu_si256(to.2.as_mut_ptr().cast(), _mm256_maskz_compress_epi32(kept, gap));
    }
    hits.len += kept.count_ones() as usize;
}

/// Products back in raw units, rounded to nearest; only the low half of each lane counts.
#[inline]
#[target_feature(enable = "avx512f")]
fn rounded(product: __m512i) -> __m512i {
    _mm512_srli_epi64::<SHIFT>(_mm512_add_epi64(product, _mm512_set1_epi64(1 << (SHIFT - 1))))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn load8(values: &[i32; LANES]) -> __m256i {
    // SAFETY: eight values are 32 bytes.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn load_shell(shell: &Shell) -> __m256i {
    const { assert!(size_of::<Shell>() == 32) }
    // SAFETY: a shell is 32 bytes.
    unsafe { _mm256_loadu_si256(core::ptr::from_ref(shell).cast()) }
}
