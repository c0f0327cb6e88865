//! Truths about ranks: which bodies hold their positions, and which are pushed.

use testudo_physics::{BodyDef, BodyId, Fx, Vec2, World, WorldDef};

use crate::build::{ONE, add, at, circle, milli, position, rect, velocity, world};
use crate::frame::{Truth, about, step};

/// Five discs side by side in a gap of a wall, and forty that run against them from below. Returns the five and the forty.
fn gap(w: &mut World, rank: i8) -> (Vec<BodyId>, Vec<BodyId>) {
    for side in [-1, 1] {
        add(w, BodyDef::static_body(rect(10_000, 500)).position(at(side * 12_510, 0)));
    }
    let five = (-2..=2)
        .map(|i| add(w, BodyDef::dynamic(circle(500)).position(at(i * 1_000, 0)).dominance(rank)))
        .collect();
    let forty = (0..40)
        .map(|i| {
            let place = at((i % 8) * 1_050 - 3_700, -1_500 - (i / 8) * 1_050);
            add(w, BodyDef::dynamic(circle(500)).position(place))
        })
        .collect();
    (five, forty)
}

#[test]
fn five_defenders_hold_a_gap_against_a_crowd() {
    Truth::at_rates(
        "defenders hold a gap",
        "the definition of dominance",
        1..=3,
        |truth, chance, seed, fps| {
            let speed = chance.between(1_000, 6_000);
            let pushed = [3, 0].map(|rank| {
                let mut w = world(WorldDef::new());
                let (five, forty) = gap(&mut w, rank);
                for _ in 0..10 * fps {
                    for &id in &forty {
                        w.set_velocity(id, at(0, speed)).expect("alive");
                    }
                    step(&mut w, fps);
                }
                let way = five.iter().enumerate().map(|(i, &id)| {
                    let [x, y] = position(&w, id);
                    (x - (i as i64 - 2) * ONE).abs().max(y.abs())
                });
                let through = forty.iter().filter(|&&id| position(&w, id)[1] > ONE).count();
                (Fx::from_bits(way.max().expect("five")), through)
            });
            let case = format!("seed {seed}, {fps} fps, {speed} / 1000 units/s");
            truth.expect(&case, Fx::ZERO..=milli(10), pushed[0].0);
            truth.claim(&case, pushed[0].1 == 0, format!("{} came through", pushed[0].1));
            // Without ranks the crowd breaks through, so the truth is one about ranks.
            truth.expect(format!("{case}, without ranks"), Fx::ONE..=Fx::MAX, pushed[1].0);
        },
    );
}

/// The higher rank keeps its velocity, the lower one meets a moving wall: `v' = w + e (w - v)`.
#[test]
fn the_lower_rank_bounces_off_as_from_a_wall() {
    let law = "ranks in a collision";
    Truth::at_rates(law, "reflection at a moving wall", 1..=20, |truth, chance, seed, fps| {
        let masses = [chance.between(100, 5_000), chance.between(100, 5_000)];
        let speeds = [chance.between(1_000, 6_000), -chance.between(1_000, 6_000)];
        let e = chance.between(0, 1_000);
        let lower = chance.below(2) as usize;
        let mut w = world(WorldDef::new().sleep_ms(0));
        let ids = [0, 1].map(|i| {
            let disc = BodyDef::dynamic(circle(500)).position(at([-6_000, 6_000][i], 0));
            let disc = disc.dominance([-3, 5][usize::from(i != lower)]).mass(milli(masses[i]));
            add(&mut w, disc.velocity(at(speeds[i], 0)).restitution(milli(e)))
        });
        let frames = 11_000 * i64::from(fps) / (speeds[0] - speeds[1]) + 5;
        (0..frames).for_each(|_| step(&mut w, fps));
        let wall = speeds[1 - lower];
        let expected = wall + e * (wall - speeds[lower]) / 1_000;
        let case =
            format!("seed {seed}, {fps} fps, masses {masses:?}, speeds {speeds:?}, e {e}, lower {lower}");
        let seen = ids.map(|id| Fx::from_bits(velocity(&w, id)[0]));
        truth.expect(&case, about(milli(expected), milli(10)), seen[lower]);
        truth.claim(&case, seen[1 - lower] == milli(wall), format!("{} instead of {wall}", seen[1 - lower]));
    });
}

