//! A whole match in one process: every client with its own session and its own copy, over a simulated network, in virtual
//! time, as fast as it goes.

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Driver, Duration, Identity, Instant, Pace, PeerId, PlayerId, Session, SessionConfig, Topology, Turn,
    VirtualMatch,
};

use crate::app::error::MatchError;
use crate::app::terms::{Terms, session_config};
use crate::app::watch::comparison::{Comparison, note_divergence};
use crate::app::watch::game_copy::{Fault, GameCopy};
use crate::app::watch::outcome::{ClientOutcome, Outcome, Predicted, Simulated};
use crate::app::watch::pilot::{Pilot, play_bot};
use crate::app::watch::recording::Recording;
use crate::app::watch::seer::Seer;
use testudo_battle::{Command, Game, Order, Selection, Teams};

/// A match may take so many times its undisturbed length in virtual time, and ...
const PATIENCE: u64 = 60;

/// ... this much more, for the handshake and the end.
const PATIENCE_EXTRA: Duration = Duration::from_secs(120);

/// Frames that a prediction may simulate at once, as in a picture.
const FORESEEN_AT_ONCE: u32 = 8;

/// Everything that decides how the match runs.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedMatch {
    pub(crate) terms: Terms,
    /// Every link, in both directions.
    pub(crate) link: LinkConfig,
    pub(crate) topology: Topology,
    pub(crate) pace: Pace,
    pub(crate) fault: Option<Fault>,
    /// By player; where a person would play, nobody gives orders.
    pub(crate) pilots: Vec<Pilot>,
    pub(crate) teams: Teams,
    /// How many watch, each with a copy of its own; none in a mesh.
    pub(crate) spectators: u8,
    pub(crate) checks: Checks,
}

/// What is checked besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Checks {
    /// Every frame of player 0's client is saved, restored into a fresh battle, and simulated there, too.
    pub(crate) is_heavy: bool,
    /// Every player's client predicts, at most so many frames ahead.
    pub(crate) prediction: Option<u32>,
}

/// Plays the match to its end. `recordings` are written by the players' clients; `progress` hears of each turn that player 0's client
/// begins.
///
/// # Errors
/// Settings out of range, a fault that cannot be brought about, a network over which the match cannot be played.
pub(crate) fn play(
    spec: &SimulatedMatch,
    recordings: Vec<(u8, Recording)>,
    progress: impl FnMut(u32),
) -> Result<Outcome, MatchError> {
    let mut running = Running::start(spec)?;
    for (player, recording) in recordings {
        if let Some(driver) = running.virtual_match.drivers_mut().get_mut(usize::from(player)) {
            driver.simulation_mut().record(recording);
        }
    }
    running.run(progress)?;

    running.outcome()
}

struct Running {
    terms: Terms,
    pilots: Vec<Pilot>,
    teams: Teams,
    virtual_match: VirtualMatch<GameCopy>,
    /// By player, if they predict.
    seers: Vec<Seer>,
    /// When the first client began turn 0.
    began: Option<Instant>,
    /// When the last frame of the last turn was over everywhere, and what each had sent by then.
    ended: Option<(Instant, Vec<u64>)>,
    comparison: Comparison,
}

