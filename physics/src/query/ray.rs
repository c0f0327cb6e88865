//! Rays and moving circles and rectangles: what they hit.
//!
//! A shape that moves along a segment hits a body where its centre hits the body's outline grown by the shape
//! ([`crate::collide::rounded_box`]). A ray is a circle of radius 0.
//!
//! Hit or miss is decided exactly. The hit point is rounded toward the start: it lies less than two raw units (2/65,536) before the exact
//! point, never behind it. Terrain is met within a raw unit: see [`crate::collide::polygon`].

use alloc::vec::Vec;

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, u32x8};

use crate::body::id::BodyId;
use crate::body::record::vec2;
use crate::body::shape::Shape;
use crate::body::slot::Slot;
use crate::collide::rounded_box::{Cast, FRACTION_BITS, RoundedBox, Segment, Side, normal};
use crate::math::axes::both;
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::lanes::upper_product;
use crate::math::num::{EXTENT_MAX, Fx};
use crate::math::vec2::Vec2;
use crate::query::areas::{QueryError, check, raw_point, raw_shape};
use crate::query::filter::QueryFilter;
use crate::query::outline;
use crate::query::search::Candidates;
use crate::tree::search::Search;
use crate::world::World;

/// Two hits whose distances differ by no more than this may be equally near once both are rounded, raw units.
const SLACK: u32 = 8;

/// The point where a ray hits a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RayHit {
    /// The body.
    pub body: BodyId,
    /// The point on its surface, or the ray's origin if that lies inside the body.
    pub point: Vec2,
    /// Outward normal of the surface at the hit, length 1; zero if the origin lies inside the body.
    pub normal: Vec2,
    /// Distance from the origin in units, rounded down.
    pub distance: Fx,
    /// `distance` divided by the ray's length, 0..=1, rounded down to 1/65,536. For rays longer than a unit, `distance` is more precise.
    pub fraction: Fx,
}

/// Where a moving circle or rectangle hits a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepHit {
    /// The body.
    pub body: BodyId,
    /// Centre of the moving shape when it touches the body, or its start if it overlaps the body there.
    pub position: Vec2,
    /// The point where they touch. If they touch along a side, it is the point nearest to `position`. If they overlap at the start, it
    /// equals `position`.
    pub point: Vec2,
    /// Outward normal of the body's surface at the hit, length 1; zero if they overlap at the start.
    pub normal: Vec2,
    /// Distance moved up to the hit, units, rounded down.
    pub distance: Fx,
    /// `distance` divided by the length of the whole path, 0..=1, rounded down to 1/65,536.
    pub fraction: Fx,
}

