//! XXH3 (64 bits, no seed) of long inputs, block by block, for registers of any width.
//!
//! The library that hashes everything else here knows AVX2 at most and keeps its sums in memory between stripes; a checksum of a
//! whole world is the one place where that shows. Tests compare every path with the library. The algorithm:
//! <https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md>, section "XXH3 algorithm for large inputs".

/// Bytes that are added to the sums at once.
pub(crate) const STRIPE: usize = 64;
/// Bytes between two scramblings.
pub(crate) const BLOCK: usize = 1_024;
/// Inputs up to this length have other rules.
pub(crate) const SHORT_MAX: u64 = 240;

pub(crate) type Sums = [u64; 8];
pub(crate) type Block = [u8; BLOCK];

/// The sums of an empty input.
pub(crate) const START: Sums = [
    0xC2B2_AE3D,
    PRIME64_1,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x85EB_CA77,
    0x27D4_EB2F_1656_67C5,
    PRIME32_1,
];

pub(crate) const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;

/// Stripe `i` of a block is mixed with the 64 bytes from `8 * i` on, scrambling takes the last 64.
pub(crate) const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde,
    0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79,
    0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46,
    0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb,
    0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2,
    0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c,
    0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59,
    0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3,
    0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3,
    0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8,
    0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb,
    0xca, 0xbb, 0x4b, 0x40, 0x7e,
];
const SECRET_OF_LAST_STRIPE: usize = 121;
const SECRET_OF_MERGE: usize = 11;

/// Adds whole blocks.
#[inline(always)]
pub(crate) fn add_blocks(sums: &mut Sums, blocks: &[Block]) {
    let mut local = *sums; // registers, not memory
    for block in blocks {
        for (i, stripe) in block.as_chunks().0.iter().enumerate() {
            add_stripe(&mut local, stripe, secret(8 * i));
        }
        for (sum, key) in local.iter_mut().zip(words(secret(SECRET.len() - STRIPE))) {
            *sum = (*sum ^ *sum >> 47 ^ key).wrapping_mul(PRIME32_1);
        }
    }
    *sums = local;
}

/// The hash of an input longer than [`SHORT_MAX`], from the sums of all blocks but the last one, which has 1 to [`BLOCK`] bytes.
///
/// `end`: the last [`STRIPE`] bytes of the input, which may reach into the block before.
pub(crate) fn finish(mut sums: Sums, last: &[u8], end: &[u8; STRIPE], total: u64) -> u64 {
    let stripes = &last.as_chunks().0[..(last.len() - 1) / STRIPE];
    for (i, stripe) in stripes.iter().enumerate() {
        add_stripe(&mut sums, stripe, secret(8 * i));
    }
    add_stripe(&mut sums, end, secret(SECRET_OF_LAST_STRIPE));
    let keys = words(secret(SECRET_OF_MERGE));
    let pairs = sums.as_chunks::<2>().0.iter().zip(keys.as_chunks::<2>().0);
    let merged = pairs.fold(total.wrapping_mul(PRIME64_1), |merged, ([a, b], [key_a, key_b])| {
        let product = u128::from(a ^ key_a) * u128::from(b ^ key_b);
        merged.wrapping_add(product as u64 ^ (product >> 64) as u64)
    });
    let mixed = (merged ^ merged >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
    mixed ^ mixed >> 32
}

#[inline(always)]
fn add_stripe(sums: &mut Sums, stripe: &[u8; STRIPE], secret: &[u8; STRIPE]) {
    let (values, keys) = (words(stripe), words(secret));
    for i in 0..sums.len() {
        let mixed = values[i] ^ keys[i];
        sums[i] = sums[i].wrapping_add((mixed & 0xFFFF_FFFF) * (mixed >> 32)).wrapping_add(values[i ^ 1]);
    }
}

#[inline(always)]
fn words(bytes: &[u8; STRIPE]) -> [u64; 8] {
    let chunks = bytes.as_chunks().0;
    core::array::from_fn(|i| u64::from_le_bytes(chunks[i]))
}

#[inline(always)]
fn secret(from: usize) -> &'static [u8; STRIPE] {
    SECRET[from..].first_chunk().unwrap_or(&[0; STRIPE])
}
