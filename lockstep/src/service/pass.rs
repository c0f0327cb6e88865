//! What whoever comes to a match shows, and what the table of places answers.

use core::fmt;

use crate::value::ids::{Identity, PeerId};
use crate::value::time::Duration;

/// What opens a place: 128 random bits.
pub type Secret = [u8; 16];

/// What whoever comes shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Opens the place.
    pub secret: Secret,
    /// The same whenever the same program comes from the same machine, and a secret of both. Once
    /// [`Places::settle`](crate::service::places::Places::settle) was called, a place belongs to the token that came last. All zeros: a program that has none.
    pub token: [u8; 16],
}

impl From<&Secret> for Pass {
    fn from(secret: &Secret) -> Self {
        Self { secret: *secret, token: [0; 16] }
    }
}

/// Without secret and token.
impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").finish_non_exhaustive()
    }
}

/// The place that a connection has taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Placed {
    /// The place.
    pub identity: Identity,
    /// The session's number of the link.
    pub link: PeerId,
    /// The connection that led to this place before. It should be closed, and its client be told why
    /// (`SealedServer::displace`).
    pub former: Option<PeerId>,
}

/// Why somebody cannot come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NoPlace {
    /// The secret opens nothing.
    WrongSecret,
    /// As many watch as may.
    Full,
    /// The player was removed: the place is shut, or another secret opens it.
    Shut,
    /// The match has begun ([`Places::settle`](crate::service::places::Places::settle)), and the place is kept for the program with another token.
    OtherProgram,
    /// Too many have come by this secret in a short time.
    Later {
        /// Time until the next one may come.
        wait: Duration,
    },
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongSecret => write!(f, "the secret opens no place here"),
            Self::Full => write!(f, "there are already as many watchers as there may be"),
            Self::Shut => write!(f, "the player was removed"),
            Self::OtherProgram => {
                write!(f, "the place is kept for the program that began the match: come back with its token")
            }
            Self::Later { wait } => {
                let seconds = wait.as_millis().div_ceil(1_000);
                write!(
                    f,
                    "too many have come by this secret in a short time: the next one may come in {seconds} s"
                )
            }
        }
    }
}

impl std::error::Error for NoPlace {}

/// What a connection asks for: whether there is room for it depends on this.
#[cfg(feature = "sealed")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// The place of a connection that is here, and with it the room of that connection; whether it is a player's.
    Taken { plays: bool, by: PeerId },
    /// A player's place where nobody is, or a room of its own.
    Player,
    /// To watch, or nothing that there is.
    Other,
}
