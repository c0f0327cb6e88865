//! The first message of a client on its connection, and the answer to it. The connection is sealed, so nobody else reads the secrets in them.
//!
//! A greeting has at most 1,024 bytes, an answer at most 16,384. Numbers are little-endian. Every greeting begins with the protocol version, in
//! every version. `WIRE.md` has the bytes.

use core::fmt;

use crate::packet::PROTOCOL_VERSION;
use crate::service::agreement::Agreement;
use crate::service::places::{NoPlace, Pass, Secret};
use crate::value::ids::{Identity, PlayerId};

/// A watcher's place on the wire. Players have their number.
const WATCHER: u8 = 255;

/// What a client wants.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Greeting {
    /// Kind 0: to come to the place that the secret opens.
    Come {
        /// The secret, and the mark of the machine.
        pass: Pass,
    },
    /// Kind 1: to open a room at a relay, and to play in it.
    Open {
        /// The relay's secret, and the mark of the machine.
        pass: Pass,
        /// What all members of the match agree on.
        agreement: Box<Agreement>,
    },
}

/// Logs do not show the secret.
impl fmt::Debug for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Come { .. } => "Come(..)",
            Self::Open { .. } => "Open(..)",
        })
    }
}

/// What a client is told.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// Kind 0: the place is open.
    Come(Welcome),
    /// Kind 1: the room is open.
    Opened(Opened),
    /// The other kinds: no place.
    Refused(Refused),
}

/// A place in a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Welcome {
    /// A player or a watcher.
    pub place: Identity,
    /// The middle of the star is a relay.
    pub is_relayed: bool,
    /// The number of the match.
    pub session_id: u64,
    /// What all members agree on.
    pub agreement: Agreement,
}

/// A room that was opened at a relay.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    /// The place of the client that opened it.
    pub welcome: Welcome,
    /// The secrets of all places.
    pub secrets: Secrets,
}

/// Logs do not show the secrets.
impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("welcome", &self.welcome).finish_non_exhaustive()
    }
}

/// The secrets of all places of a match.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    /// Of the players, in order.
    pub players: Vec<Secret>,
    /// Of all watchers.
    pub watchers: Secret,
    /// Of a place to watch from that is for one, such as a referee.
    pub referee: Secret,
}

/// Logs do not show the secrets.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("players", &self.players.len()).finish_non_exhaustive()
    }
}

impl Secrets {
    /// New ones for so many players. `draw` returns random bytes.
    pub fn draw(players: u8, mut draw: impl FnMut() -> Secret) -> Self {
        let players = (0..players).map(|_| draw()).collect();
        Self { players, watchers: draw(), referee: draw() }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Secret> {
        self.players.iter().chain([&self.watchers, &self.referee])
    }
}

/// Why a client gets no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refused {
    /// Kind 2: the server speaks this protocol version.
    Version(u16),
    /// Kind 3: there are as many watchers as there may be; without a seal, as many players.
    Full,
    /// Kind 4: the secret opens no place here.
    WrongSecret,
    /// Kind 5: the relay has as many rooms as it may have.
    TooManyRooms,
    /// Kind 6: the server is shutting down, and lets nobody in any more.
    GoingAway,
    /// Kind 7: the match is over.
    Over,
    /// Kind 8: the greeting was not understood.
    Malformed,
    /// Kind 9: the host has removed this player.
    Removed,
    /// Kind 10: too many have come to this place in a short time.
    Later,
    /// Kind 11: the match has begun, and the place is kept for the program with another token.
    OtherProgram,
    /// Kind 12: a player's actions of one turn may be larger than the relay allows.
    TurnTooLarge {
        /// Bytes of one player's actions in one turn, as the match is set ([`crate::SessionConfig::turn_bytes_max()`]).
        bytes: u32,
        /// The greatest number that the relay allows.
        max: u32,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(theirs) => {
                write!(f, "the other side speaks protocol version {theirs}, this is {PROTOCOL_VERSION}")
            }
            Self::Full => write!(f, "there is no free place"),
            Self::WrongSecret => write!(f, "the code opens no place here"),
            Self::TooManyRooms => write!(f, "the relay has as many rooms as it may have"),
            Self::GoingAway => write!(f, "the other side is shutting down, and lets nobody in any more"),
            Self::Over => write!(f, "the match is over"),
            Self::Malformed => write!(f, "the other side did not understand the question"),
            Self::Removed => write!(f, "the host has removed this player"),
            Self::OtherProgram => {
                write!(f, "the place is kept for the program that began the match: come back with its token")
            }
            Self::TurnTooLarge { bytes, max } => {
                write!(f, "a player's turn may have {bytes} bytes in this match, the relay allows {max}")
            }
            Self::Later => {
                write!(f, "too many have come to this match in a short time: try again in a minute")
            }
        }
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Whether the same question may be answered otherwise soon.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::Later | Self::Full)
    }
}

