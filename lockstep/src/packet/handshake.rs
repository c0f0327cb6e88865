//! The small packets: those before the first turn, and the last one.

use core::fmt;

use crate::signed::roster::{Seat, read_seats, write_seats};
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::field::{Field, fields};
use crate::value::ids::{Identity, PlayerId};

/// Why a peer was not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// Another protocol version.
    Version {
        /// Version of the peer that refuses.
        expected: u16,
    },
    /// Another match: the session id differs.
    Session,
    /// The settings differ.
    Config {
        /// Hash of the peer that refuses.
        expected: u64,
    },
    /// The content differs: map, units, rules, or the versions of the engines.
    Content {
        /// Content hash of the peer that refuses.
        expected: u64,
    },
    /// The number of frames per second differs.
    FrameRate {
        /// Frames per second of the peer that refuses.
        expected: u16,
    },
    /// The place is taken, or there is none for this identity.
    Taken,
    /// The match has begun.
    Running,
    /// The others have voted this player out ([`Session::vote_out`](crate::AnySession::vote_out)).
    VotedOut,
    /// The player comes and goes too often, or has made the others wait too long, or was away when the match was saved that begins here: it may ask again
    /// after this time.
    ComeBackIn {
        /// Seconds to wait.
        seconds: u16,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { expected } => write!(f, "the other side speaks protocol version {expected}"),
            Self::Session => write!(f, "the other side plays another match (the session id differs)"),
            Self::Config { expected } => {
                write!(
                    f,
                    "the other side has other settings: SessionConfig or the size of actions differs (hash {expected:016x})"
                )
            }
            Self::Content { expected } => {
                write!(
                    f,
                    "the other side has other content: map, units, rules or versions of the engines (hash {expected:016x})"
                )
            }
            Self::FrameRate { expected } => write!(f, "the other side plays at {expected} frames per second"),
            Self::Taken => write!(f, "the place is taken"),
            Self::Running => write!(f, "the match has already begun"),
            Self::VotedOut => write!(f, "the others have voted this player out"),
            Self::ComeBackIn { seconds } => {
                write!(
                    f,
                    "this place is closed for now (its player came and went too often, made the others wait, or was away in the save): come back in {seconds} s"
                )
            }
        }
    }
}

/// Asks to be let in. Sent until answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello {
    /// [`crate::PROTOCOL_VERSION`] of the sender. At this place in every version.
    pub version: u16,
    /// A number that the sender has chosen for this link and tells nobody else; it keys the link's packets. Also at this place in every
    /// version.
    pub nonce: u64,
    /// Shows that the sender knows the session id; see [`crate::packet::session_mark`].
    pub session_mark: u32,
    /// Hash of the settings, the content and the saved match.
    pub config_hash: u64,
    /// Hash of the content alone.
    pub content_hash: u64,
    /// Frames per second.
    pub frames_per_second: u16,
    /// The sender's identity.
    pub identity: Identity,
    /// The cookie of the receiver's last [`Challenge`]; 0 before one has come.
    pub cookie: u64,
    /// The secret of the sender's place; 0 if it has none, and before the receiver has sent a challenge.
    pub place: u128,
}

/// Asks the sender of a [`Hello`] to repeat it with this number, which proves that the sender receives packets at its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// Goes into the next hello.
    pub cookie: u64,
}

/// Lets a peer in. Answers every [`Hello`] of a peer that is welcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Welcome {
    /// The identity of the answering peer.
    pub identity: Identity,
    /// Number of the connection at the receiver's place: 0 in the lobby, then one more for each peer that takes the place in the running match.
    pub connection: u16,
}

/// Refuses a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refuse {
    /// The reason.
    pub refusal: Refusal,
}

/// Round-trip measurement: echoes the receiver's latest time stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// The receiver's own time at which it sent the stamp.
    pub sent_us: u32,
    /// Microseconds between the arrival of that stamp and the sending of this packet.
    pub held_us: u32,
}

/// The state before the start: readiness, clocks, and the common start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lobby {
    /// Whether the sender has all its links and may start.
    pub ready: bool,
    /// Who is here and wants to begin, from the middle of a star.
    pub members: Option<Members>,
    /// The sender's time in microseconds, low 32 bits.
    pub sent_us: u32,
    /// Echo of the receiver's time.
    pub echo: Option<Echo>,
    /// Microseconds until turn 0 begins at the sender. Only the peer that starts the match sends this.
    pub start_in_us: Option<u32>,
    /// The players' keys; none in a match without keys.
    pub keys: Option<Box<LobbyKeys>>,
}

