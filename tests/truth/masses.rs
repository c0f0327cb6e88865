//! Truths about bodies of very different masses where much else happens: gravity that turns, rates that change in every frame, lifts, teleports,
//! walls behind light bodies.
//!
//! `cargo run --release -p testudo-tests --features measure --example truths -- unusual $(date +%s)` asks the same with fifty fresh seeds.

use testudo_physics::{BodyDef, BodyId, Fx, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, overlap, position, rect, world};
use crate::frame::{Listed, RATES, Truth, about, any_mass, rests, top_speed};

/// All truths of this file: law, source, hearing.
pub(crate) const MASSES: [Listed; 8] = [
    ("a body that a heavy one strikes stays before its wall", "walls do not yield", struck),
    (
        "a heap of masses 1:100 follows gravity that turns every second",
        "walls do not yield; statics",
        turning,
    ),
    ("a heap of masses 1:100 rides on a lift", "walls do not yield; statics", lift),
    (
        "a heap into which bodies are teleported stays between its walls",
        "walls do not yield; statics",
        teleported,
    ),
    ("a body beside a heap that does not touch it does not change how it lies", "locality", beside),
    ("a heavy tower on a light body rests beside a heap", "statics", tower),
    ("a body that slides slowly beside a heavy tower does not fall asleep", "nothing brakes it", sliding),
    ("a body that falls slowly along a wall does not stop in mid-air", "free fall", falling),
];

/// A disc or a box of at most this half extent, thousandths, whose mass is between 1 and `most`; light ones are as frequent as heavy ones.
fn any(chance: &mut Chance, half: i64, most: i64) -> BodyDef {
    let mass = any_mass(chance, 1_000, 1_000 * most);
    let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, half * 3 / 4) };
    BodyDef::dynamic(shape).mass(milli(mass)).friction(milli(500))
}

/// Four walls around a square of this half extent, thousandths.
fn walls(w: &mut World, half: i64) -> Vec<BodyId> {
    let (off, long) = (half + 4_000, half + 8_000);
    [(off, 0, 4_000, long), (-off, 0, 4_000, long), (0, off, half, 4_000), (0, -off, half, 4_000)]
        .map(|(x, y, hx, hy)| {
            add(w, BodyDef::static_body(rect(hx, hy)).position(at(x, y)).friction(milli(500)))
        })
        .to_vec()
}

/// A heap of bodies of 0.25 to 0.5 units in rows.
fn heap(w: &mut World, chance: &mut Chance, count: i64, most: i64) -> Vec<BodyId> {
    (0..count)
        .map(|i| {
            let half = chance.between(250, 500);
            let place = at(i % 6 * 1_200 - 3_000 + chance.between(-80, 80), i / 6 * 1_100 - 3_300);
            add(w, any(chance, half, most).position(place))
        })
        .collect()
}

/// The greatest depth of any of the bodies in any of the others.
pub(crate) fn deepest(w: &World, ids: &[BodyId], others: &[BodyId]) -> Fx {
    let body = |&id: &BodyId| w.body(id).expect("alive");
    let depths = ids.iter().map(body).flat_map(|a| others.iter().map(body).map(move |b| overlap(&a, &b)));
    Fx::from_bits(depths.max().unwrap_or(0).max(0))
}

/// A light body lies at a wall and a heavy one hits it, without gravity.
fn struck(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let (ratio, half) = (chance.between(16, 100), chance.between(250, 700));
        let mut w = world(WorldDef::new());
        let wall = add(&mut w, BodyDef::static_body(rect(2_000, 50_000)).position(at(2_000, 0)));
        let row = chance.between(1, 3);
        let light: Vec<_> = (0..row)
            .map(|i| add(&mut w, BodyDef::dynamic(circle(half)).position(at(-half - 2 * half * i, 0))))
            .collect();
        let (pace, aside) = (chance.between(1_000, 8_000), chance.between(-half / 2, half / 2));
        let start = -2 * half * row - 2 * half - chance.between(0, 2_000);
        let heavy = BodyDef::dynamic(circle(half)).mass(milli(1_000 * ratio)).position(at(start, aside));
        let heavy = add(&mut w, heavy.velocity(at(pace, 0)));
        let mut deep = Fx::ZERO;
        for _ in 0..3 * fps {
            w.step(fps).expect("in range");
            deep = deep.max(deepest(&w, &light, &[wall])).max(deepest(&w, &[heavy], &[wall]));
        }
        let case =
            format!("seed {seed}, {fps} fps, {row} of {half}, masses 1:{ratio}, pace {pace}, aside {aside}");
        truth.expect(case, Fx::ZERO..=milli(100), deep);
    }
}

