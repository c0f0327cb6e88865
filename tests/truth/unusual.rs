//! Truths about what games do seldom: platforms that reverse under their load, teleports beside sensors, gravity that turns, worlds whose edge is
//! the floor, places far from the origin, terrain that is replaced under sleepers, calls that change nothing.
//!
//! `cargo run --release -p testudo-tests --features measure --example truths -- unusual $(date +%s)` asks the same with fifty fresh seeds.

use testudo_physics::{
    Aabb, BodyDef, BodyId, ChainDef, EdgePolicy, Filter, Fx, PolygonDef, Vec2, World, WorldDef,
};

use crate::build::{Chance, ONE, add, at, circle, milli, overlap, position, raw, rect, velocity, world};
use crate::frame::{Listed, RATES, Truth, about, after_fall, fastest, rests, step};
use crate::masses::deepest;

/// All truths of this file: law, source, hearing.
pub(crate) const UNUSUAL: [Listed; 12] = [
    ("a platform that reverses takes its load along", "Coulomb's law", platform),
    ("sizes of 1:50 stay on hills and come to rest", "nobody is below the ground", sizes),
    ("sensors know who was teleported", "overlaps by brute force", teleports),
    ("the world's edge holds a heap and gives it no energy", "conservation of energy", edge),
    ("the place of a scene changes nothing", "translation symmetry", translated),
    ("a heap follows gravity that turns", "potential energy becomes heat", turning),
    ("a heap of all ranks stays between walls", "walls have the highest rank", ranks),
    ("a body that slept on terrain lies on what replaced it", "geometry", replaced),
    ("calls that change nothing change no bit", "the same scene without them", idle_calls),
    ("nobody is faster than its limit", "the definition of the limit", limits),
    ("wide bodies rest on peaks and slopes", "statics", wide),
    ("a body with a rank presses none into a wall", "walls have the highest rank", pressed),
];

/// A disc or a box, both no larger than `half`.
fn any(chance: &mut Chance, half: i64) -> BodyDef {
    BodyDef::dynamic(if chance.below(2) == 0 { circle(half) } else { rect(half, half * 3 / 4) })
}

/// Four walls around a square of this half extent, thousandths; returns them.
fn walls(w: &mut World, half: i64, friction: i64) -> Vec<BodyId> {
    let (off, long) = (half + 2_000, half + 4_000);
    [(off, 0, 2_000, long), (-off, 0, 2_000, long), (0, off, half, 2_000), (0, -off, half, 2_000)]
        .map(|(x, y, hx, hy)| {
            let wall = BodyDef::static_body(rect(hx, hy)).position(at(x, y));
            add(w, wall.friction(milli(friction)))
        })
        .to_vec()
}

/// A box that slides on a platform is accelerated by a = friction * g: it lags by v^2 / 2a after a change of speed by v, and then rides along.
fn platform(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let (friction, g) = (chance.between(200, 900), chance.between(5_000, 15_000));
        let (speed, count) = (chance.between(500, 3_000), chance.between(1, 4));
        let mut w = world(WorldDef::new().gravity(at(0, -g)));
        let floor = BodyDef::kinematic(rect(30_000, 500)).position(at(0, -500));
        let floor = add(&mut w, floor.friction(milli(friction)));
        let boxes: Vec<_> = (0..count)
            .map(|i| {
                let def = BodyDef::dynamic(rect(500, 500)).position(at(0, 500 + 1_000 * i));
                add(&mut w, def.friction(milli(friction)))
            })
            .collect();
        let case =
            format!("seed {seed}, {fps} fps, friction {friction}, g {g}, speed {speed}, {count} boxes");
        truth.claim(&case, rests(&mut w, 5, fps), "no rest");
        let pull = friction * g / 1_000;
        let (mut lag, mut target) = (0, 0);
        for change in [speed, -2 * speed, 2 * speed, -speed] {
            target += change;
            w.set_velocity(floor, at(target, 0)).expect("alive");
            let seconds = change.abs() / pull + 2;
            (0..seconds * i64::from(fps)).for_each(|_| step(&mut w, fps));
            lag -= change * change.abs() / (2 * pull);
            let seen = Fx::from_bits(position(&w, boxes[0])[0] - position(&w, floor)[0]);
            let slack = milli(change.abs()) / i64::from(fps) + milli(change * change / (2 * pull)) / 20;
            truth.expect(format!("{case}: lag after {change}"), about(milli(lag), slack + milli(20)), seen);
            lag = (seen.to_bits() * 1_000) / ONE;
            for &id in &boxes {
                let seen = Fx::from_bits(velocity(&w, id)[0]);
                truth.expect(format!("{case}: speed after {change}"), about(milli(target), milli(10)), seen);
            }
        }
        truth.claim(&case, rests(&mut w, 5, fps), "awake on a platform that stands");
    }
}

