//! A player's signed statement, about once a second: everybody's entries so far, and the resulting checksum.

use crate::signed::chain::{AGREED_HASH_BYTES, ALL_HASH_BYTES, OWN_HASH_BYTES};
use crate::signed::crypto::SIGNATURE_BYTES;
use crate::signed::key::PlayerKey;
use crate::signed::roster::Roster;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::{Field, fields};
use crate::value::ids::{PlayerId, Turn};

/// Game time between two statements, in microseconds: about a second, and less than 100 bytes per second of each player and link.
pub(crate) const INTERVAL: u64 = 1_150_000;

/// A player's statement about the match up to the start of a turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The player.
    pub author: PlayerId,
    /// It covers everybody's entries up to this turn, its own included.
    pub turn: Turn,
    /// Bit n: the stream of player n goes on after this turn.
    pub live: u16,
    /// Hash of the author's own entries.
    pub own: [u8; OWN_HASH_BYTES],
    /// Hash of everybody's entries, as the author has them.
    pub all: [u8; ALL_HASH_BYTES],
    /// The author's checksum of the newest turn before this one whose checksums are exchanged, folded ([`crate::fold_checksum`]); 0 if
    /// there is none.
    pub checksum: u32,
    /// Hash of everything else on which the players agree, apart from checksums: pace, votes, pauses, who is away, the keys. A peer that joins
    /// compares its own.
    pub agreed: [u8; AGREED_HASH_BYTES],
    /// Where the author's copy comes from. None: it has run the match from its start.
    pub since: Option<Since>,
    /// The author's signature.
    pub signature: [u8; SIGNATURE_BYTES],
}

/// The state with which a player has come back. A statement of the player proves a wrong copy only if this state was right: otherwise the
/// player was given a wrong one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Since {
    /// The turn before which it was taken.
    pub turn: Turn,
    /// Its checksum, folded ([`crate::fold_checksum`]), as the author has computed it.
    pub checksum: u32,
}

fields!(Since { turn, checksum });

/// Number of signed bytes.
const MESSAGE_BYTES: usize =
    20 + 32 + 1 + 4 + 2 + OWN_HASH_BYTES + ALL_HASH_BYTES + 4 + AGREED_HASH_BYTES + 9;

impl Statement {
    /// The signed message: a mark, the roster, and everything in the statement.
    fn message(&self, roster: &Roster) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        let mut at = 0;
        let since = self.since.map_or([0; 9], |since| {
            let mut bytes = [1; 9];
            bytes[1..5].copy_from_slice(&since.turn.0.to_le_bytes());
            bytes[5..].copy_from_slice(&since.checksum.to_le_bytes());
            bytes
        });
        let parts: [&[u8]; 10] = [
            b"testudo statement v2",
            roster.hash(),
            &[self.author.0],
            &self.turn.0.to_le_bytes(),
            &self.live.to_le_bytes(),
            &self.own,
            &self.all,
            &self.checksum.to_le_bytes(),
            &self.agreed,
            &since,
        ];
        for part in parts {
            message[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        message
    }

    /// Signs the statement. For tools and tests; a session signs its own.
    pub fn sign(&mut self, roster: &Roster, key: &PlayerKey) {
        self.signature = key.sign(&self.message(roster));
    }

    /// Whether the statement's author, according to the roster, has signed it.
    #[must_use]
    pub fn is_signed(&self, roster: &Roster) -> bool {
        let key = roster.key(self.author);
        key.is_some_and(|key| key.has_signed(&self.message(roster), &self.signature))
    }

    /// Whether the two can be compared: they are about the same turn, and each author is in the match according to the other one. (A
    /// dropped player may have run one turn more than the others have of it.)
    pub(crate) fn compares_with(&self, other: &Self) -> bool {
        let includes = |statement: &Self, player: PlayerId| statement.live & (1 << player.0) != 0;
        self.turn == other.turn && includes(self, other.author) && includes(other, self.author)
    }

    /// Whether both have the same content, whatever the signatures; the owner of a key can make several.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let said =
            |of: &Self| (of.author, of.turn, of.live, of.own, of.all, (of.checksum, of.agreed, of.since));
        said(self) == said(other)
    }

    /// Whether both agree on the entries.
    pub(crate) fn agrees_on_entries(&self, other: &Self) -> bool {
        (self.all, self.live) == (other.all, other.live)
    }

    /// Writes everything but author and turn, which packets write in their own way.
    pub(crate) fn write_body(&self, writer: &mut BitWriter, all_live: u16) {
        writer.write_bool(self.live != all_live);
        if self.live != all_live {
            writer.write_bits(u64::from(self.live), 16);
        }
        self.own.write(writer);
        self.all.write(writer);
        self.checksum.write(writer);
        self.agreed.write(writer);
        self.since.write(writer);
        self.signature.write(writer);
    }

    /// Reads what [`Statement::write_body`] wrote.
    pub(crate) fn read_body(
        reader: &mut BitReader<'_>,
        author: PlayerId,
        turn: Turn,
        all_live: u16,
    ) -> Result<Self, DecodeError> {
        let is_less = reader.read_bool()?;
        let live = if is_less { reader.read_bits(16)? as u16 } else { all_live };
        if is_less && live == all_live {
            return Err(DecodeError::NotCanonical);
        }
        let statement = Self {
            author,
            turn,
            live,
            own: Field::read(reader)?,
            all: Field::read(reader)?,
            checksum: Field::read(reader)?,
            agreed: Field::read(reader)?,
            since: Field::read(reader)?,
            signature: Field::read(reader)?,
        };
        // A player who is out of the match makes no statements.
        if live & !all_live != 0 || live & (1 << author.0) == 0 {
            return Err(DecodeError::OutOfRange { value: u64::from(live), max: u64::from(all_live) });
        }
        Ok(statement)
    }
}
