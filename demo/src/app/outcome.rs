//! What came of a match, as one process knows it.

use core::fmt;

use testudo_lockstep::inquiry::Finding;
use testudo_lockstep::{ConfigError, Duration, Failure, SessionPhase, Simulation};

use crate::app::client::Client;
use crate::app::diagnosis::Desync;
use crate::app::{Terms, invitation};
use crate::game::{FaultError, Order, SetupError};

/// A match that was played to its end.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) terms: Terms,
    /// The local player; none if all clients are in this process.
    pub(crate) player: Option<u8>,
    /// The clients in this process, by player.
    pub(crate) clients: Vec<ClientOutcome>,
    /// From the first turn to the end of the last one, in the time of the network: virtual or real.
    pub(crate) duration: Duration,
    /// The first turn in which checksums differed.
    pub(crate) divergent_turn: Option<u32>,
    /// More about it, if all copies are in this process.
    pub(crate) desync: Option<Desync>,
    /// More about it from the host, if that is in another process.
    pub(crate) finding: Option<Finding>,
    /// Whether the orders lead to this copy's state again.
    pub(crate) is_reproduced: Option<bool>,
    /// Whose checksum was alone, if the copies are in several processes.
    pub(crate) outlier: Option<u8>,
    /// Packets given to the network and packets that it lost, if the network was simulated.
    pub(crate) packets: Option<(u64, u64)>,
    /// Nanoseconds of each step of the first client in this process.
    pub(crate) step_nanos: Vec<u32>,
    pub(crate) contacts_mean: f64,
    pub(crate) bodies: u32,
    /// Units beaten by each army.
    pub(crate) kills: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClientOutcome {
    pub(crate) checksum: u64,
    /// Frames that this client simulated.
    pub(crate) steps: u32,
    /// Frames in which it stood, waiting for a turn.
    pub(crate) stalled_frames: u64,
    /// UDP payload sent until the end of the last turn.
    pub(crate) bytes_sent: u64,
}

/// Why a match was not played to its end.
#[derive(Debug)]
pub(crate) enum MatchError {
    /// The settings are out of range.
    Setup(SetupError),
    /// The session's settings are out of range.
    Config(ConfigError),
    /// The bit to flip does not exist or must not be flipped.
    Fault(FaultError),
    /// A session ended early, after so many turns.
    Failed { failure: Failure, turns: u32 },
    /// The network delivered too little: after this much virtual time the match was given up.
    TooSlow { after: Duration, turns: u32 },
    /// Nobody let us in.
    Invitation(invitation::Error),
    /// The socket could not be opened.
    Bind { address: std::net::SocketAddr, error: std::io::Error },
    /// The socket broke.
    Socket(std::io::Error),
    /// A replay file cannot be written or played.
    Replay { path: std::path::PathBuf, what: String },
}

impl Outcome {
    /// Collects what the clients know. Bytes and time are those at the end of the last turn, which the caller noted.
    pub(crate) fn new(terms: Terms, clients: &[(&Client, ClientOutcome)], duration: Duration) -> Self {
        let mut outcome = Self {
            terms,
            player: None,
            clients: clients.iter().map(|(_, outcome)| *outcome).collect(),
            duration,
            divergent_turn: None,
            desync: None,
            finding: None,
            is_reproduced: None,
            outlier: None,
            packets: None,
            step_nanos: Vec::new(),
            contacts_mean: 0.0,
            bodies: 0,
            kills: Vec::new(),
        };
        if let Some((first, _)) = clients.first() {
            let game = first.game();
            outcome.step_nanos = first.step_nanos().to_vec();
            outcome.contacts_mean = first.contacts() as f64 / f64::from(first.steps().max(1));
            outcome.bodies = game.world().body_count();
            outcome.kills = (0..terms.setup.players).map(|army| game.score(army).0).collect();
        }
        outcome
    }
}

impl ClientOutcome {
    pub(crate) fn of(client: &Client, session: &testudo_lockstep::Session<Order>, bytes_sent: u64) -> Self {
        Self {
            checksum: client.game().checksum(),
            steps: client.steps(),
            stalled_frames: session.stats().stalled_frames,
            bytes_sent,
        }
    }
}

impl MatchError {
    /// The error in a session that is over, unless it has finished.
    pub(crate) fn of_state(state: SessionPhase, turns: u32) -> Option<Self> {
        match state {
            SessionPhase::Failed(failure) => Some(Self::Failed { failure, turns }),
            _ => None,
        }
    }

    /// Whether the user asked for something that does not exist, as opposed to a match that went wrong.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::Setup(_) | Self::Config(_) | Self::Fault(_) | Self::Replay { .. })
    }
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => write!(f, "{error}"),
            Self::Config(error) => write!(f, "{error}"),
            Self::Fault(error) => write!(f, "{error}"),
            Self::Failed { failure, turns: 0 } => write!(f, "the match did not start: {failure}"),
            Self::Failed { failure, turns } => write!(f, "the match ended early, in turn {turns}: {failure}"),
            Self::TooSlow { after, turns } => write!(
                f,
                "the network delivers too little: only {turns} turns were played in {} s of virtual time",
                after.as_millis() / 1_000
            ),
            Self::Invitation(error) => write!(f, "{error}"),
            Self::Bind { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Socket(error) => write!(f, "the network failed: {error}"),
            Self::Replay { path, what } => write!(f, "{}: {what}", path.display()),
        }
    }
}

impl std::error::Error for MatchError {}

impl From<SetupError> for MatchError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<ConfigError> for MatchError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<FaultError> for MatchError {
    fn from(error: FaultError) -> Self {
        Self::Fault(error)
    }
}