impl World {
    /// The first body that the ray from `origin` to `end` hits. If two bodies are at the same distance (to 1/65,536), it is the one with
    /// the lower slot ([`BodyId::index`]).
    ///
    /// Both ends belong to the ray, and touching a surface is a hit. A body that contains the origin is hit there, at distance 0 and with a
    /// zero normal. Use [`QueryFilter::exclude`] for the body that casts the ray.
    ///
    /// # Errors
    /// [`QueryError::OutOfRange`] when a component of `origin` or `end` is beyond +-20,480 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(5)));
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
        let path = CastPath::new(raw_point("origin", origin)?, raw_point("end", end)?, POINT);
        Ok(path.first(self, filter).map(|met| path.ray_hit(self, &met)))
    }

    /// All bodies that the ray from `origin` to `end` hits, sorted by distance, then by slot.
    /// Otherwise like [`Self::ray_cast`]. `out` is cleared first.
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
        let path = CastPath::new(raw_point("origin", origin)?, raw_point("end", end)?, POINT);
        path.all(self, filter, &mut |met| out.push(path.ray_hit(self, &met)));
        out.sort_unstable_by_key(|hit| (hit.distance, hit.body.index));
        Ok(())
    }

    /// The first body that a circle hits when it moves from `from` to `to`. If two bodies are at the same distance (to 1/65,536), it is the
    /// one with the lower slot ([`BodyId::index`]).
    ///
    /// A body that the circle overlaps or touches at the start is hit there, at distance 0 and with a zero normal. The hit does not give
    /// the direction out of the overlap; compare the positions to find it.
    ///
    /// # Errors
    /// [`QueryError::OutOfRange`] when a component of `from` or `to` is beyond +-20,480 units, or the radius is not in
    /// 0..=4,096 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(5)));
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
        let (from, to) = (raw_point("from", from)?, raw_point("to", to)?);
        check("radius", radius, Fx::ZERO, EXTENT_MAX)?;
        let path = CastPath::new(from, to, RoundedBox::of_shape(Shape::circle(radius)));
        Ok(path.first(self, filter).map(|met| path.sweep_hit(self, &met)))
    }

    /// The first body that a shape hits when it moves from `from` to `to`; like [`Self::sweep_circle`] for circles.
    ///
    /// # Errors
    /// [`QueryError::OutOfRange`] when a component of `from` or `to` is beyond +-20,480 units, or an extent of the shape is not in
    /// 0..=4,096 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let tower = BodyDef::static_body(Shape::circle(Fx::ONE));
    /// world.create_body(&tower.position(Vec2::from_ints(6, 1))).unwrap();
    /// let cart = Shape::rect(Fx::from_num(2), Fx::ONE);
    /// let hit = world.sweep(cart, Vec2::ZERO, Vec2::from_ints(10, 0), &QueryFilter::new()).unwrap().unwrap();
    /// assert_eq!((hit.position, hit.point), (Vec2::from_ints(3, 0), Vec2::from_ints(5, 1)));
    /// ```
    pub fn sweep(
        &self,
        shape: Shape,
        from: Vec2,
        to: Vec2,
        filter: &QueryFilter,
    ) -> Result<Option<SweepHit>, QueryError> {
        let path = CastPath::new(raw_point("from", from)?, raw_point("to", to)?, raw_shape(shape)?);
        Ok(path.first(self, filter).map(|met| path.sweep_hit(self, &met)))
    }

    /// All bodies that a shape would hit between `from` and `to` if none of them stopped it, by distance, equal distances in ascending
    /// order of slots. Otherwise like [`Self::sweep`]. `out` is cleared first.
    ///
    /// # Errors
    /// As [`Self::sweep`].
    pub fn sweep_all(
        &self,
        shape: Shape,
        from: Vec2,
        to: Vec2,
        filter: &QueryFilter,
        out: &mut Vec<SweepHit>,
    ) -> Result<(), QueryError> {
        out.clear();
        let path = CastPath::new(raw_point("from", from)?, raw_point("to", to)?, raw_shape(shape)?);
        path.all(self, filter, &mut |met| out.push(path.sweep_hit(self, &met)));
        out.sort_unstable_by_key(|hit| (hit.distance, hit.body.index));
        Ok(())
    }
}

/// The shape of a ray.
const POINT: RoundedBox = RoundedBox { centre: [0; 2], half: [0; 2], radius: 0 };

/// The path of a shape.
struct CastPath {
    segment: Segment,
    /// Length of the segment, raw units.
    length: u64,
    /// The shape, centred on the origin.
    shape: RoundedBox,
    /// Its half extents along the longer axis of the segment and along the other.
    extents: [i32; 2],
    /// The segment is longer along y than along x.
    steep: bool,
    /// All ones for an axis (the longer one first) along which the segment goes down. Coordinates on that axis are complemented, so that
    /// the path always goes up.
    flip: [i32; 2],
    /// Where the segment begins on the longer axis and on the other, after `flip`.
    origin: [i32; 2],
    /// Distance on the other axis per distance on the longer one, 32 fraction bits, rounded down; just below one for a diagonal.
    slope: u32,
}

