//! Short ways to say what a test needs.

use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

/// A number from thousandths.
pub(crate) fn milli(thousandths: i64) -> Fx {
    Fx::from_bits((thousandths << 16) / 1000)
}

/// A vector from thousandths.
pub(crate) fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(milli(x), milli(y))
}

/// A circle by its radius in thousandths.
pub(crate) fn circle(radius: i64) -> Shape {
    Shape::Circle { radius: milli(radius) }
}

/// A rectangle by its half extents in thousandths.
pub(crate) fn rect(x: i64, y: i64) -> Shape {
    Shape::Rect { half_extents: at(x, y) }
}

/// A world with these settings.
pub(crate) fn world(def: WorldDef) -> World {
    World::new(def).expect("settings in range")
}

/// Adds a body that is in range.
pub(crate) fn add(world: &mut World, def: BodyDef) -> BodyId {
    world.create_body(&def).expect("definition in range")
}

/// Steps that are in range.
pub(crate) fn run(world: &mut World, steps: u32, frames_per_second: u32) {
    for _ in 0..steps {
        world.step(frames_per_second).expect("rate in range");
        debug_assert_eq!(world.validate(), Ok(()));
    }
}

/// Raw position of a living body.
pub(crate) fn position(world: &World, id: BodyId) -> [i64; 2] {
    let p = world.body(id).expect("alive").position();
    [p.x.to_bits(), p.y.to_bits()]
}

/// Raw velocity of a living body.
pub(crate) fn velocity(world: &World, id: BodyId) -> [i64; 2] {
    let v = world.body(id).expect("alive").velocity();
    [v.x.to_bits(), v.y.to_bits()]
}

/// Deepest overlap of two circles, raw units; by brute force.
pub(crate) fn deepest_overlap(world: &World) -> i64 {
    let circles: Vec<([i64; 2], i64)> = world
        .bodies()
        .filter_map(|b| match b.shape() {
            Shape::Circle { radius } => {
                Some(([b.position().x.to_bits(), b.position().y.to_bits()], radius.to_bits()))
            }
            Shape::Rect { .. } => None,
        })
        .collect();
    let mut deepest = 0;
    for (i, (p, r)) in circles.iter().enumerate() {
        for (q, s) in &circles[..i] {
            let [dx, dy] = [p[0] - q[0], p[1] - q[1]];
            deepest = deepest.max(r + s - (dx * dx + dy * dy).isqrt());
        }
    }
    deepest
}

/// Kinetic energy times 2^49 or so: sum of mass * speed^2 in raw units.
pub(crate) fn energy(world: &World) -> i128 {
    let of = |b: testudo_physics::BodyRef<'_>| {
        let (m, v) = (i128::from(b.mass().to_bits()), b.velocity());
        let square = |c: Fx| i128::from(c.to_bits()) * i128::from(c.to_bits());
        m * (square(v.x) + square(v.y))
    };
    world.bodies().map(of).sum()
}

/// Sum of mass * velocity in raw units.
pub(crate) fn momentum(world: &World) -> [i128; 2] {
    let mut sum = [0; 2];
    for b in world.bodies() {
        let (m, v) = (i128::from(b.mass().to_bits()), b.velocity());
        sum[0] += m * i128::from(v.x.to_bits());
        sum[1] += m * i128::from(v.y.to_bits());
    }
    sum
}

/// A small generator for tests; the same numbers everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(77))
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u64::from((self.0 >> 32) as u32) * u64::from(n)) >> 32) as u32
    }

    /// In `low..=high`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::from(self.below((high - low + 1) as u32))
    }
}
