//! Truths about damping: it slows down what moves freely, and throws nobody.

use testudo_physics::{BodyDef, BodyKind, Fx, WorldDef};

use crate::build::{add, at, circle, milli, position, raw, rect, run, velocity, world};
use crate::frame::{RATES, Truth, about};

#[test]
fn who_is_damped_loses_its_speed_as_a_decay_says() {
    Truth::hear("decay", "v = v0 e^(-d t)", 1..=20, |truth, chance, seed| {
        let (speed, damping) = (chance.between(1_000, 60_000), chance.between(1, 2));
        let e = Fx::lit("0.36788");
        for fps in RATES {
            let mut w = world(WorldDef::new());
            let def = BodyDef::dynamic(circle(500)).velocity(at(speed, -speed / 2));
            let id = add(&mut w, def.damping(Fx::from_num(damping)));
            let before = velocity(&w, id);
            // As long as e^(-d t) is 1 / e.
            run(&mut w, fps / damping as u32, fps);
            for (before, now) in before.map(i64::abs).into_iter().zip(velocity(&w, id).map(i64::abs)) {
                // Frames take a little more than the decay does, and each is rounded.
                let most = Fx::from_bits(before) * e;
                let less = Fx::from_bits(before * damping / (4 * i64::from(fps)));
                let range = most - less..=most + Fx::from_bits(i64::from(fps));
                truth.expect(format!("seed {seed}, {fps} fps, damping {damping}"), range, Fx::from_bits(now));
            }
        }
    });
}

/// The solver gives gravity in parts. It took the whole of it back out of velocities of which damping had left little, so strongly damped bodies rose.
#[test]
fn who_is_damped_falls_and_does_not_rise() {
    Truth::hear("a damped fall", "v' = g - d v", 1..=20, |truth, chance, seed| {
        let (gravity, damping) = (chance.between(1_000, 20_000), chance.between(1_000, 40_000));
        let aside = chance.between(1_000, 20_000);
        for fps in RATES {
            let mut w = world(WorldDef::new().gravity(at(0, -gravity)));
            let id = add(&mut w, BodyDef::dynamic(circle(500)).damping(milli(damping)));
            let case = format!("seed {seed}, {fps} fps, gravity {gravity}, damping {damping}, force {aside}");
            let mut place = position(&w, id);
            for frame in 0..3 * fps {
                w.apply_force(id, at(aside, 0)).expect("alive");
                run(&mut w, 1, fps);
                let (now, speed) = (position(&w, id), velocity(&w, id));
                let way = [now[0] - place[0], place[1] - now[1]].map(|way| way * i64::from(fps));
                let against = way.into_iter().min().expect("two axes");
                truth.claim(&case, against >= 0, format!("against the pull by {against} in frame {frame}"));
                if frame >= 2 * fps {
                    // The mean of a frame's parts: they begin with what damping has left of the velocity, and end with the velocity.
                    let rounding = 4 * i64::from(fps);
                    for (way, speed) in way.into_iter().zip(speed.map(i64::abs)) {
                        let mean = Fx::from_bits(speed / 2 - rounding)..=Fx::from_bits(speed + rounding);
                        truth.expect(format!("{case}: way per second"), mean, Fx::from_bits(way));
                    }
                }
                place = now;
            }
        }
    });
}

#[test]
fn who_is_damped_lies_on_the_floor_and_falls_asleep() {
    Truth::hear("damped bodies come to rest", "statics", 1..=8, |truth, chance, seed| {
        // Of the frames per second: one that damping holds where it is does not press on the floor.
        let part = chance.between(300, 900);
        let boxed = chance.below(2) == 0;
        for fps in RATES {
            let damping = part * i64::from(fps);
            let mut w = world(WorldDef::new().gravity(at(0, -10_000)));
            add(&mut w, BodyDef::static_body(rect(5_000, 500)).position(at(0, -500)));
            let shape = if boxed { rect(500, 500) } else { circle(500) };
            let id = add(&mut w, BodyDef::dynamic(shape).position(at(0, 500)).damping(milli(damping)));
            let mut highest = 0;
            for _ in 0..3 * fps {
                run(&mut w, 1, fps);
                highest = highest.max(position(&w, id)[1]);
            }
            let case = format!("seed {seed}, {fps} fps, damping {damping}, a box {boxed}");
            truth.expect(&case, Fx::ZERO..=milli(505), Fx::from_bits(highest));
            truth.claim(&case, !w.body(id).expect("alive").is_awake(), "awake after 3 s");
        }
    });
}

/// Damping slowed down kinematic bodies, too: one that goes to a place with `move_kinematic` did not come there.
#[test]
fn a_kinematic_body_with_damping_arrives() {
    let law = "damping of kinematic bodies";
    Truth::hear(law, "the velocity that the game gives", 1..=5, |truth, chance, seed| {
        let (damping, way) = (chance.between(1_000, 60_000), chance.between(-3_000, 3_000));
        for fps in RATES {
            for gravity in [0, -10_000] {
                let mut w = world(WorldDef::new().gravity(at(0, gravity)));
                let id = add(&mut w, BodyDef::dynamic(circle(500)).damping(milli(damping)));
                w.set_kind(id, BodyKind::Kinematic).expect("no terrain");
                let target = at(way, -way);
                w.move_kinematic(id, target, fps).expect("in range");
                run(&mut w, 1, fps);
                let case = format!("seed {seed}, {fps} fps, gravity {gravity}, damping {damping}, way {way}");
                let missing = (position(&w, id)[0] - raw(target)[0]).abs();
                truth.expect(case, about(Fx::ZERO, Fx::DELTA), Fx::from_bits(missing));
            }
        }
    });
}
