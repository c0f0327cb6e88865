//! Truths about bodies that something squeezes that cannot be stopped: a gate that closes upon units, a press, a wall that moves.

use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, raw, rect, velocity, world};
use crate::frame::{RATES, Truth, length, step};

/// Seconds until the gate opens, and until the end.
const TIMES: [u32; 2] = [10, 20];

/// A wall on the left, ground, and a kinematic gate that comes from the right.
struct Gate {
    world: World,
    gate: BodyId,
    units: Vec<BodyId>,
    /// Where the gate stops, thousandths: units do not fit.
    closed: i64,
}

impl Gate {
    fn new(chance: &mut Chance, gravity: i64, shape: Shape, width: i64, count: i64) -> Self {
        let mut world = world(WorldDef::new().gravity(at(0, -gravity)));
        let rough = |def: BodyDef| def.friction(milli(500)).ground_friction(milli(1_000));
        add(&mut world, rough(BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000))));
        add(&mut world, rough(BodyDef::static_body(rect(1_000, 10_000)).position(at(-1_000, 10_000))));
        let gate = BodyDef::kinematic(rect(1_000, 10_000)).position(at(8_000, 10_001));
        let gate = add(&mut world, gate.velocity(at(-1_000, 0)));
        let units = (0..count).map(|i| {
            let place = at(600 + 1_100 * i + chance.between(0, 80), 520);
            rough(BodyDef::dynamic(shape).position(place))
        });
        let units = units.collect::<Vec<_>>().into_iter().map(|unit| add(&mut world, unit)).collect();
        Self { world, gate, units, closed: 1_000 + width * count }
    }

    /// One frame: the gate closes at 1 unit/s, waits, and opens.
    fn step(&mut self, frame: u32, fps: u32) {
        let x = (position(&self.world, self.gate)[0] * 1_000) >> 16;
        let opens = frame >= TIMES[0] * fps;
        let speed = match opens {
            true if x < 9_000 => 1_000,
            false if x > self.closed => -1_000,
            _ => 0,
        };
        self.world.set_velocity(self.gate, at(speed, 0)).expect("in range");
        step(&mut self.world, fps);
    }

    /// The greatest speed, and the greatest way of a unit since `before`, raw.
    fn fastest(&self, before: &[[i64; 2]]) -> (i64, i64) {
        let speed = |&unit: &BodyId| length(velocity(&self.world, unit));
        let way = |(&unit, from): (&BodyId, &[i64; 2])| {
            let to = position(&self.world, unit);
            (to[0] - from[0]).abs().max((to[1] - from[1]).abs())
        };
        (
            self.units.iter().map(speed).max().unwrap_or(0),
            self.units.iter().zip(before).map(way).max().unwrap_or(0),
        )
    }
}

/// A gate that closes on a single unit does not push it through the wall; the unit stays between both, and comes out calmly.
#[test]
fn who_is_crushed_stays_between_and_comes_out_calmly() {
    let source = "what cannot yield is not yielded to; stated speeds";
    Truth::hear("crushed by a gate", source, 1..=2, |truth, chance, seed| {
        for (gravity, fps) in [0, 10_000].into_iter().flat_map(|g| RATES.map(|fps| (g, fps))) {
            let shapes = [circle(500), rect(500, 500), rect(400, 300)];
            for (shape, count) in shapes.into_iter().flat_map(|shape| [(shape, 1), (shape, 4)]) {
                let width = chance.between(200, 900);
                let mut gate = Gate::new(chance, gravity, shape, width, count);
                let case =
                    format!("seed {seed}, gravity {gravity}, {fps} fps, {count} of {shape:?} in {width}");
                let (mut fastest, mut furthest) = ([0; 2], 0);
                for frame in 0..TIMES[1] * fps {
                    let before: Vec<_> = gate.units.iter().map(|&unit| position(&gate.world, unit)).collect();
                    gate.step(frame, fps);
                    let (speed, way) = gate.fastest(&before);
                    let open = usize::from(frame >= TIMES[0] * fps);
                    fastest[open] = fastest[open].max(speed);
                    furthest = furthest.max(way * i64::from(fps));
                }
                let inside = gate.units.iter().all(|&unit| {
                    let [x, y] = raw(gate.world.body(unit).expect("alive").position());
                    x > 0 && y > 0
                });
                truth.claim(&case, inside, "a unit in the wall or in the ground");
                let rest = gate.units.iter().all(|&unit| !gate.world.body(unit).expect("alive").is_awake());
                truth.claim(&case, rest, "restless after the gate has opened");
                let [closed, open] = fastest.map(Fx::from_bits);
                truth.expect(format!("{case}: speed while it closes"), Fx::ZERO..=Fx::from_num(8), closed);
                truth.expect(format!("{case}: speed when it opens"), Fx::ZERO..=Fx::from_num(4), open);
                let furthest = Fx::from_bits(furthest);
                truth.expect(format!("{case}: way per second"), Fx::ZERO..=Fx::from_num(9), furthest);
            }
        }
    });
}

