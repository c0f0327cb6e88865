//! A match to look at: all clients in one process over a simulated network whose conditions may change, its virtual time
//! driven from outside, picture by picture. A slow picture makes time pass more slowly and changes nothing else.

#[cfg(test)]
pub(super) mod tests;

use std::path::PathBuf;

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Driver, Duration, Event, Instant, Pace, PlayerId, Session, SessionConfig, SessionPhase, Simulation as _,
    SubmitError, Turn, VirtualMatch,
};

use crate::app::error::MatchError;
use crate::app::local::sabotage;
use crate::app::local::simulated::session;
use crate::app::terms::{Terms, session_config};
use crate::app::watch::FORESIGHT_PER_PICTURE;
use crate::app::watch::comparison::Comparison;
use crate::app::watch::diagnosis::Desync;
use crate::app::watch::game_copy::GameCopy;
use crate::app::watch::pilot::{ORDERS_PER_TURN, Pilot, play_bot};
use crate::app::watch::recording::{Kept, Recording, ReplayFile};
use crate::app::watch::spread::Spread;
use crate::app::watch::telemetry::{Sample, Telemetry};
use crate::console::errln;
use testudo_battle::{BodyField, Dice, Game, Order};
use testudo_render::battle::foresight::Foresight;
use testudo_render::clock::Clock;

/// What the clients of a match agree on, and who plays.
#[derive(Clone, Debug)]
pub(crate) struct SkirmishSpec {
    pub(crate) terms: Terms,
    /// Every link, in both directions.
    pub(crate) link: LinkConfig,
    pub(crate) pace: Pace,
    /// By player.
    pub(crate) pilots: Vec<Pilot>,
    /// Where the first client's replay is written.
    pub(crate) replay: ReplayFile,
}

/// A match in progress.
pub(crate) struct Skirmish {
    spec: SkirmishSpec,
    virtual_match: VirtualMatch<GameCopy>,
    /// Virtual time as pictures see it; never before the last thing that happened.
    time: Instant,
    comparison: Comparison,
    telemetry: Telemetry,
    /// By client: the turn that it cannot begin and who is missing.
    waiting: Vec<Option<(Turn, Vec<PlayerId>)>>,
    /// Chooses the body to corrupt, until a difference has been seen.
    sabotage: Option<Dice>,
    /// A person has sent units somewhere: until then, bots that play against persons wait.
    has_ordered: bool,
    /// The first turn has begun everywhere: the network's conditions hold.
    has_begun: bool,
    /// Why no replay is written though one is wanted. That is no reason not to play.
    unrecorded: Option<MatchError>,
    replay_file: Option<PathBuf>,
    /// By client: what it shows ahead of its copy, if it predicts.
    foresights: Vec<Option<Box<Foresight>>>,
}

/// A match may be left at any time; its recording is complete up to then.
impl Drop for Skirmish {
    fn drop(&mut self) {
        for driver in self.virtual_match.drivers_mut() {
            // A full disk has already been noticed, and nobody is left to be told.
            driver.simulation_mut().finish_recording();
        }
        // After the window is closed, nothing else says where the replay is. A match that is left within its first turn has none.
        let has_bytes = |file: &&PathBuf| file.metadata().is_ok_and(|about| about.len() > 0);
        if let Some(file) = self.replay_file.as_ref().filter(has_bytes) {
            errln!("replay: {}", file.display());
        }
    }
}

impl Skirmish {
    /// A match before its first turn.
    ///
    /// # Errors
    /// Settings out of range.
    pub(crate) fn new(spec: SkirmishSpec) -> Result<Self, MatchError> {
        Self::going_on(spec, None)
    }

    /// As [`Self::new`], or another match that goes on from a battle of the same settings: its turns count from there, and its replay begins with
    /// that state.
    ///
    /// # Errors
    /// Settings out of range.
    pub(crate) fn going_on(spec: SkirmishSpec, here: Option<Game>) -> Result<Self, MatchError> {
        let middle = here.as_ref().map(|_| Turn(0));
        let game = here.map_or_else(|| Game::new(spec.terms.setup), Ok)?;
        let players = spec.terms.setup.players;
        let config: SessionConfig = session_config(&spec.terms, spec.terms.setup.seed)
            .pace(spec.pace)
            .actions_per_turn_max(ORDERS_PER_TURN);
        let (mut drivers, mut unrecorded, mut replay_file) = (Vec::new(), None, None);
        for player in 0..players {
            let mut copy = GameCopy::new(game.clone(), None, true);
            let wanted = if player == 0 { &spec.replay } else { &ReplayFile::None };
            match Recording::wanted(wanted, &spec.terms) {
                Ok(Some(recording)) => {
                    replay_file = recording.path().map(ToOwned::to_owned);
                    copy.record_from(recording, middle);
                }
                Ok(None) => {}
                Err(error) => unrecorded = Some(error),
            }
            drivers.push(Driver::new(copy, session(&config, player)?));
        }
        let mut net = SimNet::new(spec.terms.setup.seed);
        // Nobody wants to see two computers look for each other: until the match begins, nothing is lost. By TCP over a terrible network
        // that would take up to a minute and a half.
        net.set_default(LinkConfig::new().latency(spec.link.latency));
        Ok(Self {
            virtual_match: VirtualMatch::new(drivers, net),
            time: Instant::ZERO,
            comparison: Comparison::following(),
            telemetry: Telemetry::new(Instant::ZERO),
            waiting: vec![None; usize::from(players)],
            sabotage: None,
            has_ordered: middle.is_some(),
            has_begun: false,
            unrecorded,
            replay_file,
            foresights: (0..players).map(|_| None).collect(),
            spec,
        })
    }

