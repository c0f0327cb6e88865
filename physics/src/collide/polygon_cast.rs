//! Where a moving point meets a rounded polygon.

use crate::collide::polygon::{Feature, RoundedPolygon, dot, length, minus, rightward};
use crate::collide::rounded_box::{FRACTION_BITS, Segment, cast_on_circle};
use crate::math::axes::both;

/// How a moving point meets an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// It starts inside.
    Inside,
    /// This edge, begin to end.
    Edge([i32; 2]),
    /// The round part around this corner.
    Corner([i32; 2]),
}

impl RoundedPolygon {
    /// Where a moving point first meets the features of the outline that `bears` accepts: part of its path, 32 fraction bits.
    pub(crate) fn cast(
        &self,
        way: &Segment,
        bears: impl Fn(Feature, [i128; 2]) -> bool,
    ) -> Option<(u64, Met)> {
        if self.contains(way.from) {
            return Some((0, Met::Inside));
        }
        let mut first: Option<(u64, Met)> = None;
        let mut note = |place: u64, met: Met| {
            if first.is_none_or(|(least, _)| place < least) {
                first = Some((place, met));
            }
        };
        for at in 0..self.count {
            let edge = self.edge(at);
            if let Some(place) = self.cast_on_edge(at, way)
                && bears(self.edge_feature(at), [edge[1], -edge[0]])
            {
                note(place, Met::Edge(both(edge, |c| c as i32)));
            }
            let corner = self.corners[at];
            if self.radius > 0
                && let Some(place) = cast_on_circle(way, corner, self.radius)
            {
                let out = minus(way.point(place), corner);
                let before = self.edge(if at == 0 { self.count - 1 } else { at - 1 });
                // One raw unit more on both sides, so that nothing slips through between a corner and an edge.
                let within =
                    dot(out, edge) <= length(edge) >> 16 && -dot(out, before) <= length(before) >> 16;
                if within && bears(self.corner_feature(at), out) {
                    note(place, Met::Corner(corner));
                }
            }
        }
        first
    }

    /// Where a moving point comes in front of an edge of the polygon that it goes towards, already in reach of it. Such a path comes by the end of the edge,
    /// where `bears` may refuse the corner. `polygon` has the corners without the box.
    pub(crate) fn cast_beside(
        &self,
        polygon: &[[i32; 2]],
        way: &Segment,
        bears: impl Fn(Feature, [i128; 2]) -> bool,
    ) -> Option<(u64, Met)> {
        let delta = both(way.delta, i128::from);
        let meets = |at: usize| {
            let edge = self.edge(at);
            let (ahead, square) = (dot(delta, edge), dot(edge, edge));
            let along = dot(minus(way.from, self.corners[at]), edge);
            let far = if ahead < 0 { along - square } else { -along };
            // Past the plane through the end of the edge by more than places are rounded.
            let far = far + 3 * edge[0].abs().max(edge[1].abs());
            if far <= 0 || far > ahead.abs() || rightward(delta, edge) >= 0 {
                return None;
            }
            let place = ((far << FRACTION_BITS) / ahead.abs()) as u64;
            let there = way.point(place);
            let above = rightward(minus(there, self.corners[at]), edge)
                - i128::from(self.radius) * (length(edge) >> 16);
            let is_in_front =
                above <= 0 && rightward(minus(there, polygon[usize::from(self.sources[at])]), edge) > 0;
            (is_in_front && bears(self.edge_feature(at), [edge[1], -edge[0]]))
                .then(|| (place, Met::Edge(both(edge, |c| c as i32))))
        };
        (0..self.count)
            .filter(|&at| self.edge_feature(at).from.is_none())
            .filter_map(meets)
            .min_by_key(|&(place, _)| place)
    }

    /// Where a path that starts outside first meets a corner of a core without radius: on the line of a segment it crosses no edge.
    pub(crate) fn cast_on_corners(&self, way: &Segment) -> Option<(u64, Met)> {
        let delta = both(way.delta, i128::from);
        let whole = dot(delta, delta);
        let corners = self.corners[..self.count].iter().filter(|_| self.radius == 0);
        let met = corners.filter_map(|&corner| {
            let from = minus(corner, way.from);
            let along = dot(from, delta);
            let meets = rightward(from, delta) == 0 && 0 < along && along <= whole;
            meets.then(|| (((along << FRACTION_BITS) / whole) as u64, Met::Corner(corner)))
        });
        met.min_by_key(|&(place, _)| place)
    }

