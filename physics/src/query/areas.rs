//! Bodies in an area and at a point. Rays are in [`crate::query::ray`], the nearest bodies in [`crate::query::nearest`].
//!
//! Queries see the world as it is between two steps: bodies that were created, moved, enabled or removed since the last step are taken into
//! account at once. Answers come in a defined order and depend on the state alone, so every peer gets the same ones. A query allocates only
//! if the caller's buffer has to grow.

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::{Body, raw2, vec2};
use crate::body::shape::Shape;
use crate::body::slot::Slot;
use crate::collide::rounded_box::{REACH, RoundedBox};
use crate::math::aabb::Aabb;
use crate::math::axes::{both, each_axis};
use crate::math::boxes::RawBox;
use crate::math::num::{EXTENT_MAX, Fx};
use crate::math::vec2::Vec2;
use crate::query::filter::QueryFilter;
use crate::query::outline::Outline;
use crate::query::search::Candidates;
use crate::world::World;

/// Greatest absolute value of a component of a point in a query, units. No body reaches further, since positions end at +-16,384 and
/// extents at 4,096.
pub const QUERY_MAX: Fx = Fx::from_bits(REACH as i64);

/// Why a query was refused. The caller's buffer is empty in this case.
///
/// ```
/// use testudo_physics::{Fx, QueryFilter, Vec2, World, WorldDef};
/// let world = World::new(WorldDef::new())?;
/// let error = world.ray_cast(Vec2::ZERO, Vec2::from_ints(30_000, 0), &QueryFilter::new()).unwrap_err();
/// assert_eq!(error.to_string(), "end of a query must be -20480..=20480, not 30000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryError {
    /// An argument lies outside of its range.
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// The value given; for a point, the component that is out of range.
        value: Fx,
        /// Smallest value allowed.
        min: Fx,
        /// Greatest value allowed.
        max: Fx,
    },
}

impl core::fmt::Display for QueryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self::OutOfRange { argument, value, min, max } = self;
        write!(f, "{argument} of a query must be {min}..={max}, not {value}")
    }
}

impl core::error::Error for QueryError {}

/// Refuses a value outside of `min..=max`.
pub(crate) fn check(argument: &'static str, value: Fx, min: Fx, max: Fx) -> Result<(), QueryError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(QueryError::OutOfRange { argument, value, min, max })
    }
}

/// A point in raw units, or the error that names the argument.
pub(crate) fn raw_point(argument: &'static str, point: Vec2) -> Result<[i32; 2], QueryError> {
    check(argument, point.x, -QUERY_MAX, QUERY_MAX)?;
    check(argument, point.y, -QUERY_MAX, QUERY_MAX)?;
    Ok(raw2(point))
}

/// The outline of a shape centred on the origin, or the error that names the extent.
pub(crate) fn raw_shape(shape: Shape) -> Result<RoundedBox, QueryError> {
    let extent = |argument, value| check(argument, value, Fx::ZERO, EXTENT_MAX);
    match shape {
        Shape::Circle { radius } => extent("radius", radius)?,
        Shape::Rect { half_extents } => {
            extent("half_extents", half_extents.x)?;
            extent("half_extents", half_extents.y)?;
        }
    }
    Ok(RoundedBox::of_shape(shape))
}

/// An area in raw units, clipped beyond all bodies; `None` if it is empty.
fn raw_area(area: Aabb) -> Option<RawBox> {
    let cut = |v: Vec2| both([v.x, v.y], |c| c.to_bits().clamp(-EDGE, EDGE) as i32);
    let (min, max) = (cut(area.min), cut(area.max));
    let empty = area.min.x > area.max.x || area.min.y > area.max.y;
    (!empty).then_some(RawBox { min, max })
}

/// Beyond every body, raw units, but not the whole of `i32`: boxes of empty lanes lie at its ends, even if the area is shrunk by the
/// greatest margin.
const EDGE: i64 = 3 << 29;

