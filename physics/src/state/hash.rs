//! The hash of checksums and snapshots: XXH3, 64 bits, no seed.

use core::hash::Hasher as _;

use twox_hash::XxHash3_64;
use twox_hash::xxhash3_64::{DEFAULT_SECRET_LENGTH, RawHasher, SecretBuffer};

/// Hashes the given pieces as one input. It lives on the stack, so a checksum allocates nothing.
pub(crate) struct Hasher(RawHasher<[u8; DEFAULT_SECRET_LENGTH]>);

impl Hasher {
    pub(crate) fn new() -> Self {
        let secret = SecretBuffer::with_seed(0, [0; DEFAULT_SECRET_LENGTH]);
        // The only error is a secret that is too short.
        Self(RawHasher::new(secret.unwrap_or_else(|_| unreachable!())))
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// XXH3, 64 bits: the hash of checksums and snapshots. Games can use it to hash their own state.
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

    #[test]
    fn pieces_of_any_length_are_hashed_as_one_input() {
        let mut rng = Pcg32::new(1, 1);
        let bytes: Vec<u8> = (0..5_000).map(|_| rng.next_u32() as u8).collect();
        for len in (0..=2_200).chain([3_071, 3_072, 3_073, 4_096, 5_000]) {
            let (mut hasher, mut rest) = (Hasher::new(), &bytes[..len]);
            while !rest.is_empty() {
                let most = [1, 70, 1_500, 5_000][(rng.next_u32() % 4) as usize];
                let piece = (rng.next_u32() as usize % most + 1).min(rest.len());
                hasher.write(&rest[..piece]);
                rest = &rest[piece..];
            }
            assert_eq!(hasher.finish(), hash_bytes(&bytes[..len]), "{len} bytes");
        }
    }
}
