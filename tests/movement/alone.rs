//! Units that go to goals of their own need no flow field.

use testudo_movement::GIVE_UP_MS;
use testudo_physics::{BodyId, Fx, Pcg32, Vec2, World};
use testudo_tests::cases::cases;

use crate::maps::{HALF, KINDS, draw};
use crate::scene::{RATE, Scene, house, open_world, usual};

/// A crowd on a drawn map that may use so many fields, and no unit yet.
fn scene(world: World, half: i32, fields: u32) -> Scene {
    Scene::of(world, usual(half).fields_max(fields))
}

/// Sixty units with goals of their own on each of twenty maps, or on a quarter of them: how many were sent, have arrived, or were told that there is no path.
fn errands(fields: u32) -> [usize; 3] {
    let [mut sent, mut arrived, mut told] = [0; 3];
    for seed in cases(0..4_u32).map(u64::from) {
        for kind in KINDS {
            let mut scene = scene(draw(kind, seed), HALF, fields);
            let size = scene.crowd.ground().size_of(Fx::ONE / 2).unwrap();
            let mut rng = Pcg32::new(seed, 77);
            let mut place = || Vec2::from_ints(rng.below(31) as i32 - 15, rng.below(31) as i32 - 15);
            for n in 0..120_i32 {
                let at = Vec2::from_ints(n % 12 * 5 / 2 - 14, n / 12 * 3 - 14);
                if scene.crowd.ground().is_open(at, size) && scene.units.len() < 60 {
                    let unit = scene.add(at);
                    scene.go(&[unit], place());
                    sent += 1;
                }
            }
            (0..60 * RATE).for_each(|_| scene.step());
            arrived += scene.arrived.len();
            told += scene.unreachable.len();
        }
    }
    println!("{fields} fields: {arrived} of {sent} arrived, {told} have no path");
    [sent, arrived, told]
}

/// Whoever hangs somewhere takes a field if there is one; those who have not arrived are in jams in doors. (Each unit needed a field: with 64 of them 1,140
/// arrived, with eight of them the ninth order was refused.)
#[test]
fn sixty_units_with_goals_of_their_own_arrive_with_few_fields() {
    for (fields, least) in [(64, 990), (8, 990), (1, 990)] {
        let [sent, arrived, told] = errands(fields);
        assert!((arrived + told) * 1_000 >= sent * least && told < sent / 10, "{fields} fields");
    }
}

/// The search is bounded in each frame, and all get their turn.
#[test]
fn five_hundred_paths_at_once_are_found_one_after_the_other() {
    let mut world = open_world();
    for x in -20..20 {
        house(&mut world, Vec2::new(Fx::from_num(x * 6), Fx::from_num((x & 1) * 3)), Vec2::from_ints(2, 1));
    }
    let mut scene = scene(world, 128, 1);
    let start = |n: i32| Vec2::from_ints(n % 100 * 2 - 100, 90 + n / 100 * 2);
    let units: Vec<BodyId> = (0..500).map(|n| scene.add(start(n))).collect();
    for (n, &unit) in (0..).zip(&units) {
        scene.go(&[unit], Vec2::from_ints(n % 100 * 2 - 100, -90 - n / 100 * 2));
    }
    let mut waiting = Vec::new();
    while waiting.last() != Some(&0) {
        scene.step();
        waiting.push(scene.waiting(&units));
        assert!(waiting.len() < 100, "still waiting: {waiting:?}");
    }
    assert!(waiting[0] > 250, "one frame is enough: {waiting:?}");
    println!("waiting: {waiting:?}");
}

