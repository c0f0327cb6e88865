//! How packets reach the others: sealed, or as plain UDP.

use testudo_lockstep::transport::sealed::{
    ClientEvent, JoinCode, SealedClient, SealedConfig, SealedEvent, SealedServer,
};
use testudo_lockstep::transport::udp::{Aside, UdpTransport};
use testudo_lockstep::{Duration, Instant, PROTOCOL_VERSION, PeerId, Session};

use crate::app::error::{InvitationError, MatchError};
use crate::app::online::greeting::{Answer, Greeting, GreetingError, Welcome};
use crate::app::online::places::{NoPlace, Places, is_forged};
use crate::game::Order;

/// A guest's link to the middle of the star.
pub(crate) const MIDDLE: PeerId = PeerId(0);

/// Greatest number of events that are handled in one step, so that a flood cannot starve the game.
const EVENTS_MAX: u32 = 512;

/// Time between two attempts to reach the middle again.
const AGAIN: Duration = Duration::from_secs(1);

/// One way to the others.
pub(crate) enum Wire {
    Plain(Box<UdpTransport>),
    /// A host's, sealed.
    Server(Box<Server>),
    /// A guest's, sealed.
    Client(Box<Client>),
}

/// The sealed connections of a host, by place.
pub(crate) struct Server {
    sealed: SealedServer,
    places: Places,
    /// What newcomers are told, but for their place.
    welcome: Welcome,
    outgoing: Vec<u8>,
}

/// A guest's sealed connection. When it breaks, it is made again; the session notices a silence.
pub(crate) struct Client {
    sealed: SealedClient,
    code: JoinCode,
    greeting: Vec<u8>,
    /// When to connect again.
    again: Option<Instant>,
    /// Why the middle does not take this guest back.
    refusal: Option<String>,
    outgoing: Vec<u8>,
}

impl Wire {
    /// Moves packets both ways. `aside` sees each packet before the session, with its sender if the session knows it.
    ///
    /// # Errors
    /// A broken socket.
    pub(crate) fn pump(
        &mut self,
        session: &mut Session<Order>,
        now: Instant,
        aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) -> Result<(), MatchError> {
        match self {
            Self::Plain(udp) => return udp.pump_with(session, now, aside).map_err(MatchError::Socket),
            Self::Server(server) => server.receive(session, now, aside),
            Self::Client(client) => client.receive(session, now, aside),
        }
        session.handle_timeout(now);
        match self {
            Self::Plain(_) => {}
            Self::Server(server) => server.transmit(session, now),
            Self::Client(client) => client.transmit(session, now),
        }
        Ok(())
    }

    /// Sends the application's own bytes over a link.
    pub(crate) fn send_aside(&mut self, link: PeerId, bytes: &[u8]) {
        match self {
            Self::Plain(udp) => udp.send_aside(link, bytes),
            Self::Server(server) => server.send(link, bytes),
            Self::Client(client) => client.sealed.send(bytes),
        }
    }

    /// The places of a sealed host.
    pub(crate) fn places(&self) -> Option<&Places> {
        match self {
            Self::Server(server) => Some(&server.places),
            Self::Plain(_) | Self::Client(_) => None,
        }
    }

    /// The places of a sealed host, mutable.
    pub(crate) fn places_mut(&mut self) -> Option<&mut Places> {
        match self {
            Self::Server(server) => Some(&mut server.places),
            Self::Plain(_) | Self::Client(_) => None,
        }
    }

    /// Closes a connection of a sealed host.
    pub(crate) fn close(&mut self, connection: PeerId) {
        if let Self::Server(server) = self {
            server.sealed.close(connection);
        }
    }

    /// Why a guest whose connection was broken is not taken back.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Client(client) => client.refusal.as_deref(),
            Self::Plain(_) | Self::Server(_) => None,
        }
    }

    /// Whether a guest's sealed connection is broken.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self, Self::Client(client) if client.again.is_some())
    }
}

impl Server {
    pub(crate) fn new(sealed: SealedServer, places: Places, welcome: Welcome) -> Self {
        Self { sealed, places, welcome, outgoing: Vec::new() }
    }

    fn receive(
        &mut self,
        session: &mut Session<Order>,
        now: Instant,
        mut aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) {
        for _ in 0..EVENTS_MAX {
            match self.sealed.poll() {
                None => return,
                Some(SealedEvent::Greeting { peer, bytes, .. }) => {
                    match self.answer(peer, &bytes, session.is_over()) {
                        Ok(welcome) => self.sealed.accept(peer, &Answer::Come(welcome).to_bytes()),
                        Err(refusal) => self.sealed.refuse(peer, &refusal.to_bytes()),
                    }
                }
                Some(SealedEvent::Packet { peer, bytes }) => {
                    let Some((link, place)) = self.places.seated(peer) else { continue };
                    if is_forged(place, &bytes) {
                        self.places.gone(peer);
                        self.sealed.close(peer);
                        continue;
                    }
                    match aside(Some(link).filter(|link| session.knows(*link)), &bytes) {
                        Aside::Session => session.handle_packet(now, link, &bytes),
                        Aside::Taken => {}
                        Aside::Reply(reply) => self.sealed.send(peer, &reply),
                    }
                }
                Some(SealedEvent::Closed { peer }) => drop(self.places.gone(peer)),
                Some(_) => {}
            }
        }
    }

