//! Truths about pairs of bodies that are told to pass through each other.

use testudo_physics::{BodyDef, BodyError, Fx, IGNORED_PAIRS_MAX, Vec2, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, rect, restored, velocity, world};
use crate::frame::{Truth, about, step};

#[test]
fn ignored_pairs_pass_through_each_other_to_the_bit() {
    Truth::at_rates("ignored pairs do not meet", "Newton's first law", 1..=20, |truth, chance, seed, fps| {
        let speed = at(chance.between(-60_000, 60_000), chance.between(-60_000, 60_000));
        let shape = |chance: &mut Chance| match chance.below(2) {
            0 => circle(chance.between(200, 900)),
            _ => rect(chance.between(200, 900), chance.between(200, 900)),
        };
        let mut w = world(WorldDef::new().sleep_ms(0));
        let half_a_second = Vec2::new(speed.x / 2, speed.y / 2);
        let runner = BodyDef::dynamic(shape(chance)).position(-half_a_second).velocity(speed);
        let runner = add(&mut w, runner);
        let others = [BodyDef::static_body(shape(chance)), BodyDef::dynamic(shape(chance))];
        let others = others.map(|def| add(&mut w, def.sensor(chance.below(4) == 0)));
        for other in others {
            w.set_pair_ignored(other, runner, true).expect("alive");
            w.set_pair_ignored(others[0], others[1], true).expect("alive");
        }
        let mut events = 0;
        for _ in 0..fps {
            step(&mut w, fps);
            events += w.contacts_began().len() + w.sensors_began().len();
        }
        let case = format!("seed {seed}, {fps} fps, {speed:?}");
        truth.claim(&case, events == 0, format!("{events} events"));
        truth.claim(&case, w.body(runner).expect("alive").velocity() == speed, "another velocity");
    });
}

#[test]
fn a_sleeper_falls_through_ground_that_it_begins_to_ignore() {
    Truth::at_rates("ignored ground holds nobody", "free fall", 1..=6, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        let ground = add(&mut w, BodyDef::static_body(rect(9_000, 500)).position(at(0, -500)));
        let size = chance.between(300, 900);
        let stone = add(&mut w, BodyDef::dynamic(rect(size, size)).position(at(0, size)));
        let other = add(&mut w, BodyDef::dynamic(circle(500)).position(at(5_000, 500)));
        (0..3 * fps).for_each(|_| step(&mut w, fps));
        let case = format!("seed {seed}, {fps} fps, size {size}");
        truth.claim(&case, !w.body(stone).expect("alive").is_awake(), "it never slept");
        w.set_pair_ignored(stone, ground, true).expect("alive");
        let from = Fx::from_bits(position(&w, stone)[1]);
        step(&mut w, fps);
        let ended = w.contacts_ended().iter().any(|e| (e.a, e.b) == (ground, stone));
        truth.claim(&case, ended, "no end of the contact");
        (1..fps).for_each(|_| step(&mut w, fps));
        // g t^2 / 2, and up to half a frame's speed more: velocities change before positions.
        let fallen = from - Fx::from_bits(position(&w, stone)[1]);
        let most = milli(5_010) + Fx::from_num(5) / i64::from(fps);
        truth.expect(&case, milli(4_990)..=most, fallen);
        truth.claim(&case, position(&w, other)[1] > 0, "the other one fell, too");
        // It stands above the ground and is noticed again.
        w.set_position(stone, at(0, size)).expect("in range");
        w.set_velocity(stone, Vec2::ZERO).expect("in range");
        w.set_pair_ignored(stone, ground, false).expect("alive");
        let mut began = 0;
        for _ in 0..fps {
            step(&mut w, fps);
            began += w.contacts_began().iter().filter(|e| (e.a, e.b) == (ground, stone)).count();
        }
        truth.claim(&case, began == 1, format!("{began} contacts began"));
        truth.expect(&case, about(milli(size), milli(20)), Fx::from_bits(position(&w, stone)[1]));
    });
}

#[test]
fn exceptions_end_with_their_bodies_and_have_a_limit() {
    let mut w = world(WorldDef::new());
    let disc = BodyDef::dynamic(circle(500));
    let ids: Vec<_> = (0..370).map(|i| add(&mut w, disc.position(at(i * 2_000, 0)))).collect();
    assert_eq!(w.set_pair_ignored(ids[0], ids[0], true), Err(BodyError::SameBody(ids[0])));
    let pairs = || (0..370).flat_map(|i| (0..i).map(move |j| (i, j)));
    for (i, j) in pairs().take(IGNORED_PAIRS_MAX as usize) {
        w.set_pair_ignored(ids[i], ids[j], true).expect("room");
    }
    let (i, j) = pairs().nth(IGNORED_PAIRS_MAX as usize).expect("more pairs than the limit");
    let full = Err(BodyError::TooManyPairs { max: IGNORED_PAIRS_MAX });
    assert_eq!(w.set_pair_ignored(ids[i], ids[j], true), full);
    w.set_pair_ignored(ids[0], ids[1], true).expect("known already");
    w.remove_body(ids[0]).expect("alive");
    assert_eq!(w.set_pair_ignored(ids[0], ids[1], false), Err(BodyError::Stale(ids[0])));
    assert!(!w.is_pair_ignored(ids[0], ids[1]) && w.is_pair_ignored(ids[2], ids[1]));
    // The next body in the slot is no stranger to anybody.
    let next = add(&mut w, disc);
    assert_eq!(next.index(), ids[0].index());
    assert!(w.ignored_pairs().all(|(a, b)| a != next && b != next));
    w.set_pair_ignored(ids[i], ids[j], true).expect("room again");
    let read = restored(&w);
    assert!(read.ignored_pairs().eq(w.ignored_pairs()));
    assert_eq!((read.checksum(), read.first_difference(&w)), (w.checksum(), None));
    assert_eq!(velocity(&read, next), [0; 2]);
}
