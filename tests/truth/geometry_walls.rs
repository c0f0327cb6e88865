//! Truths about walls that consist of many rectangles, and about the world's edge.

use testudo_physics::{BodyDef, BodyKind, EdgePolicy, Fx, Vec2, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, raw, rect, run, velocity, world};
use crate::frame::{RATES, Truth, about};

/// A floor of flush tiles below y = 0, or a wall of them left of x = 0 when `turned`; 400 units long.
fn tiles(w: &mut World, chance: &mut Chance, turned: bool) {
    let mut begin = -20_000;
    while begin < 400_000 {
        let (length, depth) = (chance.between(500, 3_000), chance.between(300, 2_000));
        let ([x, y], [half_x, half_y]) = turn([begin + length, -depth], [length, depth], turned);
        add(w, BodyDef::static_body(rect(half_x, half_y)).position(at(x, y)));
        begin += 2 * length;
    }
}

fn turn(v: [i64; 2], w: [i64; 2], turned: bool) -> ([i64; 2], [i64; 2]) {
    if turned { ([v[1], v[0]], [w[1], w[0]]) } else { (v, w) }
}

/// A box or a disc that gravity holds on flush tiles glides over them without loss, however fast it is.
#[test]
fn who_slides_over_flush_tiles_glides() {
    Truth::hear("sliding over seams", "geometry: a plane", 1..=24, |truth, chance, seed| {
        let turned = chance.below(2) == 0;
        let extent = chance.between(150, 1_500);
        let (shape, high) = if chance.below(2) == 0 {
            (circle(extent), extent)
        } else {
            (rect(extent, extent * 2 / 3), extent * 2 / 3)
        };
        let high = if turned && shape != circle(extent) { extent } else { high };
        let speed = chance.between(1_000, 100_000);
        for fps in RATES {
            let (pull, way) = turn([0, -10_000], [speed, 0], turned);
            let mut w = world(WorldDef::new().gravity(at(pull[0], pull[1])).sleep_ms(0));
            tiles(&mut w, chance, turned);
            let (place, _) = turn([0, high], [0, 0], turned);
            let body = BodyDef::dynamic(shape).position(at(place[0], place[1]));
            let id = add(&mut w, body.velocity(at(way[0], way[1])));
            let seconds = (300_000 / speed).clamp(1, 8);
            let axis = usize::from(turned);
            let mut highest = i64::MIN;
            for _ in 0..seconds as u32 * fps {
                run(&mut w, 1, fps);
                highest = highest.max((position(&w, id)[1 - axis] - milli(high).to_bits()).abs());
            }
            let case = format!("seed {seed}, {fps} fps, {shape:?}, speed {speed}, turned {turned}");
            let whole = milli(speed * seconds);
            truth.expect(&case, about(whole, milli(20)), Fx::from_bits(position(&w, id)[axis]));
            truth.expect(&case, about(Fx::ZERO, milli(15)), Fx::from_bits(highest));
        }
    });
}

/// A disc that meets a floor of tiles at 45 degrees keeps its speed along it.
#[test]
fn a_disc_that_falls_on_seams_loses_nothing_along_them() {
    Truth::hear(
        "meeting a floor of tiles at 45 degrees",
        "geometry: a plane",
        1..=40,
        |truth, chance, seed| {
            let (radius, speed) = (chance.between(150, 1_500), chance.between(1_000, 60_000));
            let turned = chance.below(2) == 0;
            for fps in RATES {
                let mut w = world(WorldDef::new().sleep_ms(0));
                tiles(&mut w, chance, turned);
                let high = chance.between(1_000, 4_000);
                let (place, way) = turn([chance.between(0, 3_000), radius + high], [speed, -speed], turned);
                let disc = BodyDef::dynamic(circle(radius)).position(at(place[0], place[1]));
                let id = add(&mut w, disc.velocity(at(way[0], way[1])));
                // Pressed on for as long as the floor goes, as by a player's order.
                for _ in 0..(150_000 / speed).clamp(1, 5) as u32 * fps {
                    run(&mut w, 1, fps);
                    let mut now = raw(w.body(id).expect("alive").velocity());
                    let axis = usize::from(turned);
                    let along = Fx::from_bits(now[axis]);
                    let case =
                        format!("seed {seed}, {fps} fps, radius {radius}, speed {speed}, turned {turned}");
                    truth.expect(case, about(milli(speed), milli(5)), along);
                    now[1 - axis] = milli(-speed).to_bits();
                    let push = Vec2::new(Fx::from_bits(now[0]), Fx::from_bits(now[1]));
                    w.set_velocity(id, push).expect("in range");
                }
            }
        },
    );
}