impl Running {
    fn start(spec: &SimulatedMatch) -> Result<Self, MatchError> {
        let config = session_config(&spec.terms, spec.terms.setup.seed)
            .simulated()
            .topology(spec.topology)
            .pace(spec.pace)
            .watchers_min(spec.spectators.into());
        let game = Game::new(spec.terms.setup)?;
        let players = spec.terms.setup.players;
        let mut drivers = Vec::new();
        for node in 0..players + spec.spectators {
            let fault = spec.fault.filter(|fault| fault.player == node);
            let mut copy = GameCopy::new(game.clone(), fault, true);
            if spec.checks.is_heavy && node == 0 {
                copy.check_frames();
            }
            let session = if node < players { session(&config, node)? } else { watcher(&config)? };
            drivers.push(Driver::new(copy, session));
        }
        let seer = |driver: &Driver<GameCopy>| {
            Some(Seer::new(driver.simulation().game()).depth_max(spec.checks.prediction?))
        };
        let seers = drivers[..players.into()].iter().filter_map(seer).collect();
        let mut net = SimNet::new(spec.terms.setup.seed);
        net.set_default(spec.link);
        Ok(Self {
            terms: spec.terms,
            pilots: spec.pilots.clone(),
            teams: spec.teams,
            virtual_match: VirtualMatch::new(drivers, net),
            seers,
            began: None,
            ended: None,
            comparison: Comparison::default(),
        })
    }

    fn run(&mut self, mut progress: impl FnMut(u32)) -> Result<(), MatchError> {
        let undisturbed = Duration::from_millis(200).times(self.terms.turns.into());
        let limit = Instant::ZERO + undisturbed.times(PATIENCE) + PATIENCE_EXTRA;
        while !self.virtual_match.is_over() {
            let now = self.virtual_match.now();
            let turns = self.turns_begun();
            if now >= limit {
                let after = now.since(Instant::ZERO);
                return Err(MatchError::TooSlow { after, turns });
            }
            self.virtual_match.step(&mut |player, turn, copy: &GameCopy, session: &mut Session<Order>| {
                if player == 0 {
                    progress(turn.0);
                }
                if player == 0 && turn == Turn(0) && self.teams.are_any() {
                    let order = Order::new(Selection::All, Command::Teams(self.teams));
                    let submitted = session.submit(&order);
                    debug_assert!(submitted.is_ok(), "{submitted:?}");
                }
                if let Some(level) = self.pilots.get(player).and_then(|pilot| pilot.level()) {
                    play_bot(level, copy, PlayerId(player as u8), turn, session);
                }
            });
            if self.began.is_none() && self.turns_begun() > 0 {
                self.began = Some(now);
            }
            self.check(now)?;
            self.comparison.advance(self.virtual_match.drivers_mut())?;
            self.note_end(now);
        }
        Ok(())
    }

    /// What a frame came to when it was restored, and what was predicted.
    fn check(&mut self, now: Instant) -> Result<(), MatchError> {
        let drivers = self.virtual_match.drivers();
        if let Some(error) = drivers.first().and_then(|driver| driver.simulation().heavy_error()) {
            return Err(MatchError::Heavy(Box::new(error.clone())));
        }
        for ((player, driver), seer) in (0..).zip(drivers).zip(&mut self.seers) {
            // Nobody tells a prediction of a bit that flips in the copy.
            seer.follow(driver, driver.simulation().seen(), now, FORESEEN_AT_ONCE);
            if seer.was_wrong() {
                return Err(MatchError::NotForeseen { player });
            }
        }
        Ok(())
    }

    fn turns_begun(&self) -> u32 {
        let begun = self.virtual_match.drivers().iter().map(|driver| driver.session().next_turn().0);
        begun.max().unwrap_or(0)
    }

    fn note_end(&mut self, now: Instant) {
        if self.ended.is_none() && self.comparison.turns == self.terms.turns {
            let drivers = self.virtual_match.drivers();
            let bytes = drivers.iter().map(|driver| driver.session().stats().bytes_sent).collect();
            // A frame is simulated when its time begins.
            self.ended = Some((now + drivers[0].session().config().frame_length(), bytes));
        }
    }

