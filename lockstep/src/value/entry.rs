//! One entry of a player's stream: the encoded actions of one turn, and the extras that travel with them.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::value::bits::{BitReader, DecodeError};
use crate::value::ids::PlayerSet;

/// So many bytes stand in a payload itself.
const FEW: usize = 16;

/// What a block of the heap takes beside its content: the two counters of an [`Arc`], and the allocator's own.
const BLOCK_BYTES: u64 = 32;

/// The bits of a turn's actions. In input mode one action; in command mode any number of actions, one after the other.
///
/// Copies share all but a few bytes: a packet repeats an entry for one bit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    bytes: Bytes,
    bit_count: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Bytes {
    /// The used ones are first, and the others are zero.
    Few([u8; FEW]),
    Many(Arc<[u8]>),
}

impl Payload {
    /// The first `bit_count` bits of `bytes`; the rest of the last byte is cleared.
    ///
    /// # Panics
    /// If `bytes` holds fewer bits.
    #[must_use]
    pub fn new(bytes: &[u8], bit_count: u32) -> Self {
        let bytes = &bytes[..bit_count.div_ceil(8) as usize];
        let used = 0xff_u8 >> (bit_count.wrapping_neg() & 7);
        let mask = |index| if index + 1 == bytes.len() { used } else { 0xff };
        Self::of(bytes.iter().enumerate().map(|(index, byte)| byte & mask(index)), bit_count)
    }

    /// Reads so many bits.
    pub(crate) fn read(reader: &mut BitReader<'_>, bit_count: u32) -> Result<Self, DecodeError> {
        if bit_count > reader.bits_left() {
            return Err(DecodeError::OutOfBits { wanted: bit_count, left: reader.bits_left() });
        }
        let of_byte = |byte: u32| (bit_count - 8 * byte).min(8);
        // They are there.
        let read = |byte| reader.read_bits(of_byte(byte)).unwrap_or_default() as u8;
        Ok(Self::of((0..bit_count.div_ceil(8)).map(read), bit_count))
    }

    /// `bytes` are as many as the bits need.
    fn of(bytes: impl Iterator<Item = u8>, bit_count: u32) -> Self {
        let bytes = if bit_count as usize <= 8 * FEW {
            let mut few = [0; FEW];
            few.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
            Bytes::Few(few)
        } else {
            Bytes::Many(bytes.collect())
        };
        Self { bytes, bit_count }
    }

    /// The explicit "no action".
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether it holds no action.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.bit_count == 0
    }

    /// The bytes; unused high bits of the last one are zero.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Few(bytes) => &bytes[..self.bit_count.div_ceil(8) as usize],
            Bytes::Many(bytes) => bytes,
        }
    }

    /// Number of bits.
    #[must_use]
    pub fn bit_count(&self) -> u32 {
        self.bit_count
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self { bytes: Bytes::Few([0; FEW]), bit_count: 0 }
    }
}

/// Why a player's stream ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EndReason {
    /// The player left in good order.
    Left,
    /// The others went on without the player.
    Dropped,
    /// The player gave up: out of the match, but may go on watching.
    Surrendered,
    /// The player handed over to a bot and may go on watching.
    HandedOver,
}

/// Slowest speed of a match, percent of real time.
pub const SPEED_PERCENT_MIN: u8 = 10;

/// Fastest speed of a match, percent of real time.
pub const SPEED_PERCENT_MAX: u8 = 250;

/// The speed of a match that nobody has changed, percent of real time.
pub(crate) const SPEED_PERCENT_USUAL: u8 = 100;

