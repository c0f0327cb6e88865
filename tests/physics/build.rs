//! Short helpers for tests.

use testudo_physics::{BodyDef, BodyId, BodyKind, BodyRef, Fx, Shape, Vec2, World, WorldDef};

/// One unit in raw values.
pub(crate) const ONE: i64 = 1 << 16;

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

/// Steps that must succeed.
pub(crate) fn run(world: &mut World, steps: u32, frames_per_second: u32) {
    for _ in 0..steps {
        world.step(frames_per_second).expect("rate in range");
        assert_eq!(world.validate(), Ok(()));
    }
}

/// Its snapshot.
pub(crate) fn saved(world: &World) -> Vec<u8> {
    let mut bytes = Vec::new();
    world.snapshot(&mut bytes);
    bytes
}

/// As a peer has it that loads its snapshot.
pub(crate) fn restored(world: &World) -> World {
    World::from_bytes(&saved(world)).expect("own bytes")
}

/// Raw components.
pub(crate) fn raw(v: Vec2) -> [i64; 2] {
    [v.x.to_bits(), v.y.to_bits()]
}

/// Raw position of a living body.
pub(crate) fn position(world: &World, id: BodyId) -> [i64; 2] {
    raw(world.body(id).expect("alive").position())
}

/// Raw velocity of a living body.
pub(crate) fn velocity(world: &World, id: BodyId) -> [i64; 2] {
    raw(world.body(id).expect("alive").velocity())
}

/// How deep two shapes overlap, raw units; negative: how far they are apart. The distance is rounded down.
pub(crate) fn overlap(a: &BodyRef<'_>, b: &BodyRef<'_>) -> i64 {
    // Half extents and rounding radius of each; together they are one rounded box about the difference of the centres.
    let rounded = |shape| match shape {
        Shape::Circle { radius } => ([0; 2], radius.to_bits()),
        Shape::Rect { half_extents } => (raw(half_extents), 0),
        _ => panic!("a shape that this test does not know: {shape:?}"),
    };
    let ((half_a, radius_a), (half_b, radius_b)) = (rounded(a.shape()), rounded(b.shape()));
    let (p, q) = (raw(a.position()), raw(b.position()));
    let outside = [0, 1].map(|axis| (q[axis] - p[axis]).abs() - half_a[axis] - half_b[axis]);
    let [x, y] = outside.map(|o| o.max(0));
    let distance = if [x, y] == [0, 0] { outside[0].max(outside[1]) } else { (x * x + y * y).isqrt() };
    radius_a + radius_b - distance
}

/// The deepest overlap of two solid bodies that take part, at least one of them dynamic, raw units; by brute force.
pub(crate) fn deepest_overlap(world: &World) -> i64 {
    let bodies: Vec<_> = world.bodies().filter(|b| b.is_enabled() && !b.is_sensor()).collect();
    let mut deepest = 0;
    for (i, a) in bodies.iter().enumerate() {
        for b in &bodies[..i] {
            if a.kind() == BodyKind::Dynamic || b.kind() == BodyKind::Dynamic {
                deepest = deepest.max(overlap(a, b));
            }
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
#[derive(Clone)]
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
