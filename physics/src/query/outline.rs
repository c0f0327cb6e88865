//! The outline of any body, as queries use it.

use crate::body::record::Body;
use crate::body::slot::Slot;
use crate::body::terrain::{Piece, Terrain};
use crate::collide::polygon::RoundedPolygon;
use crate::collide::polygon_cast::{Met, all};
use crate::collide::rounded_box::{Cast, RoundedBox, Segment, Side};
use crate::math::axes::{both, each_axis};
use crate::math::boxes::RawBox;
use crate::math::num::isqrt_u64;

/// The outline of a body.
pub(crate) enum Outline<'a> {
    Round(RoundedBox),
    Terrain(&'a Piece),
}

impl<'a> Outline<'a> {
    #[inline]
    pub(crate) fn of(slot: Slot, body: &Body, terrain: &'a Terrain) -> Self {
        if body.is_terrain()
            && let Some(piece) = terrain.get(slot)
        {
            return Self::Terrain(piece);
        }
        Self::Round(RoundedBox::of(body))
    }

    /// The smallest box around it.
    pub(crate) fn bounds(&self) -> RawBox {
        match self {
            Self::Round(outline) => outline.bounds(),
            Self::Terrain(piece) => piece.bounds(),
        }
    }

    /// Distance from a point, raw units, rounded down; 0 inside.
    pub(crate) fn distance(&self, point: [i32; 2]) -> u64 {
        match self {
            Self::Round(outline) => {
                isqrt_u64(outline.core_distance_squared(point)).saturating_sub(outline.radius as u64)
            }
            Self::Terrain(piece) => distance(piece, point),
        }
    }

    /// Whether it meets an area; the area's `min` is not above its `max`.
    pub(crate) fn meets(&self, area: &RawBox) -> bool {
        match self {
            Self::Round(outline) => outline.meets(area),
            Self::Terrain(piece) => {
                let bounds = piece.bounds().grown(1);
                let low = each_axis(|axis| area.min[axis].max(bounds.min[axis]));
                let high = each_axis(|axis| area.max[axis].min(bounds.max[axis]));
                // The piece as seen from every point of the area.
                (0..2).all(|axis| low[axis] <= high[axis])
                    && RoundedPolygon::sum(
                        piece.corners(),
                        both(high, |c| -c),
                        both(low, |c| -c),
                        piece.radius,
                    )
                    .contains([0; 2])
            }
        }
    }

    /// Whether it meets a shape with this centre.
    pub(crate) fn overlaps(&self, shape: &RoundedBox, centre: [i32; 2]) -> bool {
        match self {
            Self::Round(outline) => outline.grown(shape).contains(centre),
            Self::Terrain(piece) => sum(piece, shape).contains(centre),
        }
    }

    /// Where a shape that moves along a segment first meets it. `both_sides`: from behind, too.
    pub(crate) fn cast(&self, shape: &RoundedBox, segment: &Segment, both_sides: bool) -> Option<Cast> {
        match self {
            Self::Round(outline) => outline.grown(shape).cast(segment),
            Self::Terrain(piece) => {
                let is_open = piece.one_sided && !both_sides;
                if is_open && !piece.is_in_front(segment.from) {
                    return None;
                }
                let sum = sum(piece, shape);
                let (place, met) = sum.cast(segment, all).or_else(|| sum.cast_on_corners(segment))?;
                // Bodies pass it from behind: one whose centre has gone past its end, and over its line, touches only its back.
                if is_open && piece.is_behind(segment.point(place)) {
                    return None;
                }
                let side = match met {
                    Met::Inside => Side::Inside,
                    Met::Edge(edge) => Side::Slope(edge),
                    Met::Corner(corner) => Side::Corner(corner),
                };
                Some(Cast { place, side })
            }
        }
    }
}

/// The outline that the centre of a shape must not enter.
fn sum(piece: &Piece, shape: &RoundedBox) -> RoundedPolygon {
    RoundedPolygon::sum(piece.corners(), both(shape.half, |h| -h), shape.half, shape.radius + piece.radius)
}

/// Distance from a point to the surface of a piece, raw units, rounded down; 0 inside.
pub(crate) fn distance(piece: &Piece, point: [i32; 2]) -> u64 {
    let zero = [0; 2];
    let distance = RoundedPolygon::sum(piece.corners(), zero, zero, 0).core_distance(point);
    distance.saturating_sub(piece.radius.unsigned_abs().into())
}

/// Where a shape at `position` touches a piece, within a raw unit or two.
pub(crate) fn touching_point(piece: &Piece, shape: &RoundedBox, position: [i32; 2], side: Side) -> [i32; 2] {
    // As long as a radius, in the direction of a vector.
    let out = |way: [i64; 2], radius: i32| {
        let square: u128 = way.iter().map(|c| u128::from(c.unsigned_abs()).pow(2)).sum();
        let length = (square << 60).isqrt().max(1) as i128;
        both(way, |c| (((i128::from(c) * i128::from(radius)) << 30) / length) as i32)
    };
    match side {
        Side::Slope(edge) => {
            // Exact: a slope of a raw unit or two is not along an axis.
            let normal = [i64::from(edge[1]), -i64::from(edge[0])];
            let back = out(normal, shape.radius);
            // The corners of the piece that lie furthest out.
            let along = |c: &&[i32; 2]| (0..2).map(|axis| i64::from(c[axis]) * normal[axis]).sum::<i64>();
            let furthest = piece.corners().iter().map(|c| along(&c)).max().unwrap_or(0);
            each_axis(|axis| {
                let point = position[axis] - back[axis] - shape.half[axis] * normal[axis].signum() as i32;
                if normal[axis] != 0 {
                    return point;
                }
                let flat = piece.corners().iter().filter(|c| along(c) == furthest).map(|c| c[axis]);
                let (low, high) = flat.fold((i32::MAX, i32::MIN), |(low, high), c| (low.min(c), high.max(c)));
                if low <= high { point.clamp(low, high) } else { point }
            })
        }
        Side::Corner(corner) => {
            // The corner of the piece that this corner of the sum comes from.
            let own = piece.corners().iter().find(|own| {
                (0..2).all(|axis| corner[axis].abs_diff(own[axis]) == shape.half[axis].unsigned_abs())
            });
            let own = *own.unwrap_or(&corner);
            let way = each_axis(|axis| i64::from(position[axis]) - i64::from(corner[axis]));
            let rim = out(way, piece.radius);
            [own[0] + rim[0], own[1] + rim[1]]
        }
        Side::Inside | Side::Face(_) => position,
    }
}
