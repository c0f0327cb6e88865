//! Laws of motion with stated tolerances: the results must follow the formulas, whatever the golden values are.

use testudo_physics::{BodyDef, Fx, Vec2, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, momentum, position, rect, run, velocity, world};

#[test]
fn constant_velocity_is_exact_after_ten_minutes_at_any_rate() {
    for fps in [1, 7, 20, 30, 60, 144, 999, 1000] {
        let mut w = world(WorldDef::new());
        let raw = [12_345, -7];
        let speed = Vec2::new(Fx::from_bits(raw[0]), Fx::from_bits(raw[1]));
        let id = add(&mut w, BodyDef::dynamic(circle(500)).velocity(speed));
        // Ten minutes; the body stays awake although it is slower than the sleep speed.
        for _ in 0..600 * fps {
            w.wake_body(id).expect("alive");
            w.step(fps).expect("in range");
        }
        assert_eq!(position(&w, id), [raw[0] * 600, raw[1] * 600], "{fps} fps");
    }
}

#[test]
fn a_change_of_rate_loses_less_than_a_raw_unit() {
    let mut w = world(WorldDef::new().sleep_ms(0));
    let id = add(&mut w, BodyDef::dynamic(circle(500)).velocity(Vec2::new(Fx::from_bits(100_001), Fx::ZERO)));
    let mut changes = 0;
    for second in 0..60 {
        let fps = [20, 60, 30, 50][second % 4];
        run(&mut w, fps, fps);
        changes += 1;
    }
    let expected = 100_001 * 60;
    let drift = expected - position(&w, id)[0];
    assert!((0..=changes).contains(&drift), "{drift} raw units after {changes} changes");
}

#[test]
fn gravity_gives_its_speed_exactly() {
    for fps in [20, 60, 77] {
        let gravity = Vec2::new(Fx::ZERO, Fx::from_bits(-642_911));
        let mut w = world(WorldDef::new().gravity(gravity));
        let id = add(&mut w, BodyDef::dynamic(circle(500)).position(at(0, 1_000_000)));
        run(&mut w, 5 * fps, fps);
        assert_eq!(velocity(&w, id), [0, -642_911 * 5], "{fps} fps");
    }
}

/// All the forces of the time in which a body took no part acted at once when it was back.
#[test]
fn forces_on_disabled_bodies_do_nothing() {
    for before in [false, true] {
        let mut w = world(WorldDef::new());
        let unit = add(&mut w, BodyDef::dynamic(circle(500)).velocity(at(1_000, 0)));
        let push = |w: &mut World| w.apply_force(unit, at(0, 10_000)).expect("in range");
        run(&mut w, 2, 60);
        if before {
            push(&mut w);
        }
        w.set_enabled(unit, false).expect("alive");
        for _ in 0..300 {
            push(&mut w);
            run(&mut w, 1, 60);
        }
        w.set_enabled(unit, true).expect("alive");
        run(&mut w, 1, 60);
        assert_eq!(velocity(&w, unit), [1 << 16, 0], "a force before: {before}");
        push(&mut w);
        run(&mut w, 1, 60);
        assert_eq!(velocity(&w, unit)[1], (10 << 16) / 60);
    }
}

#[test]
fn stopping_distance_under_ground_friction() {
    // v^2 / 2a = 6 * 6 / (2 * 3) = 6 units; the tolerance is the distance of one frame.
    for (fps, direction) in [(20, at(6_000, 0)), (60, at(3_600, 4_800)), (250, at(0, -6_000))] {
        let mut w = world(WorldDef::new());
        let id = add(
            &mut w,
            BodyDef::dynamic(circle(500)).velocity(direction).ground_friction(Fx::const_from_int(3)),
        );
        run(&mut w, 2 * fps + 2, fps);
        let [x, y] = position(&w, id);
        let way = (x * x + y * y).isqrt();
        assert_eq!(velocity(&w, id), [0, 0]);
        assert!((way - (6 << 16)).abs() <= (6 << 16) / i64::from(fps) + 8, "{way} at {fps} fps");
    }
}

