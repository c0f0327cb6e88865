//! What a ray, or a circle on its way, meets first.
//!
//! A circle that moves along a segment meets a shape where its centre meets the shape grown by the circle's radius
//! ([`crate::rounded_box`]), so a ray is the circle of radius 0 and both share everything.
//!
//! Whether something is met is decided exactly. The place is rounded toward the origin: it is less than two raw units
//! (2/65,536) before the exact one, never behind it.

use alloc::vec::Vec;

use crate::body::{raw, vec2};
use crate::body_id::BodyId;
use crate::num::{EXTENT_MAX, Fx};
use crate::quadtree::RawBox;
use crate::query::{QueryError, query_point};
use crate::query_filter::QueryFilter;
use crate::rounded_box::{Cast, FRACTION_BITS, RoundedBox, Segment, Side, normal};
use crate::search::{Candidates, Search};
use crate::vec2::Vec2;
use crate::world::World;

/// How far beyond the best hit another one may lie and still be as near once both are rounded, raw units.
const SLACK: i32 = 8;

/// Where a ray meets a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RayHit {
    /// The body.
    pub body: BodyId,
    /// The point on its surface; the ray's origin when that lies inside the body.
    pub point: Vec2,
    /// Outward normal of the surface there, length 1; zero when the origin lies inside the body.
    pub normal: Vec2,
    /// Distance from the origin in units, rounded down.
    pub distance: Fx,
    /// Part of the ray's length, 0..=1, rounded down to 1/65,536. `distance` is the finer one on rays longer than a unit.
    pub fraction: Fx,
}

/// Where a moving circle meets a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepHit {
    /// The body.
    pub body: BodyId,
    /// Centre of the circle when it touches the body; where it starts when it overlaps the body there.
    pub position: Vec2,
    /// The point where they touch; the same as `position` when they overlap at the start.
    pub point: Vec2,
    /// Outward normal of the body's surface there, length 1; zero when they overlap at the start.
    pub normal: Vec2,
    /// How far the circle came, units, rounded down.
    pub distance: Fx,
    /// Part of its way, 0..=1, rounded down to 1/65,536.
    pub fraction: Fx,
}

impl World {
    /// The first body that the ray from `origin` to `end` meets. Equally distant bodies (to 1/65,536): the one in the lower
    /// slot ([`BodyId::index`]).
    ///
    /// Both ends belong to the ray, and touching a surface is meeting it. A body that contains the origin is met there, at
    /// distance 0 and with a zero normal; use [`QueryFilter::exclude`] for the body that looks.
    ///
    /// # Errors
    /// [`QueryError::Point`] when a component of `origin` or `end` is beyond +-20,480 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let wall = BodyDef::fixed(Shape::Rect { half_extents: Vec2::from_ints(1, 5) });
    /// let wall = world.create_body(&wall.position(Vec2::from_ints(6, 0))).unwrap();
    /// let hit = world.ray_cast(Vec2::ZERO, Vec2::from_ints(10, 0), &QueryFilter::new()).unwrap().unwrap();
    /// assert_eq!(hit.body, wall);
    /// assert_eq!((hit.point, hit.normal), (Vec2::from_ints(5, 0), Vec2::from_ints(-1, 0)));
    /// assert_eq!((hit.distance, hit.fraction), (Fx::from_num(5), Fx::ONE / 2));
    /// ```
    pub fn ray_cast(
        &self,
        origin: Vec2,
        end: Vec2,
        filter: &QueryFilter,
    ) -> Result<Option<RayHit>, QueryError> {
        let path = Path::new(query_point(origin, "origin")?, query_point(end, "end")?, 0);
        Ok(path.first(self, filter).map(|met| path.ray_hit(self, &met)))
    }

    /// All bodies that the ray from `origin` to `end` meets, by distance, equal distances in ascending order of slots.
    /// Otherwise as [`Self::ray_cast`]. `out` is emptied first.
    ///
    /// # Errors
    /// As [`Self::ray_cast`].
    pub fn ray_cast_all(
        &self,
        origin: Vec2,
        end: Vec2,
        filter: &QueryFilter,
        out: &mut Vec<RayHit>,
    ) -> Result<(), QueryError> {
        out.clear();
        let path = Path::new(query_point(origin, "origin")?, query_point(end, "end")?, 0);
        let candidates = Candidates::new(self, filter);
        let area = path.area(1 << FRACTION_BITS, 0);
        self.search(&mut All { path: &path, area, world: self, candidates, out });
        out.sort_unstable_by_key(|hit| (hit.distance, hit.body.index));
        Ok(())
    }