#[test]
fn a_platform_that_reverses_takes_its_load_along() {
    Truth::hear_listed(UNUSUAL[0], 1..=6);
}

/// Hills between two walls, and the points of their chain.
fn hills(w: &mut World, chance: &mut Chance) -> Vec<Vec2> {
    let points: Vec<_> = (-10..=10).map(|i| at(i * 2_000, chance.between(0, 2_000))).collect();
    // The open side of a one-sided chain is on its left: below, if it runs from the right to the left.
    let from_the_right: Vec<_> = points.iter().rev().copied().collect();
    let chain = match chance.below(3) {
        0 => ChainDef::new(&points),
        1 => ChainDef::new(&from_the_right),
        _ => ChainDef::new(&from_the_right).one_sided(true),
    };
    w.create_chain(&chain.friction(milli(500))).expect("a good chain");
    for side in [-1, 1] {
        add(w, BodyDef::static_body(rect(2_000, 60_000)).position(at(side * 21_000, 55_000)));
    }
    points
}

/// Bodies of these half extents fall onto hills and come to rest there.
fn fall_on_hills(truth: &mut Truth, chance: &mut Chance, case: &str, fps: u32, halves: &[i64]) {
    let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
    let points = hills(&mut w, chance);
    let ids: Vec<_> = (0..)
        .zip(halves)
        .map(|(i, &half)| {
            let place = at(i % 6 * 6_000 - 15_000 + chance.between(-200, 200), 6_000 + i / 6 * 5_500);
            let def = any(chance, half).position(place).friction(milli(500));
            add(&mut w, def.mass(milli(chance.between(1_000, 4_000))))
        })
        .collect();
    let below = |w: &World| {
        let is_below = |&&id: &&BodyId| {
            let [x, y] = position(w, id);
            let left = points.iter().rposition(|p| p.x.to_bits() <= x).unwrap_or(0).min(points.len() - 2);
            let ([ax, ay], [bx, by]) = (raw(points[left]), raw(points[left + 1]));
            y < ay + (by - ay) * (x - ax) / (bx - ax)
        };
        ids.iter().find(is_below).copied()
    };
    let top = after_fall(10_000, 62_000) + Fx::ONE;
    for frame in 0..30 * fps {
        step(&mut w, fps);
        if let Some(id) = below(&w) {
            truth.claim(case, false, format!("{id:?} below the ground in frame {frame}"));
            break;
        }
        truth.expect(case, Fx::ZERO..=top, fastest(&w, &ids));
    }
    truth.claim(case, rests(&mut w, 30, fps), format!("still {}", fastest(&w, &ids)));
}

fn sizes(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in [10, 20, 60] {
        // 0.05 to 2.5 units, small ones as often as large ones.
        let half = |n: i64| (0..n).fold(50, |half, _| half * 111 / 100 + 1).min(2_500);
        let halves: Vec<_> = (0..60).map(|_| half(chance.between(0, 39))).collect();
        fall_on_hills(truth, chance, &format!("seed {seed}, {fps} fps"), fps, &halves);
    }
}

#[test]
fn sizes_of_one_to_fifty_stay_on_hills_and_come_to_rest() {
    Truth::hear_listed(UNUSUAL[1], 1..=3);
}