/// A row of discs that two walls squeeze together for 40 seconds, and the wall on the right.
fn squeezed_row(gravity: i64, count: i64, overlap: i64, fps: u32) -> (World, BodyId, Vec<BodyId>) {
    let mut w = world(WorldDef::new().gravity(at(0, -gravity)));
    add(&mut w, BodyDef::static_body(rect(50_000, 1_000)).position(at(0, -1_000)));
    let right = count * 1_000 - overlap * (count + 1);
    let wall = |x: i64| BodyDef::static_body(rect(1_000, 10_000)).position(at(x, 10_001));
    add(&mut w, wall(-1_000));
    let wall = add(&mut w, wall(right + 1_000));
    let disc = |i: i64| {
        let place = at(500 - overlap + i * (1_000 - overlap), 501);
        BodyDef::dynamic(circle(500)).can_sleep(false).position(place)
    };
    let row = (0..count).map(|i| add(&mut w, disc(i))).collect();
    (0..40 * fps).for_each(|_| step(&mut w, fps));
    (w, wall, row)
}

/// Greatest speed, and greatest distance per second, of some bodies within two seconds, raw.
fn fastest(w: &mut World, row: &[BodyId], fps: u32) -> [Fx; 2] {
    let mut most = [0; 2];
    for _ in 0..2 * fps {
        let before: Vec<_> = row.iter().map(|&id| position(w, id)).collect();
        step(w, fps);
        for (&id, before) in row.iter().zip(before) {
            let now = position(w, id);
            let way = length([now[0] - before[0], now[1] - before[1]]) * i64::from(fps);
            most = [most[0].max(length(velocity(w, id))), most[1].max(way)];
        }
    }
    most.map(Fx::from_bits)
}

/// Squeezed contacts push each other up from frame to frame. When a wall goes, a row of eight once flew off at 315 units/s.
#[test]
fn a_row_that_walls_squeezed_comes_out_calmly() {
    let source = "no energy was put in but that of separating overlaps; stated speeds";
    Truth::hear("a row between two walls", source, 1..=4, |truth, chance, seed| {
        for (gravity, fps) in [0, 10_000].into_iter().flat_map(|g| RATES.map(|fps| (g, fps))) {
            let (count, overlap) = (chance.between(1, 8), chance.between(5, 200));
            let (mut w, wall, row) = squeezed_row(gravity, count, overlap, fps);
            w.remove_body(wall).expect("alive");
            let seen = fastest(&mut w, &row, fps);
            let case = format!("seed {seed}, gravity {gravity}, {fps} fps, {count} discs, overlap {overlap}");
            truth.expect(format!("{case}: speed"), Fx::ZERO..=Fx::from_num(24), seen[0]);
            truth.expect(format!("{case}: way per second"), Fx::ZERO..=Fx::from_num(26), seen[1]);
        }
    });
}

