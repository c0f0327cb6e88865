//! Truths about touching bodies: events and deflections against brute force over the path.

use testudo_physics::{BodyDef, Fx, Shape, Vec2, WorldDef};

use crate::build::{Chance, add, at, circle, milli, rect, velocity, world};
use crate::frame::{RATES, Truth};

/// Number of points of a path that are sampled.
const SAMPLES: i64 = 4_000;

/// A circle or a rectangle with extents of 0.2 to 1.5 units.
pub(crate) fn shape(chance: &mut Chance) -> Shape {
    if chance.below(2) == 0 {
        circle(chance.between(200, 1_500))
    } else {
        rect(chance.between(200, 1_500), chance.between(200, 1_500))
    }
}

/// Half extents of the core and radius, raw.
fn rounded(shape: Shape) -> ([i64; 2], i64) {
    match shape {
        Shape::Circle { radius } => ([0; 2], radius.to_bits()),
        Shape::Rect { half_extents: h } => ([h.x.to_bits(), h.y.to_bits()], 0),
        _ => panic!("a shape that this test does not know: {shape:?}"),
    }
}

/// The least distance of two shapes while `b`, at `offset` from `a`, moves by `way` relative to `a`; raw, negative inside.
pub(crate) fn nearest(a: Shape, b: Shape, offset: [i64; 2], way: [i64; 2]) -> i64 {
    let ((half_a, radius_a), (half_b, radius_b)) = (rounded(a), rounded(b));
    let distance = |i: i64| {
        let outside = [0, 1].map(|axis| {
            let place = offset[axis] + way[axis] * i / SAMPLES;
            place.abs() - half_a[axis] - half_b[axis]
        });
        let [x, y] = outside.map(|o| o.max(0));
        if [x, y] == [0, 0] { outside[0].max(outside[1]) } else { (x * x + y * y).isqrt() }
    };
    (0..=SAMPLES).map(distance).min().unwrap_or(0) - radius_a - radius_b
}

fn raw(v: Vec2) -> [i64; 2] {
    [v.x.to_bits(), v.y.to_bits()]
}

/// Two bodies that pass each other freely: no event and no deflection. Another truth covers paths that come nearer than 0.03 units.
#[test]
fn who_passes_freely_is_left_alone() {
    Truth::hear("free passage", "distance by sampling the path", 1..=150, |truth, chance, seed| {
        let shapes = [shape(chance), shape(chance)];
        let start = at(chance.between(-20_000, -8_000), chance.between(-3_000, 3_000));
        let speed = at(chance.between(2_000, 40_000), chance.between(-2_000, 2_000));
        let other = at(chance.between(-2_000, 2_000), chance.between(-2_000, 2_000));
        let seconds = 3;
        let way = [speed.x - other.x, speed.y - other.y].map(|v| v.to_bits() * seconds);
        let near = nearest(shapes[1], shapes[0], raw(start), way);
        if !(1_966..30_000).contains(&near) {
            return;
        }
        for fps in RATES {
            let mut w = world(WorldDef::new().sleep_ms(0));
            let a = add(&mut w, BodyDef::dynamic(shapes[0]).position(start).velocity(speed));
            let b = add(&mut w, BodyDef::dynamic(shapes[1]).velocity(other));
            let mut events = 0;
            for _ in 0..u32::try_from(seconds).unwrap_or(0) * fps {
                w.step(fps).expect("rate in range");
                events += w.contacts_began().len();
            }
            let case = format!("seed {seed}, {fps} fps, {shapes:?}, from {start:?}, {speed:?} and {other:?}");
            let kept = velocity(&w, a) == raw(speed) && velocity(&w, b) == raw(other);
            truth.claim(case, events == 0 && kept, format!("{events} events, velocities kept: {kept}"));
        }
    });
}

/// The same beside the corner of a box, which few of those paths pass. By the normal at the start of a frame a body seemed to hit it, and bounced back.
#[test]
fn who_passes_beside_a_corner_is_left_alone() {
    let law = "free passage beside a corner";
    Truth::hear(law, "distance by sampling the path", 1..=400, |truth, chance, seed| {
        let (other, mover) = (rect(chance.between(200, 1_500), chance.between(200, 1_500)), shape(chance));
        let ((half, _), (own, radius)) = (rounded(other), rounded(mover));
        let speed = at(chance.between(500, 8_000), -chance.between(500, 8_000));
        let [x, y] = raw(speed);
        let (length, far) = ((x * x + y * y).isqrt(), radius + chance.between(2_600, 9_000));
        // A point of its path, this far from the upper right corner of both boxes together.
        let beside = [half[0] + own[0] - far * y / length, half[1] + own[1] + far * x / length];
        let before = chance.between(300, 1_000);
        let start = [beside[0] - x * before / 1_000, beside[1] - y * before / 1_000];
        if nearest(other, mover, start, [2 * x, 2 * y]) < 1_966 {
            return;
        }
        let start = Vec2::new(Fx::from_bits(start[0]), Fx::from_bits(start[1]));
        let bounces = milli(chance.between(0, 1_000));
        let fixed = chance.below(2) == 0;
        for fps in RATES {
            let mut w = world(WorldDef::new().sleep_ms(0));
            let like = |def: BodyDef| def.restitution(bounces);
            add(&mut w, like(if fixed { BodyDef::static_body(other) } else { BodyDef::dynamic(other) }));
            let body = add(&mut w, like(BodyDef::dynamic(mover).position(start).velocity(speed)));
            let mut events = 0;
            for _ in 0..2 * fps {
                w.step(fps).expect("rate in range");
                events += w.contacts_began().len();
            }
            let kept = velocity(&w, body) == raw(speed);
            let case =
                format!("seed {seed}, {fps} fps, {mover:?} from {start:?} with {speed:?} by {other:?}");
            truth.claim(case, events == 0 && kept, format!("{events} events, velocity kept: {kept}"));
        }
    });
}

/// A contact begins if and only if the shapes touch along their paths.
#[test]
fn a_contact_begins_when_surfaces_touch() {
    Truth::hear("begin of a contact", "distance by sampling the path", 1..=150, |truth, chance, seed| {
        let shapes = [shape(chance), shape(chance)];
        let start = at(chance.between(-9_000, -4_000), chance.between(-3_000, 3_000));
        let speed = at(chance.between(1_000, 60_000), chance.between(-1_000, 1_000));
        let fixed = chance.below(2) == 0;
        let near = nearest(shapes[1], shapes[0], raw(start), raw(speed).map(|v| v * 12));
        // Grazing by less than 0.01 units is left to rounding.
        if near.abs() < 655 {
            return;
        }
        for fps in RATES {
            let mut w = world(WorldDef::new().sleep_ms(0));
            add(&mut w, BodyDef::dynamic(shapes[0]).position(start).velocity(speed));
            add(&mut w, if fixed { BodyDef::static_body(shapes[1]) } else { BodyDef::dynamic(shapes[1]) });
            let mut events = 0;
            for _ in 0..12 * fps {
                w.step(fps).expect("rate in range");
                events += w.contacts_began().len();
            }
            let case =
                format!("seed {seed}, {fps} fps, {shapes:?}, from {start:?}, {speed:?}, fixed {fixed}");
            let expected = near < 0;
            truth.claim(
                case,
                (events > 0) == expected,
                format!("{events} events at a nearest distance of {:.4}", Fx::from_bits(near)),
            );
        }
    });
}
