//! Truths about chains and polygons: bodies that slide over them, rest on them, and hit them fast.

use testudo_physics::{BodyDef, BodyId, ChainDef, Fx, PolygonDef, Shape, Vec2, World, WorldDef};
use testudo_tests::cases::share;

use crate::build::{Chance, ONE, add, at, circle, energy, milli, position, raw, rect, velocity, world};
use crate::frame::{Truth, about, step};
use crate::terrain_tools::{Outline, ROUNDING, apart, polygon};

/// Directions whose sine and cosine are ratios of integers: `[x, y, length]`.
const DIRECTIONS: [[i64; 3]; 6] = [[1, 0, 1], [4, 3, 5], [12, 5, 13], [24, 7, 25], [3, 4, 5], [40, 9, 41]];

/// Points on a line through the origin from `from` to `to`, thousandths, in random steps.
fn line(chance: &mut Chance, [x, y, length]: [i64; 3], from: i64, to: i64, steps: [i64; 2]) -> Vec<Vec2> {
    let mut points = Vec::new();
    let mut along = from * ONE / 1000;
    while along < to * ONE / 1000 {
        let part = along / length;
        points.push(Vec2::new(Fx::from_bits(part * x), Fx::from_bits(part * y)));
        along += chance.between(steps[0], steps[1]) * ONE / 1000;
    }
    points
}

/// A vector along and to the left of a direction, thousandths.
fn turned([x, y, length]: [i64; 3], along: i64, left: i64) -> Vec2 {
    let [along, left] = [along, left].map(|l| l * ONE / 1000);
    Vec2::new(Fx::from_bits((along * x - left * y) / length), Fx::from_bits((along * y + left * x) / length))
}

/// Components of a vector along and to the left of a direction.
fn parts([x, y, length]: [i64; 3], v: [i64; 2]) -> [Fx; 2] {
    [(v[0] * x + v[1] * y) / length, (v[1] * x - v[0] * y) / length].map(Fx::from_bits)
}

/// Chains in both directions, so that both sides are tested.
fn chain(
    w: &mut World,
    chance: &mut Chance,
    mut points: Vec<Vec2>,
    like: impl Fn(ChainDef) -> ChainDef,
) -> Vec<BodyId> {
    if chance.below(2) == 0 {
        points.reverse();
    }
    w.create_chain(&like(ChainDef::new(&points))).expect("a good chain")
}

#[test]
fn who_slides_over_a_straight_chain_glides() {
    let source = "Newton's first law on a straight line";
    let law = "the points of a straight chain are no seams";
    Truth::at_rates(law, source, 1..=30, |truth, chance, seed, fps| {
        let direction = DIRECTIONS[chance.below(6) as usize];
        let disc = chance.below(3) != 0 || direction[1] != 0;
        let half = chance.between(150, 1_500);
        let speed = chance.between(500, 100_000);
        // Gravity presses across the line.
        let g = turned(direction, 0, -10_000 * i64::from(chance.below(2)));
        let mut w = world(WorldDef::new().gravity(g).sleep_ms(0));
        let points = line(chance, direction, -20_000, 130_000, [100, 4_000]);
        chain(&mut w, chance, points, |def| def);
        let shape = if disc { circle(half) } else { rect(half, half) };
        let body = BodyDef::dynamic(shape).position(turned(direction, 0, half));
        let id = add(&mut w, body.velocity(turned(direction, speed, 0)));
        let case = format!("seed {seed}, {fps} fps, {shape:?} at {speed} along {direction:?}, gravity {g:?}");
        for _ in 0..fps {
            step(&mut w, fps);
            let [_, height] = parts(direction, position(&w, id));
            truth.expect(&case, about(milli(half), milli(15)), height);
        }
        let [way, _] = parts(direction, position(&w, id));
        truth.expect(&case, about(milli(speed), milli(20)), way);
        let [along, _] = parts(direction, velocity(&w, id));
        truth.expect(&case, about(milli(speed), milli(20)), along);
    });
}

