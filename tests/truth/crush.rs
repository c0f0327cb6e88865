//! Truths about bodies that something squeezes that cannot be stopped: a gate that closes upon units, a press, a wall that moves.

use testudo_physics::{BodyDef, BodyId, Fx, Shape, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, position, raw, rect, velocity, world};
use crate::frame::{RATES, Truth};
use crate::solve::step;

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
        let speed = |&unit: &BodyId| {
            let [x, y] = velocity(&self.world, unit);
            (x * x + y * y).isqrt()
        };
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
