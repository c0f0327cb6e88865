//! The players' keys. All players agree on them before the first turn.

use core::fmt;

use crate::signed::chain::hash;
use crate::signed::crypto::SIGNATURE_BYTES;
use crate::signed::key::PublicKey;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::{Field, fields};
use crate::value::ids::{PLAYERS_MAX, PlayerId};

/// A player's key and salt, which it sends before the match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seat {
    /// The bytes of the player's public key.
    pub key: [u8; 32],
    /// A number that the player has chosen for this match, so that signatures of one match are not valid in another.
    pub salt: u64,
}

fields!(Seat { key, salt });

/// The players of one match and their keys. Equal on all peers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roster {
    session_id: u64,
    seats: Vec<Option<(Seat, PublicKey)>>,
    hash: [u8; 32],
}

/// A short form of a [`Roster`] that people can read to each other: five groups of four. A peer that forwards the keys could exchange them;
/// then the players' fingerprints differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint([u8; 20]);

/// Digits and letters that are hard to confuse.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl Roster {
    /// The roster of a match, by players in order. None if there are too many players, or if some key is not valid.
    #[must_use]
    pub fn new(session_id: u64, seats: &[Option<Seat>]) -> Option<Self> {
        if !(1..=usize::from(PLAYERS_MAX)).contains(&seats.len()) {
            return None;
        }
        let mut known = Vec::with_capacity(seats.len());
        for seat in seats {
            known.push(match seat {
                None => None,
                Some(seat) => Some((*seat, PublicKey::from_bytes(seat.key)?)),
            });
        }
        let mut roster = Self { session_id, seats: known, hash: [0; 32] };
        roster.hash = hash(&[b"testudo roster", &roster.to_bytes()]);
        Some(roster)
    }

    /// The number of the match: [`crate::SessionConfig::session_id()`].
    #[must_use]
    pub fn session_id(&self) -> u64 {
        self.session_id
    }

    /// Number of players, including those without a key.
    #[must_use]
    pub fn players(&self) -> u8 {
        self.seats.len() as u8
    }

    /// A player's key. None: the player had left before this part of the match began.
    #[must_use]
    pub fn key(&self, player: PlayerId) -> Option<PublicKey> {
        self.seats.get(player.index()).copied().flatten().map(|(_, key)| key)
    }

    /// The players' seats.
    #[must_use]
    pub fn seats(&self) -> impl ExactSizeIterator<Item = Option<Seat>> + '_ {
        self.seats.iter().map(|seat| seat.map(|(seat, _)| seat))
    }

    /// The fingerprint that people compare.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let bits = |place: usize| {
            let at = place * 5;
            let pair = u16::from_le_bytes([self.hash[at / 8], self.hash[at / 8 + 1]]);
            LETTERS[usize::from((pair >> (at % 8)) & 31)]
        };
        Fingerprint(core::array::from_fn(bits))
    }

    /// The mark that peers compare.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.hash[24..].iter().fold(0, |mark, byte| mark << 8 | u64::from(*byte))
    }

    /// The hash that ties signatures to this match.
    pub(crate) fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The message that a player signs to end its stream with this entry; the reason is a number as in packets.
    pub(crate) fn end_message(&self, player: PlayerId, number: u32, reason: u8) -> [u8; 52] {
        let mut message = [0; 52];
        message[..14].copy_from_slice(b"testudo end v1");
        message[14..46].copy_from_slice(&self.hash);
        message[46] = player.0;
        message[47..51].copy_from_slice(&number.to_le_bytes());
        message[51] = reason;
        message
    }

    /// Whether the player has ended its stream itself, with this entry and for this reason.
    pub(crate) fn has_ended(
        &self,
        player: PlayerId,
        number: u32,
        reason: u8,
        signature: &[u8; SIGNATURE_BYTES],
    ) -> bool {
        let message = self.end_message(player, number, reason);
        self.key(player).is_some_and(|key| key.has_signed(&message, signature))
    }

    /// The bytes of the roster, to be kept with a replay or a proof.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BitWriter::new();
        writer.write_bits(self.session_id, 64);
        write_seats(&mut writer, self.seats());
        writer.bytes().to_vec()
    }

    /// Reads what [`Roster::to_bytes`] wrote.
    ///
    /// # Errors
    /// Any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = BitReader::new(bytes);
        let session_id = reader.read_bits(64)?;
        let seats = read_seats(&mut reader)?;
        reader.finish()?;
        Self::new(session_id, &seats).ok_or(DecodeError::NotCanonical)
    }
}

/// Writes the players' seats.
pub(crate) fn write_seats(writer: &mut BitWriter, seats: impl ExactSizeIterator<Item = Option<Seat>>) {
    writer.write_bits(seats.len() as u64, 5);
    for seat in seats {
        seat.write(writer);
    }
}

/// Reads what [`write_seats`] wrote: 1 to 16 seats.
pub(crate) fn read_seats(reader: &mut BitReader<'_>) -> Result<Vec<Option<Seat>>, DecodeError> {
    let count = reader.read_max(5, u64::from(PLAYERS_MAX))?;
    if count == 0 {
        return Err(DecodeError::NotCanonical);
    }
    (0..count).map(|_| Field::read(reader)).collect()
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in self.0.iter().enumerate() {
            if place > 0 && place % 4 == 0 {
                write!(f, "-")?;
            }
            write!(f, "{}", char::from(*letter))?;
        }
        Ok(())
    }
}