/// On a slope of angle t and with friction m a body begins to slide with g (sin t - m cos t), or stays where m is greater than tan t.
#[test]
fn a_slope_pulls_by_its_angle_and_friction() {
    let law = "a body on a slope";
    Truth::at_rates(law, "Coulomb's law on an inclined plane", 1..=20, |truth, chance, seed, fps| {
        let direction = DIRECTIONS[1 + chance.below(5) as usize];
        let [x, y, length] = direction;
        let friction = chance.between(0, 1_500);
        let g = chance.between(5_000, 20_000);
        let mut w = world(WorldDef::new().gravity(at(0, -g)).sleep_ms(0));
        let points = line(chance, direction, -90_000, 5_000, [200, 3_000]);
        chain(&mut w, chance, points, |def| def.friction(milli(friction)));
        let half = chance.between(200, 900);
        // A box stands on the lower corner's side of the slope.
        let disc = chance.below(2) == 0;
        let (shape, height) =
            if disc { (circle(half), half) } else { (rect(half, half), half * (x + y) / length) };
        let body = BodyDef::dynamic(shape).friction(milli(friction)).position(turned(direction, 0, height));
        let id = add(&mut w, body);
        (0..2 * fps).for_each(|_| step(&mut w, fps));
        let [way, left] = parts(direction, position(&w, id));
        let pull = (g * (1000 * y - friction * x) / length / 1000).max(0);
        // g t^2 / 2 in two seconds, and half a frame's gain at most. At the angle of friction itself it may creep.
        let gain = milli(pull) / i64::from(fps);
        let slack = milli(30) + milli(pull) / 100;
        let case = format!("seed {seed}, {fps} fps, {shape:?}, friction {friction}, g {g}, {direction:?}");
        truth.expect(&case, -milli(2 * pull) - gain - slack..=-milli(2 * pull) + slack, way);
        truth.expect(&case, milli(height) - milli(30)..=milli(height) + milli(15), left);
    });
}

#[test]
fn what_is_thrown_on_polygons_comes_to_rest_outside_of_them() {
    let law = "nobody ends in a polygon";
    Truth::at_rates(law, "distances by brute force", 1..=8, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        let floor = [at(-14_000, 90_000), at(-14_000, 3_000), at(-10_000, 0), at(0, -500), at(9_000, 0)];
        let floor: Vec<_> = floor.into_iter().chain([at(14_000, 2_000), at(14_000, 90_000)]).collect();
        w.create_chain(&ChainDef::new(&floor).friction(milli(500))).expect("a good chain");
        for i in 0..6 {
            let place = [-10_000 + 4_000 * i, chance.between(500, 5_000)];
            let def = PolygonDef::new(&polygon(chance, place, 1_800)).friction(milli(500));
            let def = def.radius(milli(chance.between(0, 300) * i64::from(chance.below(2))));
            w.create_polygon(&def).expect("a good polygon");
        }
        let solid: Vec<_> = w.bodies().map(|body| body.id()).collect();
        let ids: Vec<_> = (0..30)
            .map(|_| {
                let half = chance.between(200, 600);
                let shape =
                    if chance.below(2) == 0 { circle(half) } else { rect(half, chance.between(200, 600)) };
                let place = at(chance.between(-11_000, 11_000), chance.between(9_000, 20_000));
                let body =
                    BodyDef::dynamic(shape).position(place).velocity(at(0, chance.between(-60_000, 0)));
                add(&mut w, body.friction(milli(500)).restitution(milli(chance.between(0, 300))))
            })
            .collect();
        let case = format!("seed {seed}, {fps} fps");
        let mut before = energy(&w);
        let mut grown = 0;
        for _ in 0..20 * fps {
            step(&mut w, fps);
            let now = energy(&w);
            grown = grown.max(now - before);
            before = before.min(now);
        }
        for &id in &ids {
            let body = w.body(id).expect("alive");
            let near = solid.iter().map(|&other| apart(&body, &w.body(other).expect("alive")));
            let near = Fx::from_bits(near.min().expect("terrain"));
            // Wedged in, with others on top, soft contacts yield by some tenths.
            truth.expect(format!("{case}, {id} {:?}", body.position()), milli(-150)..=Fx::MAX, near);
            truth.claim(&case, !body.is_awake(), format!("{id} is awake at {:?}", body.velocity()));
        }
    });
}

