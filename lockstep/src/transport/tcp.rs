//! Plain TCP, non-blocking: for friendly networks that carry no UDP. Anybody on the way can read and forge packets, and a lost packet holds up all that
//! follow it (`docs/udp-and-tcp.md` has measurements). Nagle's algorithm is off; each packet of the session is one message, with its length in front.
#![expect(clippy::disallowed_types, reason = "the sockets of the package")]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};

use indexmap::IndexMap;

use crate::packet::PACKET_BYTES_MAX;
use crate::service::household::household;
use crate::session::AnySession;
use crate::value::ids::PeerId;
use crate::value::time::{Duration, Instant};

/// Greatest number of connections that the session has not let in.
const STRANGERS_MAX: usize = 64;

/// Of these a household has at most so many. One more takes the place of its oldest: who reconnects is not kept out by connections of its own.
const STRANGERS_OF_HOUSEHOLD_MAX: usize = 8;

/// A connection that the session has not let in is closed after this time.
const STRANGER_WAIT: Duration = Duration::from_secs(10);

/// Greatest number of messages of one connection in one call of [`TcpTransport::pump`], so that a flood cannot starve the game.
const MESSAGES_MAX: u32 = 64;

/// Greatest number of bytes that wait for one peer. Packets beyond that are dropped; the next ones carry the same content.
const WAITING_MAX: usize = 64 * 1_024;

/// Bytes of a message before the packet: its length, lowest byte first.
const HEAD: usize = 2;

/// Counters of the connections, beyond the session's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct TcpStats {
    /// Connections that were closed at once: the session takes nobody, or too many others wait to be let in.
    pub refused: u64,
    /// Connections that were closed because the session did not let them in.
    pub unknown_closed: u64,
    /// Connections that were closed for a message longer than any packet.
    pub malformed: u64,
    /// Connections that ended otherwise.
    pub lost: u64,
    /// Packets for peers that took no more; the next packets carry the same content.
    pub send_dropped: u64,
}

/// One connection.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// From where and when it came, for those that others have opened.
    origin: Option<(IpAddr, Instant)>,
    /// The beginning of a message.
    received: Vec<u8>,
    /// What the stream has not taken yet.
    waiting: Vec<u8>,
}

/// Why a connection is closed.
enum End {
    Malformed,
    Lost,
}

impl Connection {
    fn new(stream: TcpStream, origin: Option<(IpAddr, Instant)>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, origin, received: Vec::new(), waiting: Vec::new() })
    }

    /// The next whole packet that has arrived, if there is one.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, End> {
        loop {
            let length = self.received.first_chunk().map(|head| usize::from(u16::from_le_bytes(*head)));
            let wanted = match length {
                None => HEAD,
                Some(length @ 1..=PACKET_BYTES_MAX) => HEAD + length,
                Some(_) => return Err(End::Malformed),
            };
            if length.is_some() && self.received.len() == wanted {
                let packet = self.received.split_off(HEAD);
                self.received.clear();
                return Ok(Some(packet));
            }
            let mut buffer = [0; HEAD + PACKET_BYTES_MAX];
            match self.stream.read(&mut buffer[..wanted - self.received.len()]) {
                Ok(0) => return Err(End::Lost),
                Ok(length) => self.received.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(End::Lost),
            }
        }
    }

    /// Puts a packet behind those that wait. Returns whether there was room.
    fn give(&mut self, packet: &[u8]) -> bool {
        let Ok(length) = u16::try_from(packet.len()) else { return false };
        if self.waiting.len() + HEAD + packet.len() > WAITING_MAX {
            return false;
        }
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(packet);
        true
    }

    /// Writes as much of what waits as the stream takes.
    fn write(&mut self) -> Result<(), End> {
        let mut written = 0;
        let end = loop {
            if written == self.waiting.len() {
                break Ok(());
            }
            match self.stream.write(&self.waiting[written..]) {
                Ok(0) => break Err(End::Lost),
                Ok(length) => written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break Err(End::Lost),
            }
        };
        self.waiting.drain(..written);
        end
    }
}

/// TCP connections, and the peers at their other ends.
#[derive(Debug, Default)]
pub struct TcpTransport {
    listener: Option<TcpListener>,
    connections: IndexMap<PeerId, Connection>,
    next_peer: u32,
    stats: TcpStats,
    outgoing: Vec<u8>,
}