    /// The first body that a circle meets on its way from `from` to `to`. Equally distant bodies (to 1/65,536): the one in
    /// the lower slot ([`BodyId::index`]).
    ///
    /// A body that the circle overlaps or touches at the start is met there, at distance 0 and with a zero normal. The way
    /// back is free then, but so is the way further in: decide by the bodies' positions.
    ///
    /// # Errors
    /// [`QueryError::Point`] when a component of `from` or `to` is beyond +-20,480 units, [`QueryError::Radius`] when
    /// the radius is not in 0..=4,096 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let wall = BodyDef::fixed(Shape::Rect { half_extents: Vec2::from_ints(1, 5) });
    /// world.create_body(&wall.position(Vec2::from_ints(6, 0))).unwrap();
    /// let everything = QueryFilter::new();
    /// let hit = world.sweep_circle(Vec2::ZERO, Vec2::from_ints(10, 0), Fx::ONE, &everything).unwrap().unwrap();
    /// assert_eq!((hit.position, hit.point), (Vec2::from_ints(4, 0), Vec2::from_ints(5, 0)));
    /// ```
    pub fn sweep_circle(
        &self,
        from: Vec2,
        to: Vec2,
        radius: Fx,
        filter: &QueryFilter,
    ) -> Result<Option<SweepHit>, QueryError> {
        let (from, to) = (query_point(from, "from")?, query_point(to, "to")?);
        if !(Fx::ZERO..=EXTENT_MAX).contains(&radius) {
            return Err(QueryError::Radius);
        }
        let path = Path::new(from, to, raw(radius));
        Ok(path.first(self, filter).map(|met| path.sweep_hit(self, &met)))
    }
}

/// The way of a circle.
struct Path {
    segment: Segment,
    /// Length of the segment, raw units.
    length: u64,
    /// Radius of the circle; 0 for a ray.
    radius: i32,
    /// The axis along which the segment is longer.
    // not state: lives for one query
    axis: usize,
}

/// A body that a path meets.
#[derive(Clone, Copy)]
struct Met {
    /// Raw units, rounded down.
    distance: u64,
    slot: u32,
    cast: Cast,
}

impl Path {
    fn new(from: [i32; 2], to: [i32; 2], radius: i32) -> Self {
        let segment = Segment::new(from, to);
        let axis = usize::from(segment.delta[1].abs() > segment.delta[0].abs());
        Self { segment, length: segment.length(), radius, axis }
    }

    /// The box around the way up to `place`.
    fn area(&self, place: u64, slack: i32) -> RawBox {
        let (from, to) = (self.segment.from, self.segment.point(place));
        RawBox {
            min: [from[0].min(to[0]), from[1].min(to[1])],
            max: [from[0].max(to[0]), from[1].max(to[1])],
        }
        .grown(self.radius + slack)
    }

    /// How far along the longer axis the way enters a box at the earliest, raw units; `None` when it passes by. The box
    /// overlaps the box around the way already, so that only the line through it has to be looked at.
    #[inline]
    fn least(&self, bounds: &RawBox) -> Option<u64> {
        // Everything seen from the segment's begin. Below 2^31.5 each, as is the segment: products fit, sums do not.
        let [x, y] = [0, 1].map(|axis| {
            let origin = i64::from(self.segment.from[axis]);
            let radius = i64::from(self.radius);
            let low = i64::from(bounds.min[axis]) - radius - origin;
            [low, i64::from(bounds.max[axis]) + radius - origin]
        });
        let [dx, dy] = self.segment.delta;
        let (right, down) = (usize::from(dx >= 0), usize::from(dy < 0));
        // All four corners on one side of the line.
        if dx * y[right] < dy * x[down] || dx * y[1 - right] > dy * x[1 - down] {
            return None;
        }
        let along = if self.axis == 0 { x } else { y };
        let entry = if self.segment.delta[self.axis] >= 0 { along[0] } else { -along[1] };
        Some(entry.max(0) as u64)
    }

