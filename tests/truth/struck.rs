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