/// A body on the path.
#[derive(Clone, Copy)]
struct Met {
    /// Raw units, rounded down.
    distance: u64,
    slot: Slot,
    cast: Cast,
}

impl CastPath {
    fn new(from: [i32; 2], to: [i32; 2], shape: RoundedBox) -> Self {
        let segment = Segment::new(from, to);
        let [x, y] = segment.delta;
        let steep = y.abs() > x.abs();
        let axes = if steep { [1, 0] } else { [0, 1] };
        let [along, across] = both(axes, |axis: usize| segment.delta[axis].unsigned_abs());
        let slope = (across << 32).checked_div(along).unwrap_or(0);
        let flip = both(axes, |axis: usize| if segment.delta[axis] < 0 { -1 } else { 0 });
        Self {
            segment,
            length: segment.length(),
            shape,
            extents: both(axes, |axis: usize| shape.half[axis] + shape.radius),
            steep,
            flip,
            origin: [from[axes[0]] ^ flip[0], from[axes[1]] ^ flip[1]],
            slope: slope.min(u64::from(u32::MAX)) as u32,
        }
    }

    /// Length of the segment along the longer axis, raw units.
    fn whole(&self) -> u32 {
        self.segment.delta.map(i64::unsigned_abs).into_iter().max().unwrap_or(0) as u32
    }

    /// How far along the longer axis the path enters each box at the earliest, raw units; `u32::MAX` if it misses the box or enters only
    /// beyond `reach`.
    #[inline(always)]
    fn least<S: Simd>(&self, simd: S, boxes: &BoxBlock, reach: u32) -> u32x8<S> {
        let (x, y) = ([&boxes.x0, &boxes.x1], [&boxes.y0, &boxes.y1]);
        let [along, across] = if self.steep { [y, x] } else { [x, y] };
        let turned = |sides: [_; 2], flip: i32| if flip == 0 { sides } else { [sides[1], sides[0]] };
        let [low, high]: [&[i32; LANES]; 2] = turned(along, self.flip[0]);
        let [bottom, top]: [&[i32; LANES]; 2] = turned(across, self.flip[1]);
        let begin = self.origin[0];
        let end = begin.wrapping_add_unsigned(reach);
        // The part of the path in the box's slab along the longer axis, and its height at both ends. Lanes whose slab is not reached compute
        // garbage that is not used.
        let near = (i32x8::load_array_ref(simd, low) ^ self.flip[0]) - self.extents[0];
        let far = (i32x8::load_array_ref(simd, high) ^ self.flip[0]) + self.extents[0];
        let lowest = (i32x8::load_array_ref(simd, bottom) ^ self.flip[1]) - self.extents[1];
        let highest = (i32x8::load_array_ref(simd, top) ^ self.flip[1]) + self.extents[1];
        let (near, far) = (near.max(begin), far.min(end));
        // A height is too low by less than three: it and the slope are rounded down, and a diagonal's slope is cut.
        let misses =
            near.simd_gt(far) | self.height(near).simd_gt(highest) | lowest.simd_gt(self.height(far) + 3);
        misses.select(u32x8::splat(simd, u32::MAX), (near - begin).bitcast())
    }

    /// Where the path is on the other axis, at places on the longer one.
    #[inline(always)]
    fn height<S: Simd>(&self, to: i32x8<S>) -> i32x8<S> {
        upper_product(to - self.origin[0], self.slope) + self.origin[1]
    }

    fn meet(&self, slot: Slot, candidates: &Candidates<'_>) -> Option<Met> {
        let body = candidates.get(slot)?;
        let outline = candidates.outline(slot, body);
        let cast = outline.cast(&self.shape, &self.segment, candidates.filter.both_sides)?;
        Some(Met { distance: (cast.place * self.length) >> FRACTION_BITS, slot, cast })
    }

