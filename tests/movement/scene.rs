//! A crowd in a world, as most of these tests have it.

use testudo_movement::{Crowd, CrowdDef, Ground, GroundDef, MoveEvent, MoverDef, Order, StateError};
use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::maps::square;

pub(crate) const RATE: u32 = 20;

/// A crowd with the usual settings on square ground with this half side.
pub(crate) fn usual(half: i32) -> CrowdDef {
    CrowdDef::new(GroundDef::new(square(half)))
}

pub(crate) fn open_world() -> World {
    World::new(WorldDef::new()).unwrap()
}

pub(crate) fn house(world: &mut World, at: Vec2, half: Vec2) -> BodyId {
    world.create_body(&BodyDef::static_body(Shape::rect(half.x, half.y)).position(at)).unwrap()
}

pub(crate) fn surveyed(world: &World, def: &GroundDef) -> Ground {
    let mut ground = Ground::new(def).unwrap();
    ground.survey(world);
    ground
}

/// A world, a crowd, and when each unit arrived, gave up, or was told that there is no path.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) crowd: Crowd,
    def: CrowdDef,
    pub(crate) units: Vec<BodyId>,
    pub(crate) frame: u32,
    pub(crate) arrived: Vec<(u32, BodyId)>,
    pub(crate) gave_up: Vec<(u32, BodyId)>,
    pub(crate) unreachable: Vec<(u32, BodyId)>,
}

impl Scene {
    pub(crate) fn new(world: World, half: i32) -> Self {
        Self::of(world, usual(half))
    }

    /// A crowd that has looked at the world.
    pub(crate) fn of(world: World, def: CrowdDef) -> Self {
        let mut scene = Self::unsurveyed(world, def);
        scene.crowd.survey(&scene.world);
        scene
    }

    pub(crate) fn unsurveyed(world: World, def: CrowdDef) -> Self {
        let crowd = Crowd::new(&def).unwrap();
        let (units, frame) = (Vec::new(), 0);
        let (arrived, gave_up, unreachable) = (Vec::new(), Vec::new(), Vec::new());
        Self { world, crowd, def, units, frame, arrived, gave_up, unreachable }
    }

    pub(crate) fn add(&mut self, place: Vec2) -> BodyId {
        self.add_disc(Fx::ONE / 2, place, MoverDef::default())
    }

    /// A unit that is so fast, units per second.
    pub(crate) fn add_with(&mut self, place: Vec2, speed: i32) -> BodyId {
        self.add_disc(Fx::ONE / 2, place, MoverDef { speed: Fx::from_num(speed), ..MoverDef::default() })
    }

    pub(crate) fn add_disc(&mut self, radius: Fx, place: Vec2, pace: MoverDef) -> BodyId {
        let disc = BodyDef::dynamic(Shape::circle(radius)).position(place);
        let unit = self.world.create_body(&disc).unwrap();
        self.crowd.add(&self.world, unit, pace).unwrap();
        self.units.push(unit);
        unit
    }

    /// Builds a house and tells the crowd.
    pub(crate) fn build(&mut self, at: Vec2, half: Vec2) -> BodyId {
        let house = house(&mut self.world, at, half);
        self.crowd.survey_area(&self.world, self.world.body(house).unwrap().aabb());
        house
    }

    /// Takes a house away and tells the crowd.
    pub(crate) fn pull_down(&mut self, house: BodyId) {
        let around = self.world.body(house).unwrap().aabb();
        self.world.remove_body(house).unwrap();
        self.crowd.survey_area(&self.world, around);
    }

    /// A house there comes or goes.
    pub(crate) fn swing(&mut self, gate: &mut Option<BodyId>, at: Vec2, half: Vec2) {
        match gate.take() {
            Some(house) => self.pull_down(house),
            None => *gate = Some(self.build(at, half)),
        }
    }

    pub(crate) fn go(&mut self, units: &[BodyId], goal: Vec2) {
        self.crowd.order(&self.world, units, &Order::go(goal)).unwrap();
    }

    pub(crate) fn pursue(&mut self, unit: BodyId, prey: BodyId, reach: Fx) {
        self.crowd.pursue(&self.world, unit, prey, reach).unwrap();
    }

    pub(crate) fn step(&mut self) {
        self.step_at(RATE);
    }

    pub(crate) fn step_at(&mut self, rate: u32) {
        self.crowd.step(&mut self.world, rate).unwrap();
        self.world.step(rate).unwrap();
        self.frame += 1;
        for event in self.crowd.events() {
            match *event {
                MoveEvent::Arrived(body) => self.arrived.push((self.frame, body)),
                MoveEvent::GaveUp(body) => self.gave_up.push((self.frame, body)),
                MoveEvent::Unreachable(body) => self.unreachable.push((self.frame, body)),
                _ => {}
            }
        }
    }

    pub(crate) fn place(&self, unit: BodyId) -> Vec2 {
        self.world.body(unit).unwrap().position()
    }

    /// How many of them wait for their paths.
    pub(crate) fn waiting(&self, units: &[BodyId]) -> usize {
        units.iter().filter(|&&unit| self.crowd.is_waiting(unit) == Some(true)).count()
    }

    pub(crate) fn saved(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.crowd.save(&mut bytes);
        bytes
    }

    /// Its crowd from other bytes.
    pub(crate) fn load(&self, bytes: &[u8]) -> Result<Crowd, StateError> {
        Crowd::load(&self.def, &self.world, bytes)
    }

    /// As a peer has it that loads the bytes of both.
    pub(crate) fn restored(&self) -> Self {
        let mut state = Vec::new();
        self.world.snapshot(&mut state);
        let crowd = self.load(&self.saved()).unwrap();
        Self { world: World::from_bytes(&state).unwrap(), crowd, ..self.clone() }
    }

    /// The same state, and the same events.
    pub(crate) fn assert_same(&self, other: &Self, context: impl std::fmt::Display) {
        assert_eq!(self.world.checksum(), other.world.checksum(), "{context}");
        assert!(self.saved() == other.saved(), "{context}: another state");
        assert_eq!(self.crowd.events(), other.crowd.events(), "{context}");
    }
}