/// A box that covers more than one segment lies on a peak and on a slope at the same time.
fn wide(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let halves: Vec<_> = (0..2).map(|_| chance.between(500, 2_500)).collect();
        fall_on_hills(truth, chance, &format!("seed {seed}, {fps} fps, halves {halves:?}"), fps, &halves);
    }
}

#[test]
fn wide_bodies_rest_on_peaks_and_slopes() {
    Truth::hear_listed(UNUSUAL[10], 1..=20);
}

fn teleports(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let mut w = world(WorldDef::new());
        let zones: Vec<_> = (0..4)
            .map(|i| {
                let zone = any(chance, 1_500).position(at(i * 2_500 - 3_750, chance.between(-500, 500)));
                let zone = if i % 2 == 0 {
                    zone
                } else {
                    BodyDef::static_body(rect(20, 3_000)).position(at(i * 2_500 - 3_750, 0))
                };
                add(&mut w, zone.sensor(true))
            })
            .collect();
        // They do not touch each other.
        let ids: Vec<_> = (0..10)
            .map(|_| {
                let half = chance.between(100, 600);
                let disc = any(chance, half).filter(Filter::new(2, 1));
                add(&mut w, disc.position(at(chance.between(-6_000, 6_000), chance.between(-3_000, 3_000))))
            })
            .collect();
        let mut inside: Vec<(BodyId, BodyId)> = Vec::new();
        for frame in 0..120 {
            for &id in &ids {
                match chance.below(8) {
                    0 => {
                        let place = at(chance.between(-6_000, 6_000), chance.between(-3_000, 3_000));
                        w.set_position(id, place).expect("alive");
                    }
                    1 => w.set_velocity(id, Vec2::ZERO).expect("alive"),
                    2 => w.sleep_body(id).expect("alive"),
                    _ => {}
                }
            }
            step(&mut w, fps);
            let case = format!("seed {seed}, {fps} fps, frame {frame}");
            let pair = |a: BodyId, b: BodyId| (a.min(b), a.max(b));
            for event in w.sensors_began() {
                let pair = pair(event.a, event.b);
                truth.claim(&case, !inside.contains(&pair), format!("{pair:?} began twice"));
                inside.push(pair);
            }
            for event in w.sensors_ended() {
                let pair = pair(event.a, event.b);
                truth.claim(&case, inside.contains(&pair), format!("{pair:?} ended without a begin"));
                inside.retain(|other| *other != pair);
            }
            for (&id, &zone) in ids.iter().flat_map(|id| zones.iter().map(move |zone| (id, zone))) {
                let depth = overlap(&w.body(id).expect("alive"), &w.body(zone).expect("alive"));
                let known = inside.contains(&pair(id, zone));
                // What touches by less than a hundredth may count as in or out.
                if depth.abs() > ONE / 100 {
                    let seen = format!("{id:?} is {depth} raw in {zone:?}, known: {known}");
                    truth.claim(&case, known == (depth > 0), seen);
                }
            }
        }
    }
}

#[test]
fn sensors_know_who_was_teleported() {
    Truth::hear_listed(UNUSUAL[2], 1..=6);
}

