//! What the game changes of a body.
//!
//! All wake the body where contacts or rest depend on what is changed.

use crate::body_def::{TestudoFilter, TestudoMaterial, TestudoShape, body_kind, speed_limit};
use crate::failure::{Failure, TESTUDO_OUT_OF_RANGE, TestudoStatus, count, status};
use crate::handle::with;
use crate::pointer::{TestudoBool, read};
use crate::value::{TestudoBody, TestudoFx, fx, id, vec2};
use crate::world::TestudoWorld;

/// Places a body, units, each axis within +-16,384. Bodies that can move are held inside the world's bounds. Terrain never moves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_position(
    world: *mut TestudoWorld,
    body: TestudoBody,
    x: TestudoFx,
    y: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_position(id(body), vec2(x, y))?)) })
}

/// Sets the velocity, units per second, each axis within +-1,024. Static bodies ignore it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_velocity(
    world: *mut TestudoWorld,
    body: TestudoBody,
    x: TestudoFx,
    y: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_velocity(id(body), vec2(x, y))?)) })
}

/// Changes the velocity of a dynamic body by impulse / mass at once; each component within +-16,777,216.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_apply_impulse(
    world: *mut TestudoWorld,
    body: TestudoBody,
    x: TestudoFx,
    y: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.apply_impulse(id(body), vec2(x, y))?)) })
}

/// Accelerates a dynamic body by force / mass during the next step; several forces add up. Each component within +-16,777,216.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_apply_force(
    world: *mut TestudoWorld,
    body: TestudoBody,
    x: TestudoFx,
    y: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.apply_force(id(body), vec2(x, y))?)) })
}

/// Gives a kinematic body the velocity with which it is at (x, y) after the next step with this number of frames per second.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_move_kinematic(
    world: *mut TestudoWorld,
    body: TestudoBody,
    x: TestudoFx,
    y: TestudoFx,
    frames_per_second: u32,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe {
        with(world, |world| Ok(world.move_kinematic(id(body), vec2(x, y), frames_per_second)?))
    })
}

/// Sets the mass of a dynamic body, 1/256..=16,384. Others ignore it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_mass(
    world: *mut TestudoWorld,
    body: TestudoBody,
    mass: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_mass(id(body), fx(mass))?)) })
}

/// Sets the damping alone, 1/s, 0..=1,024.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_damping(
    world: *mut TestudoWorld,
    body: TestudoBody,
    damping: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_damping(id(body), fx(damping))?)) })
}

/// Sets the greatest speed after a step, units per second, 0..=1,024, or `TESTUDO_NO_LIMIT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_max_speed(
    world: *mut TestudoWorld,
    body: TestudoBody,
    max_speed: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_max_speed(id(body), speed_limit(max_speed))?)) })
}

/// Sets restitution, frictions and damping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_material(
    world: *mut TestudoWorld,
    body: TestudoBody,
    material: *const TestudoMaterial,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let material = unsafe { read(material, "material") }?;
        // SAFETY: the contract of pointers.
        unsafe { with(world, |world| Ok(world.set_material(id(body), material.into())?)) }
    })
}

/// Sets layers and mask from the next step on; queries see them at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_filter(
    world: *mut TestudoWorld,
    body: TestudoBody,
    layers: u32,
    mask: u32,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe {
        with(world, |world| Ok(world.set_filter(id(body), TestudoFilter { layers, mask }.into())?))
    })
}

/// Gives the body another shape with the same centre. Terrain keeps its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_shape(
    world: *mut TestudoWorld,
    body: TestudoBody,
    shape: *const TestudoShape,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let shape = unsafe { read(shape, "shape") }?.shape()?;
        // SAFETY: the contract of pointers.
        unsafe { with(world, |world| Ok(world.set_shape(id(body), shape)?)) }
    })
}

/// Makes it another kind of body. Its contacts end and begin again in the next step. A body that becomes dynamic has mass 1; one that
/// becomes static loses its velocity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_kind(
    world: *mut TestudoWorld,
    body: TestudoBody,
    kind: u32,
) -> TestudoStatus {
    status(|| {
        let kind = body_kind(kind)?;
        // SAFETY: the contract of pointers.
        unsafe { with(world, |world| Ok(world.set_kind(id(body), kind)?)) }
    })
}

/// Sets the rank in contacts, -128..=127.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_dominance(
    world: *mut TestudoWorld,
    body: TestudoBody,
    dominance: i32,
) -> TestudoStatus {
    status(|| {
        let dominance = i8::try_from(dominance).map_err(|_| {
            Failure::new(TESTUDO_OUT_OF_RANGE, format!("dominance must be -128..=127, not {dominance}"))
        })?;
        // SAFETY: the contract of pointers.
        unsafe { with(world, |world| Ok(world.set_dominance(id(body), dominance)?)) }
    })
}

/// Sets the game's own value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_user(
    world: *mut TestudoWorld,
    body: TestudoBody,
    user: u64,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_user(id(body), user)?)) })
}

/// Makes it a sensor, which only reports overlaps, or a solid body again. Terrain is always solid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_sensor(
    world: *mut TestudoWorld,
    body: TestudoBody,
    sensor: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_sensor(id(body), sensor != 0)?)) })
}

/// Takes it out of steps and queries, or puts it back. It keeps its velocity; waiting forces are dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_enabled(
    world: *mut TestudoWorld,
    body: TestudoBody,
    enabled: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_enabled(id(body), enabled != 0)?)) })
}

/// Whether it may fall asleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_can_sleep(
    world: *mut TestudoWorld,
    body: TestudoBody,
    can_sleep: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_can_sleep(id(body), can_sleep != 0)?)) })
}

/// Sets the axes along which contacts do not move it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_locked_axes(
    world: *mut TestudoWorld,
    body: TestudoBody,
    lock_x: TestudoBool,
    lock_y: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_locked_axes(id(body), lock_x != 0, lock_y != 0)?)) })
}

/// Wakes a sleeping body.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_wake_body(
    world: *mut TestudoWorld,
    body: TestudoBody,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.wake_body(id(body))?)) })
}

/// Stops a body and puts it to sleep at once, with all that it touches, directly or through others. It reads all contacts: not for
/// thousands of bodies per frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_sleep_body(
    world: *mut TestudoWorld,
    body: TestudoBody,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.sleep_body(id(body))?)) })
}

/// Whether two bodies pass through each other from the next step on. At most 65,536 pairs (`TESTUDO_FULL`); a pair ends with either
/// of its bodies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_pair_ignored(
    world: *mut TestudoWorld,
    a: TestudoBody,
    b: TestudoBody,
    ignored: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_pair_ignored(id(a), id(b), ignored != 0)?)) })
}

/// Whether two bodies pass through each other by `testudo_world_set_pair_ignored`: 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_is_pair_ignored(
    world: *const TestudoWorld,
    a: TestudoBody,
    b: TestudoBody,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| Ok(world.is_pair_ignored(id(a), id(b)).into())) })
}