#[test]
fn who_is_struck_by_a_heavy_body_stays_before_its_wall() {
    Truth::hear_listed(MASSES[0], 1..=20);
}

fn turning(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    const HALF: i64 = 4_000;
    let mut w = world(WorldDef::new().gravity(at(0, -10_000)));
    let around = walls(&mut w, HALF);
    let count = chance.between(15, 36);
    let ids = heap(&mut w, chance, count, 100);
    let mut deep = Fx::ZERO;
    for second in 0..8 {
        let g = chance.between(3_000, 15_000);
        w.set_gravity([at(0, -g), at(g, 0), at(0, g), at(-g, 0)][chance.below(4) as usize])
            .expect("in range");
        let mut elapsed = 0;
        while elapsed < 1_000 {
            let fps = RATES[chance.below(5) as usize];
            w.step(fps).expect("in range");
            elapsed += 1_000 / i64::from(fps);
            let outside =
                ids.iter().any(|&id| position(&w, id).iter().any(|c| c.abs() > milli(HALF).to_bits()));
            truth.claim(format!("seed {seed}, second {second}"), !outside, "somebody outside of the walls");
            deep = deep.max(deepest(&w, &ids, &around));
        }
    }
    let case = format!("seed {seed}, {count} bodies");
    truth.expect(&case, Fx::ZERO..=milli(500), deep);
    let fps = RATES[chance.below(5) as usize];
    truth.claim(format!("{case}, {fps} fps"), rests(&mut w, 30, fps), format!("still {}", top_speed(&w)));
    truth.expect(case, Fx::ZERO..=milli(100), deepest(&w, &ids, &around));
}

#[test]
fn a_heap_of_masses_1_to_100_follows_gravity_that_turns_every_second() {
    Truth::hear_listed(MASSES[1], 1..=6);
}

fn lift(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    const HALF: i64 = 4_000;
    let fps = RATES[chance.below(5) as usize];
    let mut w = world(WorldDef::new().gravity(at(0, -10_000)));
    let sides: Vec<_> = [-1, 1]
        .map(|side| {
            let wall = BodyDef::static_body(rect(4_000, 60_000)).position(at(side * (HALF + 4_000), 0));
            add(&mut w, wall.friction(milli(500)))
        })
        .to_vec();
    let floor = BodyDef::kinematic(rect(HALF, 2_000)).position(at(0, -HALF - 2_000)).friction(milli(500));
    let floor = add(&mut w, floor);
    let count = chance.between(15, 36);
    let ids = heap(&mut w, chance, count, 100);
    let case = format!("seed {seed}, {fps} fps, {count} bodies");
    let mut deep = Fx::ZERO;
    for _ in 0..6 {
        w.set_velocity(floor, at(0, chance.between(-3_000, 3_000))).expect("alive");
        for _ in 0..fps {
            w.step(fps).expect("in range");
            deep = deep.max(deepest(&w, &ids, &sides)).max(deepest(&w, &ids, &[floor]));
        }
    }
    truth.expect(&case, Fx::ZERO..=milli(500), deep);
    w.set_velocity(floor, at(0, 0)).expect("alive");
    truth.claim(&case, rests(&mut w, 30, fps), format!("still {}", top_speed(&w)));
    let deep = deepest(&w, &ids, &sides).max(deepest(&w, &ids, &[floor]));
    truth.expect(&case, Fx::ZERO..=milli(100), deep);
}

#[test]
fn a_heap_of_masses_1_to_100_rides_on_a_lift() {
    Truth::hear_listed(MASSES[2], 1..=6);
}

