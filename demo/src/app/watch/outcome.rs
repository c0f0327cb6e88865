//! The result of a match, as far as one process knows it.

use std::path::PathBuf;

use testudo_lockstep::predict::PredictionStats;
use testudo_lockstep::{Duration, PlayerId, Simulation as _};

use crate::app::terms::Terms;
use crate::app::watch::diagnosis::{Desync, Diagnosis};
use crate::app::watch::game_copy::GameCopy;
use testudo_battle::Order;

/// How a match ended here.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    /// The session came to the end of the match.
    pub(crate) is_finished: bool,
    /// Why the match ended before its time.
    pub(crate) early: Option<String>,
    /// The battle had been decided before that.
    pub(crate) is_settled: bool,
}

impl End {
    /// What people are told of an end before its time.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.early.as_deref().filter(|_| !self.is_settled)
    }
}

/// A match that was played to its end.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) terms: Terms,
    /// The local player; none if all clients are in this process.
    pub(crate) player: Option<u8>,
    /// Frames of the match, if this process was not there for all of them.
    pub(crate) frames: Option<u32>,
    /// Players who were lost during the match, and who came back.
    pub(crate) players_lost: Option<(u32, u32)>,
    pub(crate) end: End,
    /// The file from which it can be resumed.
    pub(crate) save: Option<PathBuf>,
    /// This peer's replay.
    pub(crate) replay: Option<PathBuf>,
    /// Why the replay is not whole.
    pub(crate) unkept: Option<String>,
    /// The clients in this process, by player, and then those who watch.
    pub(crate) clients: Vec<ClientOutcome>,
    /// What was played here, and how long that took.
    pub(crate) timed: Timed,
    /// The first turn in which checksums differed.
    pub(crate) divergent_turn: Option<u32>,
    /// Details, if all copies are in this process.
    pub(crate) desync: Option<Desync>,
    /// Whose copies are wrong, and whose could not be compared, if the copies are in several processes.
    pub(crate) doubts: Option<Doubts>,
    pub(crate) simulated: Simulated,
    /// Nanoseconds of each step of the first client in this process.
    pub(crate) step_nanos: Vec<u32>,
    pub(crate) contacts_mean: f64,
    pub(crate) bodies: u32,
    /// Units defeated by each army.
    pub(crate) kills: Vec<u32>,
    /// The player whose army alone still has a keep, or the one with the lowest number of the team; none while the battle goes on, and if the last
    /// keeps fell together.
    pub(crate) winner: Option<u8>,
    /// The team of each army, if there are any.
    pub(crate) teams: Option<Vec<u8>>,
}

/// A part of a match, and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// From the first turn to the end of the last one, in the network's time: virtual or real.
    pub(crate) duration: Duration,
    /// Turns that were played in that time: not those before a save, or before the state with which this peer came.
    pub(crate) turns: u32,
}

/// What the others' programs have let this one know of their copies. Players are counted from 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Doubts {
    /// Players whose copies are wrong, as most players have signed another state.
    pub(crate) outliers: Vec<u8>,
    /// Players who have sent no checksum of some turn.
    pub(crate) silent: Vec<u8>,
    /// Players that sent nothing signed for some time.
    pub(crate) unsigned: Vec<u8>,
    /// Everybody's folded checksums in the first turn in which they differed.
    pub(crate) values: Vec<(PlayerId, u64)>,
    /// What is known of that difference.
    pub(crate) diagnosis: Option<Diagnosis>,
}

/// What is known where the whole match is in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Simulated {
    /// Packets given to the network, and packets that it lost.
    pub(crate) packets: Option<(u64, u64)>,
    /// Frames that came to the same when they were simulated from the saved state, if that was checked.
    pub(crate) frames_restored: Option<u32>,
    /// What the players' clients predicted, if they did.
    pub(crate) predicted: Option<Predicted>,
}

/// Predictions of all players together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Predicted {
    /// Turns that ran just as they were first predicted.
    pub(crate) turns_right: u64,
    /// Turns in which somebody ordered something else.
    pub(crate) turns_wrong: u64,
    /// How often what was predicted was exchanged for something else.
    pub(crate) corrections: u64,
}

impl Predicted {
    /// The sum; none if nobody predicts.
    pub(crate) fn of(all: impl Iterator<Item = PredictionStats>) -> Option<Self> {
        all.fold(None, |sum, stats| {
            let sum: Self = sum.unwrap_or_default();
            Some(Self {
                turns_right: sum.turns_right + stats.turns_right,
                turns_wrong: sum.turns_wrong + stats.turns_wrong,
                corrections: sum.corrections + stats.corrections,
            })
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClientOutcome {
    /// It is the middle of the star.
    pub(crate) forwards: bool,
    /// It gives no orders.
    pub(crate) watches: bool,
    pub(crate) checksum: u64,
    /// Frames that this client simulated.
    pub(crate) steps: u32,
    /// Frames in which it waited for a turn.
    pub(crate) stalled_frames: u64,
    /// UDP payload sent until the end of the last turn.
    pub(crate) bytes_sent: u64,
}

impl Outcome {
    /// Whether no copy differed and all of them were compared, as far as this process knows.
    pub(crate) fn agrees(&self) -> bool {
        let is_sound = |doubts: &Doubts| doubts.outliers.is_empty() && doubts.silent.is_empty();
        self.doubts.as_ref().is_none_or(is_sound)
            && self.divergent_turn.is_none()
            && self.clients.windows(2).all(|pair| pair[0].checksum == pair[1].checksum)
    }

    /// Collects what the clients know. The caller noted bytes and time at the end of the last turn.
    pub(crate) fn new(terms: Terms, clients: &[(&GameCopy, ClientOutcome)], duration: Duration) -> Self {
        let mut outcome = Self {
            terms,
            player: None,
            frames: None,
            players_lost: None,
            end: End::default(),
            save: None,
            replay: None,
            unkept: None,
            clients: clients.iter().map(|(_, outcome)| *outcome).collect(),
            timed: Timed { duration, turns: terms.turns },
            divergent_turn: None,
            desync: None,
            doubts: None,
            simulated: Simulated::default(),
            step_nanos: Vec::new(),
            contacts_mean: 0.0,
            bodies: 0,
            kills: Vec::new(),
            winner: None,
            teams: None,
        };
        if let Some((first, _)) = clients.first() {
            let game = first.game();
            outcome.step_nanos = first.step_nanos.clone();
            outcome.contacts_mean = first.contacts as f64 / f64::from(first.steps.max(1));
            outcome.bodies = game.world().body_count();
            outcome.winner = game.result().and_then(|code| u8::try_from(code).ok());
            let armies = 0..terms.setup.players;
            outcome.teams =
                game.teams().are_any().then(|| armies.map(|army| game.teams().of(army)).collect());
            outcome.kills = (0..terms.setup.players).map(|army| game.score(army).0).collect();
        }
        outcome
    }
}

impl ClientOutcome {
    pub(crate) fn of(copy: &GameCopy, session: &testudo_lockstep::Session<Order>, bytes_sent: u64) -> Self {
        Self {
            forwards: false,
            watches: false,
            checksum: copy.game().checksum(),
            steps: copy.steps,
            stalled_frames: session.stats().stalled_frames,
            bytes_sent,
        }
    }
}
