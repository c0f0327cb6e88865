//! Tug in Rust, on the engines themselves and not on their C interface: it plays with all other languages. `TUG.md` has the rules.
//!
//! `cargo run --manifest-path lockstep/c/Cargo.toml --example tug -- host 2 80`
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a program")]

use std::error::Error;
use std::io::Read;
use std::net::SocketAddr;

use testudo_lockstep::state::inquiry::{Inquiry, Moments};
use testudo_lockstep::state::{Leaf, Part, State, StateError, Visit};
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Desync, Driver, Duration, Event, Identity, Instant, PlayerId,
    Search, Session, SessionConfig, Simulation, To, Turn,
};
use testudo_movement::{Crowd, CrowdDef, CrowdNumber, GroundDef, MoveEvent, MoverDef, Order};
use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef, hash_bytes};

/// Any 24 bits: what they mean is the business of the rules, so that all languages take the same bits for an order.
struct Push {
    disc: u8,
    x: i16,
    y: i16,
}

impl Action for Push {
    const MAX_BITS: u32 = 24;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.disc.into(), 4);
        out.write_signed(self.x.into(), 10);
        out.write_signed(self.y.into(), 10);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let disc = input.read_bits(4)? as u8;
        Ok(Self { disc, x: input.read_signed(10)? as i16, y: input.read_signed(10)? as i16 })
    }
}

// ---- The rules

struct Tug {
    world: World,
    crowd: Crowd,
    wall: BodyId,
    discs: Vec<BodyId>,
    runners: Vec<BodyId>,
    frames: u64,
    orders: u64,
    points: Vec<u64>,
}

fn crowd_def() -> CrowdDef {
    let area = Aabb { min: Vec2::from_ints(-32, -32), max: Vec2::from_ints(32, 32) };
    CrowdDef::new(GroundDef::new(area))
}

impl Tug {
    fn new(players: u8) -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(WorldDef::new())?;
        let wall = world.create_body(&BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(20))))?;
        let half = Fx::lit("0.5");
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE)).restitution(half).damping(half);
        let runner = BodyDef::dynamic(Shape::circle(half));
        let all = 0..2 * i32::from(players);
        let place = |n: i32, [even, odd]: [i32; 2]| {
            Vec2::from_ints(if n % 2 == 0 { even } else { odd }, 4 * (n / 2) - 2 * (i32::from(players) - 1))
        };
        let (mut discs, mut runners) = (Vec::new(), Vec::new());
        for n in all.clone() {
            discs.push(world.create_body(&disc.position(place(n, [-10, 10])))?);
        }
        for n in all {
            runners.push(world.create_body(&runner.position(place(n, [-20, -24])))?);
        }
        let mut crowd = Crowd::new(&crowd_def())?;
        crowd.survey(&world);
        for &unit in &runners {
            let pace = MoverDef { speed: Fx::from_num(16), acceleration: Fx::from_num(64) };
            crowd.add(&world, unit, pace)?;
        }
        Ok(Self { world, crowd, wall, discs, runners, frames: 0, orders: 0, points: vec![0; players.into()] })
    }

    /// The game's own numbers.
    fn numbers(&self) -> Vec<u8> {
        let numbers = [self.frames, self.orders].into_iter().chain(self.points.iter().copied());
        numbers.flat_map(u64::to_le_bytes).collect()
    }
}

impl Simulation for Tug {
    type Action = Push;

    fn apply(&mut self, player: PlayerId, order: &Push) {
        let own = usize::from(order.disc) / 2 == player.index();
        let Some(&disc) = self.discs.get(usize::from(order.disc)).filter(|_| own) else { return };
        self.orders += 1;
        let impulse =
            Vec2::new(Fx::from_bits(i64::from(order.x) * 4_096), Fx::from_bits(i64::from(order.y) * 4_096));
        // A loaded state may lack the disc or a runner, on all peers.
        let _ = self.world.apply_impulse(disc, impulse);
        if order.x % 16 == 0 {
            let runners = &self.runners[2 * player.index()..][..2];
            let _ = self.crowd.order(&self.world, runners, &Order::go(impulse));
        }
    }

