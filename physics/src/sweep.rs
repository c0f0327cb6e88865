//! Continuous collision: how far a shape can move before it meets another.
//!
//! Conservative advancement (B. Mirtich, 1996): the shape may always move by the gap between the two without touching,
//! so the motion is followed in such steps until the gap is closed or the motion ends. Every step is safe by itself, so a
//! motion that is cut off after the last step is short, never too long.

use crate::body::Shell;
use crate::narrow_phase::{UNIT, UNIT_BITS, manifold};

/// Steps after which a grazing motion is cut off.
const STEPS_MAX: u32 = 64;

/// A gap that counts as closed, raw units.
const TOUCHING: i32 = 2;

/// The part of `motion` (30 fraction bits) that `mover` can go before it touches `obstacle`, or `None` when it does not
/// touch. A mover that overlaps already is stopped at once when it moves further in.
pub(crate) fn sweep(mover: &Shell, motion: [i32; 2], obstacle: &Shell) -> Option<i32> {
    let length = crate::motion::speed(motion).max(1);
    let mut at = 0i64;
    for _ in 0..STEPS_MAX {
        let mut moved = *mover;
        for axis in 0..2 {
            moved.position[axis] += ((i64::from(motion[axis]) * at) >> UNIT_BITS) as i32;
        }
        // No margin cuts the distance off: the gap is wanted however large it is.
        let m = manifold(&moved, obstacle, i32::MAX / 4)?;
        let inward: i64 = (0..2).map(|x| (i64::from(motion[x]) * i64::from(m.normal[x])) >> UNIT_BITS).sum();
        if m.gap <= TOUCHING {
            return (inward > 0).then_some(at as i32);
        }
        if inward <= 0 {
            return None;
        }
        at += ((i64::from(m.gap) << UNIT_BITS) / length).max(1);
        if at >= i64::from(UNIT) {
            return None;
        }
    }
    Some(at as i32)
}