    /// Where a path that starts outside crosses a straight side.
    fn cast_on_edge(&self, at: usize, way: &Segment) -> Option<u64> {
        let (edge, delta) = (self.edge(at), both(way.delta, i128::from));
        let speed = -rightward(delta, edge);
        if speed <= 0 {
            return None;
        }
        let from = minus(way.from, self.corners[at]);
        let length = length(edge);
        // Distances times the edge's length, 16 fraction bits.
        let far = (rightward(from, edge) << 16) - i128::from(self.radius) * length;
        if far < 0 || far > speed << 16 {
            return None;
        }
        let place = (far << 16) / speed;
        let along = (dot(from, edge) << FRACTION_BITS) + place * dot(delta, edge);
        // One raw unit more at both ends.
        let slack = length << (FRACTION_BITS - 16);
        (-slack <= along && along <= (dot(edge, edge) << FRACTION_BITS) + slack).then_some(place as u64)
    }
}

/// Accepts every feature.
pub(crate) fn all(_: Feature, _: [i128; 2]) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::polygon::Bearer;
    use crate::collide::polygon::tests::{between, outline};
    use crate::math::rng::Pcg32;

    /// A place just before where a way meets is outside, one just behind it inside, at every scale.
    #[test]
    fn casts_end_at_the_surface() {
        let rng = &mut Pcg32::new(4, 0);
        for spread in [1 << 12, 1 << 20, 1 << 28] {
            let (mut met, mut missed) = (0, 0);
            for _ in 0..2_000 {
                let corners = outline(rng, spread);
                let half = [0, 1].map(|_| between(rng, 0, spread / 4));
                let radius = between(rng, 0, spread / 4) * between(rng, 0, 1);
                let sum = RoundedPolygon::sum(&corners, half.map(|h| -h), half, radius);
                let [from, to] = [0, 1].map(|_| [0, 1].map(|_| between(rng, -2 * spread, 2 * spread)));
                let way = Segment::new(from, to);
                let gap = |place: u64| {
                    let nearest = sum.nearest(way.point(place), |_, _| Bearer::Itself).expect("one bears");
                    i64::from(nearest.gap)
                };
                match sum.cast(&way, all) {
                    None => {
                        missed += 1;
                        assert!((0..=64).all(|part| gap(part << (FRACTION_BITS - 6)) >= -3));
                    }
                    Some((0, Met::Inside)) => assert!(gap(0) <= 3),
                    Some((place, _)) => {
                        met += 1;
                        assert!(
                            gap(place).abs() <= 3,
                            "{corners:?} {half:?} {radius} {way:?}: {}",
                            gap(place)
                        );
                        let steps = (0..64).map(|part| place / 64 * part);
                        assert!(steps.into_iter().all(|place| gap(place) >= -3));
                    }
                }
            }
            assert!(met > 300 && missed > 300, "{met} {missed}");
        }
    }

    /// A point that starts beside the end of a segment, within its radius, and goes on towards its front.
    #[test]
    fn a_path_by_the_end_comes_beside_the_edge() {
        let rng = &mut Pcg32::new(5, 0);
        let (mut met, mut missed) = (0, 0);
        for _ in 0..4_000 {
            let (length, radius) = (between(rng, 100, 100_000), between(rng, 100, 100_000));
            let polygon = [[0, 0], [length, 0]];
            let sum = RoundedPolygon::sum(&polygon, [0; 2], [0; 2], radius);
            // The right side is in front of the first edge, the left one in front of the second.
            let side = between(rng, 0, 1) * 2 - 1;
            let from = [-between(rng, 1, radius), side * between(rng, 1, radius)];
            let to = [between(rng, -radius, 2 * length), -side * between(rng, -radius, radius)];
            let way = Segment::new(from, to);
            let found = sum.cast_beside(&polygon, &way, all);
            // Three raw units past the end of the segment it is still before the segment's line, and not beyond its other end.
            let there = found.map(|(place, _)| way.point(place));
            let crosses = |[x, y]: [i32; 2]| (2..=5).contains(&x) && y * side > 0;
            assert!(there.is_none_or(crosses), "{length} {radius} {way:?} {there:?}");
            let [across, down] = [i128::from(to[0] - from[0]), i128::from((from[1] - to[1]) * side)];
            let height = i128::from(from[1] * side) * across - down * i128::from(4 - from[0]);
            let comes = across > 4 - i128::from(from[0]) && down > 0 && height > across;
            assert!(!comes || there.is_some(), "{length} {radius} {way:?}");
            (met, missed) = (met + i32::from(there.is_some()), missed + i32::from(there.is_none()));
            assert_eq!(sum.cast_beside(&polygon, &way, |_, _| false), None);
        }
        assert!(met > 300 && missed > 300, "{met} {missed}");
    }
}
