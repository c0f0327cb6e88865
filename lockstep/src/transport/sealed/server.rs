//! The side that takes connections.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use indexmap::IndexMap;
use quinn::Endpoint;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::background::{self, Background, FAREWELL, FLUSH};
use super::certificate::{VALID_BEFORE, is_valid};
use super::config::{ANSWER_BYTES_MAX, SealedConfig, std_time};
use super::connection_limits::ConnectionLimits;
use super::datagram::Datagrams;
use super::inbox::{Inbox, Item};
use super::outbox::{Outbox, Outgoing};
use super::quic;
use super::reception::{Decision, Other, Shared, admit_all};
use super::stream::CLOSED;
use crate::packet::PACKET_BYTES_MAX;
use crate::service::pass::Claim;
use crate::value::ids::PeerId;
use crate::value::time::Duration;

/// What happened on a server's connections.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SealedEvent {
    /// A client has connected and greets. Answer with [`SealedServer::accept`] or [`SealedServer::refuse`] within the greeting's timeout.
    Greeting {
        /// The number of the connection. It is not used again, nor by a later connection of the same client.
        peer: PeerId,
        /// Where it comes from, at first: connections survive a change of address.
        address: SocketAddr,
        /// What the client says, at most [`GREETING_BYTES_MAX`](super::GREETING_BYTES_MAX) bytes. Whoever knows the server's address can send it.
        bytes: Vec<u8>,
    },
    /// A packet of an accepted connection, at most [`PACKET_BYTES_MAX`] bytes.
    Packet {
        /// The connection.
        peer: PeerId,
        /// The packet.
        bytes: Vec<u8>,
    },
    /// A connection is gone: closed by the client, or silent for too long. Connections that the server itself has closed or refused are not reported.
    Closed {
        /// The connection.
        peer: PeerId,
    },
}

/// Counters of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SealedStats {
    /// Connections now, those included that have not been accepted yet.
    pub connections: u32,
    /// Connections that have not been accepted yet.
    pub pending: u32,
    /// Handshakes from addresses that had to prove themselves first.
    pub retried: u64,
    /// Handshakes that were left unanswered because too many others were not accepted yet. Clients ask again.
    pub ignored: u64,
    /// Handshakes that were refused because a limit of connections is reached.
    pub refused: u64,
    /// Connections that ended before a greeting had come, or gave way to those of other addresses, or without an answer to it in time, or while 4,096 events
    /// waited.
    pub failed: u64,
    /// Greetings passed on.
    pub greetings: u64,
    /// Packets received and passed on, or dropped with the next counter.
    pub packets_received: u64,
    /// Packets received and dropped: too many waited, or they were longer than a packet can be.
    pub receive_dropped: u64,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets that could not be sent: the peer is unknown or not accepted, the connection is gone, or the packet is too long.
    pub send_dropped: u64,
}

/// A UDP port that takes sealed connections. See [the module](super).
///
/// Dropping it sends what has just been queued, closes all connections and waits for its thread, at most a quarter of a second.
#[derive(Debug)]
pub struct SealedServer {
    peers: IndexMap<PeerId, Peer>,
    shared: Arc<Shared>,
    endpoint: Endpoint,
    config: SealedConfig,
    address: SocketAddr,
    certificate_hash: [u8; 32],
    /// From then on it is valid.
    certificate_start: SystemTime,
    packets_sent: u64,
    send_dropped: u64,
    /// A lot that is being made.
    lot: Vec<Outgoing>,
    // Last, so that connections still have their thread when they are dropped.
    background: Background,
}

/// A connection that has greeted. Dropping it closes the connection, because its task waits for a second decision.
#[derive(Debug)]
struct Peer {
    ticket: u64,
    datagrams: Datagrams,
    decision: mpsc::Sender<Decision>,
    is_accepted: bool,
}

impl SealedServer {
    /// Binds to a local address and makes a certificate. Port 0 takes a free one; the address `[::]` takes connections of both versions of IP.
    ///
    /// The certificate is valid for 12 days from now. Nobody can connect afterwards, unless it is renewed; connections that exist go on.
    ///
    /// # Errors
    /// A setting out of range ([`ConfigError`](crate::ConfigError)), or an error of the operating system, such as a taken port.
    pub fn bind(address: SocketAddr, config: &SealedConfig) -> io::Result<Self> {
        Self::bind_off_by(address, config, 0)
    }