/// Players who are connected to the middle of a star, as the middle says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Members {
    /// Bit n: player n is here.
    pub here: u16,
    /// Bit n: player n is here and wants to begin.
    pub ready: u16,
}

/// The key part of a lobby packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LobbyKeys {
    /// The sender's own seat, if it plays.
    pub own: Option<Seat>,
    /// The mark of the sender's roster.
    pub mark: Option<u64>,
    /// The roster, from the middle of a star: each player's seat, in order; none for players who do not take part. Empty: not sent.
    pub roster: Vec<Option<Seat>>,
}

/// A peer's last packet: it will send nothing more. Exhaustive on purpose: another one is another [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bye {
    /// Reason 0: the match is over and the sender has everything.
    Finished,
    /// Reason 1: the sender has left, or has failed.
    Left,
    /// Reason 2: the receiver has been dropped.
    Dropped,
}

/// 5 bits: 0..=15 players, 16 watcher, 17 relay.
impl Field for Identity {
    fn write(&self, writer: &mut BitWriter) {
        let number = match self {
            Self::Player(player) => player.0,
            Self::Watcher => 16,
            Self::Relay => 17,
        };
        writer.write_bits(u64::from(number), 5);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match reader.read_max(5, 17)? as u8 {
            16 => Self::Watcher,
            17 => Self::Relay,
            player => Self::Player(PlayerId(player)),
        })
    }
}

fields!(Hello {
    version,
    nonce,
    session_mark,
    config_hash,
    content_hash,
    frames_per_second,
    identity,
    cookie,
    place,
});
fields!(Challenge { cookie });
fields!(Welcome { identity, connection });
fields!(Refuse { refusal });
fields!(Lobby { ready, members, sent_us, echo, start_in_us, keys });
fields!(Echo { sent_us, held_us });

impl Hello {
    /// Version and nonce, which every version has at the same place.
    pub(crate) fn peek(mut reader: BitReader<'_>) -> Result<(u16, u64), DecodeError> {
        Field::read(&mut reader)
    }
}

/// A number, then 64 bits that belong to it.
impl Field for Refusal {
    fn write(&self, writer: &mut BitWriter) {
        let (reason, expected) = match *self {
            Self::Version { expected } => (0, u64::from(expected)),
            Self::Config { expected } => (1, expected),
            Self::Taken => (2, 0),
            Self::Running => (3, 0),
            Self::Session => (4, 0),
            Self::Content { expected } => (5, expected),
            Self::FrameRate { expected } => (6, u64::from(expected)),
            Self::VotedOut => (7, 0),
            Self::ComeBackIn { seconds } => (8, u64::from(seconds)),
        };
        writer.write_bits(reason, 4);
        expected.write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let reason = reader.read_max(4, 8)?;
        let max = match reason {
            0 | 6 | 8 => u64::from(u16::MAX),
            1 | 5 => u64::MAX,
            _ => 0,
        };
        let expected = reader.read_max(64, max)?;
        Ok(match reason {
            0 => Self::Version { expected: expected as u16 },
            1 => Self::Config { expected },
            2 => Self::Taken,
            3 => Self::Running,
            4 => Self::Session,
            5 => Self::Content { expected },
            7 => Self::VotedOut,
            8 => Self::ComeBackIn { seconds: expected as u16 },
            _ => Self::FrameRate { expected: expected as u16 },
        })
    }
}

/// Who is ready is here.
impl Field for Members {
    fn write(&self, writer: &mut BitWriter) {
        (self.here, self.ready).write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (here, ready) = <(u16, u16)>::read(reader)?;
        if ready & !here == 0 { Ok(Self { here, ready }) } else { Err(DecodeError::NotCanonical) }
    }
}

impl Field for LobbyKeys {
    fn write(&self, writer: &mut BitWriter) {
        self.own.write(writer);
        self.mark.write(writer);
        writer.write_bool(!self.roster.is_empty());
        if !self.roster.is_empty() {
            write_seats(writer, self.roster.iter().copied());
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (own, mark) = Field::read(reader)?;
        let roster = if reader.read_bool()? { read_seats(reader)? } else { Vec::new() };
        Ok(Self { own, mark, roster })
    }
}

impl Field for Bye {
    fn write(&self, writer: &mut BitWriter) {
        let reason = match self {
            Self::Finished => 0,
            Self::Left => 1,
            Self::Dropped => 2,
        };
        writer.write_bits(reason, 3);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match reader.read_max(3, 2)? {
            0 => Self::Finished,
            1 => Self::Left,
            _ => Self::Dropped,
        })
    }
}
