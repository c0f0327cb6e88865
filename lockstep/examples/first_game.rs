//! A complete first game: two players over UDP, a watcher, a replay, and tests.
//! `docs/first-game.md` walks through it.
//!
//! Each player has four discs and wants to have them in the ring in the middle, where they push each other away.
//! `cargo run -p testudo-lockstep --example first_game`, `cargo test -p testudo-lockstep --example first_game`

use std::error::Error;

use testudo_lockstep::replay::{Ending, Recorded, Replay, ReplayHeader};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Event, FrameRate, Identity, Instant,
    PlayerId, Playout, PlayoutMode, Session, SessionConfig, Simulation, Turn,
};
use testudo_physics::{BodyDef, BodyId, BodyKind, Fx, Shape, Vec2, World, WorldDef};

/// Raise this with every change of the rules: replays and players of other versions are refused.
const RULES: u32 = 1;
const DISCS: u8 = 4;

// ---- What players can say -------------------------------------------------------------------------------------------
/// "This disc goes there": whole units, -100..=100.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Go {
    disc: u8,
    x: i8,
    y: i8,
}

impl Action for Go {
    const MAX_BITS: u32 = 2 + 8 + 8;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.disc.into(), 2);
        out.write_signed(self.x.into(), 8);
        out.write_signed(self.y.into(), 8);
    }

    /// The bytes come from the network: everything that is not an order must be an error here.
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let disc = input.read_max(2, u64::from(DISCS) - 1)? as u8;
        let mut coordinate = || match input.read_signed(8)? as i8 {
            value @ -100..=100 => Ok(value),
            value => Err(DecodeError::OutOfRange { value: value.unsigned_abs().into(), max: 100 }),
        };
        Ok(Self { disc, x: coordinate()?, y: coordinate()? })
    }
}

// ---- The state and its rules ----------------------------------------------------------------------------------------
struct Disc {
    body: BodyId,
    x: i8,
    y: i8,
}

struct Game {
    world: World,
    /// First player 0's four, then player 1's.
    discs: Vec<Disc>,
    /// One point for each frame of each disc in the ring.
    points: [u32; 2],
}

impl Game {
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(WorldDef::default())?;
        let mut discs = Vec::new();
        for number in 0..2 * DISCS {
            let (x, y) = (if number < DISCS { -30 } else { 30 }, 6 * (number % DISCS) as i8 - 9);
            let place = Vec2::from_ints(x.into(), y.into());
            let body =
                world.create_body(&BodyDef::dynamic(Shape::circle(Fx::from_num(2))).position(place))?;
            discs.push(Disc { body, x, y });
        }
        Ok(Self { world, discs, points: [0; 2] })
    }
}

impl Simulation for Game {
    type Action = Go;

    fn apply(&mut self, player: PlayerId, order: &Go) {
        let disc = &mut self.discs[player.index() * usize::from(DISCS) + usize::from(order.disc)];
        (disc.x, disc.y) = (order.x, order.y);
    }

    fn step(&mut self, frames_per_second: u32) {
        let (fast, ring) = (Vec2::from_ints(8, 8), Fx::from_num(5));
        for (number, disc) in self.discs.iter().enumerate() {
            let position = self.world.body(disc.body).expect("nobody removes discs").position();
            let way = Vec2::from_ints(disc.x.into(), disc.y.into()) - position;
            let moved = self.world.set_velocity(disc.body, way.max(-fast).min(fast));
            debug_assert!(moved.is_ok(), "{moved:?}");
            let is_inside = position.x.abs() <= ring && position.y.abs() <= ring;
            let points = &mut self.points[number / usize::from(DISCS)];
            *points = points.saturating_add(is_inside.into());
        }
        let stepped = self.world.step(frames_per_second);
        debug_assert!(stepped.is_ok(), "{stepped:?}");
    }

    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
}

