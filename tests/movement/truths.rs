//! Drawn scenes. The limits were set before the first run: they follow from speeds and diameters.
//!
//! `MOVEMENT_SCENES=1000 cargo test --release -p testudo-tests --test movement truths -- --nocapture` plays more of them; `MOVEMENT_SEED` names the first one.

use std::collections::BTreeSet;

use testudo_movement::{Flows, Going, Neighbour, give_way};
use testudo_physics::math::isqrt_u64;
use testudo_physics::{Fx, Pcg32, Vec2, World};
use testudo_tests::cases::share;

use crate::maps::{HALF, KINDS, Kind, draw};
use crate::scene::{RATE, Scene};

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
    /// Of those that were told: who gave up in a pocket.
    pockets: u32,
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
    let mut flows = Flows::new(1).unwrap();
    let flow = flows.to(&ground, *goal, size).unwrap();
    flows.search_all(&ground, flow);
    let doors = Fx::from_num(starts.len() as u32 * 2) / 3;
    let limits: Vec<Option<u32>> = starts
        .iter()
        .map(|&at| {
            let alone = flows.way(&ground, flow, at).left()? / 3;
            Some(((alone * 3 / 2 + doors) * i64::from(RATE)).to_num())
        })
        .collect();
    // Whoever stands pressed into a rock may be pushed out of it where no path begins.
    let mut found = Vec::new();
    let mut is_pressed = |&at: &Vec2| {
        scene.world.nearest(at, 1, Fx::lit("0.49"), &Default::default(), &mut found).unwrap();
        !found.is_empty()
    };
    let pressed: Vec<bool> = starts.iter().map(&mut is_pressed).collect();
    let units: Vec<_> = starts.iter().map(|&at| scene.add(at)).collect();
    scene.go(&units, *goal);
    let longest = limits.iter().flatten().max().copied().unwrap_or(0).max(RATE) + 40 * RATE;
    for _ in 0..longest {
        scene.step();
    }
    let mut tally = Tally::default();
    for (((unit, &start), limit), is_pressed) in units.iter().zip(starts).zip(limits).zip(pressed) {
        let told = scene.unreachable.iter().any(|&(frame, body)| body == *unit && frame <= 2 * RATE);
        let Some(limit) = limit.filter(|_| !(is_pressed && told)) else {
            // Some where no path begins come free at once.
            let told = told || scene.arrived.iter().any(|(_, body)| body == unit);
            (tally.told, tally.untold) = (tally.told + u32::from(told), tally.untold + u32::from(!told));
            continue;
        };
        let arrived = scene.arrived.iter().find(|(_, body)| body == unit);
        let gave_up = scene.gave_up.iter().any(|(_, body)| body == unit);
        if gave_up && arrived.is_none() && is_in_a_pocket(&draw(kind, seed), start) {
            (tally.told, tally.pockets) = (tally.told + 1, tally.pockets + 1);
            continue;
        }
        tally.reachable += 1;
        tally.arrived += u32::from(arrived.is_some());
        tally.in_time += u32::from(arrived.is_some_and(|&(frame, _)| frame <= limit));
    }
    tally
}

