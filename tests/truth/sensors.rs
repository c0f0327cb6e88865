//! Truths about sensors and bodies at rest: nobody moves, and all the same each overlap is reported by the next step.

use testudo_physics::{BodyDef, BodyId, BodyKind, ContactEvent, World, WorldDef};

use crate::build::{Chance, ONE, add, at, circle, overlap, position, rect, run, world};
use crate::frame::Truth;

fn shape(chance: &mut Chance) -> testudo_physics::Shape {
    match chance.below(2) {
        0 => circle(chance.between(200, 1_500)),
        _ => rect(chance.between(200, 1_500), chance.between(200, 1_500)),
    }
}

fn place(chance: &mut Chance) -> testudo_physics::Vec2 {
    at(chance.between(-4_000, 4_000), chance.between(-4_000, 4_000))
}

/// Sleeping, resting and static bodies beside each other.
fn resting(w: &mut World, chance: &mut Chance, fps: u32) -> Vec<BodyId> {
    let ids = (0..16)
        .map(|i| {
            let kind =
                [BodyKind::Dynamic, BodyKind::Dynamic, BodyKind::Kinematic, BodyKind::Static][i as usize % 4];
            let def = BodyDef::new(kind, circle(chance.between(200, 450)));
            add(w, def.position(at(i % 4 * 2_000 - 3_000, i / 4 * 2_000 - 3_000)))
        })
        .collect();
    run(w, fps, fps);
    ids
}

/// Expects that one step reports exactly the pairs of the sensor and a body that overlap now, and that nobody wakes up.
fn judge(
    truth: &mut Truth,
    case: &str,
    w: &mut World,
    sensor: BodyId,
    ids: &[BodyId],
    known: &mut Vec<BodyId>,
    fps: u32,
) {
    let depth = |&id: &BodyId| overlap(&w.body(id).expect("alive"), &w.body(sensor).expect("alive"));
    let is_static = w.body(sensor).expect("alive").kind() == BodyKind::Static;
    let seen = |id: &BodyId| !(is_static && w.body(*id).expect("alive").kind() == BodyKind::Static);
    // What touches by less than a hundredth may count as in or out.
    let before: Vec<_> = ids.iter().map(|&id| position(w, id)).collect();
    let mut clear: Vec<_> =
        ids.iter().copied().filter(|id| seen(id) && depth(id).abs() > ONE / 100).collect();
    let inside: Vec<_> = clear.iter().copied().filter(|id| depth(id) > 0).collect();
    run(w, 1, fps);
    // Whoever a call put into another body is pushed out, maybe into the sensor.
    let stays = |id: &BodyId| {
        ids.iter().position(|other| other == id).is_some_and(|at| position(w, *id) == before[at])
    };
    clear.retain(stays);
    let inside: Vec<_> = inside.into_iter().filter(|id| clear.contains(id)).collect();
    let other = |event: &ContactEvent| if event.a == sensor { event.b } else { event.a };
    let [began, ended] =
        [w.sensors_began(), w.sensors_ended()].map(|events| events.iter().map(other).collect::<Vec<_>>());
    let new: Vec<_> = inside.iter().copied().filter(|id| !known.contains(id)).collect();
    let gone: Vec<_> =
        known.iter().copied().filter(|id| clear.contains(id) && !inside.contains(id)).collect();
    known.retain(|id| !ended.contains(id));
    known.extend(&began);
    let same = |list: &[BodyId], expected: &[BodyId]| {
        let list: Vec<_> = list.iter().filter(|id| clear.contains(id)).collect();
        list.len() == expected.len() && list.iter().all(|id| expected.contains(id))
    };
    truth.claim(case, same(&began, &new), format!("{began:?} began of {new:?}"));
    truth.claim(case, same(&ended, &gone), format!("{ended:?} ended of {gone:?}"));
}

