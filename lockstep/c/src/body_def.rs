//! Definitions of bodies.

use testudo_physics::{BodyDef, BodyKind, Filter, Fx, Material, Shape};

use crate::failure::{Failure, Outcome, TestudoStatus, status};
use crate::pointer::{TestudoBool, plain, read, write};
use crate::value::{TESTUDO_ONE, TestudoFx, TestudoVec2, fx, vec2};

/// The body never moves: ground, walls, buildings.
pub const TESTUDO_STATIC: u32 = 0;
/// It moves with the velocity that the game sets. It pushes dynamic bodies, and nothing pushes it.
pub const TESTUDO_KINEMATIC: u32 = 1;
/// It moves by velocity, contacts, forces, gravity, friction and damping.
pub const TESTUDO_DYNAMIC: u32 = 2;

/// A circle.
pub const TESTUDO_CIRCLE: u32 = 0;
/// An axis-aligned rectangle.
pub const TESTUDO_RECT: u32 = 1;

// As `TESTUDO_ONE`.
/// No speed limit of a body's own.
///
/// cbindgen:ignore
pub const TESTUDO_NO_LIMIT: TestudoFx = -1;

/// A shape. `testudo_circle` and `testudo_rect` fill it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoShape {
    /// Of a circle, units, 1/1,024..=4,096. A rectangle has 0.
    pub radius: TestudoFx,
    /// Half of the width and of the height of a rectangle, units, each 1/1,024..=4,096. A circle has 0.
    pub half_extents: TestudoVec2,
    /// `TESTUDO_CIRCLE` or `TESTUDO_RECT`.
    pub kind: u32,
}

/// Restitution, frictions and damping of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoMaterial {
    /// Speed after a collision divided by the speed before, 0..=1. A contact uses the larger value of its two bodies.
    pub restitution: TestudoFx,
    /// Coefficient of contact friction, 0..=4. A contact uses the geometric mean of its two bodies.
    pub friction: TestudoFx,
    /// Deceleration by the ground in a world seen from above, units/s^2, 0..=1,024.
    pub ground_friction: TestudoFx,
    /// Part of the velocity that is lost per second, 1/s, 0..=1,024.
    pub damping: TestudoFx,
}

/// Collision layers. Two bodies collide if each is in a layer of the other's mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoFilter {
    /// The layers that the body is in, one bit each.
    pub layers: u32,
    /// The layers that it collides with, one bit each.
    pub mask: u32,
}

/// The definition of a body. `testudo_body_def_default` fills in defaults; one definition can create any number of bodies.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoBodyDef {
    /// Its shape.
    pub shape: TestudoShape,
    /// Centre, units, each axis within +-16,384. Default 0.
    pub position: TestudoVec2,
    /// Units per second, each axis within +-1,024. Default 0.
    pub velocity: TestudoVec2,
    /// Mass of a dynamic body, 1/256..=16,384; others ignore it. Default 1.
    pub mass: TestudoFx,
    /// Greatest speed after a step, units per second, 0..=1,024. Default `TESTUDO_NO_LIMIT`: only the world's limit per axis.
    pub max_speed: TestudoFx,
    /// Default all 0.
    pub material: TestudoMaterial,
    /// Default layer 0, all layers in the mask.
    pub filter: TestudoFilter,
    /// A value of the game's own; events carry it. Default 0.
    pub user: u64,
    /// `TESTUDO_STATIC`, `TESTUDO_KINEMATIC` or `TESTUDO_DYNAMIC`.
    pub kind: u32,
    /// Rank in contacts: of two dynamic bodies the one of higher rank moves as if the other had no mass. Default 0.
    pub dominance: i8,
    /// Whether it is a sensor, which reports overlaps and pushes nothing. Default 0.
    pub sensor: TestudoBool,
    /// Whether it takes part in steps and queries. Default 1.
    pub enabled: TestudoBool,
    /// Whether it may fall asleep. Default 1.
    pub can_sleep: TestudoBool,
    /// Whether contacts do not move it along x. Default 0.
    pub lock_x: TestudoBool,
    /// Whether contacts do not move it along y. Default 0.
    pub lock_y: TestudoBool,
}

plain!(TestudoShape, TestudoMaterial, TestudoFilter, TestudoBodyDef);

/// A circle with this radius in units. Its range is checked where it is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_circle(radius: TestudoFx, out: *mut TestudoShape) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, Shape::circle(fx(radius)).into(), "out") })
}

/// A rectangle with this half width and half height in units. Their ranges are checked where it is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_rect(
    half_width: TestudoFx,
    half_height: TestudoFx,
    out: *mut TestudoShape,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, Shape::rect(fx(half_width), fx(half_height)).into(), "out") })
}

