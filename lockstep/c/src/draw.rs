//! What a picture shows: the only floats that leave this package.
#![expect(clippy::disallowed_types, reason = "for drawing")]

use testudo_physics::BodyRef;

use crate::failure::count;
use crate::handle::with;
use crate::pointer::fill;
use crate::value::TestudoBody;
use crate::world::TestudoWorld;

/// Where to draw a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct TestudoDrawn {
    /// The body.
    pub body: TestudoBody,
    /// Units.
    pub x: f32,
    /// Units.
    pub y: f32,
}

/// Where to draw every body, oldest first. `alpha`: 0 is the position before the last step, 65,536 the present one
/// (`testudo_match_alpha`). These numbers are for drawing: no rule of a game may read them. Call it in the thread that runs the match of this world: while this
/// call runs, `testudo_world_step` in another thread is refused, and that is a desync.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_interpolated(
    world: *const TestudoWorld,
    alpha: u32,
    out: *mut TestudoDrawn,
    capacity: u32,
) -> i32 {
    let drawn = |body: BodyRef<'_>| {
        let [x, y] = body.interpolated_position(alpha);
        TestudoDrawn { body: body.id().to_bits(), x, y }
    };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.bodies().map(drawn))) })
}