/// What travels with an entry besides actions. Each kind occurs at most once, in ascending order of kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Extra {
    /// Kind 0: the player's checksum of the turn that was complete when the entry closed, folded to 32 bits
    /// (see [`crate::fold_checksum`]), and in a star without signatures marked with the session's part of the state.
    Checksum(u32),
    /// Kind 1: the player's rolling averages in milliseconds.
    Pace {
        /// From sending an entry to its last confirmation.
        network_ms: u16,
        /// The slowest frame of a turn.
        runtime_ms: u16,
    },
    /// Kind 2: this is the player's last entry; it holds no action.
    End(EndReason),
    /// Kind 3: from this turn on the simulation is paused (true) or runs again (false).
    Pause(bool),
    /// Kind 4: from this turn on frames pass at this speed, percent of real time, 10..=250. The simulation's step stays the same.
    Speed(u8),
    /// Kind 5: the match is saved in the state before this turn.
    Save,
    /// Kind 6: the result of the match. The player's simulation found it at the end of the turn that was complete when the entry closed.
    Result(u32),
    /// Kind 7: how long the others' entries wait at this player's machine before they are needed, on average, in tenths of a millisecond.
    /// Negative: how long this player waits for them.
    Slack(i16),
    /// Kind 8: the player has come back, over the connection with this number. Its stream, which had ended, continues with this entry,
    /// which the middle of the star has made; there are no entries in between.
    Return(u16),
    /// Kind 9: from now on the player votes these players out, and nobody else ([`Session::vote_out`](crate::AnySession::vote_out)).
    Votes(PlayerSet),
}

impl Extra {
    /// Number of the kind on the wire.
    pub(crate) fn kind(self) -> u8 {
        match self {
            Self::Checksum(_) => 0,
            Self::Pace { .. } => 1,
            Self::End(_) => 2,
            Self::Pause(_) => 3,
            Self::Speed(_) => 4,
            Self::Save => 5,
            Self::Result(_) => 6,
            Self::Slack(_) => 7,
            Self::Return(_) => 8,
            Self::Votes(_) => 9,
        }
    }

    /// Whether it is saved with its entry: it is if it changes the course of the match. Measurements and checksums belong to the original
    /// match, and the save itself is done.
    pub(crate) fn is_kept(self) -> bool {
        match self {
            Self::End(_) | Self::Pause(_) | Self::Speed(_) | Self::Return(_) => true,
            Self::Checksum(_) | Self::Pace { .. } | Self::Save | Self::Result(_) | Self::Slack(_) => false,
            Self::Votes(_) => false,
        }
    }
}

/// Inline storage for the extras of most entries.
pub type Extras = SmallVec<[Extra; 4]>;

/// One entry of a player's stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The player's actions.
    pub payload: Payload,
    /// The extras, ascending by kind.
    pub extras: Extras,
}

impl Entry {
    /// Bytes that it takes beside itself, at most: copies of its actions may be shared.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let actions = match &self.payload.bytes {
            Bytes::Few(_) => 0,
            Bytes::Many(bytes) => BLOCK_BYTES + bytes.len() as u64,
        };
        let extras = if self.extras.spilled() { BLOCK_BYTES + size_of_val(&*self.extras) as u64 } else { 0 };
        actions + extras
    }

    /// The reason if this entry ends the stream.
    #[must_use]
    pub fn end(&self) -> Option<EndReason> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::End(reason) => Some(reason),
            _ => None,
        })
    }

    /// If the player comes back with this entry: the number of the connection over which it does.
    #[must_use]
    pub fn returns(&self) -> Option<u16> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Return(connection) => Some(connection),
            _ => None,
        })
    }

    /// Whom the player votes out from now on, if the entry says so.
    #[must_use]
    pub fn votes(&self) -> Option<PlayerSet> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Votes(players) => Some(players),
            _ => None,
        })
    }

    /// The match's result, if the entry carries one.
    #[must_use]
    pub fn result(&self) -> Option<u32> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Result(value) => Some(value),
            _ => None,
        })
    }

    /// The checksum, if the entry carries one.
    #[must_use]
    pub fn checksum(&self) -> Option<u32> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Checksum(value) => Some(value),
            _ => None,
        })
    }
}
