//! Rounded polygons: the outline of terrain grown by a shape, and the tests of points and segments against it.
//!
//! A circle touches a convex polygon where its centre meets the polygon grown by its radius; a rectangle, where its centre meets the sum of
//! both, which is a convex polygon with up to four corners more. So one formula covers points, circles and rectangles against segments
//! (polygons of two corners) and polygons.
//!
//! The side of a line is decided exactly, in 128 bits. Distances from edges use unit normals with 30 fraction bits, measured from the
//! nearer end. They are exact to two raw units for edges of 8,192 units, and to one for edges below 2,048. Positions along a segment are
//! exact to one raw unit for radii up to 64 units. Points less than a raw unit off the surface count as within, and edges are met a raw
//! unit beyond their ends.

use crate::body::terrain::CORNERS_MAX;
use crate::collide::narrow_phase::{UNIT, UNIT_BITS, unit_and_length};
use crate::math::axes::{both, each_axis};

/// Most corners of a sum: a rectangle adds four.
const SUM_MAX: usize = CORNERS_MAX + 4;

/// A convex polygon, counter-clockwise, grown by a radius, raw units. Two corners make a segment, which has a left and a right side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedPolygon {
    pub(super) corners: [[i32; 2]; SUM_MAX],
    /// The corner of the terrain from which each one comes.
    pub(super) sources: [u8; SUM_MAX],
    // not state: how many of the corners count
    pub(super) count: usize,
    pub(crate) radius: i32,
}

/// The feature that is nearest to a point, or that a moving point meets first. `from` is the corner of the terrain that it belongs to, or
/// `None` for an edge of the terrain (for a segment, the right side comes first).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feature {
    pub(crate) from: Option<u8>,
    /// Number of the edge or corner.
    pub(crate) index: u8,
}

/// The nearest feature of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// Unit vector away from the outline, 30 fraction bits.
    pub(crate) outward: [i32; 2],
    /// Distance of the surface, raw units; negative inside.
    pub(crate) gap: i32,
}

/// Who has the contact at a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// The outline itself.
    Itself,
    /// A neighbour that touches the same place.
    Neighbour,
    /// That neighbour, except from bodies behind it.
    Either,
    /// Nobody: a neighbour is nearer, or this side is open.
    Nobody,
}

fn wide(v: [i32; 2]) -> [i128; 2] {
    [i128::from(v[0]), i128::from(v[1])]
}

