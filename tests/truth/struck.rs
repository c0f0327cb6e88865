//! Truths about what moving walls and ranks do to small bodies within a frame.

use testudo_physics::{BodyDef, Fx, WorldDef};

use crate::build::{add, at, circle, milli, position, rect, run, world};
use crate::frame::{RATES, Truth};

/// A lift that passes a static slab was taken for one that the slab stops, and ran through what lay on it.
#[test]
fn nobody_passes_through_a_wall_that_passes_another_one() {
    Truth::hear("a lift through a slab", "geometry", 1..=20, |truth, chance, seed| {
        let (thick, radius) = (chance.between(50, 200), chance.between(100, 400));
        let (gap, speed) = (chance.between(0, 400), chance.between(5_000, 40_000));
        for fps in RATES {
            let mut w = world(WorldDef::new());
            add(&mut w, BodyDef::static_body(rect(3_000, thick)).position(at(0, -thick)));
            let lift = BodyDef::kinematic(rect(1_000, 100)).position(at(0, -2 * thick - gap - 100));
            let lift = add(&mut w, lift.velocity(at(0, speed)));
            let disc = add(&mut w, BodyDef::dynamic(circle(radius)).position(at(0, radius)));
            let mut least = i64::MAX;
            for _ in 0..fps {
                run(&mut w, 1, fps);
                let apart = position(&w, disc)[1] - position(&w, lift)[1];
                least = least.min(apart - milli(radius + 100).to_bits());
            }
            let case = format!(
                "seed {seed}, {fps} fps, slab {thick}, radius {radius}, lift at {speed} from {gap} below"
            );
            truth.expect(case, milli(-20)..=Fx::MAX, Fx::from_bits(least));
        }
    });
}

/// A moving wall counts as fast above twice the growth of its box. Just below it moved further than the boxes of a small disc and itself reach.
#[test]
fn nobody_passes_through_a_moving_wall_that_is_hardly_not_fast() {
    Truth::hear("kinematic wall against a small disc", "geometry", 1..=40, |truth, chance, seed| {
        let (radius, thick) = (chance.between(20, 50), chance.between(20, 40));
        let (way, gap) = (chance.between(190, 200), 100 + radius / 4 + chance.between(1, 20));
        for fps in RATES {
            for sleep in [0, 100] {
                let mut w = world(WorldDef::new().sleep_ms(sleep));
                let disc = add(&mut w, BodyDef::dynamic(circle(radius)));
                run(&mut w, fps, fps);
                let start = -radius - thick - gap;
                let wall = BodyDef::kinematic(rect(thick, 1_000)).position(at(start, 0));
                let wall = add(&mut w, wall.velocity(at(way * i64::from(fps), 0)));
                run(&mut w, fps, fps);
                let case = format!(
                    "seed {seed}, {fps} fps, radius {radius}, thickness {thick}, {way} per frame from {gap}, sleep {sleep}"
                );
                let apart = position(&w, disc)[0] - position(&w, wall)[0] - milli(radius + thick).to_bits();
                truth.expect(case, milli(-20)..=Fx::MAX, Fx::from_bits(apart));
            }
        }
    });
}

/// A body that one of a higher rank strikes, or one that cannot move along the normal, takes all of the change. It was swept with its part by mass,
/// and jumped over the next one.
#[test]
fn who_is_struck_by_a_higher_rank_jumps_over_nobody() {
    let law = "a row before a higher rank";
    Truth::hear(law, "bodies do not pass through each other", 1..=40, |truth, chance, seed| {
        let (radius, count) = (chance.between(60, 300), chance.between(2, 4));
        let (near, far) = (chance.between(10, 900), chance.between(100, 4_000));
        let (speed, start) = (chance.between(5_000, 60_000), chance.between(0, 1_000));
        for fps in RATES {
            for locked in [false, true] {
                let mut w = world(WorldDef::new());
                let disc = BodyDef::dynamic(circle(radius)).restitution(Fx::ONE);
                let ram = disc.position(at(-start, 0)).velocity(at(speed, 0));
                let ram = if locked { ram.locked_axes(true, false) } else { ram.dominance(1) };
                let mut row = vec![add(&mut w, ram)];
                for i in 0..count {
                    let place = at(2 * radius + near + i * (2 * radius + far), 0);
                    row.push(add(&mut w, disc.position(place)));
                }
                let case = format!(
                    "seed {seed}, {fps} fps, {count} of {radius}, {near} and {far} apart, {speed} from {start}, locked {locked}"
                );
                for _ in 0..2 * fps {
                    run(&mut w, 1, fps);
                    let in_order =
                        row.windows(2).all(|pair| position(&w, pair[0])[0] < position(&w, pair[1])[0]);
                    truth.claim(&case, in_order, "they changed places");
                }
            }
        }
    });
}