/// A world whose lower edge is the floor: there are no walls.
fn edge(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let (g, half) = (chance.between(5_000, 15_000), 8_000);
        let bounds = Aabb { min: at(-half, -half), max: at(half, half) };
        let policy = [EdgePolicy::Stop, EdgePolicy::Bounce][chance.below(2) as usize];
        let restitution = chance.between(0, 1_000);
        let mut w = world(WorldDef::new().gravity(at(0, -g)).bounds(bounds).edge(policy));
        let ids: Vec<_> = (0..chance.between(10, 40))
            .map(|i| {
                let place = at(i % 10 * 1_500 - 6_750 + chance.between(-100, 100), i / 10 * 1_500 - 6_000);
                let half = chance.between(200, 600);
                let def =
                    any(chance, half).position(place).friction(milli(500)).restitution(milli(restitution));
                add(&mut w, def.velocity(at(chance.between(-5_000, 5_000), chance.between(-5_000, 5_000))))
            })
            .collect();
        let case = format!(
            "seed {seed}, {fps} fps, g {g}, {} bodies, {policy:?}, restitution {restitution}",
            ids.len()
        );
        let energy = |w: &World| -> i128 {
            let g = raw(w.gravity())[1];
            let of = |&id: &BodyId| {
                let ([vx, vy], [_, y]) = (velocity(w, id), position(w, id));
                i128::from(vx * vx + vy * vy) - 2 * i128::from(g) * i128::from(y + milli(half).to_bits())
            };
            ids.iter().map(of).sum()
        };
        let given = energy(&w);
        for _ in 0..10 * fps {
            step(&mut w, fps);
            let outside =
                ids.iter().any(|&id| position(&w, id).iter().any(|c| c.abs() > milli(half).to_bits()));
            truth.claim(&case, !outside, "somebody outside of the bounds");
            let now = energy(&w);
            truth.claim(&case, now * 100 <= given * 102, format!("energy {now} of {given}"));
        }
    }
}

#[test]
fn the_worlds_edge_holds_a_heap_and_gives_it_no_energy() {
    Truth::hear_listed(UNUSUAL[3], 1..=4);
}

/// A small scene with its origin at `origin`, whole units, and its state relative to it after three seconds.
fn scene_at(origin: [i32; 2], seed: u64, count: i64, fps: u32) -> Vec<([i64; 2], [i64; 2])> {
    let chance = &mut Chance::new(seed);
    let mut w = world(WorldDef::new().gravity(at(0, -10_000 * i64::from(chance.below(2)))));
    let shift = |v: Vec2| Vec2::new(v.x + Fx::from_num(origin[0]), v.y + Fx::from_num(origin[1]));
    add(&mut w, BodyDef::static_body(rect(8_000, 500)).position(shift(at(0, -500))));
    let ids: Vec<_> = (0..count)
        .map(|i| {
            let half = chance.between(200, 600);
            let def = any(chance, half).position(shift(at(i % 8 * 1_500 - 6_000, 800 + i / 8 * 1_500)));
            let def = def.friction(milli(chance.between(0, 800))).restitution(milli(chance.between(0, 800)));
            add(&mut w, def.velocity(at(chance.between(-9_000, 9_000), chance.between(-9_000, 9_000))))
        })
        .collect();
    (0..3 * fps).for_each(|_| step(&mut w, fps));
    let origin = origin.map(|c| i64::from(c) * ONE);
    let relative = |id: BodyId| [0, 1].map(|x| position(&w, id)[x] - origin[x]);
    ids.iter().map(|&id| (relative(id), velocity(&w, id))).collect()
}

fn translated(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let count = chance.between(2, 60);
        let far = || 16_384 - 64;
        let origin = match chance.below(4) {
            0 => [far(), far()],
            1 => [-far(), far()],
            _ => [chance.between(-16_000, 16_000) as i32, chance.between(-16_000, 16_000) as i32],
        };
        let same = scene_at([0; 2], seed, count, fps) == scene_at(origin, seed, count, fps);
        truth.claim(format!("seed {seed}, {fps} fps, {count} bodies at {origin:?}"), same, "other bits");
    }
}

#[test]
fn the_place_of_a_scene_changes_nothing() {
    Truth::hear_listed(UNUSUAL[4], 1..=10);
}

