//! Elastic scenes keep their energy.

use testudo_physics::{BodyDef, Fx, WorldDef};

use crate::build::{Chance, add, at, circle, energy, rect, run, world};

#[test]
fn four_hundred_elastic_steps_keep_99_percent_of_the_energy() {
    for seed in 0..4 {
        let mut chance = Chance::new(seed);
        let mut w = world(WorldDef::new());
        for (x, y, hx, hy) in [(0, 31, 32, 1), (0, -31, 32, 1), (31, 0, 1, 32), (-31, 0, 1, 32)] {
            add(
                &mut w,
                BodyDef::static_body(rect(hx * 1000, hy * 1000))
                    .position(at(x * 1000, y * 1000))
                    .restitution(Fx::ONE),
            );
        }
        for i in 0..300i64 {
            let place = at(i % 18 * 3_200 - 27_500, i / 18 * 3_200 - 27_500);
            let shape = if i % 2 == 0 { circle(500) } else { rect(500, 500) };
            let speed = at(chance.between(-5_000, 5_000), chance.between(-5_000, 5_000));
            add(&mut w, BodyDef::dynamic(shape).position(place).velocity(speed).restitution(Fx::ONE));
        }
        let before = energy(&w);
        let mut collisions = 0;
        for _ in 0..400 {
            run(&mut w, 1, 60);
            collisions += w.contacts_began().len();
        }
        let kept = energy(&w) * 10_000 / before;
        assert!(
            (9_900..=10_050).contains(&kept),
            "seed {seed}: {kept} of 10000 after {collisions} collisions"
        );
        assert!(collisions > 300, "seed {seed}: only {collisions} collisions");
    }
}
