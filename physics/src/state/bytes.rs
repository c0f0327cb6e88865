//! Little-endian bytes: where a walk writes them, and where a reader takes them from.

use alloc::vec::Vec;

use crate::state::hash::{Hasher, hash_bytes};
use crate::state::version::SnapshotError;

/// Receives the bytes of the walk.
pub(crate) trait Sink {
    fn put(&mut self, bytes: &[u8]);

    fn put_u32(&mut self, v: u32) {
        self.put(&v.to_le_bytes());
    }

    fn put_u64(&mut self, v: u64) {
        self.put(&v.to_le_bytes());
    }

    /// Writes many numbers at once.
    fn put_all(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        let mut block = [[0u8; 4]; 256];
        let mut numbers = numbers;
        while numbers.len() > 0 {
            let count = numbers.len().min(block.len());
            for (bytes, number) in block[..count].iter_mut().zip(&mut numbers) {
                *bytes = number.to_le_bytes();
            }
            self.put(block[..count].as_flattened());
        }
    }

    fn put_pair(&mut self, v: [i32; 2]) {
        self.put(&(u64::from(v[0] as u32) | u64::from(v[1] as u32) << 32).to_le_bytes());
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Sink for Hasher {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.write(bytes);
    }
}

impl Hasher {
    /// The hash of many numbers, as little-endian; on a little-endian machine straight from memory.
    pub(crate) fn put_numbers(&mut self, numbers: &[u32]) {
        if cfg!(target_endian = "little") {
            self.put_hash_of(bytemuck::cast_slice(numbers));
        } else {
            let mut hasher = Self::new();
            hasher.put_all(numbers.iter().copied());
            self.put_u64(hasher.finish());
        }
    }

    /// The hash of many bytes: hashing them at once takes nine tenths of the time of passing them on.
    pub(crate) fn put_hash_of(&mut self, bytes: &[u8]) {
        self.put_u64(hash_bytes(bytes));
    }
}

/// A buffer that collects bytes before they go on.
pub(crate) struct Page<const SIZE: usize> {
    pub(crate) bytes: [u8; SIZE],
    // not state: the number of bytes in the page
    pub(crate) len: usize,
}

impl<const SIZE: usize> Page<SIZE> {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; SIZE], len: 0 }
    }

    /// Passes its bytes on and empties itself.
    pub(crate) fn flush(&mut self, sink: &mut impl Sink) {
        sink.put(&self.bytes[..self.len]);
        self.len = 0;
    }
}

impl<const SIZE: usize> Sink for Page<SIZE> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

/// Little-endian numbers from a slice; running out of bytes is an error.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, left) = self.bytes.split_at_checked(count).ok_or(SnapshotError::Damaged)?;
        self.bytes = left;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let (taken, left) = self.bytes.split_first_chunk().ok_or(SnapshotError::Damaged)?;
        self.bytes = left;
        Ok(*taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Takes a number if it is this one.
    pub(crate) fn next_is(&mut self, number: u32) -> bool {
        let found = self.bytes.first_chunk() == Some(&number.to_le_bytes());
        if found {
            self.bytes = &self.bytes[4..];
        }
        found
    }

    pub(crate) fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, SnapshotError> {
        Ok(self.u32()? as i32)
    }

    pub(crate) fn pair(&mut self) -> Result<[i32; 2], SnapshotError> {
        Ok([self.i32()?, self.i32()?])
    }

    /// A number of items of at least `item_bytes` each. A number larger than the remaining bytes allow is damage and causes no allocation.
    pub(crate) fn count(&mut self, item_bytes: usize) -> Result<usize, SnapshotError> {
        let count = self.u32()? as usize;
        if count > self.bytes.len() / item_bytes { Err(SnapshotError::Damaged) } else { Ok(count) }
    }
}

/// Little-endian numbers of 32 bits; up to three bytes at the end are left out.
pub(crate) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks().0.iter().map(|&chunk| u32::from_le_bytes(chunk))
}
