//! Plain UDP, non-blocking. Peers that the application names are numbered in that order, all others by a hash of their address.
#![expect(clippy::disallowed_types, reason = "the socket of the package")]

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;

use crate::packet::PACKET_BYTES_MAX;
use crate::session::Session;
use crate::value::action::Action;
use crate::value::ids::PeerId;
use crate::value::time::Instant;

/// Most addresses that may knock without having been let in yet.
const STRANGERS_MAX: usize = 64;

/// The numbers of those who came by themselves have this bit.
const STRANGER: u32 = 1 << 31;

/// How Windows says that a packet was larger than the buffer, which is larger than any of ours (WSAEMSGSIZE).
const TOO_LARGE: i32 = 10_040;

/// Most packets taken in by one call of [`UdpTransport::pump`], so that a flood cannot starve the game.
const RECEIVE_MAX: u32 = 512;

/// What the socket saw beyond the session's own counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct UdpStats {
    /// Packets from addresses that are not part of the match, dropped.
    pub unknown_dropped: u64,
    /// "Nobody is there" answers of the network (connection refused or reset).
    pub unreachable: u64,
    /// Packets that the socket would not take, or not to that address; the next ones carry the same content.
    pub send_dropped: u64,
}

/// What becomes of a packet that was shown to the application first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Aside {
    /// It is not the application's: the session gets it.
    Session,
    /// The application has taken it.
    Taken,
    /// The application has taken it, and this goes back. An answer to an address that is not known must not be longer than its question.
    Reply(Vec<u8>),
}

/// A UDP socket and who is behind which address.
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
    /// The operating system's, such as a taken port.
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

    /// Where the socket is bound.
    ///
    /// # Errors
    /// The operating system's.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The number of the peer at an address, for [`Session::connect`]; the same one if it is called again.
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

    /// The number of an unknown address. It follows from the address: nothing has to be kept of strangers from one call to the next, and the
    /// session knows them again. None if somebody else has the number.
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

    /// Moves packets both ways between socket and session. Call it often: before and after running frames.
    ///
    /// Unknown addresses are let through only while the session is open to newcomers, and forgotten unless the session
    /// has taken them in. "Connection refused" is not an error: the handshake's timeout decides.
    ///
    /// # Errors
    /// A broken socket.
    pub fn pump<A: Action>(&mut self, session: &mut Session<A>, now: Instant) -> io::Result<()> {
        self.pump_with(session, now, |_, _| Aside::Session)
    }

    /// As [`UdpTransport::pump`]. `aside` is shown each packet before the session, with the member who sent it, or none if the address is
    /// unknown. It is a place for what an application exchanges beside a session: a lobby before it, questions after a desync.
    ///
    /// # Errors
    /// A broken socket.
    pub fn pump_with<A: Action>(
        &mut self,
        session: &mut Session<A>,
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

    /// Sends bytes of the application's own to a peer: its [`UdpTransport::pump_with`] shows them to `aside`.
    pub fn send_aside(&mut self, peer: PeerId, bytes: &[u8]) {
        if let Some(&address) = self.addresses.get(&peer) {
            self.outgoing.clear();
            self.outgoing.extend_from_slice(bytes);
            self.send(address);
        }
    }

    /// Counters of the socket.
    #[must_use]
    pub fn stats(&self) -> UdpStats {
        self.stats
    }

    fn receive_all<A: Action>(
        &mut self,
        session: &mut Session<A>,
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

    /// No error of sending is the socket's end: a stranger's address may be one that nothing can be sent to (port 0). A broken socket
    /// shows when it receives.
    fn send(&mut self, address: SocketAddr) {
        match self.socket.send_to(&self.outgoing, address) {
            Ok(_) => {}
            Err(error) if is_unreachable(&error) => self.stats.unreachable += 1,
            Err(_) => self.stats.send_dropped += 1,
        }
    }

    fn forget_strangers<A: Action>(&mut self, session: &Session<A>) {
        let addresses = &mut self.addresses;
        self.peers.retain(|_, peer| {
            let keep = session.knows(*peer);
            if !keep {
                addresses.swap_remove(peer);
            }
            keep
        });
    }
}

/// ICMP "unreachable" surfaces as one of these, on whichever call comes next.
fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}
