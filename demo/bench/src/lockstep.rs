//! The cost of lockstep besides the simulation: a turn among sixteen players, a packet, and the speed of a soak.

use serde::Serialize;
use testudo_lockstep::packet::{Packet, PayloadFormat, Segment, TurnsPacket};
use testudo_lockstep::transport::memory::MemoryHub;
use testudo_lockstep::{
    Action, BitWriter, Driver, Duration, Entry, Extra, Instant, Payload, PeerId, PlayerId, Session,
    SessionConfig, Simulation, Topology,
};

use super::quality::quantile;
use testudo_lockstep::testing::soak::{Plan, SoakReport};

use testudo_battle::{Command, Order, OrderPoint, Point, Selection};
use testudo_render::clock::{Clock, ThreadClock};

/// What was measured. The names of the fields are the keys of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct LockstepResult {
    pub players: u8,
    pub turns: u32,
    /// One turn of 200 ms at the middle of the star, which forwards for everybody: packets in and out, gate, order; median, microseconds.
    pub turn_host_us: f64,
    /// The same at the other players; their mean.
    pub turn_client_us: f64,
    /// The same at a peer of a full mesh.
    pub turn_mesh_us: f64,
    /// A packet of three turns of sixteen players, orders and checksums included.
    pub packet_bytes: usize,
    pub packet_encode_ns: f64,
    /// With all checks.
    pub packet_decode_ns: f64,
    /// Virtual time of four-player stars over processor time, everything included.
    pub soak_times_real_time: f64,
    pub soak_games: u32,
}

const PLAYERS: u8 = 16;
const TURNS: u32 = 300;

/// Time between two rounds of a peer's loop: a game that draws 100 frames per second.
const ROUND: Duration = Duration::from_millis(10);

/// Rounds in a turn of the default settings.
const ROUNDS_PER_TURN: usize = 20;

const SOAK_GAMES: u32 = 20;

/// Repetitions for one measurement of a packet.
const PACKETS: u32 = 2_000;
const REPEATS: usize = 15;

/// A simulation that costs nothing, so that only the cost of lockstep remains.
#[derive(Default)]
struct Nothing {
    orders: u64,
}

impl Simulation for Nothing {
    type Action = Order;

    fn apply(&mut self, _: PlayerId, _: &Order) {
        self.orders += 1;
    }

    fn step(&mut self, _: u32) {}

    fn checksum(&mut self) -> u64 {
        self.orders
    }
}

/// Runs all measurements. `play` plays a game of a soak.
pub fn run(play: impl Fn(&Plan) -> SoakReport) -> LockstepResult {
    let star = turn_costs(Topology::Host);
    let mesh = turn_costs(Topology::Mesh);
    let (packet_bytes, packet_encode_ns, packet_decode_ns) = packet_costs();
    let clients = &star[1..];
    LockstepResult {
        players: PLAYERS,
        turns: TURNS,
        turn_host_us: star[0],
        turn_client_us: clients.iter().sum::<f64>() / clients.len() as f64,
        turn_mesh_us: mesh.iter().sum::<f64>() / mesh.len() as f64,
        packet_bytes,
        packet_encode_ns,
        packet_decode_ns,
        soak_times_real_time: soak_speed(play),
        soak_games: SOAK_GAMES,
    }
}

fn order(turn: u32, player: u8) -> Order {
    let place = Point { x: (turn as i32 % 100) << 16, y: i32::from(player) << 16 };
    Order::new(Selection::Group(player % 10), Command::Attack(OrderPoint::near(place)))
}

