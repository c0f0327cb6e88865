//! Settings of a session. They must be equal on all peers; the handshake compares a hash of them.

mod check;
mod controls;
mod hash;
mod joining;

use core::fmt;

use twox_hash::XxHash3_64;

use crate::pace::pacing::{Pace, TurnPlan};
use crate::session::saved::SavedMatch;
use crate::signed::key::PlayerKey;
use crate::value::entry::EndReason;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::Duration;

pub use controls::Controls;
use joining::SeatSecret;

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
pub struct SessionConfig {
    /// Number of players, the host included.
    pub players: u8,
    /// See [`SessionConfig::topology()`].
    pub topology: Topology,
    /// See [`SessionConfig::session_id()`].
    pub session_id: u64,
    /// See [`SessionConfig::content_hash()`].
    pub content_hash: u64,
    /// See [`SessionConfig::engine_version()`].
    pub engine_version: u32,
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
    /// See [`SessionConfig::bots_take_over()`].
    pub bots_take_over: bool,
    /// See [`SessionConfig::host_player()`].
    pub host_player: u8,
    /// Team of each player, below 16.
    pub(crate) teams: [u8; PLAYERS_MAX as usize],
    /// See [`SessionConfig::actions_per_turn_max()`].
    pub actions_per_turn_max: u32,
    /// See [`SessionConfig::turn_bytes_max()`].
    pub turn_bytes_max: u32,
    /// See [`SessionConfig::checksum_interval()`].
    pub checksum_interval: u32,
    /// See [`SessionConfig::queue_max()`].
    pub queue_max: u32,
    /// See [`SessionConfig::window()`].
    pub window: u32,
    /// See [`SessionConfig::pace()`].
    pub pace: Pace,
    /// Whether a peer that runs ahead slows down: see [`SessionConfig::without_alignment()`].
    pub aligns: bool,
    /// See [`SessionConfig::controls()`].
    pub controls: Controls,
    /// See [`SessionConfig::pauses_max()`].
    pub pauses_max: u32,
    /// See [`SessionConfig::pause_max()`].
    pub pause_max: Duration,
    /// See [`SessionConfig::speed_changes_max()`].
    pub speed_changes_max: u32,
    /// See [`SessionConfig::drop_after()`].
    pub drop_after: Option<Duration>,
    /// See [`SessionConfig::bound_peers_only()`].
    pub bound_peers_only: bool,
    /// See [`SessionConfig::spectators_max()`].
    pub spectators_max: u32,
    /// See [`SessionConfig::spectators_min()`].
    pub spectators_min: u32,
    /// See [`SessionConfig::connect_timeout()`].
    pub connect_timeout: Duration,
    /// See [`SessionConfig::lobby_timeout()`].
    pub lobby_timeout: Option<Duration>,
    /// See [`SessionConfig::silence_timeout()`].
    pub silence_timeout: Duration,
    /// See [`SessionConfig::waiting_notice()`].
    pub waiting_notice: Duration,
    /// See [`SessionConfig::linger()`].
    pub linger: Duration,
    /// Players sign statements: see [`SessionConfig::signed()`].
    pub signed: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) key: Option<PlayerKey>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) resume: Option<Box<SavedMatch>>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) entropy: Entropy,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) seat: SeatSecret,
    /// See [`SessionConfig::state_bytes_max()`].
    pub state_bytes_max: u32,
    /// See [`SessionConfig::state_rate()`].
    pub state_rate: u32,
    /// See [`SessionConfig::gives_state_last()`].
    pub gives_state_last: bool,
    /// See [`SessionConfig::join_timeout()`].
    pub join_timeout: Duration,
    /// See [`SessionConfig::late_joins()`].
    pub late_joins: Option<Duration>,
    /// See [`SessionConfig::late_watchers()`].
    pub late_watchers: bool,
    /// See [`SessionConfig::watch_delay()`].
    pub watch_delay: Duration,
}

/// Random bytes of one peer; logs do not show them.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Entropy(pub(crate) Option<[u8; 16]>);

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entropy(..)")
    }
}

/// The links of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Topology {
    /// A star: everybody has one link to the host, [`SessionConfig::host_player`], who forwards. The default.
    Host,
    /// A star around a relay that forwards and does not take part.
    Relay,
    /// Everybody has a link to everybody. Player 0 starts the match.
    Mesh,
}

