//! Nothing passes through a wall, however thin it is and however fast the body.

use testudo_physics::{BodyDef, Fx, Vec2, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, rect, run, world};

#[test]
fn bullets_stop_at_thin_walls_at_every_rate() {
    for fps in [1, 2, 5, 20, 60, 200, 1000] {
        for speed in [3, 50, 400, 1024] {
            for (radius, wall) in [(50, 10), (500, 1), (500, 100)] {
                let mut w = world(WorldDef::new());
                add(&mut w, BodyDef::static_body(rect(wall, 50_000)).position(at(700_000, 0)));
                let place = at(690_000 - i64::from(fps % 7) * 113, 0);
                let bullet =
                    BodyDef::dynamic(circle(radius)).position(place).velocity(Vec2::from_ints(speed, 0));
                let id = add(&mut w, bullet);
                run(&mut w, 4 * fps + 8, fps);
                assert!(
                    position(&w, id)[0] < 700 << 16,
                    "radius {radius}, wall {wall}, {speed} units/s at {fps} fps: {:?}",
                    position(&w, id)
                );
            }
        }
    }
}

#[test]
fn a_gas_stays_in_its_box() {
    for seed in 0..6 {
        let mut chance = Chance::new(seed);
        let mut w = world(WorldDef::new());
        for (x, y, hx, hy) in
            [(0, 20, 21_000, 100), (0, -20, 21_000, 100), (20, 0, 100, 21_000), (-20, 0, 100, 21_000)]
        {
            let wall = BodyDef::static_body(rect(hx, hy)).position(at(x * 1000, y * 1000));
            add(&mut w, wall.restitution(Fx::ONE));
        }
        let gas: Vec<_> = (0..80)
            .map(|_| {
                let place = at(chance.between(-17_000, 17_000), chance.between(-17_000, 17_000));
                let speed = at(chance.between(-500_000, 500_000), chance.between(-500_000, 500_000));
                let body = BodyDef::dynamic(circle(chance.between(100, 600))).position(place).velocity(speed);
                add(&mut w, body.restitution(milli(chance.between(0, 1000))))
            })
            .collect();
        run(&mut w, 200, 20);
        for &id in &gas {
            let [x, y] = position(&w, id);
            assert!(x.abs() < 20 << 16 && y.abs() < 20 << 16, "seed {seed}: body {id:?} escaped to {x}, {y}");
        }
    }
}
