//! The hash of a stream of bytes, in pieces of any length: XXH3, 64 bits.

use core::slice;

use twox_hash::XxHash3_64;

use crate::math::xxh3::{self, BLOCK, Block, SHORT_MAX, STRIPE, Sums};
use crate::simd::Path;

/// Hashes what it is given, as one input.
pub(crate) struct Hasher {
    path: Path,
    sums: Sums,
    /// What came after the last whole block that was added; never empty after the first byte.
    buffer: Block,
    // not state: how full the buffer is
    len: usize,
    /// The end of the last block that was added.
    before: [u8; STRIPE],
    total: u64,
}

impl Hasher {
    pub(crate) fn new(path: Path) -> Self {
        Self { path, sums: xxh3::START, buffer: [0; BLOCK], len: 0, before: [0; STRIPE], total: 0 }
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = BLOCK - self.len;
        if bytes.len() <= room {
            self.keep(bytes);
        } else {
            let (first, rest) = bytes.split_at(room);
            self.keep(first);
            self.write_far(rest);
        }
    }

    /// Goes on where the buffer is full; `bytes` is not empty.
    fn write_far(&mut self, bytes: &[u8]) {
        self.path.add_blocks(&mut self.sums, slice::from_ref(&self.buffer));
        // The last block stays here, even if it is whole: the end of the input has other rules.
        let (blocks, rest) = bytes.split_at((bytes.len() - 1) / BLOCK * BLOCK);
        let blocks = blocks.as_chunks().0;
        self.path.add_blocks(&mut self.sums, blocks);
        let added = blocks.last().unwrap_or(&self.buffer);
        self.before.copy_from_slice(&added[BLOCK - STRIPE..]);
        self.len = 0;
        self.keep(rest);
    }

    #[inline]
    fn keep(&mut self, bytes: &[u8]) {
        self.buffer[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub(crate) fn finish(&self) -> u64 {
        let last = &self.buffer[..self.len];
        if self.total <= SHORT_MAX {
            return hash_bytes(last);
        }
        let mut end = self.before;
        match last.last_chunk() {
            Some(chunk) => end = *chunk,
            None => {
                end.rotate_left(last.len());
                end[STRIPE - last.len()..].copy_from_slice(last);
            }
        }
        xxh3::finish(self.sums, last, &end, self.total)
    }
}

/// XXH3, 64 bits: the hash that checksums and snapshots use, for games that hash their own state the same way.
///
/// ```
/// assert_eq!(testudo_physics::hash_bytes(b""), 0x2d06_8005_38d3_94c2);
/// ```
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::math::rng::Pcg32;
    use crate::world_def::Simd;

    const PATHS: [Simd; 4] = [Simd::Plain, Simd::Sse41, Simd::Avx2, Simd::Widest];

    #[test]
    fn every_length_in_pieces_of_any_length_is_hashed_as_by_the_library() {
        let mut rng = Pcg32::new(1, 1);
        let bytes: Vec<u8> = (0..5_000).map(|_| rng.next_u32() as u8).collect();
        for len in (0..=2_200).chain([3_071, 3_072, 3_073, 4_096, 5_000]) {
            let path = Path::detect(PATHS[len % PATHS.len()]);
            let (mut hasher, mut rest) = (Hasher::new(path), &bytes[..len]);
            while !rest.is_empty() {
                let most = [1, 70, 1_500, 5_000][(rng.next_u32() % 4) as usize];
                let piece = (rng.next_u32() as usize % most + 1).min(rest.len());
                hasher.write(&rest[..piece]);
                rest = &rest[piece..];
            }
            assert_eq!(hasher.finish(), hash_bytes(&bytes[..len]), "{len} bytes, {path:?}");
        }
    }

    #[test]
    fn every_path_hashes_alike() {
        let mut rng = Pcg32::new(2, 1);
        let bytes: Vec<u8> = (0..100_003).map(|_| rng.next_u32() as u8).collect();
        for simd in PATHS {
            let mut hasher = Hasher::new(Path::detect(simd));
            hasher.write(&bytes);
            assert_eq!(hasher.finish(), hash_bytes(&bytes), "{simd:?}");
        }
    }
}
