//! Truths about what a game asks the geometry for: sweeps, overlaps, how contacts begin, moves of kinematic bodies.

use testudo_physics::{BodyDef, Fx, QueryFilter, Vec2, WorldDef};

use crate::build::{add, at, circle, milli, position, raw, run, world};
use crate::frame::{RATES, Truth, about};
use crate::geometry::{nearest, shape};

/// Swept shapes meet what brute force finds on their ways, and overlaps are what brute force finds around them.
#[test]
fn sweeps_and_overlaps_find_what_sampling_finds() {
    Truth::hear("sweeps and overlaps", "distance by sampling the path", 1..=60, |truth, chance, seed| {
        let mut w = world(WorldDef::new());
        let bodies: Vec<_> = (0..12)
            .map(|_| {
                let (shape, place) =
                    (shape(chance), at(chance.between(-12_000, 12_000), chance.between(-12_000, 12_000)));
                (add(&mut w, BodyDef::static_body(shape).position(place)), shape, place)
            })
            .collect();
        let moving = shape(chance);
        let mut point = || at(chance.between(-15_000, 15_000), chance.between(-15_000, 15_000));
        let (from, to) = (point(), point());
        let [start, end] = [from, to].map(raw);
        let (mut met, mut overlapping) = (Vec::new(), Vec::new());
        let all = QueryFilter::new();
        w.sweep_all(moving, from, to, &all, &mut met).expect("in range");
        w.query_shape(moving, from, &all, &mut overlapping).expect("in range");
        let first = w.sweep(moving, from, to, &all).expect("in range");
        let case = format!("seed {seed}, {moving:?} from {from:?} to {to:?}");
        truth.claim(&case, first == met.first().copied(), format!("{first:?} first, {met:?} in all"));
        for (id, shape, place) in bodies {
            let offset = [0, 1].map(|axis| start[axis] - raw(place)[axis]);
            let way = [0, 1].map(|axis| end[axis] - start[axis]);
            let (begin, near) = (nearest(shape, moving, offset, [0; 2]), nearest(shape, moving, offset, way));
            // What sampling and its rounding cannot tell is left out.
            if near.abs() > 400 {
                let hit = met.iter().find(|hit| hit.body == id);
                truth.claim(&case, hit.is_some() == (near < 0), format!("{hit:?} at {near} of {id:?}"));
                if let Some(hit) = hit
                    && begin > 400
                {
                    let offset = [0, 1].map(|axis| raw(hit.position)[axis] - raw(place)[axis]);
                    let gap = Fx::from_bits(nearest(shape, moving, offset, [0; 2]));
                    truth.expect(&case, about(Fx::ZERO, milli(1)), gap);
                    let at_point = [0, 1].map(|axis| raw(hit.point)[axis] - raw(place)[axis]);
                    let off = nearest(shape, circle(1), at_point, [0; 2]);
                    truth.expect(&case, about(milli(-1), milli(1)), Fx::from_bits(off));
                }
            }
            if begin.abs() > 2 {
                truth.claim(
                    &case,
                    overlapping.contains(&id) == (begin < 0),
                    format!("overlap of {id:?} at {begin}"),
                );
            }
        }
    });
}

/// How a contact begins is told as two free discs would meet: at their time, along the line of their centres.
#[test]
fn contact_hits_tell_where_and_how_fast_discs_meet() {
    Truth::hear("contact hits", "geometry of two discs", 1..=60, |truth, chance, seed| {
        let radii = [chance.between(200, 1_000), chance.between(200, 1_000)];
        let speed = chance.between(3_000, 50_000);
        let whole = radii[0] + radii[1];
        // The second one stands aside by a part of both radii: 3-4-5.
        let (aside, along) = if chance.below(2) == 0 { (3, 4) } else { (0, 5) };
        for fps in RATES {
            let mut w = world(WorldDef::new());
            w.list_contact_hits(true);
            let mover = BodyDef::dynamic(circle(radii[0])).position(at(-6_000 - chance.between(0, 999), 0));
            add(&mut w, mover.velocity(at(speed, 0)));
            add(&mut w, BodyDef::dynamic(circle(radii[1])).position(at(0, whole * aside / 5)));
            let mut hits = Vec::new();
            for _ in 0..4 * fps {
                run(&mut w, 1, fps);
                truth.claim("", w.contact_hits().len() == w.contacts_began().len(), "another number");
                hits.extend_from_slice(w.contact_hits());
            }
            let case = format!("seed {seed}, {fps} fps, radii {radii:?}, speed {speed}, aside {aside}");
            truth.claim(&case, hits.len() == 1, format!("{} hits", hits.len()));
            let Some(hit) = hits.first() else { continue };
            let normal = [along * 200, aside * 200];
            let [x, y] = normal;
            for (expected, seen) in [(x, hit.normal.x), (y, hit.normal.y)] {
                truth.expect(&case, about(milli(expected), milli(12)), seen);
            }
            truth.expect(&case, about(milli(speed * along / 5), milli(speed / 80 + 5)), hit.approach_speed);
            truth.expect(&case, about(milli((radii[0] - whole) * along / 5), milli(15)), hit.point.x);
            truth.expect(&case, about(milli(radii[0] * aside / 5), milli(15)), hit.point.y);
        }
    });
}

/// The hits of the last step in which they were listed stayed for ever.
#[test]
fn contact_hits_that_are_listed_no_longer_are_gone() {
    let mut w = world(WorldDef::new());
    w.list_contact_hits(true);
    for x in [0, 900] {
        add(&mut w, BodyDef::dynamic(circle(500)).position(at(x, 0)));
    }
    run(&mut w, 1, 60);
    assert_eq!((w.contacts_began().len(), w.contact_hits().len()), (1, 1));
    w.list_contact_hits(false);
    run(&mut w, 1, 60);
    assert_eq!((w.contacts_began().len(), w.contact_hits().len()), (0, 0));
}

/// A kinematic body arrives exactly at its target, frame by frame, and pushes bodies in its path.
#[test]
fn kinematic_bodies_arrive_where_they_are_sent() {
    Truth::at_rates("kinematic move-to", "the target", 1..=20, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new());
        let lift = add(&mut w, BodyDef::kinematic(circle(500)));
        let load = add(&mut w, BodyDef::dynamic(circle(300)).position(at(900, 0)));
        let mut place = Vec2::ZERO;
        for frame in 0..40 {
            place +=
                at(chance.between(0, 3_000) / i64::from(fps), chance.between(-500, 500) / i64::from(fps));
            w.move_kinematic(lift, place, fps).expect("in range");
            run(&mut w, 1, fps);
            let case = format!("seed {seed}, {fps} fps, frame {frame}");
            truth.claim(&case, position(&w, lift) == raw(place), format!("{:?}", position(&w, lift)));
            let [x, y] = [0, 1].map(|axis| position(&w, load)[axis] - raw(place)[axis]);
            let apart = Fx::from_bits((x * x + y * y).isqrt()) - milli(800);
            truth.expect(&case, milli(-8)..=milli(10_000), apart);
        }
    });
}