    /// As if the clock were so many days late, or early if negative, for tests.
    #[doc(hidden)]
    pub fn bind_off_by(address: SocketAddr, config: &SealedConfig, days: i32) -> io::Result<Self> {
        config.check()?;
        let off = core::time::Duration::from_secs(86_400 * u64::from(days.unsigned_abs()));
        let now = if days < 0 { SystemTime::now() + off } else { SystemTime::now() - off };
        let start = now - VALID_BEFORE;
        let (server, certificate_hash) = quic::server(config, start)?;
        let runtime = background::runtime()?;
        let endpoint = {
            let _inside = runtime.enter();
            quic::listen(address, server)?
        };
        let address = endpoint.local_addr()?;
        let shared = Arc::new(Shared {
            inbox: Inbox::new(),
            outbox: Outbox::default(),
            limits: Arc::new(ConnectionLimits::new(config)),
            greeting_timeout: std_time(config.greeting_timeout),
            next_peer: Mutex::new(0),
            retried: AtomicU64::new(0),
            ignored: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            greetings: AtomicU64::new(0),
            packets_received: AtomicU64::new(0),
            too_long: AtomicU64::new(0),
        });
        let (tasks, door) = (Arc::clone(&shared), endpoint.clone());
        let background = Background::run(runtime, |stop| async move {
            tokio::select! {
                () = admit_all(&door, &tasks) => {}
                () = tasks.outbox.run() => {}
                _ = stop => {}
            }
            tasks.outbox.send(&mut Vec::new());
            sleep(FLUSH).await;
            door.close(CLOSED.into(), b"");
            let _ = timeout(FAREWELL, door.wait_idle()).await;
        })?;
        Ok(Self {
            peers: IndexMap::new(),
            shared,
            endpoint,
            config: config.clone(),
            address,
            certificate_hash,
            certificate_start: start,
            packets_sent: 0,
            send_dropped: 0,
            lot: Vec::new(),
            background,
        })
    }

    /// Whether connections are still served. [`SealedRelay::round`](super::SealedRelay::round) asks this itself; ask it in each round of a
    /// [`SealedHost`](super::SealedHost).
    ///
    /// # Errors
    /// The system has taken the socket away, so all connections are lost and nobody comes any more. Bind another server.
    pub fn check(&self) -> io::Result<()> {
        if self.background.is_over() {
            Err(io::Error::other("the port is not served any more"))
        } else {
            Ok(())
        }
    }

    /// As if the system had taken the socket away, for tests.
    #[doc(hidden)]
    pub fn lose_socket(&self) {
        self.endpoint.close(CLOSED.into(), b"");
    }

    /// The local address of the socket.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// SHA-256 of the certificate. Clients need it from somewhere they trust, such as a [`JoinCode`](crate::service::code::JoinCode).
    #[must_use]
    pub fn certificate_hash(&self) -> [u8; 32] {
        self.certificate_hash
    }

    /// Whether this machine's clock says that the certificate is valid, and will be for an hour. It may not: the clock was wrong when the certificate was made,
    /// or the machine has slept. Then nobody new can connect until [`SealedServer::renew_certificate`].
    #[must_use]
    pub fn certificate_is_valid(&self) -> bool {
        is_valid(self.certificate_start, SystemTime::now())
    }

    /// Makes another certificate, with a new hash. Connections that exist go on; new ones find the new certificate, so older join codes lead
    /// nowhere from now on.
    ///
    /// # Errors
    /// The library cannot make one; the present one stays.
    pub fn renew_certificate(&mut self) -> io::Result<()> {
        let start = SystemTime::now() - VALID_BEFORE;
        let (server, certificate_hash) = quic::server(&self.config, start)?;
        self.endpoint.set_server_config(Some(server));
        (self.certificate_hash, self.certificate_start) = (certificate_hash, start);
        Ok(())
    }

    /// The next event, if there is one.
    pub fn poll(&mut self) -> Option<SealedEvent> {
        loop {
            match self.shared.inbox.pop()? {
                Item::Other(Other::Greeting { peer, ticket, address, bytes, datagrams, decision }) => {
                    self.peers.insert(peer, Peer { ticket, datagrams, decision, is_accepted: false });
                    return Some(SealedEvent::Greeting { peer, address, bytes });
                }
                // What comes from connections that the application has closed is of no use to it.
                Item::Packet(peer, bytes) if self.peers.contains_key(&peer) => {
                    return Some(SealedEvent::Packet { peer, bytes });
                }
                Item::Other(Other::Closed(peer)) if self.peers.swap_remove(&peer).is_some() => {
                    return Some(SealedEvent::Closed { peer });
                }
                Item::Packet(..) | Item::Other(Other::Closed(_)) => {}
            }
        }
    }

    /// Waits until there is an event, or the time is up.
    pub fn wait(&self, time: Duration) {
        self.shared.inbox.wait(time);
    }

    /// Lets a peer in that has greeted, with an answer of at most [`ANSWER_BYTES_MAX`] bytes. Packets flow from now
    /// on; the client reports none before the answer. Ignored for other peers. For a peer that does not play there is [`SealedServer::accept_watcher`].
    pub fn accept(&mut self, peer: PeerId, answer: &[u8]) {
        self.let_in(peer, answer, true);
    }

    /// Like [`SealedServer::accept`], for a peer that only watches. Codes to watch are public: whoever has come with one waits with strangers the next time,
    /// and does not take the room of a player who may be on the way back.
    pub fn accept_watcher(&mut self, peer: PeerId, answer: &[u8]) {
        self.let_in(peer, answer, false);
    }

