//! The sealed connections of a host, by place.

use testudo_lockstep::transport::sealed::{SealedEvent, SealedServer};
use testudo_lockstep::transport::udp::Aside;
use testudo_lockstep::{Instant, PROTOCOL_VERSION, PeerId, Session, SessionPhase};

use crate::app::online::edge::EVENTS_MAX;
use crate::app::online::greeting::{Answer, Greeting, GreetingError, Welcome};
use crate::app::online::places::{NoPlace, Places};
use crate::game::Order;

/// The sealed connections of a host, by place.
pub(crate) struct Server {
    sealed: SealedServer,
    places: Places,
    /// What newcomers are told, but for their place.
    welcome: Welcome,
    outgoing: Vec<u8>,
}

impl Server {
    pub(crate) fn new(sealed: SealedServer, places: Places, welcome: Welcome) -> Self {
        Self { sealed, places, welcome, outgoing: Vec::new() }
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    pub(crate) fn places_mut(&mut self) -> &mut Places {
        &mut self.places
    }

    /// Closes a connection.
    pub(crate) fn close(&mut self, connection: PeerId) {
        self.sealed.close(connection);
    }

    /// Hands packets to the session, and lets in who may come.
    pub(crate) fn receive(
        &mut self,
        session: &mut Session<Order>,
        now: Instant,
        mut aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) {
        for _ in 0..EVENTS_MAX {
            match self.sealed.poll() {
                None => return,
                Some(SealedEvent::Greeting { peer, bytes, .. }) => {
                    match self.answer(peer, &bytes, session.phase(), now) {
                        Ok(welcome) => self.sealed.accept(peer, &Answer::Come(welcome).to_bytes()),
                        Err(refusal) => self.sealed.refuse(peer, &refusal.to_bytes()),
                    }
                }
                Some(SealedEvent::Packet { peer, bytes }) => {
                    let Some((link, _)) = self.places.seated(peer) else { continue };
                    let forged = session.stats().hellos_forged;
                    match aside(Some(link).filter(|link| session.knows(*link)), &bytes) {
                        Aside::Session => session.handle_packet(now, link, &bytes),
                        Aside::Taken => {}
                        Aside::Reply(reply) => self.sealed.send(peer, &reply),
                    }
                    if session.stats().hellos_forged != forged {
                        self.places.gone(peer);
                        self.sealed.close(peer);
                    }
                }
                Some(SealedEvent::Closed { peer }) => drop(self.places.gone(peer)),
                Some(_) => {}
            }
        }
    }

    /// What a newcomer is told.
    fn answer(
        &mut self,
        peer: PeerId,
        greeting: &[u8],
        phase: SessionPhase,
        now: Instant,
    ) -> Result<Welcome, Answer> {
        let (pass, name) = match Greeting::read(greeting) {
            Ok(Greeting::Come { pass, name }) => (pass, name),
            // Rooms are opened at relays.
            Ok(Greeting::Open { .. }) => return Err(Answer::WrongSecret),
            Err(GreetingError::Version(_)) => return Err(Answer::Version(PROTOCOL_VERSION)),
            Err(GreetingError::Malformed) => return Err(Answer::Malformed),
        };
        match phase {
            SessionPhase::Lobby => {}
            SessionPhase::Running | SessionPhase::Ending => self.places.settle(),
            _ => return Err(Answer::Over),
        }
        let seated = self.places.come(peer, pass, name, now).map_err(|error| match error {
            NoPlace::Full => Answer::Full,
            NoPlace::Shut => Answer::Removed,
            NoPlace::Later { .. } => Answer::Later,
            NoPlace::OtherProgram => Answer::OtherProgram,
            _ => Answer::WrongSecret,
        })?;
        if let Some(former) = seated.former {
            self.sealed.displace(former);
        }
        Ok(Welcome { place: seated.place, ..self.welcome })
    }

    /// Sends what the session has to send.
    pub(crate) fn transmit(&mut self, session: &mut Session<Order>, now: Instant) {
        let mut outgoing = core::mem::take(&mut self.outgoing);
        while let Some(link) = session.poll_transmit(now, &mut outgoing) {
            self.send(link, &outgoing);
        }
        self.outgoing = outgoing;
    }

    /// Sends bytes over a link, if somebody is there.
    pub(crate) fn send(&mut self, link: PeerId, bytes: &[u8]) {
        if let Some(connection) = self.places.connection(link) {
            self.sealed.send(connection, bytes);
        }
    }
}