/// Shows every number once. Checksum, saving, restoring, the replay's keyframes and desync reports use this.
impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("game", 0);
        v.number("points.0", &mut self.points[0])?;
        v.number("points.1", &mut self.points[1])?;
        for (index, disc) in (0..).zip(&mut self.discs) {
            // Bodies are created in the same order everywhere, and none is removed, so their ids are not state.
            let Disc { body: _, x, y } = disc;
            v.object("disc", index);
            v.number_in("x", x, -100..=100)?;
            v.number_in("y", y, -100..=100)?;
        }
        v.part(&mut self.world)?;
        // Loaded states come from strangers: any sound world is read, also one without the discs.
        let is_disc = |body: BodyId| self.world.body(body).is_some_and(|it| it.kind() == BodyKind::Dynamic);
        if self.discs.iter().all(|disc| is_disc(disc.body)) {
            Ok(())
        } else {
            Err(StateError::Part { what: "a disc is missing" })
        }
    }
}

// ---- Who plays: a bot here, a person in your game --------------------------------------------------------------------
fn order(turn: Turn, player: PlayerId) -> Go {
    let disc = (turn.0 % u32::from(DISCS)) as u8;
    // To the middle, and every fourth time away from the crowd.
    let away = if turn.0 / u32::from(DISCS) % 4 == 3 { 12 } else { 1 };
    Go { disc, x: away * if player.0 == 0 { -1 } else { 1 }, y: away * (disc as i8 - 1) }
}

// ---- The match -------------------------------------------------------------------------------------------------------
struct Peer {
    udp: UdpTransport,
    driver: Driver<Recorded<Game>>,
}

/// This match stays on one machine. In your game the host draws the session id and tells it to the others, and every peer draws its own
/// entropy: random numbers of the operating system, for example by the crate `getrandom`, that strangers cannot guess.
fn config(entropy: u8) -> SessionConfig {
    // 40 turns of two frames at 20 frames per second: four seconds.
    SessionConfig::new(2)
        .session_id(1)
        .entropy([entropy; 16])
        .frames_per_second(20)
        .frames_per_turn(2)
        .turns(40)
        .content_hash(RULES.into())
        .watchers_min(1)
}

fn header() -> ReplayHeader {
    ReplayHeader::of(&config(0), RULES)
}

/// A host, a guest and a watcher, each with its own socket and simulation.
fn peers(now: Instant) -> Result<Vec<Peer>, Box<dyn Error>> {
    let loopback = "127.0.0.1:0".parse()?;
    // The states of the last turns, up to 16 MiB: after a desync the first wrong one is in the replay.
    let game = || Ok::<_, Box<dyn Error>>(Recorded::new(Game::new()?, &header()).keep_recent(64, 16 << 20));
    let host_udp = UdpTransport::bind(loopback)?;
    let address = host_udp.local_address()?;
    let host = Session::host(config(1), now)?;

    let mut guest_udp = UdpTransport::bind(loopback)?;
    let guest = Session::join(config(2), PlayerId(1), guest_udp.add_peer(address), now)?;

    let mut watcher_udp = UdpTransport::bind(loopback)?;
    let mut watcher = Session::new(config(3), Identity::Watcher, now)?;
    watcher.connect(watcher_udp.add_peer(address));
    // The watcher is a little behind, so that a late packet does not freeze the picture.
    let delay = PlayoutMode::Fixed(Duration::from_millis(100));
    let playout = Playout::new(delay, FrameRate::per_second(20)?);

    Ok(vec![
        Peer { udp: host_udp, driver: Driver::new(game()?, host) },
        Peer { udp: guest_udp, driver: Driver::new(game()?, guest) },
        Peer { udp: watcher_udp, driver: Driver::new(game()?, watcher).with_playout(playout) },
    ])
}

/// One round of the loop that every peer runs in its own program. Returns the event that ends the match early, if there is one.
fn round(peer: &mut Peer, now: Instant) -> Result<Option<Event>, Box<dyn Error>> {
    peer.udp.pump(peer.driver.session_mut(), now)?; // packets in
    peer.driver.advance_with(now, |turn, _game, session| {
        // An order in the last two turns could not run any more.
        if let Some(player) = session.player().filter(|_| turn.0 + 2 < 40) {
            session.submit(&order(turn, player)).expect("one order per turn fits the queue");
        }
    });
    peer.udp.pump(peer.driver.session_mut(), now)?; // packets out
    while let Some(event) = peer.driver.session_mut().poll_event() {
        if let Event::Desync(_) | Event::Failed(_) = event {
            return Ok(Some(event));
        }
    }
    Ok(None)
}

