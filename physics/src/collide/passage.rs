//! Passage: how two shapes pass each other within a frame, or hit each other.
//!
//! A contact uses the normal at the time of impact; for shapes that pass each other, the normal at the time when they are nearest. With the
//! normal at the start of the frame, a corner that a fast body clears would deflect it. Relative to the first shape only the second one
//! moves, so the path is a segment against the Minkowski sum of both, the rounded box of [`crate::collide::rounded_box`]. A path may have
//! two legs: a body that a wall will stop continues along the wall, and does not hit what lies behind it.

use crate::body::record::Shell;
use crate::collide::narrow_phase::{Manifold, UNIT_BITS, separation};
use crate::collide::rounded_box::{FRACTION_BITS, RoundedBox, Segment};
use crate::math::axes::both;

/// Steps of the search for the nearest point; each leaves five eighths of the path, all of them together less than a thousandth.
const SEARCH_STEPS: u32 = 15;

/// How two shapes pass each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The normal at the time when they are nearest, and their distance along it at the start.
    pub(crate) manifold: Manifold,
    /// How far the second one has moved by then, relative to the first one.
    pub(crate) moved: [i32; 2],
    /// Their distance at that time.
    pub(crate) nearest: i32,
    /// That time: 32 fraction bits of the first leg; in the second leg, one more.
    pub(crate) place: u64,
}

impl Passage {
    /// Two shapes that are `gap` apart after the second one came by `moved`: back along the normal to where the frame begins.
    pub(crate) fn from_begin(normal: [i32; 2], gap: i32, moved: [i32; 2], place: u64) -> Self {
        let come: i64 = (0..2).map(|axis| i64::from(moved[axis]) * i64::from(normal[axis])).sum();
        let nearest = gap;
        let gap = i64::from(gap) - ((come + (1 << (UNIT_BITS - 1))) >> UNIT_BITS);
        let gap = gap.clamp(-(1 << 30), 1 << 30) as i32;
        Self { manifold: Manifold { normal, gap }, moved, nearest, place }
    }
}

/// The rounded box that the centre of `b` must not enter.
fn sum(a: &Shell, b: &Shell) -> RoundedBox {
    RoundedBox {
        centre: a.position,
        half: [a.half[0] + b.half[0], a.half[1] + b.half[1]],
        radius: a.radius + b.radius,
    }
}

fn way(b: &Shell, motion: [i32; 2]) -> Segment {
    Segment { from: b.position, delta: both(motion, i64::from) }
}

/// Whether two shapes touch while `b` moves by `motion` as seen from `a`; exact.
pub(crate) fn meets(a: &Shell, b: &Shell, motion: [i32; 2]) -> bool {
    sum(a, b).cast(&way(b, motion)).is_some()
}

/// How `b` passes `a` while it moves by `legs`, one after the other, relative to `a`; `None` if they stay more than `margin` raw units
/// apart.
pub(crate) fn passage(a: &Shell, b: &Shell, legs: [[i32; 2]; 2], margin: i32) -> Option<Passage> {
    if is_beyond(a, b, legs, margin) { None } else { by_legs(a, b, legs, margin) }
}

/// [`passage`] of any pair.
fn by_legs(a: &Shell, b: &Shell, legs: [[i32; 2]; 2], margin: i32) -> Option<Passage> {
    let (mut best, mut turn) = (leg(a, b, legs[0]), b.position);
    if !best.meets && legs[1] != [0; 2] {
        turn = [turn[0] + legs[0][0], turn[1] + legs[0][1]];
        let second = leg(a, &Shell { position: turn, ..*b }, legs[1]);
        if second.manifold.gap < best.manifold.gap {
            best = Nearest { place: second.place + (1 << FRACTION_BITS), ..second };
        }
    }
    let Manifold { normal, gap } = best.manifold;
    let moved = [best.position[0] - b.position[0], best.position[1] - b.position[1]];
    (gap <= margin).then(|| Passage::from_begin(normal, gap, moved, best.place))
}

/// Whether `b` stays more than `margin` beside `a` on an axis, on a path as in [`passage`]: quickly, for most pairs of fast bodies.
fn is_beyond(a: &Shell, b: &Shell, legs: [[i32; 2]; 2], margin: i32) -> bool {
    (0..2).any(|axis| {
        let from = i64::from(b.position[axis]) - i64::from(a.position[axis]);
        let turn = from + i64::from(legs[0][axis]);
        let to = turn + i64::from(legs[1][axis]);
        let reach: i64 = [a.half[axis], b.half[axis], a.radius, b.radius, margin].map(i64::from).iter().sum();
        from.min(turn).min(to) > reach || from.max(turn).max(to) < -reach
    })
}

