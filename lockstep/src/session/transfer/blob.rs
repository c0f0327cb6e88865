//! A state in transfer: blocks of chunks; the hash of each block was announced before.

use smallvec::SmallVec;
use twox_hash::XxHash3_64;

use crate::packet::{CHUNK_BYTES, Chunk, Manifest, WANT_WORDS_MAX, block_bytes};
use crate::value::ids::PlayerId;

/// Number of blocks with a wrong hash after which a source is given up.
const DAMAGED_MAX: u8 = 3;

/// The bytes of a state that a peer sends or receives.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    manifest: Manifest,
    blocks: Vec<Block>,
    /// All chunks below this number have arrived.
    next: u32,
    /// Number of chunks that have arrived.
    received: u32,
    damaged: u8,
}

/// Its memory is allocated when its first chunk arrives.
#[derive(Clone, Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    /// Bit n: chunk n of the block has arrived.
    have: Vec<u64>,
    missing: u32,
    is_good: bool,
}

/// The result of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It was new.
    New,
    /// It had arrived before, or does not belong to the state.
    Useless,
    /// It was the last one of a block with a wrong hash: the whole block must be sent again.
    Damaged,
    /// Too many blocks were wrong.
    Hopeless,
}

impl Blob {
    /// A complete state. None if it is empty or too large for a manifest.
    pub(crate) fn whole(turn: u32, source: PlayerId, bytes: &[u8]) -> Option<Self> {
        let total = u32::try_from(bytes.len()).ok()?;
        if total == 0 || total > crate::packet::STATE_BYTES_MAX {
            return None;
        }
        let parts = || bytes.chunks(block_bytes(total) as usize);
        let block = |part: &[u8]| Block { bytes: part.to_vec(), is_good: true, ..Block::default() };
        let blocks = parts().map(|part| XxHash3_64::oneshot(part) as u32).collect();
        let manifest = Manifest { turn, source, total, hash: XxHash3_64::oneshot(bytes), blocks };
        let chunks = total.div_ceil(CHUNK_BYTES);
        Some(Self {
            manifest,
            blocks: parts().map(block).collect(),
            next: chunks,
            received: chunks,
            damaged: 0,
        })
    }

    /// A state that was announced.
    pub(crate) fn promised(manifest: Manifest) -> Self {
        let blocks = vec![Block::default(); manifest.blocks.len()];
        Self { manifest, blocks, next: 0, received: 0, damaged: 0 }
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(crate) fn turn(&self) -> u32 {
        self.manifest.turn
    }

    pub(crate) fn chunks(&self) -> u32 {
        self.manifest.total.div_ceil(CHUNK_BYTES)
    }

    pub(crate) fn received(&self) -> u32 {
        self.received
    }

    /// All chunks below this number have arrived.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.next == self.chunks()
    }

    /// Whether its first bytes are here, and are these. They are not checked yet.
    pub(crate) fn starts_with(&self, bytes: &[u8]) -> bool {
        self.has(0) && self.blocks.first().is_some_and(|block| block.bytes.starts_with(bytes))
    }

    /// A chunk of a block with the right hash.
    pub(crate) fn chunk(&self, index: u32) -> Option<&[u8]> {
        let (block, place) = self.place_of(index)?;
        let block = self.blocks.get(block).filter(|block| block.is_good)?;
        let start = (place * CHUNK_BYTES) as usize;
        block.bytes.get(start..block.bytes.len().min(start + CHUNK_BYTES as usize))
    }

    /// Stores a chunk. Chunks beyond the range of a [`crate::packet::Want`] are ignored, so an announcement alone costs no memory.
    pub(crate) fn take(&mut self, chunk: &Chunk) -> Taken {
        let most = self.next.saturating_add(64 * WANT_WORDS_MAX as u32);
        let Some((at, place)) = self.place_of(chunk.index).filter(|_| chunk.index <= most) else {
            return Taken::Useless;
        };
        let start = (place * CHUNK_BYTES) as usize;
        let size = self.size_of(at);
        let end = size.min(start + CHUNK_BYTES as usize);
        let block = &mut self.blocks[at];
        if block.is_good || chunk.bytes.len() != end - start || chunk.turn != self.manifest.turn {
            return Taken::Useless;
        }
        if block.bytes.is_empty() {
            block.missing = (size as u32).div_ceil(CHUNK_BYTES);
            block.have = vec![0; block.missing.div_ceil(64) as usize];
            block.bytes = vec![0; size];
        }
        let (word, bit) = (place as usize / 64, 1 << (place % 64));
        if block.have[word] & bit != 0 {
            return Taken::Useless;
        }
        block.have[word] |= bit;
        block.missing -= 1;
        block.bytes[start..end].copy_from_slice(&chunk.bytes);
        self.received += 1;
        if block.missing == 0 {
            if XxHash3_64::oneshot(&block.bytes) as u32 != self.manifest.blocks[at] {
                return self.forget_block(at);
            }
            block.is_good = true;
            block.have = Vec::new();
        }
        while self.next < self.chunks() && self.has(self.next) {
            self.next += 1;
        }
        Taken::New
    }

