//! Queries: what is where. They see bodies as they are now.

use testudo_physics::{BodyId, Fx, QueryFilter, RayHit, SweepHit, World};

use crate::body_def::{TestudoFilter, TestudoShape};
use crate::failure::{Outcome, TestudoStatus, count, status};
use crate::handle::with;
use crate::pointer::{TestudoBool, fill, plain, read, read_if, write};
use crate::value::{
    TESTUDO_NO_BODY, TestudoBody, TestudoBox, TestudoFx, TestudoSegment, TestudoVec2, fx, id,
};
use crate::world::TestudoWorld;

/// Which bodies a query finds. `testudo_query_filter_default` fills in: all but sensors. Disabled bodies are never found.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoQueryFilter {
    /// A body that is not found, as the one that casts a ray. Default `TESTUDO_NO_BODY`.
    pub exclude: TestudoBody,
    /// If `has_filter`: only bodies whose filter and this one accept each other are found.
    pub filter: TestudoFilter,
    /// Whether `filter` counts. Default 0.
    pub has_filter: TestudoBool,
    /// Whether bodies other than sensors are found. Default 1.
    pub solids: TestudoBool,
    /// Whether sensors are found. Default 0.
    pub sensors: TestudoBool,
    /// Whether static bodies are found. Default 1.
    pub statics: TestudoBool,
    /// Whether kinematic bodies are found. Default 1.
    pub kinematics: TestudoBool,
    /// Whether dynamic bodies are found. Default 1.
    pub dynamics: TestudoBool,
    /// Whether rays and sweeps hit one-sided terrain from behind, too. Default 0.
    pub both_sides: TestudoBool,
}
plain!(TestudoQueryFilter);

/// What `QueryFilter::new` has.
pub(crate) const DEFAULT: TestudoQueryFilter = TestudoQueryFilter {
    exclude: TESTUDO_NO_BODY,
    filter: TestudoFilter { layers: u32::MAX, mask: u32::MAX },
    has_filter: 0,
    solids: 1,
    sensors: 0,
    statics: 1,
    kinematics: 1,
    dynamics: 1,
    both_sides: 0,
};

impl From<TestudoQueryFilter> for QueryFilter {
    fn from(given: TestudoQueryFilter) -> Self {
        let mut filter = Self::new();
        filter.filter = (given.has_filter != 0).then(|| given.filter.into());
        filter.solids = given.solids != 0;
        filter.sensors = given.sensors != 0;
        filter.statics = given.statics != 0;
        filter.kinematics = given.kinematics != 0;
        filter.dynamics = given.dynamics != 0;
        filter.both_sides = given.both_sides != 0;
        filter.exclude = (given.exclude != TESTUDO_NO_BODY).then(|| id(given.exclude));
        filter
    }
}

/// A body and its distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoNear {
    /// The body.
    pub body: TestudoBody,
    /// From the point to its surface, units; 0 inside.
    pub distance: TestudoFx,
}

/// Where a ray hits a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoRayHit {
    /// The body.
    pub body: TestudoBody,
    /// The point on its surface, or the start of the ray if that lies inside.
    pub point: TestudoVec2,
    /// Outward normal, length 1; zero if the start lies inside.
    pub normal: TestudoVec2,
    /// From the start, units, rounded down.
    pub distance: TestudoFx,
    /// `distance` divided by the length of the ray, 0..=1, rounded down.
    pub fraction: TestudoFx,
}

/// Where a moving shape hits a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoSweepHit {
    /// The body.
    pub body: TestudoBody,
    /// Centre of the moving shape then, or its start if the two overlap there.
    pub position: TestudoVec2,
    /// Where the two touch; `position` if they overlap at the start.
    pub point: TestudoVec2,
    /// Outward normal of the body, length 1; zero if they overlap at the start.
    pub normal: TestudoVec2,
    /// Distance moved, units, rounded down.
    pub distance: TestudoFx,
    /// `distance` divided by the length of the path, 0..=1, rounded down.
    pub fraction: TestudoFx,
}

impl From<RayHit> for TestudoRayHit {
    fn from(hit: RayHit) -> Self {
        Self {
            body: hit.body.to_bits(),
            point: hit.point.into(),
            normal: hit.normal.into(),
            distance: hit.distance.to_bits(),
            fraction: hit.fraction.to_bits(),
        }
    }
}

impl From<SweepHit> for TestudoSweepHit {
    fn from(hit: SweepHit) -> Self {
        Self {
            body: hit.body.to_bits(),
            position: hit.position.into(),
            point: hit.point.into(),
            normal: hit.normal.into(),
            distance: hit.distance.to_bits(),
            fraction: hit.fraction.to_bits(),
        }
    }
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_query_filter_default(out: *mut TestudoQueryFilter) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, DEFAULT, "out") })
}

/// The bodies whose boxes overlap an area, in ascending order of their slots. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_query_area(
    world: *const TestudoWorld,
    area: *const TestudoBox,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<BodyId>| {
        // SAFETY: the contract of pointers.
        world.query_area(unsafe { read(area, "area") }?.into(), filter, found);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, BodyId::to_bits, (out, capacity)) }
}

