//! Golden scenes: every machine must produce exactly these bits. Each scene also asserts something that holds whatever the golden value is. The
//! scenes of [`crate::scenes`] have golden values, too: those here are the ones that have no like there.

use std::fmt::Write;

use testudo_physics::{BodyDef, BodyId, ChainDef, EdgePolicy, Fx, PolygonDef, Vec2, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, momentum, position, rect, run, saved, velocity, world};
use crate::levels::forced;

/// Checksum, sizes and a few positions together, so that a failure shows its kind at once.
fn portrait(world: &World, watched: &[BodyId]) -> String {
    let snapshot = saved(world);
    let mut text = format!(
        "checksum {:016x}\nframe {}, bodies {}, contacts {}, snapshot {} bytes\n",
        world.checksum(),
        world.frame(),
        world.body_count(),
        world.contact_count(),
        snapshot.len()
    );
    for &id in watched {
        let b = world.body(id).expect("alive");
        let awake = if b.is_awake() { "awake" } else { "asleep" };
        let (p, v) = (b.position(), b.velocity());
        writeln!(text, "body {} at ({}, {}) moving ({}, {}), {awake}", id.index(), p.x, p.y, v.x, v.y)
            .expect("writing to a string");
    }
    text
}

/// The same scene with every instruction set of this machine must agree at every step; [`crate::levels`] reports which there are.
fn run_both(world: &mut World, steps: u32, fps: u32, mut drive: impl FnMut(&mut World)) {
    let bytes = saved(world);
    let mut others: Vec<(&str, World)> = forced()
        .into_iter()
        .filter(|&(_, name)| name != world.instruction_set())
        .map(|(simd, name)| {
            let mut other = World::new(WorldDef::new().simd(simd)).expect("defaults");
            other.restore(&bytes).expect("own bytes");
            assert_eq!(other.instruction_set(), name, "restoring keeps the instructions");
            (name, other)
        })
        .collect();
    for step in 0..steps {
        drive(world);
        run(world, 1, fps);
        for (name, other) in &mut others {
            drive(other);
            run(other, 1, fps);
            assert_eq!(world.checksum(), other.checksum(), "step {step}, {name}");
        }
    }
}

#[test]
fn stack_pushed_by_a_crowd() {
    let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)).iterations(12));
    add(&mut w, BodyDef::static_body(rect(60_000, 1000)).position(at(0, -1000)).friction(milli(600)));
    let boxes: Vec<BodyId> = (0..8)
        .map(|i| {
            add(&mut w, BodyDef::dynamic(rect(500, 500)).position(at(0, 505 + i * 1010)).friction(milli(600)))
        })
        .collect();
    run(&mut w, 120, 60);
    let top = position(&w, boxes[7])[1];
    assert!((top - (15 << 15)).abs() < 1 << 14, "the stack settled at its height: {top}");
    let crowd: Vec<BodyId> = (0..6)
        .map(|i| {
            add(&mut w, BodyDef::dynamic(circle(400)).position(at(-6_000 - i * 900, 400)).mass(milli(4_000)))
        })
        .collect();
    run_both(&mut w, 240, 60, |w| {
        for &unit in &crowd {
            w.apply_force(unit, Vec2::from_ints(30, 0)).expect("in range");
        }
    });
    assert!(position(&w, boxes[0])[0] > 1 << 16, "the lowest box was pushed away");
    assert!(
        w.bodies().all(|b| b.position().y > milli(-300) || b.mass() == Fx::ZERO),
        "nobody sinks into the floor"
    );
    insta::assert_snapshot!(portrait(&w, &[boxes[0], boxes[7], crowd[5]]));
}

#[test]
fn mass_ratios_of_one_to_a_thousand() {
    let mut w = world(WorldDef::new());
    let pair = |w: &mut World, y: i64, light: i64, heavy: i64| {
        let a = add(
            w,
            BodyDef::dynamic(circle(500)).position(at(0, y)).mass(milli(heavy)).velocity(at(5_000, 0)),
        );
        let b = add(w, BodyDef::dynamic(circle(500)).position(at(4_000, y)).mass(milli(light)));
        [a, b]
    };
    let pairs = [
        pair(&mut w, 0, 1000, 1000),
        pair(&mut w, 5_000, 1000, 1_000_000),
        pair(&mut w, 10_000, 1_000_000, 1000),
        pair(&mut w, 15_000, 30, 12_000_000),
    ];
    let before = momentum(&w);
    run_both(&mut w, 120, 60, |_| {});
    let after = momentum(&w);
    // Stated bound: a raw unit of velocity of the heavier body per pass and contact; here 9 passes and some 8 frames.
    let bound = 72 * (12_000 << 16);
    assert!((after[0] - before[0]).abs() <= bound, "momentum {before:?} became {after:?}");
    assert_eq!(velocity(&w, pairs[0][0]), velocity(&w, pairs[0][1]), "an inelastic pair goes on together");
    assert!(velocity(&w, pairs[1][1])[0] > 49 * (5 << 16) / 50, "the heavy one hardly notices");
    assert!(velocity(&w, pairs[2][0])[0] < (5 << 16) / 50, "the light one stops");
    insta::assert_snapshot!(portrait(&w, pairs.as_flattened()));
}