    /// The chunks after the first missing one that have arrived.
    pub(crate) fn have(&self) -> SmallVec<[u64; WANT_WORDS_MAX]> {
        let mut words: SmallVec<[u64; WANT_WORDS_MAX]> = SmallVec::new();
        words.resize(WANT_WORDS_MAX, 0);
        for bit in 0..64 * WANT_WORDS_MAX as u32 {
            let here = self.has(self.next.saturating_add(1).saturating_add(bit));
            words[bit as usize / 64] |= u64::from(here) << (bit % 64);
        }
        while words.last() == Some(&0) {
            words.pop();
        }
        words
    }

    /// All bytes, if they match the announcement.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.manifest.total as usize);
        for block in self.blocks {
            bytes.extend_from_slice(&block.bytes);
        }
        (XxHash3_64::oneshot(&bytes) == self.manifest.hash).then_some(bytes)
    }

    fn forget_block(&mut self, at: usize) -> Taken {
        let first = at as u32 * (block_bytes(self.manifest.total) / CHUNK_BYTES);
        self.received -= (self.size_of(at) as u32).div_ceil(CHUNK_BYTES);
        self.blocks[at] = Block::default();
        self.next = self.next.min(first);
        self.damaged += 1;
        if self.damaged >= DAMAGED_MAX { Taken::Hopeless } else { Taken::Damaged }
    }

    fn has(&self, index: u32) -> bool {
        let Some((block, place)) = self.place_of(index) else { return false };
        let block = &self.blocks[block];
        block.is_good || block.have.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Block, and index of the chunk in it.
    fn place_of(&self, index: u32) -> Option<(usize, u32)> {
        let per_block = block_bytes(self.manifest.total) / CHUNK_BYTES;
        (index < self.chunks()).then_some(((index / per_block) as usize, index % per_block))
    }

    fn size_of(&self, block: usize) -> usize {
        let (size, total) = (block_bytes(self.manifest.total) as usize, self.manifest.total as usize);
        size.min(total - block * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    fn chunk(blob: &Blob, index: u32) -> Chunk {
        Chunk { turn: blob.turn(), index, sent_ms: 0, bytes: blob.chunk(index).unwrap().to_vec() }
    }

    #[test]
    fn chunks_in_any_order_give_the_same_bytes() {
        for total in [1, 1_023, 1_024, 1_025, 65_536, 65_537, 200_000, 20 << 20] {
            let whole = Blob::whole(9, PlayerId(1), &bytes(total)).unwrap();
            let mut got = Blob::promised(whole.manifest().clone());
            // The newest allowed one first.
            while !got.is_whole() {
                let last = (got.next() + 512).min(whole.chunks() - 1);
                for index in (got.next()..=last).rev() {
                    assert!(matches!(got.take(&chunk(&whole, index)), Taken::New | Taken::Useless));
                }
            }
            assert_eq!(got.into_bytes(), Some(bytes(total)), "{total}");
        }
    }

    #[test]
    fn a_damaged_block_comes_again_and_the_third_is_one_too_many() {
        let whole = Blob::whole(9, PlayerId(1), &bytes(100_000)).unwrap();
        let mut got = Blob::promised(whole.manifest().clone());
        for round in 1..=3 {
            for index in 0..64 {
                let mut forged = chunk(&whole, index);
                forged.bytes[5] ^= u8::from(index == 40);
                let taken = got.take(&forged);
                let last = if round == 3 { Taken::Hopeless } else { Taken::Damaged };
                assert_eq!(taken, if index == 63 { last } else { Taken::New });
            }
            assert_eq!((got.next(), got.received()), (0, 0));
        }
    }

    #[test]
    fn a_promise_takes_no_memory() {
        let manifest =
            Manifest { turn: 1, source: PlayerId(0), total: 256 << 20, hash: 1, blocks: vec![0; 256] };
        let mut blob = Blob::promised(manifest);
        let far = Chunk { turn: 1, index: 5_000, sent_ms: 0, bytes: vec![0; 1_024] };
        assert_eq!(blob.take(&far), Taken::Useless);
        assert!(blob.blocks.iter().all(|block| block.bytes.capacity() == 0));
    }
}