    /// Makes room for so many accepted connections at least.
    pub(super) fn make_room(&self, connections: u32) {
        self.shared.limits.make_room(connections);
    }

    /// Whether a peer that has greeted will find room.
    pub(super) fn has_room(&self, peer: PeerId, claim: Claim) -> bool {
        let Some(ticket) = self.peers.get(&peer).map(|peer| peer.ticket) else { return false };
        let (plays, former) = match claim {
            Claim::Taken { plays, by } => (plays, self.peers.get(&by).map(|former| former.ticket)),
            Claim::Player => (true, None),
            Claim::Other => (false, None),
        };
        self.shared.limits.has_room(ticket, plays, former, std::time::Instant::now())
    }

    /// Turns a peer away that has greeted, because there is no room. It is forgotten at once, and asks again.
    pub(super) fn turn_away(&mut self, peer: PeerId) {
        if let Some(peer) = self.peers.swap_remove(&peer) {
            let _ = peer.decision.try_send(Decision::TurnAway);
        }
    }

    pub(super) fn let_in(&mut self, peer: PeerId, answer: &[u8], plays: bool) {
        if let Some(peer) = self.peers.get_mut(&peer)
            && !peer.is_accepted
        {
            peer.is_accepted = true;
            self.shared.outbox.push(&mut vec![(peer.datagrams.clone(), peer.datagrams.plug())]);
            let has_room = self.shared.limits.accept(peer.ticket, plays, std::time::Instant::now());
            let decision = if has_room { Decision::Accept(cut(answer)) } else { Decision::TurnAway };
            // The channel has room for the one decision; if it is closed, so is the connection, and that is reported.
            let _ = peer.decision.try_send(decision);
        }
    }

    /// Turns a peer away, with an answer of at most [`ANSWER_BYTES_MAX`] bytes. It is forgotten at once. A peer that was accepted is closed.
    pub fn refuse(&mut self, peer: PeerId, answer: &[u8]) {
        if let Some(peer) = self.peers.swap_remove(&peer)
            && !peer.is_accepted
        {
            let _ = peer.decision.try_send(Decision::Refuse(cut(answer)));
        }
    }

    /// Sends a packet to an accepted peer, in one datagram and at once. It may be lost on the way, as with UDP. What cannot be sent is counted.
    /// An empty packet, and one of a single zero byte, is not delivered.
    pub fn send(&mut self, peer: PeerId, packet: &[u8]) {
        self.batch().send(peer, packet);
    }

    /// For many packets that are to be sent at once: this is cheaper than one by one. They leave when the batch is dropped.
    pub fn batch(&mut self) -> SealedBatch<'_> {
        SealedBatch { server: self }
    }

    /// Closes a connection. What was sent just before still leaves. Nothing more is reported about the peer.
    pub fn close(&mut self, peer: PeerId) {
        self.peers.swap_remove(&peer);
    }

    /// As [`SealedServer::close`], because somebody else has come with the same secret. The client reads
    /// [`LostReason::Displaced`](super::LostReason::Displaced), and should not come back by itself: two programs with one secret would take
    /// the place from each other for ever.
    pub fn displace(&mut self, peer: PeerId) {
        if let Some(peer) = self.peers.swap_remove(&peer) {
            // At once: whoever has displaced it may be accepted before its task hears of this.
            self.shared.limits.free(peer.ticket, std::time::Instant::now());
            // Without room for it, the connection is only closed.
            let _ = peer.decision.try_send(Decision::Displace);
        }
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> SealedStats {
        let shared = &self.shared;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (connections, pending) = shared.limits.size();
        SealedStats {
            connections,
            pending,
            retried: read(&shared.retried),
            ignored: read(&shared.ignored),
            refused: read(&shared.refused),
            failed: read(&shared.failed),
            greetings: read(&shared.greetings),
            packets_received: read(&shared.packets_received),
            receive_dropped: shared.inbox.dropped() + read(&shared.too_long),
            packets_sent: self.packets_sent,
            send_dropped: self.send_dropped + shared.outbox.dropped(),
        }
    }
}

/// Packets that leave together. See [`SealedServer::batch`].
#[derive(Debug)]
pub struct SealedBatch<'a> {
    server: &'a mut SealedServer,
}

impl SealedBatch<'_> {
    /// As [`SealedServer::send`].
    pub fn send(&mut self, peer: PeerId, packet: &[u8]) {
        let server = &mut *self.server;
        match server.peers.get(&peer) {
            Some(peer) if peer.is_accepted && packet.len() <= PACKET_BYTES_MAX => {
                server.packets_sent += 1;
                server.lot.push((peer.datagrams.clone(), peer.datagrams.wrap(packet)));
            }
            _ => server.send_dropped += 1,
        }
    }
}

impl Drop for SealedBatch<'_> {
    fn drop(&mut self) {
        self.server.shared.outbox.push(&mut self.server.lot);
    }
}

fn cut(answer: &[u8]) -> Vec<u8> {
    answer[..answer.len().min(ANSWER_BYTES_MAX + 1)].to_vec()
}