/// A setting outside its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number is outside `min..=max`.
    OutOfRange {
        /// Name of the setting.
        setting: &'static str,
        /// The given value.
        value: u64,
        /// Smallest allowed value.
        min: u64,
        /// Largest allowed value.
        max: u64,
    },
    /// The action type needs more bits than an entry of the stream may have.
    ActionTooLarge {
        /// [`crate::Action::MAX_BITS`].
        bits: u32,
        /// Bits that the settings allow.
        max: u32,
    },
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
            Self::ActionTooLarge { bits, max } => {
                write!(f, "an action must have at most {max} bits, not {bits}")
            }
            Self::NoKey => write!(f, "the match is signed, and no key was given for the player"),
            Self::OtherMatch => write!(f, "the saved match has other settings or content"),
            Self::UnsoundSave => {
                write!(f, "the saved match cannot be resumed: its entries are not consistent")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// Version of the engine with which this library was built: 0 is none.
#[cfg(feature = "physics")]
pub(crate) use crate::world::ENGINE_VERSION;
#[cfg(not(feature = "physics"))]
pub(crate) const ENGINE_VERSION: u32 = 0;

impl SessionConfig {
    /// Command mode: turns of 200 ms, four frames of 50 ms each, two turns ahead, one action per player and turn.
    ///
    /// `players` is 1..=16, the host included.
    #[must_use]
    pub fn new(players: u8) -> Self {
        Self {
            players,
            topology: Topology::Host,
            session_id: 0,
            content_hash: 0,
            engine_version: ENGINE_VERSION,
            frames_per_second: 20,
            frames_per_turn: 4,
            turns_ahead: 2,
            turns: None,
            input_mode: false,
            rotate_players: false,
            bots_take_over: false,
            host_player: 0,
            teams: core::array::from_fn(|player| player as u8),
            actions_per_turn_max: 1,
            turn_bytes_max: 256,
            checksum_interval: 1,
            queue_max: 64,
            window: 512,
            pace: Pace::Fixed,
            aligns: true,
            controls: Controls::Everybody,
            pauses_max: 16,
            pause_max: Duration::from_secs(600),
            speed_changes_max: 100,
            drop_after: Some(Duration::from_secs(20)),
            bound_peers_only: false,
            spectators_max: 16,
            spectators_min: 0,
            connect_timeout: Duration::from_secs(10),
            lobby_timeout: None,
            silence_timeout: Duration::from_secs(20),
            waiting_notice: Duration::from_millis(500),
            linger: Duration::from_secs(2),
            signed: false,
            key: None,
            resume: None,
            entropy: Entropy::default(),
            seat: SeatSecret::default(),
            state_bytes_max: 16 << 20,
            state_rate: 500_000,
            gives_state_last: false,
            join_timeout: Duration::from_secs(60),
            late_joins: None,
            late_watchers: false,
            watch_delay: Duration::ZERO,
        }
    }

    /// Input mode: a turn is one frame, every entry is one action of exactly [`crate::Action::MAX_BITS`] bits, and there is a checksum
    /// every 30 frames. A frame without a new input repeats the last one.
    #[must_use]
    pub fn input(players: u8, frames_per_second: u32) -> Self {
        let config = Self::new(players).frames_per_second(frames_per_second).frames_per_turn(1);
        Self { input_mode: true, ..config }.checksum_interval(30)
    }

    /// The links between peers. Default [`Topology::Host`].
    #[must_use]
    pub fn topology(self, topology: Topology) -> Self {
        Self { topology, ..self }
    }

    /// How the length of turns is chosen. Default [`Pace::Fixed`].
    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// This peer keeps its own time even if it runs ahead of the others, and does not report its slack. A local choice.
    #[must_use]
    pub fn without_alignment(self) -> Self {
        Self { aligns: false, ..self }
    }

    /// The settings of the Unity lockstep articles, without their defects; see [`Pace::Article`].
    #[must_use]
    pub fn article(players: u8) -> Self {
        Self::new(players).pace(Pace::Article)
    }

    /// Length of a stall after which the missing players are dropped and the others go on, 1 ms to 24 h. Default 20 s.
    #[must_use]
    pub fn drop_after(self, drop_after: Duration) -> Self {
        Self { drop_after: Some(drop_after), ..self }
    }

    /// Nobody is ever dropped: losing a player ends the match for all, after the silence timeout.
    #[must_use]
    pub fn without_drops(self) -> Self {
        Self { drop_after: None, ..self }
    }

    /// Number that distinguishes this match from others; packets of another session are ignored. The caller chooses it, at random for real
    /// networks. Default 0.
    #[must_use]
    pub fn session_id(self, session_id: u64) -> Self {
        Self { session_id, ..self }
    }

    /// Random bytes of this peer, new ones for each session, kept secret. The numbers that strangers would have to guess to act as a member
    /// are derived from them. A local choice. Default: derived from the session id and the time, which is enough for tests and simulated
    /// networks only.
    #[must_use]
    pub fn entropy(self, entropy: [u8; 16]) -> Self {
        Self { entropy: Entropy(Some(entropy)), ..self }
    }

    /// Signed match: every player has a key and signs a statement about the match about once a second, so that nobody can show different
    /// matches to different players unnoticed. All peers must set this, also spectators and relays; players set it with
    /// [`SessionConfig::player_key`]. Default: no signatures, and liars are not found.
    #[must_use]
    pub fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// The local player's key in a signed match ([`SessionConfig::signed()`]). A local choice.
    #[must_use]
    pub fn player_key(self, key: PlayerKey) -> Self {
        Self { signed: true, key: Some(key), ..self }
    }

    /// Hash of everything else that must be equal at the start: map, units, rules, their version. Default 0. The version of the physics engine
    /// is compared, too: [`SessionConfig::engine_version()`].
    #[must_use]
    pub fn content_hash(self, content_hash: u64) -> Self {
        Self { content_hash, ..self }
    }

    /// Version of the engine that decides the bits of the simulation. Peers with different ones refuse each other, as with different contents.
    /// Default: `testudo_physics::SIM_VERSION` with the feature `physics`, else 0. Only a relay that serves players of another build must set
    /// it, to theirs.
    #[must_use]
    pub fn engine_version(self, engine_version: u32) -> Self {
        Self { engine_version, ..self }
    }

    /// What the peers compare: the content, and the engine if there is one.
    pub(crate) fn content(&self) -> u64 {
        match self.engine_version {
            0 => self.content_hash,
            version => XxHash3_64::oneshot_with_seed(u64::from(version), &self.content_hash.to_le_bytes()),
        }
    }

    /// Game frames per second, 1..=1000. Default 20.
    #[must_use]
    pub fn frames_per_second(self, frames_per_second: u32) -> Self {
        Self { frames_per_second, ..self }
    }

    /// Frames in a turn at the start, 1..=250. Default 4.
    #[must_use]
    pub fn frames_per_turn(self, frames_per_turn: u32) -> Self {
        Self { frames_per_turn, ..self }
    }

    /// Whole turns between submitting an action and running it, 0..=8. Default 2; 0 only makes sense for one player with spectators.
    #[must_use]
    pub fn turns_ahead(self, turns_ahead: u32) -> Self {
        Self { turns_ahead, ..self }
    }

    /// Length of the match in turns, 1..=4,000,000,000. Without it the match goes on until [`Session::end_match`](crate::AnySession::end_match).
    #[must_use]
    pub fn turns(self, turns: u32) -> Self {
        Self { turns: Some(turns), ..self }
    }

    /// Fairness: with true, another player's actions run first in each turn. Default false: player 0 is always first.
    #[must_use]
    pub fn rotate_players(self, rotate_players: bool) -> Self {
        Self { rotate_players, ..self }
    }

    /// The game plays on for a player who left or was dropped ([`crate::Simulation::play_for`]). Default false. Whatever this setting is, a
    /// player who surrenders is out, and a bot follows a player who hands over.
    #[must_use]
    pub fn bots_take_over(self, bots_take_over: bool) -> Self {
        Self { bots_take_over, ..self }
    }

    /// The player in the middle of a star of players, below the number of players. Default 0. Whoever resumes a saved match hosts it as the player
    /// that it was.
    #[must_use]
    pub fn host_player(self, host_player: PlayerId) -> Self {
        Self { host_player: host_player.0, ..self }
    }

    /// Teams of the players in order, 0..=15. By default, and for players beyond the list, each player is a team of its own, with the
    /// player's number. The session only reports that a team is out; the game decides what teams may do.
    #[must_use]
    pub fn teams(mut self, teams: &[u8]) -> Self {
        for (slot, &team) in self.teams.iter_mut().zip(teams) {
            *slot = team;
        }
        self
    }

    /// The player's team.
    #[must_use]
    pub fn team_of(&self, player: PlayerId) -> u8 {
        self.teams.get(player.index()).copied().unwrap_or(player.0)
    }

    /// Whether the game plays on for a player whose stream ended for this reason.
    #[must_use]
    pub fn is_played_on(&self, reason: EndReason) -> bool {
        match reason {
            EndReason::Left | EndReason::Dropped => self.bots_take_over,
            EndReason::Surrendered => false,
            EndReason::HandedOver => true,
        }
    }

    /// Greatest number of actions of one player in one turn, 1..=255. Default 1. Further actions are queued for later turns.
    #[must_use]
    pub fn actions_per_turn_max(self, actions_per_turn_max: u32) -> Self {
        Self { actions_per_turn_max, ..self }
    }

    /// Greatest number of bytes of actions of one player in one turn, 1..=512. Default 256.
    #[must_use]
    pub fn turn_bytes_max(self, turn_bytes_max: u32) -> Self {
        Self { turn_bytes_max, ..self }
    }

    /// Number of turns from one exchanged checksum to the next, 1..=600. Default 1 (30 in input mode). The last turn always has one.
    #[must_use]
    pub fn checksum_interval(self, checksum_interval: u32) -> Self {
        Self { checksum_interval, ..self }
    }

    /// Greatest number of actions that wait for their turn, 1..=4096. Default 64.
    #[must_use]
    pub fn queue_max(self, queue_max: u32) -> Self {
        Self { queue_max, ..self }
    }

    /// Number of entries of one stream that a peer may lack, 16..=1024. A peer that lacks more, and has lacked one of them for the drop time, is
    /// lost; with more than 4,096 it is lost at once. Default 512.
    #[must_use]
    pub fn window(self, window: u32) -> Self {
        Self { window, ..self }
    }

    /// Greatest number of spectators that a host or relay accepts, 0..=256. Default 16.
    #[must_use]
    pub fn spectators_max(self, spectators_max: u32) -> Self {
        Self { spectators_max, ..self }
    }

    /// Only peers that are bound to an identity may come ([`Session::bind`](crate::AnySession::bind)): for a transport that knows who is at the other end of
    /// each link. A local choice. Default false.
    #[must_use]
    pub fn bound_peers_only(self) -> Self {
        Self { bound_peers_only: true, ..self }
    }

    /// Number of spectators that the host or relay waits for before the start, at most [`SessionConfig::spectators_max()`]. Default 0.
    #[must_use]
    pub fn spectators_min(self, spectators_min: u32) -> Self {
        Self { spectators_min, ..self }
    }

    /// Time after which a connection attempt without an answer fails, 1 ms to 24 h. Default 10 s.
    #[must_use]
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// Time that the host or relay waits until everybody has joined. Default: the connect timeout. A host that waits for people needs
    /// minutes.
    #[must_use]
    pub fn lobby_timeout(self, lobby_timeout: Duration) -> Self {
        Self { lobby_timeout: Some(lobby_timeout), ..self }
    }

    /// Silence after which a connected peer counts as lost, 1 ms to 24 h. Default 20 s.
    #[must_use]
    pub fn silence_timeout(self, silence_timeout: Duration) -> Self {
        Self { silence_timeout, ..self }
    }

    /// Length of a stall after which [`crate::Event::WaitingFor`] is reported, up to 24 h. Default 500 ms.
    #[must_use]
    pub fn waiting_notice(self, waiting_notice: Duration) -> Self {
        Self { waiting_notice, ..self }
    }

    /// At the end of the match: a peer that has not confirmed everything counts as done after this much silence, up to 24 h. Default 2 s.
    #[must_use]
    pub fn linger(self, linger: Duration) -> Self {
        Self { linger, ..self }
    }

    /// Resumes a saved match: the first turn is the saved one. All peers, relays too, must have the same saved match (the handshake
    /// compares it), the settings of the saved match, and the simulation in the state that was saved with it. A player whose stream had
    /// ended cannot come back as a player, only as a spectator.
    #[must_use]
    pub fn resume(self, saved: SavedMatch) -> Self {
        Self { resume: Some(Box::new(saved)), ..self }
    }

    /// The turn that runs first: 0, or the saved one.
    pub(crate) fn first_turn(&self) -> u32 {
        self.resume.as_ref().map_or(0, |saved| saved.turn)
    }

    /// The lowest player whose stream had not ended before the first turn.
    pub(crate) fn first_live_player(&self) -> PlayerId {
        let mut players = (0..self.players).map(PlayerId);
        players.find(|&player| !self.is_gone(player)).unwrap_or_default()
    }

    /// Whether the player's stream had ended before the first turn.
    pub(crate) fn is_gone(&self, player: PlayerId) -> bool {
        self.resume.as_ref().is_some_and(|saved| saved.ended(player).is_some())
    }

    /// Number of the first entry that must be sent; entries before it are here from the beginning.
    pub(crate) fn first_entry(&self) -> u32 {
        self.first_turn().saturating_add(self.turns_ahead)
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

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;

    #[test]
    fn settings_can_be_read_from_a_file() {
        let config = SessionConfig::new(3).turns(100).pace(Pace::Adaptive).bots_take_over(true);
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<SessionConfig>(&text).unwrap(), config);
        assert!(text.contains("\"turns\":100"), "{text}");
    }
}
