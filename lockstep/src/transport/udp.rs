//! Plain UDP, non-blocking: anybody on the way can read and forge packets. Peers that the application adds are numbered in that order, all others by a secret
//! hash of their address.
#![expect(clippy::disallowed_types, reason = "the socket of the package")]

#[cfg(feature = "codes")]
mod dial;

#[cfg(feature = "codes")]
pub use dial::{PlainDialer, PlainLine};

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};

use indexmap::IndexMap;

use crate::packet::PACKET_BYTES_MAX;
use crate::session::AnySession;
use crate::value::ids::PeerId;
use crate::value::time::Instant;

/// Greatest number of addresses that have sent a hello without having been let in yet.
const STRANGERS_MAX: usize = 64;

/// Numbers of peers that the application has not added have this bit.
const STRANGER: u32 = 1 << 31;

/// Error code of Windows for a packet larger than the buffer, which is larger than any of ours (WSAEMSGSIZE).
const TOO_LARGE: i32 = 10_040;

/// Error code of Windows for an answer that a packet went around in circles (WSAENETRESET, for ICMP "time exceeded").
const TIME_EXCEEDED: i32 = 10_052;

/// Greatest number of packets that one call of [`UdpTransport::pump`] receives, so that a flood cannot starve the game.
const RECEIVE_MAX: u32 = 512;

/// Counters of the socket, beyond the session's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct UdpStats {
    /// Dropped packets from addresses that are not part of the match.
    pub unknown_dropped: u64,
    /// Replies of the network that nobody is listening (connection refused or reset).
    pub unreachable: u64,
    /// Packets that the socket refused, in general or for that address; the next packets carry the same content.
    pub send_dropped: u64,
}

/// What the application does with a packet that it sees before the session.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Aside {
    /// It is not for the application; the session gets it.
    Session,
    /// The application has handled it.
    Taken,
    /// The application has handled it and sends this reply. A reply to an unknown address must not be longer than the question.
    Reply(Vec<u8>),
}

/// A UDP socket, and the peers by address.
#[derive(Debug)]
pub struct UdpTransport {
    socket: UdpSocket,
    /// By canonical address: a socket of version 6 of IP shows an address of version 4 as one of its own.
    peers: IndexMap<SocketAddr, PeerId>,
    /// As the socket takes them.
    addresses: IndexMap<PeerId, SocketAddr>,
    next_peer: u32,
    /// Numbers strangers. Its key is the system's randomness: whoever knew the numbers could look for two addresses that have the same one, show that it
    /// receives packets at one of them, and be let in with the other, which is somebody else's.
    strangers: RandomState,
    stats: UdpStats,
    buffer: Vec<u8>,
    outgoing: Vec<u8>,
}

