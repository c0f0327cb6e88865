//! Transfer of a running match's state to a peer that joins: announced with hashes, sent in chunks, with missing chunks requested by
//! number.

use smallvec::SmallVec;

use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::{Field, read_bytes};
use crate::value::ids::PlayerId;

/// Bytes of every chunk except the last.
pub const CHUNK_BYTES: u32 = 1_024;

/// Greatest number of blocks of a state: their hashes fit into one packet.
pub const BLOCKS_MAX: u32 = 256;

/// Smallest size of a block.
const BLOCK_BYTES_MIN: u32 = 64 * 1_024;

/// How many chunks after the first missing one a [`Want`] can describe, in words of 64.
pub const WANT_WORDS_MAX: usize = 8;

/// Greatest size of a state in a [`Manifest`].
pub const STATE_BYTES_MAX: u32 = 256 << 20;

/// Bytes of each block except the last, for a state of this many bytes.
#[must_use]
pub fn block_bytes(total: u32) -> u32 {
    total.div_ceil(BLOCKS_MAX).max(BLOCK_BYTES_MIN).next_multiple_of(CHUNK_BYTES)
}

/// Number of blocks of a state of this many bytes.
#[must_use]
pub fn block_count(total: u32) -> u32 {
    total.div_ceil(block_bytes(total))
}

/// The announcement of a state: its hashes come before its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// The turn before which the state was taken.
    pub turn: u32,
    /// The player whose simulation it comes from.
    pub source: PlayerId,
    /// Number of bytes, 1..=[`STATE_BYTES_MAX`].
    pub total: u32,
    /// xxh3-64 of all bytes.
    pub hash: u64,
    /// Low halves of xxh3-64 of each block.
    pub blocks: Vec<u32>,
}

/// A part of the state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// The state: [`Manifest::turn`].
    pub turn: u32,
    /// Its index, in chunks.
    pub index: u32,
    /// The sender's time in ms, low half.
    pub sent_ms: u16,
    /// The bytes, 1..=[`CHUNK_BYTES`].
    pub bytes: Vec<u8>,
}

/// The chunks that have arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Want {
    /// The state: [`Manifest::turn`].
    pub turn: u32,
    /// The first missing chunk.
    pub next: u32,
    /// Number of chunks received.
    pub received: u32,
    /// [`Chunk::sent_ms`] of the last chunk received.
    pub echo_ms: u16,
    /// How long ago it arrived, in ms.
    pub held_ms: u16,
    /// Bit n: chunk `next + 1 + n` has arrived. The last word is never empty.
    pub have: SmallVec<[u64; WANT_WORDS_MAX]>,
}

/// The messages of a transfer. Exhaustive on purpose: another one is another [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// 0: wait, the state is being fetched.
    Wait,
    /// 1: the announcement of a state.
    Manifest(Manifest),
    /// 2: a part of it.
    Chunk(Chunk),
    /// 3: what has arrived and what is missing.
    Want(Want),
    /// 4: the state of this turn is not valid, or not available.
    Refuse {
        /// [`Manifest::turn`], or the turn of [`Transfer::Ask`].
        turn: u32,
    },
    /// 5: the joining peer has run every turn that it has, and wants to play.
    Here,
    /// 6: asks a player for its state before a turn that the player chooses.
    Ask {
        /// Not before this turn.
        not_before: u32,
    },
}

impl Field for Transfer {
    fn write(&self, writer: &mut BitWriter) {
        let kind = match self {
            Self::Wait => 0,
            Self::Manifest(_) => 1,
            Self::Chunk(_) => 2,
            Self::Want(_) => 3,
            Self::Refuse { .. } => 4,
            Self::Here => 5,
            Self::Ask { .. } => 6,
        };
        writer.write_bits(kind, 4);
        match self {
            Self::Wait | Self::Here => {}
            Self::Manifest(manifest) => manifest.write(writer),
            Self::Chunk(chunk) => chunk.write(writer),
            Self::Want(want) => want.write(writer),
            Self::Refuse { turn } => turn.write(writer),
            Self::Ask { not_before } => not_before.write(writer),
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match reader.read_max(4, 6)? {
            0 => Self::Wait,
            1 => Self::Manifest(Field::read(reader)?),
            2 => Self::Chunk(Field::read(reader)?),
            3 => Self::Want(Field::read(reader)?),
            4 => Self::Refuse { turn: Field::read(reader)? },
            5 => Self::Here,
            _ => Self::Ask { not_before: Field::read(reader)? },
        })
    }
}

impl Field for Chunk {
    fn write(&self, writer: &mut BitWriter) {
        self.turn.write(writer);
        self.index.write(writer);
        self.sent_ms.write(writer);
        writer.write_bits(self.bytes.len() as u64 - 1, 10);
        writer.write_slice(&self.bytes, 8 * self.bytes.len() as u32);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (turn, index, sent_ms) = (u32::read(reader)?, u32::read(reader)?, u16::read(reader)?);
        let length = reader.read_bits(10)? as u32 + 1;
        Ok(Self { turn, index, sent_ms, bytes: read_bytes(reader, length)? })
    }
}

impl Field for Manifest {
    fn write(&self, writer: &mut BitWriter) {
        self.turn.write(writer);
        self.source.write(writer);
        self.total.write(writer);
        self.hash.write(writer);
        self.blocks.iter().for_each(|block| block.write(writer));
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (turn, source) = Field::read(reader)?;
        let total = reader.read_max(32, u64::from(STATE_BYTES_MAX))? as u32;
        if total == 0 {
            return Err(DecodeError::NotCanonical);
        }
        let hash = u64::read(reader)?;
        let blocks = (0..block_count(total)).map(|_| u32::read(reader)).collect::<Result<_, _>>()?;
        Ok(Self { turn, source, total, hash, blocks })
    }
}

impl Field for Want {
    fn write(&self, writer: &mut BitWriter) {
        self.turn.write(writer);
        self.next.write(writer);
        self.received.write(writer);
        self.echo_ms.write(writer);
        self.held_ms.write(writer);
        writer.write_bits(self.have.len() as u64, 4);
        self.have.iter().for_each(|word| word.write(writer));
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (turn, next, received) = (u32::read(reader)?, u32::read(reader)?, u32::read(reader)?);
        let (echo_ms, held_ms) = Field::read(reader)?;
        let words = reader.read_max(4, WANT_WORDS_MAX as u64)?;
        let have: SmallVec<_> = (0..words).map(|_| u64::read(reader)).collect::<Result<_, _>>()?;
        if have.last() == Some(&0) {
            return Err(DecodeError::NotCanonical);
        }
        Ok(Self { turn, next, received, echo_ms, held_ms, have })
    }
}
