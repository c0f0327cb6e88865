//! Rounded boxes: the outline of every shape, and its tests against points, areas and segments.
//!
//! A rounded box is a core box grown by a radius. A circle has no core, and a rectangle has no radius. A circle swept along a segment hits
//! a shape exactly where its centre hits the shape grown by the circle's radius, and that is again a rounded box. Outlines are closed:
//! touching counts as hitting.
//!
//! Points lie within [`REACH`] of the origin on each axis, and so do all outlines. The sum of half extents and radius is at most 2^29.
//! Decisions (hit or miss, which side) are exact. Only positions along a segment are rounded.

use crate::body::record::{Body, flag, raw, raw2};
use crate::body::shape::Shape;
use crate::math::axes::{both, each_axis};
use crate::math::boxes::RawBox;
use crate::math::num::isqrt_u64;

/// The greatest distance of any outline from the origin on an axis, raw units: the greatest position plus the greatest extent.
pub(crate) const REACH: i32 = (1 << 30) + (1 << 28);

/// Fraction bits of positions along a segment.
pub(crate) const FRACTION_BITS: u32 = 32;

/// The outline of a body, raw units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundedBox {
    pub(crate) centre: [i32; 2],
    /// Half extents of the core box.
    pub(crate) half: [i32; 2],
    /// The distance by which the core box is grown.
    pub(crate) radius: i32,
}

/// A segment between two points, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) from: [i32; 2],
    /// The second end, relative to the first.
    pub(crate) delta: [i64; 2],
}

/// Where a segment first hits an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cast {
    /// Fraction of the segment up to the hit, 32 fraction bits, 0..=2^32. Never beyond the exact position, and less than two raw units of
    /// length before it.
    pub(crate) place: u64,
    pub(crate) side: Side,
}

/// The part of an outline that a segment hits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The segment begins inside or on the outline.
    Inside,
    /// A flat side perpendicular to this axis.
    // not state: lives for one query
    Face(usize),
    /// The round part around this corner of the core.
    Corner([i32; 2]),
    /// An edge of terrain, start to end; its right side is outside.
    Slope([i32; 2]),
}

impl Segment {
    pub(crate) fn new(from: [i32; 2], to: [i32; 2]) -> Self {
        Self { from, delta: each_axis(|axis| i64::from(to[axis]) - i64::from(from[axis])) }
    }

    /// Length in raw units, rounded down.
    pub(crate) fn length(&self) -> u64 {
        isqrt_u64(self.length_squared())
    }

    fn length_squared(&self) -> u64 {
        let [x, y] = both(self.delta, i64::unsigned_abs);
        x * x + y * y
    }

    /// The point at a position along the segment, rounded to the nearest raw unit.
    pub(crate) fn point(&self, place: u64) -> [i32; 2] {
        let half = 1i64 << (FRACTION_BITS - 1);
        each_axis(|axis| {
            let (from, delta) = (self.from[axis], self.delta[axis]);
            // What bodies move in a frame; its product fits 64 bits.
            if delta.unsigned_abs() < 1 << 29 && place <= 1 << FRACTION_BITS {
                return from.wrapping_add(((delta * place as i64 + half) >> FRACTION_BITS) as i32);
            }
            let way = i128::from(delta) * i128::from(place) + i128::from(half);
            (i128::from(from) + (way >> FRACTION_BITS)) as i32
        })
    }
}

impl RoundedBox {
    /// The outline of a body.
    pub(crate) fn of(body: &Body) -> Self {
        debug_assert!(body.has(flag::ALIVE));
        Self { centre: body.position, half: body.half, radius: body.radius }
    }

    /// The smallest box around the outline.
    pub(crate) fn bounds(&self) -> RawBox {
        let reach = both(self.half, |half| half + self.radius);
        RawBox {
            min: [self.centre[0] - reach[0], self.centre[1] - reach[1]],
            max: [self.centre[0] + reach[0], self.centre[1] + reach[1]],
        }
    }

    /// The outline of a shape centred on the origin.
    pub(crate) fn of_shape(shape: Shape) -> Self {
        let (half, radius) = match shape {
            Shape::Circle { radius } => ([0; 2], raw(radius)),
            Shape::Rect { half_extents } => (raw2(half_extents), 0),
        };
        Self { centre: [0; 2], half, radius }
    }

