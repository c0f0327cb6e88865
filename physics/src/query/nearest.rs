//! The nearest bodies to a point.

use alloc::vec::Vec;

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, u32x8};

use crate::body::id::BodyId;
use crate::body::slot::Slot;
use crate::body::view::BodyRef;
use crate::collide::rounded_box::RoundedBox;
use crate::math::boxes::{BoxBlock, LANES};
use crate::math::num::{Fx, isqrt_u64};
use crate::math::vec2::Vec2;
use crate::query::areas::{QueryError, raw_point};
use crate::query::filter::QueryFilter;
use crate::query::outline::Outline;
use crate::query::search::Candidates;
use crate::tree::search::Search;
use crate::world::World;

/// More than any distance between a query point and a body, raw units; with an extent added it still fits 32 bits.
const FAR: u64 = (1 << 32) - (1 << 29);

impl World {
    /// The `k` bodies nearest to a point that are at most `max_distance` units away, with their distances in units.
    ///
    /// The distance is measured to the body's shape and rounded down to 1/65,536; it is 0 if the point lies inside. `out` is cleared first;
    /// the nearest body comes first, and equal distances come in ascending order of slots ([`BodyId::index`]). A negative `max_distance`
    /// finds nothing; `Fx::MAX` sets no limit. Meant for small `k`: each body found costs up to `k` moves.
    ///
    /// # Errors
    /// [`QueryError::OutOfRange`] when a component of `point` is beyond +-20,480 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let unit = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let near = world.create_body(&unit.position(Vec2::from_ints(3, 4))).unwrap();
    /// let far = world.create_body(&unit.position(Vec2::from_ints(20, 0))).unwrap();
    /// let mut found = Vec::new();
    /// world.nearest(Vec2::ZERO, 2, Fx::from_num(100), &QueryFilter::new(), &mut found).unwrap();
    /// assert_eq!(found, [(near, Fx::from_num(4)), (far, Fx::from_num(19))]);
    /// ```
    pub fn nearest(
        &self,
        point: Vec2,
        k: u32,
        max_distance: Fx,
        filter: &QueryFilter,
        out: &mut Vec<(BodyId, Fx)>,
    ) -> Result<(), QueryError> {
        out.clear();
        let point = raw_point("point", point)?;
        if k == 0 || max_distance < Fx::ZERO {
            return Ok(());
        }
        let mut nearest = Nearest {
            world: self,
            candidates: Candidates::new(self, filter),
            point,
            k: k as usize,
            reach: FAR.min(max_distance.to_bits() as u64),
            out,
        };
        self.search(&mut nearest);
        Ok(())
    }
}

impl BodyRef<'_> {
    /// Distance from a point to the surface of the body, units, rounded down to 1/65,536; 0 inside. For the distances to what is near,
    /// see [`World::nearest`](crate::World::nearest).
    ///
    /// # Errors
    /// [`QueryError::OutOfRange`] when a component of `point` is beyond +-20,480 units.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let house = world.create_body(&BodyDef::static_body(Shape::rect(Fx::ONE, Fx::ONE)))?;
    /// assert_eq!(world.body(house).unwrap().distance(Vec2::from_ints(4, 5))?, Fx::from_num(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distance(&self, point: Vec2) -> Result<Fx, QueryError> {
        let point = raw_point("point", point)?;
        let outline = self.piece.map_or_else(|| Outline::Round(RoundedBox::of(self.body)), Outline::Terrain);
        Ok(Fx::from_bits(outline.distance(point) as i64))
    }
}

/// Search for the nearest bodies; it orders them by distance in raw units.
struct Nearest<'a> {
    world: &'a World,
    candidates: Candidates<'a>,
    point: [i32; 2],
    // not state: lives for one query
    k: usize,
    /// Greatest distance of interest, raw units.
    reach: u64,
    out: &'a mut Vec<(BodyId, Fx)>,
}

impl Search for Nearest<'_> {
    /// A lower bound of the distance, at least 0.92 of it: the greatest of the two offsets and of their sum divided by the root of two.
    #[inline(always)]
    fn least<S: Simd>(&self, simd: S, boxes: &BoxBlock) -> u32x8<S> {
        let x = offsets(simd, self.point[0], &boxes.x0, &boxes.x1);
        let y = offsets(simd, self.point[1], &boxes.y0, &boxes.y1);
        let half = (x >> 1) + (y >> 1);
        // 1.40625 < sqrt(2)
        let diagonal = half + (half >> 2) + (half >> 3) + (half >> 5);
        x.max(y).max(diagonal)
    }

    #[inline(always)]
    fn reach(&self) -> u32 {
        self.reach as u32
    }

    #[inline(always)]
    fn visit(&mut self, slot: Slot) {
        let Some(body) = self.candidates.get(slot) else { return };
        if body.is_terrain()
            && let Some(piece) = self.world.terrain.get(slot)
        {
            return self.note(slot, Outline::Terrain(piece).distance(self.point));
        }
        let outline = RoundedBox::of(body);
        let square = outline.core_distance_squared(self.point);
        let radius = outline.radius as u64;
        let limit = self.reach + radius + 1;
        if square >= limit * limit {
            return;
        }
        self.note(slot, isqrt_u64(square).saturating_sub(radius));
    }
}

/// Distances from a coordinate to eight intervals, 0 inside.
#[inline(always)]
fn offsets<S: Simd>(simd: S, from: i32, low: &[i32; LANES], high: &[i32; LANES]) -> u32x8<S> {
    let from = i32x8::splat(simd, from);
    let near = from.max(i32x8::load_array_ref(simd, low)).min(i32x8::load_array_ref(simd, high));
    (near.max(from) - near.min(from)).bitcast()
}

impl Nearest<'_> {
    /// A body at this distance, raw units.
    fn note(&mut self, slot: Slot, distance: u64) {
        if distance > self.reach {
            return;
        }
        let distance = Fx::from_bits(distance as i64);
        if self.k == 1 {
            // What games ask for most. There is nothing to shift.
            if self.out.first().is_none_or(|&(id, least)| (distance, slot) < (least, id.slot())) {
                self.out.clear();
                self.out.push((self.world.body_id(slot), distance));
                self.reach = distance.to_bits() as u64;
            }
            return;
        }
        let at = self.out.partition_point(|&(id, d)| (d, id.slot()) < (distance, slot));
        if at == self.k {
            return;
        }
        if self.out.len() == self.k {
            self.out.pop();
        }
        self.out.insert(at, (self.world.body_id(slot), distance));
        if self.out.len() == self.k {
            self.reach = self.out[self.k - 1].1.to_bits() as u64;
        }
    }
}