fn turning(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    const HALF: i64 = 6_000;
    for fps in RATES {
        let g = chance.between(4_000, 15_000);
        let mut w = world(WorldDef::new().gravity(at(0, -g)));
        let friction = chance.between(100, 800);
        let around = walls(&mut w, HALF, friction);
        let ids: Vec<_> = (0..chance.between(20, 50))
            .map(|i| {
                let half = chance.between(200, 700);
                let place = at(i % 7 * 1_600 - 4_800, i / 7 * 1_500 - 5_000);
                let def = any(chance, half).position(place).friction(milli(friction));
                add(&mut w, def.mass(milli(chance.between(500, 2_000))))
            })
            .collect();
        let case = format!("seed {seed}, {fps} fps, g {g}, friction {friction}, {} bodies", ids.len());
        // A fall along the whole diagonal, and what heavier neighbours pass on.
        let top = after_fall(g, 3 * HALF) * 3 / 2 + Fx::ONE;
        for turn in 0..6 {
            let [x, y] = [[0, -1], [1, 0], [0, 1], [-1, 0]][chance.below(4) as usize];
            w.set_gravity(at(x * g, y * g)).expect("in range");
            let frames = i64::from(fps) * chance.between(500, 6_000) / 1_000;
            for _ in 0..frames {
                step(&mut w, fps);
                truth.expect(format!("{case}, turn {turn}"), Fx::ZERO..=top, fastest(&w, &ids));
                truth.expect(
                    format!("{case}, turn {turn}"),
                    Fx::ZERO..=milli(250),
                    deepest(&w, &ids, &around),
                );
            }
        }
        truth.claim(&case, rests(&mut w, 30, fps), format!("still {} after 30 s", fastest(&w, &ids)));
        truth.expect(&case, Fx::ZERO..=milli(100), deepest(&w, &ids, &around));
    }
}

#[test]
fn a_heap_follows_gravity_that_turns() {
    Truth::hear_listed(UNUSUAL[5], 1..=4);
}

fn ranks(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    const HALF: i64 = 5_000;
    for fps in RATES {
        let mut w = world(WorldDef::new().gravity(at(0, -10_000)));
        let around = walls(&mut w, HALF, 400);
        let ids: Vec<_> = (0..chance.between(15, 35))
            .map(|i| {
                let half = chance.between(300, 600);
                let place = at(i % 6 * 1_500 - 3_750 + chance.between(-80, 80), i / 6 * 1_500 - 4_000);
                let def = any(chance, half).position(place).friction(milli(400));
                add(&mut w, def.dominance(chance.between(-3, 3) as i8))
            })
            .collect();
        let case = format!("seed {seed}, {fps} fps, {} bodies", ids.len());
        for frame in 0..20 * fps {
            // They change their ranks while they fall.
            if frame < 5 * fps && chance.below(fps) < 4 {
                let id = ids[chance.below(ids.len() as u32) as usize];
                w.set_dominance(id, chance.between(-3, 3) as i8).expect("alive");
            }
            step(&mut w, fps);
            let outside =
                ids.iter().any(|&id| position(&w, id).iter().any(|c| c.abs() > milli(HALF).to_bits()));
            truth.claim(&case, !outside, "somebody outside of the walls");
        }
        truth.expect(&case, Fx::ZERO..=milli(100), deepest(&w, &ids, &around));
    }
}

#[test]
fn a_heap_of_all_ranks_stays_between_walls() {
    Truth::hear_listed(UNUSUAL[6], 1..=4);
}

/// Level ground whose surface is at `height`.
fn ground(w: &mut World, height: i64, polygon: bool) -> Vec<BodyId> {
    let ends = [at(-9_000, height), at(9_000, height)];
    if polygon {
        let below = [at(-9_000, height - 2_000), at(9_000, height - 2_000)];
        let corners = [below[0], below[1], ends[1], ends[0]];
        let ground = PolygonDef::new(&corners).friction(milli(500));
        vec![w.create_polygon(&ground).expect("a good polygon")]
    } else {
        let points = [ends[0], at(-3_000, height), at(200, height), ends[1]];
        w.create_chain(&ChainDef::new(&points).friction(milli(500))).expect("a good chain")
    }
}

