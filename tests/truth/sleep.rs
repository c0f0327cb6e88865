//! Truths about sleeping and waking: sleepers are bodies like any other, whatever happens to them.

use testudo_physics::{
    Aabb, BodyDef, BodyId, BodyKind, EdgePolicy, Filter, Fx, Shape, Vec2, World, WorldDef,
};

use crate::build::{
    Chance, ONE, add, at, circle, milli, momentum, position, raw, rect, run, velocity, world,
};
use crate::frame::{RATES, Truth, about};

/// Steps until all bodies sleep; `None` if a body is awake after `seconds`.
fn frames_until_asleep(world: &mut World, fps: u32, seconds: u32) -> Option<u32> {
    (0..=seconds * fps).find(|_| {
        let asleep = world.bodies().all(|b| !b.is_awake());
        if !asleep {
            run(world, 1, fps);
        }
        asleep
    })
}

/// Discs and boxes that touch, as a row or as a clump, asleep; raw masses drawn between .25 and 8.
fn sleeping_group(w: &mut World, chance: &mut Chance, count: i64, row: bool, fps: u32) -> Vec<BodyId> {
    let side = if row { count } else { (count as u64).isqrt() as i64 };
    let ids = (0..count)
        .map(|i| {
            let (column, line) = (i % side, i / side);
            let shape = if chance.below(3) == 0 && row { rect(500, 500) } else { circle(500) };
            let mass = Fx::from_bits(chance.between(1 << 14, 1 << 19));
            add(w, BodyDef::dynamic(shape).mass(mass).position(at(column * 1_000, line * 1_000)))
        })
        .collect();
    assert!(frames_until_asleep(w, fps, 3).is_some(), "a group at rest sleeps");
    ids
}

#[test]
fn a_heavy_disc_into_sleepers_keeps_momentum() {
    let law = "momentum of a heavy disc that hits touching sleepers";
    Truth::at_rates(law, "conservation of momentum", 1..=8, |truth, chance, seed, fps| {
        for row in [true, false] {
            let mut w = world(WorldDef::new());
            let count = if seed == 1 { 3 } else { chance.between(3, 50) };
            sleeping_group(&mut w, chance, count, row, fps);
            let mass = if seed == 1 { 100 } else { chance.between(5, 200) };
            let speed = if seed == 1 { 3_000 } else { chance.between(500, 12_000) };
            let disc = BodyDef::dynamic(circle(500)).mass(Fx::from_num(mass));
            let y = if row { 0 } else { chance.between(0, 2_000) };
            add(&mut w, disc.position(at(-3_000, y)).velocity(at(speed, 0)));
            let before = momentum(&w);
            let mut awake = 0;
            for frame in 1..=3 * fps {
                run(&mut w, 1, fps);
                let now = w.bodies().filter(|b| b.is_awake()).count();
                if now < awake {
                    // A body that falls asleep again loses its remaining speed.
                    break;
                }
                awake = now;
                let after = momentum(&w);
                for axis in 0..2 {
                    // Each push of a contact rounds a velocity by half a raw unit.
                    let change = (after[axis] - before[axis]).unsigned_abs();
                    let lost = (change * 10_000).div_ceil(before[0].unsigned_abs());
                    let case = format!(
                        "seed {seed}, {fps} fps, row {row}, {count} sleepers, mass {mass}, speed {speed}, frame {frame}, axis {axis}"
                    );
                    truth.expect(case, Fx::ZERO..=Fx::from_num(10), Fx::from_num(lost as i64));
                }
            }
        }
    });
}

