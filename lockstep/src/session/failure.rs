//! Why a session ended early.

use core::fmt;

use crate::packet::Refusal;
use crate::value::ids::{PeerId, PlayerSet};

/// Why a session ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// Nobody answered within the connect timeout: nobody is listening there, or packets do not get through. (A peer that plays another match would have
    /// answered: [`Failure::Refused`] with [`Refusal::Session`].) Or this session has no link and lets nobody in, so nobody was asked
    /// ([`connect`](crate::AnySession::connect)): that of a guest, and that of a host or relay whose settings have another topology.
    ConnectTimeout,
    /// Not everybody joined within the lobby timeout.
    PlayersMissing {
        /// The players who did not join.
        players: PlayerSet,
        /// Number of watchers missing from [`crate::SessionConfig::watchers_min()`].
        watchers: u32,
    },
    /// A peer gave up before the match had begun.
    NeverBegan(PeerId),
    /// The other side refused.
    Refused(Refusal),
    /// A peer was silent for the silence timeout.
    ConnectionLost(PeerId),
    /// The others went on without this player.
    Dropped,
    /// A peer ended its session before the match was over.
    PeerLeft(PeerId),
    /// The match is signed, and the roster that this player received does not contain the player's own seat.
    OtherRoster,
    /// The match is signed and runs, and this player comes back with another key than the one with which it began.
    OtherKey,
    /// The match is signed, and the other side lets this player come back to a turn that it has signed already ([`crate::SessionConfig::signed_before()`]). By
    /// playing on, the player would sign two accounts of one turn.
    SignedAlready,
    /// The match runs, but no source had a state that agrees with the others' checksums, or the match was over before the state arrived, or it is another match
    /// than the one in [`crate::SessionConfig::signed_before()`].
    NoState,
    /// The state of the running match is larger than [`crate::SessionConfig::state_bytes_max()`].
    StateTooLarge {
        /// Number of announced bytes.
        bytes: u32,
        /// Greatest allowed number of bytes.
        max: u32,
    },
    /// Joining the running match took longer than [`crate::SessionConfig::join_timeout()`].
    JoinTimeout,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectTimeout => {
                write!(f, "nobody answered: nobody is listening there, or packets do not get through")
            }
            Self::PlayersMissing { players, watchers } => {
                let mut missing: Vec<String> =
                    players.iter().map(|player| format!("player {player}")).collect();
                if *watchers > 0 {
                    missing.push(format!("{watchers} of the required watchers"));
                }
                if missing.is_empty() {
                    return write!(f, "the players were not all ready in time");
                }
                write!(f, "did not connect in time: {}", missing.join(", "))
            }
            Self::NeverBegan(_) => write!(f, "the other side gave up before the match began"),
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
            Self::ConnectionLost(_) => write!(f, "connection lost"),
            Self::Dropped => write!(f, "the others went on without this player"),
            Self::PeerLeft(_) => write!(f, "the other side ended the match early"),
            Self::OtherRoster => write!(f, "the other side has other keys of the players"),
            Self::OtherKey => {
                write!(f, "this player began the match with another key: come back with that one")
            }
            Self::SignedAlready => {
                write!(
                    f,
                    "the other side shows a part of the match again that this player has signed already"
                )
            }
            Self::NoState => write!(f, "nobody had a state of the running match that this player can use"),
            Self::StateTooLarge { bytes, max } => {
                write!(f, "the state of the running match has {bytes} bytes, allowed are {max}")
            }
            Self::JoinTimeout => write!(f, "joining the running match took too long"),
        }
    }
}

impl std::error::Error for Failure {}