fn replaced(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        for change in [0, -400, 50] {
            let polygons = [chance.below(2) == 0, chance.below(2) == 0];
            let mut w = world(WorldDef::new().gravity(at(0, -10_000)));
            let old = ground(&mut w, 0, polygons[0]);
            let half = chance.between(200, 700);
            let ids: Vec<_> = (0..chance.between(1, 4))
                .map(|i| {
                    let def = BodyDef::dynamic(rect(half, half)).position(at(0, half + 2 * half * i));
                    add(&mut w, def.friction(milli(500)))
                })
                .collect();
            let case =
                format!("seed {seed}, {fps} fps, {} boxes of {half}, {polygons:?} by {change}", ids.len());
            truth.claim(&case, rests(&mut w, 10, fps), "no rest");
            let before: Vec<_> = ids.iter().map(|&id| position(&w, id)).collect();
            let new_first = chance.below(2) == 0;
            if new_first {
                ground(&mut w, change, polygons[1]);
            }
            old.into_iter().for_each(|id| w.remove_body(id).expect("alive"));
            if !new_first {
                ground(&mut w, change, polygons[1]);
            }
            truth.claim(&case, w.body(ids[0]).expect("alive").is_awake(), "asleep where its ground changed");
            truth.claim(&case, rests(&mut w, 10, fps), "no rest after the change");
            for (&id, before) in ids.iter().zip(before) {
                let now = position(&w, id);
                // How deep contacts are at rest depends on the load, not on the ground.
                truth.expect(&case, about(milli(change), milli(30)), Fx::from_bits(now[1] - before[1]));
                truth.expect(&case, about(Fx::ZERO, milli(50)), Fx::from_bits(now[0] - before[0]));
            }
        }
    }
}

#[test]
fn who_slept_on_terrain_lies_on_what_replaced_it() {
    Truth::hear_listed(UNUSUAL[7], 1..=5);
}

/// Calls that set what is set already. A velocity other than zero wakes a body, whatever it has been.
fn call_idly(w: &mut World, chance: &mut Chance, ids: &[BodyId], sleeps: bool) {
    let id = ids[chance.below(ids.len() as u32) as usize];
    let other = ids[chance.below(ids.len() as u32) as usize];
    let body = w.body(id).expect("alive");
    let (velocity, mass, material, filter) = (body.velocity(), body.mass(), body.material(), body.filter());
    let (kind, shape, rank, user) = (body.kind(), body.shape(), body.dominance(), body.user());
    let (limit, locked, can_sleep) = (body.max_speed(), body.locked_axes(), body.can_sleep());
    match chance.below(18) {
        0 | 11 if sleeps => Ok(()),
        0 => w.set_velocity(id, velocity),
        1 => w.set_mass(id, mass),
        2 => w.set_material(id, material),
        3 => w.set_filter(id, filter),
        4 => w.set_dominance(id, rank),
        5 => w.set_locked_axes(id, locked.0, locked.1),
        6 => w.set_kind(id, kind),
        7 => w.set_enabled(id, true),
        8 => w.set_max_speed(id, limit),
        9 => w.set_sensor(id, false),
        10 if id != other => w.set_pair_ignored(id, other, false),
        11 => w.wake_body(id),
        12 => w.set_can_sleep(id, can_sleep),
        13 => w.set_user(id, user),
        14 => w.set_shape(id, shape),
        15 => w.apply_impulse(id, Vec2::ZERO),
        16 => w.apply_force(id, Vec2::ZERO),
        _ => {
            w.set_gravity(w.gravity()).expect("in range");
            Ok(())
        }
    }
    .expect("alive and in range");
}

fn idle_calls(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let drawn = chance.clone();
        let [calm, called] = [false, true].map(|calls| {
            let chance = &mut drawn.clone();
            let g = 10_000 * i64::from(chance.below(2));
            let sleeps = chance.below(2) == 0;
            let sleep_ms = if sleeps { 500 } else { 0 };
            let mut w = world(WorldDef::new().gravity(at(0, -g)).sleep_ms(sleep_ms));
            walls(&mut w, 6_000, 300);
            let ids: Vec<_> = (0..40)
                .map(|i| {
                    let half = chance.between(300, 600);
                    let def = any(chance, half).position(at(i % 7 * 1_500 - 4_500, i / 7 * 1_500 - 5_000));
                    let def = def.friction(milli(chance.between(0, 500)));
                    add(
                        &mut w,
                        def.velocity(at(chance.between(-5_000, 5_000), chance.between(-5_000, 5_000))),
                    )
                })
                .collect();
            for _ in 0..3 * fps {
                for _ in 0..if calls { 5 } else { 0 } {
                    call_idly(&mut w, chance, &ids, sleeps);
                }
                step(&mut w, fps);
            }
            w.checksum()
        });
        chance.below(2);
        truth.claim(format!("seed {seed}, {fps} fps"), calm == called, "other bits");
    }
}

