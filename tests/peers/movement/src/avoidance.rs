//! Two groups that cross at right angles on open ground.

use std::borrow::Cow;
use std::collections::HashMap;

use cpu_time::ThreadTime;
use dodgy_2d::{Agent, AvoidanceOptions};
use testudo_movement::{Crowd, CrowdDef, GroundDef, MoverDef, Order};
use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::agents;

pub(crate) const RATE: u32 = 20;
pub(crate) const SECONDS: u32 = 120;
pub(crate) const SPEED: f32 = 3.0;

/// What came out.
#[derive(Default)]
pub(crate) struct Outcome {
    total: f64,
    worst: f64,
    frames: u32,
    pub(crate) arrived: usize,
    overlaps: usize,
    deepest: f32,
}

impl Outcome {
    pub(crate) fn note(&mut self, start: ThreadTime) {
        let spent = start.elapsed().as_secs_f64() * 1e3;
        (self.total, self.worst, self.frames) = (self.total + spent, self.worst.max(spent), self.frames + 1);
    }

    /// Counts pairs that overlap by more than a hundredth of a diameter.
    pub(crate) fn look(&mut self, places: &[[f32; 2]]) {
        for (number, a) in places.iter().enumerate() {
            for b in &places[..number] {
                let over = 1.0 - (a[0] - b[0]).hypot(a[1] - b[1]);
                self.overlaps += usize::from(over > 0.01);
                self.deepest = self.deepest.max(over);
            }
        }
    }

    fn print(&self, name: &str, count: usize) {
        println!(
            "| {name}, 2 x {} | {:.3} | {:.2} | {} of {count} | {} | {} | {:.2} |",
            count / 2,
            self.total / f64::from(self.frames),
            self.worst,
            self.arrived,
            self.frames / RATE,
            self.overlaps,
            self.deepest
        );
    }
}

/// Starts: two blocks 5/4 apart; one goes to the right by 70 units, the other one up.
pub(crate) fn starts(half: usize) -> Vec<[i32; 2]> {
    let block = |corner: [i32; 2]| {
        (0..half as i32).map(move |i| [corner[0] * 4 + i % 20 * 5, corner[1] * 4 + i / 20 * 5])
    };
    let reach = (half as i32 / 20 + 1) * 5 / 8;
    block([-50, -reach]).chain(block([-12, -50 - reach])).collect()
}

/// `shift` moves the second group aside, in quarters of a unit.
fn testudo(half: usize, shift: i32) -> Outcome {
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let area = Aabb::from_corners(Vec2::from_ints(-96, -96), Vec2::from_ints(96, 96));
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(area))).expect("a valid ground");
    crowd.survey(&world);
    let units: Vec<BodyId> = starts(half)
        .into_iter()
        .enumerate()
        .map(|(number, at)| {
            let aside = if number >= half { shift } else { 0 };
            let [x, y] = [at[0] + aside, at[1]].map(|part| Fx::from_num(part) / 4);
            let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(Vec2::new(x, y));
            let unit = world.create_body(&disc).expect("all values are in range");
            crowd.add(&world, unit, MoverDef::default()).expect("it fits the ground");
            unit
        })
        .collect();
    let mut outcome = Outcome::default();
    crowd.order(&world, &units[..half], &Order::go(Vec2::from_ints(40, 0))).expect("there is room");
    crowd.order(&world, &units[half..], &Order::go(Vec2::from_ints(0, 40))).expect("there is room");
    for frame in 0..SECONDS * RATE {
        let start = ThreadTime::now();
        crowd.step(&mut world, RATE).expect("a valid rate");
        world.step(RATE).expect("a valid rate");
        outcome.note(start);
        if frame % 100 == 99 {
            let place = |&unit: &BodyId| world.body(unit).map(|body| body.position()).unwrap_or(Vec2::ZERO);
            let places: Vec<_> = units.iter().map(place).map(|at| [at.x.to_num(), at.y.to_num()]).collect();
            outcome.look(&places);
        }
        outcome.arrived = units.iter().filter(|&&unit| crowd.is_going(unit) == Some(false)).count();
        if outcome.arrived == units.len() {
            break;
        }
    }
    outcome
}

