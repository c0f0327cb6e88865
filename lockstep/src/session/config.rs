//! Settings of a session. What decides the course of the match must be equal on all peers; the handshake compares a hash of it.
mod alone;
mod arrivals;
mod check;
mod controls;
mod hash;
pub(crate) mod limits;
mod own;
mod sides;
mod waits;
mod watchers;

use core::fmt;

use twox_hash::XxHash3_64;

use crate::pace::pacing::{Pace, TurnPlan};
use crate::packet::PayloadFormat;
use crate::value::time::Duration;

use arrivals::Arrivals;
pub(crate) use check::REFEREES;
use controls::Control;
pub use controls::Controls;
use limits::Limits;
use own::Own;
use sides::Sides;
use waits::Waits;
use watchers::Watchers;

/// Settings of a session, with defaults.
///
/// ```
/// use testudo_lockstep::{Duration, SessionConfig};
/// let config = SessionConfig::new(4).frames_per_second(30).frames_per_turn(6).turns(300).queue_max(16);
/// assert_eq!(config.turn_length(), Duration::from_millis(200));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct SessionConfig {
    /// Number of players, the host included.
    pub players: u8,
    /// See [`SessionConfig::topology()`].
    pub topology: Topology,
    /// See [`SessionConfig::session_id()`].
    pub session_id: u64,
    /// See [`SessionConfig::frames_per_second()`].
    pub frames_per_second: u32,
    /// See [`SessionConfig::frames_per_turn()`].
    pub frames_per_turn: u32,
    /// See [`SessionConfig::turns_ahead()`].
    pub turns_ahead: u32,
    /// See [`SessionConfig::turns()`].
    pub turns: Option<u32>,
    /// A turn is one frame with one action of a fixed size: see [`SessionConfig::input()`].
    pub input_mode: bool,
    /// See [`SessionConfig::rotate_players()`].
    pub rotate_players: bool,
    /// Players sign statements: see [`SessionConfig::signed()`].
    pub signed: bool,
    pub(crate) content: Content,
    pub(crate) sides: Sides,
    pub(crate) limits: Limits,
    pub(crate) tempo: Tempo,
    pub(crate) control: Control,
    pub(crate) waits: Waits,
    pub(crate) watchers: Watchers,
    pub(crate) arrivals: Arrivals,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) own: Own,
}

/// What must be equal at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Content {
    pub(crate) content_hash: u64,
    pub(crate) engine_version: u32,
}

/// What sets the length of turns.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Tempo {
    pub(crate) pace: Pace,
    /// Whether a peer that runs ahead slows down.
    pub(crate) aligns: bool,
}

/// The links of a session. Exhaustive on purpose: the code that connects the peers must know which links there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Topology {
    /// A star: everybody has one link to the host, [`SessionConfig::host_player`], who forwards. The default.
    Host,
    /// A star around a relay that forwards and does not take part.
    Relay,
    /// Everybody has a link to everybody: every member connects to all others ([`connect`](crate::AnySession::connect)), in any order and at any time before
    /// the connect timeout. The lowest player who is not away in a save starts the match.
    Mesh,
}

