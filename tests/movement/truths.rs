//! Drawn scenes. The limits were set before the first run: they follow from speeds and diameters.
//!
//! `MOVEMENT_SCENES=1000 cargo test --release -p testudo-tests --test movement truths -- --nocapture` plays more of them; `MOVEMENT_SEED` names the first one.

use testudo_movement::Flows;
use testudo_physics::{Fx, Pcg32, Vec2};

use crate::crowds::{RATE, Scene};
use crate::maps::{HALF, KINDS, Kind, draw};

/// How many scenes, and the first seed.
pub(crate) fn scenes() -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    (number("MOVEMENT_SCENES").unwrap_or(10), number("MOVEMENT_SEED").unwrap_or(0))
}

/// A place where a unit can stand, and places for others that do not overlap.
fn stand(scene: &Scene, rng: &mut Pcg32, count: usize) -> Vec<Vec2> {
    let ground = scene.crowd.ground();
    let size = ground.size_of(Fx::ONE / 2).unwrap();
    let mut taken: Vec<Vec2> = Vec::new();
    for _ in 0..20_000 {
        let mut part = || Fx::from_num(rng.below(2 * HALF as u32) as i32 - HALF) + Fx::ONE / 2;
        let at = Vec2::new(part(), part());
        let is_open =
            ground.is_open(at, size) && ground.sees(at, at + Vec2::new(Fx::ONE / 8, Fx::ZERO), size);
        if is_open && taken.iter().all(|other| other.distance(at) > Fx::ONE) {
            taken.push(at);
        }
        if taken.len() == count {
            break;
        }
    }
    taken
}

/// What became of the units of a scene.
#[derive(Debug, Default)]
struct Tally {
    reachable: u32,
    arrived: u32,
    in_time: u32,
    told: u32,
    untold: u32,
}

/// Units go to one goal on a drawn map. Each has half as much time again as its path takes alone, and for each unit the time that a unit takes for two
/// diameters: one diameter through a door and one between two units.
fn crowd_on_a_map(kind: Kind, seed: u64) -> Tally {
    let mut scene = Scene::new(draw(kind, seed), HALF);
    let mut rng = Pcg32::new(seed, 4);
    let count = 5 + rng.below(46) as usize;
    let places = stand(&scene, &mut rng, count + 1);
    let (goal, starts) = places.split_first().expect("maps have open ground");
    let ground = scene.crowd.ground().clone();
    let size = ground.size_of(Fx::ONE / 2).unwrap();
    let mut flows = Flows::new(1);
    let flow = flows.to(&ground, *goal, size).unwrap();
    flows.search_all(&ground, flow);
    let units: Vec<_> = starts.iter().map(|&at| scene.add(at)).collect();
    scene.go(&units, *goal);
    let doors = Fx::from_num(units.len() as u32 * 2) / 3;
    let limits: Vec<Option<u32>> = starts
        .iter()
        .map(|&at| {
            let alone = flows.way(&ground, flow, at).left()? / 3;
            Some(((alone * 3 / 2 + doors) * i64::from(RATE)).to_num())
        })
        .collect();
    let longest = limits.iter().flatten().max().copied().unwrap_or(0).max(RATE) + 40 * RATE;
    for _ in 0..longest {
        scene.step();
    }
    let mut tally = Tally::default();
    for (unit, limit) in units.iter().zip(limits) {
        let Some(limit) = limit else {
            // Some stand pressed into a rock where no path begins, and come free at once.
            let came_free = scene.arrived.iter().any(|(_, body)| body == unit);
            let told = scene.unreachable.iter().any(|&(frame, body)| body == *unit && frame <= 2 * RATE);
            let told = told || came_free;
            (tally.told, tally.untold) = (tally.told + u32::from(told), tally.untold + u32::from(!told));
            continue;
        };
        tally.reachable += 1;
        let arrived = scene.arrived.iter().find(|(_, body)| body == unit);
        tally.arrived += u32::from(arrived.is_some());
        tally.in_time += u32::from(arrived.is_some_and(|&(frame, _)| frame <= limit));
    }
    tally
}

#[test]
fn units_on_drawn_maps_arrive_and_the_others_are_told() {
    let (count, first) = scenes();
    println!("{count} scenes from seed {first}");
    let mut all = Tally::default();
    let mut late = 0;
    for seed in first..first + count {
        let kind = KINDS[(seed % KINDS.len() as u64) as usize];
        let tally = crowd_on_a_map(kind, seed);
        if tally.in_time < tally.reachable || tally.untold > 0 {
            println!("{kind:?} {seed}: {tally:?}");
            late += 1;
        }
        all.reachable += tally.reachable;
        all.arrived += tally.arrived;
        all.in_time += tally.in_time;
        all.told += tally.told;
        all.untold += tally.untold;
    }
    println!("{late} of {count} scenes with late or lost units; {all:?}");
    assert!(all.reachable > 0, "not interesting");
    // Late units are counted above and not refused: the README says how many there are.
    assert_eq!((all.reachable - all.arrived, all.untold), (0, 0), "seeds from {first}");
}

/// A unit passed its aim by a tenth of a unit, into a cell from which the path leads back, and swung around it until it gave up.
#[test]
fn no_unit_swings_around_its_aim() {
    all_arrive(&[(Kind::Rocks, 4_100_290), (Kind::Rocks, 4_100_585), (Kind::Rocks, 7_500_795)]);
}

/// A unit was pushed into a pocket from which no step leads, a hand's breadth behind a corner, and was told that its goal is unreachable.
#[test]
fn who_is_pushed_into_a_pocket_comes_out_again() {
    all_arrive(&[(Kind::Rocks, 4_400_315)]);
}

/// Two units that were jammed traded their posts to and fro, and took each trade for progress.
#[test]
fn nobody_trades_for_ever() {
    all_arrive(&[(Kind::Maze, 4_100_481), (Kind::Islands, 4_100_529), (Kind::Cave, 4_100_792)]);
}

fn all_arrive(scenes: &[(Kind, u64)]) {
    for &(kind, seed) in scenes {
        let tally = crowd_on_a_map(kind, seed);
        assert_eq!(tally.arrived, tally.reachable, "{kind:?} {seed}");
    }
}
