//! Truths about fast bodies: nobody sinks into a wall, nobody passes through, every sensor notices.

use testudo_physics::{BodyDef, Fx, WorldDef};

use crate::build::{add, at, circle, deepest_overlap, milli, overlap, position, rect, run, velocity, world};
use crate::frame::{RATES, Truth, about};

/// A disc of any size and speed that meets a wall at any angle never sinks into it, in no frame.
#[test]
fn nobody_sinks_into_a_wall() {
    Truth::hear("sinking into a wall", "geometry", 1..=60, |truth, chance, seed| {
        let radius = chance.between(50, 5_000);
        let speed = [chance.between(500, 100_000), chance.between(-20_000, 20_000)];
        let thick = chance.between(50, 2_000);
        let e = chance.between(0, 1) * chance.between(0, 900);
        for fps in RATES {
            let mut w = world(WorldDef::new().sleep_ms(0));
            add(&mut w, BodyDef::static_body(rect(thick, 400_000)).position(at(20_000 + thick, 0)));
            let disc = BodyDef::dynamic(circle(radius)).velocity(at(speed[0], speed[1]));
            let disc = disc.position(at(chance.between(-5_000, 0), 0));
            let id = add(&mut w, disc.restitution(milli(e)));
            let mut deepest = i64::MIN;
            for _ in 0..fps.max(30_000_u32.div_ceil(speed[0] as u32) * fps) {
                run(&mut w, 1, fps);
                deepest = deepest.max(position(&w, id)[0] + milli(radius - 20_000).to_bits());
            }
            let case =
                format!("seed {seed}, {fps} fps, radius {radius}, speed {speed:?}, e {e}, thickness {thick}");
            truth.expect(&case, -milli(50_000)..=milli(8), Fx::from_bits(deepest));
            if e == 0 {
                truth.expect(&case, about(milli(speed[1]), milli(5)), Fx::from_bits(velocity(&w, id)[1]));
            }
        }
    });
}

/// A fast disc hands its momentum to a resting one instead of passing through it.
#[test]
fn nobody_passes_through_a_resting_disc() {
    Truth::hear(
        "fast disc against a resting one",
        "conservation of momentum",
        1..=40,
        |truth, chance, seed| {
            let radii = [chance.between(100, 700), chance.between(100, 700)];
            let (speed, start) = (chance.between(5_000, 60_000), chance.between(-6_000, -3_000));
            for fps in RATES {
                for sleep in [0, 500] {
                    let mut w = world(WorldDef::new().sleep_ms(sleep));
                    let resting = add(&mut w, BodyDef::dynamic(circle(radii[1])));
                    run(&mut w, fps, fps);
                    let disc = BodyDef::dynamic(circle(radii[0])).position(at(start, 0));
                    let disc = add(&mut w, disc.velocity(at(speed, 0)));
                    run(&mut w, 2 * fps, fps);
                    let case = format!(
                        "seed {seed}, {fps} fps, radii {radii:?}, {speed} from {start}, sleep {sleep}"
                    );
                    truth.claim(&case, position(&w, disc)[0] < position(&w, resting)[0], "passed through");
                    let half = about(milli(speed / 2), milli(100));
                    truth.expect(&case, half, Fx::from_bits(velocity(&w, resting)[0]));
                }
            }
        },
    );
}

/// A kinematic wall that comes along takes a disc with it, however thin and fast it is.
#[test]
fn nobody_passes_through_a_moving_wall() {
    Truth::hear("kinematic wall against a disc", "geometry", 1..=40, |truth, chance, seed| {
        let (radius, thick) = (chance.between(100, 700), chance.between(20, 300));
        let (speed, against) = (chance.between(1_000, 40_000), chance.between(-20_000, 500));
        let start = chance.between(-6_000, -2_000);
        for fps in RATES {
            let mut w = world(WorldDef::new());
            let wall = BodyDef::kinematic(rect(thick, 5_000)).position(at(start, 0));
            let wall = add(&mut w, wall.velocity(at(speed, 0)));
            let disc = add(&mut w, BodyDef::dynamic(circle(radius)).velocity(at(against, 0)));
            run(&mut w, 10 * fps, fps);
            let case = format!(
                "seed {seed}, {fps} fps, radius {radius}, thickness {thick}, {speed} against {against}"
            );
            let apart = position(&w, disc)[0] - position(&w, wall)[0] - milli(radius + thick).to_bits();
            truth.expect(case, about(Fx::ZERO, milli(10)), Fx::from_bits(apart));
        }
    });
}

