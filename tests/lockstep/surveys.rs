//! A game that forgets to survey a building, and what the trial says about it.

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::testing::{Trial, TrialError, check_determinism};
use testudo_lockstep::{CrowdPart, NoAction, PlayerId, Simulation};
use testudo_movement::{Crowd, CrowdDef, GroundDef, MoverDef, Order};
use testudo_physics::{Aabb, BodyDef, Fx, Shape, Vec2, World, WorldDef};

/// In this frame a building comes.
const BUILT: u32 = 10;

struct Game {
    world: World,
    crowd: Crowd,
    frame: u32,
    surveys: bool,
}

fn crowd_def() -> CrowdDef {
    let area = Aabb::from_center_half(Vec2::ZERO, Vec2::from_ints(10, 10));
    CrowdDef::new(GroundDef::new(area).sizes(&[Fx::lit("0.5")]))
}

impl Game {
    fn new(surveys: bool) -> Self {
        let mut world = World::new(WorldDef::new()).unwrap();
        let unit = BodyDef::dynamic(Shape::circle(Fx::lit("0.5"))).position(Vec2::from_ints(-8, 0));
        let unit = world.create_body(&unit).unwrap();
        let mut crowd = Crowd::new(&crowd_def()).unwrap();
        crowd.survey(&world);
        crowd.add(&world, unit, MoverDef::default()).unwrap();
        crowd.order(&world, &[unit], &Order::go(Vec2::from_ints(8, 0))).unwrap();
        Self { world, crowd, frame: 0, surveys }
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("game", 0);
        v.number("frame", &mut self.frame)?;
        v.part(&mut self.world)?;
        v.part(&mut CrowdPart::new(&mut self.crowd, &self.world, crowd_def))
    }
}

impl Simulation for Game {
    type Action = NoAction;

    fn apply(&mut self, _: PlayerId, _: &NoAction) {}

    fn step(&mut self, frames_per_second: u32) {
        self.frame += 1;
        if self.frame == BUILT {
            let house = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(3)));
            let house = self.world.create_body(&house).unwrap();
            let around = self.world.body(house).unwrap().aabb();
            if self.surveys {
                self.crowd.survey_area(&self.world, around);
            }
        }
        self.crowd.step(&mut self.world, frames_per_second).unwrap();
        self.world.step(frames_per_second).unwrap();
    }

    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        state::save(self, out);
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        state::load(self, bytes).is_ok()
    }
}

fn check(surveys: bool) -> Result<(), Box<TrialError>> {
    check_determinism(Trial::new().turns(30), || Game::new(surveys), |_, _, _| {})
}

/// The message asked for a field that `visit` leaves out, and `visit` was right.
#[test]
fn who_forgets_a_survey_is_asked_for_it() {
    assert_eq!(check(true), Ok(()));
    let found = check(false).unwrap_err().to_string();
    assert!(found.contains("a run that was restored from the saved state differs in "), "{found}");
    assert!(
        found.ends_with(" (did an obstacle come or go without `Crowd::survey_area` after it?)"),
        "{found}"
    );
}
