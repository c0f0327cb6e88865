//! 128-bit registers: SSE2, which every x86-64 machine has.

use core::arch::x86_64::*;

use crate::quadtree::LANES;

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
