//! Crowds on drawn ground whose units are moved, disabled, removed and added again at random, saved and loaded in between.

use std::collections::BTreeMap;

use testudo_movement::{CrowdDef, GroundDef, MoveEvent, MoverDef, Order};
use testudo_physics::{Aabb, BodyDef, BodyId, BodyKind, ChainDef, Fx, Pcg32, Shape, Vec2};
use testudo_tests::cases::share;

use crate::maps::square;
use crate::scene::{RATE, Scene, open_world};

fn def() -> CrowdDef {
    CrowdDef::new(GroundDef::new(square(20)).sizes(&[Fx::ONE / 2, Fx::ONE]))
        .fields_max(4)
        .cells_per_frame(800)
}

#[derive(Clone)]
struct Drawn {
    /// Its units are all bodies that are or were units.
    scene: Scene,
    house: Option<BodyId>,
    rng: Pcg32,
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut world = open_world();
        let mut rng = Pcg32::new(seed, 19);
        for _ in 0..4 {
            let middle = Self::place(&mut rng);
            let off = |rng: &mut Pcg32| Vec2::new(Self::part(rng, 5), Self::part(rng, 5));
            let points: Vec<Vec2> = (0..2 + rng.below(4)).map(|_| middle + off(&mut rng)).collect();
            let chain = ChainDef::new(&points).one_sided(rng.below(3) != 0);
            let _ = world.create_chain(&chain.closed(rng.below(2) == 0));
        }
        let mut drawn = Self { scene: Scene::of(world, def()), house: None, rng };
        (0..2).for_each(|_| drawn.set_cost());
        (0..24).for_each(|_| drawn.recruit());
        drawn
    }

    /// Within so many units of the middle.
    fn part(rng: &mut Pcg32, half: u32) -> Fx {
        Fx::from_bits(i64::from(rng.below(half << 17)) - (i64::from(half) << 16))
    }

    fn place(rng: &mut Pcg32) -> Vec2 {
        Vec2::new(Self::part(rng, 19), Self::part(rng, 19))
    }

    fn set_cost(&mut self) {
        let half = Vec2::from_ints(1 + self.rng.below(4) as i32, 1 + self.rng.below(4) as i32);
        let area = Aabb::from_center_half(Self::place(&mut self.rng), half);
        self.scene.crowd.set_cost(&self.scene.world, area, self.rng.below(4) as u8).unwrap();
    }

    /// A house, or a wall with one side, is built, or the one that was built last is pulled down.
    fn build(&mut self) {
        let (place, off) = (Self::place(&mut self.rng), Self::place(&mut self.rng) * (Fx::ONE / 8));
        if let Some(house) = self.house.take() {
            return self.scene.pull_down(house);
        }
        let house = if self.rng.below(2) == 0 {
            let chain = ChainDef::new(&[place, place + off]).one_sided(true);
            self.scene.world.create_chain(&chain).map_or(None, |chain| chain.first().copied())
        } else {
            let house = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::ONE)).position(place);
            self.scene.world.create_body(&house).ok()
        };
        let Some(house) = house else { return };
        self.house = Some(house);
        self.scene.crowd.survey_area(&self.scene.world, self.scene.world.body(house).unwrap().aabb());
    }

    fn recruit(&mut self) {
        let radius = if self.rng.below(3) == 0 { Fx::ONE } else { Fx::ONE / 2 };
        let body = BodyDef::dynamic(Shape::circle(radius)).position(Self::place(&mut self.rng));
        let body = self.scene.world.create_body(&body.dominance(2).enabled(self.rng.below(6) != 0)).unwrap();
        self.scene.crowd.add(&self.scene.world, body, MoverDef::default()).unwrap();
        self.scene.units.push(body);
    }

    fn one(&mut self) -> BodyId {
        self.scene.units[self.rng.below(self.scene.units.len() as u32) as usize]
    }

    /// One random call.
    fn operate(&mut self) {
        let (unit, place) = (self.one(), Self::place(&mut self.rng));
        match self.rng.below(16) {
            0 => self.scene.world.set_position(unit, place).unwrap(),
            1..=3 => {
                let is_enabled = self.scene.world.body(unit).unwrap().is_enabled();
                self.scene.world.set_enabled(unit, !is_enabled).unwrap();
            }
            4 => _ = self.scene.crowd.remove(&mut self.scene.world, unit),
            // One that is kinematic for a while is refused.
            5 => _ = self.scene.crowd.add(&self.scene.world, unit, MoverDef::default()),
            6 => {
                self.scene.units.retain(|&other| other != unit);
                self.scene.world.remove_body(unit).unwrap();
                self.recruit();
            }
            7 | 8 => _ = self.scene.crowd.send(unit, place, place + Vec2::from_ints(1, 0)),
            9 => {
                let prey = self.one();
                let _ = self.scene.crowd.pursue(&self.scene.world, unit, prey, Fx::ONE);
            }
            10 => _ = self.scene.crowd.stop(&self.scene.world, &[unit]),
            11 => self.set_cost(),
            12 => self.build(),
            13 => {
                let kind = if self.rng.below(2) == 0 { BodyKind::Kinematic } else { BodyKind::Dynamic };
                self.scene.world.set_kind(unit, kind).unwrap();
            }
            _ => {
                let is_one = |unit: &BodyId| self.scene.crowd.is_going(*unit).is_some();
                let all: Vec<BodyId> = self.scene.units.iter().copied().filter(is_one).collect();
                let first = self.rng.below(all.len() as u32 + 1) as usize;
                let _ = self.scene.crowd.order(&self.scene.world, &all[first..], &Order::go(place));
            }
        }
    }

    fn step(&mut self, context: &str) {
        let away: BTreeMap<BodyId, Vec2> = self
            .scene
            .world
            .bodies()
            .filter(|body| !body.is_enabled())
            .map(|body| (body.id(), body.position()))
            .collect();
        self.scene.step();
        for &event in self.scene.crowd.events() {
            if let MoveEvent::Arrived(unit) | MoveEvent::GaveUp(unit) | MoveEvent::Unreachable(unit) = event {
                assert!(!away.contains_key(&unit), "{context}: {event:?} of one that is disabled");
            }
        }
        for &unit in &self.scene.units {
            let body = self.scene.world.body(unit).unwrap();
            let most = if self.scene.crowd.is_going(unit).is_some() { 3 } else { 2 };
            assert!(
                (2..=most).contains(&body.dominance()),
                "{context}: rank {} of {unit:?}",
                body.dominance()
            );
            if let Some(&place) = away.get(&unit) {
                assert_eq!(body.position(), place, "{context}: {unit:?} is disabled");
            }
        }
    }
}

