//! The ground changes while units are on their way.

use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Shape, Vec2};

use crate::scene::{RATE, Scene, house, open_world, usual};

/// Units in five columns that march 40 units far.
fn marchers(count: i32, half: i32, fields_max: u32) -> Scene {
    let mut scene = Scene::of(open_world(), usual(half).fields_max(fields_max));
    for i in 0..count {
        scene.add(Vec2::from_ints(-20 - 2 * (i % 5), 2 * (i / 5)));
    }
    let units = scene.units.clone();
    scene.go(&units, Vec2::from_ints(20, 0));
    scene
}

/// All but those that went alone were told `Unreachable` where they were.
#[test]
fn a_house_on_the_goal_of_marching_units_does_not_end_their_orders() {
    for (count, fields_max) in [(1, 64), (2, 64), (20, 64), (20, 1)] {
        let mut scene = marchers(count, 32, fields_max);
        let goal = Vec2::from_ints(20, 0);
        (0..2 * RATE).for_each(|_| scene.step());
        scene.build(goal, Vec2::from_ints(1, 1));
        (0..40 * RATE).for_each(|_| scene.step());
        let told = (scene.arrived.len(), scene.unreachable.len(), scene.gave_up.len());
        assert_eq!(told, (count as usize, 0, 0), "{count} units, {fields_max} fields");
        for &unit in &scene.units {
            let place = scene.world.body(unit).unwrap().position();
            assert!(place.distance(goal) < Fx::from_num(8), "{count} units: one at {place:?}");
        }
    }
}

#[test]
fn a_goal_without_open_ground_around_it_is_told_to_be_unreachable() {
    let mut scene = marchers(20, 80, 64);
    (0..RATE).for_each(|_| scene.step());
    scene.build(Vec2::from_ints(20, 0), Vec2::from_ints(34, 34));
    (0..RATE).for_each(|_| scene.step());
    assert_eq!((scene.arrived.len(), scene.unreachable.len()), (0, 20));
}

/// A unit before a door in which a body stands that is no obstacle of the ground. Also the halves of the wall.
fn before_a_plug() -> (Scene, [BodyId; 2]) {
    let mut world = open_world();
    let walls = [-1, 1].map(|side| house(&mut world, Vec2::from_ints(0, side * 21), Vec2::from_ints(1, 20)));
    let mut scene = Scene::new(world, 40);
    let plug = BodyDef::dynamic(Shape::circle(Fx::lit("1.2"))).locked_axes(true, true);
    scene.world.create_body(&plug).unwrap();
    let unit = scene.add(Vec2::from_ints(-10, 0));
    scene.go(&[unit], Vec2::from_ints(8, 0));
    (scene, walls)
}

/// Each change, wherever it was, gave all units new patience: these orders never ended. (The more often it changes, the longer its path is looked for, and that
/// time does not count.)
#[test]
fn a_unit_that_is_held_up_gives_up_in_time_while_the_ground_changes_far_away() {
    for (period, most) in [(0, 30), (300, 30), (100, 30), (20, 40), (7, 80)] {
        let (mut scene, _) = before_a_plug();
        let corner = Aabb::from_center_half(Vec2::from_ints(-38, -38), Vec2::from_ints(1, 1));
        let mut frame = 0;
        while scene.gave_up.is_empty() {
            frame += 1;
            assert!(frame < most * RATE, "a change every {period} frames: it goes on");
            if period > 0 && frame % period == 0 {
                let cost = 1 + (frame / period % 2) as u8;
                scene.crowd.set_cost(&scene.world, corner, cost).unwrap();
            }
            scene.step();
        }
        println!("a change every {period} frames: gave up after {frame} frames");
        assert!(frame > 20 * RATE, "{period}: gave up after {frame} frames");
    }
}

#[test]
fn a_unit_whose_way_becomes_another_one_is_patient_anew() {
    let (mut scene, [_, upper]) = before_a_plug();
    (0..21 * RATE).for_each(|_| scene.step());
    assert!(scene.gave_up.is_empty());
    // The door is closed, and the upper wall ends ten units earlier.
    scene.pull_down(upper);
    scene.build(Vec2::from_ints(0, 15), Vec2::new(Fx::ONE, Fx::from_num(14)));
    scene.build(Vec2::ZERO, Vec2::from_ints(1, 1));
    (0..40 * RATE).for_each(|_| scene.step());
    assert_eq!((scene.arrived.len(), scene.gave_up.len(), scene.unreachable.len()), (1, 0, 0));
}

/// Some of these panicked.
#[test]
fn a_survey_of_an_area_that_is_turned_inside_out_changes_nothing() {
    let mut world = open_world();
    let mut scene = Scene::new(world.clone(), 32);
    world.create_body(&BodyDef::static_body(Shape::circle(Fx::ONE))).unwrap();
    let mut ground = scene.crowd.ground().clone();
    for x in [(8, -11), (8, -9), (1, 0), (30, -30), (2_000, -2_000)] {
        for y in [(-3, 3), (3, -3), (1, 0), (8, -11)] {
            let area = Aabb { min: Vec2::from_ints(x.0, y.0), max: Vec2::from_ints(x.1, y.1) };
            scene.crowd.survey_area(&world, area);
            ground.survey_area(&world, area);
            assert_eq!((&ground, scene.crowd.ground()), (scene.crowd.ground(), &ground), "{area:?}");
            assert!(ground.is_open(Vec2::ZERO, ground.size_of(Fx::ONE / 2).unwrap()), "{area:?}");
        }
    }
}

/// Each change near the goal began the search again: units whose way takes longer to find than a quarter of a second never set out.
#[test]
fn units_from_afar_arrive_though_something_is_built_at_their_goal_again_and_again() {
    for whole_up_to in [1 << 18, 0] {
        let walk = |period: u32| {
            // 36,864 cells at 512 per frame.
            let def = usual(96).cells_per_frame(512).whole_up_to(whole_up_to);
            let mut scene = Scene::of(open_world(), def);
            let units = [0, 1].map(|y| scene.add_with(Vec2::from_ints(-90, 2 * y), 8));
            scene.go(&units, Vec2::from_ints(85, 0));
            let mut gate = None;
            while scene.arrived.len() < 2 {
                if scene.frame.is_multiple_of(period) {
                    scene.swing(&mut gate, Vec2::from_ints(88, 4), Vec2::from_ints(1, 1));
                }
                scene.step();
                assert!(
                    scene.frame < 60 * RATE,
                    "{whole_up_to}, every {period} frames: {:?}",
                    scene.place(units[0])
                );
            }
            scene.frame
        };
        let (still, busy) = (walk(u32::MAX), walk(RATE / 4));
        assert!(busy < still + 2 * RATE, "{whole_up_to}: {busy} frames instead of {still}");
    }
}
