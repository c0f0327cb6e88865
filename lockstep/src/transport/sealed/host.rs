//! A sealed server whose connections act for the place that their secret opened, and for no other.

use super::server::{SealedEvent, SealedServer};
use crate::session::{AnySession, SessionPhase};
use crate::transport::places::{Pass, Places};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Instant;

/// Greatest number of events in one call, so that a flood cannot starve the game.
const EVENTS_MAX: u32 = 512;

/// A place on the wire: players have their number.
const WATCHER: u8 = 255;

/// The middle of a star on a [`SealedServer`]: it lets in whoever has the secret of a place, and moves the packets of a session.
///
/// A greeting is the 16 bytes of a secret, which stand in a [`JoinCode`](crate::transport::code::JoinCode), and 16 bytes of a token ([`Pass`]), or nothing instead. (More
/// bytes may follow; they are not looked at.) In a signed match that has begun a place stays with the token that came to it last. The answer to
/// it is the place and what the application adds: [`SealedHost::read_answer`]. Each link of the session is bound to the identity that its
/// secret opens ([`Session::bind`](crate::AnySession::bind)); a connection that sends a hello with another identity is closed. A secret that comes a second time
/// takes the place: the former connection is closed, and its client reads [`LostReason::Displaced`](super::LostReason::Displaced).
#[derive(Debug)]
pub struct SealedHost {
    server: SealedServer,
    places: Places,
    outgoing: Vec<u8>,
}

impl SealedHost {
    /// With these places, which are bound in the session.
    pub fn new(server: SealedServer, places: Places, session: &mut AnySession) -> Self {
        places.bind(session);
        Self { server, places, outgoing: Vec::new() }
    }

    /// The server: its address, certificate and counters.
    #[must_use]
    pub fn server(&self) -> &SealedServer {
        &self.server
    }

    /// The places, and who is there.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Another secret opens a player's place from now on, also after [`SealedHost::shut`].
    pub fn renew(&mut self, player: PlayerId, secret: &[u8; 16]) {
        self.places.renew(player, secret);
    }

    /// Closes a player's connection, and nobody comes to the place any more.
    pub fn shut(&mut self, player: PlayerId) {
        if let Some(connection) = self.places.shut(player) {
            self.server.close(connection);
        }
    }

    /// Moves packets both ways, runs [`Session::handle_timeout`](crate::AnySession::handle_timeout), and lets in who may come. `answer` is what a newcomer is told besides its
    /// place, such as the settings and the session id; at most 16,383 bytes. A client that may not come gets the words of
    /// [`NoPlace`](crate::transport::places::NoPlace).
    ///
    /// Call it once per round of the application's loop, and sleep with [`SealedServer::wait`].
    pub fn pump(&mut self, session: &mut AnySession, now: Instant, answer: &[u8]) {
        if session.config().signed && session.phase() != SessionPhase::Lobby {
            self.places.settle();
        }
        for _ in 0..EVENTS_MAX {
            match self.server.poll() {
                None => break,
                Some(SealedEvent::Greeting { peer, bytes, .. }) => {
                    let secret = bytes.first_chunk().copied().unwrap_or_default();
                    let token =
                        bytes.get(16..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
                    match self.places.come(peer, Pass { secret, token }, now) {
                        Ok(seated) => {
                            seated.former.into_iter().for_each(|former| self.server.displace(former));
                            let place = match seated.identity {
                                Identity::Player(player) => player.0,
                                _ => WATCHER,
                            };
                            self.server.accept(peer, &[&[place], answer].concat());
                        }
                        Err(why) => self.server.refuse(peer, why.to_string().as_bytes()),
                    }
                }
                Some(SealedEvent::Packet { peer, bytes }) => {
                    let Some((link, _)) = self.places.seated(peer) else { continue };
                    let forged = session.stats().hellos_forged;
                    session.handle_packet(now, link, &bytes);
                    if session.stats().hellos_forged != forged {
                        self.places.gone(peer);
                        self.server.close(peer);
                    }
                }
                Some(SealedEvent::Closed { peer }) => drop(self.places.gone(peer)),
            }
        }
        session.handle_timeout(now);
        while let Some(link) = session.poll_transmit(now, &mut self.outgoing) {
            if let Some(connection) = self.places.connection(link) {
                self.server.send(connection, &self.outgoing);
            }
        }
    }

    /// The place that the answer to a greeting names, and what the application added. None: no [`SealedHost`] has sent it.
    #[must_use]
    pub fn read_answer(answer: &[u8]) -> Option<(Identity, &[u8])> {
        let (place, rest) = answer.split_first()?;
        let identity = match *place {
            WATCHER => Identity::Watcher,
            player => Identity::Player(PlayerId(player)),
        };
        Some((identity, rest))
    }
}