#[test]
fn nobody_in_the_group_stays_behind_when_it_is_hit() {
    let law = "a row that sleeps moves as a row that is awake";
    Truth::at_rates(law, "the same scene without sleep", 1..=6, |truth, chance, seed, fps| {
        let count = chance.between(3, 12);
        let (mass, speed) = (chance.between(1, 50), chance.between(1_000, 6_000));
        let same = chance.clone();
        let ends = [500, 0].map(|sleep_ms| {
            let mut chance = same.clone();
            let mut w = world(WorldDef::new().sleep_ms(sleep_ms));
            let row: Vec<BodyId> = (0..count)
                .map(|i| {
                    let mass = Fx::from_bits(chance.between(1 << 14, 1 << 19));
                    add(&mut w, BodyDef::dynamic(circle(500)).mass(mass).position(at(i * 1_000, 0)))
                })
                .collect();
            run(&mut w, fps, fps);
            let disc = BodyDef::dynamic(circle(500)).mass(Fx::from_num(mass));
            add(&mut w, disc.position(at(-2_000, 0)).velocity(at(speed, 0)));
            run(&mut w, fps, fps);
            row.iter().map(|&id| position(&w, id)[0]).collect::<Vec<_>>()
        });
        for (i, (asleep, awake)) in ends[0].iter().zip(&ends[1]).enumerate() {
            let case = format!("seed {seed}, {fps} fps, disc {i} of {count}, mass {mass}, speed {speed}");
            truth.expect(case, about(Fx::from_bits(*awake), Fx::lit("0.05")), Fx::from_bits(*asleep));
        }
    });
}

#[test]
fn a_steered_unit_moves_a_sleeping_block() {
    let law = "a unit steered into a packed sleeping block moves it";
    Truth::at_rates(law, "somebody pushes: nothing holds the block", 1..=4, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        let count = chance.between(9, 49);
        let block = sleeping_group(&mut w, chance, count, false, fps);
        let mass = chance.between(1, 4);
        let speed = at(chance.between(1_000, 4_000), 0);
        let unit = BodyDef::dynamic(circle(500)).mass(Fx::from_num(mass));
        let unit = add(&mut w, unit.position(at(-2_500, chance.between(0, 1_500))));
        let centre = |w: &World| block.iter().map(|&id| position(w, id)[0]).sum::<i64>() / block.len() as i64;
        let start = centre(&w);
        let mut still = 0;
        for _ in 0..6 * fps {
            w.set_velocity(unit, speed).expect("alive");
            let before = position(&w, unit);
            run(&mut w, 1, fps);
            still = if position(&w, unit) == before { still + 1 } else { 0 };
        }
        let case = format!("seed {seed}, {fps} fps, {count} in the block, unit of mass {mass} at {speed:?}");
        truth.claim(&case, still < fps / 2, format!("the unit stood for {still} frames"));
        let moved = Fx::from_bits(centre(&w) - start);
        truth.expect(&case, Fx::lit("0.02")..=Fx::from_num(30), moved);
    });
}

/// A change of one body next to a sleeper.
type Change = fn(&mut World, BodyId);

/// Actions on the ground under a sleeping stack.
const GROUND_GOES: [(&str, Change); 7] = [
    ("made to fall itself", |w, id| w.set_kind(id, BodyKind::Dynamic).unwrap()),
    ("removed", |w, id| w.remove_body(id).unwrap()),
    ("moved", |w, id| w.set_position(id, at(500_000, -500)).unwrap()),
    ("switched off", |w, id| w.set_enabled(id, false).unwrap()),
    ("made a sensor", |w, id| w.set_sensor(id, true).unwrap()),
    ("made smaller", |w, id| w.set_shape(id, rect(500, 100)).unwrap()),
    ("filtered out", |w, id| w.set_filter(id, Filter::new(1, 2)).unwrap()),
];

