//! Continuous collision: how far a shape can move before it meets another.
//!
//! Two rounded boxes touch where the centre of the one meets their Minkowski sum, the rounded box with both extents added.
//! So the motion is a segment against that, which is decided exactly ([`RoundedBox::cast`]); the place is never too far.

use crate::body::record::Shell;
use crate::collide::narrow_phase::{UNIT_BITS, manifold};
use crate::collide::rounded_box::{FRACTION_BITS, RoundedBox, Segment, Side};

/// A manifold's gap may be this wrong, raw units: shapes that touch may seem to be apart.
const GAP_ERROR_MAX: i32 = 4;

/// The part of `motion` (30 fraction bits) that `mover` can go before it touches `obstacle`, or `None` when it does not
/// touch. A mover that touches or overlaps already is stopped at once when it moves further in.
pub(crate) fn sweep(mover: &Shell, motion: [i32; 2], obstacle: &Shell) -> Option<i32> {
    let sum = RoundedBox {
        centre: obstacle.position,
        half: [mover.half[0] + obstacle.half[0], mover.half[1] + obstacle.half[1]],
        radius: mover.radius + obstacle.radius,
    };
    let cast = sum.cast(&Segment { from: mover.position, delta: motion.map(i64::from) })?;
    if cast.side == Side::Inside {
        let normal = manifold(mover, obstacle, GAP_ERROR_MAX)?.normal;
        let inward: i64 = (0..2).map(|x| i64::from(motion[x]) * i64::from(normal[x])).sum();
        return (inward > 0).then_some(0);
    }
    Some((cast.place >> (FRACTION_BITS - UNIT_BITS)) as i32)
}