    /// What a newcomer is told.
    fn answer(&mut self, peer: PeerId, greeting: &[u8], is_over: bool) -> Result<Welcome, Answer> {
        let (secret, name) = match Greeting::read(greeting) {
            Ok(Greeting::Come { secret, name }) => (secret, name),
            // Rooms are opened at relays.
            Ok(Greeting::Open { .. }) => return Err(Answer::WrongSecret),
            Err(GreetingError::Version(_)) => return Err(Answer::Version(PROTOCOL_VERSION)),
            Err(GreetingError::Malformed) => return Err(Answer::Malformed),
        };
        if is_over {
            return Err(Answer::Over);
        }
        let seated = self.places.come(peer, &secret, name).map_err(|error| match error {
            NoPlace::WrongSecret => Answer::WrongSecret,
            NoPlace::Full => Answer::Full,
            NoPlace::Removed => Answer::Removed,
        })?;
        if let Some(former) = seated.former {
            self.sealed.close(former);
        }
        Ok(Welcome { place: seated.place, ..self.welcome })
    }

    fn transmit(&mut self, session: &mut Session<Order>, now: Instant) {
        let mut outgoing = core::mem::take(&mut self.outgoing);
        while let Some(link) = session.poll_transmit(now, &mut outgoing) {
            self.send(link, &outgoing);
        }
        self.outgoing = outgoing;
    }

    fn send(&mut self, link: PeerId, bytes: &[u8]) {
        if let Some(connection) = self.places.connection(link) {
            self.sealed.send(connection, bytes);
        }
    }
}

impl Client {
    /// A connection that was accepted. `greeting` opens the same place again.
    pub(crate) fn new(sealed: SealedClient, code: JoinCode, greeting: Vec<u8>) -> Self {
        Self { sealed, code, greeting, again: None, refusal: None, outgoing: Vec::new() }
    }

    /// From now on this code opens the place again, for who has opened a room.
    pub(crate) fn come_back_with(&mut self, code: JoinCode, greeting: Vec<u8>) {
        (self.code, self.greeting) = (code, greeting);
    }

    /// The next packet, for who has no session yet.
    pub(crate) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        loop {
            if let ClientEvent::Packet(bytes) = self.sealed.poll()? {
                return Some(bytes);
            }
        }
    }

    /// Sends bytes, for who has no session yet.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.sealed.send(bytes);
    }

    fn receive(
        &mut self,
        session: &mut Session<Order>,
        now: Instant,
        mut aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) {
        for _ in 0..EVENTS_MAX {
            match self.sealed.poll() {
                None => break,
                Some(ClientEvent::Packet(bytes)) => {
                    match aside(Some(MIDDLE).filter(|link| session.knows(*link)), &bytes) {
                        Aside::Session => session.handle_packet(now, MIDDLE, &bytes),
                        Aside::Taken => {}
                        Aside::Reply(reply) => self.sealed.send(&reply),
                    }
                }
                Some(ClientEvent::Accepted(_)) => self.again = None,
                Some(ClientEvent::Refused(bytes)) => {
                    self.again = None;
                    self.refusal = Some(refusal(Answer::read(&bytes)).to_string());
                }
                // Lost.
                Some(_) => self.again = Some(now + AGAIN),
            }
        }
        if self.again.is_some_and(|again| now >= again) && !session.is_over() {
            // The next attempt is due after this one has failed, or never.
            self.again = Some(now + AGAIN.times(30));
            let code = &self.code;
            let config = SealedConfig::new();
            let attempt =
                SealedClient::connect(code.addresses(), code.certificate_hash(), &self.greeting, &config);
            if let Ok(sealed) = attempt {
                self.sealed = sealed;
            }
        }
    }

    fn transmit(&mut self, session: &mut Session<Order>, now: Instant) {
        let mut outgoing = core::mem::take(&mut self.outgoing);
        while session.poll_transmit(now, &mut outgoing).is_some() {
            self.sealed.send(&outgoing);
        }
        self.outgoing = outgoing;
    }
}

/// What an answer that lets nobody in means.
pub(crate) fn refusal(answer: Option<Answer>) -> InvitationError {
    match answer {
        Some(Answer::Version(theirs)) if theirs != PROTOCOL_VERSION => InvitationError::Version { theirs },
        Some(Answer::Full) => {
            InvitationError::Lost { why: "there are already as many watchers as there may be".into() }
        }
        Some(Answer::WrongSecret) => InvitationError::WrongSecret,
        Some(Answer::TooManyRooms) => InvitationError::TooManyRooms,
        Some(Answer::GoingAway) => InvitationError::GoingAway,
        Some(Answer::Over) => InvitationError::Over,
        Some(Answer::Removed) => InvitationError::Removed,
        None | Some(Answer::Come(_) | Answer::Opened(_) | Answer::Version(_) | Answer::Malformed) => {
            InvitationError::NotUnderstood
        }
    }
}