/// A sensor notices each body that crosses it once, and no body that is stopped before it.
#[test]
fn sensors_notice_who_crosses_them() {
    Truth::hear("crossing a sensor", "geometry", 1..=50, |truth, chance, seed| {
        let (radius, thick) = (chance.between(20, 500), chance.between(20, 500));
        let (speed, start) = (chance.between(2_000, 60_000), chance.between(-6_000, -3_000));
        let walled = chance.below(3) == 0;
        for fps in RATES {
            let mut w = world(WorldDef::new());
            add(&mut w, BodyDef::static_body(rect(thick, 3_000)).sensor(true));
            if walled {
                add(&mut w, BodyDef::static_body(rect(50, 3_000)).position(at(-thick - 200, 0)));
            }
            add(&mut w, BodyDef::dynamic(circle(radius)).position(at(start, 0)).velocity(at(speed, 0)));
            let (mut began, mut ended) = (0, 0);
            for _ in 0..6 * fps {
                run(&mut w, 1, fps);
                began += w.sensors_began().len();
                ended += w.sensors_ended().len();
            }
            let expected = usize::from(!walled);
            let case = format!(
                "seed {seed}, {fps} fps, radius {radius}, thickness {thick}, {speed} from {start}, wall {walled}"
            );
            truth.claim(
                case,
                (began, ended) == (expected, expected),
                format!("{began} begin, {ended} end events"),
            );
        }
    });
}

/// Two bodies fly at a wall, one behind the other and further apart than their margins. The wall stops the first one in the middle of a
/// frame; the second one must not fly on into it (random scene 6634).
#[test]
fn who_follows_a_body_that_a_wall_stops_does_not_sink_into_it() {
    Truth::hear("behind one that a wall stops", "geometry", 1..=30, |truth, chance, seed| {
        let half = [chance.between(300, 800), chance.between(300, 800)];
        let (speed, gap) = (chance.between(3_000, 30_000), chance.between(210, 1_500));
        let (start, aside) = (chance.between(5_000, 9_000), chance.between(-200, 200));
        for fps in RATES {
            for gravity in [0, 10_000] {
                let mut w = world(WorldDef::new().gravity(at(gravity, 0)));
                add(&mut w, BodyDef::static_body(rect(2_000, 40_000)).position(at(2_000, 0)));
                let flier = |shape| BodyDef::dynamic(shape).velocity(at(speed, 0));
                let first = -start - half[0];
                add(&mut w, flier(rect(half[0], half[0])).position(at(first, 0)));
                let second = first - half[0] - gap - half[1];
                add(&mut w, flier(circle(half[1])).position(at(second, aside)));
                let mut deepest = 0;
                for _ in 0..4 * fps {
                    run(&mut w, 1, fps);
                    deepest = deepest.max(deepest_overlap(&w));
                }
                let case =
                    format!("seed {seed}, {fps} fps, gravity {gravity}, {half:?} at {speed}, {gap} apart");
                truth.expect(&case, Fx::ZERO..=milli(200), Fx::from_bits(deepest));
            }
        }
    });
}

/// A body that another one throws at a wall which was too far away for a contact does not fly into it (random scene 2000686).
#[test]
fn who_is_thrown_at_a_wall_does_not_enter_it() {
    Truth::hear("thrown at a wall", "geometry", 1..=40, |truth, chance, seed| {
        let half = [chance.between(300, 1_000), chance.between(300, 1_000)];
        let (gap, aside) = (chance.between(150, 900), chance.between(-200, 200));
        let (speed, mass) = (chance.between(2_000, 30_000), chance.between(250, 4_000));
        for fps in RATES {
            let mut w = world(WorldDef::new().sleep_ms(0));
            let wall = add(&mut w, BodyDef::static_body(rect(2_000, 40_000)).position(at(2_000, 0)));
            let waits = -gap - half[0];
            let waiting = add(&mut w, BodyDef::dynamic(circle(half[0])).position(at(waits, 0)));
            let start = waits - half[0] - half[1] - chance.between(100, 3_000);
            let hitter =
                BodyDef::dynamic(rect(half[1], half[1])).mass(milli(mass)).position(at(start, aside));
            add(&mut w, hitter.velocity(at(speed, 0)));
            // In the frame in which it comes there; later the other one presses it.
            let mut depth = Fx::ZERO;
            for _ in 0..2 * fps {
                run(&mut w, 1, fps);
                let [waiting, wall] = [waiting, wall].map(|id| w.body(id).expect("alive"));
                depth = Fx::from_bits(overlap(&waiting, &wall));
                if depth > 0 {
                    break;
                }
            }
            let case = format!("seed {seed}, {fps} fps, {half:?}, {gap} from the wall, {mass} at {speed}");
            truth.expect(&case, Fx::MIN..=milli((half[0] / 4).min(63) + 10), depth);
        }
    });
}
