//! A toy game whose state remembers every action in the order in which it ran: two peers agree on the checksum only if every action
//! ran exactly once, in the same turn, in the same order.

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Identity, Instant, PeerId, PlayerId,
    PlayerKey, Session, SessionConfig, Simulation, SubmitError, Topology, VirtualMatch,
};

/// Move something by a signed amount, or shout a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Push(i16),
    Shout(u32),
}

impl Action for Order {
    const MAX_BITS: u32 = 33;

    fn encode(&self, out: &mut BitWriter) {
        match *self {
            Self::Push(by) => {
                out.write_bits(0, 1);
                out.write_bits(u64::from(by as u16), 16);
            }
            Self::Shout(number) => {
                out.write_bits(1, 1);
                out.write_bits(u64::from(number), 32);
            }
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(if input.read_bool()? {
            Self::Shout(input.read_bits(32)? as u32)
        } else {
            Self::Push(input.read_bits(16)? as u16 as i16)
        })
    }
}

/// Keys that are held, as so many bits: for input mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Keys<const BITS: u32>(pub(crate) u8);

impl<const BITS: u32> Action for Keys<BITS> {
    const MAX_BITS: u32 = BITS;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.into(), BITS);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_bits(BITS)? as u8))
    }
}

/// What a copy has run, and what it was told of the players.
type Course<'a> = (&'a [(u32, u8, Order)], u64, u32, [&'a [(u8, u32)]; 4], &'a [(u32, u8)]);

/// State: a value per player, a hash of history, and (not hashed) the full log of actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toy {
    pub(crate) frames: u32,
    pub(crate) values: [i64; 16],
    pub(crate) history: u64,
    pub(crate) log: Vec<(u32, u8, Order)>,
    pub(crate) gone: Vec<(u8, u32)>,
    pub(crate) surrendered: Vec<(u8, u32)>,
    /// Players who were taken over by a bot, with the first turn of each.
    pub(crate) bots: Vec<(u8, u32)>,
    /// Turns in which bots played, with their players.
    pub(crate) played: Vec<(u32, u8)>,
    /// The frame after which the match is decided, and how.
    pub(crate) decided: Option<(u32, u32)>,
    /// Frame after which one bit of the state flips: a fault injected by a test.
    pub(crate) corrupt_at: Option<u32>,
    /// Players who are back, with the first turn of each.
    pub(crate) returned: Vec<(u8, u32)>,
    /// Frames of the states that were loaded.
    pub(crate) loaded: Vec<u32>,
    /// Number of padding bytes when the state is sent to a peer.
    pub(crate) ballast: usize,
    /// Whether the state can be sent to a peer, and which of its bits are then wrong.
    pub(crate) gives_state: bool,
    pub(crate) lie: Option<u8>,
    /// Whether a prediction guesses what others order, half of the time rightly.
    pub(crate) guesses: bool,
    /// The latest save point: its turn and the state then.
    pub(crate) saved: Option<(u32, Box<Toy>)>,
}

fn mix(state: u64, value: u64) -> u64 {
    (state ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

impl Toy {
    /// [`Simulation::checksum`] of a toy that is only looked at.
    pub(crate) fn checksum(&self) -> u64 {
        let start = mix(self.history, u64::from(self.frames));
        self.values.iter().fold(start, |sum, &value| mix(sum, value as u64))
    }

    pub(crate) fn course(&self) -> Course<'_> {
        let players = [&self.gone, &self.surrendered, &self.bots, &self.returned];
        (&self.log, self.history, self.frames, players.map(Vec::as_slice), &self.played)
    }
}

impl Simulation for Toy {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, action: &Order) {
        self.log.push((self.frames, player.0, *action));
        let value = match *action {
            Order::Push(by) => {
                self.values[player.index()] += i64::from(by);
                u64::from(by as u16)
            }
            Order::Shout(number) => (1 << 40) + u64::from(number),
        };
        self.history = mix(self.history, value ^ (u64::from(player.0) << 50));
    }

    fn step(&mut self, frames_per_second: u32) {
        assert!(frames_per_second > 0);
        self.frames += 1;
        for value in &mut self.values {
            *value -= value.signum();
        }
        if self.corrupt_at == Some(self.frames) {
            self.values[0] ^= 1 << 20;
        }
    }

    fn checksum(&mut self) -> u64 {
        Self::checksum(self)
    }

    fn save_point(&mut self, turn: testudo_lockstep::Turn) {
        self.saved = Some((turn.0, Box::new(Self { saved: None, ..self.clone() })));
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.frames.to_le_bytes());
        out.extend_from_slice(&self.history.to_le_bytes());
        self.values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        out.resize(out.len() + self.ballast, 7);
        if let Some(lie) = self.lie {
            out[4] ^= lie;
        }
        self.gives_state
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let Some((head, rest)) = bytes.split_first_chunk::<4>() else { return false };
        let numbers: Vec<[u8; 8]> =
            rest.chunks_exact(8).take(17).filter_map(|chunk| chunk.try_into().ok()).collect();
        let [history, values @ ..] = &numbers[..] else { return false };
        if values.len() != 16 {
            return false;
        }
        self.frames = u32::from_le_bytes(*head);
        self.history = u64::from_le_bytes(*history);
        for (value, bytes) in self.values.iter_mut().zip(values) {
            *value = i64::from_le_bytes(*bytes);
        }
        self.loaded.push(self.frames);
        true
    }

    fn player_returned(&mut self, player: PlayerId, turn: testudo_lockstep::Turn) {
        self.returned.push((player.0, turn.0));
        self.history = mix(self.history, 399 + u64::from(player.0));
    }

    fn player_gone(&mut self, player: PlayerId, turn: testudo_lockstep::Turn) {
        self.gone.push((player.0, turn.0));
        self.history = mix(self.history, 99 + u64::from(player.0));
    }

    fn player_surrendered(&mut self, player: PlayerId, turn: testudo_lockstep::Turn) {
        self.surrendered.push((player.0, turn.0));
        self.history = mix(self.history, 199 + u64::from(player.0));
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: testudo_lockstep::Turn) {
        self.bots.push((player.0, turn.0));
        self.history = mix(self.history, 299 + u64::from(player.0));
    }

    fn play_for(&mut self, player: PlayerId, turn: testudo_lockstep::Turn) {
        self.played.push((turn.0, player.0));
        if let Some(order) = bot(self.history, turn.0, player.0) {
            self.apply(player, &order);
        }
    }

    fn result(&self) -> Option<u32> {
        self.decided.filter(|(frame, _)| self.frames >= *frame).map(|(_, value)| value)
    }
}

