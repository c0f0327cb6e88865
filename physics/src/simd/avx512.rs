//! AVX-512 by hand: two kernels in which compressed stores, masks and a count of leading zeros gain more than 5 % of a step (a crowd of
//! 10,000 on Zen 4: joining 10 %, the narrow phase 5 %). No `unsafe`: [`fearless_simd::kernel`] checks that the token stands for every
//! instruction.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use alloc::vec::Vec;

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, kernel, u8x64, u32x16, u64x4, u64x8};

use crate::body::record::Shell;
use crate::body::working_index::WorkingPair;
use crate::collide::narrow_phase::{Hits, RECIPROCAL_ROOT, separation};
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::lanes::UNIT_BITS;
use crate::tree::curve_box::CurvePair;

kernel!(
    /// See [`crate::tree::block_join::join_blocks`].
    pub(super) fn join(
        simd: Avx512,
        pairs: &[CurvePair],
        a: &[BoxBlock],
        b: &[BoxBlock],
        keep_own: u64,
        out: &mut Vec<CurvePair>,
    ) {
        for &pair in pairs {
            let own = if pair.a == pair.b { keep_own } else { u64::MAX };
            push_pairs(simd, pair, overlaps(simd, &a[pair.a.at()], &b[pair.b.at()]) & own, out);
        }
    }
);

kernel!(
    /// See [`crate::tree::block_join::overlaps`]: two rows of eight bits per iteration.
    #[inline]
    fn overlaps(simd: Avx512, a: &BoxBlock, b: &BoxBlock) -> u64 {
        let both = |values| _mm512_broadcast_i64x4(i32x8::load_array_ref(simd, values).into());
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
);

/// The numbers 0 to 63.
static EVERY_BIT: [u8; 64] = {
    let mut bits = [0; 64];
    let mut i = 0;
    while i < 64 {
        bits[i] = i as u8;
        i += 1;
    }
    bits
};

kernel!(
    /// See [`crate::tree::block_join::push_pairs`]: eight pairs per iteration, and hardly ever a second iteration.
    #[inline]
    fn push_pairs(simd: Avx512, pair: CurvePair, overlapping: u64, out: &mut Vec<CurvePair>) {
        let end = out.len() + overlapping.count_ones() as usize;
        let every = u8x64::load_array_ref(simd, &EVERY_BIT).into();
        let mut bits = _mm512_maskz_compress_epi8(overlapping, every);
        // Eight children each. Both halves have room for the shift.
        let first = _mm512_set1_epi64((pair.number() << LANES.ilog2()) as i64);
        loop {
            let bit = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(bits));
            let lane_of_b = _mm512_and_si512(bit, _mm512_set1_epi64(LANES as i64 - 1));
            let pair = _mm512_or_si512(_mm512_srli_epi64::<3>(bit), _mm512_slli_epi64::<32>(lane_of_b));
            let eight: u64x8<_> = _mm512_or_si512(first, pair).simd_into(simd);
            let eight: [CurvePair; LANES] = bytemuck::cast(eight.to_array());
            out.extend_from_slice(&eight);
            if out.len() >= end {
                break;
            }
            // The next eight bytes become the first.
            bits = _mm512_maskz_compress_epi8(u64::MAX << LANES, bits);
        }
        out.truncate(end);
    }
);

kernel!(
    /// See [`crate::collide::narrow_phase::find_hits`].
    pub(super) fn narrow(
        simd: Avx512,
        pairs: &[WorkingPair],
        shells: &[Shell],
        margin: i32,
        hits: &mut Hits,
    ) {
        hits.begin(pairs.len());
        let (blocks, rest) = pairs.as_chunks();
        for block in blocks {
            narrow_block(simd, block, shells, margin, hits);
        }
        for &[a, b] in rest {
            let (normal, gap) = separation(&shells[a], &shells[b]);
            hits.push_if(gap <= margin, [a, b], normal, gap);
        }
    }
);

/// The upper half of every 64-bit lane, as lanes of 32 bits.
const UPPER: __mmask16 = 0b1010_1010_1010_1010;