    /// Advances virtual time. Stops early when this has taken `budget` of real time; then the rest of `span` is dropped.
    ///
    /// # Errors
    /// A session that has failed.
    pub(crate) fn advance(&mut self, span: Duration, budget: Duration) -> Result<(), MatchError> {
        let (clock, until) = (Clock::start(), self.time + span);
        while self.virtual_match.now() <= until && !self.is_over() {
            self.happen()?;
            if clock.elapsed() > budget {
                self.time = self.time.max(self.virtual_match.now()).min(until);
                return Ok(());
            }
        }
        self.time = until;
        Ok(())
    }

    /// Advances until the first client has simulated one more frame, or has waited for half a second of virtual time.
    ///
    /// # Errors
    /// A session that has failed.
    pub(crate) fn step_frame(&mut self) -> Result<(), MatchError> {
        let (frame, limit) = (self.frame(0), self.time + Duration::from_millis(500));
        while self.frame(0) == frame && self.virtual_match.now() <= limit && !self.is_over() {
            self.time = self.time.max(self.virtual_match.now());
            self.happen()?;
        }
        Ok(())
    }

    /// Everything that happens at the next point of virtual time.
    fn happen(&mut self) -> Result<(), MatchError> {
        let pilots = &self.spec.pilots;
        let may_play = self.has_ordered || !pilots.contains(&Pilot::Person);
        self.virtual_match.step(&mut |player, turn, copy: &GameCopy, session: &mut Session<Order>| {
            let level = pilots.get(player).and_then(|pilot| pilot.level());
            if let Some(level) = level.filter(|_| may_play) {
                play_bot(level, copy, PlayerId(player as u8), turn, session);
            }
        });
        self.begin();
        if self.comparison.advance(self.virtual_match.drivers_mut()).is_err() {
            self.sabotage();
        }
        for player in 0..self.waiting.len() {
            self.take_events(player);
        }
        let stats = self.virtual_match.net().stats();
        self.telemetry.observe(self.virtual_match.now(), stats, self.virtual_match.drivers());
        let turns = self.virtual_match.drivers()[0].session().next_turn().0;
        let states = self.virtual_match.drivers().iter().map(|driver| driver.session().phase());
        states.into_iter().find_map(|state| MatchError::of_state(state, turns)).map_or(Ok(()), Err)
    }

    /// Lets the network's conditions hold once nobody is in the lobby any more.
    fn begin(&mut self) {
        let mut drivers = self.virtual_match.drivers().iter();
        if !self.has_begun && drivers.all(|driver| driver.session().phase() != SessionPhase::Lobby) {
            self.has_begun = true;
            self.set_link(self.spec.link);
        }
    }

    fn take_events(&mut self, player: usize) {
        let session = self.virtual_match.drivers_mut()[player].session_mut();
        while let Some(event) = session.poll_event() {
            match event {
                Event::WaitingFor { turn, players, .. } => self.waiting[player] = Some((turn, players)),
                Event::CutOff { turn } => self.waiting[player] = Some((turn, Vec::new())),
                Event::WaitingOver { .. } => self.waiting[player] = None,
                _ => {}
            }
        }
    }

    /// Submits a person's orders, all or none. They are sent at once and run two turns later on every client.
    ///
    /// # Errors
    /// None of them runs: the queue has no room for all, or the match is over.
    pub(crate) fn order(&mut self, player: u8, orders: &[Order]) -> Result<(), SubmitError> {
        self.virtual_match.drivers_mut()[usize::from(player)].session_mut().submit_all(orders)?;
        // A player whose units stay where they are is still preparing.
        self.has_ordered |= orders.iter().any(|order| !order.command.prepares());
        Ok(())
    }

    /// Why no replay is written although one is wanted.
    pub(crate) fn unrecorded(&self) -> Option<&MatchError> {
        self.unrecorded.as_ref()
    }

    /// The replay up to now, while the match goes on.
    pub(crate) fn replay_so_far(&self) -> Option<Kept> {
        self.copy(0).replay_so_far()
    }

    /// The replay up to now, which is ended by that.
    pub(crate) fn take_replay(&mut self) -> Option<Kept> {
        self.virtual_match.drivers_mut().first_mut()?.simulation_mut().take_replay()
    }

    /// Changes the network, from the next packet on, or from the match's beginning.
    pub(crate) fn set_link(&mut self, link: LinkConfig) {
        self.spec.link = link;
        if self.has_begun {
            self.virtual_match.net_mut().set_default(link);
        }
    }