#[test]
fn one_sided_chains_let_pass_from_behind() {
    let source = "Newton's first law; reflection at a wall";
    Truth::at_rates("one-sided chains", source, 1..=20, |truth, chance, seed, fps| {
        let direction = DIRECTIONS[chance.below(6) as usize];
        let mut w = world(WorldDef::new().sleep_ms(0));
        // Solid on the right side: below, as seen along the direction.
        let points = line(chance, direction, -30_000, 30_000, [300, 3_000]);
        let pieces = w.create_chain(&ChainDef::new(&points).one_sided(true)).expect("a good chain");
        let says_so =
            |id: &BodyId| w.body(*id).and_then(|body| body.terrain()).is_some_and(|it| it.is_one_sided());
        truth.claim("every piece", pieces.iter().all(says_so), "a piece that says that it has two sides");
        let half = chance.between(200, 1_000);
        let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, half) };
        let speed = [chance.between(-5_000, 5_000), chance.between(1_000, 60_000)];
        let runner = |from: i64, to: i64| {
            let body = BodyDef::dynamic(shape).position(turned(direction, 0, from));
            body.velocity(turned(direction, speed[0], to)).restitution(Fx::ONE)
        };
        let behind = add(&mut w, runner(8_000, -speed[1]));
        let pushed = w.body(behind).expect("alive").velocity();
        let case = format!("seed {seed}, {fps} fps, {shape:?} at {speed:?}, {direction:?}");
        let mut events = 0;
        for _ in 0..20_000 * i64::from(fps) / speed[1] {
            step(&mut w, fps);
            events += w.contacts_began().len();
        }
        truth.claim(
            &case,
            events == 0 && w.body(behind).expect("alive").velocity() == pushed,
            "stopped from behind",
        );
        w.remove_body(behind).expect("alive");
        let front = add(&mut w, runner(-8_000, speed[1]));
        for _ in 0..20_000 * i64::from(fps) / speed[1] {
            step(&mut w, fps);
            events += w.contacts_began().len();
        }
        let [_, left] = parts(direction, velocity(&w, front));
        truth.expect(&case, about(milli(-speed[1]), milli(20)), left);
        truth.claim(&case, events > 0, "no event");
    });
}

#[test]
fn who_leaves_a_one_sided_ledge_upwards_lands_on_it() {
    Truth::at_rates("a ledge that is jumped through", "free fall", 1..=10, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        // The right side of a chain from right to left is above.
        let ledge = [at(9_000, 0), at(500, 0), at(-1_000, 0), at(-9_000, 0)];
        w.create_chain(&ChainDef::new(&ledge).one_sided(true)).expect("a good chain");
        let half = chance.between(200, 900);
        let shape = if chance.below(2) == 0 { circle(half) } else { rect(half, half) };
        // The centre crosses the line, or does not.
        let enough = chance.below(2) == 0;
        let height = if enough { chance.between(100, 5_000) } else { chance.between(-half, -50) };
        let speed = milli(((20 * (height + 1_000)) as u64 * 1000).isqrt() as i64);
        let body = BodyDef::dynamic(shape).position(at(0, -1_000));
        let id = add(&mut w, body.velocity(Vec2::new(Fx::ZERO, speed)));
        (0..4 * fps).for_each(|_| step(&mut w, fps));
        let seen = Fx::from_bits(position(&w, id)[1]);
        let case = format!("seed {seed}, {fps} fps, {shape:?} to {height}");
        if enough {
            truth.expect(&case, about(milli(half), milli(20)), seen);
        } else {
            truth.expect(&case, Fx::MIN..=Fx::from_num(-9), seen);
        }
    });
}

/// Discs that slide over hills do not sink in and gain no energy.
#[test]
fn hills_carry_and_give_nothing() {
    let law = "hills";
    let source = "conservation of energy, distances by brute force";
    Truth::at_rates(law, source, 1..=8, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
        let points: Vec<_> =
            (-20..=20).map(|i: i64| at(i * 1_500, chance.between(-1_500, 1_500) + i * i * 40)).collect();
        let solid = chain(&mut w, chance, points, |def| def);
        let ids: Vec<_> = (0..5)
            .map(|i| {
                let body = BodyDef::dynamic(circle(chance.between(200, 1_200)));
                add(&mut w, body.position(at(i * 8_000 - 16_000, 20_000)))
            })
            .collect();
        let case = format!("seed {seed}, {fps} fps");
        let mut least = height_and_speed(&w, &ids);
        let mut deepest = 0;
        for _ in 0..10 * fps {
            step(&mut w, fps);
            let now = height_and_speed(&w, &ids);
            // The fall of one frame: velocities change before positions.
            truth.expect(&case, Fx::MIN..=milli(200) + Fx::from_num(40) / i64::from(fps), now - least);
            least = least.min(now);
            for &id in &ids {
                let body = w.body(id).expect("alive");
                let near = solid.iter().map(|&other| apart(&body, &w.body(other).expect("alive")));
                deepest = deepest.min(near.min().expect("terrain"));
            }
        }
        truth.expect(&case, milli(-80)..=Fx::MAX, Fx::from_bits(deepest));
    });
}

/// Energy of bodies of mass 1 under a gravity of 10, per body.
fn height_and_speed(w: &World, ids: &[BodyId]) -> Fx {
    let sum: i128 = ids
        .iter()
        .map(|&id| {
            let ([_, y], [vx, vy]) = (position(w, id), velocity(w, id).map(i128::from));
            10 * i128::from(y) + ((vx * vx + vy * vy) >> 17)
        })
        .sum();
    Fx::from_bits((sum / ids.len() as i128) as i64)
}

