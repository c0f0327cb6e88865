//! Worlds: settings, steps, state.

use std::ffi::{CStr, c_char};

use testudo_physics::{BodyField, World};

use crate::buffer::{TestudoBuffer, difference};
use crate::failure::{Failure, TestudoStatus, status, value};
use crate::handle::{Handle, change, free, give, opaque, with};
use crate::pointer::{bytes, read, read_if, write};
use crate::value::{TestudoBody, TestudoBox, TestudoFx, TestudoVec2, id, vec2};
use crate::world_def::TestudoWorldDef;

/// A world: bodies that collide, rest and sleep. The same calls in the same order give the same bits on every machine.
#[derive(Debug)]
pub struct TestudoWorld(Handle<World>);
opaque!(TestudoWorld, World, "world");

/// A new, empty world. `def` may be NULL: then it has the default settings. Free it with `testudo_world_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_new(
    def: *const TestudoWorldDef,
    out: *mut *mut TestudoWorld,
) -> TestudoStatus {
    let make = || {
        // SAFETY: the contract of pointers.
        let def = unsafe { read_if(def) }.map_or_else(|| Ok(Default::default()), |def| def.def())?;
        Ok(World::new(def)?)
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, make) })
}

/// A copy of a world, which goes on by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_clone(
    world: *const TestudoWorld,
    out: *mut *mut TestudoWorld,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, || with(world, |world| Ok(world.clone()))) })
}

/// Frees a world. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_free(world: *mut TestudoWorld) {
    // SAFETY: the contract of pointers.
    unsafe { free(world) }
}

/// One frame of 1/`frames_per_second` seconds, 1..=1,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_step(
    world: *mut TestudoWorld,
    frames_per_second: u32,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.step(frames_per_second)?)) })
}

/// Number of steps so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_frame(world: *const TestudoWorld) -> u64 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(world, |world| Ok(world.frame())) })
}

/// 64-bit hash of the whole state. Two worlds with the same checksum evolve alike under the same calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_checksum(world: *const TestudoWorld) -> u64 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(world, |world| Ok(world.checksum())) })
}

/// Number of bodies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_body_count(world: *const TestudoWorld) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(world, |world| Ok(world.body_count())) })
}

/// Name of the instruction set that this world uses, for logs: "avx2", "neon", ... It does not affect the bits. Valid for ever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_instruction_set(world: *const TestudoWorld) -> *const c_char {
    const NAMES: [&CStr; 7] = [c"plain", c"sse2", c"sse4.2", c"avx2", c"avx512", c"neon", c"simd128"];
    // SAFETY: the contract of pointers.
    let name = value("", || unsafe { with(world, |world| Ok(world.instruction_set())) });
    NAMES.iter().find(|known| known.to_bytes() == name.as_bytes()).unwrap_or(&c"").as_ptr()
}

/// Acceleration of every dynamic body, units/s^2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_gravity(
    world: *const TestudoWorld,
    out: *mut TestudoVec2,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| write(out, world.gravity().into(), "out")) })
}

/// Where the centres of bodies that can move are held, units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_bounds(
    world: *const TestudoWorld,
    out: *mut TestudoBox,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| write(out, world.bounds().into(), "out")) })
}

/// Sets the acceleration of every dynamic body, units/s^2, each axis within +-1,024. Wakes all bodies if it changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_gravity(
    world: *mut TestudoWorld,
    x: TestudoFx,
    y: TestudoFx,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.set_gravity(vec2(x, y))?)) })
}

/// Sets where the centres of bodies that can move are held, within +-16,384 units. Bodies beyond are placed at the nearest point
/// inside.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_set_bounds(
    world: *mut TestudoWorld,
    bounds: *const TestudoBox,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let bounds = unsafe { read(bounds, "bounds") }?;
        // SAFETY: as above.
        unsafe { with(world, |world| Ok(world.set_bounds(bounds.into())?)) }
    })
}

/// Adds the whole state to a buffer. In the restored world handles stay valid, and new bodies get the same handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_save(
    world: *const TestudoWorld,
    buffer: *mut TestudoBuffer,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| change(buffer, |bytes| world.append_snapshot(bytes))) })
}

/// Goes to a saved state, from bytes of any origin. A world that refuses them (`TESTUDO_DAMAGED`, `TESTUDO_VERSION`) stays as it
/// is. Lists of events are empty afterwards, and drawing does not interpolate across it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_load(
    world: *mut TestudoWorld,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.load(bytes(data, length)?)?)) })
}

/// Like `testudo_world_load`, but only for bytes that this program itself has saved: it is faster, because it verifies nothing but
/// their checksum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_restore(
    world: *mut TestudoWorld,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.restore(bytes(data, length)?)?)) })
}

/// A new world in a saved state, from bytes of any origin. It lists neither hits nor contacts that stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_from_bytes(
    data: *const u8,
    length: usize,
    out: *mut *mut TestudoWorld,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, || Ok(World::from_bytes(bytes(data, length)?)?)) })
}

/// Checks that the state keeps all limits and invariants, as loading does. It can only fail after `testudo_world_restore` or
/// `testudo_world_flip_bit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_validate(world: *const TestudoWorld) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(world, |world| Ok(world.validate()?)) })
}

/// Whether two worlds differ: 0 or 1. If they do, `words` (may be NULL) gets the first number in which they do, as UTF-8 text
/// with a 0 at its end: "bodies: body 0.0, position.x: 0 here, 16 there". It replaces what the buffer held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_first_difference(
    here: *const TestudoWorld,
    there: *const TestudoWorld,
    words: *mut TestudoBuffer,
) -> i32 {
    // SAFETY: the contract of pointers.
    unsafe { difference((here, there), words, World::first_difference) }
}

/// Flips a bit of a body's field, as broken memory or a differing compiler would: to try how a game tells of a desync.
///
/// `field`: a `TESTUDO_FIELD_...`. `bit`: counted from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_flip_bit(
    world: *mut TestudoWorld,
    body: TestudoBody,
    field: u32,
    bit: u32,
) -> TestudoStatus {
    status(|| {
        let field = match field {
            TESTUDO_FIELD_POSITION_X => BodyField::PositionX,
            TESTUDO_FIELD_POSITION_Y => BodyField::PositionY,
            TESTUDO_FIELD_VELOCITY_X => BodyField::VelocityX,
            TESTUDO_FIELD_VELOCITY_Y => BodyField::VelocityY,
            TESTUDO_FIELD_USER => BodyField::User,
            other => return Err(Failure::enumerator("field", other, TESTUDO_FIELD_USER)),
        };
        // SAFETY: the contract of pointers.
        unsafe { with(world, |world| Ok(world.flip_bit(id(body), field, bit)?)) }
    })
}

/// A field for `testudo_world_flip_bit`: the centre, 32 bits.
pub const TESTUDO_FIELD_POSITION_X: u32 = 0;
/// The centre, 32 bits.
pub const TESTUDO_FIELD_POSITION_Y: u32 = 1;
/// The velocity, 32 bits.
pub const TESTUDO_FIELD_VELOCITY_X: u32 = 2;
/// The velocity, 32 bits.
pub const TESTUDO_FIELD_VELOCITY_Y: u32 = 3;
/// The game's own value, 64 bits.
pub const TESTUDO_FIELD_USER: u32 = 4;