#[test]
fn a_sleeping_stack_falls_at_once_when_its_ground_goes() {
    let law = "a stack whose ground goes falls as a free body";
    Truth::at_rates(law, "s = g t^2 / 2", 1..=3, |truth, chance, seed, fps| {
        for (what, change) in GROUND_GOES {
            let kinematic = chance.below(2) == 0;
            let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
            let shape = rect(5_000, 500);
            let ground = if kinematic { BodyDef::kinematic(shape) } else { BodyDef::static_body(shape) };
            let ground = add(&mut w, ground.position(at(0, -500)));
            let count = chance.between(1, 4);
            let stack: Vec<_> = (0..count)
                .map(|i| add(&mut w, BodyDef::dynamic(rect(500, 500)).position(at(0, 500 + i * 1_000))))
                .collect();
            let slept = frames_until_asleep(&mut w, fps, 10);
            let case = format!("seed {seed}, {fps} fps, ground {what}, {count} boxes");
            truth.claim(&case, slept.is_some(), "a stack that never slept");
            let start: Vec<_> = stack.iter().map(|&id| position(&w, id)[1]).collect();
            change(&mut w, ground);
            run(&mut w, fps / 2, fps);
            let seconds = Fx::from_num(fps / 2) / Fx::from_num(fps);
            let fallen = Fx::from_num(5) * seconds * seconds;
            // The smaller body is still there, .4 units lower.
            let fallen = if what == "made smaller" { Fx::lit("0.4") } else { fallen };
            // Within the way of one frame: velocities change before positions do.
            let tolerance = Fx::from_num(10) * seconds / Fx::from_num(fps) + Fx::lit("0.02");
            for (&id, start) in stack.iter().zip(start) {
                let seen = Fx::from_bits(start - position(&w, id)[1]);
                truth.expect(&case, about(fallen, tolerance), seen);
            }
        }
    });
}

/// Changes that wake a sleeping body that touches nothing: to the body itself, or a new body next to it.
const STIRS: [(&str, Change); 14] = [
    ("woken", |w, id| w.wake_body(id).unwrap()),
    ("velocity", |w, id| w.set_velocity(id, at(10, 0)).unwrap()),
    ("impulse", |w, id| w.apply_impulse(id, at(10, 0)).unwrap()),
    ("force", |w, id| w.apply_force(id, at(10, 0)).unwrap()),
    ("teleported", |w, id| w.set_position(id, at(20_000, 0)).unwrap()),
    ("resized", |w, id| w.set_shape(id, circle(600)).unwrap()),
    ("mass", |w, id| w.set_mass(id, Fx::from_num(7)).unwrap()),
    ("material", |w, id| {
        let mut material = w.body(id).unwrap().material();
        material.friction += milli(100);
        w.set_material(id, material).unwrap();
    }),
    ("filter", |w, id| w.set_filter(id, Filter::new(2, 3)).unwrap()),
    ("kind", |w, id| {
        w.set_kind(id, BodyKind::Kinematic).unwrap();
        w.set_kind(id, BodyKind::Dynamic).unwrap();
    }),
    ("switched off and on", |w, id| {
        w.set_enabled(id, false).unwrap();
        w.set_enabled(id, true).unwrap();
    }),
    ("wall beside it switched on", |w, id| {
        let p = w.body(id).unwrap().position();
        let wall = add(w, BodyDef::static_body(rect(500, 500)).position(p + at(900, 0)).enabled(false));
        run(w, 1, 20);
        w.set_enabled(wall, true).unwrap();
    }),
    ("wall created beside it", |w, id| {
        let p = w.body(id).unwrap().position();
        add(w, BodyDef::static_body(rect(500, 500)).position(p + at(900, 0)));
    }),
    ("wall moved to it", |w, id| {
        let p = w.body(id).unwrap().position();
        let wall = add(w, BodyDef::static_body(rect(500, 500)).position(at(0, 90_000)));
        w.set_position(wall, p + at(900, 0)).unwrap();
    }),
];