/// A random crowd that is steered to the middle, with the same rank for all.
fn crowd(seed: u64, rank: i8, fps: u32) -> Vec<([i64; 2], [i64; 2])> {
    let chance = &mut crate::build::Chance::new(seed);
    let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -i32::from(seed.is_multiple_of(2)) * 10)));
    add(&mut w, BodyDef::static_body(rect(20_000, 500)).position(at(0, -9_000)));
    let ids: Vec<_> = (0..60)
        .map(|_| {
            let half = chance.between(200, 900);
            let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, 400) };
            let def = BodyDef::dynamic(shape).mass(milli(chance.between(100, 9_000))).dominance(rank);
            let def = def.friction(milli(chance.between(0, 500) * i64::from(chance.below(2))));
            add(&mut w, def.position(at(chance.between(-8_000, 8_000), chance.between(-8_000, 8_000))))
        })
        .collect();
    for frame in 0..3 * fps {
        if frame < fps {
            steer_to_the_middle(&mut w, &ids);
        }
        step(&mut w, fps);
    }
    ids.iter().map(|&id| (position(&w, id), velocity(&w, id))).collect()
}

#[test]
fn equal_ranks_are_the_same_bits_as_none() {
    let law = "equal ranks change nothing";
    Truth::at_rates(law, "the definition of dominance", 1..=8, |truth, chance, seed, fps| {
        let rank = chance.between(-128, 127) as i8;
        let same = crowd(seed, rank, fps) == crowd(seed, 0, fps);
        truth.claim(format!("seed {seed}, {fps} fps, rank {rank}"), same, "other bits");
    });
}

fn steer_to_the_middle(w: &mut World, ids: &[BodyId]) {
    for &id in ids {
        let [x, y] = position(w, id);
        w.set_velocity(id, Vec2::new(Fx::from_bits(-x / 2), Fx::from_bits(-y / 2))).expect("alive");
    }
}

/// A crowd of three ranks that is steered to the middle, and one body far away that meets nobody, which may be a sensor.
fn ranks_beside(sensor: bool, seed: u64, fps: u32) -> Vec<([i64; 2], [i64; 2])> {
    let chance = &mut crate::build::Chance::new(seed);
    let mut w = world(WorldDef::new());
    add(&mut w, BodyDef::static_body(rect(2_000, 500)).position(at(0, -1_000)));
    let ids: Vec<_> = (0..100)
        .map(|_| {
            let def =
                BodyDef::dynamic(circle(chance.between(200, 900))).mass(milli(chance.between(500, 4_000)));
            let def = def.dominance(chance.between(-1, 1) as i8);
            add(&mut w, def.position(at(chance.between(-9_000, 9_000), chance.between(-9_000, 9_000))))
        })
        .collect();
    let far = BodyDef::dynamic(circle(500)).position(at(0, 100_000)).sensor(sensor);
    add(&mut w, far.velocity(at(0, 1_000)));
    for _ in 0..2 * fps {
        steer_to_the_middle(&mut w, &ids);
        step(&mut w, fps);
    }
    ids.iter().map(|&id| (position(&w, id), velocity(&w, id))).collect()
}

/// A sensor anywhere has all contacts made one by one instead of eight at a time.
#[test]
fn ranks_are_the_same_bits_eight_at_a_time_as_one_by_one() {
    Truth::at_rates("ranks eight at a time", "ranks one by one", 1..=4, |truth, _, seed, fps| {
        let same = ranks_beside(false, seed, fps) == ranks_beside(true, seed, fps);
        truth.claim(format!("seed {seed}, {fps} fps"), same, "other bits");
    });
}

#[test]
fn a_defender_gives_way_to_walls() {
    Truth::at_rates(
        "walls have the highest rank",
        "a wall that moves",
        1..=10,
        |truth, chance, seed, fps| {
            let speed = chance.between(200, 3_000);
            let mut w = world(WorldDef::new());
            let guard = add(&mut w, BodyDef::dynamic(circle(500)).dominance(i8::MAX));
            let wall = BodyDef::kinematic(rect(500, 2_000)).position(at(-1_100, 0)).velocity(at(speed, 0));
            let wall = add(&mut w, wall);
            (0..2 * fps).for_each(|_| step(&mut w, fps));
            let [wall, guard] = [wall, guard].map(|id| Fx::from_bits(position(&w, id)[0]));
            let case = format!("seed {seed}, {fps} fps, wall at {speed} / 1000 units/s");
            truth.expect(case, milli(992)..=Fx::MAX, guard - wall);
        },
    );
}
