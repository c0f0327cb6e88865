//! Numbers, vectors and boxes as C has them.

use testudo_physics::{Aabb, BodyId, Fx, Vec2};

use crate::pointer::plain;

/// A number of the simulation: a whole number of 1/65,536. So `3 * TESTUDO_ONE` is 3, and `TESTUDO_ONE / 2` a half.
pub type TestudoFx = i64;

// The header has it as `TestudoFx`, or C would multiply as `int` (cbindgen.toml).
/// 1 as a `TestudoFx`.
///
/// cbindgen:ignore
pub const TESTUDO_ONE: TestudoFx = 65536;

/// The handle of a body. Any number may be given; the world refuses those that name no body as stale. All peers have the same
/// handles, so a game may send them in orders and hash them. A removed body's handle never comes back for another body.
pub type TestudoBody = u64;

/// No body.
pub const TESTUDO_NO_BODY: TestudoBody = u64::MAX;

/// A vector or a point, units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoVec2 {
    /// To the right.
    pub x: TestudoFx,
    /// Up.
    pub y: TestudoFx,
}

/// An axis-aligned box, units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoBox {
    /// Its smallest coordinates.
    pub min: TestudoVec2,
    /// Its greatest coordinates.
    pub max: TestudoVec2,
}

/// A straight path: a ray, or the way of a moving shape's centre, units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoSegment {
    /// Where it begins.
    pub from: TestudoVec2,
    /// Where it ends.
    pub to: TestudoVec2,
}

plain!(TestudoVec2, TestudoBox, TestudoSegment);

pub(crate) fn fx(bits: TestudoFx) -> Fx {
    Fx::from_bits(bits)
}

pub(crate) fn vec2(x: TestudoFx, y: TestudoFx) -> Vec2 {
    Vec2::new(fx(x), fx(y))
}

pub(crate) fn id(body: TestudoBody) -> BodyId {
    BodyId::from_bits(body)
}

impl From<TestudoVec2> for Vec2 {
    fn from(v: TestudoVec2) -> Self {
        vec2(v.x, v.y)
    }
}

impl From<Vec2> for TestudoVec2 {
    fn from(v: Vec2) -> Self {
        Self { x: v.x.to_bits(), y: v.y.to_bits() }
    }
}

impl From<TestudoBox> for Aabb {
    fn from(area: TestudoBox) -> Self {
        // Not `from_corners`, which would turn a wrong box into a right one.
        Self { min: area.min.into(), max: area.max.into() }
    }
}

impl From<Aabb> for TestudoBox {
    fn from(area: Aabb) -> Self {
        Self { min: area.min.into(), max: area.max.into() }
    }
}
