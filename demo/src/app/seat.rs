//! One process's part of a match over UDP, step by step. Nothing here waits: whoever calls decides what to do between two steps.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use testudo_lockstep::inquiry::Inquiry;
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{Driver, Duration, Event, Identity, Instant, PlayerId, Session, State};

use crate::app::client::{Client, Fault};
use crate::app::clock::Clock;
use crate::app::invitation::{self, Invitation, Places};
use crate::app::outcome::{ClientOutcome, MatchError, Outcome};
use crate::app::recording::Recording;
use crate::app::remote::{self, Search};
use crate::app::simulated::play_bot;
use crate::app::{Terms, session_config};
use crate::game::Game;

/// Time that a host waits for its guests.
const LOBBY: Duration = Duration::from_secs(300);

/// Longest pause between two looks at the socket.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// What happens while a match is prepared and played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// The host listens here.
    Listening(SocketAddr),
    /// What will be played, and as whom.
    Seated { terms: Terms, player: u8 },
    /// A player has come.
    Joined(PlayerId),
    /// A turn has begun.
    Turn(u32),
    /// The match stands and waits for these players.
    WaitingFor(Vec<PlayerId>),
}

/// A client, its session and its socket.
pub(crate) struct Seat {
    terms: Terms,
    player: PlayerId,
    clock: Clock,
    udp: UdpTransport,
    driver: Driver<Client>,
    /// A host's places.
    places: Option<Places>,
    session_id: u64,
    /// Whom to ask after a desync; the host is asked.
    host: Option<SocketAddr>,
    inquiry: Option<Inquiry<Game>>,
    search: Option<Search>,
    /// The first turn in which checksums differed, and whose was alone.
    divergence: Option<(u32, Option<PlayerId>)>,
    news: VecDeque<News>,
    began: Option<Instant>,
    /// When the last turn was over, and what had been sent by then.
    ended: Option<(Instant, u64)>,
}

