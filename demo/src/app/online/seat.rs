//! One process's part of a match over UDP, step by step. Nothing here waits; the caller decides what to do between two steps.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;

use testudo_lockstep::inquiry::Inquiry;
use testudo_lockstep::simnet::SimNetStats;
use testudo_lockstep::transport::udp::{Aside, UdpTransport};
use testudo_lockstep::{
    Driver, Duration, Event, Identity, Instant, Pace, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
    SubmitError, Turn,
};

use crate::app::clock::Clock;
use crate::app::error::MatchError;
use crate::app::online::address::reachable;
use crate::app::online::invitation::{self, Invitation, Places};
use crate::app::online::news::{Diagnosis, News};
use crate::app::online::remote::{self, Search};
use crate::app::terms::{Terms, session_config};
use crate::app::watch::client::{Client, Fault};
use crate::app::watch::diagnosis::Desync;
use crate::app::watch::outcome::{ClientOutcome, Outcome};
use crate::app::watch::pilot::{ORDERS_PER_TURN, Pilot, play_bot};
use crate::app::watch::recording::Recording;
use crate::app::watch::telemetry::{Sample, Telemetry};
use crate::game::{Game, Order};

/// Time that a host waits for its guests.
const LOBBY: Duration = Duration::from_secs(300);

/// Number of turns whose checksums are kept until the others' arrive.
const CHECKSUMS_MAX: usize = 256;

/// Silence of a player after which a bot takes over.
const DROP_AFTER: Duration = Duration::from_secs(8);

/// Longest pause between two reads of the socket.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// Where a replay is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplayFile {
    None,
    /// In this file; if that is impossible, the match is not played.
    At(PathBuf),
    /// In a new file in this folder, if that is possible.
    In(PathBuf),
}

/// The options of a seat.
#[derive(Clone, Debug)]
pub(crate) struct SeatOptions {
    pub(crate) pilot: Pilot,
    pub(crate) replay: ReplayFile,
    /// A bit to flip in its own copy.
    pub(crate) fault: Option<Fault>,
}

/// A client, its session and its socket.
pub(crate) struct Seat {
    terms: Terms,
    player: PlayerId,
    pilot: Pilot,
    clock: Clock,
    udp: UdpTransport,
    driver: Driver<Client>,
    /// A host's places.
    places: Option<Places>,
    session_id: u64,
    /// The peer that a guest asks after a desync.
    host: Option<PeerId>,
    inquiry: Option<Inquiry<Game>>,
    search: Option<Search>,
    /// The first turn in which checksums differed, and whose was alone.
    divergence: Option<(u32, Option<PlayerId>)>,
    news: VecDeque<News>,
    /// Up to this frame it is known what ran.
    told_frame: u32,
    /// The turn that cannot begin, and the missing players.
    waiting: Option<(Turn, Vec<PlayerId>)>,
    /// Turns played, and this copy's checksum then.
    checksums: VecDeque<(u32, u64)>,
    telemetry: Telemetry,
    /// Where others find the host.
    address: Option<SocketAddr>,
    began: Option<Instant>,
    /// When the last turn was over, and what had been sent by then.
    ended: Option<(Instant, u64)>,
}

/// A match may be left at any time; its recording is complete up to then.
impl Drop for Seat {
    fn drop(&mut self) {
        // A full disk cost the rest of the replay when it was full; nobody is here any more to be told.
        let _ = self.driver.simulation_mut().finish_recording();
    }
}

impl Seat {
    /// The host's, as player 0.
    ///
    /// # Errors
    /// Settings out of range, a port that is taken, a replay that cannot be written.
    pub(crate) fn host(
        terms: &Terms,
        pace: Pace,
        bind: SocketAddr,
        options: &SeatOptions,
    ) -> Result<Self, MatchError> {
        let game = Game::new(terms.setup)?;
        let udp = UdpTransport::bind(bind).map_err(|error| MatchError::Bind { address: bind, error })?;
        let address = udp.local_address().map_err(MatchError::Socket)?;
        let session_id = invitation::random_number();
        let clock = Clock::start();
        let config = config(terms, pace, session_id).lobby_timeout(LOBBY).entropy(invitation::random_bytes());
        let session = Session::host(config, clock.now())?;
        let driver = Driver::new(client(game, terms, options)?, session);
        let mut seat = Self::new(terms, session_id, clock, udp, driver, options.pilot);
        seat.places = Some(Places::new(*terms, pace, session_id));
        let address = reachable(address);
        seat.address = Some(address);
        seat.news.push_back(News::Listening(address));
        seat.news.push_back(News::Seated { terms: *terms, player: 0 });
        Ok(seat)
    }