/// The bodies whose shapes overlap an area, in ascending order of their slots. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_query_area_exact(
    world: *const TestudoWorld,
    area: *const TestudoBox,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<BodyId>| {
        // SAFETY: the contract of pointers.
        world.query_area_exact(unsafe { read(area, "area") }?.into(), filter, found);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, BodyId::to_bits, (out, capacity)) }
}

/// The bodies that contain a point, surfaces included, in ascending order of their slots. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_query_point(
    world: *const TestudoWorld,
    point: *const TestudoVec2,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<BodyId>| {
        // SAFETY: the contract of pointers.
        world.query_point(unsafe { read(point, "point") }?.into(), filter, found);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, BodyId::to_bits, (out, capacity)) }
}

/// The bodies that overlap a shape at a position (within +-20,480 units; extents 0..=4,096), in ascending order of their slots.
/// `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_query_shape(
    world: *const TestudoWorld,
    shape: *const TestudoShape,
    position: *const TestudoVec2,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<BodyId>| {
        // SAFETY: the contract of pointers.
        let (shape, position) = unsafe { (read(shape, "shape")?.shape()?, read(position, "position")?) };
        Ok(world.query_shape(shape, position.into(), filter, found)?)
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, BodyId::to_bits, (out, capacity)) }
}

/// The `capacity` bodies nearest to a point (within +-20,480 units) that are at most `distance` units away, nearest first. Returns how
/// many were found, so never more than `capacity`: meant for a few. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_nearest(
    world: *const TestudoWorld,
    point: *const TestudoVec2,
    distance: TestudoFx,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoNear,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<(BodyId, Fx)>| {
        // SAFETY: the contract of pointers.
        let point = unsafe { read(point, "point") }?.into();
        Ok(world.nearest(point, capacity, fx(distance), filter, found)?)
    };
    let near =
        |(body, distance): (BodyId, Fx)| TestudoNear { body: body.to_bits(), distance: distance.to_bits() };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, near, (out, capacity)) }
}

/// The first body that a ray hits (both ends within +-20,480 units): returns 1 and writes the hit, or 0. A body that contains the
/// start is hit there. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_ray_cast(
    world: *const TestudoWorld,
    ray: *const TestudoSegment,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoRayHit,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<RayHit>| {
        // SAFETY: the contract of pointers.
        let TestudoSegment { from, to } = unsafe { read(ray, "ray") }?;
        found.extend(world.ray_cast(from.into(), to.into(), filter)?);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, Into::into, (out, 1)) }
}

/// All bodies that a ray hits (both ends within +-20,480 units), nearest first. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_ray_cast_all(
    world: *const TestudoWorld,
    ray: *const TestudoSegment,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoRayHit,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<RayHit>| {
        // SAFETY: the contract of pointers.
        let TestudoSegment { from, to } = unsafe { read(ray, "ray") }?;
        Ok(world.ray_cast_all(from.into(), to.into(), filter, found)?)
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, Into::into, (out, capacity)) }
}

/// The first body that a shape hits whose centre moves along a path (both ends within +-20,480 units; extents 0..=4,096): returns 1
/// and writes the hit, or 0. `filter` may be NULL: all but sensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_sweep(
    world: *const TestudoWorld,
    shape: *const TestudoShape,
    path: *const TestudoSegment,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoSweepHit,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<SweepHit>| {
        // SAFETY: the contract of pointers.
        let (shape, path) = unsafe { (read(shape, "shape")?.shape()?, read(path, "path")?) };
        found.extend(world.sweep(shape, path.from.into(), path.to.into(), filter)?);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, Into::into, (out, 1)) }
}

/// All bodies that a moving shape hits, nearest first; otherwise like `testudo_world_sweep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_sweep_all(
    world: *const TestudoWorld,
    shape: *const TestudoShape,
    path: *const TestudoSegment,
    filter: *const TestudoQueryFilter,
    out: *mut TestudoSweepHit,
    capacity: u32,
) -> i32 {
    let question = |world: &World, filter: &QueryFilter, found: &mut Vec<SweepHit>| {
        // SAFETY: the contract of pointers.
        let (shape, path) = unsafe { (read(shape, "shape")?.shape()?, read(path, "path")?) };
        Ok(world.sweep_all(shape, path.from.into(), path.to.into(), filter, found)?)
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(world, filter, question, Into::into, (out, capacity)) }
}

/// Asks a world for a list, writes what there is room for, and returns how many there are.
///
/// # Safety
/// The contract of pointers.
unsafe fn ask<Found, Out: Copy>(
    world: *const TestudoWorld,
    filter: *const TestudoQueryFilter,
    question: impl FnOnce(&World, &QueryFilter, &mut Vec<Found>) -> Outcome<()>,
    shown: impl Fn(Found) -> Out,
    (out, capacity): (*mut Out, u32),
) -> i32 {
    count(|| {
        let mut found = Vec::new();
        // SAFETY: the caller's promise.
        let filter = unsafe { read_if(filter) }.unwrap_or(DEFAULT).into();
        // SAFETY: as above.
        unsafe { with(world, |world| question(world, &filter, &mut found)) }?;
        // SAFETY: as above.
        unsafe { fill(out, capacity, found.into_iter().map(shown)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_physics() {
        assert_eq!(QueryFilter::from(DEFAULT), QueryFilter::new());
    }
}
