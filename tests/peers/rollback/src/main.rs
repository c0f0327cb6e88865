//! ggrs with the worlds of rapier2d and of Testudo: what a tick costs that goes back eight frames and simulates them again.
//!
//! `cargo run --release --manifest-path tests/peers/rollback/Cargo.toml`. Both worlds hold the same discs, which two players pull to and fro. ggrs's sync test
//! asks for a rollback of eight frames in every tick, and compares the checksums. Times are processor time of the thread.

use cpu_time::ThreadTime;
use ggrs::{Config, GgrsRequest, SessionBuilder};
use rapier2d::prelude as rapier;
use rapier2d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle, Vector};
use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};
use xxhash_rust::xxh3::xxh3_64;

/// Frames that each tick goes back.
const ROLLBACK: usize = 8;

/// Ticks before the measured ones, and those.
const WARM: u32 = 40;
const TICKS: u32 = 40;

const FRAMES_PER_SECOND: u32 = 60;

/// What the session saves: rapier2d's bytes. Testudo's worlds are kept outside, by frame.
struct Game;

impl Config for Game {
    type Input = u8;
    type State = Vec<u8>;
    type Address = u8;
}

/// A simulation that can be saved and loaded by frame.
trait Simulated {
    /// Pulls the players' halves by their inputs, and makes one step.
    fn advance(&mut self, inputs: [u8; 2]);
    fn save(&mut self, frame: usize) -> (Option<Vec<u8>>, u128);
    fn load(&mut self, frame: usize, bytes: Option<Vec<u8>>);
    fn name(&self) -> &'static str;
}

/// Direction of a pull, units per second.
fn pull(input: u8) -> [i32; 2] {
    [[3, 0], [0, 3], [-3, 0], [0, -3]][usize::from(input % 4)]
}

struct Ours {
    world: World,
    bodies: Vec<BodyId>,
    kept: Vec<World>,
}

impl Ours {
    fn new(count: u32) -> Self {
        let mut world = World::new(WorldDef::new()).expect("defaults");
        let disc = BodyDef::dynamic(Shape::circle(Fx::lit("0.5")));
        let place = |[x, y]: [i32; 2]| Vec2::from_ints(x, y);
        let bodies =
            (0..count).map(|n| world.create_body(&disc.position(place(at(n, count)))).expect("in range"));
        let bodies = bodies.collect();
        let kept = (0..=ROLLBACK).map(|_| world.clone()).collect();
        Self { world, bodies, kept }
    }
}

impl Simulated for Ours {
    fn advance(&mut self, inputs: [u8; 2]) {
        let half = self.bodies.len() / 2;
        for (n, &body) in self.bodies.iter().enumerate() {
            let [x, y] = pull(inputs[usize::from(n >= half)]);
            self.world.set_velocity(body, Vec2::from_ints(x, y)).expect("in range");
        }
        self.world.step(FRAMES_PER_SECOND).expect("in range");
    }

    fn save(&mut self, frame: usize) -> (Option<Vec<u8>>, u128) {
        let slot = frame % self.kept.len();
        self.kept[slot].clone_from(&self.world);
        (None, self.world.checksum().into())
    }

    fn load(&mut self, frame: usize, _: Option<Vec<u8>>) {
        let slot = frame % self.kept.len();
        self.world.clone_from(&self.kept[slot]);
    }

    fn name(&self) -> &'static str {
        "testudo, worlds copied"
    }
}

struct Theirs {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

impl Theirs {
    fn new(count: u32) -> Self {
        let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0), ..PhysicsWorld::default() };
        world.integration_parameters.dt = 1.0 / FRAMES_PER_SECOND as f32;
        let bodies = (0..count).map(|n| {
            let [x, y] = at(n, count).map(|side| side as f32);
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, y)).lock_rotations();
            world.insert(body, ColliderBuilder::ball(0.5).mass(1.0).friction(0.0)).0
        });
        let bodies = bodies.collect();
        Self { world, bodies }
    }
}

impl Simulated for Theirs {
    fn advance(&mut self, inputs: [u8; 2]) {
        let half = self.bodies.len() / 2;
        for (n, &body) in self.bodies.iter().enumerate() {
            let [x, y] = pull(inputs[usize::from(n >= half)]).map(|side| side as f32);
            self.world.bodies[body].set_linvel(rapier::Vector::new(x, y), true);
        }
        self.world.step();
    }

    fn save(&mut self, _: usize) -> (Option<Vec<u8>>, u128) {
        let bytes = bincode::serialize(&self.world).expect("rapier2d worlds can be serialised");
        // Hashing the bytes is no part of what rapier2d offers; positions are enough to compare.
        let mut places = Vec::with_capacity(self.bodies.len() * 8);
        for (_, body) in self.world.bodies.iter() {
            let place = body.translation();
            places.extend([place.x, place.y].into_iter().flat_map(f32::to_le_bytes));
        }
        (Some(bytes), xxh3_64(&places).into())
    }

    fn load(&mut self, _: usize, bytes: Option<Vec<u8>>) {
        let bytes = bytes.expect("saved");
        self.world = bincode::deserialize(&bytes).expect("bytes were written by this program");
    }

    fn name(&self) -> &'static str {
        "rapier2d, snapshots by bincode"
    }
}

/// Two blocks of discs that touch, side by side.
fn at(number: u32, count: u32) -> [i32; 2] {
    let files = count.isqrt().max(1);
    [(number / files) as i32, (number % files) as i32]
}

/// Milliseconds of a tick with its rollback: of all of it, and without the steps.
fn measure(game: &mut dyn Simulated) -> Result<[f64; 2], ggrs::GgrsError> {
    let mut session = SessionBuilder::<Game>::new()
        .with_num_players(2)
        .with_max_prediction_window(ROLLBACK + 1)
        .with_check_distance(ROLLBACK)
        .start_synctest_session()?;
    let (mut whole, mut without_steps) = (Vec::new(), Vec::new());
    for tick in 0..WARM + TICKS {
        for player in 0..2 {
            let turns = [tick / 30, tick / 45][player];
            session.add_local_input(player, (turns + player as u32 * 2) as u8)?;
        }
        let start = ThreadTime::now();
        let mut steps = std::time::Duration::ZERO;
        for request in session.advance_frame()? {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    let (bytes, checksum) = game.save(frame as usize);
                    cell.save(frame, bytes, Some(checksum));
                }
                GgrsRequest::LoadGameState { cell, frame } => game.load(frame as usize, cell.load()),
                GgrsRequest::AdvanceFrame { inputs } => {
                    let start = ThreadTime::now();
                    game.advance([inputs[0].0, inputs[1].0]);
                    steps += start.elapsed();
                }
            }
        }
        let all = start.elapsed();
        if tick >= WARM {
            whole.push(all.as_secs_f64() * 1e3);
            without_steps.push((all - steps).as_secs_f64() * 1e3);
        }
    }
    Ok([whole, without_steps].map(|mut list| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    }))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "ggrs's sync test, {ROLLBACK} frames back in every tick; milliseconds, medians of {TICKS} ticks"
    );
    for count in [100, 1_000, 2_000, 10_000] {
        let games: [Box<dyn Simulated>; 2] = [Box::new(Ours::new(count)), Box::new(Theirs::new(count))];
        for mut game in games {
            let [whole, without_steps] = measure(&mut *game)?;
            println!(
                "{count:6} bodies, {:30}: {whole:8.2} in all, {without_steps:8.2} for saving, loading and checksums",
                game.name()
            );
        }
    }
    Ok(())
}
