//! Own orders at once: two players push discs at a round trip of 240 ms, and the guest sees its orders in the next frame.
//! `docs/prediction.md` shows the core of it.
//!
//! `cargo run -p testudo-lockstep --example prediction`, `cargo test -p testudo-lockstep --example prediction`

use std::error::Error;

use testudo_lockstep::predict::{Corrections, Glide, Predict, Predictor};
use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Instant, PeerId, PlayerId, Session,
    SessionConfig, Simulation, Turn, VirtualMatch,
};
use testudo_physics::{BodyDef, BodyId, BodyKind, Fx, Shape, Vec2, World, WorldDef};

/// "My disc goes there."
struct Go(i8);

impl Action for Go {
    const MAX_BITS: u32 = 8;
    fn encode(&self, out: &mut BitWriter) {
        out.write_signed(self.0.into(), 8);
    }
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_signed(8)? as i8))
    }
}

#[derive(Clone)]
struct Game {
    world: World,
    /// One of each player.
    discs: [BodyId; 2],
    goals: [i8; 2],
}

impl Game {
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(WorldDef::default())?;
        let mut disc = |y| {
            world.create_body(
                &BodyDef::dynamic(Shape::circle(Fx::from_num(2))).position(Vec2::from_ints(0, y)),
            )
        };
        let discs = [disc(-3)?, disc(3)?];
        Ok(Self { world, discs, goals: [0; 2] })
    }
}

impl Simulation for Game {
    type Action = Go;
    fn apply(&mut self, player: PlayerId, order: &Go) {
        self.goals[player.index()] = order.0;
    }
    fn step(&mut self, frames_per_second: u32) {
        let fast = Vec2::from_ints(4, 4);
        for (disc, goal) in self.discs.iter().zip(self.goals) {
            let position = self.world.body(*disc).expect("nobody removes discs").position();
            let way = Vec2::from_ints(goal.into(), 0) - Vec2::new(position.x, Fx::ZERO);
            let moved = self.world.set_velocity(*disc, way.max(-fast).min(fast));
            debug_assert!(moved.is_ok(), "{moved:?}");
        }
        let stepped = self.world.step(frames_per_second);
        debug_assert!(stepped.is_ok(), "{stepped:?}");
    }
    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        let Self { world, discs, goals } = self;
        v.object("game", 0);
        v.number("goals.0", &mut goals[0])?;
        v.number("goals.1", &mut goals[1])?;
        v.part(world)?;
        // As in `first_game.rs`: a loaded world is a stranger's.
        if discs.iter().all(|disc| world.body(*disc).is_some_and(|body| body.kind() == BodyKind::Dynamic)) {
            Ok(())
        } else {
            Err(StateError::Part { what: "a disc is missing" })
        }
    }
}

// ---- The prediction --------------------------------------------------------------------------------------------------
impl Predict for Game {}

/// Where a disc is at this part of the frame, in 65,536ths of a unit: integers, as `Glide` has them.
fn place(game: &Game, disc: usize, alpha: u32) -> [i64; 2] {
    let body = game.world.body(game.discs[disc]).expect("nobody removes discs");
    body.interpolated_position(alpha).map(|coordinate| (coordinate * 65_536.0) as i64)
}

/// What a program keeps for its pictures.
struct View {
    predictor: Predictor<Game>,
    glide: Glide,
    corrections: Corrections,
}

impl View {
    fn new(game: &Game) -> Self {
        // Offsets last for 150 ms. What is off by more than eight units is shown where it is at once.
        let glide = Glide::new(Duration::from_millis(150), 8 * 65_536);
        Self { predictor: Predictor::new(game), glide, corrections: Corrections::default() }
    }

    /// Where the discs are drawn, once per picture: after the driver's frames, and as long after the picture before.
    fn picture(&mut self, driver: &Driver<Game>, now: Instant, passed: Duration) -> [[i64; 2]; 2] {
        let Self { predictor, glide, corrections } = self;
        glide.pass(passed);
        // At most eight frames are simulated in one picture.
        predictor.follow_with(driver, driver.simulation(), now, 8, |correction| {
            for disc in 0..2 {
                let before = place(correction.before, disc, correction.alpha);
                let after = place(correction.after, disc, correction.alpha_after);
                corrections.note(glide.correct(disc as u32, before, after));
            }
        });
        [0, 1].map(|disc| {
            let [x, y] = place(predictor.simulation(), disc, predictor.alpha());
            let [right, up] = glide.offset(disc as u32);
            [x + right, y + up]
        })
    }
}

