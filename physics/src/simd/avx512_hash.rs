//! XXH3 with AVX-512: the eight sums are one register.

use core::arch::x86_64::*;

use crate::math::xxh3::{BLOCK, Block, PRIME32_1, SECRET, STRIPE, Sums};

/// See [`add_blocks`](crate::math::xxh3::add_blocks).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn add_blocks(sums: &mut Sums, blocks: &[Block]) {
    // SAFETY: every place below is followed by 64 bytes of its array.
    let load =
        |bytes: &[u8], at: usize| unsafe { _mm512_loadu_si512(bytes[at..at + STRIPE].as_ptr().cast()) };
    let keys: [__m512i; BLOCK / STRIPE] = core::array::from_fn(|i| load(&SECRET, 8 * i));
    let scramble = load(&SECRET, SECRET.len() - STRIPE);
    let prime = _mm512_set1_epi64(PRIME32_1 as i64);
    // SAFETY: eight sums are 64 bytes.
    let mut sum = unsafe { _mm512_loadu_si512(sums.as_ptr().cast()) };
    for block in blocks {
        for (i, &key) in keys.iter().enumerate() {
            let values = load(block, STRIPE * i);
            let mixed = _mm512_xor_si512(values, key);
            let product = _mm512_mul_epu32(mixed, _mm512_srli_epi64::<32>(mixed));
            let swapped = _mm512_shuffle_epi32::<0b01_00_11_10>(values);
            sum = _mm512_add_epi64(sum, _mm512_add_epi64(product, swapped));
        }
        let mixed = _mm512_ternarylogic_epi64::<0b1001_0110>(sum, _mm512_srli_epi64::<47>(sum), scramble);
        sum = _mm512_mullo_epi64(mixed, prime);
    }
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), sum) }
}