impl TcpTransport {
    /// A transport that others cannot connect to: for a guest.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens at a local address; port 0 takes a free one.
    ///
    /// # Errors
    /// An error of the operating system, such as a taken port.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener: Some(listener), ..Self::default() })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// It does not listen, or an error of the operating system.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.as_ref().ok_or(ErrorKind::NotConnected)?.local_addr()
    }

    /// Opens a connection, and returns the number of the peer at its other end, for [`Session::join`](crate::Session::join) or
    /// [`connect`](AnySession::connect). Every connection has another number. This call waits for the other end, for `wait` at most.
    ///
    /// # Errors
    /// Nobody listens at the address, or nobody answered in time.
    pub fn connect(&mut self, address: SocketAddr, wait: Duration) -> io::Result<PeerId> {
        let stream = TcpStream::connect_timeout(&address, wait.into())?;
        Ok(self.add(Connection::new(stream, None)?))
    }

    /// Whether the connection to this peer is open. A connection that is lost does not come back, and the session learns of it as of a silence. A guest
    /// closes it, connects again and comes back to the match. A path can die without a word: then the connection stays open until it is closed here.
    #[must_use]
    pub fn is_connected(&self, peer: PeerId) -> bool {
        self.connections.contains_key(&peer)
    }

    /// Closes the connection to this peer: for a guest whose host no longer answers, before it connects again. Returns whether it was open.
    pub fn close(&mut self, peer: PeerId) -> bool {
        self.connections.shift_remove(&peer).is_some()
    }

    /// Counters of the connections.
    #[must_use]
    pub fn stats(&self) -> TcpStats {
        self.stats
    }

    /// Moves packets in both directions between connections and session. Call it often: before and after running frames.
    ///
    /// A connection that the session has not let in is closed after 10 s. [`TcpTransport::is_connected`] tells which are lost.
    pub fn pump(&mut self, session: &mut AnySession, now: Instant) {
        self.accept(session, now);
        self.receive(session, now);
        session.handle_timeout(now);
        while let Some(peer) = session.poll_transmit(now, &mut self.outgoing) {
            if let Some(connection) = self.connections.get_mut(&peer)
                && !connection.give(&self.outgoing)
            {
                self.stats.send_dropped += 1;
            }
        }
        self.write();
        self.close_strangers(session, now);
    }

    fn add(&mut self, connection: Connection) -> PeerId {
        while self.connections.contains_key(&PeerId(self.next_peer)) {
            self.next_peer = self.next_peer.wrapping_add(1);
        }
        let peer = PeerId(self.next_peer);
        self.next_peer = self.next_peer.wrapping_add(1);
        self.connections.insert(peer, connection);
        peer
    }

    /// Takes new connections, if the session wants anybody.
    fn accept(&mut self, session: &AnySession, now: Instant) {
        for _ in 0..MESSAGES_MAX {
            let Some(accepted) = self.listener.as_ref().map(TcpListener::accept) else { return };
            let (stream, from) = match accepted {
                Ok((stream, from)) => (stream, from.ip().to_canonical()),
                // It has gone already.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                // There is none, or the system has no room for it now; then it goes on waiting.
                Err(_) => return,
            };
            if !session.is_open() {
                self.stats.refused += 1;
                continue;
            }
            self.close_oldest(session, from);
            let strangers = self.connections.keys().filter(|peer| !session.knows(**peer)).count();
            match Connection::new(stream, Some((from, now))) {
                Ok(connection) if strangers < STRANGERS_MAX => {
                    self.add(connection);
                }
                _ => self.stats.refused += 1,
            }
        }
    }

    /// Makes room for one more connection from a household: by its own oldest one, or by the oldest of the household that has most.
    fn close_oldest(&mut self, session: &AnySession, from: IpAddr) {
        // Those of each household, in the order in which they came.
        let mut strangers = IndexMap::<IpAddr, Vec<PeerId>>::new();
        for (peer, connection) in self.connections.iter().filter(|(peer, _)| !session.knows(**peer)) {
            if let Some((address, _)) = connection.origin {
                strangers.entry(household(address)).or_default().push(*peer);
            }
        }
        let all: usize = strangers.values().map(Vec::len).sum();
        let own = strangers.get(&household(from)).map_or(0, Vec::len);
        let most = strangers.values().rev().max_by_key(|peers| peers.len());
        let oldest = if own >= STRANGERS_OF_HOUSEHOLD_MAX {
            strangers[&household(from)].first()
        } else {
            // Not of a household that would have fewer then.
            most.filter(|peers| all >= STRANGERS_MAX && peers.len() > own + 1).and_then(|peers| peers.first())
        };
        if let Some(oldest) = oldest {
            self.connections.shift_remove(oldest);
            self.stats.unknown_closed += 1;
        }
    }

    fn receive(&mut self, session: &mut AnySession, now: Instant) {
        let stats = &mut self.stats;
        self.connections.retain(|peer, connection| {
            for _ in 0..MESSAGES_MAX {
                match connection.receive() {
                    Ok(Some(packet)) => session.handle_packet(now, *peer, &packet),
                    Ok(None) => return true,
                    Err(end) => {
                        count(stats, &end);
                        return false;
                    }
                }
            }
            true
        });
    }

    fn write(&mut self) {
        let stats = &mut self.stats;
        self.connections.retain(|_, connection| connection.write().map_err(|end| count(stats, &end)).is_ok());
    }

    fn close_strangers(&mut self, session: &AnySession, now: Instant) {
        let stats = &mut self.stats;
        self.connections.retain(|peer, connection| {
            let is_late = connection.origin.is_some_and(|(_, since)| now.since(since) >= STRANGER_WAIT);
            let is_kept = !is_late || session.knows(*peer);
            stats.unknown_closed += u64::from(!is_kept);
            is_kept
        });
    }
}