    fn meet(&self, slot: u32, candidates: &Candidates<'_>) -> Option<Met> {
        let body = candidates.get(slot)?;
        let cast = RoundedBox::of(body).grown(self.radius).cast(&self.segment)?;
        Some(Met { distance: (cast.place * self.length) >> FRACTION_BITS, slot, cast })
    }

    fn first(&self, world: &World, filter: &QueryFilter) -> Option<Met> {
        let mut first = First {
            path: self,
            candidates: Candidates::new(world, filter),
            area: self.area(1 << FRACTION_BITS, 0),
            reach: self.segment.delta[self.axis].unsigned_abs(),
            best: None,
        };
        world.search(&mut first);
        first.best
    }

    fn fraction(&self, distance: u64) -> Fx {
        Fx::from_bits((distance << Fx::FRAC_NBITS).checked_div(self.length).unwrap_or(0) as i64)
    }

    fn ray_hit(&self, world: &World, met: &Met) -> RayHit {
        RayHit {
            body: world.body_id(met.slot),
            point: vec2(self.segment.point(met.cast.place)),
            normal: vector(normal(&self.segment, &met.cast)),
            distance: Fx::from_bits(met.distance as i64),
            fraction: self.fraction(met.distance),
        }
    }

    /// Where the circle at `position` touches an outline of the given radius, within a raw unit or two.
    fn touching_point(&self, position: [i32; 2], radius: i32, cast: &Cast) -> [i32; 2] {
        let mut point = position;
        match cast.side {
            Side::Inside => {}
            Side::Face(axis) => point[axis] += self.segment.delta[axis].signum() as i32 * self.radius,
            Side::Corner(corner) => {
                // From the corner towards the circle, as far as the outline's own radius.
                let whole = i64::from(radius + self.radius);
                for axis in 0..2 {
                    let out = i64::from(position[axis] - corner[axis]) * i64::from(radius);
                    point[axis] = corner[axis] + (out / whole) as i32;
                }
            }
        }
        point
    }

    fn sweep_hit(&self, world: &World, met: &Met) -> SweepHit {
        let position = self.segment.point(met.cast.place);
        let normal = normal(&self.segment, &met.cast);
        let body = &world.bodies[met.slot as usize];
        SweepHit {
            body: world.body_id(met.slot),
            position: vec2(position),
            point: vec2(self.touching_point(position, body.radius, &met.cast)),
            normal: vector(normal),
            distance: Fx::from_bits(met.distance as i64),
            fraction: self.fraction(met.distance),
        }
    }
}

fn vector(v: [i64; 2]) -> Vec2 {
    Vec2::new(Fx::from_bits(v[0]), Fx::from_bits(v[1]))
}

/// The search for the first body on a path; the measure is the way along the longer axis.
struct First<'a> {
    path: &'a Path,
    candidates: Candidates<'a>,
    area: RawBox,
    reach: u64,
    best: Option<Met>,
}

impl Search for First<'_> {
    fn area(&self) -> &RawBox {
        &self.area
    }

    fn least(&self, bounds: &RawBox) -> Option<u64> {
        self.path.least(bounds)
    }

    fn reaches(&self, way: u64) -> bool {
        way <= self.reach
    }

    fn visit(&mut self, slot: u32) {
        let Some(met) = self.path.meet(slot, &self.candidates) else { return };
        if self.best.is_some_and(|best| (best.distance, best.slot) < (met.distance, met.slot)) {
            return;
        }
        self.best = Some(met);
        self.area = self.path.area(met.cast.place, SLACK);
        let axis = self.path.axis;
        let (from, to) = (self.path.segment.from, self.path.segment.point(met.cast.place));
        self.reach = u64::from(from[axis].abs_diff(to[axis])) + SLACK as u64;
    }
}

/// The search for every body on a path.
struct All<'a> {
    path: &'a Path,
    area: RawBox,
    world: &'a World,
    candidates: Candidates<'a>,
    out: &'a mut Vec<RayHit>,
}

impl Search for All<'_> {
    fn area(&self) -> &RawBox {
        &self.area
    }

    fn least(&self, bounds: &RawBox) -> Option<u64> {
        self.path.least(bounds)
    }

    fn reaches(&self, _way: u64) -> bool {
        true
    }

    fn visit(&mut self, slot: u32) {
        if let Some(met) = self.path.meet(slot, &self.candidates) {
            self.out.push(self.path.ray_hit(self.world, &met));
        }
    }
}
