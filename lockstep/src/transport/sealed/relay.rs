//! A relay on a sealed port.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

use super::host::random;
use super::inbox::WAITING_MAX;
use super::server::{SealedEvent, SealedServer};
use crate::service::code::{JoinCode, JoinCodeError};
use crate::service::codes::Codes;
use crate::service::greeting::Answer;
use crate::service::places::Secret;
use crate::service::relay::limits::Limits;
use crate::service::relay::rooms::Rooms;
use crate::value::ids::PeerId;
use crate::value::time::Instant;

/// Rooms whose codes wait for the application; the oldest ones are forgotten.
const OPENED_MAX: usize = 64;

/// The rooms of a relay on a [`SealedServer`]. It knows nothing of the games.
#[derive(Debug)]
pub struct SealedRelay {
    server: SealedServer,
    rooms: Rooms,
    addresses: Vec<SocketAddr>,
    secret: Secret,
    opened: VecDeque<Codes>,
}

impl SealedRelay {
    /// A relay that others find at these one to four addresses.
    ///
    /// # Errors
    /// The system has no randomness, or a limit is out of range ([`ConfigError`](crate::ConfigError)).
    pub fn new(server: SealedServer, addresses: &[SocketAddr], limits: Limits) -> io::Result<Self> {
        let secret = random()?;
        let (addresses, opened) = (addresses.to_vec(), VecDeque::new());
        let rooms =
            Rooms::new(secret, limits).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Self { server, rooms, addresses, secret, opened })
    }

    /// Whoever has this code may open rooms.
    ///
    /// # Errors
    /// No address, or more than four.
    pub fn code(&self) -> Result<JoinCode, JoinCodeError> {
        JoinCode::new(&self.addresses, self.server.certificate_hash(), self.secret)
    }

    /// The server: its address, certificate and counters.
    #[must_use]
    pub fn server(&self) -> &SealedServer {
        &self.server
    }

    /// The rooms.
    #[must_use]
    pub fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    /// The rooms, mutable: to take counters, and to stop.
    pub fn rooms_mut(&mut self) -> &mut Rooms {
        &mut self.rooms
    }

    /// The codes of the next room that was opened.
    pub fn poll_opened(&mut self) -> Option<Codes> {
        self.opened.pop_front()
    }

    /// Makes another certificate: older codes lead nowhere from then on, and connections that exist go on. [`SealedRelay::code`] returns the new
    /// code.
    ///
    /// # Errors
    /// The library cannot make one; the present one stays.
    pub fn renew_certificate(&mut self) -> io::Result<()> {
        self.server.renew_certificate()
    }

    /// Handles what has arrived, and sends what is due. `now` returns the time. Sleep with [`SealedServer::wait`], until
    /// [`Rooms::next_due`] at most.
    ///
    /// # Errors
    /// The system has no randomness, or has taken the socket away ([`SealedServer::check`]).
    pub fn round(&mut self, now: impl Fn() -> Instant) -> io::Result<()> {
        self.server.check()?;
        for _ in 0..WAITING_MAX {
            match self.server.poll() {
                None => break,
                Some(SealedEvent::Packet { peer, bytes }) => self.rooms.packet(peer, &bytes, now()),
                Some(SealedEvent::Closed { peer }) => self.rooms.closed(peer, now()),
                // Before a room is opened for nobody.
                Some(SealedEvent::Greeting { peer, bytes, .. })
                    if !self.server.has_room(peer, self.rooms.claim(&bytes)) =>
                {
                    self.server.turn_away(peer);
                }
                Some(SealedEvent::Greeting { peer, address, bytes }) => {
                    self.greet(peer, address, &bytes, now())?;
                }
            }
        }
        let mut batch = self.server.batch();
        self.rooms.step(now(), |peer, packet| batch.send(peer, packet));
        drop(batch);
        while let Some(connection) = self.rooms.poll_close() {
            self.server.close(connection);
        }
        Ok(())
    }

    fn greet(&mut self, peer: PeerId, address: SocketAddr, greeting: &[u8], now: Instant) -> io::Result<()> {
        let mut failed = None;
        let mut draw = || match random() {
            Ok(bytes) => bytes,
            Err(error) => {
                failed = Some(error);
                [0; 16]
            }
        };
        let reply = self.rooms.greet(peer, address.ip().to_canonical(), greeting, now, &mut draw);
        // Without randomness there are no secrets.
        if let Some(error) = failed {
            return Err(error);
        }
        reply.former.into_iter().for_each(|former| self.server.displace(former));
        let answer = reply.answer.to_bytes();
        if !reply.is_welcome() {
            self.server.refuse(peer, &answer);
            return Ok(());
        }
        self.server.let_in(peer, &answer, reply.plays());
        if let Answer::Opened(opened) = reply.answer
            && let Ok(codes) = Codes::new(&self.addresses, self.server.certificate_hash(), opened.secrets)
        {
            if self.opened.len() == OPENED_MAX {
                self.opened.pop_front();
            }
            self.opened.push_back(codes);
        }
        Ok(())
    }
}
