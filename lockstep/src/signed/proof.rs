//! Two statements that cannot both be true. Anybody with the roster can check them.

use core::fmt;

use crate::signed::chain::Opening;
use crate::signed::roster::Roster;
use crate::signed::statement::Statement;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::Field;
use crate::value::ids::{PLAYERS_MAX, PlayerId};

/// Two statements that contradict each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// One statement.
    pub first: Statement,
    /// The other one.
    pub second: Statement,
    /// The input of the second statement's hash of all streams, if it is known.
    pub opening: Option<Opening>,
}

/// What a [`Proof`] proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// The player has signed two different accounts of the same turns, so it lies.
    Liar(PlayerId),
    /// `author` has signed another stream of its own than the one that `receiver` got. One of them lies, or a peer that passed the stream
    /// on.
    Forged {
        /// The author of the stream.
        author: PlayerId,
        /// The player who got another one.
        receiver: PlayerId,
    },
    /// The two have seen different matches. One of them lies, or a peer that passed entries on to them.
    Divided([PlayerId; 2]),
}

/// Why a [`Proof`] proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProofError {
    /// A statement is not signed by its author, or belongs to another match.
    NotSigned(PlayerId),
    /// The statements are about different turns, or one player was out of the match for the other.
    NotComparable,
    /// The opening does not belong to the second statement.
    WrongOpening,
    /// The statements do not contradict each other.
    NoContradiction,
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSigned(player) => {
                write!(f, "player {player} has not signed its statement in this match")
            }
            Self::NotComparable => write!(f, "the statements are about different turns or players"),
            Self::WrongOpening => write!(f, "the opening does not belong to the second statement"),
            Self::NoContradiction => write!(f, "the statements do not contradict each other"),
        }
    }
}

impl std::error::Error for ProofError {}

impl Proof {
    /// What the two statements prove to anybody who knows the roster of the match.
    ///
    /// # Errors
    /// [`ProofError`]: they prove nothing.
    pub fn verify(&self, roster: &Roster) -> Result<Verdict, ProofError> {
        for statement in [&self.first, &self.second] {
            if !statement.is_signed(roster) {
                return Err(ProofError::NotSigned(statement.author));
            }
        }
        self.verdict(roster.players())
    }

    /// Like [`Proof::verify`], but assumes that the signatures are valid.
    pub(crate) fn verdict(&self, players: u8) -> Result<Verdict, ProofError> {
        let (first, second) = (&self.first, &self.second);
        if first.author == second.author {
            return match first.says_the_same(second) {
                _ if first.turn != second.turn => Err(ProofError::NotComparable),
                true => Err(ProofError::NoContradiction),
                false => Ok(Verdict::Liar(first.author)),
            };
        }
        if !first.compares_with(second) {
            return Err(ProofError::NotComparable);
        }
        if let Some(opening) = &self.opening {
            let is_sound = opening.0.len() == usize::from(players)
                && opening.all(second.turn.0, second.live) == second.all;
            if !is_sound {
                return Err(ProofError::WrongOpening);
            }
            if opening.own(first.author.index()) != Some(first.own) {
                // An author whose hash of all streams contains another hash of its own stream than it has signed contradicts itself.
                return Ok(match first.agrees_on_entries(second) {
                    true => Verdict::Liar(first.author),
                    false => Verdict::Forged { author: first.author, receiver: second.author },
                });
            }
        }
        match first.agrees_on_entries(second) {
            true => Err(ProofError::NoContradiction),
            false => Ok(Verdict::Divided([first.author, second.author])),
        }
    }

    /// The bytes of the proof. A third person needs the roster's bytes, too.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BitWriter::new();
        for statement in [&self.first, &self.second] {
            writer.write_bits(u64::from(statement.author.0), 4);
            writer.write_bits(u64::from(statement.turn.0), 32);
            statement.write_body(&mut writer, u16::MAX);
        }
        let streams = self.opening.as_ref().map_or(&[][..], Opening::streams);
        writer.write_bits(streams.len() as u64, 5);
        for stream in streams {
            stream.write(&mut writer);
        }
        writer.bytes().to_vec()
    }

    /// Reads what [`Proof::to_bytes`] wrote. Total: any bytes give a proof (which may prove nothing) or an error, in bounded memory.
    ///
    /// # Errors
    /// Any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = BitReader::new(bytes);
        let mut statement = || {
            let (author, turn) = Field::read(&mut reader)?;
            Statement::read_body(&mut reader, author, turn, u16::MAX)
        };
        let (first, second) = (statement()?, statement()?);
        let count = reader.read_max(5, u64::from(PLAYERS_MAX))?;
        let streams = (0..count).map(|_| Field::read(&mut reader)).collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self { first, second, opening: Opening::new(streams) })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Liar(player) => write!(f, "player {player} has signed two different accounts of one match"),
            Self::Forged { author, receiver } => write!(
                f,
                "player {receiver} has got other orders of player {author} than player {author} has signed: one of them lies, or a peer that passed them on"
            ),
            Self::Divided([one, other]) => write!(
                f,
                "players {one} and {other} have seen different matches: one of them lies, or a peer that passed entries on to them"
            ),
        }
    }
}
