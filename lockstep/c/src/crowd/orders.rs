//! Orders to units.

use testudo_movement::{Formation, Order};
use testudo_physics::{Angle, BodyId, World};

use super::{TestudoCrowd, Walkers, with_both};
use crate::failure::{Failure, Outcome, TestudoStatus, status};
use crate::handle::with;
use crate::number::TestudoAngle;
use crate::pointer::{TestudoBool, list, plain, read, write};
use crate::value::{TestudoBody, TestudoFx, TestudoVec2, fx, id};
use crate::world::TestudoWorld;

/// As close to the goal as there is room.
pub const TESTUDO_FORMATION_DISC: u32 = 0;
/// Rows across the facing, the goal in the middle.
pub const TESTUDO_FORMATION_ROWS: u32 = 1;

/// Greatest number of units in a call.
const UNITS_MAX: u32 = 1 << 20;

/// An order to some units. `testudo_move_order_go` fills it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoMoveOrder {
    /// Where they go, units, each axis within +-16,384.
    pub goal: TestudoVec2,
    /// How they stand there: a `TESTUDO_FORMATION_...`. Default `TESTUDO_FORMATION_DISC`.
    pub formation: u32,
    /// Units in a row, at least 1; a disc has none. Default 0.
    pub files: u32,
    /// Where rows look. Default 0: along the x axis.
    pub facing: TestudoAngle,
    /// Whether all go at the pace of the slowest. Default 0.
    pub together: TestudoBool,
}
plain!(TestudoMoveOrder);

impl TestudoMoveOrder {
    fn order(&self) -> Outcome<Order> {
        let formation = match self.formation {
            TESTUDO_FORMATION_DISC => Formation::Disc,
            TESTUDO_FORMATION_ROWS => Formation::Rows { files: self.files },
            other => return Err(Failure::enumerator("formation", other, TESTUDO_FORMATION_ROWS)),
        };
        let order = Order::go(self.goal.into()).together(self.together != 0);
        Ok(order.formation(formation, Angle::from_bits(self.facing)))
    }
}

/// An order to go to a place and to stand around it as a disc, each unit at its own pace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_move_order_go(
    x: TestudoFx,
    y: TestudoFx,
    out: *mut TestudoMoveOrder,
) -> TestudoStatus {
    let order = TestudoMoveOrder {
        goal: TestudoVec2 { x, y },
        formation: TESTUDO_FORMATION_DISC,
        files: 0,
        facing: 0,
        together: 0,
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, order, "out") })
}

/// The units of a call.
///
/// # Safety
/// The contract of pointers.
unsafe fn named(units: *const TestudoBody, count: u32) -> Outcome<Vec<BodyId>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { list(units, count, UNITS_MAX, "units") }?.into_iter().map(id).collect())
}

/// Sends units to a place, at most 1,048,576 in a call. Each gets a place of its own in the formation; the order in which they are named does not matter, and
/// one that is named twice counts once. Nobody goes if one of them is no unit (`TESTUDO_STALE`), if no open ground is near the goal or the ground was never
/// surveyed (`TESTUDO_REFUSED`), or if too many goals are in use (`TESTUDO_FULL`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_order(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    units: *const TestudoBody,
    count: u32,
    order: *const TestudoMoveOrder,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let (units, order) = unsafe { (named(units, count)?, read(order, "order")?.order()?) };
        let give =
            |walkers: &mut Walkers, world: &mut World| Ok(walkers.crowd.order(world, &units, &order)?);
        // SAFETY: as above.
        unsafe { with_both(crowd, world, give) }
    })
}

/// Sends one unit to a place of its own beside a goal that it shares with others, at its own pace: for games that decide who stands where. All units that are
/// sent to the same goal are one group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_send(
    crowd: *mut TestudoCrowd,
    unit: TestudoBody,
    goal: *const TestudoVec2,
    place: *const TestudoVec2,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let (goal, place) = unsafe { (read(goal, "goal")?, read(place, "place")?) };
        let send = |walkers: &mut Walkers| Ok(walkers.crowd.send(id(unit), goal.into(), place.into())?);
        // SAFETY: as above.
        unsafe { with(crowd, send) }
    })
}

/// A unit goes at a body from now on, wherever that goes, around obstacles, and stands while its middle is no further than `reach` (units, 0..=65,536) from
/// the body's surface. Nothing ends it but another order, `testudo_crowd_stop`, or that the body is removed (`TESTUDO_MOVE_PREY_GONE`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_pursue(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    unit: TestudoBody,
    prey: TestudoBody,
    reach: TestudoFx,
) -> TestudoStatus {
    let pursue = |walkers: &mut Walkers, world: &mut World| {
        Ok(walkers.crowd.pursue(world, id(unit), id(prey), fx(reach))?)
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with_both(crowd, world, pursue) })
}

/// Units stop where they are, at most 1,048,576 in a call. Nobody does if one of them is no unit (`TESTUDO_STALE`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_stop(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    units: *const TestudoBody,
    count: u32,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let units = unsafe { named(units, count) }?;
        let stop = |walkers: &mut Walkers, world: &mut World| Ok(walkers.crowd.stop(world, &units)?);
        // SAFETY: as above.
        unsafe { with_both(crowd, world, stop) }
    })
}