/// What the guest has seen.
#[derive(Debug)]
struct Seen {
    /// From the guest's order to the first picture in which its disc has moved, and to the confirmed one.
    shown: Duration,
    confirmed: Duration,
    /// The greatest way of any disc from one picture to the next, in 65,536ths of a unit.
    step: u64,
    /// How far off a disc was at most when a prediction was corrected, in the same unit.
    greatest: u64,
    checksums: [u64; 2],
}

/// The host's player goes to and fro; the guest's sets out in turn 30.
fn orders(peer: usize, turn: Turn, session: &mut Session<Go>) {
    if peer == 0 && turn.0.is_multiple_of(8) && turn.0 < 90 {
        let order = Go(if turn.0.is_multiple_of(16) { 12 } else { -12 });
        session.submit(&order).expect("one order per turn fits the queue");
    }
}

fn play() -> Result<Seen, Box<dyn Error>> {
    const PICTURE: Duration = Duration::from_micros(16_667);
    let (config, mut now) = (SessionConfig::new(2).simulated().turns(100), Instant::ZERO);
    let host = Driver::new(Game::new()?, Session::host(config.clone(), now)?);
    let guest = Driver::new(Game::new()?, Session::join(config, PlayerId(1), PeerId(0), now)?);
    let mut net = SimNet::new(7);
    net.set_default(LinkConfig::new().latency(Duration::from_millis(120)).loss_ppm(50_000));
    let mut game = VirtualMatch::new(vec![host, guest], net);
    let mut view = View::new(game.drivers()[1].simulation());
    let (mut ordered, mut shown, mut confirmed, mut step) = (None, None, None, 0);
    let mut drawn = view.picture(&game.drivers()[1], now, Duration::ZERO);
    while !game.run(now, |peer, turn, _, session| orders(peer, turn, session)) {
        let guest = &mut game.drivers_mut()[1];
        if guest.session().next_turn() == Turn(30) && ordered.is_none() {
            guest.session_mut().submit(&Go(8))?;
            ordered = Some(now);
        }
        let before = drawn;
        drawn = view.picture(guest, now, PICTURE);
        let moved = [0, 1].map(|disc| drawn[disc][0].abs_diff(before[disc][0]));
        step = step.max(moved[0]).max(moved[1]);
        if let Some(at) = ordered {
            shown = shown.or((moved[1] > 0).then(|| now.since(at)));
            let has_run = guest.simulation().goals[1] == 8;
            confirmed = confirmed.or(has_run.then(|| now.since(at)));
        }
        now += PICTURE;
    }
    let [host, guest] = game.drivers_mut() else { return Err("two play".into()) };
    let checksums = [host, guest].map(|driver| driver.simulation_mut().checksum());
    let (shown, confirmed) = (shown.ok_or("it was shown")?, confirmed.ok_or("it has run")?);
    Ok(Seen { shown, confirmed, step, greatest: view.corrections.greatest(), checksums })
}

/// What the program prints.
fn report(seen: &Seen) -> [String; 2] {
    [
        format!(
            "own order: shown after {} ms, run after {} ms",
            seen.shown.as_millis(),
            seen.confirmed.as_millis()
        ),
        format!(
            "65,536ths of a unit: greatest correction {}, greatest step of a picture {}",
            seen.greatest, seen.step
        ),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let seen = play()?;
    report(&seen).iter().for_each(|line| println!("{line}"));
    println!("host, guest: {:016x?}", seen.checksums);
    Ok(())
}

#[test]
fn own_orders_are_shown_at_once_and_nothing_jumps() {
    let seen = play().expect("the settings are valid");
    // A frame is 50 ms, and a picture up to 17 ms.
    assert!(
        seen.shown <= Duration::from_millis(67) && seen.confirmed >= Duration::from_millis(400),
        "{seen:?}"
    );
    assert!(seen.greatest > 65_536 && seen.step < seen.greatest / 2, "{seen:?}");
    assert_eq!(seen.checksums[0], seen.checksums[1]);
    // The guide shows these lines.
    let expected = [
        "own order: shown after 50 ms, run after 600 ms",
        "65,536ths of a unit: greatest correction 209715, greatest step of a picture 48385",
    ];
    assert_eq!(report(&seen), expected);
}