    /// A guest's.
    ///
    /// # Errors
    /// Settings out of range, no socket, a replay that cannot be written.
    pub(crate) fn join(
        host: SocketAddr,
        invitation: &Invitation,
        options: &SeatOptions,
    ) -> Result<Self, MatchError> {
        let Invitation { player, terms, pace, session_id } = *invitation;
        let game = Game::new(terms.setup)?;
        let local: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let mut udp =
            UdpTransport::bind(local).map_err(|error| MatchError::Bind { address: local, error })?;
        let clock = Clock::start();
        let config = config(&terms, pace, session_id).entropy(invitation::random_bytes());
        let host = udp.add_peer(host);
        let session = Session::join(config, PlayerId(player), host, clock.now())?;
        let fault = options.fault.map(|fault| Fault { player, ..fault });
        let options = SeatOptions { fault, ..options.clone() };
        let driver = Driver::new(client(game, &terms, &options)?, session);
        let mut seat = Self::new(&terms, session_id, clock, udp, driver, options.pilot);
        seat.host = Some(host);
        seat.news.push_back(News::Seated { terms, player });
        Ok(seat)
    }

    fn new(
        terms: &Terms,
        session_id: u64,
        clock: Clock,
        udp: UdpTransport,
        driver: Driver<Client>,
        pilot: Pilot,
    ) -> Self {
        Self {
            terms: *terms,
            player: driver.session().player().unwrap_or_default(),
            pilot,
            clock,
            udp,
            driver,
            places: None,
            session_id,
            host: None,
            inquiry: None,
            search: None,
            divergence: None,
            news: VecDeque::new(),
            told_frame: 0,
            waiting: None,
            checksums: VecDeque::with_capacity(CHECKSUMS_MAX),
            telemetry: Telemetry::new(clock.now()),
            address: None,
            began: None,
            ended: None,
        }
    }

    /// Does everything that is due: packets both ways, frames, events.
    ///
    /// # Errors
    /// The socket broke, or the replay could not be written.
    pub(crate) fn step(&mut self) -> Result<(), MatchError> {
        self.pump()?;
        self.advance();
        self.pump()?;
        self.take_events();
        let now = self.clock.now();
        if let Some(search) = &mut self.search {
            search.advance(now, &mut self.udp);
        }
        self.telemetry.observe(now, SimNetStats::default(), core::slice::from_ref(&self.driver));
        self.note_end();
        if self.is_over() {
            self.driver.simulation_mut().finish_recording()?;
        }
        Ok(())
    }

    /// Simulates the frames that are due, at most four.
    fn advance(&mut self) {
        let Self { player, pilot, news, checksums, .. } = self;
        self.driver.advance_with(self.clock.now(), |turn, client, session| {
            news.push_back(News::Turn(turn.0));
            if checksums.len() == CHECKSUMS_MAX {
                checksums.pop_front();
            }
            checksums.push_back((turn.0, client.game().checksum()));
            if let Some(level) = pilot.level() {
                play_bot(level, client, *player, turn, session);
            }
        });
        let frames = self.told_frame..self.driver.frame().0;
        if frames.is_empty() {
            return;
        }
        self.told_frame = frames.end;
        for deed in self.driver.simulation().deeds_in(frames) {
            if let Some(order) = deed.order {
                self.news.push_back(News::Ran { turn: deed.turn, player: deed.player, order });
            }
        }
    }

    /// Gives a person's order: it is on its way at once and runs a few turns later, everywhere. Says in which turn it was given.
    ///
    /// # Errors
    /// The order does not run: the queue is full, or the match is over.
    pub(crate) fn order(&mut self, order: &Order) -> Result<Turn, SubmitError> {
        let session = self.driver.session_mut();
        session.submit(order)?;
        Ok(session.next_turn())
    }

    /// Leaves in good order: a few steps later the session is over.
    pub(crate) fn leave(&mut self) {
        self.driver.session_mut().leave();
    }