#[test]
fn head_on_elastic_exchange() {
    let mut w = world(WorldDef::new());
    let ball = |x: i64| BodyDef::dynamic(circle(500)).position(at(x, 0)).restitution(Fx::ONE);
    let a = add(&mut w, ball(-3_000).velocity(at(4_000, 0)));
    let b = add(&mut w, ball(3_000).velocity(at(-1_000, 0)));
    run(&mut w, 120, 60);
    // Equal masses exchange their velocities; tolerance: one raw unit per pass.
    assert!((velocity(&w, a)[0] + (1 << 16)).abs() <= 8, "{:?}", velocity(&w, a));
    assert!((velocity(&w, b)[0] - (4 << 16)).abs() <= 8, "{:?}", velocity(&w, b));
}

#[test]
fn restitution_ladder() {
    for percent in [10, 25, 50, 75, 90, 100] {
        let mut w = world(WorldDef::new());
        add(&mut w, BodyDef::static_body(rect(1_000, 5_000)).position(at(5_000, 0)));
        let ball = BodyDef::dynamic(circle(500)).velocity(at(8_000, 0)).restitution(milli(percent * 10));
        let id = add(&mut w, ball);
        run(&mut w, 60, 60);
        let expected = -8 * 65_536 * percent / 100;
        assert!((velocity(&w, id)[0] - expected).abs() <= 96, "{percent} %: {:?}", velocity(&w, id));
    }
}

#[test]
fn momentum_is_conserved_exactly_between_equal_masses() {
    for seed in 0..20 {
        let mut chance = Chance::new(seed);
        let mut w = world(WorldDef::new());
        for _ in 0..120 {
            let place = at(chance.between(-6_000, 6_000), chance.between(-6_000, 6_000));
            let speed = at(chance.between(-4_000, 4_000), chance.between(-4_000, 4_000));
            let shape = if chance.below(2) == 0 { circle(500) } else { rect(400, 600) };
            let restitution = milli(chance.between(0, 1000));
            add(&mut w, BodyDef::dynamic(shape).position(place).velocity(speed).restitution(restitution));
        }
        let before = momentum(&w);
        let mut touched = 0;
        for _ in 0..100 {
            run(&mut w, 1, 30);
            touched += w.contacts_began().len();
            if w.bodies().any(|b| !b.is_awake()) {
                break;
            }
            assert_eq!(momentum(&w), before, "seed {seed}");
        }
        assert!(touched > 50, "seed {seed}: hardly anything touched");
    }
}

#[test]
fn friction_between_bodies_slows_what_slides() {
    let slide = |friction: i64| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        add(&mut w, BodyDef::static_body(rect(90_000, 500)).position(at(0, -500)).friction(milli(friction)));
        let sledge = BodyDef::dynamic(rect(500, 500)).position(at(0, 502)).velocity(at(6_000, 0));
        let id = add(&mut w, sledge.friction(milli(friction)));
        run(&mut w, 30, 60);
        velocity(&w, id)[0]
    };
    assert_eq!(slide(0), 6 << 16, "without friction it slides on");
    // Half a second at 0.5 * 10 units/s^2 takes 2.5 units/s; a tenth of that is the tolerance.
    assert!((slide(500) - 229_376).abs() < 16_384, "{}", slide(500));
}

#[test]
fn a_body_locked_along_one_axis_slides_along_the_other() {
    let mut w = world(WorldDef::new().iterations(1));
    let gate = add(&mut w, BodyDef::dynamic(rect(500, 3_000)).locked_axes(true, false));
    let ram = add(&mut w, BodyDef::dynamic(circle(500)).position(at(-1_000, 0)).velocity(at(6_000, 1_000)));
    run(&mut w, 1, 60);
    // A single pass stops the ram: along x the gate has infinite mass. Tolerance: over-relaxation, a quarter.
    assert!(velocity(&w, ram)[0] <= 0, "{:?}", velocity(&w, ram));
    run(&mut w, 60, 60);
    assert_eq!(position(&w, gate)[0], 0, "the gate cannot be pushed along x");
    assert!(position(&w, ram)[0] <= -(1 << 16), "the ram stands before it: {:?}", position(&w, ram));
    w.set_velocity(gate, at(0, 2_000)).expect("in range");
    run(&mut w, 30, 60);
    assert_eq!(position(&w, gate), [0, 1 << 16], "along y it is free");
}