    fn step(&mut self, frames_per_second: u32) {
        self.frames += 1;
        self.crowd.step(&mut self.world, frames_per_second).expect("the rate was checked at the start");
        self.world.step(frames_per_second).expect("the rate was checked at the start");
        for event in self.world.contacts_began().iter().filter(|event| event.a == self.wall) {
            if let Some(n) = self.discs.iter().position(|&disc| disc == event.b) {
                self.points[n / 2] += 1;
            }
        }
        for event in self.crowd.events() {
            let MoveEvent::Arrived(unit) = event else { continue };
            if let Some(n) = self.runners.iter().position(|runner| runner == unit) {
                self.points[n / 2] += 100;
            }
        }
    }

    fn checksum(&mut self) -> u64 {
        self.digest()
    }

    fn player_gone(&mut self, player: PlayerId, _: Turn) {
        self.points[player.index()] = 0;
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        self.save(out);
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let Some((own, rest)) = bytes.split_at_checked(self.numbers().len()) else { return false };
        let Some((length, rest)) = rest.split_first_chunk() else { return false };
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((world, crowd)) = rest.split_at_checked(length) else { return false };
        // A new world, so that nothing has changed if the crowd's bytes are refused.
        let Ok(world) = World::from_bytes(world) else { return false };
        let Ok(crowd) = Crowd::load(&crowd_def(), &world, crowd) else { return false };
        (self.world, self.crowd) = (world, crowd);
        let mut numbers = own.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        for number in [&mut self.frames, &mut self.orders].into_iter().chain(&mut self.points) {
            *number = numbers.next().unwrap_or(0);
        }
        true
    }
}

// ---- After a desync. Peers in other languages keep the state before each turn as one part, too.

impl State for Tug {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.part(self)
    }
}

impl Part for Tug {
    fn digest(&self) -> u64 {
        let sums = [self.world.checksum(), self.crowd.checksum()].map(u64::to_le_bytes);
        hash_bytes(&[self.numbers(), sums.concat()].concat())
    }

    fn save(&self, out: &mut Vec<u8>) {
        let mut world = Vec::new();
        self.world.append_snapshot(&mut world);
        out.extend(self.numbers());
        out.extend((world.len() as u64).to_le_bytes());
        out.extend(world);
        self.crowd.save(out);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        if self.load_state(bytes) { Ok(()) } else { Err(StateError::Part { what: "it is no state of tug" }) }
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        let leaf = |kind, index, name, value: u64| Leaf { kind, index, name, bits: 64, value: value.into() };
        each(leaf("game", 0, "frames", self.frames));
        each(leaf("game", 0, "orders", self.orders));
        (0..).zip(&self.points).for_each(|(player, points)| each(leaf("player", player, "points", *points)));
        self.world.leaves(each);
        self.crowd.visit_numbers(&mut |number| {
            let CrowdNumber { kind, index, name, value, bytes, .. } = number;
            each(Leaf { kind, index, name, bits: 8 * bytes, value: value.into() });
        });
    }

    fn flip_bit(&mut self, _: &Leaf, bit: u32) -> Result<(), StateError> {
        Err(StateError::NoSuchBit { bit })
    }
}

/// What this peer keeps, and whom it asks.
struct Hunt {
    moments: Option<Moments>,
    search: Search<Tug>,
    is_told: bool,
}

impl Hunt {
    fn begin(&mut self, desync: &Desync) -> Result<(), Box<dyn Error>> {
        let Some(moments) = self.moments.take() else { return Ok(()) };
        let other = desync.values.iter().find(|(_, value)| Some(*value) != desync.own);
        let other = other.map(|&(player, _)| (To::Player(player), Identity::Player(player)));
        self.search.begin(other, Inquiry::new(moments, Tug::new(desync.values.len() as u8)?));
        Ok(())
    }

    fn advance(&mut self, session: &mut Session<Push>, now: Instant) {
        while let Some(message) = session.poll_message() {
            self.search.hear(message, now);
        }
        self.search.advance(session, now);
        if let Some(finding) = self.search.finding().filter(|_| !self.is_told) {
            println!("difference: {finding}");
            self.is_told = true;
        }
    }
}

// ---- Who plays