impl From<NoPlace> for Refused {
    fn from(why: NoPlace) -> Self {
        match why {
            NoPlace::WrongSecret => Self::WrongSecret,
            NoPlace::Full => Self::Full,
            NoPlace::Shut => Self::Removed,
            NoPlace::Later { .. } => Self::Later,
            NoPlace::OtherProgram => Self::OtherProgram,
        }
    }
}

impl Greeting {
    /// Version `u16`, kind `u8`, secret, token; to open a room, the agreement.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = PROTOCOL_VERSION.to_le_bytes().to_vec();
        match self {
            Self::Come { pass } => {
                bytes.push(0);
                bytes.extend_from_slice(&pass.secret);
                bytes.extend_from_slice(&pass.token);
            }
            Self::Open { pass, agreement } => {
                bytes.push(1);
                bytes.extend_from_slice(&pass.secret);
                bytes.extend_from_slice(&pass.token);
                bytes.extend_from_slice(&agreement.to_bytes());
            }
        }
        bytes
    }

    /// Reads a greeting. Total: any bytes give a greeting or an error.
    ///
    /// # Errors
    /// [`Refused::Version`] with this side's version, or [`Refused::Malformed`].
    pub fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let (version, rest) = bytes.split_first_chunk().ok_or(Refused::Malformed)?;
        if u16::from_le_bytes(*version) != PROTOCOL_VERSION {
            return Err(Refused::Version(PROTOCOL_VERSION));
        }
        let (kind, rest) = rest.split_first().ok_or(Refused::Malformed)?;
        let (secret, rest) = rest.split_first_chunk().ok_or(Refused::Malformed)?;
        let (token, rest) = rest.split_first_chunk().ok_or(Refused::Malformed)?;
        let pass = Pass { secret: *secret, token: *token };
        match kind {
            0 if rest.is_empty() => Ok(Self::Come { pass }),
            1 => {
                let agreement = Agreement::read(rest).map_err(|_| Refused::Malformed)?;
                Ok(Self::Open { pass, agreement: Box::new(agreement) })
            }
            _ => Err(Refused::Malformed),
        }
    }
}

impl Answer {
    /// Kind `u8`; a welcome: place `u8` (255: to watch), whether a relay is the middle `u8`, session id `u64`, the agreement; for an opened room
    /// then the secrets of the watchers, of the referee, of the players; for another version `u16`; for a turn that is too large two `u32`.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Come(welcome) => welcome.put(vec![0]),
            Self::Opened(Opened { welcome, secrets }) => {
                let mut bytes = welcome.put(vec![1]);
                bytes.extend_from_slice(&secrets.watchers);
                bytes.extend_from_slice(&secrets.referee);
                secrets.players.iter().for_each(|secret| bytes.extend_from_slice(secret));
                bytes
            }
            Self::Refused(Refused::Version(version)) => [&[2][..], &version.to_le_bytes()].concat(),
            Self::Refused(Refused::TurnTooLarge { bytes, max }) => {
                [&[12][..], &bytes.to_le_bytes(), &max.to_le_bytes()].concat()
            }
            Self::Refused(why) => vec![match why {
                Refused::Full => 3,
                Refused::WrongSecret => 4,
                Refused::TooManyRooms => 5,
                Refused::GoingAway => 6,
                Refused::Over => 7,
                Refused::Removed => 9,
                Refused::Later => 10,
                Refused::OtherProgram => 11,
                Refused::Malformed | Refused::Version(_) | Refused::TurnTooLarge { .. } => 8,
            }],
        }
    }

    /// Reads an answer. Total: any bytes give an answer or none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        if let 0 | 1 = kind {
            let (welcome, rest) = Welcome::read(rest)?;
            if *kind == 0 {
                return rest.is_empty().then_some(Self::Come(welcome));
            }
            let (secrets, rest) = rest.as_chunks::<16>();
            let [watchers, referee, players @ ..] = secrets else { return None };
            let is_whole = rest.is_empty() && players.len() == usize::from(welcome.agreement.players());
            let secrets = Secrets { players: players.to_vec(), watchers: *watchers, referee: *referee };
            return is_whole.then_some(Self::Opened(Opened { welcome, secrets }));
        }
        if let ([2], [low, high]) = (&[*kind], rest) {
            return Some(Self::Refused(Refused::Version(u16::from_le_bytes([*low, *high]))));
        }
        if let (12, Some((bytes, max))) = (*kind, rest.split_first_chunk()) {
            let (bytes, max) = (u32::from_le_bytes(*bytes), u32::from_le_bytes(max.try_into().ok()?));
            return Some(Self::Refused(Refused::TurnTooLarge { bytes, max }));
        }
        let why = match kind {
            3 => Refused::Full,
            4 => Refused::WrongSecret,
            5 => Refused::TooManyRooms,
            6 => Refused::GoingAway,
            7 => Refused::Over,
            8 => Refused::Malformed,
            9 => Refused::Removed,
            10 => Refused::Later,
            11 => Refused::OtherProgram,
            _ => return None,
        };
        rest.is_empty().then_some(Self::Refused(why))
    }
}

