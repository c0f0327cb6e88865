//! Truths about thousands of bodies in one point: nobody can tell them all apart, so pairs are left out, and still they come apart calmly.

use testudo_physics::{BodyDef, Fx, Simd, World, WorldDef};
use testudo_tests::threads::Threads;

use crate::build::{Chance, add, at, circle, deepest_overlap, momentum, raw, rect, run, world};
use crate::frame::{Truth, step, top_speed};

/// Discs whose centres lie within `spread` thousandths of the origin, per axis.
fn pile(count: u32, spread: i64, chance: &mut Chance, simd: Simd) -> World {
    let mut w = world(WorldDef::new().sleep_ms(0).simd(simd));
    for _ in 0..count {
        let place = at(chance.between(-spread, spread), chance.between(-spread, spread));
        add(&mut w, BodyDef::dynamic(circle(500)).position(place));
    }
    w
}

#[test]
fn thousands_in_one_point_come_apart_calmly() {
    let source = "conservation of momentum; stated speeds";
    Truth::at_rates("pile-up", source, 1..=1, |truth, chance, seed, fps| {
        let spread = chance.between(0, 300);
        let mut w = pile(1_000, spread, chance, Simd::Widest);
        let (mut speed, mut still) = (Fx::ZERO, true);
        for _ in 0..8 * fps {
            step(&mut w, fps);
            speed = speed.max(top_speed(&w));
            still &= momentum(&w) == [0, 0];
        }
        let case = format!("seed {seed}, {fps} fps, 1,000 discs within {spread}/1000");
        truth.expect(format!("{case}: speed"), Fx::ZERO..=Fx::from_num(20), speed);
        truth.claim(&case, still, "momentum from nothing");
        let deepest = Fx::from_bits(deepest_overlap(&w));
        truth.expect(format!("{case}: deepest overlap after 8 s"), Fx::ZERO..=Fx::lit("0.05"), deepest);
    });
}

/// What takes no part in a pile-up is left alone by it: a wall, a sensor, and a crowd somewhere else.
#[test]
fn a_pile_up_takes_no_contact_from_others() {
    let source = "geometry by brute force";
    Truth::hear("bodies beside a pile-up", source, 1..=3, |truth, chance, seed| {
        let mut w = pile(600, 200, chance, Simd::Widest);
        let wall = add(&mut w, BodyDef::static_body(rect(300, 300)).position(at(0, 600)));
        let sensor = add(&mut w, BodyDef::static_body(rect(2_000, 2_000)).sensor(true));
        let row: Vec<_> = (0..50)
            .map(|i| add(&mut w, BodyDef::dynamic(circle(500)).position(at(40_000 + 990 * i, 0))))
            .collect();
        run(&mut w, 1, 20);
        let of = |id| w.contacts_began().iter().filter(|event| event.a == id || event.b == id).count();
        let met = w.sensors_began().iter().filter(|event| event.a == sensor || event.b == sensor).count();
        let case = format!("seed {seed}");
        truth.claim(&case, met == 600, format_args!("the sensor met {met} of 600 discs"));
        truth.claim(&case, of(wall) > 500, format_args!("the wall touches {} discs", of(wall)));
        for (i, &id) in row.iter().enumerate() {
            let neighbours = if i == 0 || i == 49 { 1 } else { 2 };
            truth.claim(&case, of(id) == neighbours, format_args!("disc {i} of the row touches {}", of(id)));
        }
    });
}

#[test]
fn a_pile_up_is_the_same_bits_on_all_instruction_sets_and_threads() {
    for spread in [0, 700] {
        let pile = |simd| pile(900, spread, &mut Chance::new(5), simd);
        let mut reference = pile(Simd::Plain);
        let mut others = [Simd::Bits128, Simd::Bits256, Simd::Widest].map(pile);
        for frame in 0..40 {
            step(&mut reference, 20);
            for (at, w) in others.iter_mut().enumerate() {
                let stepped = if at == 0 { w.step_on(20, &Threads(3)) } else { w.step(20) };
                stepped.expect("in range");
                assert_eq!(w.checksum(), reference.checksum(), "frame {frame}, world {at}");
            }
        }
        let way = reference.bodies().map(|body| raw(body.position())[0].abs()).max();
        assert!(way > Some(2 << 16), "they come apart: {way:?}");
    }
}