/// Whether a disc a little smaller than a unit, which moves by hair's breadths, gets nowhere from a place. (By cells a unit may seem to be outside of a pocket
/// whose mouth is narrower than itself.)
fn is_in_a_pocket(world: &World, from: Vec2) -> bool {
    const STEPS: i64 = 64;
    let (mut found, mut seen, mut ahead) = (Vec::new(), BTreeSet::new(), vec![[0, 0]]);
    while let Some([x, y]) = ahead.pop() {
        let at = from + Vec2::new(Fx::from_num(x) / STEPS, Fx::from_num(y) / STEPS);
        world.nearest(at, 1, Fx::lit("0.49"), &Default::default(), &mut found).unwrap();
        if found.is_empty() && seen.insert([x, y]) {
            ahead.extend([[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]]);
        }
        // Four units squared.
        if seen.len() > 4 * 4_096 {
            return false;
        }
    }
    true
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

/// All doors of rooms are at least a tenth wider than a unit, therefore every place can be reached. What can be reached elsewhere is asked of the ground.
#[test]
fn in_rooms_everybody_finds_a_door() {
    let (count, first) = scenes();
    let (mut all, mut told) = (0, 0);
    for seed in first..first + count.max(20) {
        let tally = crowd_on_a_map(Kind::Rooms, seed);
        if tally.told > 0 {
            println!("Rooms {seed}: {tally:?}");
        }
        (all, told) = (all + tally.reachable + tally.told, told + tally.told);
    }
    println!("of {all} units {told} were told that they cannot reach their goals");
    assert!(all > 0 && told == 0, "{told} of {all}");
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

/// Two units traded their posts up to sixteen times while they stood in a jam, and each trade looked like progress: both came late.
#[test]
fn who_trades_is_in_time() {
    for (kind, seed) in [(Kind::Rocks, 4_002_450), (Kind::Rocks, 923_000_100), (Kind::Maze, 923_001_711)] {
        let tally = crowd_on_a_map(kind, seed);
        assert_eq!(tally.in_time, tally.reachable, "{kind:?} {seed}");
    }
}

/// A unit that slid along a wall beside its aim took units behind the wall for those that it waits for, and never lost its patience.
#[test]
fn who_is_held_by_a_wall_waits_for_nobody() {
    for (kind, seed) in [(Kind::Maze, 1_276), (Kind::Rooms, 141_002_593), (Kind::Rocks, 12_002_725)] {
        let tally = crowd_on_a_map(kind, seed);
        assert_eq!(tally.in_time, tally.reachable, "{kind:?} {seed}");
    }
}

/// Whoever starts in a pocket whose mouth is .96 or .89 wide gives up.
#[test]
fn who_starts_in_a_pocket_is_told() {
    for seed in [10_555_420, 7_801_295] {
        let tally = crowd_on_a_map(Kind::Rocks, seed);
        assert!(tally.arrived == tally.reachable && tally.pockets == 1 && tally.untold == 0, "{tally:?}");
    }
}

fn all_arrive(scenes: &[(Kind, u64)]) {
    for &(kind, seed) in scenes {
        let tally = crowd_on_a_map(kind, seed);
        assert_eq!(tally.arrived, tally.reachable, "{kind:?} {seed}");
    }
}

/// A wish may be some raw units longer than the speed. Turned onto an axis it was more than a body may have: the world refused it, and a saved crowd was not
/// loaded.
#[test]
fn nobody_is_told_to_be_faster_than_a_body_can_be() {
    let (mut rng, fastest) = (Pcg32::new(5, 5), 1 << 26);
    let mut most = 0;
    for _ in 0..share(400_000) {
        let mut raw = |limit: i64| i64::from(rng.below(2 * limit as u32 + 1)) - limit;
        // A wish as units have it: along their way, with the greatest speed.
        let way = [raw(1 << 23), raw(1 << 23)];
        let far = isqrt_u64((way[0] * way[0] + way[1] * way[1]) as u64) as i64;
        let wish = way.map(|part| Fx::from_bits(part * fastest / far.max(1)));
        let velocity = Vec2::new(wish[0], wish[1]);
        let at = [0, 1].map(|axis| wish[axis] * 3 / 8 + Fx::from_bits(raw(1 << 22)));
        let me = Neighbour { position: Vec2::ZERO, velocity, radius: Fx::ONE, going: None };
        let stands = Neighbour {
            position: Vec2::new(at[0], at[1]),
            velocity: Vec2::ZERO,
            radius: Fx::ONE,
            going: None,
        };
        let going = Going { group: 1, left: Fx::from_num(4_000), wish: velocity, right_ms: 0 };
        let step = give_way(&me, &going, &[stands], false);
        most = most.max(step.velocity.x.to_bits().abs()).max(step.velocity.y.to_bits().abs());
    }
    assert_eq!(most, fastest);
}