/// A random piece of terrain near a position.
fn piece(w: &mut World, chance: &mut Chance, place: [i64; 2], size: i64) -> Vec<BodyId> {
    if chance.below(2) == 0 {
        let def = PolygonDef::new(&polygon(chance, place, size));
        let def = def.radius(milli(chance.between(0, 400) * i64::from(chance.below(2))));
        return vec![w.create_polygon(&def).expect("a good polygon")];
    }
    // Some are along an axis, or off it by some raw units; some are short.
    let (axis, size) = (chance.below(4), if chance.below(4) == 0 { size / 10 } else { size });
    let lean = chance.between(0, 2);
    let points: Vec<_> = (0..4)
        .map(|i| {
            let [x, y] = [chance.between(-size, size), chance.between(-size, size)];
            let point = raw(at(place[0] + x + i * 50, place[1] + y - i * 30));
            let along = raw(at(place[0], place[1])).map(|c| c + i * lean);
            let [x, y] = [0, 1].map(|c| if axis == c as u32 { along[c] } else { point[c] });
            Vec2::new(Fx::from_bits(x), Fx::from_bits(y))
        })
        .collect();
    w.create_chain(&ChainDef::new(&points)).unwrap_or_default()
}

#[test]
fn queries_find_what_brute_force_finds_of_terrain() {
    let source = "distances by brute force, the way gone by the distance to the nearest";
    let (mut hits, mut misses) = (0, 0);
    Truth::hear("queries about terrain", source, 1..=1_000, |truth, chance, seed| {
        let mut w = world(WorldDef::new());
        let size = chance.between(300, 4_000);
        piece(&mut w, chance, [0, 0], size);
        let half = [chance.between(100, 1_500), chance.between(100, 1_500)];
        let shape = match chance.below(6) {
            0 => circle(1),
            1 => circle(chance.between(100, 1_500)),
            2 => rect(0, half[1]),
            3 => rect(half[0], 0),
            _ => rect(half[0], half[1]),
        };
        let place = |chance: &mut Chance| at(chance.between(-6_000, 6_000), chance.between(-6_000, 6_000));
        let outlines: Vec<_> = w.bodies().map(|body| (body.id(), Outline::of(&body))).collect();
        let everything = testudo_physics::QueryFilter::new();
        // To the judge, who glides some raw units beside a line touches all of it.
        let leans = |axis: usize| {
            let mut corners = outlines.iter().flat_map(|(_, outline)| &outline.corners);
            corners.any(|c| c[axis] != 0 && c[axis].abs() <= i128::from(ROUNDING))
        };
        for _ in 0..8 {
            let (mut from, mut to) = (place(chance), place(chance));
            // Some begin on the line of a segment, and some go along it.
            match chance.below(8) {
                0 => from.x = Fx::ZERO,
                1 => from.y = Fx::ZERO,
                2 if !leans(0) => (from.x, to.x) = (Fx::ZERO, Fx::ZERO),
                3 if !leans(1) => (from.y, to.y) = (Fx::ZERO, Fx::ZERO),
                _ => {}
            }
            let case = format!("seed {seed}, {shape:?} from {from:?} to {to:?}");
            // Points and overlaps.
            let mut found = Vec::new();
            w.query_shape(shape, from, &everything, &mut found).expect("in range");
            for (id, outline) in &outlines {
                let far = outline.distance(&Outline::of_shape(shape, from)) >> 8;
                if far.abs() > i128::from(ROUNDING) {
                    truth.claim(&case, found.contains(id) == (far < 0), format!("{id} {far} raw units away"));
                }
            }
            let mut near = Vec::new();
            w.nearest(from, 99, Fx::MAX, &everything, &mut near).expect("in range");
            truth.claim(&case, near.len() == outlines.len(), "some are missing");
            for &(id, far) in &near {
                let outline = &outlines.iter().find(|(other, _)| *other == id).expect("listed").1;
                let point = Outline { corners: vec![raw(from).map(i128::from)], radius: 0 };
                let expected = Fx::from_bits((outline.distance(&point).max(0) >> 8) as i64);
                truth.expect(&case, about(expected, Fx::from_bits(ROUNDING)), far);
            }
            // The first one on the path.
            let hit = w.sweep(shape, from, to, &everything).expect("in range");
            let way = march(&outlines, shape, from, to);
            match (hit, way) {
                (Some(hit), Some((far, _))) => {
                    hits += 1;
                    truth.expect(&case, about(Fx::from_bits(far), milli(3)), hit.distance);
                    let point = Outline { corners: vec![raw(hit.point).map(i128::from)], radius: 0 };
                    let outline = &outlines.iter().find(|(other, _)| *other == hit.body).expect("listed").1;
                    let moved = Outline::of_shape(shape, hit.position);
                    if hit.distance > Fx::ZERO {
                        for (what, outline) in [("the terrain", outline), ("the shape", &moved)] {
                            let off = outline.distance(&point).max(0) >> 8;
                            truth.claim(&case, off <= 12, format!("a point {off} raw units off {what}"));
                        }
                        let length = hit.normal.length();
                        truth.expect(&case, about(Fx::ONE, milli(1)), length);
                    }
                }
                (None, None) => misses += 1,
                // They touch or miss each other narrowly.
                (found, seen) => {
                    let near =
                        seen.map_or_else(|| march_nearest(&outlines, shape, from, to), |(_, near)| near);
                    truth.claim(
                        &case,
                        near.abs() <= ROUNDING,
                        format!("hit {found:?}, by brute force {seen:?}"),
                    );
                }
            }
        }
    });
    assert!(hits > share(1_500) && misses > share(700), "{hits} hits, {misses} misses");
}