/// Sixteen of ninety-six sensors that were created over sleepers reported nothing.
#[test]
fn a_sensor_that_appears_over_sleepers_reports_them() {
    Truth::at_rates(
        "a sensor that appears",
        "overlaps by brute force",
        1..=20,
        |truth, chance, seed, fps| {
            let mut w = world(WorldDef::new());
            let ids = resting(&mut w, chance, fps);
            let kind = [BodyKind::Static, BodyKind::Kinematic][chance.below(2) as usize];
            let def = BodyDef::new(kind, shape(chance)).sensor(true).position(place(chance));
            let sensor = add(&mut w, def);
            let case = format!("seed {seed}, {fps} fps, {kind:?} sensor");
            judge(truth, &case, &mut w, sensor, &ids, &mut Vec::new(), fps);
            let awake = ids.iter().filter(|&&id| w.body(id).expect("alive").is_awake()).count();
            truth.claim(&case, awake == 0, format!("{awake} woke up"));
        },
    );
}

/// Overlaps of bodies at rest lasted while a call had moved them apart, or had turned the sensor into a wall.
#[test]
fn a_sensor_at_rest_knows_what_calls_do_beside_it() {
    Truth::at_rates("a sensor at rest", "overlaps by brute force", 1..=20, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        let ids = resting(&mut w, chance, fps);
        let def = BodyDef::kinematic(shape(chance)).sensor(true).position(place(chance));
        let sensor = add(&mut w, def);
        let mut known: Vec<BodyId> = Vec::new();
        for call in 0..12 {
            let case = format!("seed {seed}, {fps} fps, call {call}");
            judge(truth, &case, &mut w, sensor, &ids, &mut known, fps);
            let other = ids[chance.below(16) as usize];
            match chance.below(4) {
                0 => w.set_position(sensor, place(chance)).expect("alive"),
                1 => w.set_position(other, place(chance)).expect("alive"),
                2 => w.set_shape(sensor, shape(chance)).expect("alive"),
                _ => {
                    w.set_sensor(sensor, false).expect("alive");
                    run(&mut w, 1, fps);
                    let ended = w.sensors_ended().len();
                    truth.claim(&case, ended >= known.len(), format!("{ended} ended of {}", known.len()));
                    w.set_sensor(sensor, true).expect("alive");
                    known.clear();
                }
            }
        }
    });
}

/// The documents said that no sensor wakes anybody. One that is created does not; these calls do.
#[test]
fn calls_to_a_sensor_wake_the_sleepers_beneath_it() {
    Truth::at_rates("calls to a sensor", "overlaps by brute force", 1..=20, |truth, chance, seed, fps| {
        for call in ["disable", "enable", "kind", "move", "remove"] {
            let mut w = world(WorldDef::new());
            let ids = resting(&mut w, chance, fps);
            let def = BodyDef::static_body(shape(chance)).sensor(true).position(place(chance));
            let sensor = add(&mut w, def.enabled(call != "enable"));
            let is_beneath = |id: &&BodyId| {
                let [body, sensor] = [**id, sensor].map(|id| w.body(id).expect("alive"));
                body.kind() == BodyKind::Dynamic && overlap(&body, &sensor) > ONE / 100
            };
            let beneath: Vec<BodyId> = ids.iter().filter(is_beneath).copied().collect();
            run(&mut w, 1, fps);
            let awake =
                |w: &World| beneath.iter().filter(|&&id| w.body(id).expect("alive").is_awake()).count();
            let case = format!("seed {seed}, {fps} fps, {call}");
            truth.claim(&case, awake(&w) == 0, format!("{} awake before", awake(&w)));
            match call {
                "disable" => w.set_enabled(sensor, false),
                "enable" => w.set_enabled(sensor, true),
                "kind" => w.set_kind(sensor, BodyKind::Kinematic),
                "move" => w.set_position(sensor, at(90_000, 0)),
                _ => w.remove_body(sensor),
            }
            .expect("alive");
            truth.claim(&case, awake(&w) == beneath.len(), format!("{} of {beneath:?} awake", awake(&w)));
        }
    });
}