struct Played {
    /// Of each peer.
    checksums: Vec<u64>,
    /// The replay of the host, or of the peer that is told of a trouble first.
    file: Vec<u8>,
    /// Why the match ended early, if it did. Then the replay is all that is left of it: it shows the turn in which the peers differed, and the state.
    trouble: Option<Event>,
}

/// Plays until all are done, or one cannot go on; `clock` returns the time.
fn play(mut peers: Vec<Peer>, mut clock: impl FnMut() -> Instant) -> Result<Played, Box<dyn Error>> {
    let mut trouble = None;
    while trouble.is_none() && !peers.iter().all(|peer| peer.driver.session().is_over()) {
        let now = clock();
        for (index, peer) in peers.iter_mut().enumerate() {
            trouble = trouble.or(round(peer, now)?.map(|event| (index, event)));
        }
    }
    let checksums = peers.iter_mut().map(|peer| peer.driver.simulation_mut().checksum()).collect();
    let (index, trouble) = trouble.map_or((0, None), |(index, event)| (index, Some(event)));
    let recorded = peers[index].driver.simulation_mut();
    recorded.finish(Ending::Over);
    Ok(Played { checksums, file: recorded.take_bytes(), trouble })
}

#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the program has the clock")]
fn main() -> Result<(), Box<dyn Error>> {
    let start = std::time::Instant::now();
    let Played { checksums, file, trouble } = play(peers(Instant::ZERO)?, || {
        std::thread::sleep(std::time::Duration::from_millis(2));
        Instant::from(start.elapsed())
    })?;
    println!("host, guest, watcher: {checksums:016x?}");
    println!("replay: {} bytes; {}", file.len(), Replay::read(file, RULES)?.verify(Game::new()?));
    trouble.map_or(Ok(()), |event| Err(event.to_string().into()))
}

// ---- The tests that every game should have -----------------------------------------------------------------------------
#[test]
fn the_game_is_deterministic() {
    use testudo_lockstep::testing::{Trial, assert_deterministic};
    let new = || Game::new().expect("the start is valid");
    assert_deterministic(Trial::new(), new, |turn, _, orders| {
        orders.extend([0, 1].map(PlayerId).map(|player| (player, order(turn, player))));
    });
}

#[test]
fn a_state_without_the_discs_is_refused() {
    struct Bare(World);
    impl State for Bare {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.part(&mut self.0)
        }
    }
    let mut game = Game::new().expect("the start is valid");
    let (mut bytes, mut rest) = (Vec::new(), Vec::new());
    state::save(&mut game, &mut bytes);
    bytes.truncate(2 * 4 + 8 * 2); // points and discs; the world is the rest
    state::save(&mut Bare(World::new(WorldDef::default()).expect("an empty world")), &mut rest);
    bytes.extend(rest);
    assert_eq!(state::load(&mut game, &bytes), Err(StateError::Part { what: "a disc is missing" }));
}

#[cfg(test)]
fn play_without_waiting(peers: Vec<Peer>) -> Played {
    let mut now = Instant::ZERO;
    play(peers, || {
        now += Duration::from_millis(2); // time is an argument: no test has to wait
        now
    })
    .expect("the sockets work")
}

#[test]
fn a_desync_is_in_the_replay() {
    let mut peers = peers(Instant::ZERO).expect("the settings are valid");
    peers[1].driver.simulation_mut().game_mut().points[0] = 9;
    let Played { file, trouble, .. } = play_without_waiting(peers);
    assert!(matches!(trouble, Some(Event::Desync(_))), "{trouble:?}");
    let replay = Replay::read(file, RULES).expect("it was written just now");
    assert_eq!((replay.desync(), replay.is_complete()), (Some(0), true));
    assert!(replay.evidence().is_some());
}

#[test]
fn all_peers_end_with_the_same_state_and_a_sound_replay() {
    let peers = peers(Instant::ZERO).expect("the settings are valid");
    let Played { checksums, file, trouble } = play_without_waiting(peers);
    assert!(trouble.is_none() && checksums == [checksums[0]; 3], "{trouble:?}, {checksums:x?}");
    let verification =
        Replay::read(file, RULES).expect("it was written just now").verify(Game::new().unwrap());
    assert!(verification.is_sound() && verification.turns == 40, "{verification}");
}