    /// The outline grown by another one: the region that the other's centre must not enter.
    pub(crate) fn grown(self, by: &Self) -> Self {
        let half = each_axis(|axis| self.half[axis] + by.half[axis]);
        Self { half, radius: self.radius + by.radius, ..self }
    }

    /// Square of the distance from a point to the core.
    pub(crate) fn core_distance_squared(&self, point: [i32; 2]) -> u64 {
        let [x, y] = each_axis(|axis| {
            let offset = point[axis].abs_diff(self.centre[axis]);
            u64::from(offset.saturating_sub(self.half[axis] as u32))
        });
        x * x + y * y
    }

    fn radius_squared(&self) -> u64 {
        u64::from(self.radius.unsigned_abs()).pow(2)
    }

    /// Whether a point lies inside or on the outline.
    pub(crate) fn contains(&self, point: [i32; 2]) -> bool {
        self.core_distance_squared(point) <= self.radius_squared()
    }

    /// Whether the outline overlaps an area; the area's `min` is not above its `max`.
    pub(crate) fn meets(&self, area: &RawBox) -> bool {
        let [x, y] = each_axis(|axis| {
            let (low, high) = (self.centre[axis] - self.half[axis], self.centre[axis] + self.half[axis]);
            let below = i64::from(area.min[axis]) - i64::from(high);
            let above = i64::from(low) - i64::from(area.max[axis]);
            below.max(above).max(0) as u64
        });
        let radius = self.radius as u64;
        x <= radius && y <= radius && x * x + y * y <= radius * radius
    }

    /// Where a segment first hits the outline.
    ///
    /// The outline lies in its bounding box, so the segment enters the box first (or begins inside it): through a flat side, or in one of
    /// the four squares at the corners. From such a square it can enter the outline only through the square's circle.
    pub(crate) fn cast(&self, segment: &Segment) -> Option<Cast> {
        if self.contains(segment.from) {
            return Some(Cast { place: 0, side: Side::Inside });
        }
        let offset = each_axis(|axis| i64::from(segment.from[axis]) - i64::from(self.centre[axis]));
        // The slab that is entered last: its axis, and the distance to it along that axis.
        let mut entry: Option<(usize, i64)> = None;
        for axis in 0..2 {
            let delta = segment.delta[axis];
            let way = offset[axis].abs() - i64::from(self.half[axis] + self.radius);
            if way <= 0 {
                continue;
            }
            let approaches = (delta < 0) == (offset[axis] > 0) && delta != 0;
            if !approaches || way > delta.abs() {
                return None;
            }
            if entry.is_none_or(|(other, least)| way * segment.delta[other].abs() > least * delta.abs()) {
                entry = Some((axis, way));
            }
        }
        let mut corner = both(offset, i64::signum);
        if let Some((axis, way)) = entry {
            let across = 1 - axis;
            let scale = i128::from(segment.delta[axis].abs());
            let there =
                i128::from(offset[across]) * scale + i128::from(way) * i128::from(segment.delta[across]);
            if there.abs() <= i128::from(self.half[across]) * scale {
                let place = ((way as u64) << FRACTION_BITS) / segment.delta[axis].unsigned_abs();
                return Some(Cast { place, side: Side::Face(axis) });
            }
            if there.abs() > i128::from(self.half[across] + self.radius) * scale {
                return None;
            }
            corner[across] = there.signum() as i64;
        }
        let corner = each_axis(|axis| self.centre[axis] + self.half[axis] * corner[axis] as i32);
        let place = cast_on_circle(segment, corner, self.radius)?;
        Some(Cast { place, side: Side::Corner(corner) })
    }
}

