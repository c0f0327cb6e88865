//! The extra content of packets in a signed match: statements, their receipts, and the signatures of players who end their streams.

use smallvec::SmallVec;

use crate::signed::crypto::SIGNATURE_BYTES;
use crate::signed::key::PlayerKey;
use crate::signed::roster::Roster;
use crate::signed::statement::Statement;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::Field;
use crate::value::ids::{PLAYERS_MAX, PlayerId, Turn};

/// Greatest number of statements in one packet: entries go first.
pub(crate) const STATEMENTS_MAX: usize = 4;

/// Greatest number of receipts in one packet.
pub(crate) const RECEIVED_MAX: usize = 4;

/// Greatest number of bits of a turn's number.
const TURN_BITS: u32 = 65;

/// Greatest number of bits of one statement.
const STATEMENT_BITS: u32 = 4 + TURN_BITS + 17 + 64 + 96 + 32 + 64 + 65 + 512;

/// Greatest number of bits of one receipt.
const RECEIVED_BITS: u32 = TURN_BITS + 16;

/// Greatest number of bits of one signed end.
pub(crate) const END_BITS: u32 = 4 + TURN_BITS + 3 + 512;

/// Greatest number of bits of everything else.
const HEAD_BITS: u32 = 2 + 5 + 5 + 9;

/// The signed part of a packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signed {
    /// The sender does not know the roster of the match and asks for it.
    pub wants_roster: bool,
    /// Receipts for the receiver's statements; at most four.
    pub received: SmallVec<[Received; RECEIVED_MAX]>,
    /// Statements of any players; at most four.
    pub statements: SmallVec<[Statement; 1]>,
    /// Signatures of players who ended their streams themselves; at most one per player.
    pub ends: SmallVec<[SignedEnd; 1]>,
}

/// Receipts for the statements about one turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// The turn.
    pub turn: u32,
    /// Bit n: the statement of player n has arrived; never zero.
    pub authors: u16,
}

/// A player's signature under the end of its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedEnd {
    /// The player.
    pub player: PlayerId,
    /// Number of the last entry.
    pub number: u32,
    /// The reason, as a number: see `WIRE.md`.
    pub reason: u8,
    /// The signature.
    pub signature: [u8; SIGNATURE_BYTES],
}

impl SignedEnd {
    /// Signs the end. For tools and tests; a session signs its own.
    pub fn sign(&mut self, roster: &Roster, key: &PlayerKey) {
        self.signature = key.sign(&roster.end_message(self.player, self.number, self.reason));
    }
}

impl Signed {
    pub(crate) fn clear(&mut self) {
        self.wants_roster = false;
        self.received.clear();
        self.statements.clear();
        self.ends.clear();
    }

    fn is_empty(&self) -> bool {
        !self.wants_roster && self.received.is_empty() && self.statements.is_empty() && self.ends.is_empty()
    }

    /// An upper bound of its bits.
    pub(crate) fn bits(&self) -> u32 {
        let list = |count: usize, bits: u32| count as u32 * bits;
        HEAD_BITS
            + list(self.received.len(), RECEIVED_BITS)
            + list(self.statements.len(), STATEMENT_BITS)
            + list(self.ends.len(), END_BITS)
    }

    /// Writes it; turns are written as differences to `base`. `players` is the number of players.
    pub(crate) fn write(&self, writer: &mut BitWriter, base: u32, players: usize) {
        writer.write_bool(!self.is_empty());
        if self.is_empty() {
            return;
        }
        writer.write_bool(self.wants_roster);
        writer.write_golomb(self.received.len() as u32, 0);
        for received in &self.received {
            writer.write_golomb_signed(received.turn.wrapping_sub(base) as i32, 0);
            received.authors.write(writer);
        }
        writer.write_golomb(self.statements.len() as u32, 0);
        for statement in &self.statements {
            statement.author.write(writer);
            writer.write_golomb_signed(statement.turn.0.wrapping_sub(base) as i32, 0);
            statement.write_body(writer, everybody(players));
        }
        writer.write_golomb(self.ends.len() as u32, 0);
        for end in &self.ends {
            end.player.write(writer);
            writer.write_golomb_signed(end.number.wrapping_sub(base) as i32, 0);
            writer.write_bits(u64::from(end.reason), 3);
            end.signature.write(writer);
        }
    }

    /// Reads what [`Signed::write`] wrote into `self`, which must be empty.
    pub(crate) fn read(
        &mut self,
        reader: &mut BitReader<'_>,
        base: u32,
        players: usize,
    ) -> Result<(), DecodeError> {
        if !reader.read_bool()? {
            return Ok(());
        }
        self.wants_roster = reader.read_bool()?;
        for _ in 0..reader.read_golomb(0, RECEIVED_MAX as u32)? {
            let turn = base.wrapping_add(reader.read_golomb_signed(0)? as u32);
            let authors = u16::read(reader)?;
            if authors == 0 {
                return Err(DecodeError::NotCanonical);
            }
            self.received.push(Received { turn, authors });
        }
        for _ in 0..reader.read_golomb(0, STATEMENTS_MAX as u32)? {
            let author = Field::read(reader)?;
            let turn = Turn(base.wrapping_add(reader.read_golomb_signed(0)? as u32));
            self.statements.push(Statement::read_body(reader, author, turn, everybody(players))?);
        }
        for _ in 0..reader.read_golomb(0, u32::from(PLAYERS_MAX))? {
            self.ends.push(SignedEnd {
                player: Field::read(reader)?,
                number: base.wrapping_add(reader.read_golomb_signed(0)? as u32),
                reason: reader.read_max(3, 3)? as u8,
                signature: Field::read(reader)?,
            });
        }
        if self.is_empty() { Err(DecodeError::NotCanonical) } else { Ok(()) }
    }
}

/// The bit set of this many players.
fn everybody(players: usize) -> u16 {
    ((1_u32 << players.min(usize::from(PLAYERS_MAX))) - 1) as u16
}