/// A match may be left at any time; what was recorded is whole.
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
    pub(crate) fn host(terms: &Terms, bind: SocketAddr, replay: Option<&Path>) -> Result<Self, MatchError> {
        let game = Game::new(terms.setup)?;
        let udp = UdpTransport::bind(bind).map_err(|error| MatchError::Bind { address: bind, error })?;
        let address = udp.local_address().map_err(MatchError::Socket)?;
        let session_id = invitation::random_number();
        let clock = Clock::start();
        let config = session_config(terms, session_id).lobby_timeout(LOBBY);
        let session = Session::host(config, clock.now())?;
        let driver = Driver::new(client(game, terms, replay, None)?, session);
        let mut seat = Self::new(terms, session_id, clock, udp, driver);
        seat.places = Some(Places::new(*terms, session_id));
        seat.news.push_back(News::Listening(reachable(address)));
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
        replay: Option<&Path>,
        fault: Option<Fault>,
    ) -> Result<Self, MatchError> {
        let terms = invitation.terms;
        let game = Game::new(terms.setup)?;
        let local: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let mut udp =
            UdpTransport::bind(local).map_err(|error| MatchError::Bind { address: local, error })?;
        let clock = Clock::start();
        let config = session_config(&terms, invitation.session_id);
        let session = Session::join(config, PlayerId(invitation.player), udp.peer(host), clock.now())?;
        let fault = fault.map(|fault| Fault { player: invitation.player, ..fault });
        let driver = Driver::new(client(game, &terms, replay, fault)?, session);
        let mut seat = Self::new(&terms, invitation.session_id, clock, udp, driver);
        seat.host = Some(host);
        seat.news.push_back(News::Seated { terms, player: invitation.player });
        Ok(seat)
    }

    fn new(terms: &Terms, session_id: u64, clock: Clock, udp: UdpTransport, driver: Driver<Client>) -> Self {
        Self {
            terms: *terms,
            player: driver.session().player().unwrap_or_default(),
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
        let (player, news) = (self.player, &mut self.news);
        self.driver.advance_with(self.clock.now(), |turn, client, session| {
            news.push_back(News::Turn(turn.0));
            play_bot(client, player, turn, session);
        });
        self.pump()?;
        self.take_events();
        if let Some(search) = &mut self.search {
            search.advance(self.clock.now());
        }
        self.note_end();
        if self.is_over() {
            self.driver.simulation_mut().finish_recording()?;
        }
        Ok(())
    }

    /// The session has ended, one way or another.
    pub(crate) fn is_over(&self) -> bool {
        self.driver.session().is_over()
    }

    /// What has happened since the last call.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// How long nothing is due, which is not long: a packet may come.
    pub(crate) fn pause(&self) -> std::time::Duration {
        let now = self.clock.now();
        let due = self.driver.poll_timeout();
        due.map_or(PAUSE, |at| std::time::Duration::from_micros(at.since(now).as_micros())).min(PAUSE)
    }

    /// What came of it.
    ///
    /// # Errors
    /// The match was not played to its end.
    pub(crate) fn end(mut self) -> Result<Outcome, MatchError> {
        // The last word, so that the others need not wait for it.
        self.pump()?;
        self.driver.simulation_mut().finish_recording()?;
        let session = self.driver.session();
        if let Some(error) = MatchError::of_state(session.state(), session.next_turn().0) {
            return Err(error);
        }
        let (end, bytes) = self.ended.unwrap_or((self.clock.now(), session.stats().bytes_sent));
        let client = self.driver.simulation();
        let clients = [(client, ClientOutcome::of(client, session, bytes))];
        let mut outcome = Outcome::new(self.terms, &clients, end.since(self.began.unwrap_or(end)));
        outcome.player = Some(self.player.0);
        outcome.divergent_turn = self.divergence.map(|(turn, _)| turn);
        outcome.outlier = self.divergence.and_then(|(_, outlier)| outlier).map(|player| player.0);
        outcome.finding = self.search.as_ref().and_then(|search| search.finding().cloned());
        outcome.is_reproduced = self.search.as_ref().and_then(Search::is_reproduced);
        Ok(outcome)
    }

    fn take_events(&mut self) {
        while let Some(event) = self.driver.session_mut().poll_event() {
            match event {
                Event::Started => self.began = Some(self.clock.now()),
                Event::Desync(mismatch) if self.divergence.is_none() => {
                    self.divergence = Some((mismatch.turn.0, mismatch.outlier()));
                    self.driver.simulation_mut().note_divergence(mismatch.turn.0);
                    self.look_for_the_number();
                }
                Event::Connected { identity: Identity::Player(other), .. } => {
                    self.places.iter_mut().for_each(|places| places.connected(other));
                    self.news.push_back(News::Joined(other));
                }
                Event::WaitingFor { players, .. } => self.news.push_back(News::WaitingFor(players)),
                _ => {}
            }
        }
    }

    /// The states of the last frames are kept as they are now; a guest asks the host about them.
    fn look_for_the_number(&mut self) {
        let client = self.driver.simulation();
        let (inquiry, deeds) = (client.inquiry(), client.deeds());
        match (self.host, inquiry) {
            (Some(host), Some(inquiry)) => self.search = Search::begin(host, self.session_id, inquiry, deeds),
            (_, inquiry) => self.inquiry = inquiry,
        }
    }

    fn note_end(&mut self) {
        let session = self.driver.session();
        if self.ended.is_none() && matches!(session.state(), State::Ending | State::Finished) {
            // A frame is simulated when its time begins.
            let end = self.clock.now() + session.config().frame_length();
            self.ended = Some((end, session.stats().bytes_sent));
        }
    }

    fn pump(&mut self) -> Result<(), MatchError> {
        let Self { clock, udp, driver, places, session_id, inquiry, .. } = self;
        let now = clock.now();
        let answer = |bytes: &[u8]| {
            let invited = places.as_mut()?.answer(bytes, now).map(|answer| answer.to_vec());
            invited.or_else(|| remote::answer(inquiry.as_mut(), *session_id, bytes))
        };
        udp.pump_with(driver.session_mut(), now, answer).map_err(MatchError::Socket)
    }
}

/// An address that others can use: of a socket that listens on all addresses of the machine, the one that leads outside.
fn reachable(bound: SocketAddr) -> SocketAddr {
    if !bound.ip().is_unspecified() {
        return bound;
    }
    let (any, outside): (SocketAddr, SocketAddr) = match bound {
        SocketAddr::V4(_) => ((Ipv4Addr::UNSPECIFIED, 0).into(), (Ipv4Addr::new(192, 0, 2, 1), 9).into()),
        SocketAddr::V6(_) => {
            ((Ipv6Addr::UNSPECIFIED, 0).into(), (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9).into())
        }
    };
    let loopback =
        if bound.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { IpAddr::from(Ipv6Addr::LOCALHOST) };
    // Connecting a UDP socket sends nothing; it only chooses the local address. The other one is reserved for documents.
    let chosen = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(outside)?;
        socket.local_addr()
    });
    SocketAddr::new(chosen.map_or(loopback, |address| address.ip()), bound.port())
}

/// A client, with a replay and a fault on request.
fn client(
    game: Game,
    terms: &Terms,
    replay: Option<&Path>,
    fault: Option<Fault>,
) -> Result<Client, MatchError> {
    let mut client = Client::new(game, fault, false);
    client.keep_moments();
    if let Some(path) = replay {
        client.record(Recording::create(path, terms)?);
    }
    Ok(client)
}