#[test]
fn what_changes_beside_a_sleeper_wakes_its_whole_island() {
    let law = "a change wakes all that touch through touching bodies, and nobody else";
    Truth::at_rates(law, "components of the contact graph", 1..=3, |truth, chance, seed, fps| {
        for (what, change) in STIRS {
            let mut w = world(WorldDef::new());
            let count = chance.between(2, 20);
            let group = sleeping_group(&mut w, chance, count, chance.clone().below(2) == 0, fps);
            let far = add(&mut w, BodyDef::dynamic(circle(500)).position(at(0, 60_000)));
            assert!(frames_until_asleep(&mut w, fps, 3).is_some());
            let who = group[chance.below(count as u32) as usize];
            change(&mut w, who);
            let case = format!("seed {seed}, {fps} fps, {what}, {count} in the island");
            let asleep = group.iter().filter(|&&id| !w.body(id).expect("alive").is_awake()).count();
            truth.claim(&case, asleep == 0, format!("{asleep} still asleep"));
            truth.claim(&case, !w.body(far).expect("alive").is_awake(), "the far one awake");
        }
    });
}

#[test]
fn a_building_created_over_sleepers_pushes_them_out() {
    let law = "a building created over sleepers pushes them out, with events";
    Truth::at_rates(law, "geometry: no overlap is left", 1..=6, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        let count = chance.between(1, 9);
        let group = sleeping_group(&mut w, chance, count, false, fps);
        let half = [chance.between(600, 1_500), chance.between(600, 1_500)];
        let house = BodyDef::static_body(rect(half[0], half[1]));
        let house = add(&mut w, house.position(at(chance.between(-200, 900), chance.between(-200, 900))));
        let over = group
            .iter()
            .filter(|&&id| crate::build::overlap(&w.body(id).unwrap(), &w.body(house).unwrap()) > 0)
            .count();
        run(&mut w, 1, fps);
        let case = format!("seed {seed}, {fps} fps, {count} under a house of {half:?}");
        let began = w.contacts_began().iter().filter(|e| e.a == house || e.b == house).count();
        truth.claim(&case, began >= over, format!("{began} events for {over} bodies"));
        run(&mut w, 6 * fps, fps);
        let deepest = group
            .iter()
            .map(|&id| crate::build::overlap(&w.body(id).unwrap(), &w.body(house).unwrap()))
            .max();
        truth.expect(&case, Fx::from_num(-100)..=Fx::lit("0.03"), Fx::from_bits(deepest.unwrap_or(0)));
    });
}

#[test]
fn sleep_comes_after_its_time_at_every_rate() {
    let law = "a body sleeps after the time that the world states";
    let source = "the definition, within a frame and a millisecond";
    Truth::at_rates(law, source, 1..=20, |truth, chance, seed, fps| {
        let limit = if seed == 1 { 500 } else { chance.between(100, 3_000) };
        let mut w = world(WorldDef::new().sleep_ms(limit as u32));
        // The clock stands anywhere.
        run(&mut w, chance.below(7), 7);
        let id = add(&mut w, BodyDef::dynamic(circle(500)));
        // Time in 1/3,600,000 s, in which every rate is whole.
        let (mut passed, mut longest) = (0, 0);
        while w.body(id).expect("alive").is_awake() && passed < 20_000 * 3_600 {
            // The rates change all the time in every other case.
            let rate = if seed % 2 == 0 { [10, 20, 30, 60, 144][chance.below(5) as usize] } else { fps };
            run(&mut w, 1, rate);
            passed += 3_600_000 / i64::from(rate);
            longest = longest.max(3_600_000 / i64::from(rate));
        }
        let case = format!("seed {seed}, {fps} fps, {limit} ms");
        let milliseconds = Fx::from_num(passed / 3_600);
        let most = Fx::from_num(limit + longest / 3_600 + 2);
        truth.expect(case, Fx::from_num(limit - 2)..=most, milliseconds);
    });
}

