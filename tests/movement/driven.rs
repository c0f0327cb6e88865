//! Whole crowds with drawn rates, grounds, budgets and changes: every order ends with one event per unit, in a time that follows from the budget.

use testudo_movement::Order;
use testudo_physics::{BodyId, Fx, Pcg32, Vec2};
use testudo_tests::cases::share;

use crate::paths::size;
use crate::scene::{Scene, house, open_world, usual};

const RATES: [u32; 6] = [10, 20, 30, 60, 144, 333];

/// Units per second.
const SPEED: u32 = 6;

struct Drive {
    scene: Scene,
    rng: Pcg32,
    half: i32,
    rate: u32,
    cells: u32,
    groups: u32,
}

impl Drive {
    fn new(seed: u64) -> Self {
        let mut rng = Pcg32::new(seed, 77);
        let rate = RATES[rng.below(6) as usize];
        let half = [24, 48, 96][rng.below(3) as usize];
        let cells = [300, 1_000, 4_000, 16_384][rng.below(4) as usize];
        let fields_max = [1, 2, 4, 64][rng.below(4) as usize];
        let whole_up_to = [0, 1 << 18][rng.below(2) as usize];
        let def = usual(half).fields_max(fields_max).cells_per_frame(cells).whole_up_to(whole_up_to);
        let scene = Scene::unsurveyed(open_world(), def);
        let mut drive = Self { scene, rng, half, rate, cells, groups: 0 };
        for n in 0..half * half / 100 {
            let long = 1 + drive.rng.below(6) as i32;
            let half = if n % 2 == 0 { Vec2::from_ints(long, 1) } else { Vec2::from_ints(1, long) };
            let place = drive.place();
            house(&mut drive.scene.world, place, half);
        }
        drive.scene.crowd.survey(&drive.scene.world);
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
        let size = size(self.scene.crowd.ground());
        let mut taken: Vec<Vec2> = Vec::new();
        while taken.len() < 24 {
            let at = self.place();
            if !self.scene.crowd.ground().is_open(at, size)
                || taken.iter().any(|other| other.distance(at) < Fx::ONE * 2)
            {
                continue;
            }
            taken.push(at);
            self.scene.add_with(at, SPEED as i32);
        }
        let mut units = self.scene.units.clone();
        while !units.is_empty() {
            let count = [1, 1, 2, 5][self.rng.below(4) as usize].min(units.len());
            let group: Vec<BodyId> = units.drain(..count).collect();
            let goal = self.place();
            let Scene { world, crowd, units: ordered, .. } = &mut self.scene;
            match crowd.order(world, &group, &Order::go(goal)) {
                Ok(()) => self.groups += 1,
                // All fields are in use: nobody goes.
                Err(_) => ordered.retain(|unit| !group.contains(unit)),
            }
        }
    }

    /// Frames in which all fields are searched once, with what single paths and plans leave of the budget.
    fn searches(&self) -> u32 {
        let cells = (4 * self.half * self.half).unsigned_abs();
        self.groups * (4 * cells).div_ceil(self.cells)
    }

    /// How many events each unit had whose order was accepted.
    fn told(&self) -> Vec<usize> {
        let Scene { arrived, gave_up, unreachable, units, .. } = &self.scene;
        let all: Vec<_> = [arrived, gave_up, unreachable].into_iter().flatten().collect();
        units.iter().map(|unit| all.iter().filter(|(_, told)| told == unit).count()).collect()
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
        while drive.told().contains(&0) {
            if changes && frame % period == 0 {
                drive.scene.swing(&mut house, Vec2::ZERO, Vec2::from_ints(3, 3));
            }
            drive.scene.step_at(drive.rate);
            frame += 1;
            let late = drive.told().iter().filter(|&&told| told == 0).count();
            assert!(frame < most, "seed {seed}, {} frames per second: {late} were told nothing", drive.rate);
        }
        assert!(drive.told().iter().all(|&told| told == 1), "seed {seed}: {:?}", drive.told());
    }
}
