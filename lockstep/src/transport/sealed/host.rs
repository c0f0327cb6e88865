//! A host on a sealed socket, and the way of a guest to it.

use std::io;
use std::net::SocketAddr;

use super::client::{ClientEvent, LostReason, SealedClient};
use super::config::SealedConfig;
use super::inbox::WAITING_MAX;
use super::server::{SealedEvent, SealedServer};
use crate::service::agreement::Agreement;
use crate::service::code::{JoinCode, JoinCodeError};
use crate::service::codes::Codes;
use crate::service::greeting::Secrets;
use crate::service::guest::{Dial, Line, LineEvent, LossKind};
use crate::service::host::Host;
use crate::service::places::{Places, Secret};
use crate::session::AnySession;
use crate::value::ids::PlayerId;
use crate::value::time::{Duration, Instant};

/// Bytes that nobody can guess: for secrets, session ids, and [`crate::SessionConfig::entropy()`].
///
/// # Errors
/// The system has none.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// The middle of a star on a [`SealedServer`]: it lets in whoever has the code of a place, and moves the packets of a session.
///
/// Each link of the session is bound to the identity that its secret opens ([`Session::bind`](crate::AnySession::bind)); a connection that sends a hello with
/// another identity is closed. A secret that comes a second time takes the place: the former connection is closed, and its client reads
/// [`LostReason::Displaced`].
#[derive(Debug)]
pub struct SealedHost {
    server: SealedServer,
    host: Host,
    codes: Codes,
    outgoing: Vec<u8>,
}

impl SealedHost {
    /// The places of `session`, which was made with [`Host::config`]. `addresses`, one to four, are those at which guests find the server. The server takes as
    /// many connections as there are places, also if its [`SealedConfig::connections_max`] is less.
    ///
    /// # Errors
    /// No address, or more than four.
    pub fn new(
        server: SealedServer,
        addresses: &[SocketAddr],
        session: &mut AnySession,
        agreement: Agreement,
        secrets: Secrets,
    ) -> Result<Self, JoinCodeError> {
        let host = Host::new(session, agreement, &secrets);
        let codes = Codes::new(addresses, server.certificate_hash(), secrets)?;
        server.make_room(host.places().count());
        Ok(Self { server, host, codes, outgoing: Vec::new() })
    }

    /// The server: its address, certificate and counters.
    #[must_use]
    pub fn server(&self) -> &SealedServer {
        &self.server
    }

    /// The codes of the places: one for each person.
    #[must_use]
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The places, and who is there.
    pub fn places(&self) -> &Places {
        self.host.places()
    }

    /// Removes a player for good. Until the start is fixed, somebody else may come instead with a new code, which is returned; `secret` is
    /// random.
    pub fn remove(
        &mut self,
        session: &mut AnySession,
        player: PlayerId,
        secret: Secret,
        now: Instant,
    ) -> Option<JoinCode> {
        let connection = self.host.remove(session, player, &secret);
        // The last packets tell the player.
        while let Some(link) = session.poll_transmit(now, &mut self.outgoing) {
            let is_its = u32::from(player.0) == link.0;
            if let Some(connection) = self.host.connection(link).or(connection.filter(|_| is_its)) {
                self.server.send(connection, &self.outgoing);
            }
        }
        connection.into_iter().for_each(|connection| self.server.close(connection));
        (!session.start_is_fixed()).then(|| self.codes.renew(player, secret)).flatten()
    }

    /// Moves packets both ways, runs [`Session::handle_timeout`](crate::AnySession::handle_timeout), and lets in what may come.
    ///
    /// Call it in every round of the application's loop, before and after running frames, and sleep with [`SealedServer::wait`]. [`SealedServer::check`] says
    /// whether the server still serves.
    pub fn round(&mut self, session: &mut AnySession, now: Instant) {
        for _ in 0..WAITING_MAX {
            match self.server.poll() {
                None => break,
                // Before it costs those who watch an arrival.
                Some(SealedEvent::Greeting { peer, bytes, .. })
                    if !self.server.has_room(peer, self.host.claim(&bytes)) =>
                {
                    self.server.turn_away(peer);
                }
                Some(SealedEvent::Greeting { peer, bytes, .. }) => {
                    let reply = self.host.greet(session, peer, &bytes, now);
                    reply.former.into_iter().for_each(|former| self.server.displace(former));
                    let answer = reply.answer.to_bytes();
                    if reply.is_welcome() {
                        self.server.let_in(peer, &answer, reply.plays());
                    } else {
                        self.server.refuse(peer, &answer);
                    }
                }
                Some(SealedEvent::Packet { peer, bytes }) => {
                    if !self.host.receive(session, peer, &bytes, now) {
                        self.server.close(peer);
                    }
                }
                Some(SealedEvent::Closed { peer }) => self.host.closed(peer),
            }
        }
        session.handle_timeout(now);
        while let Some(link) = session.poll_transmit(now, &mut self.outgoing) {
            if let Some(connection) = self.host.connection(link) {
                self.server.send(connection, &self.outgoing);
            }
        }
    }
}

/// Makes a guest's connections over the sealed transport.
#[derive(Clone, Debug, Default)]
pub struct SealedDialer {
    config: SealedConfig,
}

impl SealedDialer {
    /// With these settings.
    #[must_use]
    pub fn new(config: SealedConfig) -> Self {
        Self { config }
    }
}

impl Dial for SealedDialer {
    type Line = SealedClient;

    fn dial(&mut self, code: &JoinCode, greeting: &[u8]) -> io::Result<SealedClient> {
        SealedClient::connect(code.addresses(), code.certificate_hash(), greeting, &self.config)
    }
}

impl Line for SealedClient {
    fn poll(&mut self, _: Instant) -> Option<LineEvent> {
        Some(match Self::poll(self)? {
            ClientEvent::Accepted(answer) => LineEvent::Accepted(answer),
            ClientEvent::Refused(answer) => LineEvent::Refused(answer),
            ClientEvent::Packet(bytes) => LineEvent::Packet(bytes),
            ClientEvent::Lost(why) => {
                let kind = match why {
                    LostReason::Displaced => LossKind::Displaced,
                    LostReason::Full => LossKind::Full,
                    _ => LossKind::Other,
                };
                LineEvent::Lost { why: why.to_string(), kind }
            }
        })
    }

    fn send(&mut self, packet: &[u8]) {
        Self::send(self, packet);
    }

    fn wait(&self, time: Duration) -> bool {
        Self::wait(self, time);
        true
    }
}
