//! The ground of a crowd: where units can be, and paths over it.

use testudo_movement::{Corner, PathError, SizeClass};
use testudo_physics::World;

use super::{TestudoCrowd, Walkers, too_far, with_both};
use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TestudoStatus, count, status};
use crate::handle::with;
use crate::pointer::{fill, plain, read, write};
use crate::value::{TestudoBox, TestudoFx, TestudoSegment, TestudoVec2, fx};
use crate::world::TestudoWorld;

/// A corner of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoCorner {
    /// Where it is, units.
    pub at: TestudoVec2,
    /// Length of the path from here to its end, units.
    pub left: TestudoFx,
}
plain!(TestudoCorner);

impl From<&Corner> for TestudoCorner {
    fn from(corner: &Corner) -> Self {
        Self { at: corner.at.into(), left: corner.left.to_bits() }
    }
}

impl Walkers {
    /// The size of the ground that units of this radius use.
    pub(super) fn size_of(&self, radius: TestudoFx) -> Outcome<SizeClass> {
        self.crowd.ground().size_of(fx(radius)).ok_or_else(|| {
            let words = format!("a radius of {} is above the greatest size of the ground", fx(radius));
            Failure::new(TESTUDO_OUT_OF_RANGE, words)
        })
    }
}

/// Looks at all obstacles of the world: call it when the walls stand, also if there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_survey(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
) -> TestudoStatus {
    let survey = |walkers: &mut Walkers, world: &mut World| {
        walkers.crowd.survey(world);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with_both(crowd, world, survey) })
}

/// Looks again at the obstacles in and around an area: call it with the box around a building that came or went, in the same frame. Nothing changes if the
/// area is empty, its `min` above its `max`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_survey_area(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    area: *const TestudoBox,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let area = unsafe { read(area, "area") }?.into();
        let survey = |walkers: &mut Walkers, world: &mut World| {
            walkers.crowd.survey_area(world, area);
            Ok(())
        };
        // SAFETY: as above.
        unsafe { with_both(crowd, world, survey) }
    })
}

/// Sets the cost of all cells whose middles lie in an area: 0 closes them, 1 is ordinary ground, more makes paths through them that many times as long, up to
/// 15.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_set_cost(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    area: *const TestudoBox,
    cost: u32,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let area = unsafe { read(area, "area") }?.into();
        // What is above a byte is above all costs.
        let cost = u8::try_from(cost).unwrap_or(u8::MAX);
        let set = |walkers: &mut Walkers, world: &mut World| Ok(walkers.crowd.set_cost(world, area, cost)?);
        // SAFETY: as above.
        unsafe { with_both(crowd, world, set) }
    })
}

/// Whether a unit of this radius (units) can be in the cell of a point and leave it: 0 or 1. A point outside of the area counts as the nearest cell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_is_open(
    crowd: *const TestudoCrowd,
    point: *const TestudoVec2,
    radius: TestudoFx,
) -> i32 {
    count(|| {
        // SAFETY: the contract of pointers.
        let point = unsafe { read(point, "point") }?.into();
        let is_open = |walkers: &mut Walkers| {
            Ok(walkers.crowd.ground().is_open(point, walkers.size_of(radius)?).into())
        };
        // SAFETY: as above.
        unsafe { with(crowd, is_open) }
    })
}

/// Where a unit of this radius (units) can be, nearest to a point: returns 1 and writes it, or 0 if nothing is open within 32 cells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_nearest_open(
    crowd: *const TestudoCrowd,
    point: *const TestudoVec2,
    radius: TestudoFx,
    out: *mut TestudoVec2,
) -> i32 {
    count(|| {
        // SAFETY: the contract of pointers.
        let point = unsafe { read(point, "point") }?.into();
        let nearest = |walkers: &mut Walkers| {
            let size = walkers.size_of(radius)?;
            let Some(open) = walkers.crowd.ground().nearest_open(point, size) else { return Ok(0) };
            // SAFETY: the contract of pointers.
            unsafe { write(out, open.into(), "out") }?;
            Ok(1)
        };
        // SAFETY: as above.
        unsafe { with(crowd, nearest) }
    })
}

/// A path for a unit of this radius (units) that is hardly longer than the shortest one, as its corners: first the start, last the end. Returns how many there
/// are, 0 if no path exists. The search looks at no more than `cells_max` cells; if there is more ground it is `TESTUDO_FULL`. Orders need no such call: it is
/// for what a game decides, as where to build. Ends in closed cells count as the nearest open ones, at most 32 cells away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_find_path(
    crowd: *mut TestudoCrowd,
    ends: *const TestudoSegment,
    radius: TestudoFx,
    cells_max: u32,
    out: *mut TestudoCorner,
    capacity: u32,
) -> i32 {
    count(|| {
        // SAFETY: the contract of pointers.
        let ends = unsafe { read(ends, "ends") }?;
        let find = |walkers: &mut Walkers| {
            let size = walkers.size_of(radius)?;
            let Walkers { crowd, paths, .. } = walkers;
            let ends = [ends.from.into(), ends.to.into()];
            let corners = match paths.find(crowd.ground(), ends, size, cells_max) {
                Ok(corners) => corners,
                Err(PathError::TooFar) => return Err(too_far(cells_max)),
                Err(_) => &[],
            };
            // SAFETY: the contract of pointers.
            unsafe { fill(out, capacity, corners.iter().map(Into::into)) }
        };
        // SAFETY: as above.
        unsafe { with(crowd, find) }
    })
}
