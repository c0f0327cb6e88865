//! Allocations of a step: none in a steady state, and never more than stated. A counting allocator checks this.

use testudo_movement::{Crowd, CrowdDef, GroundDef, MoverDef};
use testudo_physics::{Aabb, BodyDef, BodyId, ChainDef, Fx, PolygonDef, Shape, Vec2, World, WorldDef};
use testudo_tests::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn frame(world: &mut World, units: &[BodyId], step: u32) {
    for (i, &id) in units.iter().enumerate() {
        // Two blocks that march back and forth through each other, so that the number of contacts has an upper bound.
        let turn = if (step / 60).is_multiple_of(2) { 1 } else { -1 };
        let side = if i < units.len() / 2 { 3 } else { -3 };
        world.set_velocity(id, Vec2::from_ints(turn * side, 0)).expect("in range");
    }
    world.step(20).expect("in range");
}

#[test]
fn a_steady_step_does_not_allocate() {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    for i in 0..20 {
        let wall = Shape::Rect { half_extents: Vec2::from_ints(1, 1) };
        world
            .create_body(&BodyDef::static_body(wall).position(Vec2::from_ints(i * 7 - 70, 9)))
            .expect("in range");
    }
    let units: Vec<BodyId> = (0..1_000)
        .map(|i| {
            let (block, i) = (i / 500, i % 500);
            let place = Vec2::from_ints(block * 40 - 35 + i % 25, i / 25 * 2 - 20);
            let unit = Shape::Circle { radius: Fx::from_bits(32_000) };
            world.create_body(&BodyDef::dynamic(unit).position(place)).expect("in range")
        })
        .collect();
    for step in 0..480 {
        frame(&mut world, &units, step);
    }
    let before = Counting::counts().allocations;
    let mut contacts = 0;
    for step in 0..120 {
        frame(&mut world, &units, step);
        contacts += world.contact_count();
    }
    let allocations = Counting::counts().allocations - before;
    assert!(contacts > 10_000, "the crowd touches: {contacts}");
    assert_eq!(allocations, 0, "allocations in 120 steady steps");
}

/// Units pursue one in a closed room, and others that go to and fro behind a wall: they look for paths all the time.
#[test]
fn a_steady_step_of_pursuers_does_not_allocate() {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    for (at, half) in
        [([0, 0], [1, 12]), ([20, 5], [5, 1]), ([20, -5], [5, 1]), ([15, 0], [1, 5]), ([25, 0], [1, 5])]
    {
        let shape = Shape::rect(Fx::from_num(half[0]), Fx::from_num(half[1]));
        let wall = BodyDef::static_body(shape).position(Vec2::from_ints(at[0], at[1]));
        world.create_body(&wall).expect("in range");
    }
    let area = Aabb::from_corners(Vec2::from_ints(-32, -32), Vec2::from_ints(32, 32));
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(area))).expect("a good ground");
    crowd.survey(&world);
    let mut add = |x: i32, y: i32| {
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(Vec2::from_ints(x, y));
        let unit = world.create_body(&disc).expect("in range");
        crowd.add(&world, unit, MoverDef::default()).expect("it fits");
        unit
    };
    let preys = [add(20, 0), add(6, 20), add(8, -20)];
    let units: Vec<BodyId> = (0..30).map(|n| add(-6 - n % 5 * 2, n / 5 * 3 - 8)).collect();
    for (n, &unit) in units.iter().enumerate() {
        crowd.pursue(&world, unit, preys[n % 3], Fx::ONE).expect("a unit");
    }
    let (mut allocations, mut looked) = (0, 0);
    for frame in 0..2_000 {
        if frame % 200 == 0 {
            let y = if frame % 400 == 0 { -20 } else { 20 };
            for (&prey, y) in preys[1..].iter().zip([y, -y]) {
                crowd.send(prey, Vec2::from_ints(8, y), Vec2::from_ints(8, y)).expect("a unit");
            }
        }
        let before = Counting::counts().allocations;
        crowd.step(&mut world, 20).expect("a valid rate");
        // By then both goals of the preys have their fields: a prey that is stuck takes one.
        if frame >= 1_600 {
            allocations += Counting::counts().allocations - before;
        }
        world.step(20).expect("in range");
        crowd.visit_numbers(&mut |number| looked += i32::from(number.name == "waits_ms" && number.value > 0));
    }
    assert!(looked > 5_000, "they look for paths: {looked}");
    assert_eq!(allocations, 0, "allocations in 400 steady steps");
}