#[test]
fn nothing_sleeps_in_mid_air() {
    let law = "a slow body without support goes on moving";
    Truth::hear(law, "s = v t + g t^2 / 2", 1..=10, |truth, chance, seed| {
        for fps in RATES.into_iter().chain([1_000]) {
            // A fall so slow that it counts as still for a long time, or a glide without any gravity.
            let g = if chance.below(2) == 0 { 0 } else { chance.between(1, 400) };
            let speed = if g == 0 { chance.between(5, 62) } else { 0 };
            let mut w = world(WorldDef::new().gravity(at(0, -g)));
            let id = add(&mut w, BodyDef::dynamic(circle(500)).velocity(at(speed, 0)));
            let [v, g_raw] = [raw(at(speed, 0))[0], raw(at(0, g))[1]];
            run(&mut w, 4 * fps, fps);
            let [x, y] = position(&w, id);
            let case = format!("seed {seed}, {fps} fps, g {g}/1000, speed {speed}/1000");
            truth.expect(&case, about(Fx::from_bits(4 * v), Fx::from_bits(2)), Fx::from_bits(x));
            // Velocities change before positions, in frames or finer steps: n (n + 1) / 2 of them instead of n^2 / 2.
            let n = i64::from(4 * fps);
            let most = g_raw * n * (n + 1) / 2 / i64::from(fps) / i64::from(fps);
            let expected = Fx::from_bits(-most - 66)..=Fx::from_bits(-8 * g_raw + 66);
            truth.expect(&case, expected, Fx::from_bits(y));
        }
    });
}

#[test]
fn two_that_fall_slowly_together_do_not_hold_each_other() {
    let law = "bodies that touch each other and nothing else fall";
    Truth::at_rates(law, "s = g t^2 / 2", 1..=6, |truth, chance, seed, fps| {
        let g = chance.between(20, 300);
        let mut w = world(WorldDef::new().gravity(at(0, -g)));
        let shape = |chance: &mut Chance| -> Shape {
            if chance.below(2) == 0 { circle(500) } else { rect(500, 500) }
        };
        let ids: Vec<_> =
            (0..3).map(|i| add(&mut w, BodyDef::dynamic(shape(chance)).position(at(0, 1_000 * i)))).collect();
        run(&mut w, 3 * fps, fps);
        let fallen = raw(at(0, g))[1] * 9 / 2;
        for (i, &id) in ids.iter().enumerate() {
            let case = format!("seed {seed}, {fps} fps, g {g}/1000, body {i}");
            let seen = Fx::from_bits(i as i64 * ONE - position(&w, id)[1]);
            truth.expect(&case, Fx::from_bits(fallen * 9 / 10)..=Fx::from_bits(fallen * 12 / 10), seen);
        }
    });
}

#[test]
fn an_island_sleeps_and_wakes_as_one() {
    let law = "all bodies that touch fall asleep in the same step and wake in the same step";
    let source = "components of the contact graph by brute force";
    Truth::at_rates(law, source, 1..=12, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        add(&mut w, BodyDef::static_body(rect(20_000, 500)).position(at(0, -500)));
        for wall in [-1, 1] {
            add(&mut w, BodyDef::static_body(rect(500, 5_000)).position(at(wall * 8_000, 4_000)));
        }
        for _ in 0..chance.between(5, 25) {
            let shape = if chance.below(2) == 0 { circle(400) } else { rect(400, 400) };
            let place = at(chance.between(-7_000, 7_000), chance.between(500, 6_000));
            add(&mut w, BodyDef::dynamic(shape).position(place).friction(Fx::lit("0.4")));
        }
        for frame in 0..12 * fps {
            if frame > 6 * fps && chance.below(fps) == 0 {
                let slot = 3 + chance.below(w.body_count() - 3);
                let id = w.body_in_slot(slot).expect("nobody is removed");
                w.apply_impulse(id, at(chance.between(-4_000, 4_000), 3_000)).expect("in range");
            }
            run(&mut w, 1, fps);
            // A body that touches a dynamic sleeper sleeps, too.
            let split = w.contacts().find(|contact| {
                let [a, b] = [contact.a, contact.b].map(|id| w.body(id).expect("alive"));
                let both = a.mass() > Fx::ZERO && b.mass() > Fx::ZERO;
                both && a.is_awake() != b.is_awake()
            });
            let case = format!("seed {seed}, {fps} fps, frame {frame}");
            truth.claim(case, split.is_none(), format!("{split:?}"));
        }
    });
}

