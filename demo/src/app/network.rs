//! A match between processes over UDP, in real time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use testudo_lockstep::inquiry::Inquiry;
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{Driver, Duration, Event, Identity, PlayerId, Session, State};

use crate::app::client::{Client, Fault};
use crate::app::clock::Clock;
use crate::app::invitation::{self, Places};
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

/// Hosts a match as player 0, played by a bot.
pub(crate) fn host(
    terms: &Terms,
    bind: SocketAddr,
    replay: Option<&Path>,
    mut tell: impl FnMut(News),
) -> Result<Outcome, MatchError> {
    let game = Game::new(terms.setup)?;
    let udp = UdpTransport::bind(bind).map_err(|error| MatchError::Bind { address: bind, error })?;
    let address = udp.local_address().map_err(MatchError::Socket)?;
    let session_id = invitation::random_number();
    let clock = Clock::start();
    let config = session_config(terms, session_id).lobby_timeout(LOBBY);
    let session = Session::host(config, clock.now())?;
    tell(News::Listening(reachable(address)));
    tell(News::Seated { terms: *terms, player: 0 });
    let places = Some(Places::new(*terms, session_id));
    let driver = Driver::new(client(game, terms, replay, None)?, session);
    Seat { clock, udp, driver, places, session_id, host: None, inquiry: None, search: None }.play(terms, tell)
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

/// Joins the match at an address with a bot.
pub(crate) fn join(
    host: SocketAddr,
    replay: Option<&Path>,
    fault: Option<Fault>,
    mut tell: impl FnMut(News),
) -> Result<Outcome, MatchError> {
    let invitation = invitation::ask(host).map_err(MatchError::Invitation)?;
    let terms = invitation.terms;
    tell(News::Seated { terms, player: invitation.player });
    let game = Game::new(terms.setup)?;
    let local: SocketAddr = if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let mut udp = UdpTransport::bind(local).map_err(|error| MatchError::Bind { address: local, error })?;
    let clock = Clock::start();
    let config = session_config(&terms, invitation.session_id);
    let session = Session::join(config, PlayerId(invitation.player), udp.peer(host), clock.now())?;
    let fault = fault.map(|fault| Fault { player: invitation.player, ..fault });
    let driver = Driver::new(client(game, &terms, replay, fault)?, session);
    let session_id = invitation.session_id;
    Seat { clock, udp, driver, places: None, session_id, host: Some(host), inquiry: None, search: None }
        .play(&terms, tell)
}

/// This process's part of a match.
struct Seat {
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
}

impl Seat {
    fn play(mut self, terms: &Terms, mut tell: impl FnMut(News)) -> Result<Outcome, MatchError> {
        let player = self.driver.session().player().unwrap_or_default();
        let (mut divergent_turn, mut outlier) = (None, None);
        let mut began = None;
        let mut ended = None;
        while !self.driver.session().is_over() {
            self.pump()?;
            self.driver.advance_with(self.clock.now(), |turn, client, session| {
                tell(News::Turn(turn.0));
                play_bot(client, player, turn, session);
            });
            self.pump()?;
            while let Some(event) = self.driver.session_mut().poll_event() {
                match event {
                    Event::Started => began = Some(self.clock.now()),
                    Event::Desync(mismatch) if divergent_turn.is_none() => {
                        divergent_turn = Some(mismatch.turn.0);
                        outlier = mismatch.outlier();
                        self.driver.simulation_mut().note_divergence(mismatch.turn.0);
                        self.look_for_the_number();
                    }
                    Event::Connected { identity: Identity::Player(other), .. } => {
                        self.places.iter_mut().for_each(|places| places.connected(other));
                        tell(News::Joined(other));
                    }
                    Event::WaitingFor { players, .. } => tell(News::WaitingFor(players)),
                    _ => {}
                }
            }
            if let Some(search) = &mut self.search {
                search.advance(self.clock.now());
            }
            let session = self.driver.session();
            if ended.is_none() && matches!(session.state(), State::Ending | State::Finished) {
                // A frame is simulated when its time begins.
                let end = self.clock.now() + session.config().frame_length();
                ended = Some((end, session.stats().bytes_sent));
            }
            self.rest();
        }
        // The last word, so that the others need not wait for it.
        self.pump()?;
        self.driver.simulation_mut().finish_recording()?;
        let session = self.driver.session();
        if let Some(error) = MatchError::of_state(session.state(), session.next_turn().0) {
            return Err(error);
        }
        let (end, bytes) = ended.unwrap_or((self.clock.now(), session.stats().bytes_sent));
        let client = self.driver.simulation();
        let clients = [(client, ClientOutcome::of(client, session, bytes))];
        let mut outcome = Outcome::new(*terms, &clients, end.since(began.unwrap_or(end)));
        outcome.player = Some(player.0);
        outcome.divergent_turn = divergent_turn;
        outcome.outlier = outlier.map(|player| player.0);
        outcome.finding = self.search.as_ref().and_then(|search| search.finding().cloned());
        outcome.is_reproduced = self.search.as_ref().and_then(Search::is_reproduced);
        Ok(outcome)
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

    fn pump(&mut self) -> Result<(), MatchError> {
        let Self { clock, udp, driver, places, session_id, inquiry, .. } = self;
        let now = clock.now();
        let answer = |bytes: &[u8]| {
            let invited = places.as_mut()?.answer(bytes, now).map(|answer| answer.to_vec());
            invited.or_else(|| remote::answer(inquiry.as_mut(), *session_id, bytes))
        };
        udp.pump_with(driver.session_mut(), now, answer).map_err(MatchError::Socket)
    }

    /// Sleeps until something is due, but not for long: a packet may come.
    fn rest(&self) {
        let now = self.clock.now();
        let due = self
            .driver
            .poll_timeout()
            .map_or(PAUSE, |at| std::time::Duration::from_micros(at.since(now).as_micros()));
        std::thread::sleep(due.min(PAUSE));
    }
}
