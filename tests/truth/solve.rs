//! Truths about collisions: what two bodies, a gas and a ball on the ground do.

use testudo_physics::{BodyDef, BodyId, Fx, Vec2, World, WorldDef};

use crate::build::{ONE, add, at, circle, energy, milli, momentum, position, rect, run, velocity, world};
use crate::frame::{RATES, Truth, about, step};

/// Four walls around a square of this half extent, thousandths.
pub(crate) fn add_walls(w: &mut World, half: i64, like: impl Fn(BodyDef) -> BodyDef) {
    let (off, long) = (half + 2_000, half + 4_000);
    for (x, y, hx, hy) in
        [(off, 0, 2_000, long), (-off, 0, 2_000, long), (0, off, long, 2_000), (0, -off, long, 2_000)]
    {
        add(w, like(BodyDef::static_body(rect(hx, hy)).position(at(x, y))));
    }
}

/// The part of `whole` that `part` is.
pub(crate) fn ratio(part: i128, whole: i128) -> Fx {
    Fx::from_bits(((part << 16) / whole) as i64)
}

/// Two discs meet head-on: `v1' = ((m1 - e m2) v1 + (1 + e) m2 v2) / (m1 + m2)`, which keeps momentum and the part e of the closing speed.
#[test]
fn two_discs_meet_head_on() {
    let source = "conservation of momentum, Newton's restitution";
    Truth::at_rates("head-on collision", source, 1..=20, |truth, chance, seed, fps| {
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
            let expected = ((1_000 * m[i] - e * m[j]) * v[i] + (1_000 + e) * m[j] * v[j]) / (m[0] + m[1]);
            let case =
                format!("seed {seed}, {fps} fps, masses {masses:?}, speeds {speeds:?}, e {e}, disc {i}");
            let seen = Fx::from_bits(velocity(&w, ids[i])[0]);
            truth.expect(case, about(milli((expected / 1_000) as i64), milli(10)), seen);
        }
    });
}

#[test]
fn an_elastic_gas_keeps_its_energy() {
    Truth::at_rates("elastic gas", "conservation of energy", 1..=2, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        add_walls(&mut w, 20_000, |wall| wall.restitution(Fx::ONE));
        for i in 0..200 {
            let place = at(i % 15 * 2_600 - 18_200, i / 15 * 2_800 - 18_200);
            let (x, y) = (chance.between(-10_000, 10_000), chance.between(-10_000, 10_000));
            let disc = BodyDef::dynamic(circle(500)).position(place).velocity(at(x, y));
            add(&mut w, disc.restitution(Fx::ONE));
        }
        let (before, mut most) = (energy(&w), 0);
        let frames = if fps == 20 && seed == 1 { 10_000 } else { 50 * fps };
        for _ in 0..frames {
            step(&mut w, fps);
            most = most.max(energy(&w));
        }
        let case = format!("seed {seed}, {fps} fps, {frames} frames");
        truth.expect(&case, Fx::lit("0.99")..=Fx::ONE, ratio(energy(&w), before));
        truth.expect(format!("{case}, at its highest"), Fx::ZERO..=Fx::lit("1.0001"), ratio(most, before));
    });
}

/// Clusters of touching bodies that fly in all directions: no energy appears, whatever the order of contacts.
#[test]
fn contacts_add_no_energy_and_keep_momentum() {
    let source = "conservation of momentum, work of contacts with e <= 1";
    Truth::at_rates("cluster of touching bodies", source, 1..=30, |truth, chance, seed, fps| {
        let e = chance.between(0, 1_000).min(chance.between(500, 1_500)).min(1_000);
        let mut w = world(WorldDef::new().sleep_ms(0));
        for i in 0..12 {
            let (row, column) = (i / 4, i % 4);
            // A triangular packing: rows are sqrt(3)/2 apart.
            let place = at(1_001 * column + 500 * (row % 2), 868 * row);
            let speed = at(chance.between(-9_000, 9_000), chance.between(-9_000, 9_000));
            add(&mut w, BodyDef::dynamic(circle(500)).position(place).velocity(speed).restitution(milli(e)));
        }
        let (p, mut before) = (momentum(&w), energy(&w));
        for frame in 0..fps {
            step(&mut w, fps);
            let case = format!("seed {seed}, {fps} fps, e {e}, frame {frame}");
            truth.expect(&case, Fx::ZERO..=Fx::lit("1.0005"), ratio(energy(&w), before));
            truth.claim(&case, momentum(&w) == p, format_args!("momentum {:?}, not {p:?}", momentum(&w)));
            before = energy(&w);
        }
    });
}