/// Whoever is loaded at any time goes on with the same bits; ranks come back; those that are disabled wait; every order ends.
#[test]
fn crowds_whose_units_are_operated_on_keep_their_laws() {
    for seed in 0..share(16) {
        let mut drawn = Drawn::new(seed);
        let mut copy = drawn.clone();
        for frame in 0..200 {
            let context = format!("seed {seed}, frame {frame}");
            for drawn in [&mut drawn, &mut copy] {
                let calls = if drawn.rng.below(3) == 0 { drawn.rng.below(4) } else { 0 };
                (0..calls).for_each(|_| drawn.operate());
                drawn.step(&context);
            }
            drawn.scene.assert_same(&copy.scene, &context);
            let checksum = drawn.scene.crowd.checksum();
            drawn.scene.crowd.hash_units();
            assert_eq!([&drawn, &copy].map(|one| one.scene.crowd.checksum()), [checksum; 2], "{context}");
            copy.scene = drawn.scene.restored();
        }
        let scene = &mut drawn.scene;
        for &unit in &scene.units {
            scene.world.set_enabled(unit, true).unwrap();
            scene.world.set_kind(unit, BodyKind::Dynamic).unwrap();
        }
        (0..70 * RATE).for_each(|frame| drawn.step(&format!("seed {seed}, frame {frame} of the end")));
        let Scene { units, crowd, .. } = &drawn.scene;
        let going = units.iter().filter(|&&unit| crowd.is_going(unit) == Some(true)).count();
        assert_eq!(going, 0, "seed {seed}: {going} units still go");
    }
}