/// A definition with defaults: a body of this kind and shape at the origin that does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_body_def_default(
    kind: u32,
    shape: *const TestudoShape,
    out: *mut TestudoBodyDef,
) -> TestudoStatus {
    status(|| {
        body_kind(kind)?;
        // SAFETY: the contract of pointers.
        let shape = unsafe { read(shape, "shape") }?;
        // SAFETY: as above.
        unsafe { write(out, usual(kind, shape), "out") }
    })
}

/// What `BodyDef::new` has.
fn usual(kind: u32, shape: TestudoShape) -> TestudoBodyDef {
    TestudoBodyDef {
        kind,
        shape,
        position: TestudoVec2 { x: 0, y: 0 },
        velocity: TestudoVec2 { x: 0, y: 0 },
        mass: TESTUDO_ONE,
        max_speed: TESTUDO_NO_LIMIT,
        material: Material::new().into(),
        filter: Filter::default().into(),
        user: 0,
        dominance: 0,
        sensor: 0,
        enabled: 1,
        can_sleep: 1,
        lock_x: 0,
        lock_y: 0,
    }
}

pub(crate) fn body_kind(kind: u32) -> Outcome<BodyKind> {
    match kind {
        TESTUDO_STATIC => Ok(BodyKind::Static),
        TESTUDO_KINEMATIC => Ok(BodyKind::Kinematic),
        TESTUDO_DYNAMIC => Ok(BodyKind::Dynamic),
        other => Err(Failure::enumerator("kind", other, TESTUDO_DYNAMIC)),
    }
}

pub(crate) fn kind_number(kind: BodyKind) -> u32 {
    match kind {
        BodyKind::Static => TESTUDO_STATIC,
        BodyKind::Kinematic => TESTUDO_KINEMATIC,
        BodyKind::Dynamic => TESTUDO_DYNAMIC,
    }
}

/// The speed limit of a body. Any other negative number is a limit, too, which the physics refuses.
pub(crate) fn speed_limit(max_speed: TestudoFx) -> Option<Fx> {
    (max_speed != TESTUDO_NO_LIMIT).then(|| fx(max_speed))
}

impl TestudoShape {
    pub(crate) fn shape(&self) -> Outcome<Shape> {
        match self.kind {
            TESTUDO_CIRCLE => Ok(Shape::circle(fx(self.radius))),
            TESTUDO_RECT => Ok(Shape::rect(fx(self.half_extents.x), fx(self.half_extents.y))),
            other => Err(Failure::enumerator("shape", other, TESTUDO_RECT)),
        }
    }
}

impl From<Shape> for TestudoShape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Circle { radius } => Self {
                kind: TESTUDO_CIRCLE,
                radius: radius.to_bits(),
                half_extents: TestudoVec2 { x: 0, y: 0 },
            },
            other => Self { kind: TESTUDO_RECT, radius: 0, half_extents: other.half_extents().into() },
        }
    }
}

impl From<TestudoMaterial> for Material {
    fn from(material: TestudoMaterial) -> Self {
        Self::new()
            .restitution(fx(material.restitution))
            .friction(fx(material.friction))
            .ground_friction(fx(material.ground_friction))
            .damping(fx(material.damping))
    }
}

impl From<Material> for TestudoMaterial {
    fn from(material: Material) -> Self {
        Self {
            restitution: material.restitution.to_bits(),
            friction: material.friction.to_bits(),
            ground_friction: material.ground_friction.to_bits(),
            damping: material.damping.to_bits(),
        }
    }
}

impl From<TestudoFilter> for Filter {
    fn from(filter: TestudoFilter) -> Self {
        Self::new(filter.layers, filter.mask)
    }
}

impl From<Filter> for TestudoFilter {
    fn from(filter: Filter) -> Self {
        Self { layers: filter.layers, mask: filter.mask }
    }
}

impl TestudoBodyDef {
    /// The definition, its ranges not checked yet.
    pub(crate) fn def(&self) -> Outcome<BodyDef> {
        let def = BodyDef::new(body_kind(self.kind)?, self.shape.shape()?)
            .position(vec2(self.position.x, self.position.y))
            .velocity(vec2(self.velocity.x, self.velocity.y))
            .mass(fx(self.mass))
            .material(self.material.into())
            .filter(self.filter.into())
            .user(self.user)
            .dominance(self.dominance)
            .sensor(self.sensor != 0)
            .enabled(self.enabled != 0)
            .can_sleep(self.can_sleep != 0)
            .locked_axes(self.lock_x != 0, self.lock_y != 0);
        Ok(speed_limit(self.max_speed).map_or(def, |speed| def.max_speed(speed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_physics() {
        let circle = Shape::circle(Fx::ONE);
        for kind in [BodyKind::Static, BodyKind::Kinematic, BodyKind::Dynamic] {
            let made = usual(kind_number(kind), circle.into()).def().expect("enumerators in range");
            assert_eq!(made, BodyDef::new(kind, circle));
        }
    }
}
