//! A world as a part of a game's state.

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_physics::{BodyDef, EdgePolicy, Fx, Shape, Vec2, World, WorldDef};

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
