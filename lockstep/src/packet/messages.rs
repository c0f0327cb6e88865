//! Messages between members, beside the match: profiles of the players, and what the application says.

use crate::packet::{Kind, begin};
use crate::value::bits::{BitReader, BitWriter, DecodeError, golomb_bits};
use crate::value::field::{Field, read_bytes};
use crate::value::ids::{Identity, PlayerId};

/// Greatest length of a message in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1_024;

/// Greatest length of a player's profile in bytes.
pub const PROFILE_BYTES_MAX: usize = 64;

/// Greatest number of frames in one packet.
pub(crate) const FRAMES_MAX: u32 = 64;

/// Bits of a packet of messages without its frames: kind, both numbers, and the longest count.
pub const HEAD_BITS_MAX: u32 = 4 + 32 + 32 + 13;

/// Addresses on the wire, 5 bits: 0..=15 players, then these two.
const EVERYBODY: u8 = 16;
const RECEIVER: u8 = 17;

/// Kind 8: frames of one link in one direction. The receiver takes each frame once and in order; the sender repeats what is not acknowledged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Messages {
    /// Number of the first frame that the sender of this packet has not taken yet, modulo 2^32.
    pub ack: u32,
    /// Number of the first frame in this packet, modulo 2^32; 0 without frames.
    pub first: u32,
    /// Frames with consecutive numbers, at most 64.
    pub frames: Vec<Frame>,
}

/// One message. Exhaustive on purpose: another one is another [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// Kind 0: what a player shows of itself, or what the middle of a star says that a player shows.
    Profile {
        /// The player.
        player: PlayerId,
        /// At most [`PROFILE_BYTES_MAX`] bytes.
        bytes: Vec<u8>,
    },
    /// Kind 1: a message of the application.
    Message {
        /// Who says it.
        from: Identity,
        /// Who is to hear it.
        to: Address,
        /// At most [`MESSAGE_BYTES_MAX`] bytes.
        bytes: Vec<u8>,
    },
    /// Kind 2: a message of the receiver did not reach these players, bit n for player n; never zero.
    Undelivered {
        /// The players.
        players: u16,
    },
}

/// Who is to hear a message. Exhaustive on purpose: another one is another [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// One player.
    Player(PlayerId),
    /// All members but the sender.
    Everybody,
    /// Whoever receives the packet.
    Receiver,
}

impl Messages {
    pub(crate) fn encode(&self, writer: &mut BitWriter) {
        begin(writer, Kind::Messages);
        writer.write_bits(u64::from(self.ack), 32);
        writer.write_bits(u64::from(self.first), 32);
        writer.write_golomb(self.frames.len() as u32, 0);
        self.frames.iter().for_each(|frame| frame.write(writer));
    }

    pub(crate) fn decode(mut reader: BitReader<'_>) -> Result<Self, DecodeError> {
        let ack = reader.read_bits(32)? as u32;
        let first = reader.read_bits(32)? as u32;
        let count = reader.read_golomb(0, FRAMES_MAX)?;
        if count == 0 && first != 0 {
            return Err(DecodeError::NotCanonical);
        }
        let frames = (0..count).map(|_| Frame::read(&mut reader)).collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self { ack, first, frames })
    }
}

impl Frame {
    /// Number of bits that [`Frame::write`] writes.
    #[must_use]
    pub fn bits(&self) -> u32 {
        match self {
            Self::Profile { bytes, .. } => 2 + 4 + 7 + 8 * bytes.len() as u32,
            Self::Message { bytes, .. } => 2 + 5 + 5 + length_bits(bytes) + 8 * bytes.len() as u32,
            Self::Undelivered { .. } => 2 + 16,
        }
    }

    fn write(&self, writer: &mut BitWriter) {
        match self {
            Self::Profile { player, bytes } => {
                writer.write_bits(0, 2);
                player.write(writer);
                writer.write_bits(bytes.len() as u64, 7);
                writer.write_slice(bytes, 8 * bytes.len() as u32);
            }
            Self::Message { from, to, bytes } => {
                writer.write_bits(1, 2);
                from.write(writer);
                let to = match to {
                    Address::Player(player) => player.0,
                    Address::Everybody => EVERYBODY,
                    Address::Receiver => RECEIVER,
                };
                writer.write_bits(u64::from(to), 5);
                writer.write_golomb(bytes.len() as u32, LENGTH_ORDER);
                writer.write_slice(bytes, 8 * bytes.len() as u32);
            }
            Self::Undelivered { players } => {
                writer.write_bits(2, 2);
                players.write(writer);
            }
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match reader.read_max(2, 2)? {
            0 => {
                let player = Field::read(reader)?;
                let length = reader.read_max(7, PROFILE_BYTES_MAX as u64)? as u32;
                Self::Profile { player, bytes: read_bytes(reader, length)? }
            }
            1 => {
                let from = Field::read(reader)?;
                let to = match reader.read_max(5, u64::from(RECEIVER))? as u8 {
                    EVERYBODY => Address::Everybody,
                    RECEIVER => Address::Receiver,
                    player => Address::Player(PlayerId(player)),
                };
                let length = reader.read_golomb(LENGTH_ORDER, MESSAGE_BYTES_MAX as u32)?;
                Self::Message { from, to, bytes: read_bytes(reader, length)? }
            }
            _ => match u16::read(reader)? {
                0 => return Err(DecodeError::NotCanonical),
                players => Self::Undelivered { players },
            },
        })
    }
}

/// Order of the code for the length of a message.
const LENGTH_ORDER: u32 = 5;

fn length_bits(bytes: &[u8]) -> u32 {
    golomb_bits(bytes.len() as u32, LENGTH_ORDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::BODY_BITS_MAX;

    #[test]
    fn the_longest_message_fits_into_a_packet() {
        let longest = Frame::Message {
            from: Identity::Relay,
            to: Address::Receiver,
            bytes: vec![0; MESSAGE_BYTES_MAX],
        };
        assert!(HEAD_BITS_MAX + longest.bits() <= BODY_BITS_MAX);
        assert!(golomb_bits(FRAMES_MAX, 0) <= 13);
        let mut writer = BitWriter::new();
        longest.write(&mut writer);
        assert_eq!(writer.bit_count(), longest.bits());
    }
}