#[test]
fn support_that_drives_away_takes_or_drops_what_slept_on_it() {
    let law = "what sleeps on a lift that goes down stays on it, or falls";
    Truth::at_rates(law, "nothing floats", 1..=5, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        let lift = add(&mut w, BodyDef::kinematic(rect(2_000, 500)).position(at(0, -500)));
        let box_on_it = add(&mut w, BodyDef::dynamic(rect(500, 500)).position(at(0, 500)));
        assert!(frames_until_asleep(&mut w, fps, 5).is_some());
        let speed = chance.between(20, 8_000);
        w.set_velocity(lift, at(0, -speed)).expect("alive");
        run(&mut w, 2 * fps, fps);
        let case = format!("seed {seed}, {fps} fps, lift goes down at {speed}/1000");
        let apart = position(&w, box_on_it)[1] - position(&w, lift)[1];
        truth.expect(&case, Fx::lit("0.9")..=Fx::lit("1.25"), Fx::from_bits(apart));
        let down = raw(at(0, speed))[1];
        truth.expect(
            &case,
            about(Fx::from_bits(-2 * down), Fx::lit("0.3")),
            Fx::from_bits(position(&w, box_on_it)[1] - ONE / 2),
        );
        truth.claim(&case, velocity(&w, box_on_it)[1] != 0, "a box that stands in the air");
    });
}

#[test]
fn another_gravity_wakes_everybody() {
    let law = "another gravity moves all that is free";
    Truth::at_rates(law, "s = g t^2 / 2", 1..=5, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        let count = chance.between(2, 20);
        let group = sleeping_group(&mut w, chance, count, true, fps);
        let start: Vec<_> = group.iter().map(|&id| position(&w, id)).collect();
        let g = chance.between(100, 20_000);
        w.set_gravity(at(0, g)).expect("in range");
        run(&mut w, fps, fps);
        for (&id, start) in group.iter().zip(start) {
            let case = format!("seed {seed}, {fps} fps, g {g}/1000, {count} in the group");
            // Velocities change before positions, in frames or finer steps.
            let [least, most] = [fps, fps + 1].map(|n| raw(at(0, g))[1] * i64::from(n) / 2 / i64::from(fps));
            let seen = Fx::from_bits(position(&w, id)[1] - start[1]);
            let slack = Fx::lit("0.01");
            truth.expect(&case, Fx::from_bits(least) - slack..=Fx::from_bits(most) + slack, seen);
            truth.claim(
                &case,
                w.set_gravity(at(0, g)).is_ok() && w.body(id).expect("alive").is_awake(),
                "asleep",
            );
        }
    });
}

#[test]
fn who_is_put_to_sleep_stays_until_something_happens() {
    let law = "what is put to sleep stays where it is, with all that it touches, until it is touched";
    Truth::at_rates(
        law,
        "the definition, and conservation of momentum",
        1..=6,
        |truth, chance, seed, fps| {
            let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
            let shelf = add(&mut w, BodyDef::static_body(rect(5_000, 500)).position(at(0, -500)));
            let count = chance.between(1, 6);
            let row: Vec<_> = (0..count)
                .map(|i| add(&mut w, BodyDef::dynamic(circle(500)).position(at(i * 1_000, 500))))
                .collect();
            let far = add(&mut w, BodyDef::dynamic(circle(500)).position(at(40_000, 0)));
            run(&mut w, 2, fps);
            w.set_velocity(row[0], at(40, 0)).expect("alive");
            run(&mut w, 1, fps);
            w.sleep_body(row[chance.below(count as u32) as usize]).expect("alive");
            w.sleep_body(far).expect("alive");
            let mid_air = position(&w, far);
            let places: Vec<_> = w.bodies().map(|b| b.position()).collect();
            let case = format!("seed {seed}, {fps} fps, {count} in the row");
            truth.claim(&case, w.bodies().all(|b| !b.is_awake()), "somebody awake");
            run(&mut w, 2 * fps, fps);
            truth.claim(&case, w.bodies().all(|b| !b.is_awake()), "somebody woke up");
            truth.claim(&case, places.into_iter().eq(w.bodies().map(|b| b.position())), "somebody moved");
            // The shelf goes: those on it fall; the one in mid-air is not touched by that.
            w.remove_body(shelf).expect("alive");
            run(&mut w, fps, fps);
            let low = row.iter().map(|&id| position(&w, id)[1]).max().expect("not empty");
            truth.expect(&case, Fx::from_num(-7)..=Fx::from_num(-4), Fx::from_bits(low));
            truth.claim(&case, position(&w, far) == mid_air, "the one in mid-air fell");
            w.wake_body(far).expect("alive");
            run(&mut w, fps, fps);
            let fallen = Fx::from_bits(mid_air[1] - position(&w, far)[1]);
            truth.expect(&case, Fx::from_num(4)..=Fx::from_num(6), fallen);
        },
    );
}

