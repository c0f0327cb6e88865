//! The hash of a state (XXH3), over bytes that come in small pieces.

use core::hash::Hasher;

use twox_hash::xxhash3_64::{self, RawHasher, SecretBuffer};

use crate::state::Number;

/// Bytes of the secret of XXH3.
const SECRET_BYTES: usize = 192;

/// Bytes that are collected before they are hashed, because one call of the hash per number would cost more than the hash.
const PENDING_BYTES: usize = 1_024;

/// Bytes of an object that can be collected behind those before it.
const OBJECT_BYTES: usize = 512;

type Hash = RawHasher<[u8; SECRET_BYTES]>;

/// The visitor that hashes: the bytes of a state, and among them hashes of single objects.
pub(super) struct Hashing {
    hash: Hash,
    pending: [u8; PENDING_BYTES],
    filled: usize,
    /// While an object is hashed: where its bytes begin, and the hash of those that had no room.
    object: Option<(usize, Option<Hash>)>,
}

impl Hashing {
    pub(super) fn new() -> Self {
        Self { hash: new_hash(), pending: [0; PENDING_BYTES], filled: 0, object: None }
    }

    #[inline(always)]
    pub(super) fn put<T: Number>(&mut self, value: T) {
        if self.filled > PENDING_BYTES - 8 {
            self.hash_pending();
        }
        self.pending[self.filled..self.filled + 8].copy_from_slice(&value.to_bits().to_le_bytes());
        self.filled += T::BITS.div_ceil(8) as usize;
    }

    #[cold]
    #[inline(never)]
    fn hash_pending(&mut self) {
        let (start, hash) = match &mut self.object {
            None => (0, &mut self.hash),
            Some((start, hash)) => (*start, hash.get_or_insert_with(new_hash)),
        };
        hash.write(&self.pending[start..self.filled]);
        self.filled = start;
    }

    /// The hash of all bytes.
    pub(super) fn finish(mut self) -> u64 {
        self.hash_pending();
        self.hash.finish()
    }

    /// Whether the bytes are those of an object.
    pub(super) fn is_in_object(&self) -> bool {
        self.object.is_some()
    }

    /// The bytes that follow are those of an object.
    pub(super) fn begin_object(&mut self) {
        if self.filled > PENDING_BYTES - OBJECT_BYTES {
            self.hash_pending();
        }
        self.object = Some((self.filled, None));
    }

    /// The hash of the bytes since [`Hashing::begin_object`], which are not part of the whole.
    pub(super) fn end_object(&mut self) -> u64 {
        let Some((start, begun)) = self.object.take() else { return 0 };
        let bytes = &self.pending[start..self.filled];
        self.filled = start;
        let Some(mut hash) = begun else { return xxhash3_64::Hasher::oneshot(bytes) };
        hash.write(bytes);
        hash.finish()
    }
}

fn new_hash() -> Hash {
    let secret =
        SecretBuffer::with_seed(0, [0; SECRET_BYTES]).expect("the secret has the length that XXH3 asks for");
    RawHasher::new(secret)
}