    /// Asks for a pause, or for its end: everybody's battle stands from the same turn on.
    pub(crate) fn toggle_pause(&mut self) {
        let session = self.driver.session_mut();
        session.pause(!session.is_paused());
    }

    /// Hands the player to a person or to a bot.
    pub(crate) fn set_pilot(&mut self, pilot: Pilot) {
        self.pilot = pilot;
    }

    /// Who plays.
    pub(crate) fn pilot(&self) -> Pilot {
        self.pilot
    }

    /// The setup of the match.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The player of this seat.
    pub(crate) fn player(&self) -> PlayerId {
        self.player
    }

    /// Where others find the host; none of a guest.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Time for which the host still waits for guests.
    pub(crate) fn patience(&self) -> Duration {
        LOBBY - self.clock.elapsed()
    }

    /// This process's copy.
    pub(crate) fn client(&self) -> &Client {
        self.driver.simulation()
    }

    /// The protocol.
    pub(crate) fn session(&self) -> &Session<Order> {
        self.driver.session()
    }

    /// Frames simulated.
    pub(crate) fn frame(&self) -> u32 {
        self.driver.frame().0
    }

    /// How far the picture is between the last two frames: 0..=65,536.
    pub(crate) fn alpha(&self) -> u32 {
        self.driver.alpha_at(self.clock.now())
    }

    /// The turn that cannot begin, and whose orders are missing.
    pub(crate) fn waiting(&self) -> Option<&(Turn, Vec<PlayerId>)> {
        self.waiting.as_ref()
    }