pub(super) fn minus(a: [i32; 2], b: [i32; 2]) -> [i128; 2] {
    let (a, b) = (wide(a), wide(b));
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn dot(a: [i128; 2], b: [i128; 2]) -> i128 {
    a[0] * b[0] + a[1] * b[1]
}

/// How far `v` leads to the right of `edge`, times its length: outward, where corners go round counter-clockwise.
pub(super) fn rightward(v: [i128; 2], edge: [i128; 2]) -> i128 {
    v[0] * edge[1] - v[1] * edge[0]
}

/// Unit normal to the right of an edge, 30 fraction bits.
fn right_normal(edge: [i128; 2]) -> [i32; 2] {
    let [x, y] = both(edge, |c| c.signum() as i32);
    if x == 0 || y == 0 {
        return [y * UNIT, -x * UNIT];
    }
    let ([ux, uy], _) = unit_and_length(both(edge, |c| c.unsigned_abs() as i32));
    [uy * y, -ux * x]
}

/// Length of an edge, 16 fraction bits, rounded down.
pub(super) fn length(edge: [i128; 2]) -> i128 {
    ((dot(edge, edge) as u128) << 32).isqrt() as i128
}

/// Corners of a box, counter-clockwise.
fn box_corner(low: [i32; 2], high: [i32; 2], quadrant: u8) -> [i32; 2] {
    match quadrant & 3 {
        0 => low,
        1 => [high[0], low[1]],
        2 => high,
        _ => [low[0], high[1]],
    }
}

/// The first and the last corner of a box that lie furthest to the right of an edge, counter-clockwise.
fn supports(edge: [i128; 2]) -> [u8; 2] {
    match (edge[1].signum(), -edge[0].signum()) {
        (0, -1) => [0, 1],
        (1, -1) => [1, 1],
        (1, 0) => [1, 2],
        (1, 1) => [2, 2],
        (0, 1) => [2, 3],
        (-1, 1) => [3, 3],
        (-1, 0) => [3, 0],
        _ => [0, 0],
    }
}

impl RoundedPolygon {
    /// The sum of a polygon and the box from `low` to `high`, grown by a radius.
    pub(crate) fn sum(polygon: &[[i32; 2]], low: [i32; 2], high: [i32; 2], radius: i32) -> Self {
        let mut sum = Self { corners: [[0; 2]; SUM_MAX], sources: [0; SUM_MAX], count: 0, radius };
        let last = polygon.len() - 1;
        for (at, &corner) in polygon.iter().enumerate() {
            if low == high {
                sum.push(corner, low, at);
                continue;
            }
            let before = polygon[if at == 0 { last } else { at - 1 }];
            let behind = polygon[if at == last { 0 } else { at + 1 }];
            // From the box's corner that the edge before ends with to the one that the next edge begins with.
            let (ends, begins) = (supports(minus(corner, before)), supports(minus(behind, corner)));
            // A corner on a straight side along an axis turns nothing: the way from the side's end to its begin would lead around the box.
            let (mut quadrant, to) = (ends[1], if ends == begins { ends[1] } else { begins[0] });
            sum.push(corner, box_corner(low, high, quadrant), at);
            while quadrant & 3 != to {
                quadrant += 1;
                sum.push(corner, box_corner(low, high, quadrant), at);
            }
        }
        sum
    }

    fn push(&mut self, corner: [i32; 2], offset: [i32; 2], source: usize) {
        self.corners[self.count] = each_axis(|axis| corner[axis].wrapping_add(offset[axis]));
        self.sources[self.count] = source as u8;
        self.count += 1;
    }

    fn next(&self, at: usize) -> usize {
        if at + 1 == self.count { 0 } else { at + 1 }
    }

    pub(super) fn edge(&self, at: usize) -> [i128; 2] {
        minus(self.corners[self.next(at)], self.corners[at])
    }

    pub(super) fn edge_feature(&self, at: usize) -> Feature {
        let [begin, end] = both([at, self.next(at)], |corner| self.sources[corner]);
        Feature { from: (begin == end).then_some(begin), index: at as u8 }
    }

    pub(super) fn corner_feature(&self, at: usize) -> Feature {
        Feature { from: Some(self.sources[at]), index: at as u8 }
    }

    /// Whether an edge without a corner of the terrain is its first one: the right side of a segment.
    pub(crate) fn is_first_edge(&self, feature: Feature) -> bool {
        feature.from.is_none() && self.sources[usize::from(feature.index)] == 0
    }

    /// The feature that a point outside of the core is nearest to, or `None` inside: an edge or a corner.
    fn outside(&self, point: [i32; 2]) -> Option<(bool, usize)> {
        let mut corner: Option<(i128, usize)> = None;
        // Whether it lies on the line of every edge, as with a segment, or the sum of one and a box without width; and if so, on none of the edges.
        let (mut outside, mut on_line) = (false, true);
        for at in 0..self.count {
            let (from, edge) = (minus(point, self.corners[at]), self.edge(at));
            let right = rightward(from, edge);
            if right > 0 {
                outside = true;
                let along = dot(from, edge);
                if 0 <= along && along <= dot(edge, edge) {
                    return Some((true, at));
                }
            }
            on_line &= right == 0 && (edge == [0; 2] || !(0..=dot(edge, edge)).contains(&dot(from, edge)));
            let square = dot(from, from);
            if corner.is_none_or(|(least, _)| square < least) {
                corner = Some((square, at));
            }
        }
        // On the line of a segment nothing lies to the right; beyond its ends its corners are nearest.
        (outside || on_line).then_some((false, corner.map_or(0, |(_, at)| at)))
    }

    /// The signed distance of a point from the line of an edge, and the unit normal to the right.
    fn distance_from_edge(&self, at: usize, point: [i32; 2]) -> ([i32; 2], i128) {
        let edge = self.edge(at);
        let normal = right_normal(edge);
        let from = minus(point, self.corners[at]);
        let from = if 2 * dot(from, edge) > dot(edge, edge) {
            minus(point, self.corners[self.next(at)])
        } else {
            from
        };
        (normal, (dot(from, wide(normal)) + (1 << (UNIT_BITS - 1))) >> UNIT_BITS)
    }

    /// The nearest of the features that this outline bears; `bearer` tells by their direction (of any length). Outside there is only one
    /// candidate. Inside it is the edge with the shortest way out: if a neighbour bears that one, there is none, because the neighbour pushes
    /// that way already and every other way is longer. The point must lie within 2^29 raw units of the outline.
    pub(crate) fn nearest(
        &self,
        point: [i32; 2],
        bearer: impl Fn(Feature, [i128; 2]) -> Bearer,
    ) -> Option<Nearest> {
        let close = |gap: i128| (gap - i128::from(self.radius)).clamp(-(1 << 30), 1 << 30) as i32;
        match self.outside(point) {
            Some((true, at)) => {
                let (outward, distance) = self.distance_from_edge(at, point);
                (bearer(self.edge_feature(at), wide(outward)) == Bearer::Itself)
                    .then_some(Nearest { outward, gap: close(distance) })
            }
            Some((false, at)) => {
                let out = minus(point, self.corners[at]);
                if bearer(self.corner_feature(at), out) != Bearer::Itself {
                    return None;
                }
                let (unit, length) =
                    unit_and_length(both(out, |c| c.unsigned_abs().min((1 << 30) - 1) as i32));
                let outward = each_axis(|axis| unit[axis] * out[axis].signum() as i32);
                Some(Nearest { outward, gap: close(length.into()) })
            }
            None => (0..self.count)
                .filter_map(|at| {
                    let (outward, distance) = self.distance_from_edge(at, point);
                    match bearer(self.edge_feature(at), wide(outward)) {
                        Bearer::Nobody => None,
                        bearer => Some((outward, distance, bearer)),
                    }
                })
                // The first of the greatest.
                .reduce(|best, other| if other.1 > best.1 { other } else { best })
                .filter(|&(_, _, bearer)| bearer == Bearer::Itself)
                .map(|(outward, distance, _)| Nearest { outward, gap: close(distance.min(0)) }),
        }
    }

    /// Distance from a point to the core, raw units, rounded down; 0 inside.
    pub(crate) fn core_distance(&self, point: [i32; 2]) -> u64 {
        match self.outside(point) {
            None => 0,
            Some((true, at)) => {
                let (from, edge) = (minus(point, self.corners[at]), self.edge(at));
                let right = rightward(from, edge).unsigned_abs();
                (right * right / dot(edge, edge).max(1) as u128).isqrt() as u64
            }
            Some((false, at)) => {
                let out = minus(point, self.corners[at]);
                (dot(out, out) as u128).isqrt() as u64
            }
        }
    }

    /// Whether a point lies in the outline, surface included.
    pub(crate) fn contains(&self, point: [i32; 2]) -> bool {
        self.core_distance(point) <= u64::from(self.radius.unsigned_abs())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::math::rng::Pcg32;

    pub(crate) fn between(rng: &mut Pcg32, low: i32, high: i32) -> i32 {
        (i64::from(low) + i64::from(rng.below((i64::from(high) - i64::from(low) + 1) as u32))) as i32
    }

    /// A segment or a triangle, counter-clockwise, in a square of this half extent.
    pub(crate) fn outline(rng: &mut Pcg32, spread: i32) -> Vec<[i32; 2]> {
        loop {
            let count = 2 + rng.below(2);
            let mut corners: Vec<_> =
                (0..count).map(|_| [0, 1].map(|_| between(rng, -spread, spread))).collect();
            let area =
                rightward(minus(corners[1], corners[0]), minus(corners[corners.len() - 1], corners[0]));
            match (corners[0] == corners[1], count) {
                (false, 2) => return corners,
                (_, 3) if area != 0 => {
                    if area < 0 {
                        corners.swap(1, 2);
                    }
                    return corners;
                }
                _ => {}
            }
        }
    }

    /// The sum holds exactly the points from which the box and the outline meet.
    #[test]
    fn sums_with_boxes_hold_where_no_axis_separates() {
        let rng = &mut Pcg32::new(3, 0);
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..400 {
            let corners = outline(rng, 6);
            let (low, high) = ([-1 - between(rng, 0, 3), -1], [between(rng, 0, 3), 1 + between(rng, 0, 2)]);
            let sum = RoundedPolygon::sum(&corners, low, high, 0);
            for x in -12..=12 {
                for y in -12..=12 {
                    // The box there, and the axes that can separate it from the outline.
                    let (from, to) = ([x - high[0], y - high[1]], [x - low[0], y - low[1]]);
                    let apart = |axis: usize| {
                        corners.iter().all(|c| c[axis] > to[axis])
                            || corners.iter().all(|c| c[axis] < from[axis])
                    };
                    let beyond = |at: usize| {
                        let edge = minus(corners[(at + 1) % corners.len()], corners[at]);
                        (0..4).all(|q| rightward(minus(box_corner(from, to, q), corners[at]), edge) > 0)
                    };
                    let meets = !apart(0) && !apart(1) && !(0..corners.len()).any(beyond);
                    let holds = sum.outside([x, y]).is_none();
                    assert_eq!(holds, meets, "{corners:?} {low:?} {high:?} {x} {y}");
                    (inside, outside) = (inside + u32::from(holds), outside + u32::from(!holds));
                }
            }
        }
        assert!(inside > 10_000 && outside > 10_000, "{inside} {outside}");
    }
}
