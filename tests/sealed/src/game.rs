//! A match of a host who plays, guests and watchers, over sealed connections or plain UDP. Its state remembers every action in the order
//! in which it ran.
#![expect(clippy::disallowed_types, reason = "sockets are what is tested here")]

use std::net::SocketAddr;

use testudo_lockstep::transport::sealed::{
    ClientEvent, LostReason, SealedClient, SealedConfig, SealedEvent, SealedServer,
};
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Event, Identity, Instant, PeerId, PlayerId,
    Session, SessionConfig, Simulation,
};

/// A number that goes into the state.
pub struct Add(pub u8);

impl Action for Add {
    const MAX_BITS: u32 = 8;
    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(u64::from(self.0), 8);
    }
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_bits(8)? as u8))
    }
}

/// A hash of everything that has happened.
#[derive(Clone, Default)]
pub struct History {
    frames: u32,
    hash: u64,
    /// Bytes that the state is longer when it is sent.
    pub ballast: usize,
}

impl History {
    /// The state in one number.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.hash
    }
}

fn mix(state: u64, value: u64) -> u64 {
    (state ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

impl Simulation for History {
    type Action = Add;

    fn apply(&mut self, player: PlayerId, action: &Add) {
        self.hash = mix(self.hash, u64::from(action.0) ^ (u64::from(player.0) << 40));
    }

    fn step(&mut self, _frames_per_second: u32) {
        self.frames += 1;
        self.hash = mix(self.hash, u64::from(self.frames));
    }

    fn checksum(&mut self) -> u64 {
        self.hash
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.frames.to_le_bytes());
        out.extend_from_slice(&self.hash.to_le_bytes());
        let mut filler = self.hash;
        out.extend((0..self.ballast).map(|_| {
            filler = mix(filler, 1);
            filler as u8
        }));
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let Some((frames, rest)) = bytes.split_first_chunk() else { return false };
        let Some((hash, _)) = rest.split_first_chunk() else { return false };
        self.frames = u32::from_le_bytes(*frames);
        self.hash = u64::from_le_bytes(*hash);
        true
    }
}

/// What a player does in a turn: a pure function of both.
pub fn bot(turn: u32, player: u8) -> Add {
    Add(mix(u64::from(turn) + 1, u64::from(player)) as u8)
}

/// The secret of a place: of a player, or of the watchers.
pub fn secret(identity: Identity) -> [u8; 16] {
    match identity {
        Identity::Player(player) => [player.0 ^ 0xa5; 16],
        _ => [0x5a; 16],
    }
}

/// When turns began, and how much too late.
#[derive(Default)]
pub struct Watch {
    turns: u64,
    waiting_since: Option<Instant>,
    /// For each turn its length and how long it was waited for, in ms.
    pub turns_ms: Vec<(u64, u64)>,
}

impl Watch {
    fn note(&mut self, driver: &Driver<History>, is_stalled: bool, now: Instant) {
        let turns = driver.session().stats().turns_begun;
        if turns > self.turns {
            let plan = driver.session().plan();
            let length = u64::from(plan.frames_per_turn) * 1_000_000 / u64::from(plan.pace_millihertz);
            // Only the first of several turns can have been waited for.
            let late = self.waiting_since.take().map_or(0, |since| now.since(since).as_millis());
            self.turns_ms.push((length, late));
            self.turns_ms.extend((self.turns + 1..turns).map(|_| (length, 0)));
            self.turns = turns;
        }
        if is_stalled && self.waiting_since.is_none() {
            self.waiting_since = Some(now);
        }
    }
}

/// Player 0, who is the server for the others.
pub struct Host {
    /// The edge.
    pub edge: HostEdge,
    /// The match.
    pub driver: Driver<History>,
    /// Its turns.
    pub watch: Watch,
    /// Connections that have been let in.
    pub accepted: u32,
    /// Greetings with a wrong secret.
    pub refused: u32,
    /// Connections that were lost.
    pub closed: u32,
}

/// What the host listens with.
pub enum HostEdge {
    /// Sealed.
    Sealed(Box<SealedServer>),
    /// Plain UDP.
    Plain(Box<UdpTransport>),
}

/// Another player, or a watcher.
pub struct Guest {
    /// The edge.
    pub edge: GuestEdge,
    /// The match.
    pub driver: Driver<History>,
    /// Its turns.
    pub watch: Watch,
    /// The host has let this guest in.
    pub accepted: bool,
    /// Why the connection is lost.
    pub lost: Option<LostReason>,
}

/// What a guest connects with.
pub enum GuestEdge {
    /// Sealed.
    Sealed(SealedClient),
    /// Plain UDP.
    Plain(UdpTransport),
}

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

impl Host {
    /// A host on a free port, sealed.
    ///
    /// # Panics
    /// If there is no port, or the config is not valid.
    pub fn sealed(config: &SessionConfig, sealed: &SealedConfig, now: Instant) -> Self {
        Self::sealed_at(loopback(), config, sealed, now)
    }

    /// Likewise, at this address.
    ///
    /// # Panics
    /// If it is taken, or the config is not valid.
    pub fn sealed_at(at: SocketAddr, config: &SessionConfig, sealed: &SealedConfig, now: Instant) -> Self {
        let server = SealedServer::bind(at, sealed).expect("a free port");
        Self::new(HostEdge::Sealed(Box::new(server)), config, now)
    }

    /// A host on a free port, plain.
    ///
    /// # Panics
    /// If there is no port, or the config is not valid.
    pub fn plain(config: &SessionConfig, now: Instant) -> Self {
        Self::new(
            HostEdge::Plain(Box::new(UdpTransport::bind(loopback()).expect("a free port"))),
            config,
            now,
        )
    }

    fn new(edge: HostEdge, config: &SessionConfig, now: Instant) -> Self {
        let session = Session::host(config.clone(), now).expect("a valid config");
        let driver = Driver::new(History::default(), session);
        Self { edge, driver, watch: Watch::default(), accepted: 0, refused: 0, closed: 0 }
    }

    /// Where the host listens.
    ///
    /// # Panics
    /// If the socket is broken.
    pub fn address(&self) -> SocketAddr {
        match &self.edge {
            HostEdge::Sealed(server) => server.local_address(),
            HostEdge::Plain(udp) => udp.local_address().expect("a bound socket"),
        }
    }

    /// The sealed server.
    ///
    /// # Panics
    /// If the host is plain.
    pub fn server(&mut self) -> &mut SealedServer {
        match &mut self.edge {
            HostEdge::Sealed(server) => server,
            HostEdge::Plain(_) => panic!("the host is plain"),
        }
    }

    /// Waits for a packet, at most so long. A plain socket does not tell when one comes.
    pub fn wait(&self, time: Duration) {
        match &self.edge {
            HostEdge::Sealed(server) => server.wait(time),
            HostEdge::Plain(_) => {
                std::thread::park_timeout(std::time::Duration::from_micros(time.as_micros()))
            }
        }
    }

    /// Moves packets and runs what is due.
    ///
    /// # Panics
    /// On a desync, or if a socket breaks.
    pub fn run(&mut self, now: Instant) {
        let (accepted, refused, closed) = (&mut self.accepted, &mut self.refused, &mut self.closed);
        match &mut self.edge {
            HostEdge::Sealed(server) => {
                while let Some(event) = server.poll() {
                    match event {
                        SealedEvent::Greeting { peer, bytes, .. } if opens_a_place(&bytes) => {
                            *accepted += 1;
                            server.accept(peer, b"welcome");
                        }
                        SealedEvent::Greeting { peer, .. } => {
                            *refused += 1;
                            server.refuse(peer, b"wrong secret");
                        }
                        SealedEvent::Packet { peer, bytes } => {
                            self.driver.session_mut().handle_packet(now, peer, &bytes);
                        }
                        SealedEvent::Closed { .. } => *closed += 1,
                        _ => {}
                    }
                }
                advance(&mut self.driver, &mut self.watch, now);
                let mut packet = Vec::new();
                while let Some(peer) = self.driver.session_mut().poll_transmit(now, &mut packet) {
                    server.send(peer, &packet);
                }
            }
            HostEdge::Plain(udp) => {
                udp.pump(self.driver.session_mut(), now).expect("a working socket");
                advance(&mut self.driver, &mut self.watch, now);
                udp.pump(self.driver.session_mut(), now).expect("a working socket");
            }
        }
    }

    /// A guest of this host, by way of an address that may be a proxy's.
    ///
    /// # Panics
    /// If there is no port, or the config is not valid.
    pub fn guest(
        &self,
        way: SocketAddr,
        identity: Identity,
        config: &SessionConfig,
        sealed: &SealedConfig,
        now: Instant,
    ) -> Guest {
        let (edge, host) = match &self.edge {
            HostEdge::Sealed(server) => {
                let hash = server.certificate_hash();
                let client = SealedClient::connect(&[way], hash, &secret(identity), sealed);
                (GuestEdge::Sealed(client.expect("a thread")), PeerId(0))
            }
            HostEdge::Plain(_) => {
                let mut udp = UdpTransport::bind(loopback()).expect("a free port");
                let host = udp.add_peer(way);
                (GuestEdge::Plain(udp), host)
            }
        };
        let accepted = matches!(edge, GuestEdge::Plain(_));
        let mut session = Session::new(config.clone(), identity, now).expect("a valid config");
        session.connect(host);
        let driver = Driver::new(History::default(), session);
        Guest { edge, driver, watch: Watch::default(), accepted, lost: None }
    }
}

fn opens_a_place(greeting: &[u8]) -> bool {
    let players = (0..16).map(|player| Identity::Player(PlayerId(player)));
    players.chain([Identity::Watcher]).any(|identity| greeting == secret(identity))
}

impl Guest {
    /// Moves packets and runs what is due.
    ///
    /// # Panics
    /// If the host refuses, on a desync, or if a socket breaks.
    pub fn run(&mut self, now: Instant) {
        match &mut self.edge {
            GuestEdge::Sealed(client) => {
                while let Some(event) = client.poll() {
                    match event {
                        ClientEvent::Accepted(_) => self.accepted = true,
                        ClientEvent::Packet(bytes) => {
                            self.driver.session_mut().handle_packet(now, PeerId(0), &bytes)
                        }
                        ClientEvent::Refused(answer) => {
                            panic!("refused: {}", String::from_utf8_lossy(&answer))
                        }
                        ClientEvent::Lost(reason) => self.lost = Some(reason),
                        _ => {}
                    }
                }
                advance(&mut self.driver, &mut self.watch, now);
                let mut packet = Vec::new();
                while self.driver.session_mut().poll_transmit(now, &mut packet).is_some() {
                    client.send(&packet);
                }
            }
            GuestEdge::Plain(udp) => {
                udp.pump(self.driver.session_mut(), now).expect("a working socket");
                advance(&mut self.driver, &mut self.watch, now);
                udp.pump(self.driver.session_mut(), now).expect("a working socket");
            }
        }
    }
}

/// Runs the turns that are due.
fn advance(driver: &mut Driver<History>, watch: &mut Watch, now: Instant) {
    driver.session_mut().handle_timeout(now);
    let is_input = driver.session().config().input_mode;
    let advance = driver.advance_with(now, |turn, _, session| {
        if let Some(player) = session.player() {
            // Refused only where the match ends before it would run.
            // Keys are held for a third of a second.
            let turn = if is_input { turn.0 / 20 } else { turn.0 };
            let _ = session.submit(&bot(turn, player.0));
        }
    });
    watch.note(driver, advance.stalled, now);
    while let Some(event) = driver.session_mut().poll_event() {
        assert!(!matches!(event, Event::Desync(_)), "{event:?}");
    }
}