    fn outcome(mut self) -> Result<Outcome, MatchError> {
        let turns = self.turns_begun();
        let mut alarm: Option<u32> = None;
        for driver in self.virtual_match.drivers_mut() {
            let session = driver.session_mut();
            if let Some(error) = MatchError::of_state(session.phase(), turns) {
                return Err(error);
            }
            while let Some(event) = session.poll_event() {
                if let testudo_lockstep::Event::Desync(mismatch) = event {
                    alarm = Some(alarm.map_or(mismatch.turn.0, |turn| turn.min(mismatch.turn.0)));
                }
            }
        }
        if let (Some(turn), None) = (alarm, &self.comparison.desync) {
            note_divergence(self.virtual_match.drivers_mut(), turn);
        }
        for driver in self.virtual_match.drivers_mut() {
            driver.simulation_mut().finish_recording();
        }
        let drivers = self.virtual_match.drivers();
        let now = self.virtual_match.now();
        let (end, bytes) = self.ended.unwrap_or((now, vec![0; drivers.len()]));
        let clients: Vec<(&GameCopy, ClientOutcome)> = (0..)
            .zip(drivers)
            .zip(bytes)
            .map(|((node, driver), bytes)| {
                let (copy, session) = (driver.simulation(), driver.session());
                let forwards = node == 0 && session.config().topology == Topology::Host;
                let watches = node >= self.terms.setup.players;
                (copy, ClientOutcome { forwards, watches, ..ClientOutcome::of(copy, session, bytes) })
            })
            .collect();
        let mut outcome = Outcome::new(self.terms, &clients, end.since(self.began.unwrap_or(end)));
        let stats = self.virtual_match.net().stats();
        outcome.simulated = Simulated {
            packets: Some((stats.sent, stats.lost)),
            frames_restored: drivers.first().and_then(|driver| driver.simulation().frames_checked()),
            predicted: Predicted::of(self.seers.iter().map(Seer::stats)),
        };
        outcome.unkept = clients.iter().find_map(|(copy, _)| copy.unkept()).map(ToString::to_string);
        outcome.desync = self.comparison.desync;
        let seen = outcome.desync.as_ref().map(|desync| desync.turn);
        outcome.divergent_turn = [seen, alarm].into_iter().flatten().min();
        Ok(outcome)
    }
}

/// The session of one player: node `n` of the network is player `n`.
pub(crate) fn session(config: &SessionConfig, player: u8) -> Result<Session<Order>, MatchError> {
    let mut session =
        Session::new(config.clone().simulated(), Identity::Player(PlayerId(player)), Instant::ZERO)?;
    match config.topology {
        Topology::Mesh => (0..player).for_each(|other| session.connect(PeerId(other.into()))),
        Topology::Host | Topology::Relay if player > 0 => session.connect(PeerId(0)),
        Topology::Host | Topology::Relay => {}
    }
    Ok(session)
}

/// The session of somebody who watches.
fn watcher(config: &SessionConfig) -> Result<Session<Order>, MatchError> {
    let mut session = Session::new(config.clone(), Identity::Watcher, Instant::ZERO)?;
    session.connect(PeerId(0));
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_battle::bots::Level;
    use testudo_battle::{BodyField, Setup};

    fn damaged(client: u8) -> Outcome {
        let spec = SimulatedMatch {
            terms: Terms { setup: Setup { players: 2, units: 10, seed: 1, map: None }, turns: 10 },
            link: LinkConfig::new(),
            topology: Topology::Host,
            pace: Pace::Fixed,
            fault: Some(Fault { turn: 5, player: client, slot: 0, field: BodyField::PositionX, bit: 3 }),
            pilots: vec![Pilot::Bot(Level::Normal); 2],
            teams: Teams::default(),
            spectators: 2,
            checks: Checks::default(),
        };
        play(&spec, Vec::new(), |_| {}).expect("a match")
    }

    /// A client that only watches is compared like any other.
    #[test]
    fn a_damaged_copy_is_found_whoever_has_it() {
        for client in 0..4 {
            let outcome = damaged(client);
            assert_eq!((outcome.divergent_turn, outcome.agrees()), (Some(5), false), "client {client}");
            assert_eq!(outcome.desync.and_then(|desync| desync.outlier), Some(client));
        }
    }
}
