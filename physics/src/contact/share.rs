//! How two bodies share a change of their closing speed.

use crate::body::record::{Body, Shell, flag};
use crate::collide::narrow_phase::{UNIT, UNIT_BITS};

/// The share where a locked axis takes no part: a body locked along the normal cannot be moved by this contact. Of two that can be moved,
/// the one of the lower rank takes all. `None` when neither body can.
#[cold]
pub(crate) fn share_with_locks(
    bodies: &[Body],
    a: &Shell,
    b: &Shell,
    normal: [i32; 2],
    ranks: [i16; 2],
) -> Option<i32> {
    let freedom = |shell: &Shell| {
        let body = &bodies[shell.slot];
        let along = |axis: usize, bit: u32| {
            let n = u64::from(normal[axis].unsigned_abs()) >> 15;
            if body.has(bit) { 0 } else { n * n }
        };
        // 30 fraction bits; mass 0 (immovable) has none.
        if shell.mass == 0 { 0 } else { along(0, flag::LOCK_X) + along(1, flag::LOCK_Y) }
    };
    let free = [freedom(a), freedom(b)];
    if ranks[0] != ranks[1] && free[0] != 0 && free[1] != 0 {
        return Some(if ranks[0] < ranks[1] { UNIT } else { 0 });
    }
    let weight = |free: u64, mass: u32| u128::from(free) * u128::from(mass.max(1));
    let (to_a, to_b) = (weight(free[0], b.mass), weight(free[1], a.mass));
    ((to_a << UNIT_BITS).checked_div(to_a + to_b)).map(|share| share as i32)
}