    /// The network's conditions.
    pub(crate) fn link(&self) -> LinkConfig {
        self.spec.link
    }

    /// Packets that have arrived by TCP and wait for one before them.
    pub(crate) fn held_back(&self) -> u64 {
        self.virtual_match.net().held_back()
    }

    /// Gives a player to a person or to a bot.
    pub(crate) fn set_pilot(&mut self, player: u8, pilot: Pilot) {
        if let Some(now) = self.spec.pilots.get_mut(usize::from(player)) {
            *now = pilot;
        }
    }

    /// The result of the battle according to the first client: the winner; none for a draw.
    pub(crate) fn result(&self) -> Option<Option<u8>> {
        let code = self.copy(0).game().result()?;
        Some(u8::try_from(code).ok())
    }

    /// The player's pilot.
    pub(crate) fn pilot(&self, player: u8) -> Pilot {
        self.spec.pilots.get(usize::from(player)).copied().unwrap_or(Pilot::Person)
    }

    /// Flips one bit of a unit's position in the last player's copy, at the end of the present turn. Does nothing if the copies differ
    /// already.
    pub(crate) fn corrupt_one_bit(&mut self) {
        if self.sabotage.is_none() && self.comparison.desync.is_none() {
            self.sabotage = Some(Dice::new(u64::from(self.frame(0)) + 1));
            self.sabotage();
        }
    }

    /// Asks the last player's client for the flip. If the unit falls before the turn ends, another one is chosen.
    fn sabotage(&mut self) {
        let player = self.spec.terms.setup.players - 1;
        let copy = self.virtual_match.drivers_mut()[usize::from(player)].simulation_mut();
        let Some(dice) = &mut self.sabotage else { return };
        if let Some((slot, bit)) = sabotage::choose(copy.game(), dice) {
            copy.corrupt(player, slot, BodyField::PositionX, bit);
        }
    }

    /// The first difference between the copies.
    pub(crate) fn desync(&self) -> Option<&Desync> {
        self.comparison.desync.as_ref()
    }

    /// How the first difference has spread since.
    pub(crate) fn spread(&self) -> Option<&Spread> {
        self.comparison.spread.as_ref()
    }

    /// A player's copy.
    pub(crate) fn copy(&self, player: u8) -> &GameCopy {
        self.virtual_match.drivers()[usize::from(player)].simulation()
    }

    /// Lets a player's client predict, or no longer.
    pub(crate) fn set_prediction(&mut self, player: u8, predicts: bool) {
        let game = self.virtual_match.drivers()[usize::from(player)].simulation().game();
        Foresight::switch(&mut self.foresights[usize::from(player)], predicts, game, FORESIGHT_PER_PICTURE);
    }

    /// Whether a player's client predicts.
    pub(crate) fn predicts(&self, player: u8) -> bool {
        self.foresight(player).is_some_and(Foresight::is_wanted)
    }

    /// Brings the predictions up to date: once per picture, `passed` after the last one.
    pub(crate) fn foresee(&mut self, passed: Duration) {
        for (foresight, driver) in self.foresights.iter_mut().zip(self.virtual_match.drivers()) {
            Foresight::follow(foresight, driver, driver.simulation().game(), passed, self.time);
        }
    }

    /// What a player's client shows ahead of its copy: while it predicts, and then until the picture has fallen back to the copy.
    pub(crate) fn foresight(&self, player: u8) -> Option<&Foresight> {
        self.foresights[usize::from(player)].as_deref()
    }

    /// A player's session.
    pub(crate) fn session(&self, player: u8) -> &Session<Order> {
        self.virtual_match.drivers()[usize::from(player)].session()
    }

    /// Position of the picture between the client's last two frames: 0..=65,536.
    pub(crate) fn alpha(&self, player: u8) -> u32 {
        let driver = &self.virtual_match.drivers()[usize::from(player)];
        driver.alpha_at(self.time)
    }

    /// Frames that a client has simulated.
    pub(crate) fn frame(&self, player: u8) -> u32 {
        self.virtual_match.drivers()[usize::from(player)].frame().0
    }

    /// The turn that a client cannot begin, and the players whose orders are missing.
    pub(crate) fn waiting(&self, player: u8) -> Option<(Turn, &[PlayerId])> {
        let (turn, players) = self.waiting.get(usize::from(player))?.as_ref()?;
        Some((*turn, players))
    }

    /// Recent measurements, oldest first.
    pub(crate) fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.telemetry.samples()
    }

    /// Whether all clients have played all turns.
    pub(crate) fn is_over(&self) -> bool {
        self.comparison.turns >= self.spec.terms.turns
            || self
                .virtual_match
                .drivers()
                .iter()
                .all(|driver| driver.session().phase() == SessionPhase::Finished)
    }

    /// Number of turns in which all clients' copies have been compared, and each client's checksum up to there.
    pub(crate) fn compared(&self) -> (u32, &[u64]) {
        (self.comparison.turns, &self.comparison.checksums)
    }
}