kernel!(
    /// Eight pairs, each in a 64-bit lane: x (or the only number) in the low half, y in the high one. The formulas are those of
    /// [`crate::collide::narrow_phase::unit_and_length`].
    #[inline]
    fn narrow_block(
        simd: Avx512,
        pairs: &[WorkingPair; LANES],
        shells: &[Shell],
        margin: i32,
        hits: &mut Hits,
    ) {
        let [d, half, reach] = differences(simd, pairs, shells);
        let outside = _mm512_max_epi32(_mm512_sub_epi32(_mm512_abs_epi32(d), half), _mm512_setzero_si512());
        let inner = _mm512_cmpeq_epi64_mask(outside, _mm512_setzero_si512());
        let (x, y) = (outside, _mm512_srli_epi64::<32>(outside));
        let square = _mm512_add_epi64(_mm512_mul_epu32(x, x), _mm512_mul_epu32(y, y));
        let shift = _mm512_andnot_si512(_mm512_set1_epi64(1), _mm512_lzcnt_epi64(square));
        let v = _mm512_srli_epi64::<32>(_mm512_sllv_epi64(square, shift));
        let mut r = first_guess(simd, _mm512_sub_epi64(_mm512_srli_epi64::<25>(v), _mm512_set1_epi64(32)));
        for _ in 0..2 {
            let square = _mm512_srli_epi64::<30>(_mm512_mul_epu32(r, r));
            let error = _mm512_srli_epi64::<32>(_mm512_mul_epu32(v, square));
            let factor = _mm512_sub_epi64(_mm512_set1_epi64(3 << 30), error);
            r = _mm512_srli_epi64::<31>(_mm512_mul_epu32(r, factor));
        }
        let down = _mm512_sub_epi64(_mm512_set1_epi64(32), _mm512_srli_epi64::<1>(shift));
        let round = _mm512_srli_epi64::<1>(_mm512_sllv_epi64(_mm512_set1_epi64(1), down));
        let unit = |q| _mm512_srlv_epi64(_mm512_add_epi64(_mm512_mul_epu32(q, r), round), down);
        let (unit_x, unit_y) = (unit(x), unit(y));
        let length = _mm512_add_epi64(_mm512_mul_epu32(x, unit_x), _mm512_mul_epu32(y, unit_y));
        let length = _mm512_add_epi64(length, _mm512_set1_epi64(1 << (UNIT_BITS - 1)));
        let length = _mm512_srli_epi64::<UNIT_BITS>(length);
        let gap = _mm512_cvtepi64_epi32(_mm512_sub_epi32(length, reach));
        let unit = _mm512_mask_blend_epi32(UPPER, unit_x, _mm512_slli_epi64::<32>(unit_y));
        let negative = _mm512_movepi32_mask(d);
        let normal = _mm512_mask_sub_epi32(unit, negative, _mm512_setzero_si512(), unit);
        if inner != 0 {
            return one_by_one(pairs, shells, margin, hits);
        }
        let kept = _mm256_cmple_epi32_mask(gap, _mm256_set1_epi32(margin));
        let pairs: [u64; LANES] = bytemuck::cast(*pairs);
        let pairs = _mm512_maskz_compress_epi64(kept, u64x8::load_array(simd, pairs).into());
        let pairs: u64x8<_> = pairs.simd_into(simd);
        let normals: u64x8<_> = _mm512_maskz_compress_epi64(kept, normal).simd_into(simd);
        let gaps: i32x8<_> = _mm256_maskz_compress_epi32(kept, gap).simd_into(simd);
        let count = kept.count_ones() as usize;
        hits.push_some(
            count,
            &bytemuck::cast(pairs.to_array()),
            &bytemuck::cast(normals.to_array()),
            &gaps.to_array(),
        );
    }
);

/// Cores that overlap need another formula.
#[cold]
fn one_by_one(pairs: &[WorkingPair; LANES], shells: &[Shell], margin: i32, hits: &mut Hits) {
    for &[a, b] in pairs {
        let (normal, gap) = separation(&shells[a], &shells[b]);
        hits.push_if(gap <= margin, [a, b], normal, gap);
    }
}

kernel!(
    /// Differences of the centres, sums of the half extents, and sums of the radii in the low halves.
    #[inline]
    fn differences(simd: Avx512, pairs: &[WorkingPair; LANES], shells: &[Shell]) -> [__m512i; 3] {
        // For one pair: [dx dy, half x half y, radius and an unused value].
        let of_pair = |l: usize| {
            let [a, b] = pairs[l];
            let a: __m256i = u64x4::load_array(simd, bytemuck::cast(shells[a])).into();
            let b: __m256i = u64x4::load_array(simd, bytemuck::cast(shells[b])).into();
            _mm256_blend_epi32::<0b11>(_mm256_add_epi32(a, b), _mm256_sub_epi32(b, a))
        };
        let two = |l: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(of_pair(l)), of_pair(l + 4));
        // In lanes of 128 bits: one field of the pairs 0 and 1, and 4 and 5, side by side.
        let [r0, r1, r2, r3] = [two(0), two(1), two(2), two(3)];
        let (even01, even23) = (_mm512_unpacklo_epi64(r0, r1), _mm512_unpacklo_epi64(r2, r3));
        let (odd01, odd23) = (_mm512_unpackhi_epi64(r0, r1), _mm512_unpackhi_epi64(r2, r3));
        let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        [
            _mm512_permutex2var_epi64(even01, low, even23),
            _mm512_permutex2var_epi64(odd01, low, odd23),
            _mm512_permutex2var_epi64(even01, high, even23),
        ]
    }
);

kernel!(
    /// [`RECIPROCAL_ROOT`] for eight indices; any number for an index outside of the table.
    #[inline]
    fn first_guess(simd: Avx512, index: __m512i) -> __m512i {
        let (sixteens, _) = RECIPROCAL_ROOT.as_chunks::<16>();
        let sixteen = |at: usize| u32x16::load_array_ref(simd, &sixteens[at]).into();
        let third = |at: usize| _mm512_permutex2var_epi32(sixteen(at), index, sixteen(at + 1));
        let beyond = |limit: i64| _mm512_cmpge_epi64_mask(index, _mm512_set1_epi64(limit));
        let guess = _mm512_mask_blend_epi64(beyond(32), third(0), third(2));
        let guess = _mm512_mask_blend_epi64(beyond(64), guess, third(4));
        // The upper halves hold what upper halves of indices have chosen.
        _mm512_and_si512(guess, _mm512_set1_epi64(0xffff_ffff))
    }
);
