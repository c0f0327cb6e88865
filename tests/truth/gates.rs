//! Gates: segments of a chain that some bodies pass and others do not.

use testudo_physics::{BodyDef, BodyId, ChainDef, Filter, Vec2, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, rect, velocity, world};
use crate::frame::{Truth, step};

/// How a gate is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// It takes no part.
    Disabled,
    /// The filters of the bodies and the gate do not accept each other.
    Filtered,
    /// Each pair of a body and the gate is ignored.
    Ignored,
}

/// A body of the team that a filtered gate lets through.
fn of_team(def: BodyDef) -> BodyDef {
    def.filter(Filter::new(2, u32::MAX))
}

fn open(w: &mut World, gate: BodyId, bodies: &[BodyId], how: Open) {
    match how {
        Open::Disabled => w.set_enabled(gate, false).expect("alive"),
        Open::Filtered => w.set_filter(gate, Filter::new(1, !2)).expect("alive"),
        Open::Ignored => {
            bodies.iter().for_each(|&body| w.set_pair_ignored(gate, body, true).expect("alive"));
        }
    }
}

/// The end of a wall beside a gate was soft: both segments left the contact to the gate, which had none.
#[test]
fn the_wall_ends_beside_a_gate_that_is_open_for_a_body() {
    let points = [(0, 0), (5_000, 0), (8_000, 0), (13_000, 0)].map(|(x, y)| at(x, y));
    for how in [Open::Disabled, Open::Filtered, Open::Ignored] {
        for x in [5_300, 7_700] {
            let mut w = world(WorldDef::new().sleep_ms(0));
            let wall = w.create_chain(&ChainDef::new(&points)).expect("a good chain");
            let disc = BodyDef::dynamic(circle(500)).position(at(x, 3_000)).velocity(at(0, -2_000));
            let disc = add(&mut w, of_team(disc));
            open(&mut w, wall[1], &[disc], how);
            let mut hits = 0;
            for _ in 0..180 {
                step(&mut w, 60);
                hits += w.contacts_began().len();
            }
            assert_eq!(hits, 1, "{how:?} at {x}");
        }
    }
}

/// A body that can pass a segment moves as if the segment were disabled, whatever lets it pass.
#[test]
fn an_open_gate_is_none() {
    let source = "brute force: the gate is disabled";
    Truth::at_rates("an open gate", source, 1..=24, |truth, chance, seed, fps| {
        let case = chance.clone();
        let disabled = play(&mut case.clone(), fps, Open::Disabled);
        for how in [Open::Filtered, Open::Ignored] {
            let same = play(&mut case.clone(), fps, how) == disabled;
            truth.claim(format!("seed {seed}, {fps} fps, {how:?}"), same, "other positions");
        }
        chance.below(2);
    });
}

/// Bodies fall and fly through gates in a jagged chain; their positions and velocities in each frame. Gates open at different times.
fn play(chance: &mut Chance, fps: u32, how: Open) -> Vec<[[i64; 2]; 2]> {
    let gravity = at(0, -10_000 * i64::from(chance.below(2)));
    // A pair that is ignored wakes both of its bodies, and a gate that is disabled only those that touch it: nobody sleeps.
    let mut w = world(WorldDef::new().gravity(gravity).sleep_ms(0));
    let mut points: Vec<Vec2> =
        (0..12).map(|i| at(i * 2_500 - 13_750, chance.between(-2_000, 2_000))).collect();
    if chance.below(2) == 0 {
        points.reverse();
    }
    let one_sided = chance.below(3) == 0;
    let wall = w.create_chain(&ChainDef::new(&points).one_sided(one_sided)).expect("a good chain");
    let mut bodies = Vec::new();
    for i in 0..16 {
        let half = chance.between(150, 900);
        let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, chance.between(150, 900)) };
        let place = at(chance.between(-13_000, 13_000), 3_000 + 500 * i);
        let speed = at(chance.between(-20_000, 20_000), chance.between(-60_000, 0));
        let body = BodyDef::dynamic(shape).position(place).velocity(speed);
        bodies.push(add(&mut w, of_team(body.restitution(milli(chance.between(0, 1_000))))));
    }
    let mut story = Vec::new();
    for frame in 0..4 * fps {
        if frame % fps == 0 {
            open(&mut w, wall[1 + chance.below(9) as usize], &bodies, how);
        }
        step(&mut w, fps);
        story.extend(bodies.iter().map(|&body| [position(&w, body), velocity(&w, body)]));
    }
    story
}