/// Setters place bodies of a heap into the middle of others.
fn teleported(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    const HALF: i64 = 4_500;
    let fps = RATES[chance.below(5) as usize];
    let most = [1, 4, 30][chance.below(3) as usize];
    let mut w = world(WorldDef::new().gravity(at(0, -10_000)));
    let around = walls(&mut w, HALF);
    let count = chance.between(15, 30);
    let ids = heap(&mut w, chance, count, most);
    for _ in 0..6 * fps {
        if chance.below(fps) < 2 {
            let [id, to] = [0; 2].map(|_| ids[chance.below(count as u32) as usize]);
            let place = w.body(to).expect("alive").position();
            w.set_position(id, place).expect("in range");
        }
        w.step(fps).expect("in range");
        let outside = ids.iter().any(|&id| position(&w, id).iter().any(|c| c.abs() > milli(HALF).to_bits()));
        truth.claim(format!("seed {seed}, {fps} fps, 1:{most}"), !outside, "somebody outside of the walls");
    }
    let case = format!("seed {seed}, {fps} fps, {count} bodies, masses 1:{most}");
    truth.claim(&case, rests(&mut w, 30, fps), format!("still {}", top_speed(&w)));
    truth.expect(&case, Fx::ZERO..=milli(100), deepest(&w, &ids, &around));
}

#[test]
fn a_heap_into_which_bodies_are_teleported_stays_between_its_walls() {
    Truth::hear_listed(MASSES[3], 1..=6);
}

/// A heavy body on a light one, alone, or beside a light and a far heavier body that are awake or asleep and do not touch them.
fn beside(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let (ratio, gap) = (chance.between(22, 30), chance.between(30, 90));
        let gravity = at(0, -chance.between(4_000, 15_000));
        let heights = [None, Some(true), Some(false)].map(|neighbour| {
            let mut w = world(WorldDef::new().gravity(gravity));
            add(&mut w, BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000)));
            add(&mut w, BodyDef::dynamic(rect(500, 500)).position(at(0, 500)));
            let heavy = BodyDef::dynamic(rect(500, 500)).position(at(0, 1_500)).mass(milli(1_000 * ratio));
            let heavy = add(&mut w, heavy);
            if let Some(awake) = neighbour {
                for (mass, y) in [(3_000, 500), (3_000 * ratio, 1_500)] {
                    let def = BodyDef::dynamic(rect(500, 500)).mass(milli(mass));
                    add(&mut w, def.position(at(1_000 + gap, y)).can_sleep(!awake));
                }
            }
            for _ in 0..15 * fps {
                w.step(fps).expect("in range");
            }
            w.body(heavy).expect("alive").position().y
        });
        for (seen, who) in heights[1..].iter().zip(["awake", "asleep"]) {
            let case = format!("seed {seed}, {fps} fps, masses 1:{ratio}, gap {gap}, {who}");
            truth.expect(case, about(heights[0], milli(2)), *seen);
        }
    }
}

#[test]
fn who_stands_beside_a_heap_without_touching_it_does_not_change_how_it_lies() {
    Truth::hear_listed(MASSES[4], 1..=6);
}

/// Heavy bodies on a light one, among light bodies that stand so close that some are within the margin of a contact only while the tower is high.
fn tower(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let mut w = world(WorldDef::new().gravity(at(0, -chance.between(4_000, 20_000))));
        add(&mut w, BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000)).friction(milli(500)));
        // The middle of a column, or of columns beside the tower the near side.
        let mut column = |chance: &mut Chance, x: i64, masses: &[i64]| {
            let mut top = 0;
            for &mass in masses {
                let (half, side) = (chance.between(150, 450), chance.between(150, 450));
                let round = chance.below(4) == 0;
                let shape = if round { circle(half) } else { rect(side, half) };
                let aside = if x == 0 {
                    chance.between(-20, 20)
                } else {
                    x.signum() * if round { half } else { side }
                };
                let def = BodyDef::dynamic(shape).mass(milli(1_000 * mass)).friction(milli(500));
                add(&mut w, def.position(at(x + aside, top + half)));
                top += 2 * half + chance.between(0, 30);
            }
        };
        let heavy = [chance.between(40, 100), chance.between(40, 100), chance.between(10, 100)];
        column(chance, 0, &[1, heavy[0], heavy[1], heavy[2]]);
        for sign in [-1, 1] {
            let near = sign * chance.between(460, 800);
            column(chance, near, &[1, 2, 1, 3]);
        }
        let case = format!("seed {seed}, {fps} fps, masses {heavy:?}");
        truth.claim(case, rests(&mut w, 30, fps), format!("{:?}", top_speed(&w)));
    }
}