/// Where a segment that begins outside of a circle first hits it.
///
/// With `d` the segment, `m` the vector from the centre to its begin and `x` the cross product, the line's distance from the centre is `|m
/// x d| / |d|`, and the position is `(-m.d - sqrt(d.d r.r - (m x d)^2)) / d.d`.
pub(crate) fn cast_on_circle(segment: &Segment, centre: [i32; 2], radius: i32) -> Option<u64> {
    let [dx, dy] = both(segment.delta, i128::from);
    let [mx, my] = each_axis(|axis| i128::from(segment.from[axis]) - i128::from(centre[axis]));
    let approach = -(mx * dx + my * dy);
    let cross = mx * dy - my * dx;
    // A line that hits the circle has |cross| <= r |d| < 2^61; that bounds its square as well.
    if approach <= 0 || cross.abs() > 1 << 61 {
        return None;
    }
    let square = segment.length_squared();
    let radius_squared = i128::from(radius).pow(2);
    let under_root = i128::from(square) * radius_squared - cross * cross;
    let ends_inside = (mx + dx).pow(2) + (my + dy).pow(2) <= radius_squared;
    if under_root < 0 || (approach > i128::from(square) && !ends_inside) {
        return None;
    }
    // A root that is too great by up to |d| / 2 puts the hit half a raw unit too early, and fits 64 bits.
    let shift = ((u64::BITS - 1 - square.leading_zeros()) / 2).saturating_sub(1);
    let root = i128::from(isqrt_u64((under_root >> (2 * shift)) as u64) + 1) << shift;
    let way = (approach - root).clamp(0, i128::from(square)) as u128;
    Some(((way << FRACTION_BITS) / u128::from(square)) as u64)
}

/// The direction of a vector with 16 fraction bits, rounded to nearest; components below 2^32, not both zero.
pub(crate) fn direction(v: [i64; 2]) -> [i64; 2] {
    // Scaled up as far as the square root allows, so that its rounding has no effect.
    let greatest = v[0].unsigned_abs().max(v[1].unsigned_abs());
    let shift = greatest.leading_zeros().saturating_sub(34);
    let v = both(v, |c| c << shift);
    let [x, y] = both(v, i64::unsigned_abs);
    let length = isqrt_u64(x * x + y * y).max(1) as i64;
    both(v, |c| ((c << 17) + length * c.signum()) / (2 * length))
}