/// ORCA: each agent goes to its own place; neighbours are found by a grid of four units.
fn dodgy(half: usize) -> Outcome {
    let vec = dodgy_2d::Vec2::new;
    let mut agents: Vec<Agent> = starts(half)
        .into_iter()
        .map(|at| Agent {
            position: vec(at[0] as f32 / 4.0, at[1] as f32 / 4.0),
            velocity: vec(0.0, 0.0),
            radius: 0.5,
            avoidance_responsibility: 1.0,
        })
        .collect();
    let ways = [vec(78.0, 0.0), vec(0.0, 90.0)];
    let goals: Vec<_> =
        agents.iter().enumerate().map(|(n, agent)| agent.position + ways[usize::from(n >= half)]).collect();
    let options = AvoidanceOptions { obstacle_margin: 0.5, time_horizon: 0.5, obstacle_time_horizon: 0.5 };
    let mut outcome = Outcome::default();
    for frame in 0..SECONDS * RATE {
        let start = ThreadTime::now();
        let step = 1.0 / RATE as f32;
        let square = |at: dodgy_2d::Vec2| ((at.x / 4.0).floor() as i32, (at.y / 4.0).floor() as i32);
        let mut squares: HashMap<(i32, i32), Vec<usize>> = HashMap::new();
        for (number, agent) in agents.iter().enumerate() {
            squares.entry(square(agent.position)).or_default().push(number);
        }
        let velocities: Vec<_> = agents
            .iter()
            .enumerate()
            .map(|(number, agent)| {
                let (x, y) = square(agent.position);
                let mut neighbours = Vec::new();
                for at in (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (x, y))) {
                    for &other in squares.get(&at).map_or(&[][..], |all| all) {
                        if other != number && agents[other].position.distance_squared(agent.position) < 16.0 {
                            neighbours.push(Cow::Borrowed(&agents[other]));
                        }
                    }
                }
                let wish = ((goals[number] - agent.position) * 4.0).clamp_length_max(SPEED);
                agent.compute_avoiding_velocity(&neighbours, &[], wish, SPEED, step, &options)
            })
            .collect();
        for (agent, velocity) in agents.iter_mut().zip(velocities) {
            (agent.velocity, agent.position) = (velocity, agent.position + velocity * step);
        }
        outcome.note(start);
        if frame % 100 == 99 {
            let places: Vec<_> = agents.iter().map(|agent| [agent.position.x, agent.position.y]).collect();
            outcome.look(&places);
        }
        let is_there = |(agent, goal): &(&Agent, &dodgy_2d::Vec2)| agent.position.distance(**goal) < 0.5;
        outcome.arrived = agents.iter().zip(&goals).filter(is_there).count();
        if outcome.arrived == agents.len() {
            break;
        }
    }
    outcome
}

/// Which units meet is chance: one start says little about a crossing. The means of eight.
fn means(half: usize) {
    let outcomes = [-4, 0, 2, 4, 6, 8, 12, 16].map(|shift| testudo(half, shift));
    let mean = |part: fn(&Outcome) -> f64| outcomes.iter().map(part).sum::<f64>() / outcomes.len() as f64;
    println!(
        "| means of eight starts, 2 x {half} | {:.3} | {:.2} | {:.0} of {} | {:.0} | {:.0} | {:.2} |",
        mean(|outcome| outcome.total / f64::from(outcome.frames)),
        mean(|outcome| outcome.worst),
        mean(|outcome| outcome.arrived as f64),
        2 * half,
        mean(|outcome| f64::from(outcome.frames) / f64::from(RATE)),
        mean(|outcome| outcome.overlaps as f64),
        mean(|outcome| outcome.deepest.into()),
    );
}

pub(crate) fn rows(half: usize) {
    testudo(half, 0).print("testudo-movement and the physics' step", 2 * half);
    means(half);
    dodgy(half).print("`dodgy_2d` (ORCA), no collisions", 2 * half);
    agents::landmass(half).print("`landmass` (a mesh and ORCA), no collisions", 2 * half);
    #[cfg(feature = "detour")]
    for (name, range, separates) in [
        ("Detour's crowd", crate::detour::DEMO, false),
        ("Detour's crowd with separation", crate::detour::DEMO, true),
        ("Detour's crowd with separation, a range of two", crate::detour::NEAR, true),
    ] {
        crate::detour::crowd(half, range, separates).print(name, 2 * half);
    }
}