/// What bodies press with their own speeds is kept from frame to frame, however much it adds up to. Great impulses were cut at once, and the
/// middle of a crowd that gathered in a point was three times as deep.
#[test]
fn a_crowd_that_gathers_in_a_point_is_not_deep() {
    let source = "rapier2d in a crowd of 10,000: 99 of 100 overlaps are below 0.18";
    Truth::hear("a crowd that gathers", source, 1..=2, |truth, chance, seed| {
        let (side, fps) = (chance.between(36, 42), [60, 144][seed as usize % 2]);
        let speed = milli(chance.between(140, 160) * fps);
        let mut w = world(WorldDef::new());
        let middle = side * 1_250 / 2;
        let place = |i: i64, chance: &mut Chance| i * 1_250 - middle + chance.between(-100, 100);
        let units: Vec<_> = (0..side * side)
            .map(|i| at(place(i % side, chance), place(i / side, chance)))
            .map(|place| add(&mut w, BodyDef::dynamic(circle(500)).position(place)))
            .collect();
        for _ in 0..8 * side {
            for &unit in &units {
                let [x, y] = position(&w, unit);
                let far = Fx::from_bits((x * x + y * y).isqrt().max(1));
                let velocity = [x, y].map(|c| -Fx::from_bits(c) / far * speed);
                w.set_velocity(unit, Vec2::new(velocity[0], velocity[1])).expect("in range");
            }
            step(&mut w, fps as u32);
        }
        let places: Vec<_> = units.iter().map(|&unit| position(&w, unit)).collect();
        let pairs = (0..places.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let depth = |(i, j): (usize, usize)| {
            let [x, y] = [0, 1].map(|axis| places[i][axis] - places[j][axis]);
            milli(1_000).to_bits() - (x * x + y * y).isqrt()
        };
        let mut depths: Vec<_> = pairs.map(depth).filter(|&depth| depth > 0).collect();
        depths.sort_unstable();
        let most = Fx::from_bits(depths[depths.len() * 99 / 100]);
        truth.expect(format!("seed {seed}, {fps} fps, {side} by {side}"), Fx::ZERO..=milli(180), most);
    });
}

/// An impulse without gravity is one of a whole frame; as a spring's it threw a body at 70 units/s (random scene 1004421).
#[test]
fn gravity_that_begins_or_ends_throws_nobody() {
    Truth::hear("gravity changes", "rest stays rest; stated speeds", 1..=4, |truth, chance, seed| {
        for (gravity, fps) in [0, 10_000].into_iter().flat_map(|g| RATES.map(|fps| (g, fps))) {
            let (count, overlap) = (chance.between(1, 8), chance.between(5, 200));
            let (mut w, _, row) = squeezed_row(gravity, count, overlap, fps);
            w.set_gravity(at(0, gravity - 10_000)).expect("in range");
            let seen = fastest(&mut w, &row, fps);
            let case =
                format!("seed {seed}, gravity was {gravity}, {fps} fps, {count} discs, overlap {overlap}");
            truth.expect(format!("{case}: speed"), Fx::ZERO..=Fx::from_num(3), seen[0]);
            truth.expect(format!("{case}: way per second"), Fx::ZERO..=Fx::from_num(4), seen[1]);
        }
    });
}

/// A fast body in the corner of a wall stood still while gravity made it ever faster: its contact pointed sideways, and continuous collision
/// held it from below (random scene 4338).
#[test]
fn who_was_pressed_into_the_corner_of_a_wall_falls_past_it() {
    let source = "conservation of energy";
    Truth::at_rates("in the corner of a wall", source, 1..=20, |truth, chance, seed, fps| {
        let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)).sleep_ms(0));
        add(&mut w, BodyDef::static_body(rect(2_000, 1_000)).position(at(-2_000, -1_000)));
        let half = [chance.between(150, 400), chance.between(300, 600)];
        // A quarter of its height is where continuous collision begins to hold it.
        let depth = half[1] / 4 + chance.between(-8, 2);
        let beside = chance.between(10, depth.min(half[0]) - 5);
        let (x, y) = (half[0] - beside, half[1] - depth);
        let speed = chance.between(3_000, 12_000);
        let body = BodyDef::dynamic(rect(half[0], half[1])).position(at(x, y)).velocity(at(0, -speed));
        let id = add(&mut w, body);
        let case = format!("seed {seed}, {fps} fps, {half:?}, {depth} deep, {beside} beside, speed {speed}");
        // Twice the energy per mass, raw.
        let energy = |w: &World| {
            let ([x, y], [_, high]) = (velocity(w, id), position(w, id));
            Fx::from_bits((x * x + y * y + 20 * high * 65_536) >> 16)
        };
        let begin = energy(&w);
        for _ in 0..3 * fps {
            step(&mut w, fps);
            // It may be pushed aside at 3 units/s, and gravity may pull for a frame before it is held.
            let pulled = Fx::from_num(20 * (speed + 1_000)) / 1_000 / i64::from(fps);
            truth.expect(&case, Fx::MIN..=begin + Fx::from_num(9) + pulled, energy(&w));
        }
        let [_, high] = position(&w, id);
        truth.expect(format!("{case}: height"), Fx::MIN..=Fx::from_num(-3), Fx::from_bits(high));
    });
}