#[test]
fn who_never_sleeps_keeps_awake_what_it_touches() {
    let law = "a body with sleep off never sleeps, nor its island";
    Truth::at_rates(law, "the definition", 1..=5, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        let count = chance.between(2, 20);
        let group = sleeping_group(&mut w, chance, count, chance.clone().below(2) == 0, fps);
        let far = add(&mut w, BodyDef::dynamic(circle(500)).position(at(0, 60_000)));
        let guard = group[chance.below(count as u32) as usize];
        w.set_can_sleep(guard, false).expect("alive");
        let born = BodyDef::dynamic(circle(500)).position(at(0, -60_000)).can_sleep(false);
        let born = add(&mut w, born);
        run(&mut w, 4 * fps, fps);
        let case = format!("seed {seed}, {fps} fps, {count} in the group");
        let asleep =
            group.iter().chain([&born]).filter(|&&id| !w.body(id).expect("alive").is_awake()).count();
        truth.claim(&case, asleep == 0, format!("{asleep} asleep"));
        truth.claim(&case, !w.body(far).expect("alive").is_awake(), "the far one awake");
        truth.claim(&case, !w.body(born).expect("alive").can_sleep(), "it may sleep");
        w.set_can_sleep(guard, true).expect("alive");
        run(&mut w, fps, fps);
        let awake = group.iter().filter(|&&id| w.body(id).expect("alive").is_awake()).count();
        truth.claim(&case, awake == 0, format!("{awake} awake once it may sleep"));
    });
}

/// The edge took the speed that gravity gives in a frame, but that speed counted as motion.
#[test]
fn who_lies_at_the_worlds_edge_falls_asleep() {
    let law = "the world's edge carries bodies that lie at it";
    Truth::at_rates(law, "it does not move", 1..=4, |truth, chance, seed, fps| {
        let g = chance.between(5_000, 15_000);
        let bounds = Aabb { min: at(-9_000, -9_000), max: at(9_000, 9_000) };
        let edge = [EdgePolicy::Stop, EdgePolicy::Bounce][chance.below(2) as usize];
        let mut w = world(WorldDef::new().gravity(at(0, -g)).bounds(bounds).edge(edge));
        let disc = BodyDef::dynamic(circle(500)).position(at(chance.between(-5_000, 5_000), -6_000));
        let disc = disc.restitution(milli(chance.between(0, 300)));
        let id = add(&mut w, disc);
        let slept = frames_until_asleep(&mut w, fps, 4);
        let case = format!("seed {seed}, {fps} fps, g {g}, {edge:?}");
        truth.claim(&case, slept.is_some(), "awake after four seconds");
        truth.claim(&case, position(&w, id)[1] == milli(-9_000).to_bits(), "not at the edge");
        w.set_bounds(Aabb { min: at(-9_000, -12_000), ..bounds }).expect("in range");
        run(&mut w, fps / 2, fps);
        truth.claim(&case, position(&w, id)[1] < milli(-9_000).to_bits(), "it does not fall");
    });
}
