//! Truths about bodies that strike each other one after the other within a frame, and about sensors thinner than any path.

use testudo_physics::{BodyDef, BodyId, Fx, World, WorldDef};

use crate::build::{Chance, add, at, circle, energy, milli, momentum, position, rect, velocity, world};
use crate::frame::{Listed, RATES, Truth, about, step};

/// All truths of this file: law, source, hearing.
pub(crate) const CHAINS: [Listed; 4] = [
    ("a cradle with gaps passes its speed on", "conservation of momentum and energy", cradle),
    ("nobody in a row changes places", "bodies do not pass through each other", row),
    ("light bodies before a heavy one stay on its side", "bodies do not pass through each other", ram),
    ("thin sensors notice bodies that cross them", "geometry", thin_sensors),
];

/// Whether the bodies of a row still stand in this order along x.
fn is_in_order(w: &World, row: &[BodyId]) -> bool {
    row.windows(2).all(|pair| position(w, pair[0])[0] < position(w, pair[1])[0])
}

/// Equal discs with gaps, of which the first one comes fast. The last one leaves with its speed; the others stand.
fn cradle(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    let (count, radius) = (chance.between(2, 7), chance.between(100, 700));
    let (gap, speed) = (chance.between(0, 1_000), chance.between(5_000, 60_000));
    let asleep = chance.below(2) == 0;
    for fps in RATES {
        let mut w = world(WorldDef::new());
        let disc = BodyDef::dynamic(circle(radius)).restitution(Fx::ONE);
        let step_between = 2 * radius + gap;
        let row: Vec<_> = (1..count).map(|i| add(&mut w, disc.position(at(i * step_between, 0)))).collect();
        if asleep {
            (0..fps).for_each(|_| step(&mut w, fps));
        }
        let first = add(&mut w, disc.position(at(-chance.between(0, 2_000), 0)).velocity(at(speed, 0)));
        let row: Vec<_> = core::iter::once(first).chain(row).collect();
        let case =
            format!("seed {seed}, {fps} fps, {count} of {radius}, {gap} apart, {speed}, asleep {asleep}");
        let given = (momentum(&w)[0], energy(&w));
        for _ in 0..2 * fps {
            step(&mut w, fps);
            truth.claim(&case, is_in_order(&w, &row), "they changed places");
        }
        let last = Fx::from_bits(velocity(&w, row[row.len() - 1])[0]);
        truth.expect(&case, about(milli(speed), milli(100)), last);
        let lost = Fx::from_bits(((given.0 - momentum(&w)[0]) >> 16) as i64);
        truth.expect(format!("{case}: momentum lost"), about(Fx::ZERO, milli(10)), lost);
        truth.claim(&case, energy(&w) <= given.1 + given.1 / 2_000, "more energy than was put in");
    }
}

#[test]
fn a_cradle_with_gaps_passes_its_speed_on() {
    Truth::hear_listed(CHAINS[0], 1..=40);
}

/// Discs and boxes of different size, mass and restitution in a row, with gaps; some come fast, from either side. And what was drawn.
fn drawn_row(chance: &mut Chance) -> (Vec<BodyDef>, String) {
    let count = chance.between(3, 8);
    let e = milli(chance.between(0, 1_000) * chance.between(0, 1));
    let (mut x, mut drawn) = (0, Vec::new());
    let defs: Vec<_> = (0..count)
        .map(|_| {
            let half = chance.between(150, 700);
            x += half + chance.between(0, 1_000);
            let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, half) };
            let def = BodyDef::dynamic(shape).position(at(x, 0)).restitution(e);
            x += half;
            let speed = if chance.below(3) == 0 { chance.between(-40_000, 40_000) } else { 0 };
            let mass = chance.between(250, 4_000);
            drawn.push((x - half, half, speed, mass));
            def.mass(milli(mass)).velocity(at(speed, 0))
        })
        .collect();
    (defs, format!("e {e}, places, halves, speeds and masses {drawn:?}"))
}

fn row(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    let (defs, drawn) = drawn_row(chance);
    for fps in RATES {
        let mut w = world(WorldDef::new());
        let row: Vec<_> = defs.iter().map(|&def| add(&mut w, def)).collect();
        let case = format!("seed {seed}, {fps} fps, {drawn}");
        let given = (momentum(&w)[0], energy(&w));
        for _ in 0..2 * fps {
            step(&mut w, fps);
            truth.claim(&case, is_in_order(&w, &row), "they changed places");
        }
        let lost = Fx::from_bits(((given.0 - momentum(&w)[0]) >> 16) as i64);
        truth.expect(format!("{case}: momentum lost"), about(Fx::ZERO, milli(20)), lost);
        truth.claim(&case, energy(&w) <= given.1 + given.1 / 500, "more energy than was put in");
    }
}

#[test]
fn nobody_in_a_row_changes_places() {
    Truth::hear_listed(CHAINS[1], 1..=60);
}

/// Eight bodies meet at up to 64 units/s. After the last pass two of them still closed at 10 units/s, and one went through the other.
#[test]
fn who_is_struck_from_both_sides_at_once_crosses_nobody() {
    Truth::hear_listed(CHAINS[1], 900_003..=900_003);
}

/// A light body that one behind it struck, and then a heavier one through that: only the first of the two strikes was seen, and it went through the
/// next body.
#[test]
fn who_is_struck_twice_in_a_frame_crosses_nobody() {
    Truth::hear_listed(CHAINS[1], 910_146..=910_146);
}

