//! A match over sealed connections: a host who plays, and guests. Its state remembers every action in the order in which it ran.

use testudo_lockstep::transport::sealed::{
    ClientEvent, LostReason, SealedClient, SealedConfig, SealedEvent, SealedServer,
};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Instant, PeerId, PlayerId, Session, SessionConfig,
    Simulation,
};

/// A number that goes into the state.
pub struct Add(pub u32);

impl Action for Add {
    const MAX_BITS: u32 = 32;
    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(u64::from(self.0), 32);
    }
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_bits(32)? as u32))
    }
}

/// A hash of everything that has happened, and ballast that makes the state large.
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
        self.hash = mix(self.hash, u64::from(action.0) ^ u64::from(player.0) << 40);
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
    Add(mix(u64::from(turn) + 1, u64::from(player)) as u32)
}

/// The secret of a player's place.
pub fn secret(player: u8) -> [u8; 16] {
    [player ^ 0xa5; 16]
}

/// Player 0, who is the server for the others.
pub struct Host {
    /// The edge.
    pub server: SealedServer,
    /// The match.
    pub driver: Driver<History>,
    /// Connections that have been let in.
    pub accepted: u32,
    /// Connections that were lost.
    pub closed: u32,
}

/// Another player, or one who watches.
pub struct Guest {
    /// The edge.
    pub client: SealedClient,
    /// The match.
    pub driver: Driver<History>,
    /// The host's answer, once it has accepted.
    pub answer: Option<Vec<u8>>,
    /// Why the connection is lost.
    pub lost: Option<LostReason>,
}

impl Host {
    /// A host on a free port.
    pub fn new(config: &SessionConfig, sealed: &SealedConfig, now: Instant) -> Self {
        let address = "127.0.0.1:0".parse().expect("an address");
        let server = SealedServer::bind(address, sealed).expect("a free port");
        let session = Session::host(config.clone(), now).expect("a valid config");
        Self { server, driver: Driver::new(History::default(), session), accepted: 0, closed: 0 }
    }

    /// Moves packets and runs what is due.
    pub fn run(&mut self, now: Instant) {
        while let Some(event) = self.server.poll() {
            match event {
                SealedEvent::Greeting { peer, bytes, .. } => {
                    if (0..16).any(|player| bytes == secret(player)) {
                        self.accepted += 1;
                        self.server.accept(peer, b"welcome");
                    } else {
                        self.server.refuse(peer, b"wrong secret");
                    }
                }
                SealedEvent::Packet { peer, bytes } => {
                    self.driver.session_mut().handle_packet(now, peer, &bytes)
                }
                SealedEvent::Closed { .. } => self.closed += 1,
                _ => {}
            }
        }
        advance(&mut self.driver, now, |peer, packet| self.server.send(peer, packet));
    }
}

impl Guest {
    /// A guest with the secret of a player.
    pub fn new(client: SealedClient, config: &SessionConfig, player: u8, now: Instant) -> Self {
        let session =
            Session::join(config.clone(), PlayerId(player), PeerId(0), now).expect("a valid config");
        Self { client, driver: Driver::new(History::default(), session), answer: None, lost: None }
    }

    /// Moves packets and runs what is due.
    pub fn run(&mut self, now: Instant) {
        while let Some(event) = self.client.poll() {
            match event {
                ClientEvent::Accepted(answer) => self.answer = Some(answer),
                ClientEvent::Packet(bytes) => self.driver.session_mut().handle_packet(now, PeerId(0), &bytes),
                ClientEvent::Refused(answer) => panic!("refused: {}", String::from_utf8_lossy(&answer)),
                ClientEvent::Lost(reason) => self.lost = Some(reason),
                _ => {}
            }
        }
        advance(&mut self.driver, now, |_, packet| self.client.send(packet));
    }
}

/// Runs the turns that are due, and sends.
pub fn advance(driver: &mut Driver<History>, now: Instant, mut send: impl FnMut(PeerId, &[u8])) {
    driver.session_mut().handle_timeout(now);
    driver.advance_with(now, |turn, _, session| {
        if let Some(player) = session.player() {
            // Refused only where the match ends before it would run.
            let _ = session.submit(&bot(turn.0, player.0));
        }
    });
    let mut packet = Vec::new();
    while let Some(peer) = driver.session_mut().poll_transmit(now, &mut packet) {
        send(peer, &packet);
    }
}