impl World {
    /// The bodies whose bounding boxes overlap an area, in ascending order of their slots ([`BodyId::index`]). The box of terrain is the exact one
    /// here, however thin.
    ///
    /// `out` is cleared first. Touching counts as overlapping. Every area is valid; one with `min` above `max` is empty.
    ///
    /// ```
    /// use testudo_physics::{Aabb, BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let unit = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let a = world.create_body(&unit.position(Vec2::from_ints(3, 3))).unwrap();
    /// let b = world.create_body(&unit.position(Vec2::from_ints(9, 9))).unwrap();
    /// let mut selected = Vec::new();
    /// let area = Aabb::from_corners(Vec2::ZERO, Vec2::from_ints(8, 8));
    /// world.query_area(area, &QueryFilter::new(), &mut selected);
    /// assert_eq!(selected, [a, b]);
    /// // The second disc's box reaches into the area, the disc itself does not.
    /// world.query_area_exact(area, &QueryFilter::new(), &mut selected);
    /// assert_eq!(selected, [a]);
    /// ```
    pub fn query_area(&self, area: Aabb, filter: &QueryFilter, out: &mut Vec<BodyId>) {
        self.query_box(area, filter, out, None::<fn(&Outline<'_>, &RawBox) -> bool>);
    }

    /// The bodies whose shapes overlap an area; otherwise like [`Self::query_area`]. Exact, without rounding; terrain is met
    /// within a raw unit (1/65,536).
    pub fn query_area_exact(&self, area: Aabb, filter: &QueryFilter, out: &mut Vec<BodyId>) {
        self.query_box(area, filter, out, Some(|outline: &Outline<'_>, area: &RawBox| outline.meets(area)));
    }

    /// The bodies whose shapes contain a point, surfaces included, in ascending order of their slots. Exact; terrain is met within a
    /// raw unit (1/65,536).
    ///
    /// `out` is cleared first. Every point is valid; there is nothing beyond +-[`QUERY_MAX`].
    pub fn query_point(&self, point: Vec2, filter: &QueryFilter, out: &mut Vec<BodyId>) {
        let area = Aabb { min: point, max: point };
        self.query_box(area, filter, out, Some(|outline: &Outline<'_>, area: &RawBox| outline.meets(area)));
    }

    /// The bodies whose shapes overlap or touch a circle or rectangle at a position, in ascending order of their slots. Exact; terrain
    /// is met within a raw unit (1/65,536).
    ///
    /// # Errors
    /// [`QueryError::OutOfRange`] if a component of `position` is beyond +-20,480 units, or if an extent of the shape is not in 0..=4,096
    /// units. `out` is empty then.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, QueryFilter, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let unit = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let near = world.create_body(&unit.position(Vec2::from_ints(3, 4))).unwrap();
    /// world.create_body(&unit.position(Vec2::from_ints(4, 4))).unwrap();
    /// let mut hurt = Vec::new();
    /// world.query_shape(Shape::circle(Fx::from_num(4)), Vec2::ZERO, &QueryFilter::new(), &mut hurt).unwrap();
    /// assert_eq!(hurt, [near]);
    /// ```
    pub fn query_shape(
        &self,
        shape: Shape,
        position: Vec2,
        filter: &QueryFilter,
        out: &mut Vec<BodyId>,
    ) -> Result<(), QueryError> {
        out.clear();
        let (centre, shape) = (raw_point("position", position)?, raw_shape(shape)?);
        let half = each_axis(|axis| shape.half[axis] + shape.radius);
        let area = Aabb::from_center_half(position, vec2(half));
        self.query_box(
            area,
            filter,
            out,
            Some(|outline: &Outline<'_>, _: &RawBox| outline.overlaps(&shape, centre)),
        );
        Ok(())
    }

    /// The bodies that meet an area; without `meets`, those whose bounding boxes do.
    #[inline(always)]
    fn query_box<M: Fn(&Outline<'_>, &RawBox) -> bool>(
        &self,
        area: Aabb,
        filter: &QueryFilter,
        out: &mut Vec<BodyId>,
        meets: Option<M>,
    ) {
        out.clear();
        let Some(area) = raw_area(area) else { return };
        // First all bodies whose boxes overlap, then an exact test of them, then their order. The boxes of moving bodies are those of their
        // shapes, grown by the same margin, so a smaller area finds exactly those; other boxes are grown by different amounts.
        let path = self.stepper.path;
        let candidates = Candidates::new(self, filter);
        let outline = |slot: Slot, body: &Body| Outline::of(slot, body, &self.terrain);
        path.collect(&self.stepper.lanes.tree, &area.grown(-self.settings.box_margin()), out);
        keep(out, 0, |slot| {
            let body = candidates.get(slot);
            body.is_some_and(|body| meets.as_ref().is_none_or(|meets| meets(&outline(slot, body), &area)))
        });
        let moving = out.len();
        for tree in self.resting.each_tree() {
            path.collect(tree, &area, out);
        }
        keep(out, moving, |slot| {
            candidates.get(slot).is_some_and(|body| match &meets {
                None => outline(slot, body).bounds().overlaps(&area),
                Some(meets) => meets(&outline(slot, body), &area),
            })
        });
        path.sort_by_slot(out);
        if !self.order.generations().is_empty() {
            out.iter_mut().for_each(|id| id.generation = self.order.slot_generation(id.slot()));
        }
    }
}

/// Keeps those from `first` on that pass. Without branches: which ones do is hard to predict.
#[inline(always)]
fn keep(ids: &mut Vec<BodyId>, first: usize, passes: impl Fn(Slot) -> bool) {
    let mut kept = first;
    for at in first..ids.len() {
        let id = ids[at];
        ids[kept] = id;
        kept += usize::from(passes(id.slot()));
    }
    ids.truncate(kept);
}
