//! Plain UDP, non-blocking: anybody on the way can read and forge packets. Peers that the application adds are numbered in that order, all others by a hash of
//! their address.
#![expect(clippy::disallowed_types, reason = "the socket of the package")]

#[cfg(feature = "codes")]
mod dial;

#[cfg(feature = "codes")]
pub use dial::{PlainDialer, PlainLine};

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;

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
    peers: IndexMap<SocketAddr, PeerId>,
    addresses: IndexMap<PeerId, SocketAddr>,
    next_peer: u32,
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

    /// The number of the peer at an address, for [`Session::connect`](crate::AnySession::connect). Repeated calls return the same number.
    pub fn add_peer(&mut self, address: SocketAddr) -> PeerId {
        if let Some(&peer) = self.peers.get(&address) {
            return peer;
        }
        let peer = PeerId(self.next_peer);
        self.next_peer = self.next_peer.wrapping_add(1);
        self.peers.insert(address, peer);
        self.addresses.insert(peer, address);
        peer
    }

    /// The number of an unknown address. It is derived from the address, so nothing has to be kept about strangers between calls, and the
    /// session recognises them. None if another peer has the number.
    fn add_stranger(&mut self, address: SocketAddr) -> Option<PeerId> {
        let port = address.port().to_le_bytes();
        let hash = match address.ip() {
            IpAddr::V4(ip) => SipHasher13::new_with_keys(4, 0).hash(&[&ip.octets()[..], &port].concat()),
            IpAddr::V6(ip) => SipHasher13::new_with_keys(6, 0).hash(&[&ip.octets()[..], &port].concat()),
        };
        let peer = PeerId(STRANGER | (hash as u32 >> 1));
        if self.addresses.contains_key(&peer) {
            return None;
        }
        self.peers.insert(address, peer);
        self.addresses.insert(peer, address);
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
                Ok(received) => received,
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
                    self.send(address);
                    continue;
                }
            }
            let known = self.peers.contains_key(&address);
            if !known && (!session.is_open() || self.peers.len() >= STRANGERS_MAX + session.link_count()) {
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

/// ICMP "unreachable" appears as one of these errors, on whichever call comes next.
fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}
