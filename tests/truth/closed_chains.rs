//! Truths about closed chains: nobody gets out.

use testudo_physics::{Angle, BodyDef, ChainDef, Fx, Vec2, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, raw, rect, world};
use crate::frame::{Truth, step};

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
