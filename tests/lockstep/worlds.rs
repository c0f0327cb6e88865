//! A world as a part of a game's state.

use crate::play::Play as _;
use crate::toy::{Order, game_match, terrible};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{PlayerId, SessionConfig, Simulation};
use testudo_physics::{BodyDef, BodyId, EdgePolicy, Fx, Shape, Vec2, World, WorldDef};
use testudo_tests::cases::share;

/// Its rules read what the world lists of the last step.
struct Billiards {
    world: World,
    /// Of all hits, and of all frames in which balls touched.
    points: u64,
}

impl Billiards {
    fn new() -> Self {
        let def = WorldDef::default().gravity(Vec2::from_ints(0, -10)).edge(EdgePolicy::Bounce);
        let mut world = World::new(def).unwrap();
        world.list_contact_hits(true);
        world.list_stayed_contacts(true);
        Self { world, points: 0 }
    }

    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.world.step(20).unwrap();
            let hits =
                self.world.contact_hits().iter().map(|hit| hit.approach_speed.to_bits() as u64).sum::<u64>();
            self.points = self.points.wrapping_add(hits + self.world.contacts_stayed().len() as u64);
        }
    }
}

impl State for Billiards {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("game", 0);
        v.number("points", &mut self.points)?;
        v.part(&mut self.world)
    }
}

/// The loaded world listed nothing: whoever came back, resumed or searched a replay differed at the next hit.
#[test]
fn a_game_whose_rules_read_hits_goes_on_alike_after_a_load() {
    let mut played = Billiards::new();
    let table = BodyDef::static_body(Shape::rect(Fx::from_num(20), Fx::ONE)).position(Vec2::from_ints(0, -2));
    played.world.create_body(&table).unwrap();
    for x in -5..5 {
        let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).position(Vec2::from_ints(x, 3 + x * x % 7));
        played.world.create_body(&ball.restitution(Fx::lit("0.5"))).unwrap();
    }
    let (mut loaded, mut bytes) = (Billiards::new(), Vec::new());
    for moment in 0..10 {
        state::save(&mut played, &mut bytes);
        state::load(&mut loaded, &bytes).unwrap();
        let before = played.points;
        played.run(7);
        loaded.run(7);
        assert_ne!(played.points, before, "moment {moment}: something is listed");
        assert_eq!(loaded.points, played.points, "moment {moment}");
        bytes.clear();
    }
}

/// A ball that orders push, and many bodies that lie still.
#[derive(Clone)]
struct Field {
    world: World,
    ball: BodyId,
}

impl Field {
    fn new(bodies: u64) -> Self {
        let mut world = World::new(WorldDef::default().sleep_ms(100)).unwrap();
        let ball = world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE))).unwrap();
        for number in 1..bodies as i32 {
            let body = BodyDef::dynamic(Shape::circle(Fx::ONE));
            world
                .create_body(&body.position(Vec2::from_ints(number % 1_000 * 3, number / 1_000 * 3)))
                .unwrap();
        }
        (0..5).for_each(|_| world.step(20).unwrap());
        assert!(world.bodies().all(|body| !body.is_awake()));
        Self { world, ball }
    }
}

impl Simulation for Field {
    type Action = Order;

    fn apply(&mut self, _: PlayerId, order: &Order) {
        if let Order::Push(by) = *order {
            self.world.apply_impulse(self.ball, Vec2::new(Fx::from_bits(by.into()), Fx::ZERO)).unwrap();
        }
    }

    fn step(&mut self, frames_per_second: u32) {
        self.world.step(frames_per_second).unwrap();
    }

    fn checksum(&mut self) -> u64 {
        self.world.checksum()
    }
}

/// Orders travel, and no state.
#[test]
fn a_match_costs_the_same_bytes_with_a_hundred_bodies_as_with_very_many() {
    let [few, many] = [100, share(1_000_000)].map(|bodies| {
        let config = SessionConfig::new(2).simulated().turns(30);
        let mut game = game_match(&config, &Field::new(bodies), 0, 7, terrible());
        assert!(game.play(600_000));
        let world = &game.toy(0).world;
        assert_eq!((u64::from(world.body_count()), world.checksum()), (bodies, game.toy(1).world.checksum()));
        [0, 1].map(|node| game.session(node).stats().bytes_sent)
    });
    assert_eq!(few, many);
}
