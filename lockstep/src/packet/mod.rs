//! The bytes on the wire. `WIRE.md` is the specification; tests check that code and document agree.
//!
//! A packet is a bit stream, padded to whole bytes with zero bits, and a 4-byte tag. The tag is keyed with a number that only the two ends
//! of a link know. So damaged packets, packets of another match and packets of strangers are recognised before anything in them is read.

mod handshake;
mod kind;
mod messages;
mod statement;
mod transfer;
mod turns;

pub use handshake::{Bye, Challenge, Echo, Hello, Lobby, LobbyKeys, Members, Refusal, Refuse, Welcome};
pub use messages::{
    Address, Frame, HEAD_BITS_MAX as MESSAGES_HEAD_BITS_MAX, MESSAGE_BYTES_MAX, Messages, PROFILE_BYTES_MAX,
};
pub use statement::{Received, Signed, SignedEnd};
pub use transfer::{
    BLOCKS_MAX, CHUNK_BYTES, Chunk, Manifest, STATE_BYTES_MAX, Transfer, WANT_WORDS_MAX, Want, block_bytes,
    block_count,
};
pub use turns::{BODY_BITS_MAX, Segment, SegmentPlan, TurnsPacket, segment_cost};

pub(crate) use kind::Kind;
pub(crate) use messages::FRAMES_MAX;
pub(crate) use statement::{END_BITS, STATEMENTS_MAX};
pub(crate) use turns::{ENTRIES_MAX, end_reason_number, entry_content};

use siphasher::sip::SipHasher24;
use twox_hash::XxHash3_64;

use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::Field;
use crate::value::ids::PLAYERS_MAX;

/// Version of the wire format. Peers of different versions refuse each other.
pub const PROTOCOL_VERSION: u16 = 13;

/// Largest packet in bytes, tag included: with the headers of the sealed transport, too, it is below the MTU of every common network path.
pub const PACKET_BYTES_MAX: usize = 1_150;

/// Bytes of the tag at the end of each packet.
pub const TAG_BYTES: usize = 4;

/// Layout of the actions of one entry. It follows from the settings and is equal on all peers.
/// Exhaustive on purpose: another one is another [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PayloadFormat {
    /// Input mode: exactly this many bits.
    Fixed(u32),
    /// Command mode: a length, then at most this many bits.
    Variable(u32),
}

/// Every kind of packet. Exhaustive on purpose: another one is another [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Kind 0: asks to be let in.
    Hello(Hello),
    /// Kind 1: lets a peer in.
    Welcome(Welcome),
    /// Kind 2: refuses a peer.
    Refuse(Refuse),
    /// Kind 3: the state before the start.
    Lobby(Lobby),
    /// Kind 4: entries and acknowledgements.
    Turns(Box<TurnsPacket>),
    /// Kind 5: a peer's last packet.
    Bye(Bye),
    /// Kind 6: asks for a proof of the address.
    Challenge(Challenge),
    /// Kind 7: the state of a running match, for a peer that joins.
    Transfer(Transfer),
    /// Kind 8: messages between members.
    Messages(Messages),
}

/// Opens a packet: checks length and tag, then reads the kind.
///
/// # Errors
/// [`DecodeError::OutOfBits`], [`DecodeError::OutOfRange`] for the length, [`DecodeError::WrongTag`], [`DecodeError::UnknownKind`].
pub(crate) fn open(bytes: &[u8], key: u64) -> Result<(Kind, BitReader<'_>), DecodeError> {
    if bytes.len() > PACKET_BYTES_MAX {
        return Err(DecodeError::OutOfRange { value: bytes.len() as u64, max: PACKET_BYTES_MAX as u64 });
    }
    let Some((body, tag)) = bytes.split_last_chunk::<TAG_BYTES>() else {
        return Err(DecodeError::OutOfBits { wanted: 8 * TAG_BYTES as u32, left: 8 * bytes.len() as u32 });
    };
    if tag_of(body, key) != *tag {
        return Err(DecodeError::WrongTag);
    }
    let mut reader = BitReader::new(body);
    Ok((Kind::read(&mut reader)?, reader))
}

