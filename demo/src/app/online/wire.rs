//! How packets reach the others: sealed, or as plain UDP.

use testudo_lockstep::transport::code::JoinCode;
use testudo_lockstep::transport::udp::{Aside, UdpTransport};
use testudo_lockstep::{Duration, Instant, PROTOCOL_VERSION, PeerId, Session};

use crate::app::error::{InvitationError, MatchError};
use crate::app::online::edge::{EVENTS_MAX, Edge, EdgeEvent, LossKind};
use crate::app::online::greeting::Answer;
use crate::app::online::places::Places;
#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::server::Server;
use crate::game::Order;

/// A guest's link to the middle of the star.
pub(crate) const MIDDLE: PeerId = PeerId(0);

/// Time until the middle is tried again. It doubles, up to a limit, as long as connections do not last: two browsers with one code, which are not told
/// of each other, would take the place from each other for ever.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(16);
const LASTS: Duration = Duration::from_secs(10);

/// Time until the middle is tried again that has said "later".
pub(crate) const LATER: Duration = Duration::from_secs(4);

/// An attempt that has begun ends by itself, or after this time.
const ATTEMPT: Duration = Duration::from_secs(30);

/// One way to the others.
pub(crate) enum Wire {
    Plain(Box<UdpTransport>),
    /// A host's, sealed. A page cannot host: it has no port.
    #[cfg(not(target_arch = "wasm32"))]
    Server(Box<Server>),
    /// A guest's, sealed.
    Client(Box<Client>),
}

/// A guest's sealed connection. When it breaks, it is made again; the session notices a silence.
pub(crate) struct Client {
    edge: Edge,
    code: JoinCode,
    greeting: Vec<u8>,
    /// When to connect again.
    again: Option<Instant>,
    /// How long to wait before that, and since when there is a connection.
    pause: Duration,
    since: Option<Instant>,
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
            #[cfg(not(target_arch = "wasm32"))]
            Self::Server(server) => server.receive(session, now, aside),
            Self::Client(client) => client.receive(session, now, aside),
        }
        session.handle_timeout(now);
        match self {
            Self::Plain(_) => {}
            #[cfg(not(target_arch = "wasm32"))]
            Self::Server(server) => server.transmit(session, now),
            Self::Client(client) => client.transmit(session, now),
        }
        Ok(())
    }

    /// Sends the application's own bytes over a link.
    pub(crate) fn send_aside(&mut self, link: PeerId, bytes: &[u8]) {
        match self {
            Self::Plain(udp) => udp.send_aside(link, bytes),
            #[cfg(not(target_arch = "wasm32"))]
            Self::Server(server) => server.send(link, bytes),
            Self::Client(client) => client.edge.send(bytes),
        }
    }

    /// The places of a sealed host.
    pub(crate) fn places(&self) -> Option<&Places> {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Server(server) => Some(server.places()),
            Self::Plain(_) | Self::Client(_) => None,
        }
    }

    /// The places of a sealed host, mutable.
    pub(crate) fn places_mut(&mut self) -> Option<&mut Places> {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Server(server) => Some(server.places_mut()),
            Self::Plain(_) | Self::Client(_) => None,
        }
    }

    /// Closes a connection of a sealed host.
    #[cfg_attr(target_arch = "wasm32", expect(unused_variables))]
    pub(crate) fn close(&mut self, connection: PeerId) {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Server(server) => server.close(connection),
            Self::Plain(_) | Self::Client(_) => {}
        }
    }

    /// Why a guest whose connection was broken is not taken back.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Client(client) => client.refusal.as_deref(),
            _ => None,
        }
    }

    /// Whether a guest's sealed connection is broken.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self, Self::Client(client) if client.again.is_some())
    }
}

impl Client {
    /// A connection that was accepted. `greeting` opens the same place again.
    pub(crate) fn new(edge: Edge, code: JoinCode, greeting: Vec<u8>) -> Self {
        Self {
            edge,
            code,
            greeting,
            again: None,
            pause: AGAIN,
            since: None,
            refusal: None,
            outgoing: Vec::new(),
        }
    }

    /// From now on this code opens the place again, for who has opened a room.
    pub(crate) fn come_back_with(&mut self, code: JoinCode, greeting: Vec<u8>) {
        (self.code, self.greeting) = (code, greeting);
    }

    /// The next packet, for who has no session yet.
    pub(crate) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        loop {
            if let EdgeEvent::Packet(bytes) = self.edge.poll()? {
                return Some(bytes);
            }
        }
    }

    /// Sends bytes, for who has no session yet.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.edge.send(bytes);
    }

    fn receive(
        &mut self,
        session: &mut Session<Order>,
        now: Instant,
        mut aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) {
        for _ in 0..EVENTS_MAX {
            match self.edge.poll() {
                None => break,
                Some(EdgeEvent::Packet(bytes)) => {
                    match aside(Some(MIDDLE).filter(|link| session.knows(*link)), &bytes) {
                        Aside::Session => session.handle_packet(now, MIDDLE, &bytes),
                        Aside::Taken => {}
                        Aside::Reply(reply) => self.edge.send(&reply),
                    }
                }
                Some(EdgeEvent::Accepted(_)) => (self.again, self.since) = (None, Some(now)),
                Some(EdgeEvent::Refused(bytes)) => match Answer::read(&bytes) {
                    // Whoever was here before is wanted, but not now.
                    Some(Answer::Later | Answer::Full) => self.again = Some(now + LATER),
                    answer => self.give_up(refusal(answer).to_string()),
                },
                Some(EdgeEvent::Lost(loss)) if loss.kind == LossKind::Displaced => self.give_up(loss.why),
                Some(EdgeEvent::Lost(_)) => self.try_again(now),
            }
        }
        if self.again.is_some_and(|again| now >= again) && !session.is_over() {
            // The next attempt is due after this one has failed, or never.
            self.again = Some(now + ATTEMPT);
            if let Ok(edge) = Edge::connect(&self.code, &self.greeting) {
                self.edge = edge;
            }
        }
    }

    /// The place is lost for good.
    fn give_up(&mut self, why: String) {
        (self.again, self.refusal) = (None, Some(why));
    }

    /// The connection is lost, or was not made.
    fn try_again(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            let has_lasted = now.since(since) >= LASTS;
            self.pause = if has_lasted { AGAIN } else { self.pause.times(2).min(AGAIN_MAX) };
        }
        self.again = Some(now + self.pause);
    }

    fn transmit(&mut self, session: &mut Session<Order>, now: Instant) {
        let mut outgoing = core::mem::take(&mut self.outgoing);
        while session.poll_transmit(now, &mut outgoing).is_some() {
            self.edge.send(&outgoing);
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
        Some(Answer::OtherProgram) => InvitationError::OtherProgram,
        Some(Answer::Later) => InvitationError::Lost {
            why: "too many have come to this match in a short time: try again in a minute".into(),
        },
        None | Some(Answer::Come(_) | Answer::Opened(_) | Answer::Version(_) | Answer::Malformed) => {
            InvitationError::NotUnderstood
        }
    }
}