/// A setting outside its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number is outside `min..=max`.
    OutOfRange {
        /// Name of the method that sets it.
        setting: &'static str,
        /// The given value.
        value: u64,
        /// Smallest allowed value.
        min: u64,
        /// Largest allowed value.
        max: u64,
    },
    /// A time is outside `min..=max`.
    TimeOutOfRange {
        /// Name of the method that sets it.
        setting: &'static str,
        /// The given value.
        value: Duration,
        /// Shortest allowed time.
        min: Duration,
        /// Longest allowed time.
        max: Duration,
    },
    /// The action type needs more bits than an entry of the stream may have ([`SessionConfig::turn_bytes_max()`]; in input mode that limit is fixed), or none.
    ActionTooLarge {
        /// [`crate::Action::MAX_BITS`].
        bits: u32,
        /// Bits that the settings allow.
        max: u32,
    },
    /// In input mode [`crate::Action::MAX_BITS`] zeros are the input of a player who does nothing, and they are no action of this type.
    ZerosAreNoInput,
    /// The match is signed, but this program was built without the feature `signed`.
    NoSignatures,
    /// [`Session::single`](crate::Session::single) is for one player.
    NotSingle {
        /// Number of players in the settings.
        players: u8,
    },
    /// No random bytes were given: [`SessionConfig::entropy`].
    NoEntropy,
    /// No session id was given: [`SessionConfig::session_id()`].
    NoSessionId,
    /// The match is signed, but this player has no key.
    NoKey,
    /// The saved match was played with other settings, other content or another action type.
    OtherMatch,
    /// The saved match cannot be resumed: it lacks entries, or contains entries that nobody could have given.
    UnsoundSave,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { setting, value, min, max } => {
                write!(f, "{setting} must be {min} to {max}, not {value}")
            }
            Self::TimeOutOfRange { setting, value, min, max } => {
                let [value, min, max] = [value, min, max].map(|time| time.as_millis());
                write!(f, "{setting} must be {min} to {max} ms, not {value} ms")
            }
            Self::ActionTooLarge { bits, max } => {
                write!(
                    f,
                    "an action must have 1 to {max} bits, but its MAX_BITS is {bits}: change that, or turn_bytes_max"
                )
            }
            Self::ZerosAreNoInput => {
                write!(f, "zeros in all bits must be an input: that of a player who does nothing")
            }
            Self::NoSignatures => {
                write!(f, "the match is signed, and this program was built without signatures")
            }
            Self::NotSingle { players } => {
                write!(
                    f,
                    "a session without other peers is for 1 player, but the settings are for {players} players"
                )
            }
            Self::NoEntropy => write!(f, "no random bytes were given: set the session's entropy"),
            Self::NoSessionId => write!(f, "no session id was given: draw one at random"),
            Self::NoKey => write!(f, "the match is signed, and no key was given for the player"),
            Self::OtherMatch => write!(f, "the saved match has other settings or content"),
            Self::UnsoundSave => {
                write!(f, "the saved match cannot be resumed: its entries are not consistent")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// Version of the engines with which this library was built: 0 is none.
#[cfg(feature = "physics")]
pub(crate) use crate::world::ENGINE_VERSION;
#[cfg(not(feature = "physics"))]
pub(crate) const ENGINE_VERSION: u32 = 0;

impl SessionConfig {
    /// Command mode: turns of 200 ms, four frames of 50 ms each, two turns ahead, one action per player and turn.
    ///
    /// `players` is 1..=16, the host included.
    pub fn new(players: u8) -> Self {
        Self {
            players,
            topology: Topology::Host,
            session_id: 0,
            frames_per_second: 20,
            frames_per_turn: 4,
            turns_ahead: 2,
            turns: None,
            input_mode: false,
            rotate_players: false,
            signed: false,
            content: Content { content_hash: 0, engine_version: ENGINE_VERSION },
            sides: Sides::default(),
            limits: Limits::default(),
            tempo: Tempo { pace: Pace::Fixed, aligns: true },
            control: Control::default(),
            waits: Waits::default(),
            watchers: Watchers::default(),
            arrivals: Arrivals::default(),
            own: Own::default(),
        }
    }

    /// Input mode: a turn is one frame, every entry is one action of exactly [`crate::Action::MAX_BITS`] bits, and there is a checksum
    /// every 30 frames. A frame without a new input repeats the last one; zeros in all bits stand for none yet.
    pub fn input(players: u8, frames_per_second: u32) -> Self {
        let config = Self::new(players).frames_per_second(frames_per_second).frames_per_turn(1);
        Self { input_mode: true, ..config }.checksum_interval(30)
    }

    /// The links between peers. Default [`Topology::Host`].
    pub fn topology(self, topology: Topology) -> Self {
        Self { topology, ..self }
    }

    /// How the length of turns is chosen. Default [`Pace::Fixed`].
    pub fn pace(mut self, pace: Pace) -> Self {
        self.tempo.pace = pace;
        self
    }

    /// This peer keeps its own time even if it runs ahead of the others, and does not report its slack. A local choice.
    pub fn without_alignment(mut self) -> Self {
        self.tempo.aligns = false;
        self
    }

    /// The settings of the Unity lockstep articles, without their defects; see [`Pace::Article`].
    pub fn article(players: u8) -> Self {
        Self::new(players).pace(Pace::Article)
    }

    /// Number that distinguishes this match from others. A peer that asks to join with another one is refused ([`crate::Refusal::Session`]); other packets of
    /// another session are ignored. The host or relay draws it at random and tells it to those who may join. Default 0, with which no session is made that can
    /// be reached over a network ([`ConfigError::NoSessionId`]).
    pub fn session_id(self, session_id: u64) -> Self {
        Self { session_id, ..self }
    }

    /// Signed match: every player has a key and signs a statement about the match about once a second, so that nobody can show different
    /// matches to different players unnoticed. All peers must set this, also watchers and relays; players set it with
    /// [`SessionConfig::player_key`]. Default: no signatures, and liars are not found.
    #[cfg(feature = "signed")]
    pub fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// Hash of everything else that must be equal at the start: map, units, rules, their version. Default 0. Take a hash whose values are the same on every
    /// machine and never change, such as `testudo_physics::hash_bytes`, and not the standard library's `DefaultHasher`. The versions of the engines are
    /// compared, too: [`SessionConfig::engine_version()`].
    pub fn content_hash(mut self, content_hash: u64) -> Self {
        self.content.content_hash = content_hash;
        self
    }

    /// Version of the engines that decide the bits of the simulation. Peers with different ones refuse each other, as with different contents.
    /// Default: `testudo_physics::SIM_VERSION` with the feature `physics`; `SIM_VERSION * 1_000 + testudo_movement::MOVEMENT_VERSION` with
    /// `movement`; else 0. Only a relay that serves players of another build must set it, to theirs.
    pub fn engine_version(mut self, engine_version: u32) -> Self {
        self.content.engine_version = engine_version;
        self
    }

    /// What the peers compare: the content, and the engine if there is one.
    pub(crate) fn content(&self) -> u64 {
        match self.content.engine_version {
            0 => self.content.content_hash,
            version => {
                XxHash3_64::oneshot_with_seed(u64::from(version), &self.content.content_hash.to_le_bytes())
            }
        }
    }

    /// Game frames per second, 1..=1000. Default 20.
    pub fn frames_per_second(self, frames_per_second: u32) -> Self {
        Self { frames_per_second, ..self }
    }

    /// Frames in a turn at the start, 1..=250. Default 4.
    pub fn frames_per_turn(self, frames_per_turn: u32) -> Self {
        Self { frames_per_turn, ..self }
    }

    /// Whole turns between submitting an action and running it, 1..=8. Default 2. One player alone, with or without watchers, may take 0, but not with
    /// [`Pace::Article`] behind a relay.
    pub fn turns_ahead(self, turns_ahead: u32) -> Self {
        Self { turns_ahead, ..self }
    }

    /// Length of the match in turns, 1..=4,000,000,000. Without it the match goes on until [`Session::end_match`](crate::AnySession::end_match).
    pub fn turns(self, turns: u32) -> Self {
        Self { turns: Some(turns), ..self }
    }

    /// Fairness: with true, another player's actions run first in each turn. Default false: player 0 is always first.
    pub fn rotate_players(self, rotate_players: bool) -> Self {
        Self { rotate_players, ..self }
    }

    /// Number of the first entry that must be sent; entries before it are here from the beginning.
    pub(crate) fn first_entry(&self) -> u32 {
        self.first_turn().saturating_add(self.turns_ahead)
    }

    /// The layout of actions in packets, for tests that make their own.
    #[doc(hidden)]
    #[must_use]
    pub fn payload_format(&self, action_bits: u32) -> PayloadFormat {
        if self.input_mode {
            PayloadFormat::Fixed(action_bits)
        } else {
            PayloadFormat::Variable(self.limits.turn_bytes_max.saturating_mul(8))
        }
    }

    /// Length of one turn at the start, rounded down to whole microseconds.
    #[must_use]
    pub fn turn_length(&self) -> Duration {
        Duration::from_micros(
            u64::from(self.frames_per_turn) * 1_000_000 / u64::from(self.frames_per_second.max(1)),
        )
    }

    /// Length of one frame, rounded down to whole microseconds. (The driver counts exactly: 60 frames are one second.)
    #[must_use]
    pub fn frame_length(&self) -> Duration {
        Duration::from_micros(1_000_000 / u64::from(self.frames_per_second.max(1)))
    }

    /// The plan of the first turns.
    pub(crate) fn first_plan(&self) -> TurnPlan {
        TurnPlan {
            frames_per_turn: self.frames_per_turn,
            frames_per_second: self.frames_per_second,
            pace_millihertz: self.frames_per_second * 1_000,
        }
    }
}
