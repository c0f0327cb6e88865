//! Whole crowds with drawn rates, grounds, budgets and changes: every order ends with one event per unit, in a time that follows from the budget.

use testudo_movement::{Crowd, CrowdDef, GroundDef, MoveEvent, MoverDef, Order};
use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Pcg32, Shape, Vec2, World, WorldDef};
use testudo_tests::cases::share;

use crate::maps::square;

const RATES: [u32; 6] = [10, 20, 30, 60, 144, 333];

/// Units per second.
const SPEED: u32 = 6;

struct Drive {
    world: World,
    crowd: Crowd,
    rng: Pcg32,
    half: i32,
    rate: u32,
    cells: u32,
    groups: u32,
    /// How many events each unit had.
    told: Vec<(BodyId, u32)>,
}

impl Drive {
    fn new(seed: u64) -> Self {
        let mut rng = Pcg32::new(seed, 77);
        let rate = RATES[rng.below(6) as usize];
        let half = [24, 48, 96][rng.below(3) as usize];
        let cells = [300, 1_000, 4_000, 16_384][rng.below(4) as usize];
        let fields_max = [1, 2, 4, 64][rng.below(4) as usize];
        let whole_up_to = [0, 1 << 18][rng.below(2) as usize];
        let def = CrowdDef::new(GroundDef::new(square(half))).fields_max(fields_max);
        let crowd = Crowd::new(&def.cells_per_frame(cells).whole_up_to(whole_up_to)).unwrap();
        let world = World::new(WorldDef::new()).unwrap();
        let mut drive = Self { world, crowd, rng, half, rate, cells, groups: 0, told: Vec::new() };
        for n in 0..half * half / 100 {
            let long = Fx::from_num(1 + drive.rng.below(6));
            let shape = if n % 2 == 0 { Shape::rect(long, Fx::ONE) } else { Shape::rect(Fx::ONE, long) };
            let wall = BodyDef::static_body(shape).position(drive.place());
            drive.world.create_body(&wall).unwrap();
        }
        drive.crowd.survey(&drive.world);
        drive
    }

    /// Somewhere outside of the middle.
    fn place(&mut self) -> Vec2 {
        loop {
            let mut part = || self.rng.below(2 * self.half as u32) as i32 - self.half;
            let [x, y] = [part(), part()];
            if x.abs().max(y.abs()) > 8 {
                return Vec2::from_ints(x, y) + Vec2::new(Fx::ONE / 2, Fx::ONE / 2);
            }
        }
    }

    /// Units with orders, alone and in groups.
    fn send(&mut self) {
        let size = self.crowd.ground().size_of(Fx::ONE / 2).unwrap();
        let mut taken: Vec<Vec2> = Vec::new();
        while taken.len() < 24 {
            let at = self.place();
            if !self.crowd.ground().is_open(at, size)
                || taken.iter().any(|other| other.distance(at) < Fx::ONE * 2)
            {
                continue;
            }
            taken.push(at);
            let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(at);
            let unit = self.world.create_body(&disc).unwrap();
            let pace = MoverDef { speed: Fx::from_num(SPEED), ..MoverDef::default() };
            self.crowd.add(&self.world, unit, pace).unwrap();
            self.told.push((unit, 0));
        }
        let mut units: Vec<BodyId> = self.told.iter().map(|&(unit, _)| unit).collect();
        while !units.is_empty() {
            let count = [1, 1, 2, 5][self.rng.below(4) as usize].min(units.len());
            let group: Vec<BodyId> = units.drain(..count).collect();
            let goal = self.place();
            match self.crowd.order(&self.world, &group, &Order::go(goal)) {
                Ok(()) => self.groups += 1,
                // All fields are in use: nobody goes.
                Err(_) => self.told.retain(|(unit, _)| !group.contains(unit)),
            }
        }
    }

    /// Frames in which all fields are searched once, with what single paths and plans leave of the budget.
    fn searches(&self) -> u32 {
        let cells = (4 * self.half * self.half).unsigned_abs();
        self.groups * (4 * cells).div_ceil(self.cells)
    }

    /// A house in the middle comes or goes.
    fn swing(&mut self, house: &mut Option<BodyId>) {
        match house.take() {
            Some(house) => self.world.remove_body(house).unwrap(),
            None => {
                let wall = BodyDef::static_body(Shape::rect(Fx::from_num(3), Fx::from_num(3)));
                *house = Some(self.world.create_body(&wall).unwrap());
            }
        }
        self.crowd.survey_area(&self.world, Aabb::from_center_half(Vec2::ZERO, Vec2::from_ints(3, 3)));
    }

    fn step(&mut self) {
        self.crowd.step(&mut self.world, self.rate).unwrap();
        self.world.step(self.rate).unwrap();
        for event in self.crowd.events() {
            if let MoveEvent::Arrived(unit) | MoveEvent::GaveUp(unit) | MoveEvent::Unreachable(unit) = event {
                let told = self.told.iter_mut().find(|(body, _)| body == unit).unwrap();
                told.1 += 1;
            }
        }
    }
}

#[test]
fn every_order_ends_with_one_event_in_a_time_that_follows_from_the_budget() {
    for seed in 0..share(48) {
        let mut drive = Drive::new(seed);
        drive.send();
        let changes = drive.rng.below(2) == 0;
        // Between two changes there is a second to walk.
        let period = drive.searches() + drive.rate;
        // Twice across the ground, two spans of patience, and all searches, each as often as the ground changes meanwhile.
        let seconds = 8 * drive.half.unsigned_abs() / SPEED + 40;
        let most = if changes { seconds * period } else { seconds * drive.rate + drive.searches() };
        let (mut house, mut frame) = (None, 0);
        while drive.told.iter().any(|&(_, told)| told == 0) {
            if changes && frame % period == 0 {
                drive.swing(&mut house);
            }
            drive.step();
            frame += 1;
            let late = drive.told.iter().filter(|&&(_, told)| told == 0).count();
            assert!(frame < most, "seed {seed}, {} frames per second: {late} were told nothing", drive.rate);
        }
        assert!(drive.told.iter().all(|&(_, told)| told == 1), "seed {seed}: {:?}", drive.told);
    }
}