    /// Measurements of the last while, oldest first.
    pub(crate) fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.telemetry.samples()
    }

    /// Turns whose checksums all players have exchanged, and this copy's then.
    pub(crate) fn compared(&self) -> (u32, u64) {
        let turns = self.session().compared_turns();
        let known = self.checksums.iter().find(|(played, _)| *played == turns);
        (turns, known.map_or_else(|| self.client().game().checksum(), |(_, checksum)| *checksum))
    }

    /// The first turn in which checksums differed.
    pub(crate) fn divergent_turn(&self) -> Option<u32> {
        self.divergence.map(|(turn, _)| turn)
    }

    /// The known facts about the difference; none without a difference.
    pub(crate) fn diagnosis(&self) -> Option<Diagnosis> {
        let (turn, outlier) = self.divergence?;
        if self.host.is_none() {
            return Some(Diagnosis::GuestsAsk);
        }
        let Some(search) = &self.search else { return Some(Diagnosis::Unknown) };
        let Some(finding) = search.finding() else {
            return Some(if search.is_over() { Diagnosis::Unknown } else { Diagnosis::Asking });
        };
        let desync = Desync::of_finding(turn, outlier.map(|player| player.0), finding);
        let is_reproduced = search.is_reproduced();
        Some(desync.map_or(Diagnosis::Unknown, |desync| Diagnosis::Found { desync, is_reproduced }))
    }

    /// Why the session has ended before its time.
    pub(crate) fn failure(&self) -> Option<MatchError> {
        let session = self.driver.session();
        MatchError::of_state(session.phase(), session.next_turn().0)
    }

    /// The session has ended, one way or another.
    pub(crate) fn is_over(&self) -> bool {
        self.driver.session().is_over()
    }

    /// Events since the last call.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// How long nothing is due, which is not long: a packet may come.
    pub(crate) fn pause(&self) -> std::time::Duration {
        let now = self.clock.now();
        let due = self.driver.poll_timeout();
        due.map_or(PAUSE, |at| std::time::Duration::from_micros(at.since(now).as_micros())).min(PAUSE)
    }

    /// The outcome up to the end or the time of leaving; none if the match had not begun.
    ///
    /// # Errors
    /// The match has ended before its time.
    pub(crate) fn end(mut self) -> Result<Option<Outcome>, MatchError> {
        // The last word, so that the others need not wait for it.
        self.pump()?;
        self.driver.simulation_mut().finish_recording()?;
        if let Some(error) = self.failure() {
            return Err(error);
        }
        let session = self.driver.session();
        let turns = session.next_turn().0;
        if turns == 0 {
            return Ok(None);
        }
        let (end, bytes) = self.ended.unwrap_or((self.clock.now(), session.stats().bytes_sent));
        let client = self.driver.simulation();
        let clients = [(client, ClientOutcome::of(client, session, bytes))];
        let mut outcome =
            Outcome::new(Terms { turns, ..self.terms }, &clients, end.since(self.began.unwrap_or(end)));
        outcome.player = Some(self.player.0);
        outcome.divergent_turn = self.divergence.map(|(turn, _)| turn);
        outcome.outlier = self.divergence.and_then(|(_, outlier)| outlier).map(|player| player.0);
        outcome.finding = self.search.as_ref().and_then(|search| search.finding().cloned());
        outcome.is_reproduced = self.search.as_ref().and_then(Search::is_reproduced);
        Ok(Some(outcome))
    }

    fn take_events(&mut self) {
        while let Some(event) = self.driver.session_mut().poll_event() {
            match event {
                Event::Started => {
                    self.began = Some(self.clock.now());
                    self.news.push_back(News::Started);
                }
                Event::Desync(desync) if self.divergence.is_none() => {
                    self.divergence = Some((desync.turn.0, desync.outlier()));
                    self.driver.simulation_mut().note_divergence(desync.turn.0);
                    self.look_for_the_number();
                    self.news.push_back(News::Differs(desync.turn.0));
                }
                Event::Connected { identity: Identity::Player(other), .. } => {
                    self.places.iter_mut().for_each(|places| places.connected(other));
                    self.news.push_back(News::Joined(other));
                }
                Event::WaitingFor { turn, players, .. } => {
                    self.waiting = Some((turn, players.clone()));
                    self.news.push_back(News::WaitingFor(players));
                }
                Event::WaitingOver { .. } => self.waiting = None,
                Event::Paused { player, paused, .. } => self.news.push_back(News::Paused { player, paused }),
                Event::PlayerGone { player, reason, .. } => {
                    let is_taken_over = self.driver.session().config().is_played_on(reason);
                    self.news.push_back(News::Gone { player, is_taken_over });
                }
                _ => {}
            }
        }
    }

    /// The states of the last frames are kept as they are now; a guest asks the host about them.
    fn look_for_the_number(&mut self) {
        let client = self.driver.simulation();
        let (inquiry, deeds) = (client.inquiry(), client.deeds());
        match (self.host, inquiry) {
            (Some(host), Some(inquiry)) => {
                self.search = Some(Search::begin(host, self.session_id, inquiry, deeds));
            }
            (_, inquiry) => self.inquiry = inquiry,
        }
    }

    fn note_end(&mut self) {
        let session = self.driver.session();
        if self.ended.is_none() && matches!(session.phase(), SessionPhase::Ending | SessionPhase::Finished) {
            // A frame is simulated when its time begins.
            let end = self.clock.now() + session.config().frame_length();
            self.ended = Some((end, session.stats().bytes_sent));
        }
    }

    fn pump(&mut self) -> Result<(), MatchError> {
        let Self { clock, udp, driver, places, session_id, inquiry, search, .. } = self;
        let now = clock.now();
        let aside = |member: Option<PeerId>, bytes: &[u8]| {
            if let Some(search) = search.as_mut() {
                return search.hear(member, bytes);
            }
            let Some(places) = places.as_mut() else { return Aside::Session };
            let invitation = if member.is_none() { places.answer(bytes, now) } else { None };
            match invitation {
                Some(invitation) => Aside::Reply(invitation.to_vec()),
                None => remote::answer(inquiry.as_mut(), *session_id, member, now, bytes),
            }
        };
        udp.pump_with(driver.session_mut(), now, aside).map_err(MatchError::Socket)
    }
}

/// A click may need several orders: a scattered selection is split into parts. A bot stands in for a lost player.
fn config(terms: &Terms, pace: Pace, session_id: u64) -> SessionConfig {
    session_config(terms, session_id).pace(pace).actions_per_turn_max(ORDERS_PER_TURN).drop_after(DROP_AFTER)
}

/// A client, with a replay and a fault on request.
fn client(game: Game, terms: &Terms, options: &SeatOptions) -> Result<Client, MatchError> {
    let mut client = Client::new(game, options.fault, false);
    client.keep_moments();
    match &options.replay {
        ReplayFile::None => {}
        ReplayFile::At(path) => client.record(Recording::create(path, terms)?),
        // A folder that cannot be written is no reason not to play.
        ReplayFile::In(folder) => {
            if let Ok(recording) = Recording::create_in(folder, terms) {
                client.record(recording);
            }
        }
    }
    Ok(client)
}