#[test]
fn contacts_begin_stay_and_end_in_order() {
    let mut w = world(WorldDef::new());
    w.list_stayed_contacts(true);
    let a = add(&mut w, BodyDef::dynamic(circle(500)).velocity(at(2_000, 0)).user(1));
    let b = add(&mut w, BodyDef::dynamic(circle(500)).position(at(1_500, 0)).user(2));
    let mut story = String::new();
    for step in 0..60 {
        if step == 40 {
            w.set_velocity(a, at(-5_000, 0)).expect("in range");
        }
        run(&mut w, 1, 20);
        let events = [w.contacts_began(), w.contacts_stayed(), w.contacts_ended()];
        for (letter, events) in ['b', 's', 'e'].into_iter().zip(events) {
            for e in events {
                assert_eq!((e.a, e.b, e.user_a, e.user_b), (a, b, 1, 2));
                story.push(letter);
            }
        }
    }
    assert!(story.starts_with("bs") && story.ends_with("se") && story.matches('b').count() == 1, "{story}");
    assert_eq!(w.contact_count(), 0);
}

#[test]
fn a_heap_in_one_point_bursts_and_comes_to_rest() {
    let mut w = world(WorldDef::new());
    for _ in 0..60 {
        add(&mut w, BodyDef::dynamic(circle(300)).ground_friction(Fx::const_from_int(8)));
    }
    run(&mut w, 600, 20);
    assert!(crate::build::deepest_overlap(&w) < 2_000, "{}", crate::build::deepest_overlap(&w));
    assert!(w.bodies().all(|b| !b.is_awake()), "everybody sleeps in the end");
}

#[test]
fn filters_decide_who_meets() {
    use testudo_physics::Filter;
    let meet = |a: Filter, b: Filter| {
        let mut w = world(WorldDef::new());
        add(&mut w, BodyDef::dynamic(circle(500)).filter(a));
        add(&mut w, BodyDef::dynamic(circle(500)).position(at(600, 0)).filter(b));
        run(&mut w, 2, 20);
        !w.contacts_began().is_empty() || w.contact_count() > 0
    };
    let filter = Filter::new;
    assert!(meet(filter(1, 2), filter(2, 1)));
    assert!(!meet(filter(1, 2), filter(2, 4)), "both must agree");
    assert!(!meet(filter(1, 0), filter(2, u32::MAX)));
}

#[test]
fn a_heavy_body_rests_on_a_light_one() {
    // Mass of the upper body, light bodies below it, frames per second, deepest it may sink meanwhile (thousandths).
    let cases =
        [(1_000, 1, 60, 20), (1_000, 1, 20, 100), (200, 1, 20, 10), (100, 3, 20, 10), (100, 3, 60, 10)];
    for (heavy, below, fps, sinks) in cases {
        for box_shaped in [false, true] {
            let shape = if box_shaped { rect(500, 500) } else { circle(500) };
            let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
            add(&mut w, BodyDef::static_body(rect(50_000, 1_000)).position(at(0, -1_000)));
            for i in 0..below {
                add(&mut w, BodyDef::dynamic(shape).position(at(0, 500 + 1_000 * i)));
            }
            let top = 500 + 1_000 * below;
            let load = BodyDef::dynamic(shape).mass(milli(heavy * 1_000)).position(at(0, top));
            let load = add(&mut w, load);
            let mut lowest = i64::MAX;
            for _ in 0..20 * fps {
                w.step(fps).expect("in range");
                lowest = lowest.min(position(&w, load)[1]);
            }
            let case = format!("1:{heavy} on {below} at {fps} fps, boxes: {box_shaped}");
            let depth = milli(top).to_bits() - lowest;
            assert!(depth <= milli(sinks).to_bits(), "{case}: sank {depth} raw units");
            let end = milli(top).to_bits() - position(&w, load)[1];
            assert!((0..=milli(5).to_bits()).contains(&end), "{case}: ends {end} raw units lower");
            assert!(!w.body(load).expect("alive").is_awake(), "{case}: never sleeps");
        }
    }
}