/// Heights that a ball reaches between its bounces, raw units above the ground.
fn peaks(w: &mut World, ball: BodyId, frames: u32, fps: u32) -> Vec<i64> {
    let (mut peaks, mut last, mut rises) = (Vec::new(), i64::MAX, false);
    for _ in 0..frames {
        step(w, fps);
        let height = position(w, ball)[1] - ONE / 2;
        if height < last && rises {
            peaks.push(last);
        }
        // At the top two frames may be equally high.
        (rises, last) = (height > last || rises && height == last, height);
    }
    peaks
}

#[test]
fn a_bouncing_ball_follows_its_restitution_and_never_gains_height() {
    Truth::at_rates(
        "bouncing ball",
        "h' = e^2 h; conservation of energy",
        1..=6,
        |truth, chance, seed, fps| {
            for e in [chance.between(300, 999), 1_000] {
                let (height, g) = (chance.between(2_000, 6_000), chance.between(5_000, 20_000));
                let mut w = world(WorldDef::new().gravity(Vec2::new(Fx::ZERO, milli(-g))));
                add(&mut w, BodyDef::static_body(rect(50_000, 1_000)).position(at(0, -1_000)));
                let ball = BodyDef::dynamic(circle(500)).position(at(0, height + 500)).restitution(milli(e));
                let ball = add(&mut w, ball);
                let peaks = peaks(&mut w, ball, 30 * fps, fps);
                let case = format!("seed {seed}, {fps} fps, e {e}/1000, g {g}/1000, from {height}/1000");
                // It turns at most one frame's way before the ground, where only the speed counts e times.
                let way = (2 * g * height).isqrt() / i64::from(fps);
                let lost = height * (1_000_000 - e * e) / 1_000_000;
                let early = way.min(lost) * (1_000_000 - e * e) / 1_000_000;
                let expected = milli(height - lost - 30 - height / 20)..=milli(height - lost + early + 30);
                let first = peaks.first().copied().unwrap_or(0);
                truth.expect(format!("{case}, first peak"), expected, Fx::from_bits(first));
                let highest = peaks.iter().copied().max().unwrap_or(0);
                truth.expect(&case, Fx::ZERO..=milli(height + 5), Fx::from_bits(highest));
                if e == 1_000 {
                    let last = peaks.last().copied().unwrap_or(0);
                    truth.expect(
                        format!("{case}, last peak"),
                        milli(height * 97 / 100)..=milli(height + 5),
                        Fx::from_bits(last),
                    );
                }
            }
        },
    );
}

#[test]
fn ground_friction_brakes_along_the_way_whatever_the_rate() {
    Truth::hear("ground friction", "s = v^2 / 2 a", 1..=6, |truth, chance, seed| {
        for fps in RATES.into_iter().chain([1_000]) {
            let (x, y) = (chance.between(500, 2_000), chance.between(500, 2_000));
            // It takes at most some 30 seconds.
            let friction = chance.between(100, 400);
            let mut w = world(WorldDef::new().sleep_ms(0));
            let disc = BodyDef::dynamic(circle(500)).velocity(at(x, y)).ground_friction(milli(friction));
            let id = add(&mut w, disc);
            for _ in 0..30 * fps {
                step(&mut w, fps);
            }
            let speed = (x * x + y * y).isqrt();
            let case = format!("seed {seed}, {fps} fps, speed {x}, {y}, friction {friction}, thousandths");
            let seen = position(&w, id);
            for (axis, part) in [x, y].into_iter().enumerate() {
                // Half a frame's way, a thousandth, and half a degree.
                let way = part * speed / (2 * friction);
                let tolerance = part / i64::from(fps) + way / 100 + 5;
                truth.expect(
                    format!("{case}, axis {axis}"),
                    about(milli(way), milli(tolerance)),
                    Fx::from_bits(seen[axis]),
                );
            }
        }
    });
}
