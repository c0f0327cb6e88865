//! Terrain: polygons and chains of segments.

use testudo_physics::{CHAIN_POINTS_MAX, ChainDef, Material, POLYGON_POINTS_MAX, PolygonDef, Vec2};

use crate::body::find;
use crate::body_def::TestudoFilter;
use crate::failure::{Failure, Outcome, TestudoStatus, count, status};
use crate::handle::with;
use crate::pointer::{TestudoBool, fill, list, plain, read_if, write};
use crate::value::{TestudoBody, TestudoFx, TestudoVec2, fx};
use crate::world::TestudoWorld;

/// What polygons and chains have beside their points. `testudo_terrain_def_default` fills in defaults.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoTerrainDef {
    /// Coefficient of restitution, 0..=1. Default 0.
    pub restitution: TestudoFx,
    /// Coefficient of contact friction, 0..=4. Default 0.
    pub friction: TestudoFx,
    /// Of a polygon: how far the surface lies outside of the corners and edges, units, 0..=4,096. Default 0. Chains ignore it.
    pub radius: TestudoFx,
    /// Layers and mask. Default layer 0, all layers in the mask.
    pub filter: TestudoFilter,
    /// A value of the game's own; events carry it. Default 0.
    pub user: u64,
    /// Whether it takes part in steps and queries. Default 1.
    pub enabled: TestudoBool,
    /// Of a chain: whether a last segment leads back to the first point. Default 0. Polygons ignore it.
    pub closed: TestudoBool,
    /// Of a chain: whether only its right side, seen along the chain, is solid. Default 0. Polygons ignore it.
    pub one_sided: TestudoBool,
}
plain!(TestudoTerrainDef);

const DEFAULT: TestudoTerrainDef = TestudoTerrainDef {
    restitution: 0,
    friction: 0,
    radius: 0,
    filter: TestudoFilter { layers: 1, mask: u32::MAX },
    user: 0,
    enabled: 1,
    closed: 0,
    one_sided: 0,
};

impl TestudoTerrainDef {
    fn material(&self) -> Material {
        Material::new().restitution(fx(self.restitution)).friction(fx(self.friction))
    }

    fn polygon(&self, points: &[Vec2]) -> PolygonDef {
        PolygonDef::new(points)
            .material(self.material())
            .radius(fx(self.radius))
            .filter(self.filter.into())
            .user(self.user)
            .enabled(self.enabled != 0)
    }

    fn chain(&self, points: &[Vec2]) -> ChainDef {
        ChainDef::new(points)
            .material(self.material())
            .filter(self.filter.into())
            .user(self.user)
            .enabled(self.enabled != 0)
            .closed(self.closed != 0)
            .one_sided(self.one_sided != 0)
    }
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_terrain_def_default(out: *mut TestudoTerrainDef) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, DEFAULT, "out") })
}

/// Creates a solid convex polygon that never moves: rocks, ramps, buildings. 3 to 8 corners in either direction, units, each axis
/// within +-16,384; neighbours at least 1/1,024 apart. `def` may be NULL: defaults. `out` (may be NULL) gets the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_create_polygon(
    world: *mut TestudoWorld,
    def: *const TestudoTerrainDef,
    points: *const TestudoVec2,
    point_count: u32,
    out: *mut TestudoBody,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let def = unsafe { read_if(def) }.unwrap_or(DEFAULT);
        // SAFETY: as above.
        let points = unsafe { points_of(points, point_count, POLYGON_POINTS_MAX) }?;
        // SAFETY: as above.
        let body = unsafe { with(world, |world| Ok(world.create_polygon(&def.polygon(&points))?)) }?;
        // SAFETY: as above.
        if out.is_null() { Ok(()) } else { unsafe { write(out, body.to_bits(), "out") } }
    })
}

/// Creates a chain of segments that form one surface: ground, cliffs, the outline of a map. 2 to 16,384 points (3 if it is closed),
/// units, each axis within +-16,384; neighbours at least 1/1,024 and on each axis at most 8,192 apart. `def` may be NULL: defaults.
/// Returns how many segments there are; `out` gets the handle of each, in order. They are `point_count` if it is closed, else one
/// less. Each call makes a chain, also one with a `capacity` of 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_create_chain(
    world: *mut TestudoWorld,
    def: *const TestudoTerrainDef,
    points: *const TestudoVec2,
    point_count: u32,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    count(|| {
        if out.is_null() && capacity > 0 {
            return Err(Failure::null("out"));
        }
        // SAFETY: the contract of pointers.
        let def = unsafe { read_if(def) }.unwrap_or(DEFAULT);
        // SAFETY: as above.
        let points = unsafe { points_of(points, point_count, CHAIN_POINTS_MAX) }?;
        // SAFETY: as above.
        let bodies = unsafe { with(world, |world| Ok(world.create_chain(&def.chain(&points))?)) }?;
        // SAFETY: as above.
        unsafe { fill(out, capacity, bodies.iter().map(|body| body.to_bits())) }
    })
}

/// The corners of a polygon (counter-clockwise) or the two ends of a chain's segment, units. None for other bodies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_terrain_points(
    world: *const TestudoWorld,
    body: TestudoBody,
    out: *mut TestudoVec2,
    capacity: u32,
) -> i32 {
    count(|| {
        // SAFETY: the contract of pointers.
        unsafe {
            with(world, |world| {
                let terrain = find(world, body)?.terrain();
                fill(out, capacity, terrain.into_iter().flat_map(|terrain| terrain.points()).map(Into::into))
            })
        }
    })
}

/// # Safety
/// `points` is NULL or `count` points can be read there.
unsafe fn points_of(points: *const TestudoVec2, count: u32, max: u32) -> Outcome<Vec<Vec2>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { list(points, count, max, "points") }?.into_iter().map(Into::into).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_physics() {
        let corners = [(0, 0), (4, 0), (0, 4)].map(|(x, y)| Vec2::from_ints(x, y));
        assert_eq!(DEFAULT.polygon(&corners), PolygonDef::new(&corners));
        assert_eq!(DEFAULT.chain(&corners), ChainDef::new(&corners));
    }
}
