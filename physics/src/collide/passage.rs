//! Passage: how two shapes go past each other within a frame, or into each other.
//!
//! A contact takes the normal of the moment when the shapes meet; of shapes that pass, that of the moment when they are nearest. With the
//! normal of the frame's begin a fast body would be turned by a corner that it clears. Seen from the first shape only the second one moves, so the
//! way is a segment against the Minkowski sum of both, the rounded box of [`crate::collide::rounded_box`].

use crate::body::record::Shell;
use crate::collide::narrow_phase::{Manifold, UNIT_BITS, separation};
use crate::collide::rounded_box::{FRACTION_BITS, RoundedBox, Segment};

/// Steps of the search for the nearest place; each leaves five eighths of the way, all of them less than a thousandth.
const SEARCH_STEPS: u32 = 15;

/// The rounded box that the centre of `b` must not enter.
fn sum(a: &Shell, b: &Shell) -> RoundedBox {
    RoundedBox {
        centre: a.position,
        half: [a.half[0] + b.half[0], a.half[1] + b.half[1]],
        radius: a.radius + b.radius,
    }
}

fn way(b: &Shell, motion: [i32; 2]) -> Segment {
    Segment { from: b.position, delta: motion.map(i64::from) }
}

/// Whether two shapes touch while `b` moves by `motion` as seen from `a`; exact.
pub(crate) fn meets(a: &Shell, b: &Shell, motion: [i32; 2]) -> bool {
    sum(a, b).cast(&way(b, motion)).is_some()
}

/// How `b` passes `a` while it moves by `motion` as seen from there: the normal of the moment when they are nearest, and how far they are apart
/// along it at the begin. `None` when they stay more than `margin` raw units apart.
pub(crate) fn passage(a: &Shell, b: &Shell, motion: [i32; 2], margin: i32) -> Option<Manifold> {
    let (sum, way) = (sum(a, b), way(b, motion));
    let place = sum.cast(&way).map_or_else(|| nearest_place(&sum, &way), |cast| cast.place);
    let position = way.point(place);
    let (normal, gap) = separation(a, &Shell { position, ..*b });
    if gap > margin {
        return None;
    }
    // Back along the normal to where the frame begins.
    let come: i64 =
        (0..2).map(|axis| i64::from(position[axis] - b.position[axis]) * i64::from(normal[axis])).sum();
    let gap = i64::from(gap) - ((come + (1 << (UNIT_BITS - 1))) >> UNIT_BITS);
    let gap = gap.clamp(-(1 << 30), 1 << 30) as i32;
    Some(Manifold { normal, gap })
}

/// Where a way that passes a rounded box is nearest to it. The distance from a convex shape along a straight way has one minimum, so a
/// search that compares two neighbouring places finds it.
fn nearest_place(shape: &RoundedBox, way: &Segment) -> u64 {
    let distance = |place: u64| shape.core_distance_squared(way.point(place));
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
