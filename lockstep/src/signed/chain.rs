//! Hashes of everybody's entries so far. They must resist attackers who choose the bytes: truncated SHA-512.

use crate::signed::crypto::sha512;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::Field;
use crate::value::ids::PLAYERS_MAX;

/// Bytes of one stream's hash in an opening.
pub(crate) const STREAM_HASH_BYTES: usize = 16;

/// Bytes of the hash of all streams together.
pub(crate) const ALL_HASH_BYTES: usize = 12;

/// Bytes of the hash of what the players agree on besides the entries.
pub(crate) const AGREED_HASH_BYTES: usize = 8;

/// Bytes of the hash of the author's own stream in a statement: the first bytes of its hash in an opening.
pub(crate) const OWN_HASH_BYTES: usize = 8;

/// The hash of a message, truncated to `N` bytes.
pub(crate) fn hash<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut cut = [0; N];
    cut.copy_from_slice(&sha512(parts)[..N]);
    cut
}

/// The hash of one stream's entries from the first on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct StreamHash(pub(crate) [u8; 32]);

impl Field for StreamHash {
    fn write(&self, writer: &mut BitWriter) {
        self.0.write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Field::read(reader).map(Self)
    }
}

impl StreamHash {
    /// Adds the next entry, as bytes that differ for different entries.
    pub(crate) fn add(&mut self, number: u32, entry: &[u8]) {
        self.0 = hash(&[b"testudo entry", &self.0, &number.to_le_bytes(), entry]);
    }

    /// The part that an opening contains.
    pub(crate) fn shown(&self) -> [u8; STREAM_HASH_BYTES] {
        let mut shown = [0; STREAM_HASH_BYTES];
        shown.copy_from_slice(&self.0[..STREAM_HASH_BYTES]);
        shown
    }
}

/// The hashes of all streams, one by one: the input of a statement's [`crate::Statement::all`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Opening(pub(crate) Vec<[u8; STREAM_HASH_BYTES]>);

impl Opening {
    /// One hash for all players of a match, in order.
    #[must_use]
    pub fn new(streams: Vec<[u8; STREAM_HASH_BYTES]>) -> Option<Self> {
        (1..=usize::from(PLAYERS_MAX)).contains(&streams.len()).then_some(Self(streams))
    }

    /// The hashes, in the order of players.
    #[must_use]
    pub fn streams(&self) -> &[[u8; STREAM_HASH_BYTES]] {
        &self.0
    }

    /// The hash of all of them, before a turn and with these active players.
    pub(crate) fn all(&self, turn: u32, live: u16) -> [u8; ALL_HASH_BYTES] {
        hash(&[b"testudo entries", &turn.to_le_bytes(), &live.to_le_bytes(), self.0.as_flattened()])
    }

    /// The first bytes of one stream's hash.
    pub(crate) fn own(&self, player: usize) -> Option<[u8; OWN_HASH_BYTES]> {
        self.0.get(player)?.first_chunk().copied()
    }
}
