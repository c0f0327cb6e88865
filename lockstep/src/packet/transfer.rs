//! Transfer of a running match's state to a peer that joins: announced with hashes, sent in chunks, with missing chunks requested by
//! number.

use smallvec::SmallVec;

use crate::packet::{Kind, begin};
use crate::value::bits::{BitReader, BitWriter, DecodeError};
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

impl Transfer {
    pub(crate) fn encode(&self, writer: &mut BitWriter) {
        begin(writer, Kind::Transfer);
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
            Self::Chunk(chunk) => {
                writer.write_bits(u64::from(chunk.turn), 32);
                writer.write_bits(u64::from(chunk.index), 32);
                writer.write_bits(u64::from(chunk.sent_ms), 16);
                writer.write_bits(chunk.bytes.len() as u64 - 1, 10);
                writer.write_slice(&chunk.bytes, 8 * chunk.bytes.len() as u32);
            }
            Self::Want(want) => want.write(writer),
            Self::Refuse { turn } => writer.write_bits(u64::from(*turn), 32),
            Self::Ask { not_before } => writer.write_bits(u64::from(*not_before), 32),
        }
    }

    pub(crate) fn decode(mut reader: BitReader<'_>) -> Result<Self, DecodeError> {
        let transfer = match reader.read_max(4, 6)? {
            0 => Self::Wait,
            1 => Self::Manifest(Manifest::read(&mut reader)?),
            2 => {
                let turn = reader.read_bits(32)? as u32;
                let index = reader.read_bits(32)? as u32;
                let sent_ms = reader.read_bits(16)? as u16;
                let length = reader.read_bits(10)? as usize + 1;
                let mut bytes = Vec::with_capacity(length);
                for _ in 0..length {
                    bytes.push(reader.read_bits(8)? as u8);
                }
                Self::Chunk(Chunk { turn, index, sent_ms, bytes })
            }
            3 => Self::Want(Want::read(&mut reader)?),
            4 => Self::Refuse { turn: reader.read_bits(32)? as u32 },
            5 => Self::Here,
            _ => Self::Ask { not_before: reader.read_bits(32)? as u32 },
        };
        reader.finish()?;
        Ok(transfer)
    }
}

impl Manifest {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(u64::from(self.turn), 32);
        writer.write_bits(u64::from(self.source.0), 4);
        writer.write_bits(u64::from(self.total), 32);
        writer.write_bits(self.hash, 64);
        for block in &self.blocks {
            writer.write_bits(u64::from(*block), 32);
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let turn = reader.read_bits(32)? as u32;
        let source = PlayerId(reader.read_bits(4)? as u8);
        let total = reader.read_max(32, u64::from(STATE_BYTES_MAX))? as u32;
        if total == 0 {
            return Err(DecodeError::NotCanonical);
        }
        let hash = reader.read_bits(64)?;
        let read = |_| Ok(reader.read_bits(32)? as u32);
        let blocks = (0..block_count(total)).map(read).collect::<Result<_, DecodeError>>()?;
        Ok(Self { turn, source, total, hash, blocks })
    }
}

impl Want {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(u64::from(self.turn), 32);
        writer.write_bits(u64::from(self.next), 32);
        writer.write_bits(u64::from(self.received), 32);
        writer.write_bits(u64::from(self.echo_ms), 16);
        writer.write_bits(u64::from(self.held_ms), 16);
        writer.write_bits(self.have.len() as u64, 4);
        for word in &self.have {
            writer.write_bits(*word, 64);
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let turn = reader.read_bits(32)? as u32;
        let next = reader.read_bits(32)? as u32;
        let received = reader.read_bits(32)? as u32;
        let echo_ms = reader.read_bits(16)? as u16;
        let held_ms = reader.read_bits(16)? as u16;
        let mut have = SmallVec::new();
        for _ in 0..reader.read_max(4, WANT_WORDS_MAX as u64)? {
            have.push(reader.read_bits(64)?);
        }
        if have.last() == Some(&0) {
            return Err(DecodeError::NotCanonical);
        }
        Ok(Self { turn, next, received, echo_ms, held_ms, have })
    }
}