    /// The first body on the path.
    fn first(&self, world: &World, filter: &QueryFilter) -> Option<Met> {
        let (mut first, mut reach) = (None::<Met>, self.whole());
        let axis = usize::from(self.steep);
        self.search(world, filter, &mut |met| {
            if first.is_none_or(|first| (met.distance, met.slot) <= (first.distance, first.slot)) {
                let (from, to) = (self.segment.from, self.segment.point(met.cast.place));
                reach = reach.min(from[axis].abs_diff(to[axis]) + SLACK);
                first = Some(met);
            }
            reach
        });
        first
    }

    /// Every body on the path, in any order.
    fn all(&self, world: &World, filter: &QueryFilter, found: &mut dyn FnMut(Met)) {
        self.search(world, filter, &mut |met| {
            found(met);
            self.whole()
        });
    }

    fn search(&self, world: &World, filter: &QueryFilter, met: &mut dyn FnMut(Met) -> u32) {
        let candidates = Candidates::new(world, filter);
        world.search(&mut OnPath { path: self, candidates, reach: self.whole(), met });
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

    /// Where the shape at `position` touches an outline, to within a raw unit or two.
    fn touching_point(&self, position: [i32; 2], body: &RoundedBox, cast: &Cast) -> [i32; 2] {
        let mut point = position;
        match cast.side {
            Side::Inside | Side::Slope(_) => {}
            Side::Face(axis) => {
                let ahead = self.segment.delta[axis].signum() as i32;
                point[axis] += ahead * (self.shape.half[axis] + self.shape.radius);
                let (across, half) = (1 - axis, body.half[1 - axis]);
                point[across] =
                    position[across].clamp(body.centre[across] - half, body.centre[across] + half);
            }
            Side::Corner(corner) => {
                // From the corner of the body's core towards the shape, as far as the outline's own radius.
                let whole = i64::from(body.radius + self.shape.radius).max(1);
                for axis in 0..2 {
                    let out = i64::from(position[axis] - corner[axis]) * i64::from(body.radius);
                    let own = self.shape.half[axis] * (corner[axis] - body.centre[axis]).signum();
                    point[axis] = corner[axis] - own + (out / whole) as i32;
                }
            }
        }
        point
    }

    fn sweep_hit(&self, world: &World, met: &Met) -> SweepHit {
        let position = self.segment.point(met.cast.place);
        let normal = normal(&self.segment, &met.cast);
        let point = match world.terrain.get(met.slot) {
            Some(piece) => outline::touching_point(piece, &self.shape, position, met.cast.side),
            None => {
                let body = RoundedBox::of(&world.bodies[met.slot]);
                self.touching_point(position, &body, &met.cast)
            }
        };
        SweepHit {
            body: world.body_id(met.slot),
            position: vec2(position),
            point: vec2(point),
            normal: vector(normal),
            distance: Fx::from_bits(met.distance as i64),
            fraction: self.fraction(met.distance),
        }
    }
}

fn vector(v: [i64; 2]) -> Vec2 {
    Vec2::new(Fx::from_bits(v[0]), Fx::from_bits(v[1]))
}

/// The search for bodies on a path, ordered by distance along the longer axis. One type for all queries: each type is a kernel more.
struct OnPath<'a> {
    path: &'a CastPath,
    candidates: Candidates<'a>,
    /// How far along the longer axis a body of interest may lie, raw units.
    reach: u32,
    /// Takes a body on the path and gives the new reach.
    met: &'a mut dyn FnMut(Met) -> u32,
}

impl Search for OnPath<'_> {
    #[inline(always)]
    fn least<S: Simd>(&self, simd: S, boxes: &BoxBlock) -> u32x8<S> {
        self.path.least(simd, boxes, self.reach)
    }

    #[inline(always)]
    fn reach(&self) -> u32 {
        self.reach
    }

    #[inline(always)]
    fn visit(&mut self, slot: Slot) {
        if let Some(met) = self.path.meet(slot, &self.candidates) {
            self.reach = (self.met)(met);
        }
    }
}