fn count(stats: &mut TcpStats, end: &End) {
    match end {
        End::Malformed => stats.malformed += 1,
        End::Lost => stats.lost += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::session::config::SessionConfig;
    use crate::value::action::AnyAction;

    /// Both ends of a connection.
    fn pair() -> [Connection; 2] {
        let listener = TcpListener::bind("127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        [near, listener.accept().unwrap().0].map(|stream| Connection::new(stream, None).unwrap())
    }

    /// One customer of a network of version 6 filled all places, from eight of its addresses.
    #[test]
    fn a_household_has_the_places_of_one_address() {
        let config = SessionConfig::input(2, 60).simulated();
        let session = Session::<AnyAction>::relay(config, 12, Instant::ZERO).unwrap();
        let mut tcp = TcpTransport::new();
        let mut connect = |network: u16, number: u16| {
            let from = IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, number]);
            tcp.close_oldest(&session, from);
            let [near, _] = pair();
            tcp.add(Connection { origin: Some((from, Instant::ZERO)), ..near });
            tcp.connections.len()
        };
        assert_eq!(connect(1, 0), 1);
        assert_eq!((0..20).map(|number| connect(2, number)).last(), Some(1 + STRANGERS_OF_HOUSEHOLD_MAX));
    }

    /// Eight households held all places, each with as many as it may have, and nobody else could connect.
    #[test]
    fn the_household_with_most_gives_way() {
        let config = SessionConfig::input(2, 60).simulated();
        let session = Session::<AnyAction>::relay(config, 12, Instant::ZERO).unwrap();
        let mut tcp = TcpTransport::new();
        let mut connect = |household: u8| {
            let from = IpAddr::from([10, 0, 0, household]);
            tcp.close_oldest(&session, from);
            let is_free = tcp.connections.len() < STRANGERS_MAX;
            if is_free {
                let [near, _] = pair();
                tcp.add(Connection { origin: Some((from, Instant::ZERO)), ..near });
            }
            is_free
        };
        assert!((0..64).all(|number| connect(number % 8)));
        assert!((0..7).all(|_| connect(8)), "as many as the others have then");
        assert!(!connect(8), "and no more");
        assert!(connect(9));
    }

    #[test]
    fn nagles_algorithm_is_off() {
        assert!(pair().iter().all(|connection| connection.stream.nodelay().unwrap()));
    }

    /// More waits for a peer that reads nothing than its system takes: the rest goes out in pieces, and what finds no room is dropped whole.
    #[test]
    fn what_waits_is_bounded_and_arrives_whole() {
        let [mut near, mut far] = pair();
        let packet = |number: u32| number.to_le_bytes().repeat(PACKET_BYTES_MAX / 4);
        let (mut given, mut read, mut is_full) = (0, 0, false);
        while !is_full || !near.waiting.is_empty() {
            while !is_full && near.give(&packet(given)) {
                given += 1;
                assert!(given < 100_000, "the system takes everything");
            }
            assert!(near.waiting.len() <= WAITING_MAX);
            let before = near.waiting.len();
            assert!(near.write().is_ok());
            if near.waiting.len() < before && !is_full {
                continue;
            }
            // From here on the peer reads.
            is_full = true;
            while let Ok(Some(arrived)) = far.receive() {
                assert_eq!(arrived, packet(read));
                read += 1;
            }
        }
        for _ in 0..10_000_000 {
            if read == given {
                break;
            }
            if let Ok(Some(arrived)) = far.receive() {
                assert_eq!(arrived, packet(read));
                read += 1;
            }
        }
        assert_eq!(read, given, "some never arrived");
        assert!(!near.give(&[0; WAITING_MAX]), "longer than all that may wait");
    }
}