/// Starts a packet in `writer`.
pub(crate) fn begin(writer: &mut BitWriter, kind: Kind) {
    writer.clear();
    kind.write(writer);
}

/// A packet that is a field and nothing else.
pub(crate) trait Whole: Field {
    const KIND: Kind;

    fn encode(&self, writer: &mut BitWriter) {
        begin(writer, Self::KIND);
        self.write(writer);
    }

    fn decode(mut reader: BitReader<'_>) -> Result<Self, DecodeError> {
        let packet = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(packet)
    }
}

/// From one list: these packets are fields, and their kinds have their names.
macro_rules! whole {
    ($($name:ident),*) => {$(
        impl Whole for $name {
            const KIND: Kind = Kind::$name;
        }
    )*};
}

whole!(Hello, Welcome, Refuse, Lobby, Bye, Challenge, Transfer);

/// Finishes a packet: copies it to `out` and appends the tag.
pub(crate) fn seal(writer: &BitWriter, key: u64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(writer.bytes());
    out.extend_from_slice(&tag_of(writer.bytes(), key));
    debug_assert!(out.len() <= PACKET_BYTES_MAX, "{} bytes", out.len());
}

/// Low half of xxh3-64 of the body, seeded with the key, little endian. Anybody who sees the packets can forge it; others have to guess.
fn tag_of(body: &[u8], key: u64) -> [u8; TAG_BYTES] {
    (XxHash3_64::oneshot_with_seed(key, body) as u32).to_le_bytes()
}

/// The key of all packets of a link after its hello: SipHash-2-4 of the hello's nonce, with the session id as the first half of its key.
#[must_use]
pub fn link_key(session_id: u64, nonce: u64) -> u64 {
    SipHasher24::new_with_keys(session_id, 1).hash(&nonce.to_le_bytes())
}

/// The part of a hello that shows that its sender knows the session id: the low half of SipHash-2-4 of its nonce.
#[must_use]
pub fn session_mark(session_id: u64, nonce: u64) -> u32 {
    SipHasher24::new_with_keys(session_id, 2).hash(&nonce.to_le_bytes()) as u32
}

impl Packet {
    /// Writes the whole packet, tag included, into `out`. The key of the tag is 0 for a hello, the hello's nonce for a challenge and a
    /// refusal, and the [`link_key`] for all others.
    pub fn encode(&self, key: u64, format: PayloadFormat, writer: &mut BitWriter, out: &mut Vec<u8>) {
        match self {
            Self::Hello(packet) => packet.encode(writer),
            Self::Welcome(packet) => packet.encode(writer),
            Self::Refuse(packet) => packet.encode(writer),
            Self::Lobby(packet) => packet.encode(writer),
            Self::Turns(packet) => packet.encode(format, writer),
            Self::Bye(packet) => packet.encode(writer),
            Self::Challenge(packet) => packet.encode(writer),
            Self::Transfer(packet) => packet.encode(writer),
            Self::Messages(packet) => packet.encode(writer),
        }
        seal(writer, key, out);
    }

    /// Reads a whole packet. Total: any bytes give a packet or an error, in bounded memory.
    ///
    /// # Errors
    /// Anything that is not exactly what [`Packet::encode`] writes.
    pub fn decode(bytes: &[u8], key: u64, format: PayloadFormat) -> Result<Self, DecodeError> {
        let (kind, reader) = open(bytes, key)?;
        Ok(match kind {
            Kind::Hello => Self::Hello(Hello::decode(reader)?),
            Kind::Welcome => Self::Welcome(Welcome::decode(reader)?),
            Kind::Refuse => Self::Refuse(Refuse::decode(reader)?),
            Kind::Lobby => Self::Lobby(Lobby::decode(reader)?),
            Kind::Turns => {
                let mut packet = Box::<TurnsPacket>::default();
                packet.decode_from(reader, format, PLAYERS_MAX)?;
                Self::Turns(packet)
            }
            Kind::Bye => Self::Bye(Bye::decode(reader)?),
            Kind::Challenge => Self::Challenge(Challenge::decode(reader)?),
            Kind::Transfer => Self::Transfer(Transfer::decode(reader)?),
            Kind::Messages => Self::Messages(Messages::decode(reader)?),
        })
    }
}
