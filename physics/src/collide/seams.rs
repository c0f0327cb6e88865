//! Seams: where walls consist of several rectangles, the sides and corners inside the wall are not obstacles.
//!
//! A body that slides over flush tiles would be stopped by the side of the next one, into which it has sunk slightly, or deflected by its
//! corner. So a contact with a side is dropped if another nearby rectangle covers this side at the point of contact, and a contact with a
//! corner is dropped if the corner lies on another rectangle.

use crate::body::record::Shell;
use crate::collide::narrow_phase::Manifold;
use crate::math::axes::{both, each_axis};

/// Steps and grooves up to this, raw units (1/64 unit), count as flush; for small bodies a quarter of the extent.
pub(crate) const FLUSH: i32 = 1 << 10;

/// Two sides of a rectangle along an axis.
fn sides(shell: &Shell, axis: usize) -> [i32; 2] {
    [shell.position[axis] - shell.half[axis], shell.position[axis] + shell.half[axis]]
}

/// Whether the part of the rectangle `wall` that `mover` touches lies inside the rectangle `other`. The manifold is that of mover and wall;
/// `before` says that `other` comes before the wall in some order, which decides if two rectangles share the corner.
pub(crate) fn is_covered(mover: &Shell, wall: &Shell, found: &Manifold, other: &Shell, before: bool) -> bool {
    let flush = FLUSH.min((mover.half[0].min(mover.half[1]) + mover.radius) >> 2);
    let normal = found.normal;
    let Some(axis) = [0, 1].into_iter().find(|&axis| normal[1 - axis] == 0) else {
        // The corner that points to the mover.
        let corner = each_axis(|axis| wall.position[axis] - wall.half[axis] * normal[axis].signum());
        return [0, 1].into_iter().all(|axis| {
            let [low, high] = sides(other, axis);
            low - flush <= corner[axis] && corner[axis] <= high + flush
        }) && (before || !is_nearest(mover, other, corner));
    };
    let outward = -normal[axis].signum();
    let face = wall.position[axis] + outward * wall.half[axis];
    // Measured outward from the face, the other one begins at or behind it and ends beyond it.
    let [behind, beyond] = both(sides(other, axis), |side| (side - face) * outward);
    let spans = behind.min(beyond) <= flush && behind.max(beyond) > flush;
    let across = 1 - axis;
    let ([low, high], [least, most]) = (sides(mover, across), sides(wall, across));
    let (low, high) = (low.clamp(least, most), high.clamp(least, most));
    let [least, most] = sides(other, across);
    spans && least - flush <= low && high <= most + flush
}

/// Whether a corner of `other`, at most [`FLUSH`] away from this one, is nearest to `mover`.
fn is_nearest(mover: &Shell, other: &Shell, corner: [i32; 2]) -> bool {
    [0, 1].into_iter().all(|axis| {
        let ([low, high], [least, most]) = (sides(mover, axis), sides(other, axis));
        let side = if high < least { least } else { most };
        (high < least || most < low) && side.abs_diff(corner[axis]) <= FLUSH as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::narrow_phase::manifold;

    fn shell(position: [i32; 2], half: [i32; 2], radius: i32) -> Shell {
        Shell { position, half, radius, ..Shell::HOLE }
    }

    #[test]
    fn sides_and_corners_inside_of_a_wall_are_covered_and_those_outside_are_not() {
        let unit = 1 << 16;
        let tile = |x: i32, y: i32| shell([x * unit, y * unit], [unit / 2, unit / 2], 0);
        let (left, right) = (tile(0, 0), tile(1, 0));
        let found = |mover: &Shell, wall: &Shell| manifold(mover, wall, 2 * unit).expect("near");
        let disc = shell([unit / 4, unit], [0; 2], unit / 2);
        let covered = |mover: &Shell, wall: &Shell, other: &Shell| {
            is_covered(mover, wall, &found(mover, wall), other, false)
        };
        assert!(covered(&disc, &right, &left), "a corner on the seam");
        assert!(!covered(&disc, &left, &right), "the side it lies on");
        let slider = shell([-unit / 2, unit - 9], [unit / 2, unit / 2], 0);
        assert!(covered(&slider, &right, &left), "the side between two tiles");
        assert!(!covered(&slider, &left, &right));
        let step = tile(1, 1);
        assert!(!covered(&slider, &step, &left), "a step");
        let walker = shell([-unit, 3 * unit / 4], [unit / 4, unit / 4], 0);
        assert!(
            !covered(&walker, &right, &shell([-unit, 0], [unit / 2, unit / 4], 0)),
            "a step of a quarter"
        );
    }
}
