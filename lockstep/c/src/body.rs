//! Bodies: made, removed, read.

use testudo_physics::{BodyRef, World};

use crate::body_def::{
    TESTUDO_NO_LIMIT, TestudoBodyDef, TestudoFilter, TestudoMaterial, TestudoShape, kind_number,
};
use crate::failure::{Failure, Outcome, TESTUDO_STALE, TestudoStatus, count, status};
use crate::handle::with;
use crate::pointer::{TestudoBool, read, write};
use crate::value::{TestudoBody, TestudoBox, TestudoFx, TestudoVec2, id};
use crate::world::TestudoWorld;

/// Everything about a body, as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoBodyState {
    /// Its shape; of terrain the box around it.
    pub shape: TestudoShape,
    /// Centre, units.
    pub position: TestudoVec2,
    /// Units per second.
    pub velocity: TestudoVec2,
    /// Mass of a dynamic body; others have 0.
    pub mass: TestudoFx,
    /// Greatest speed, units per second, or `TESTUDO_NO_LIMIT`.
    pub max_speed: TestudoFx,
    /// Restitution, frictions and damping.
    pub material: TestudoMaterial,
    /// Layers and mask.
    pub filter: TestudoFilter,
    /// The game's own value.
    pub user: u64,
    /// The box around its shape, units.
    pub box_around: TestudoBox,
    /// `TESTUDO_STATIC`, `TESTUDO_KINEMATIC` or `TESTUDO_DYNAMIC`.
    pub kind: u32,
    /// Rank in contacts.
    pub dominance: i8,
    /// Whether it is a sensor.
    pub sensor: TestudoBool,
    /// Whether it takes part in steps and queries.
    pub enabled: TestudoBool,
    /// Whether it may fall asleep.
    pub can_sleep: TestudoBool,
    /// Whether contacts do not move it along x.
    pub lock_x: TestudoBool,
    /// Whether contacts do not move it along y.
    pub lock_y: TestudoBool,
    /// Whether it is awake.
    pub awake: TestudoBool,
    /// Whether it is a polygon or a segment of a chain.
    pub terrain: TestudoBool,
}

impl From<BodyRef<'_>> for TestudoBodyState {
    fn from(body: BodyRef<'_>) -> Self {
        let (lock_x, lock_y) = body.locked_axes();
        Self {
            kind: kind_number(body.kind()),
            shape: body.shape().into(),
            position: body.position().into(),
            velocity: body.velocity().into(),
            mass: body.mass().to_bits(),
            max_speed: body.max_speed().map_or(TESTUDO_NO_LIMIT, |speed| speed.to_bits()),
            material: body.material().into(),
            filter: body.filter().into(),
            user: body.user(),
            box_around: body.aabb().into(),
            dominance: body.dominance(),
            sensor: body.is_sensor().into(),
            enabled: body.is_enabled().into(),
            can_sleep: body.can_sleep().into(),
            lock_x: lock_x.into(),
            lock_y: lock_y.into(),
            awake: body.is_awake().into(),
            terrain: body.terrain().is_some().into(),
        }
    }
}

/// Creates a body. `out` (may be NULL) gets its handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_create_body(
    world: *mut TestudoWorld,
    def: *const TestudoBodyDef,
    out: *mut TestudoBody,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let def = unsafe { read(def, "def") }?.def()?;
        // SAFETY: as above.
        let body = unsafe { with(world, |world| Ok(world.create_body(&def)?)) }?;
        // SAFETY: as above.
        if out.is_null() { Ok(()) } else { unsafe { write(out, body.to_bits(), "out") } }
    })
}

/// Removes a body. Its contacts end in the next step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_remove_body(
    world: *mut TestudoWorld,
    body: TestudoBody,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.remove_body(id(body))?)) })
}

/// Whether the body exists: 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_has_body(world: *const TestudoWorld, body: TestudoBody) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| Ok(world.body(id(body)).is_some().into())) })
}

/// Everything about a body.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_body_state(
    world: *const TestudoWorld,
    body: TestudoBody,
    out: *mut TestudoBodyState,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| write(out, find(world, body)?.into(), "out")) })
}

/// The centre of a body, units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_position(
    world: *const TestudoWorld,
    body: TestudoBody,
    out: *mut TestudoVec2,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| write(out, find(world, body)?.position().into(), "out")) })
}

/// The velocity of a body, units per second.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_velocity(
    world: *const TestudoWorld,
    body: TestudoBody,
    out: *mut TestudoVec2,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| write(out, find(world, body)?.velocity().into(), "out")) })
}

/// The game's own value of a body.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_user(
    world: *const TestudoWorld,
    body: TestudoBody,
    out: *mut u64,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| write(out, find(world, body)?.user(), "out")) })
}

/// Distance from a point (within +-20,480 units) to the surface of a body, units; 0 inside.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_distance(
    world: *const TestudoWorld,
    body: TestudoBody,
    point: *const TestudoVec2,
    out: *mut TestudoFx,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let point = unsafe { read(point, "point") }?;
        // SAFETY: as above.
        let distance = unsafe { with(world, |world| Ok(find(world, body)?.distance(point.into())?)) }?;
        // SAFETY: as above.
        unsafe { write(out, distance.to_bits(), "out") }
    })
}

pub(crate) fn find(world: &World, body: TestudoBody) -> Outcome<BodyRef<'_>> {
    let stale = || Failure::new(TESTUDO_STALE, format!("body {} is not in this world (any more)", id(body)));
    world.body(id(body)).ok_or_else(stale)
}