#[test]
fn huge_and_tiny_bodies() {
    let mut w = world(WorldDef::new());
    let moon = add(&mut w, BodyDef::dynamic(circle(400_000)).mass(milli(9_000_000)).velocity(at(2_000, 0)));
    let wall = add(&mut w, BodyDef::static_body(rect(50_000, 4_000_000)).position(at(900_000, 0)));
    let mut chance = Chance::new(5);
    let dust: Vec<BodyId> = (0..500)
        .map(|_| {
            let place = at(chance.between(401_000, 420_000), chance.between(-9_000, 9_000));
            add(&mut w, BodyDef::dynamic(circle(chance.between(2, 60))).position(place).mass(milli(10)))
        })
        .collect();
    run_both(&mut w, 150, 30, |_| {});
    let swept = dust.iter().filter(|&&id| velocity(&w, id)[0] > 1 << 16).count();
    assert!(swept > 50, "the moon sweeps the dust along: {swept}");
    let inside = dust.iter().filter(|&&id| {
        let (p, m) = (position(&w, id), position(&w, moon));
        let [dx, dy] = [p[0] - m[0], p[1] - m[1]];
        (dx * dx + dy * dy).isqrt() < 399 << 16
    });
    assert_eq!(inside.count(), 0, "no dust inside the moon");
    insta::assert_snapshot!(portrait(&w, &[moon, wall, dust[0], dust[499]]));
}

#[test]
fn worlds_edge() {
    let bounds = testudo_physics::Aabb { min: Vec2::from_ints(-10, -10), max: Vec2::from_ints(10, 10) };
    let mut watched = Vec::new();
    for (edge, expected) in [(EdgePolicy::Stop, 0), (EdgePolicy::Bounce, -(4 << 16))] {
        let mut w = world(WorldDef::new().bounds(bounds).edge(edge));
        let runner = BodyDef::dynamic(circle(500)).velocity(at(8_000, 0)).restitution(milli(500));
        let id = add(&mut w, runner);
        run_both(&mut w, 30, 20, |_| {});
        assert_eq!(velocity(&w, id)[0], expected, "{edge:?}");
        assert!(position(&w, id)[0] <= 10 << 16);
        watched.push(portrait(&w, &[id]));
    }
    insta::assert_snapshot!(watched.join("\n"));
}

/// Hills, a cave that is solid inwards, a ledge and polygons, and what falls on them.
#[test]
fn discs_and_boxes_on_terrain() {
    let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
    let hills: Vec<_> = (-12..=12).map(|i: i64| at(i * 1_700, (i * i * 97) % 1_900 + i * i * 40)).collect();
    let hills = w.create_chain(&ChainDef::new(&hills).friction(milli(300))).expect("a good chain");
    let ledge = [at(3_000, 6_000), at(-1_000, 7_000), at(-4_000, 6_500)];
    w.create_chain(&ChainDef::new(&ledge).one_sided(true).friction(milli(500))).expect("a good chain");
    let rock =
        [at(-9_000, 3_000), at(-6_500, 3_500), at(-6_000, 5_000), at(-8_000, 6_500), at(-9_500, 5_000)];
    w.create_polygon(&PolygonDef::new(&rock).radius(milli(200)).restitution(milli(400)))
        .expect("a good polygon");
    let units: Vec<BodyId> = (0..60)
        .map(|i| {
            let size = 250 + i * 13 % 400;
            let shape = if i % 3 == 0 { rect(size, 400) } else { circle(size) };
            let body = BodyDef::dynamic(shape).position(at(i % 10 * 2_000 - 9_000, 10_000 + i / 10 * 2_000));
            add(&mut w, body.friction(milli(i % 4 * 150)).dominance((i % 2) as i8))
        })
        .collect();
    w.set_pair_ignored(units[4], units[14], true).expect("alive");
    w.set_velocity(units[59], at(20_000, -70_000)).expect("in range");
    run_both(&mut w, 200, 30, |_| {});
    w.remove_body(hills[12]).expect("alive");
    run_both(&mut w, 100, 30, |_| {});
    let touching = w.contacts().filter(|c| hills.contains(&c.a)).count();
    assert!(touching >= 10, "only {touching} lie on the hills");
    insta::assert_snapshot!(portrait(&w, &[units[0], units[14], units[59]]));
}
