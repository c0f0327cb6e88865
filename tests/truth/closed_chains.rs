//! Truths about closed chains: nobody gets out.

use testudo_physics::{Angle, BodyDef, ChainDef, Fx, Vec2, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, raw, rect, world};
use crate::frame::{Truth, step};
use crate::terrain_tools::apart;

/// A cave: a closed chain around the origin of some thirty points at random radii.
fn cave(chance: &mut Chance, radius: i64) -> Vec<Vec2> {
    (0..32)
        .map(|i| {
            let turn = Angle::from_turns(Fx::from_num(i) / 32);
            let r = milli(chance.between(radius * 7 / 10, radius));
            let (sin, cos) = turn.sin_cos();
            Vec2::new(
                Fx::from_bits((cos.to_bits() * r.to_bits()) >> 16),
                Fx::from_bits((sin.to_bits() * r.to_bits()) >> 16),
            )
        })
        .collect()
}

/// How often a ray to the right crosses the outline: odd inside.
fn is_inside(outline: &[Vec2], p: [i64; 2]) -> bool {
    let points: Vec<_> = outline.iter().map(|&v| raw(v).map(i128::from)).collect();
    let p = p.map(i128::from);
    let crossings = (0..points.len()).filter(|&i| {
        let (a, b) = (points[i], points[(i + 1) % points.len()]);
        (a[1] > p[1]) != (b[1] > p[1]) && {
            let side = (b[0] - a[0]) * (p[1] - a[1]) - (p[0] - a[0]) * (b[1] - a[1]);
            (side > 0) == (b[1] > a[1])
        }
    });
    crossings.count() % 2 == 1
}

#[test]
fn nobody_leaves_a_cave() {
    let law = "nobody passes through a chain";
    Truth::at_rates(law, "point in polygon by brute force", 1..=6, |truth, chance, seed, fps| {
        let outline = cave(chance, 12_000);
        let g = chance.between(0, 10_000) * i64::from(chance.below(2));
        let mut w = world(WorldDef::new().gravity(at(0, -g)));
        let mut points = outline.clone();
        let one_sided = chance.below(2) == 0;
        if one_sided || chance.below(2) == 0 {
            // Clockwise outlines keep bodies in.
            points.reverse();
        }
        w.create_chain(&ChainDef::new(&points).closed(true).one_sided(one_sided)).expect("a good chain");
        let e = chance.between(0, 1_000);
        let ids: Vec<_> = (0..12)
            .map(|i| {
                let half = chance.between(150, 700);
                let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, half) };
                let speed = at(chance.between(-100_000, 100_000), chance.between(-100_000, 100_000));
                let place = at((i % 4) * 1_500 - 2_250, (i / 4) * 1_500 - 1_500);
                add(&mut w, BodyDef::dynamic(shape).position(place).velocity(speed).restitution(milli(e)))
            })
            .collect();
        let case = format!("seed {seed}, {fps} fps, e {e}, g {g}, one-sided {one_sided}");
        for frame in 0..5 * fps {
            step(&mut w, fps);
            for &id in &ids {
                let inside = is_inside(&outline, position(&w, id));
                truth.claim(&case, inside, format!("{id} outside in frame {frame}"));
                if !inside {
                    return;
                }
            }
        }
    });
}

/// A disc that slides along a gentle bend comes to each segment by its end, whose corner is its neighbour's to hold.
#[test]
fn nobody_slides_out_of_a_smooth_ring() {
    let law = "nobody passes through a chain";
    Truth::at_rates(law, "point in polygon by brute force", 1..=60, |truth, chance, seed, fps| {
        let (half, count) = (chance.between(200, 1_000), chance.between(8, 60));
        let radius = half * chance.between(6, 40);
        let corner = |i: i64| {
            let (sin, cos) = Angle::from_turns(Fx::from_num(-i) / Fx::from_num(count)).sin_cos();
            Vec2::new(cos * milli(radius), sin * milli(radius))
        };
        let outline: Vec<_> = (0..count).map(corner).collect();
        let g = chance.between(3_000, 20_000) * i64::from(chance.below(2));
        let mut w = world(WorldDef::new().gravity(at(0, -g)));
        let def = ChainDef::new(&outline).closed(true).one_sided(chance.below(2) == 0);
        w.create_chain(&def).expect("a good chain");
        // The middle of a side of the ring is nearest to its centre.
        let (_, inner) = Angle::from_turns(Fx::from_num(1) / Fx::from_num(2 * count)).sin_cos();
        let low = at(0, half) - Vec2::new(Fx::ZERO, inner * milli(radius));
        let speed = chance.between(1_000, 150_000);
        let id = add(&mut w, BodyDef::dynamic(circle(half)).position(low).velocity(at(speed, 0)));
        let case =
            format!("seed {seed}, {fps} fps, g {g}, disc of {half} at {speed}, {count} corners at {radius}");
        for frame in 0..2 * fps {
            step(&mut w, fps);
            let inside = is_inside(&outline, position(&w, id));
            truth.claim(&case, inside, format!("outside in frame {frame}"));
            if !inside {
                return;
            }
        }
    });
}

/// Beyond a right angle a body at the corner may be behind one of both segments, and neither had the contact.
#[test]
fn a_sharp_corner_of_a_one_sided_chain_is_met() {
    let law = "nobody passes through a chain";
    Truth::at_rates(law, "distances by brute force", 1..=60, |truth, chance, seed, fps| {
        let whole = chance.between(0, 1_000);
        let way = |turns: i64| {
            let (sin, cos) = Angle::from_turns(Fx::from_num(turns) / 1_000).sin_cos();
            Vec2::new(cos, sin)
        };
        // 30 to 85 degrees, clockwise from the first segment.
        let inside = chance.between(84, 236);
        let [first, second] = [way(whole), way(whole - inside)];
        let mut w = world(WorldDef::new().sleep_ms(0));
        let points = [first * milli(8_000), Vec2::ZERO, second * milli(8_000)];
        let pieces = w.create_chain(&ChainDef::new(&points).one_sided(true)).expect("a good chain");
        let half = chance.between(200, 1_000);
        // A box has two half sides, a disc none.
        let (shape, sides) = if chance.below(2) == 0 {
            (circle(half), [0; 2])
        } else {
            let sides = [half, chance.between(200, 1_000)];
            (rect(sides[0], sides[1]), sides)
        };
        let (ahead, aside) = (way(whole - inside / 2), way(whole - inside / 2 + 250));
        let from = aside * milli(chance.between(-half, half)) - ahead * milli(4_000);
        let speed = chance.between(500, 30_000);
        let id = add(&mut w, BodyDef::dynamic(shape).position(from).velocity(ahead * milli(speed)));
        let case = format!(
            "seed {seed}, {fps} fps, {shape:?} from {from:?} at {speed}, turned by {whole}, {inside}"
        );
        for _ in 0..(5_000 * fps).div_ceil(speed.unsigned_abs() as u32) + 1 {
            step(&mut w, fps);
            let body = w.body(id).expect("alive");
            let near = pieces.iter().map(|&piece| apart(&body, &w.body(piece).expect("alive"))).min();
            // Nor may the corner be within a box.
            let [x, y] = position(&w, id);
            let deep = raw(at(sides[0], sides[1]));
            let deep = (deep[0] - x.abs()).min(deep[1] - y.abs());
            let near = Fx::from_bits(near.expect("two pieces").min(-deep));
            truth.expect(&case, milli(-100)..=Fx::MAX, near);
            if near < milli(-100) {
                return;
            }
        }
    });
}