impl Welcome {
    fn put(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.push(match self.place {
            Identity::Player(player) => player.0,
            Identity::Watcher | Identity::Relay => WATCHER,
        });
        bytes.push(u8::from(self.is_relayed));
        bytes.extend_from_slice(&self.session_id.to_le_bytes());
        bytes.extend_from_slice(&self.agreement.to_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&[place, relayed], rest) = bytes.split_first_chunk()?;
        let (session_id, rest) = rest.split_first_chunk()?;
        let (agreement, rest) = Agreement::read_from(rest).ok()?;
        let place = match place {
            WATCHER => Identity::Watcher,
            player if player < agreement.players() => Identity::Player(PlayerId(player)),
            _ => return None,
        };
        let is_relayed = match relayed {
            0 => false,
            1 => true,
            _ => return None,
        };
        let session_id = u64::from_le_bytes(*session_id);
        Some((Self { place, is_relayed, session_id, agreement }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::config::SessionConfig;
    use crate::value::action::NoAction;

    fn agreement() -> Agreement {
        Agreement::new::<NoAction>(&SessionConfig::new(3), b"lakes").unwrap()
    }

    fn greetings() -> [Greeting; 2] {
        let agreement = Box::new(agreement());
        let pass = Pass { secret: [7; 16], token: [6; 16] };
        [Greeting::Come { pass }, Greeting::Open { pass: Pass::from(&[8; 16]), agreement }]
    }

    fn answers() -> Vec<Answer> {
        let place = Identity::Player(PlayerId(2));
        let welcome = Welcome { place, is_relayed: true, session_id: 0x1234, agreement: agreement() };
        let watching = Welcome { place: Identity::Watcher, is_relayed: false, ..welcome.clone() };
        let secrets =
            Secrets { players: vec![[1; 16], [2; 16], [3; 16]], watchers: [4; 16], referee: [5; 16] };
        let refusals = [
            Refused::Version(0x0102),
            Refused::Full,
            Refused::WrongSecret,
            Refused::TooManyRooms,
            Refused::GoingAway,
            Refused::Over,
            Refused::Malformed,
            Refused::Removed,
            Refused::Later,
            Refused::OtherProgram,
            Refused::TurnTooLarge { bytes: 0x0102_0304, max: 256 },
        ];
        let places = [Answer::Come(watching), Answer::Opened(Opened { welcome, secrets })];
        places.into_iter().chain(refusals.map(Answer::Refused)).collect()
    }

    #[test]
    fn greetings_are_read_as_they_were_written_or_refused() {
        for greeting in greetings() {
            let bytes = greeting.to_bytes();
            assert!(bytes.len() <= 1_024);
            assert_eq!(Greeting::read(&bytes), Ok(greeting));
            for length in 2..bytes.len() {
                assert_eq!(Greeting::read(&bytes[..length]), Err(Refused::Malformed), "{length}");
            }
            assert_eq!(Greeting::read(&[&bytes[..], &[0]].concat()), Err(Refused::Malformed));
            let mut other = bytes;
            other[1] ^= 1;
            assert_eq!(Greeting::read(&other), Err(Refused::Version(PROTOCOL_VERSION)));
        }
        assert_eq!(Greeting::read(&[]), Err(Refused::Malformed));
    }

    #[test]
    fn answers_are_read_as_they_were_written_or_not_at_all() {
        for answer in answers() {
            let bytes = answer.to_bytes();
            assert_eq!(Answer::read(&bytes), Some(answer));
            for length in 0..bytes.len() {
                assert_eq!(Answer::read(&bytes[..length]), None, "{length} of {bytes:?}");
            }
            assert_eq!(Answer::read(&[&bytes[..], &[0]].concat()), None);
        }
        let golden = [12, 4, 3, 2, 1, 0, 1, 0, 0];
        assert_eq!(answers().last().map(Answer::to_bytes).as_deref(), Some(&golden[..]));
        for kind in 12..=u8::MAX {
            assert_eq!(Answer::read(&[kind]), None);
        }
    }

    #[test]
    fn a_place_that_the_match_does_not_have_is_none() {
        let mut bytes = answers()[0].to_bytes();
        bytes[1] = 3;
        assert_eq!(Answer::read(&bytes), None, "three players");
        bytes[1] = 2;
        assert!(Answer::read(&bytes).is_some());
        bytes[2] = 2;
        assert_eq!(Answer::read(&bytes), None, "a relay or none");
    }
}