/// They are sent one by one, each to the goal itself, like units that come to another's aid. Each looked for a path of its own, one after the other.
#[test]
fn two_hundred_units_with_one_goal_share_a_field() {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, 40));
    let mut scene = scene(world, 64, 8);
    let units: Vec<BodyId> =
        (0..200).map(|n| scene.add(Vec2::from_ints(-10 - n % 20 * 2, n / 20 * 2 - 10))).collect();
    let goal = Vec2::from_ints(30, 0);
    units.iter().for_each(|&unit| scene.crowd.send(unit, goal, goal).unwrap());
    (0..12).for_each(|_| scene.step());
    assert_eq!(scene.waiting(&units), 0);
}

/// A new building is no reason to stand while others look for their ways.
#[test]
fn who_goes_alone_goes_on_while_the_ground_changes() {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, 40));
    let mut scene = scene(world, 64, 1);
    let units: Vec<BodyId> =
        (0..100).map(|n| scene.add(Vec2::from_ints(-10 - n % 10 * 2, n / 10 * 2 - 10))).collect();
    for (n, &unit) in (0..).zip(&units) {
        scene.go(&[unit], Vec2::from_ints(10 + n % 10 * 2, n / 10 * 2 - 10));
    }
    (0..6 * RATE).for_each(|_| scene.step());
    let before = scene.waiting(&units);
    assert!(before < 50, "{before} have no path yet");
    scene.build(Vec2::from_ints(50, 50), Vec2::from_ints(1, 1));
    for frame in 0..RATE {
        scene.step();
        let now = scene.waiting(&units);
        assert!(now <= before + 2, "{now} of 100 wait in frame {frame}, {before} before");
    }
}

/// Two units go to one goal behind a wall, while another group uses the only field. They waited for ever.
#[test]
fn who_gets_no_field_finds_a_path_without() {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, 20));
    house(&mut world, Vec2::from_ints(-40, 0), Vec2::from_ints(1, 20));
    let (arrived, gave_up) = beside_others(world, 64, Vec2::from_ints(-5, 0), Vec2::from_ints(30, 0));
    assert_eq!((arrived, gave_up), (2, 0));
}

/// The path is longer than a search may be: a hall of walls with a door at each end in turn. The units waited for ever.
#[test]
fn who_gets_no_field_and_has_a_long_way_gives_up() {
    let mut world = open_world();
    for n in 0..20 {
        let aside = if n % 2 == 0 { 2 } else { -2 };
        house(&mut world, Vec2::from_ints(n * 6 - 30, aside), Vec2::from_ints(1, 126));
    }
    house(&mut world, Vec2::from_ints(-80, 0), Vec2::from_ints(1, 20));
    let (arrived, gave_up) = beside_others(world, 128, Vec2::from_ints(-33, 0), Vec2::from_ints(110, 0));
    assert_eq!((arrived, gave_up), (0, 2));
}

/// Two units are sent to one goal while a group uses the only field all the time, around a wall far to the left: how many of the two arrive, and how many give
/// up.
fn beside_others(world: World, half: i32, from: Vec2, goal: Vec2) -> (usize, usize) {
    let mut scene = scene(world, half, 1);
    let pair = [0, 3].map(|y| scene.add(from + Vec2::from_ints(0, y)));
    let left = Vec2::from_ints(-half + 2, -10);
    let others: Vec<BodyId> =
        (0..30).map(|n| scene.add(left + Vec2::from_ints(n % 3 * 2, n / 3 * 2))).collect();
    let wall = if half == 64 { -30 } else { -70 };
    for frame in 0..(GIVE_UP_MS / 1_000 + 25) * RATE {
        if frame.is_multiple_of(RATE / 2) {
            scene.go(&others, Vec2::from_ints(wall, 0));
        }
        if frame == 1 {
            for (unit, y) in pair.into_iter().zip([3, 6]) {
                scene.crowd.send(unit, goal, goal + Vec2::from_ints(0, y)).unwrap();
            }
        }
        scene.step();
    }
    let count = |units: &[(u32, BodyId)]| units.iter().filter(|(_, unit)| pair.contains(unit)).count();
    (count(&scene.arrived), count(&scene.gave_up))
}