/// The outward normal where a segment hits an outline, 16 fraction bits; zero if the segment begins inside.
pub(crate) fn normal(segment: &Segment, cast: &Cast) -> [i64; 2] {
    let mut normal = [0; 2];
    match cast.side {
        Side::Inside => {}
        Side::Face(axis) => normal[axis] = -segment.delta[axis].signum() << 16,
        Side::Slope([x, y]) => normal = direction([y.into(), -i64::from(x)]),
        Side::Corner(corner) => {
            let point = segment.point(cast.place);
            let out = each_axis(|axis| i64::from(point[axis]) - i64::from(corner[axis]));
            // A hit on a circle of a raw unit or two may round to its centre; backwards along the segment is outward too.
            normal = direction(if out == [0, 0] { both(segment.delta, |d| -d) } else { out });
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Pcg32;

    fn between(rng: &mut Pcg32, low: i32, high: i32) -> i32 {
        (i64::from(low) + i64::from(rng.below((i64::from(high) - i64::from(low) + 1) as u32))) as i32
    }

    fn point(rng: &mut Pcg32, spread: i32) -> [i32; 2] {
        [between(rng, -spread, spread), between(rng, -spread, spread)]
    }

    /// A shape that a body may have; some are grown by a swept circle.
    fn outline(rng: &mut Pcg32, spread: i32, extent: i32) -> RoundedBox {
        let mut extent = || between(rng, 1, extent.min(1 << 28));
        let (half, radius) = ([extent(), extent()], extent());
        let centre = point(rng, spread.min(1 << 30));
        match rng.below(3) {
            0 => RoundedBox { centre, half: [0; 2], radius },
            1 => RoundedBox { centre, half, radius: 0 },
            _ => RoundedBox { centre, half, radius },
        }
    }

    /// Whether a segment comes within `radius` of a point, by cross and dot product.
    fn comes_near(segment: &Segment, point: [i32; 2], radius: i32) -> bool {
        let d = segment.delta.map(i128::from);
        let to = [0, 1].map(|axis| i128::from(point[axis]) - i128::from(segment.from[axis]));
        let (along, square) = (to[0] * d[0] + to[1] * d[1], d[0] * d[0] + d[1] * d[1]);
        if along < 0 || along > square || square == 0 {
            // The ends are tested separately.
            return false;
        }
        let cross = (to[0] * d[1] - to[1] * d[0]).unsigned_abs();
        // cross| <= radius |d|. If the square overflows, the point is beyond every radius.
        cross.checked_mul(cross).is_some_and(|left| left <= (i128::from(radius).pow(2) * square) as u128)
    }

    /// Whether a segment crosses a box: the slab method with exact fractions.
    fn crosses(segment: &Segment, min: [i64; 2], max: [i64; 2]) -> bool {
        let (mut enter, mut leave) = ([0i128, 1], [1i128, 1]);
        for axis in 0..2 {
            let (from, d) = (i64::from(segment.from[axis]), segment.delta[axis]);
            if d == 0 {
                if from < min[axis] || from > max[axis] {
                    return false;
                }
                continue;
            }
            let (near, far) = if d > 0 { (min[axis], max[axis]) } else { (max[axis], min[axis]) };
            let fraction = |side: i64| [i128::from((side - from) * d.signum()), i128::from(d.abs())];
            let less = |a: [i128; 2], b: [i128; 2]| a[0] * b[1] < b[0] * a[1];
            if less(enter, fraction(near)) {
                enter = fraction(near);
            }
            if less(fraction(far), leave) {
                leave = fraction(far);
            }
        }
        enter[0] * leave[1] <= leave[0] * enter[1]
    }

    /// Hit or miss, piece by piece: the ends, the core grown along one axis each, the four corners.
    fn meets(shape: &RoundedBox, segment: &Segment) -> bool {
        let side =
            |axis: usize, sign: i32| i64::from(shape.centre[axis]) + i64::from(sign * shape.half[axis]);
        let r = i64::from(shape.radius);
        let (low, high) = ([side(0, -1), side(1, -1)], [side(0, 1), side(1, 1)]);
        shape.contains(segment.from)
            || shape.contains(segment.point(1 << FRACTION_BITS))
            || crosses(segment, [low[0] - r, low[1]], [high[0] + r, high[1]])
            || crosses(segment, [low[0], low[1] - r], [high[0], high[1] + r])
            || [low[0], high[0]].into_iter().any(|x| {
                [low[1], high[1]].into_iter().any(|y| comes_near(segment, [x as i32, y as i32], shape.radius))
            })
    }

    fn isqrt(value: u64) -> i64 {
        value.isqrt() as i64
    }

    #[test]
    fn casts_agree_with_the_pieces_at_every_scale() {
        for (seed, spread, extent) in
            [(1, 5, 3), (2, 60, 20), (3, 1 << 12, 1 << 10), (4, 1 << 22, 1 << 20), (5, REACH, 1 << 28)]
        {
            let rng = &mut Pcg32::new(seed, 0);
            let mut seen = [0; 4];
            for _ in 0..20_000 {
                let shape = outline(rng, spread, extent);
                let segment = Segment::new(point(rng, spread), point(rng, spread));
                let cast = shape.cast(&segment);
                assert_eq!(cast.is_some(), meets(&shape, &segment), "{shape:?} {segment:?} {cast:?}");
                let Some(cast) = cast else {
                    seen[3] += 1;
                    continue;
                };
                match cast.side {
                    Side::Inside => {
                        seen[0] += 1;
                        assert!(shape.contains(segment.from) && cast.place == 0);
                        continue;
                    }
                    Side::Face(_) => seen[1] += 1,
                    Side::Corner(_) => seen[2] += 1,
                    Side::Slope(_) => panic!("a rounded box has no slopes"),
                }
                assert!(cast.place <= 1 << FRACTION_BITS);
                // The hit is on the surface, and everything before it is outside.
                let surface = |place: u64| {
                    isqrt(shape.core_distance_squared(segment.point(place))) - i64::from(shape.radius)
                };
                assert!((-1..=3).contains(&surface(cast.place)), "{shape:?} {segment:?} {cast:?}");
                for eighths in 0..8 {
                    assert!(surface(cast.place * eighths / 8) >= -1, "{shape:?} {segment:?} {cast:?}");
                }
                // The normal points against the segment and has length one.
                let n = normal(&segment, &cast);
                let against: i128 =
                    (0..2).map(|axis| i128::from(n[axis]) * i128::from(segment.delta[axis])).sum();
                assert!(isqrt((n[0] * n[0] + n[1] * n[1]) as u64).abs_diff(1 << 16) <= 1);
                // An error of three raw units on the surface turns the normal by 3 / radius.
                let error = 4 + (3 << 16) / i128::from(shape.radius.max(1));
                assert!(
                    against <= i128::from(segment.length()) * error,
                    "{shape:?} {segment:?} {cast:?} {n:?}"
                );
            }
            assert!(seen.iter().all(|&n| n > 100), "seed {seed}: inside, face, corner, miss {seen:?}");
        }
    }

    #[test]
    fn points_of_short_and_long_segments_are_those_of_exact_fractions() {
        let mut rng = Pcg32::new(3, 4);
        for _ in 0..20_000 {
            let delta = [0, 1].map(|_| i64::from(between(&mut rng, -(1 << 30), 1 << 30)) >> rng.below(24));
            let segment = Segment { from: point(&mut rng, 1 << 20), delta };
            let place = u64::from(rng.below(u32::MAX)) + u64::from(rng.below(2));
            let exact = [0, 1].map(|axis| {
                let way = i128::from(delta[axis]) * i128::from(place);
                (i128::from(segment.from[axis]) + ((way + (1 << 31)) >> 32)) as i32
            });
            assert_eq!(segment.point(place), exact, "{segment:?} {place}");
        }
    }

    #[test]
    fn known_casts() {
        let disc = RoundedBox { centre: [1000, 0], half: [0; 2], radius: 100 };
        let cast = |shape: &RoundedBox, from, to| shape.cast(&Segment::new(from, to));
        let half = 1 << (FRACTION_BITS - 1);
        // 3-4-5 triangle: the hit is at (920, 60), halfway. A hit on a circle may be slightly early.
        let found = cast(&disc, [20, 60], [1820, 60]).unwrap();
        assert_eq!(found.side, Side::Corner([1000, 0]));
        assert!(found.place <= half && found.place > half - half / 900, "{found:?}");
        let n = normal(&Segment::new([20, 60], [1820, 60]), &found);
        assert!((n[0] + 52_429).abs() < 1 << 10 && (n[1] - 39_322).abs() < 1 << 10, "(-0.8, 0.6): {n:?}");
        assert!(cast(&disc, [0, 100], [2000, 100]).is_some(), "touching is meeting");
        assert_eq!(cast(&disc, [0, 101], [2000, 101]), None);
        assert!(cast(&disc, [0, 0], [900, 0]).is_some());
        assert_eq!(cast(&disc, [0, 0], [899, 0]), None);
        let wall = RoundedBox { centre: [1000, 0], half: [100, 50], radius: 0 };
        let exactly_half = Some(Cast { place: half, side: Side::Face(0) });
        assert_eq!(cast(&wall, [0, 50], [1800, 50]), exactly_half);
        assert_eq!(cast(&wall, [0, 51], [1800, 51]), None);
        assert_eq!(cast(&wall, [900, 50], [0, 0]), Some(Cast { place: 0, side: Side::Inside }));
        assert_eq!(cast(&wall, [0, 0], [0, 0]), None, "a point outside");
    }

    #[test]
    fn areas_meet_what_they_touch() {
        let disc = RoundedBox { centre: [0, 0], half: [0; 2], radius: 5 };
        let area = |x: i32, y: i32| RawBox { min: [x, y], max: [x + 10, y + 10] };
        assert!(disc.meets(&area(5, 0)));
        assert!(!disc.meets(&area(6, 0)));
        assert!(disc.meets(&area(3, 4)), "3-4-5");
        assert!(!disc.meets(&area(4, 4)), "in the bounding box only");
        let wall = RoundedBox { centre: [0, 0], half: [5, 5], radius: 0 };
        assert!(wall.meets(&area(5, 5)));
        assert!(!wall.meets(&area(5, 6)));
        assert!(wall.meets(&RawBox { min: [i32::MIN + 1; 2], max: [i32::MAX - 1; 2] }));
    }
}
