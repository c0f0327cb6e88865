//! What a session reports, and its counters.

use core::fmt;

use crate::pace::pacing::TurnPlan;
use crate::packet::Refusal;
use crate::session::checksum::Mismatch;
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::Duration;

/// Something the application may want to show or act on. Taken with [`crate::Session::poll_event`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Nobody took events for too long: so many are lost. What an application cannot do without is never among them: the start, a
    /// desync, players who are gone, results, cancelled actions, the end.
    Lost {
        /// How many.
        events: u64,
    },
    /// The handshake with a peer is complete.
    Connected {
        /// The link.
        peer: PeerId,
        /// Who is at its other end.
        identity: Identity,
    },
    /// Somebody was refused at the handshake.
    Rejected {
        /// The link.
        peer: PeerId,
        /// Why.
        refusal: Refusal,
    },
    /// Everybody is here; turn 0 may begin.
    Started,
    /// The turn cannot begin: these players' entries are missing. Reported once per stall.
    WaitingFor {
        /// The turn that cannot begin.
        turn: Turn,
        /// Whose entries are missing.
        players: Vec<PlayerId>,
        /// Time until they are dropped, if players are dropped at all ([`crate::Session::drop_in`] counts down).
        drop_in: Option<Duration>,
    },
    /// The turn that was waited for has begun.
    WaitingOver {
        /// The turn.
        turn: Turn,
    },
    /// The others have waited for a player again and again. Told once for each player; the application can show it, the middle of a
    /// star can [`crate::Session::kick`] the player.
    OftenLate {
        /// The turn that waits.
        turn: Turn,
        /// For whom.
        player: PlayerId,
        /// After so much more waiting the player is dropped. The first part of each wait is free, an eighth of the drop time.
        drop_in: Duration,
    },
    /// From `turn` on frames pass at another speed, because a player asked for it.
    Speed {
        /// The turn.
        turn: Turn,
        /// Who asked for it.
        player: PlayerId,
        /// Percent of real time.
        percent: u8,
    },
    /// Checksums of a turn differ. Only the first such turn is reported; the session goes on, the application decides.
    Desync(Mismatch),
    /// From `turn` on a player gives no more actions.
    PlayerGone {
        /// Who.
        player: PlayerId,
        /// Why.
        reason: EndReason,
        /// The first turn without the player.
        turn: Turn,
    },
    /// From `turn` on the game plays for a player who is gone ([`crate::Simulation::play_for`]).
    TakenOver {
        /// Who.
        player: PlayerId,
        /// The first turn.
        turn: Turn,
    },
    /// From `turn` on nobody of the team is in the match any more, and no bot plays for it.
    TeamOut {
        /// The team.
        team: u8,
        /// The first turn without it.
        turn: Turn,
    },
    /// The players have said what the result of the match is ([`crate::Simulation::result`]).
    MatchResult(MatchResult),
    /// From `turn` on the simulation stands still, or runs again.
    Paused {
        /// The turn.
        turn: Turn,
        /// Who asked for it.
        player: PlayerId,
        /// Whether it stands.
        paused: bool,
    },
    /// A player asked for a save: the state before `turn` is the one to keep ([`crate::Simulation::save_point`] was called with it).
    SavePoint {
        /// The turn that runs first when the match is resumed.
        turn: Turn,
        /// Who asked for it.
        player: PlayerId,
    },
    /// The saved match is complete: [`crate::Session::take_saved`] gives it.
    Saved {
        /// The turn of its save point.
        turn: Turn,
    },
    /// Turns have another shape from `turn` on.
    Plan {
        /// The turn.
        turn: Turn,
        /// The new shape.
        plan: TurnPlan,
    },
    /// The local player's session ends, and so many accepted actions may run nowhere: they waited, or the others had not confirmed them.
    Cancelled {
        /// How many.
        actions: u32,
    },
    /// A spectator is gone.
    SpectatorGone(PeerId),
    /// All turns have run, and every peer has every entry and every checksum (or was silent for the linger time).
    Finished,
    /// The session has ended before its time.
    Failed(Failure),
}

/// What the players' simulations found at the end of one turn. They are compared like checksums.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchResult {
    /// The turn at whose end the match was decided, as the first of the players has it.
    pub turn: Turn,
    /// What each player said who was in the match then; none if the player found nothing decided at this turn.
    pub values: Vec<(PlayerId, Option<u32>)>,
    /// What this peer's own simulation found, also of a spectator.
    pub own: Option<u32>,
    /// Whether everybody found the same.
    pub agreed: bool,
}

/// Why a session ended before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// Nobody answered within the connect timeout: nobody is there, or it is another match (another session id).
    ConnectTimeout,
    /// Not everybody came within the lobby timeout.
    PlayersMissing {
        /// Bit n: player n did not come.
        players: u16,
        /// So many spectators fewer than [`crate::SessionConfig::spectators_min()`].
        spectators: u32,
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
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectTimeout => {
                write!(f, "nobody answered: nobody is listening, or the session id differs (another match)")
            }
            Self::PlayersMissing { players, spectators } => {
                let missing = (0..u16::BITS).filter(|player| players & (1 << player) != 0);
                let mut missing: Vec<String> = missing.map(|player| format!("player {player}")).collect();
                if *spectators > 0 {
                    missing.push(format!("{spectators} of the required spectators"));
                }
                write!(f, "did not connect in time: {}", missing.join(", "))
            }
            Self::NeverBegan(_) => write!(f, "the other side gave up before the match began"),
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
            Self::ConnectionLost(_) => write!(f, "connection lost"),
            Self::Dropped => write!(f, "the others went on without this player"),
            Self::PeerLeft(_) => write!(f, "the other side ended the match early"),
        }
    }
}

impl std::error::Error for Failure {}

/// Counters since the start of the session. Nothing here influences the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Packets given out for sending.
    pub packets_sent: u64,
    /// Their bytes: UDP payload.
    pub bytes_sent: u64,
    /// Valid packets taken in.
    pub packets_received: u64,
    /// Their bytes.
    pub bytes_received: u64,
    /// Packets that were damaged, of another session or not canonical.
    pub packets_malformed: u64,
    /// Well-formed packets from peers that have not joined, or of a kind that makes no sense now.
    pub packets_unexpected: u64,
    /// New entries taken in from other peers.
    pub entries_received: u64,
    /// Entries that were here already: the price of redundancy.
    pub entries_repeated: u64,
    /// Entries that arrived after the turn in which they ran had begun without them: only after the end of a stream.
    pub entries_late: u64,
    /// Entries with a gap before them, or beyond the window: their turn number was not expected.
    pub entries_unexpected: u64,
    /// Entries of players whom the sending peer may not speak for, or whose actions do not decode.
    pub entries_invalid: u64,
    /// Frames in which the simulation stood because a turn was not ready.
    pub stalled_frames: u64,
    /// Turns that have begun.
    pub turns_begun: u64,
    /// Players whom this peer has dropped.
    pub drops: u64,
    /// Events that were lost because nobody took them.
    pub events_lost: u64,
}