/// Advances along the path by the distance to the nearest outline until that is tiny. Returns the distance travelled and the remaining one.
fn march(outlines: &[(BodyId, Outline)], shape: Shape, from: Vec2, to: Vec2) -> Option<(i64, i64)> {
    let whole = (to - from).length().to_bits();
    let mut gone = 0;
    loop {
        let here = on_the_way(from, to, gone, whole.max(1));
        let moved = Outline::of_shape(shape, here);
        let near = outlines.iter().map(|(_, outline)| outline.distance(&moved) >> 8).min()? as i64;
        if near <= 1 {
            return Some((gone, near));
        }
        if gone >= whole {
            return None;
        }
        gone = (gone + near.max(2)).min(whole);
    }
}

/// The point at the fraction `gone / whole` of a path.
fn on_the_way(from: Vec2, to: Vec2, gone: i64, whole: i64) -> Vec2 {
    let ([x, y], [dx, dy]) = (raw(from), raw(to - from));
    Vec2::new(Fx::from_bits(x + dx * gone / whole), Fx::from_bits(y + dy * gone / whole))
}

/// The least distance on a path that meets nothing, raw units.
fn march_nearest(outlines: &[(BodyId, Outline)], shape: Shape, from: Vec2, to: Vec2) -> i64 {
    let places = (0..=4096).map(|i| {
        let here = on_the_way(from, to, i, 4096);
        let moved = Outline::of_shape(shape, here);
        outlines.iter().map(|(_, outline)| outline.distance(&moved) >> 8).min().expect("terrain") as i64
    });
    places.min().expect("places")
}

#[test]
fn a_sleeper_falls_when_its_segment_is_removed() {
    Truth::at_rates(
        "terrain that goes drops what lay on it",
        "free fall",
        1..=6,
        |truth, chance, seed, fps| {
            let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
            let points: Vec<_> = (-3..=3).map(|i| at(i * 4_000, 0)).collect();
            let ids = chain(&mut w, chance, points, |def| def);
            let half = chance.between(300, 900);
            let stones =
                [-6_000, 6_000].map(|x| add(&mut w, BodyDef::dynamic(circle(half)).position(at(x, half))));
            (0..3 * fps).for_each(|_| step(&mut w, fps));
            let case = format!("seed {seed}, {fps} fps, radius {half}");
            truth.claim(
                &case,
                stones.iter().all(|&id| !w.body(id).expect("alive").is_awake()),
                "still awake",
            );
            let under = w.body(stones[0]).expect("alive").position();
            let gone = ids.iter().copied().find(|&id| {
                let aabb = w.body(id).expect("alive").aabb();
                aabb.min.x < under.x && under.x < aabb.max.x
            });
            let gone = gone.expect("it lies on a segment");
            if chance.below(2) == 0 { w.remove_body(gone) } else { w.set_enabled(gone, false) }
                .expect("alive");
            (0..fps).for_each(|_| step(&mut w, fps));
            let fallen = milli(half) - Fx::from_bits(position(&w, stones[0])[1]);
            truth.expect(&case, milli(4_950)..=milli(5_050) + Fx::from_num(5) / i64::from(fps), fallen);
            truth.expect(&case, about(milli(half), milli(15)), Fx::from_bits(position(&w, stones[1])[1]));
        },
    );
}
