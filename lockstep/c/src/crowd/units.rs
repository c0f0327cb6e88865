//! Who is a unit, and what units say.

use testudo_movement::{MoveEvent, MoverDef};
use testudo_physics::World;

use super::{TestudoCrowd, Walkers, with_both};
use crate::failure::{Failure, TESTUDO_STALE, TestudoStatus, count, status};
use crate::handle::with;
use crate::pointer::{TestudoBool, fill, write};
use crate::value::{TESTUDO_NO_BODY, TestudoBody, TestudoFx, TestudoVec2, fx, id};
use crate::world::TestudoWorld;

/// What a unit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoUnitState {
    /// Where it stands or wants to stand, units.
    pub post: TestudoVec2,
    /// Whom it pursues, or `TESTUDO_NO_BODY`.
    pub prey: TestudoBody,
    /// Whether it is on its way.
    pub going: TestudoBool,
    /// Whether it is on its way and stands, because the search for its path has not come to it yet.
    pub waiting: TestudoBool,
}

/// It stands at its place, or as near as the others let it.
pub const TESTUDO_MOVE_ARRIVED: u32 = 0;
/// No path leads from it to its goal; it stands.
pub const TESTUDO_MOVE_UNREACHABLE: u32 = 1;
/// It did not get nearer to its goal for 20 s; it stands.
pub const TESTUDO_MOVE_GAVE_UP: u32 = 2;
/// Its body is gone; it is no unit any more.
pub const TESTUDO_MOVE_GONE: u32 = 3;
/// The body that it pursued is gone; it stands.
pub const TESTUDO_MOVE_PREY_GONE: u32 = 4;
/// Anything else.
pub const TESTUDO_MOVE_OTHER: u32 = 255;

/// What happened to a unit in the last step of its crowd. A unit ends each order to go somewhere with one event, unless another order comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoMoveEvent {
    /// The unit.
    pub unit: TestudoBody,
    /// A `TESTUDO_MOVE_...`.
    pub kind: u32,
}

impl From<&MoveEvent> for TestudoMoveEvent {
    fn from(event: &MoveEvent) -> Self {
        let (unit, kind) = match event {
            MoveEvent::Arrived(unit) => (unit.to_bits(), TESTUDO_MOVE_ARRIVED),
            MoveEvent::Unreachable(unit) => (unit.to_bits(), TESTUDO_MOVE_UNREACHABLE),
            MoveEvent::GaveUp(unit) => (unit.to_bits(), TESTUDO_MOVE_GAVE_UP),
            MoveEvent::Gone(unit) => (unit.to_bits(), TESTUDO_MOVE_GONE),
            MoveEvent::PreyGone(unit) => (unit.to_bits(), TESTUDO_MOVE_PREY_GONE),
            _ => (TESTUDO_NO_BODY, TESTUDO_MOVE_OTHER),
        };
        Self { unit, kind }
    }
}

/// Makes a dynamic body a unit; it stands. `speed`: its greatest speed, units/s, above 0..=1,024; 3 suits a unit of one unit across. `acceleration`: the
/// greatest change of its velocity, units/s^2, above 0..=1,024; ten times its speed is usual. A unit that is one already gets the new numbers, and loses its
/// order without an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_add(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    body: TestudoBody,
    speed: TestudoFx,
    acceleration: TestudoFx,
) -> TestudoStatus {
    let def = MoverDef { speed: fx(speed), acceleration: fx(acceleration) };
    let add = |walkers: &mut Walkers, world: &mut World| Ok(walkers.crowd.add(world, id(body), def)?);
    // SAFETY: the contract of pointers.
    status(|| unsafe { with_both(crowd, world, add) })
}

/// A body is no unit any more; it keeps its velocity. Returns whether it was one: 0 or 1. Units whose bodies are removed leave by themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_remove(
    crowd: *mut TestudoCrowd,
    world: *mut TestudoWorld,
    body: TestudoBody,
) -> i32 {
    let remove = |walkers: &mut Walkers, world: &mut World| Ok(walkers.crowd.remove(world, id(body)).into());
    // SAFETY: the contract of pointers.
    count(|| unsafe { with_both(crowd, world, remove) })
}

/// What a unit is about. `TESTUDO_STALE` if the body is no unit (any more).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_unit_state(
    crowd: *const TestudoCrowd,
    unit: TestudoBody,
    out: *mut TestudoUnitState,
) -> TestudoStatus {
    let state = |walkers: &mut Walkers| {
        let (crowd, unit) = (&walkers.crowd, id(unit));
        let all = (crowd.post(unit), crowd.is_going(unit), crowd.is_waiting(unit));
        let (Some(post), Some(going), Some(waiting)) = all else {
            return Err(Failure::new(TESTUDO_STALE, format!("body {unit} is no unit of this crowd")));
        };
        let prey = crowd.prey(unit).map_or(TESTUDO_NO_BODY, |prey| prey.to_bits());
        let state =
            TestudoUnitState { post: post.into(), prey, going: going.into(), waiting: waiting.into() };
        // SAFETY: the contract of pointers.
        unsafe { write(out, state, "out") }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(crowd, state) })
}

/// What happened in the last `testudo_crowd_step`: first who is gone, then whose prey is gone, then all else, in ascending order of the bodies' slots.
/// Empty after `testudo_crowd_load`: what follows from them is to be done in the frame of that step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_events(
    crowd: *const TestudoCrowd,
    out: *mut TestudoMoveEvent,
    capacity: u32,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe {
        with(crowd, |walkers| fill(out, capacity, walkers.crowd.events().iter().map(Into::into)))
    })
}
