//! Truths about collisions and contacts.

use testudo_physics::{BodyDef, Fx, WorldDef};

use crate::build::{add, at, circle, milli, run, velocity, world};
use crate::frame::{RATES, Truth, about};

/// Two discs meet head-on: `v1' = ((m1 - e m2) v1 + (1 + e) m2 v2) / (m1 + m2)`, which keeps momentum and the part e of the closing speed.
#[test]
fn two_discs_meet_head_on() {
    Truth::hear(
        "head-on collision",
        "conservation of momentum, Newton's restitution",
        1..=20,
        |truth, chance, seed| {
            for fps in RATES {
                let masses = [chance.between(100, 5_000), chance.between(100, 5_000)];
                let speeds = [chance.between(1_000, 8_000), -chance.between(1_000, 8_000)];
                let e = chance.between(0, 1_000);
                let mut w = world(WorldDef::new().sleep_ms(0));
                let ids = [0, 1].map(|i| {
                    let disc = BodyDef::dynamic(circle(500)).position(at([-6_000, 6_000][i], 0));
                    add(&mut w, disc.velocity(at(speeds[i], 0)).mass(milli(masses[i])).restitution(milli(e)))
                });
                // They touch after 11 units at the closing speed.
                let frames = 11_000 * i64::from(fps) / (speeds[0] - speeds[1]) + 5;
                run(&mut w, frames as u32, fps);
                let [m, v] = [masses, speeds].map(|pair| pair.map(i128::from));
                let e = i128::from(e);
                for (i, j) in [(0, 1), (1, 0)] {
                    let expected =
                        ((1_000 * m[i] - e * m[j]) * v[i] + (1_000 + e) * m[j] * v[j]) / (m[0] + m[1]);
                    let case = format!(
                        "seed {seed}, {fps} fps, masses {masses:?}, speeds {speeds:?}, e {e}, disc {i}"
                    );
                    let seen = Fx::from_bits(velocity(&w, ids[i])[0]);
                    truth.expect(case, about(milli((expected / 1_000) as i64), milli(10)), seen);
                }
            }
        },
    );
}