#[test]
fn calls_that_change_nothing_change_no_bit() {
    Truth::hear_listed(UNUSUAL[8], 1..=5);
}

fn limits(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let mut w = world(WorldDef::new().gravity(at(0, -10_000 * i64::from(chance.below(2)))));
        walls(&mut w, 8_000, 0);
        let ids: Vec<_> = (0..40)
            .map(|i| {
                let half = chance.between(200, 600);
                let def = any(chance, half).position(at(i % 7 * 1_900 - 5_700, i / 7 * 1_900 - 6_000));
                let def = def.restitution(milli(chance.between(0, 1_000)));
                add(
                    &mut w,
                    def.velocity(at(chance.between(-20_000, 20_000), chance.between(-20_000, 20_000))),
                )
            })
            .collect();
        for frame in 0..4 * fps {
            if chance.below(fps) < 20 {
                let id = ids[chance.below(40) as usize];
                let limit = (chance.below(4) != 0).then(|| milli(chance.between(0, 10_000)));
                w.set_max_speed(id, limit).expect("in range");
                if chance.below(2) == 0 {
                    w.apply_impulse(id, at(chance.between(-30_000, 30_000), 0)).expect("in range");
                }
            }
            step(&mut w, fps);
            for &id in &ids {
                let Some(limit) = w.body(id).expect("alive").max_speed() else { continue };
                let case = format!("seed {seed}, {fps} fps, frame {frame}, {id:?}");
                truth.expect(case, Fx::ZERO..=limit + Fx::from_bits(2), fastest(&w, &[id]));
            }
        }
    }
}

#[test]
fn nobody_is_faster_than_its_limit() {
    Truth::hear_listed(UNUSUAL[9], 1..=5);
}

/// A body of higher rank marches against others that stand at a wall.
fn pressed(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let (pace, thin) = (chance.between(500, 6_000), chance.between(50, 1_000));
        let mut w = world(WorldDef::new());
        let wall = add(&mut w, BodyDef::static_body(rect(thin, 500_000)));
        let half = chance.between(250, 700);
        let row = chance.between(1, 4);
        let low: Vec<_> = (0..row)
            .map(|i| add(&mut w, any(chance, half).position(at(-thin - 2 * half * i - half, 0))))
            .collect();
        let high = any(chance, half).dominance(chance.between(1, 9) as i8);
        let aside = chance.between(-half, half) * i64::from(chance.below(2));
        let high = add(&mut w, high.position(at(-thin - 2 * half * row - 2_000, aside)));
        let mut deep = Fx::ZERO;
        for _ in 0..6 * fps {
            w.set_velocity(high, at(pace, 0)).expect("alive");
            step(&mut w, fps);
            deep = deep.max(deepest(&w, &low, &[wall])).max(deepest(&w, &[high], &[wall]));
        }
        let case = format!(
            "seed {seed}, {fps} fps, {row} of {half} before a wall of {thin}, pace {pace}, aside {aside}"
        );
        truth.expect(&case, Fx::ZERO..=milli(200), deep);
        let through = low.iter().chain([&high]).any(|&id| position(&w, id)[0] > 0);
        truth.claim(&case, !through, "somebody behind the wall");
    }
}

#[test]
fn who_has_a_rank_presses_nobody_into_a_wall() {
    Truth::hear_listed(UNUSUAL[11], 1..=20);
}