impl UdpTransport {
    /// Binds to a local address; port 0 takes a free one.
    ///
    /// # Errors
    /// An error of the operating system, such as a taken port.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            peers: IndexMap::new(),
            addresses: IndexMap::new(),
            next_peer: 0,
            strangers: RandomState::new(),
            stats: UdpStats::default(),
            buffer: vec![0; PACKET_BYTES_MAX + 1],
            outgoing: Vec::with_capacity(PACKET_BYTES_MAX),
        })
    }

    /// The local address of the socket.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The number of the peer at an address, for [`Session::connect`](crate::AnySession::connect). Repeated calls return the same number. A socket at `[::]`
    /// reaches addresses of both versions of IP, if the system lets it.
    pub fn add_peer(&mut self, address: SocketAddr) -> PeerId {
        let known = canonical(address);
        if let Some(&peer) = self.peers.get(&known) {
            return peer;
        }
        let peer = PeerId(self.next_peer);
        self.next_peer = self.next_peer.wrapping_add(1);
        self.peers.insert(known, peer);
        self.addresses.insert(peer, self.to_socket(known));
        peer
    }

    /// A canonical address as the socket takes it.
    fn to_socket(&self, known: SocketAddr) -> SocketAddr {
        match (known, self.socket.local_addr()) {
            (SocketAddr::V4(v4), Ok(SocketAddr::V6(_))) => {
                SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port())
            }
            _ => known,
        }
    }

    /// The number of an unknown canonical address. It is derived from the address, so nothing has to be kept about strangers between calls, and the
    /// session recognises them. None if another peer has the number.
    fn add_stranger(&mut self, address: SocketAddr) -> Option<PeerId> {
        let peer = PeerId(STRANGER | (self.strangers.hash_one(address) as u32 >> 1));
        if self.addresses.contains_key(&peer) {
            return None;
        }
        self.peers.insert(address, peer);
        self.addresses.insert(peer, self.to_socket(address));
        Some(peer)
    }

    /// Moves packets in both directions between socket and session. Call it often: before and after running frames.
    ///
    /// Packets from unknown addresses are passed on only while the session accepts new peers, and the address is forgotten unless the
    /// session lets it in. "Connection refused" is not an error: the handshake's timeout decides.
    ///
    /// # Errors
    /// A broken socket.
    pub fn pump(&mut self, session: &mut AnySession, now: Instant) -> io::Result<()> {
        self.pump_with(session, now, |_, _| Aside::Session)
    }

    /// Like [`UdpTransport::pump`]. `aside` sees each packet before the session, with the member who sent it, or none if the address is
    /// unknown. Use it for messages of the application beside the session: a lobby before it, questions after a desync.
    ///
    /// # Errors
    /// A broken socket.
    pub fn pump_with(
        &mut self,
        session: &mut AnySession,
        now: Instant,
        aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) -> io::Result<()> {
        self.receive_all(session, now, aside)?;
        session.handle_timeout(now);
        while let Some(peer) = session.poll_transmit(now, &mut self.outgoing) {
            if let Some(&address) = self.addresses.get(&peer) {
                self.send(address);
            }
        }
        self.forget_strangers(session);
        Ok(())
    }

    /// Counters of the socket.
    #[must_use]
    pub fn stats(&self) -> UdpStats {
        self.stats
    }

    fn receive_all(
        &mut self,
        session: &mut AnySession,
        now: Instant,
        mut aside: impl FnMut(Option<PeerId>, &[u8]) -> Aside,
    ) -> io::Result<()> {
        for _ in 0..RECEIVE_MAX {
            let (length, address) = match self.socket.recv_from(&mut self.buffer) {
                Ok((length, address)) => (length, canonical(address)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if is_unreachable(&error) => {
                    self.stats.unreachable += 1;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.raw_os_error() == Some(TOO_LARGE) => {
                    self.stats.unknown_dropped += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let member = self.peers.get(&address).copied().filter(|peer| session.knows(*peer));
            match aside(member, &self.buffer[..length]) {
                Aside::Session => {}
                Aside::Taken => continue,
                Aside::Reply(reply) => {
                    self.outgoing.clear();
                    self.outgoing.extend_from_slice(&reply);
                    self.send(self.to_socket(address));
                    continue;
                }
            }
            let known = self.peers.contains_key(&address);
            if !known && (!session.is_open() || self.strangers_of(session) >= STRANGERS_MAX) {
                self.stats.unknown_dropped += 1;
                continue;
            }
            let Some(peer) = self.peers.get(&address).copied().or_else(|| self.add_stranger(address)) else {
                self.stats.unknown_dropped += 1;
                continue;
            };
            session.handle_packet(now, peer, &self.buffer[..length]);
        }
        Ok(())
    }

    /// An error of sending does not end the transport: nothing can be sent to some addresses that a stranger may claim (port 0). A broken
    /// socket is noticed when it receives.
    fn send(&mut self, address: SocketAddr) {
        match self.socket.send_to(&self.outgoing, address) {
            Ok(_) => {}
            Err(error) if is_unreachable(&error) => self.stats.unreachable += 1,
            Err(_) => self.stats.send_dropped += 1,
        }
    }

    /// Number of addresses that neither the application has added nor the session has let in.
    fn strangers_of(&self, session: &AnySession) -> usize {
        self.peers.values().filter(|peer| peer.0 & STRANGER != 0 && !session.knows(**peer)).count()
    }

    fn forget_strangers(&mut self, session: &AnySession) {
        let addresses = &mut self.addresses;
        self.peers.retain(|_, peer| {
            // Whom the application has added it may connect later, also in another session.
            let keep = peer.0 & STRANGER == 0 || session.knows(*peer);
            if !keep {
                addresses.swap_remove(peer);
            }
            keep
        });
    }
}

/// An address of version 4 of IP in one of version 6 is itself.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}

/// ICMP "unreachable" appears as one of these errors, on whichever call comes next.
fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
    ) || error.raw_os_error() == Some(TIME_EXCEEDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_network_answers_ends_no_match() {
        for kind in [ErrorKind::ConnectionReset, ErrorKind::NetworkDown, ErrorKind::HostUnreachable] {
            assert!(is_unreachable(&kind.into()));
        }
        assert!(is_unreachable(&io::Error::from_raw_os_error(TIME_EXCEEDED)), "of Windows");
        assert!(!is_unreachable(&ErrorKind::PermissionDenied.into()));
    }

    /// The numbers were the same everywhere, and these two addresses had the same one: what showed that a peer receives packets at the first address was
    /// good for the second, and the host sent its packets there.
    #[test]
    fn two_addresses_have_one_number_only_by_chance() {
        let numbers = || {
            let mut udp = UdpTransport::bind("127.0.0.1:0".parse().unwrap()).unwrap();
            ["198.51.100.7:4736", "203.0.113.5:6979"]
                .map(|address| udp.add_stranger(address.parse().unwrap()).unwrap())
        };
        let [first, second] = [numbers(), numbers()];
        // By chance once in 2^62 times.
        assert!(first[0] != first[1] || second[0] != second[1]);
        assert_ne!(first, second, "nobody knows them beforehand");
    }
}