#[test]
fn a_steady_step_on_terrain_does_not_allocate() {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    // A pen for half of them, too narrow for their march.
    let pen = [(-36, -15), (-20, -14), (-19, 0), (-20, 15), (-36, 14)].map(|(x, y)| Vec2::from_ints(x, y));
    world.create_chain(&ChainDef::new(&pen).closed(true)).expect("a good chain");
    let rock = [(-6, 0), (0, -3), (7, 0), (0, 4)].map(|(x, y)| Vec2::from_ints(x, y));
    world.create_polygon(&PolygonDef::new(&rock)).expect("a good polygon");
    let units: Vec<BodyId> = (0..300)
        .map(|i| {
            let (block, i) = (i / 150, i % 150);
            let place = Vec2::from_ints(block * 40 - 35 + i % 15, i / 15 * 2 - 8);
            let unit = Shape::circle(Fx::lit("0.5"));
            world.create_body(&BodyDef::dynamic(unit).position(place)).expect("in range")
        })
        .collect();
    world.set_pair_ignored(units[0], units[1], true).expect("alive");
    for step in 0..480 {
        frame(&mut world, &units, step);
    }
    let before = Counting::counts().allocations;
    let mut on_terrain = 0;
    for step in 0..120 {
        frame(&mut world, &units, step);
        let terrain = |id| world.body(id).is_some_and(|body| body.terrain().is_some());
        on_terrain += world.contacts().filter(|contact| terrain(contact.a)).count();
    }
    let allocations = Counting::counts().allocations - before;
    assert!(on_terrain > 30, "the crowd touches the terrain: {on_terrain}");
    assert_eq!(allocations, 0, "allocations in 120 steady steps");
}

/// Rollback: a kept world, and one that is put back and stepped again.
#[test]
fn a_copy_into_a_kept_world_does_not_allocate() {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    let units: Vec<BodyId> = (0..1_000)
        .map(|i| {
            let (block, i) = (i / 500, i % 500);
            let place = Vec2::from_ints(block * 40 - 35 + i % 25, i / 25 * 2 - 20);
            let unit = Shape::Circle { radius: Fx::from_bits(32_000) };
            world.create_body(&BodyDef::dynamic(unit).position(place).user(7)).expect("in range")
        })
        .collect();
    let (mut kept, mut ahead) = (world.clone(), world.clone());
    let mut roll_back = |steps: core::ops::Range<u32>| {
        for step in steps {
            kept.clone_from(&world);
            for next in step..step + 3 {
                frame(&mut world, &units, next);
            }
            ahead.clone_from(&world);
            world.clone_from(&kept);
            frame(&mut world, &units, step);
        }
        world.contact_count()
    };
    roll_back(0..480);
    let before = Counting::counts().allocations;
    let contacts = roll_back(480..600);
    let allocations = Counting::counts().allocations - before;
    assert!(contacts > 100, "the crowd touches: {contacts}");
    assert_eq!(allocations, 0, "allocations in 120 rollbacks");
}

#[test]
fn ten_thousand_in_one_point_need_under_200_megabytes() {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    for _ in 0..10_000 {
        world.create_body(&BodyDef::dynamic(Shape::circle(Fx::lit("0.5")))).expect("in range");
    }
    for _ in 0..3 {
        world.step(20).expect("in range");
    }
    let peak = Counting::counts().bytes_peak / 1_000_000;
    assert!(world.contact_count() > 100_000, "they touch: {}", world.contact_count());
    assert!((10..200).contains(&peak), "{peak} MB");
}