/// Median microseconds of a turn, by peer. Every player gives an order in every turn.
fn turn_costs(topology: Topology) -> Vec<f64> {
    let start = Instant::ZERO;
    let config = SessionConfig::new(PLAYERS).simulated().turns(TURNS).topology(topology);
    let mut drivers: Vec<Driver<Nothing>> = (0..PLAYERS)
        .map(|player| {
            let identity = testudo_lockstep::Identity::Player(PlayerId(player));
            let session = Session::new(config.clone(), identity, start);
            let mut session = session.unwrap_or_else(|error| unreachable!("settings in range: {error}"));
            let dials = if topology == Topology::Mesh { player } else { player.min(1) };
            (0..dials).for_each(|other| session.connect(PeerId(u32::from(other))));
            Driver::new(Nothing::default(), session)
        })
        .collect();
    let mut hub = MemoryHub::new(u32::from(PLAYERS));
    let mut rounds = vec![Vec::new(); drivers.len()];
    let (mut now, mut packet, mut arrived) = (start, Vec::new(), Vec::new());
    while !drivers.iter().all(|driver| driver.session().is_over()) {
        for (index, driver) in drivers.iter_mut().enumerate() {
            arrived.extend(std::iter::from_fn(|| hub.receive(index as u32)));
            let clock = Clock::start();
            for (from, bytes) in &arrived {
                driver.session_mut().handle_packet(now, PeerId(*from), bytes);
            }
            driver.advance_with(now, |turn, _, session: &mut Session<Order>| {
                // Nothing runs after the last turn.
                let _ = session.submit(&order(turn.0, index as u8));
            });
            let mut nanos = clock.elapsed_nanos();
            loop {
                let clock = Clock::start();
                let to = driver.session_mut().poll_transmit(now, &mut packet);
                nanos += clock.elapsed_nanos();
                let Some(to) = to else { break };
                hub.send(index as u32, to.0, &packet);
            }
            rounds[index].push(f64::from(nanos) / 1e3);
            arrived.clear();
        }
        now += ROUND;
    }
    let per_turn = |rounds: &Vec<f64>| {
        let mut turns: Vec<f64> =
            rounds.chunks_exact(ROUNDS_PER_TURN).map(|turn| turn.iter().sum()).collect();
        quantile(&mut turns, 0.5)
    };
    rounds.iter().map(per_turn).collect()
}

/// Bytes, and nanoseconds for encoding and for decoding.
fn packet_costs() -> (usize, f64, f64) {
    let format = PayloadFormat::Variable(2_048);
    let mut turns = TurnsPacket { base: 102, ..TurnsPacket::default() };
    let mut writer = BitWriter::new();
    for player in 0..PLAYERS {
        let start = turns.entries.len() as u32;
        for turn in 99..102 {
            writer.clear();
            order(turn, player).encode(&mut writer);
            let payload = Payload::new(writer.bytes(), writer.bit_count());
            let extras = [Extra::Checksum(turn * 0x0101_0101)].into_iter().collect();
            turns.entries.push(Entry { payload, extras });
        }
        turns.acks.push(100);
        turns.segments.push(Segment { player: PlayerId(player), first: 99, entries: start..start + 3 });
    }
    let packet = Packet::Turns(Box::new(turns));
    let mut bytes = Vec::new();
    packet.encode(1, format, &mut writer, &mut bytes);
    let mut encode = || packet.encode(1, format, &mut writer, &mut bytes);
    let encode_ns = nanos_each(&mut encode);
    let mut decode = || {
        let decoded = Packet::decode(std::hint::black_box(&bytes), 1, format);
        assert!(std::hint::black_box(decoded).is_ok(), "what was encoded decodes");
    };
    let decode_ns = nanos_each(&mut decode);
    (bytes.len(), encode_ns, decode_ns)
}

fn nanos_each(work: &mut dyn FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let clock = ThreadClock::start();
            (0..PACKETS).for_each(|_| work());
            clock.elapsed_micros() as f64 * 1e3 / f64::from(PACKETS)
        })
        .collect();
    quantile(&mut times, 0.5)
}

/// The first games of `soak --seed 1` that are stars of four players.
fn soak_speed(play: impl Fn(&Plan) -> SoakReport) -> f64 {
    let is_star = |plan: &Plan| plan.topology() == Topology::Host && plan.players() == 4;
    let plans = (1..).map(Plan::of).filter(is_star).take(SOAK_GAMES as usize);
    let (mut simulated, mut processor) = (0, 0);
    for plan in plans {
        let clock = ThreadClock::start();
        let report = play(&plan);
        processor += clock.elapsed_micros();
        simulated += report.simulated.as_micros();
    }
    simulated as f64 / processor.max(1) as f64
}