#[test]
fn a_heavy_tower_on_a_light_body_rests_beside_a_heap() {
    Truth::hear_listed(MASSES[5], 1..=20);
    // Hopped for ever at 10 frames per second while small groups had rigid contacts and large ones springs.
    Truth::hear_listed(MASSES[5], 700_124..=700_124);
}

/// Where masses differ much, a body that shakes falls asleep by its position. A body that slides has another position in time.
fn sliding(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let mut w = world(WorldDef::new().gravity(at(0, -chance.between(4_000, 20_000))));
        add(&mut w, BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000)));
        let mut place = |def: BodyDef, x, y| add(&mut w, def.position(at(x, y)).can_sleep(x == 0));
        place(BodyDef::dynamic(rect(500, 500)), 5_000, 500);
        place(BodyDef::dynamic(rect(500, 500)).mass(milli(chance.between(30_000, 100_000))), 5_000, 1_500);
        let (pace, half) = (chance.between(65, 500), chance.between(100, 900));
        let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, half) };
        let slider = place(BodyDef::dynamic(shape).velocity(at(-pace, 0)), 0, half);
        for _ in 0..6 * fps {
            w.step(fps).expect("in range");
        }
        let case = format!("seed {seed}, {fps} fps, {pace}/1000 units/s");
        truth.claim(&case, w.body(slider).expect("alive").is_awake(), "asleep");
        truth.expect(case, about(milli(-6 * pace), milli(10)), Fx::from_bits(position(&w, slider)[0]));
    }
}

#[test]
fn who_slides_slowly_beside_a_heavy_tower_does_not_fall_asleep() {
    Truth::hear_listed(MASSES[6], 1..=10);
}

/// A body goes up slowly along a wall without friction, and down again, where a heavy tower stands elsewhere.
fn falling(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let gravity = chance.between(10, 200) * chance.between(1, 10);
        let mut w = world(WorldDef::new().gravity(at(0, -gravity)));
        add(&mut w, BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000)));
        add(&mut w, BodyDef::static_body(rect(1_000, 20_000)).position(at(-2_000, 20_000)));
        let mut place = |def: BodyDef, x, y| add(&mut w, def.position(at(x, y)).can_sleep(x < 0));
        place(BodyDef::dynamic(rect(500, 500)), 5_000, 500);
        place(BodyDef::dynamic(rect(500, 500)).mass(milli(chance.between(30_000, 100_000))), 5_000, 1_500);
        let pace = chance.between(40, 120);
        let flier = place(BodyDef::dynamic(rect(500, 500)).velocity(at(0, pace)), -500, 5_000);
        // Up and down again, and as long once more, unless it comes to the floor.
        let frames = (4 * pace * i64::from(fps) / gravity).min(20 * i64::from(fps));
        for frame in 1..=frames {
            w.step(fps).expect("in range");
            let t = Fx::from_num(frame) / i64::from(fps);
            let height = milli(5_000) + milli(pace) * t - milli(gravity) * t * t / 2;
            // Speeds change by whole frames.
            let near = milli(10) + milli(gravity) * t / (2 * i64::from(fps));
            let case = format!("seed {seed}, {fps} fps, frame {frame}, gravity {gravity}, pace {pace}");
            truth.expect(case, about(height, near), Fx::from_bits(position(&w, flier)[1]));
        }
    }
}

#[test]
fn who_falls_slowly_along_a_wall_does_not_stop_in_mid_air() {
    Truth::hear_listed(MASSES[7], 1..=40);
}