/// A step in the floor stops a box: seams are forgiven, steps are not.
#[test]
fn a_step_in_the_floor_stops_a_box() {
    Truth::hear("running into a step", "geometry", 1..=30, |truth, chance, seed| {
        let (half, step) = (chance.between(200, 1_000), chance.between(60, 500));
        let speed = chance.between(1_000, 40_000);
        for fps in RATES {
            let mut w = world(WorldDef::new().gravity(at(0, -10_000)).sleep_ms(0));
            add(&mut w, BodyDef::static_body(rect(5_000, 500)).position(at(0, -500)));
            add(&mut w, BodyDef::static_body(rect(5_000, 500)).position(at(10_000, -500 + step)));
            let id =
                add(&mut w, BodyDef::dynamic(rect(half, half)).position(at(0, half)).velocity(at(speed, 0)));
            run(&mut w, 6 * fps, fps);
            let case = format!("seed {seed}, {fps} fps, half {half}, step {step}, speed {speed}");
            truth.expect(&case, about(milli(5_000 - half), milli(10)), Fx::from_bits(position(&w, id)[0]));
            truth.expect(&case, about(Fx::ZERO, milli(1)), Fx::from_bits(velocity(&w, id)[0]));
        }
    });
}

/// A body that can move is nowhere else than within the bounds, wherever it is created or put.
#[test]
fn who_can_move_stays_within_the_bounds() {
    Truth::hear("the world's edge", "the bounds", 1..=40, |truth, chance, seed| {
        let half = chance.between(2_000, 20_000);
        let bounds = testudo_physics::Aabb::from_center_half(Vec2::ZERO, at(half, half));
        let edge = if chance.below(2) == 0 { EdgePolicy::Stop } else { EdgePolicy::Bounce };
        for fps in RATES {
            let mut w = world(WorldDef::new().bounds(bounds).edge(edge));
            let mut place = || at(chance.between(-60_000, 60_000), chance.between(-60_000, 60_000));
            let walls = [place(), place()];
            let kinds = [BodyKind::Dynamic, BodyKind::Kinematic];
            let ids: Vec<_> = (0..10)
                .map(|i| {
                    let body = BodyDef::new(kinds[i % 2], circle(500)).position(place()).velocity(place());
                    add(&mut w, body)
                })
                .collect();
            let fixed = walls.map(|wall| add(&mut w, BodyDef::static_body(circle(500)).position(wall)));
            let inside = |w: &World, ids: &[testudo_physics::BodyId]| {
                ids.iter().all(|&id| bounds.contains(w.body(id).expect("alive").position()))
            };
            let case = format!("seed {seed}, {fps} fps, bounds {half}, {edge:?}");
            truth.claim(&case, inside(&w, &ids), "a body created outside");
            for frame in 0..20 {
                if frame == 10 {
                    for &id in &ids {
                        w.set_position(id, place()).expect("in range");
                    }
                    truth.claim(&case, inside(&w, &ids), "a body put outside");
                }
                run(&mut w, 1, fps);
                truth.claim(&case, inside(&w, &ids), "a body that moved outside");
            }
            let stand =
                fixed.iter().zip(walls).all(|(&id, wall)| w.body(id).expect("alive").position() == wall);
            truth.claim(&case, stand, "a wall that does not stand where it was built");
        }
    });
}