/// So many bodies in one place may be a pile-up. Then nobody looked for bodies that cross, wherever they were.
#[test]
fn who_is_struck_far_from_a_pile_up_crosses_nobody() {
    let (law, source, _) = CHAINS[1];
    for seed in [900_003, 910_146] {
        Truth::hear(law, source, seed..=seed, |truth, chance, seed| {
            let (defs, drawn) = drawn_row(chance);
            for fps in RATES {
                let mut w = world(WorldDef::new());
                let row: Vec<_> = defs.iter().map(|&def| add(&mut w, def)).collect();
                // They stay where they are, as they do not meet each other.
                let pile = BodyDef::kinematic(circle(500)).position(at(0, 200_000)).velocity(at(0, 100));
                (0..200).for_each(|_| _ = add(&mut w, pile));
                let case = format!("seed {seed}, {fps} fps, {drawn}");
                for _ in 0..2 * fps {
                    step(&mut w, fps);
                    truth.claim(&case, is_in_order(&w, &row), "they changed places");
                }
            }
        });
    }
}

/// The greatest change of a closing speed that a contact can give in a frame, units per second: one between a light and a heavy body has to change by
/// their ratio times their speed to stop the heavy one.
const MOST_CHANGE: i64 = 4_096;

/// A heavy box drives light discs against a wall. They stay between, or enter the box; none comes out behind it or behind the wall.
fn ram(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    let (count, mass) = (chance.between(1, 3), chance.between(16_000, 1_000_000));
    let most_speed = (MOST_CHANGE * 1_000_000 / mass).min(14_000);
    let (speed, e) = (chance.between(2_000, most_speed), chance.between(0, 800) * chance.between(0, 1));
    let gap = chance.between(0, 800);
    for fps in RATES {
        let mut w = world(WorldDef::new());
        add(&mut w, BodyDef::static_body(rect(1_000, 10_000)).position(at(1_000, 0)));
        let disc = BodyDef::dynamic(circle(400)).restitution(milli(e));
        let place = |i: i64| at(-400 - gap - i * (800 + gap), 0);
        let row: Vec<_> = (0..count).map(|i| add(&mut w, disc.position(place(i)))).collect();
        let start = -2_000 - count * (800 + gap) - chance.between(0, 2_000);
        let heavy = BodyDef::dynamic(rect(1_000, 3_000)).position(at(start, 0)).mass(milli(mass));
        let heavy = add(&mut w, heavy.velocity(at(speed, 0)));
        let case = format!("seed {seed}, {fps} fps, {count} before {mass} at {speed}, {gap} apart, e {e}");
        let mut fastest = 0;
        for _ in 0..3 * fps {
            step(&mut w, fps);
            for &id in &row {
                let [x, y] = position(&w, id);
                let beside = y.abs() > milli(3_000).to_bits();
                let behind = x < position(&w, heavy)[0] - milli(1_000).to_bits();
                truth.claim(&case, x <= 0, "behind the wall");
                truth.claim(&case, beside || !behind, "behind the heavy one");
                fastest = fastest.max(velocity(&w, id)[0].abs());
            }
        }
        // A light one between two that hardly yield is reflected at twice the speed of the heavy one, each time.
        let most = milli(2 * speed * (1 + count) + 3_000);
        truth.expect(format!("{case}: speed"), Fx::ZERO..=most, Fx::from_bits(fastest));
    }
}

#[test]
fn light_bodies_before_a_heavy_one_stay_on_its_side() {
    Truth::hear_listed(CHAINS[2], 1..=30);
}

/// A body that flies, or is struck, crosses sensors of any thickness.
fn thin_sensors(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    let (radius, speed) = (chance.between(20, 500), chance.between(2_000, 60_000));
    let sensors: Vec<_> =
        (0..6).map(|i| (3_000 + i * 1_500 + chance.between(0, 900), chance.between(1, 20))).collect();
    let struck = chance.below(2) == 0;
    let slope = chance.between(-300, 300);
    for fps in RATES {
        let mut w = world(WorldDef::new());
        for &(x, half) in &sensors {
            let half_height = chance.between(4_000, 8_000);
            add(&mut w, BodyDef::static_body(rect(half, half_height)).position(at(x, 0)).sensor(true));
        }
        let disc = BodyDef::dynamic(circle(radius)).restitution(Fx::ONE);
        let mut flier = add(&mut w, disc.velocity(at(speed, if struck { 0 } else { speed * slope / 1_000 })));
        if struck {
            flier = add(&mut w, disc.position(at(2 * radius + 50, 0)));
        }
        let (mut began, mut ended) = (Vec::new(), Vec::new());
        for _ in 0..8 * fps {
            step(&mut w, fps);
            let of = |event: &&testudo_physics::ContactEvent| event.a == flier || event.b == flier;
            began.extend(w.sensors_began().iter().filter(of).map(|event| event.a));
            ended.extend(w.sensors_ended().iter().filter(of).map(|event| event.a));
        }
        let case = format!("seed {seed}, {fps} fps, radius {radius}, {speed}, struck {struck}, {sensors:?}");
        for list in [&mut began, &mut ended] {
            list.sort_unstable();
        }
        truth.claim(&case, began.len() == 6 && began == ended, format!("began {began:?}, ended {ended:?}"));
        began.dedup();
        truth.claim(&case, began.len() == 6, "not each once");
    }
}

#[test]
fn thin_sensors_notice_who_crosses_them() {
    Truth::hear_listed(CHAINS[3], 1..=40);
}