/// The position of `b` when it is nearest to `a` on a straight path.
struct Nearest {
    position: [i32; 2],
    manifold: Manifold,
    place: u64,
    meets: bool,
}

fn leg(a: &Shell, b: &Shell, motion: [i32; 2]) -> Nearest {
    let (sum, way) = (sum(a, b), way(b, motion));
    let cast = sum.cast(&way);
    let place = cast.map_or_else(
        || nearest_place(|place| sum.core_distance_squared(way.point(place))),
        |cast| cast.place,
    );
    let position = way.point(place);
    let (normal, gap) = separation(a, &Shell { position, ..*b });
    Nearest { position, manifold: Manifold { normal, gap }, place, meets: cast.is_some() }
}

/// Where `b`, which moves by `motion` relative to `a`, hits it: fraction of the path (32 fraction bits), distance moved, and the manifold
/// there. `None` if it does not, or if it does not move inwards.
pub(crate) fn impact(a: &Shell, b: &Shell, motion: [i32; 2]) -> Option<(u64, [i32; 2], Manifold)> {
    let way = way(b, motion);
    let place = sum(a, b).cast(&way)?.place;
    let position = way.point(place);
    let (normal, gap) = separation(a, &Shell { position, ..*b });
    let inward: i64 = (0..2).map(|axis| i64::from(motion[axis]) * i64::from(normal[axis])).sum();
    let moved = [position[0] - b.position[0], position[1] - b.position[1]];
    (inward < 0).then_some((place, moved, Manifold { normal, gap }))
}

/// How two shapes meet while `b` moves by `motion` relative to `a`: the normal there, and their distance along it at the start. `None` if they do not,
/// or if `b` does not move inwards.
pub(crate) fn crossing(a: &Shell, b: &Shell, motion: [i32; 2]) -> Option<Manifold> {
    if is_beyond(a, b, [motion, [0; 2]], 0) {
        return None;
    }
    let (place, moved, Manifold { normal, gap }) = impact(a, b, motion)?;
    Some(Passage::from_begin(normal, gap, moved, place).manifold)
}

/// Where a path that passes a convex shape is nearest to it: a fraction of the path in [`FRACTION_BITS`]. `distance` is that of a point of
/// the path, in any unit that grows with it. Along a straight path it has one minimum, so a search that compares two neighbouring points finds it.
pub(crate) fn nearest_place(distance: impl Fn(u64) -> u64) -> u64 {
    let (mut low, mut high) = (0u64, 1 << FRACTION_BITS);
    for _ in 0..SEARCH_STEPS {
        let middle = (low + high) / 2;
        let beside = (high - low) / 8;
        if distance(middle - beside) <= distance(middle + beside) {
            high = middle + beside;
        } else {
            low = middle - beside;
        }
    }
    [low, (low + high) / 2, high].into_iter().min_by_key(|&place| distance(place)).unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Pcg32;

    #[test]
    fn the_quick_test_leaves_out_only_pairs_that_stay_apart() {
        let mut rng = Pcg32::new(7, 1);
        let mut below = |n: u32| rng.below(n) as i32;
        let (mut near, mut far) = (0, 0);
        for _ in 0..20_000 {
            let mut shell = |spread: u32| {
                let (round, size) = (below(2) == 0, 1 + below(1 << 16));
                let (half, radius) = if round { ([0; 2], size) } else { ([size, 1 + below(1 << 16)], 0) };
                let position = [0; 2].map(|_| below(spread) - spread as i32 / 2);
                Shell { position, half, radius, ..Shell::HOLE }
            };
            let (a, b) = (shell(1 << 16), shell(1 << 20));
            let mut leg = || [0; 2].map(|_| below(1 << 19) - (1 << 18));
            let legs = [leg(), leg()];
            let margin = below(1 << 14);
            let (quick, found) = (is_beyond(&a, &b, legs, margin), by_legs(&a, &b, legs, margin));
            assert!(!quick || found.is_none(), "{a:?} {b:?} {legs:?} {margin}");
            near += u32::from(found.is_some());
            far += u32::from(quick);
        }
        assert!(near > 1_000 && far > 1_000, "{near} near, {far} left out");
    }
}