/// A network as bad as `headless` is asked to survive, and worse.
pub(crate) fn terrible() -> LinkConfig {
    LinkConfig::new()
        .latency(Duration::from_millis(150))
        .jitter(Duration::from_millis(60))
        .loss_ppm(200_000)
        .duplicate_ppm(50_000)
        .reorder_ppm(100_000)
        .reorder_hold(Duration::from_millis(80))
        .corrupt_ppm(10_000)
}

/// A network whose links are all alike.
pub(crate) fn network(seed: u64, link: LinkConfig) -> SimNet {
    let mut net = SimNet::new(seed);
    net.set_default(link);
    net
}

/// A network that only takes its time.
pub(crate) fn latency(ms: u64) -> LinkConfig {
    LinkConfig::new().latency(Duration::from_millis(ms))
}

/// All peers of a match with their links opened; node number = player number, then the relay, then watchers.
pub(crate) fn toy_match(
    config: &SessionConfig,
    watchers: u32,
    seed: u64,
    link: LinkConfig,
) -> VirtualMatch<Toy> {
    toy_match_from(config, &Toy::default(), watchers, seed, link)
}

/// As [`toy_match`], with a simulation that has been going on.
pub(crate) fn toy_match_from(
    config: &SessionConfig,
    toy: &Toy,
    watchers: u32,
    seed: u64,
    link: LinkConfig,
) -> VirtualMatch<Toy> {
    game_match(config, toy, watchers, seed, link)
}

/// As [`toy_match`], with any game.
pub(crate) fn game_match<S: Simulation + Clone>(
    config: &SessionConfig,
    game: &S,
    watchers: u32,
    seed: u64,
    link: LinkConfig,
) -> VirtualMatch<S> {
    let players = (0..config.players).map(|player| Identity::Player(PlayerId(player)));
    let relay = (config.topology == Topology::Relay).then_some(Identity::Relay);
    let watchers = (0..watchers).map(|_| Identity::Watcher);
    let peers = players.chain(relay).chain(watchers);
    let drivers = peers.map(|identity| peer(config, identity, game.clone(), Instant::ZERO));
    VirtualMatch::new(drivers.collect(), network(seed, link))
}

/// A peer that starts now, with its key if the match is signed. It opens its links: to the middle of a star, or to the lower players of a mesh.
pub(crate) fn peer<S: Simulation>(
    config: &SessionConfig,
    identity: Identity,
    game: S,
    now: Instant,
) -> Driver<S> {
    let own = match identity {
        Identity::Player(player) if config.signed => config.clone().player_key(key_of(player.0)),
        _ => config.clone(),
    };
    let middle = middle_of(config);
    let dials = match (config.topology, identity) {
        (Topology::Mesh, Identity::Player(player)) => 0..player.0.into(),
        (_, Identity::Relay) | (Topology::Host, Identity::Player(PlayerId(0))) => 0..0,
        _ => middle..middle + 1,
    };
    let mut session = Session::new(own, identity, now).unwrap();
    dials.for_each(|peer| session.connect(PeerId(peer)));
    Driver::new(game, session)
}

/// The key of a player in a match that is signed.
pub(crate) fn key_of(player: u8) -> PlayerKey {
    PlayerKey::from_secret([player + 1; 32])
}

/// The node in the middle of a star.
pub(crate) fn middle_of(config: &SessionConfig) -> u32 {
    if config.topology == Topology::Relay { u32::from(config.players) } else { 0 }
}

/// A bot's order: a pure function of seed, turn and player.
pub(crate) fn bot(seed: u64, turn: u32, player: u8) -> Option<Order> {
    let draw = mix(mix(seed, u64::from(turn) + 1), u64::from(player) + 77);
    match draw % 5 {
        0 => None,
        1 => Some(Order::Shout((draw >> 32) as u32)),
        _ => Some(Order::Push((draw >> 40) as u16 as i16)),
    }
}

/// Gives an action that must be accepted, unless the match ends before it could run.
pub(crate) fn give<A: Action>(session: &mut Session<A>, action: &A) {
    match session.submit(action) {
        Ok(()) => {}
        Err(SubmitError::TooLate { last_turn }) => {
            assert!(session.next_turn().0 + session.config().turns_ahead > last_turn.0);
        }
        Err(error) => panic!("{error}"),
    }
}