fn order(player: PlayerId, turn: Turn) -> Option<Push> {
    let (p, t) = (u32::from(player.0), turn.0);
    let x = 150 + ((53 * t + 17 * p) % 300) as i16;
    let y = ((29 * t + 71 * p) % 201) as i16 - 100;
    let push = Push { disc: (2 * p + t % 2) as u8, x: if t % 2 == 1 { -x } else { x }, y };
    (t % 4 != 3).then_some(push)
}

// ---- The program

fn play(driver: &mut Driver<Tug>, udp: &mut UdpTransport, flips: bool) -> Result<u8, Box<dyn Error>> {
    let start = std::time::Instant::now();
    let (mut result, mut halfway) = (0, false);
    let mut hunt = Hunt { moments: Some(Moments::default()), search: Search::default(), is_told: false };
    while !driver.session().is_over() {
        let now = Instant::from(start.elapsed());
        udp.pump(driver.session_mut(), now)?;
        driver.advance_with(now, |turn, tug, session| {
            if let Some(moments) = &mut hunt.moments {
                moments.push_saved(turn.0, |out| {
                    let mut part = Vec::new();
                    tug.save(&mut part);
                    out.extend((part.len() as u64).to_le_bytes());
                    out.extend(part);
                });
            }
            if let Some(order) = session.player().and_then(|player| order(player, turn)) {
                let _ = session.submit(&order); // refused in the last turns: no matter
            }
        });
        udp.pump(driver.session_mut(), now)?;
        if !halfway && driver.session().next_turn() >= Turn(20) {
            driver.simulation_mut().points[0] ^= u64::from(flips);
            println!("turn 20");
            halfway = true;
        }
        while let Some(event) = driver.session_mut().poll_event() {
            match event {
                Event::Desync(desync) => {
                    println!("desync: {desync}");
                    hunt.begin(&desync)?;
                    result = 3;
                }
                Event::Failed(_) | Event::PlayerGone { .. } => {
                    eprintln!("{event:?}");
                    result = 1;
                }
                _ => {}
            }
        }
        hunt.advance(driver.session_mut(), now);
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    udp.pump(driver.session_mut(), Instant::from(start.elapsed()))?;
    Ok(result)
}

fn config(players: u8, turns: u32) -> Result<SessionConfig, Box<dyn Error>> {
    let mut entropy = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut entropy)?;
    let config =
        SessionConfig::new(players).frames_per_second(20).frames_per_turn(2).turns(turns).late_watchers(true);
    // The machine may have other things to do.
    let config = config.drop_after(Duration::from_secs(120)).silence_timeout(Duration::from_secs(120));
    Ok(config.session_id(1).content_hash(hash_bytes(b"tug 2")).entropy(entropy))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let flips = arguments.pop_if(|last| last == "flip").is_some();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut udp = UdpTransport::bind("127.0.0.1:0".parse()?)?;
    let (players, session) =
        match words[..] {
            ["host", players, turns] => {
                println!("port {}", udp.local_address()?.port());
                let players = players.parse()?;
                (players, Session::host(config(players, turns.parse()?)?, Instant::ZERO)?)
            }
            ["join", port, player, players, turns] => {
                let host = udp.add_peer(SocketAddr::from(([127, 0, 0, 1], port.parse()?)));
                let (players, player) = (players.parse()?, PlayerId(player.parse()?));
                (players, Session::join(config(players, turns.parse()?)?, player, host, Instant::ZERO)?)
            }
            ["watch", port, players, turns] => {
                let host = udp.add_peer(SocketAddr::from(([127, 0, 0, 1], port.parse()?)));
                let players = players.parse()?;
                let mut session =
                    Session::new(config(players, turns.parse()?)?, Identity::Watcher, Instant::ZERO)?;
                session.connect(host);
                (players, session)
            }
            _ => return Err(
                "tug host PLAYERS TURNS, tug join PORT PLAYER PLAYERS TURNS, or tug watch PORT PLAYERS TURNS"
                    .into(),
            ),
        };
    let mut driver = Driver::new(Tug::new(players)?, session);
    let result = play(&mut driver, &mut udp, flips)?;
    let turns = driver.session().next_turn();
    let tug = driver.simulation_mut();
    let points: String = tug.points.iter().map(|points| format!(" {points}")).collect();
    println!(
        "turns {turns} checksum {:016x} frames {} orders {} points{points}",
        tug.checksum(),
        tug.frames,
        tug.orders
    );
    std::process::exit(result.into());
}
