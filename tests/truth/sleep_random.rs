//! Truths about sleepers in random scenes, in which anything happens to them.

use testudo_physics::{BodyDef, BodyId, BodyKind, BodyRef, Fx, Vec2, World, WorldDef};
use testudo_tests::cases::share;

use crate::build::{Chance, ONE, add, at, circle, overlap, rect, run, world};
use crate::frame::{RATES, Truth};

/// A heap on the ground of a box, with ledges.
fn heap(chance: &mut Chance) -> World {
    let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
    add(&mut w, BodyDef::static_body(rect(12_000, 500)).position(at(0, -500)));
    for side in [-1, 1] {
        add(&mut w, BodyDef::static_body(rect(500, 10_000)).position(at(side * 11_500, 10_000)));
    }
    for _ in 0..chance.between(2, 6) {
        let ledge = rect(chance.between(500, 2_500), 250);
        add(
            &mut w,
            BodyDef::static_body(ledge)
                .position(at(chance.between(-9_000, 9_000), chance.between(2_000, 9_000))),
        );
    }
    for _ in 0..chance.between(20, 60) {
        let half = chance.between(300, 700);
        let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, chance.between(300, 700)) };
        let place = at(chance.between(-10_500, 10_500), chance.between(500, 16_000));
        let friction = Fx::from_bits(chance.between(1 << 13, 1 << 15));
        add(&mut w, BodyDef::dynamic(shape).position(place).friction(friction));
    }
    w
}

/// Whether a body that sleeps lies on or against another one, by brute force over all bodies.
fn is_supported(w: &World, sleeper: &BodyRef<'_>) -> bool {
    w.bodies().any(|other| {
        // Friction between two others may hold it as well, so any side counts but the top.
        let below = other.aabb().min.y < sleeper.aabb().max.y - Fx::lit("0.05");
        other.id() != sleeper.id() && below && overlap(sleeper, &other) > -ONE / 64
    })
}

fn dynamic(w: &World) -> impl Iterator<Item = BodyRef<'_>> {
    w.bodies().filter(|b| b.kind() == BodyKind::Dynamic)
}

/// A body that is not one of the first three, which are the box.
fn somebody(w: &World, chance: &mut Chance) -> Option<BodyId> {
    let others = w.bodies().skip(3).map(|b| b.id()).collect::<Vec<_>>();
    (!others.is_empty()).then(|| others[chance.below(others.len() as u32) as usize])
}

#[test]
fn no_sleeper_floats_whatever_is_taken_away() {
    let mut lost_support = 0;
    let law = "no sleeper is without support";
    Truth::at_rates(law, "geometry by brute force", 1..=12, |truth, chance, seed, fps| {
        let mut w = heap(chance);
        run(&mut w, 6 * fps, fps);
        for round in 0..6 {
            for _ in 0..chance.between(1, 4) {
                let Some(id) = somebody(&w, chance) else { continue };
                // Those that slept and touched it.
                let gone = w.body(id).expect("alive");
                lost_support += dynamic(&w)
                    .filter(|b| b.id() != id && !b.is_awake() && overlap(b, &gone) > -ONE / 64)
                    .count();
                match chance.below(4) {
                    0 => w.remove_body(id).expect("alive"),
                    1 => w.set_enabled(id, false).expect("alive"),
                    2 => w.set_sensor(id, true).expect("alive"),
                    _ => w.set_position(id, at(chance.between(-10_000, 10_000), 18_000)).expect("in range"),
                }
                // What no longer holds anybody is taken out of the judge's sight.
                let holds = w.body(id).is_some_and(|b| b.is_enabled() && !b.is_sensor());
                if !holds && w.body(id).is_some() {
                    w.remove_body(id).expect("alive");
                }
            }
            // The rate changes in the middle of it.
            for rate in [fps, RATES[chance.below(5) as usize]] {
                run(&mut w, rate + chance.below(rate), rate);
                let floats: Vec<_> =
                    dynamic(&w).filter(|b| !b.is_awake() && !is_supported(&w, b)).map(|b| b.id()).collect();
                let case = format!("seed {seed}, {fps} fps, then {rate}, round {round}");
                truth.claim(case, floats.is_empty(), format!("{floats:?} in the air"));
            }
        }
    });
    assert!(lost_support > share(300) as usize, "only {lost_support} sleepers lost what they touched");
}

#[test]
fn sleepers_are_the_same_bits_after_a_restore() {
    let mut sleepers = 0;
    let law = "a world restored at any moment goes on with the same bits";
    Truth::at_rates(law, "the world that was not restored", 1..=6, |truth, chance, seed, fps| {
        let mut w = heap(chance);
        let mut bytes = Vec::new();
        run(&mut w, 3 * fps, fps);
        let mut second = w.clone();
        for round in 0..20 {
            let mut same = chance.clone();
            for (w, chance) in [(&mut w, &mut *chance), (&mut second, &mut same)] {
                let Some(id) = somebody(w, chance) else { continue };
                match chance.below(8) {
                    0 => w.remove_body(id).expect("alive"),
                    1 => w.sleep_body(id).expect("alive"),
                    2 => w.apply_impulse(id, at(chance.between(-3_000, 3_000), 2_000)).expect("in range"),
                    3 => w
                        .set_kind(id, [BodyKind::Static, BodyKind::Dynamic][chance.below(2) as usize])
                        .expect("alive"),
                    4 => {
                        let house = BodyDef::static_body(rect(800, 800))
                            .position(w.body(id).expect("alive").position());
                        add(w, house);
                    }
                    5 => w.set_gravity(at(chance.between(-3_000, 3_000), -10_000)).expect("in range"),
                    _ => {}
                }
            }
            // Between the change and the step, or after the step.
            second.snapshot(&mut bytes);
            let restored = if round % 2 == 0 {
                second.restore(&bytes)
            } else {
                World::from_bytes(&bytes).map(|w| second = w)
            };
            assert_eq!(restored, Ok(()));
            let rate = RATES[chance.below(5) as usize];
            for _ in 0..chance.between(1, i64::from(rate)) {
                w.step(rate).expect("in range");
                second.step(rate).expect("in range");
                let difference = w.first_difference(&second).map(|d| d.to_string());
                let case = format!("seed {seed}, {fps} fps, round {round}, frame {}", w.frame());
                truth.claim(&case, difference.is_none(), difference.unwrap_or_default());
                truth.claim(&case, w.checksum() == second.checksum(), "another checksum");
                truth.claim(&case, w.contacts_ended() == second.contacts_ended(), "other events");
            }
            assert_eq!(w.validate(), Ok(()));
            sleepers += w.bodies().filter(|b| !b.is_awake()).count();
        }
    });
    assert!(sleepers > 1_000, "only {sleepers} slept");
}
