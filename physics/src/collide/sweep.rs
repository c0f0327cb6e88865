//! Continuous collision: how far a shape can move before it meets another.
//!
//! Two rounded boxes touch where the centre of one hits their Minkowski sum, the rounded box with both extents added. So the motion is a
//! segment against that box, which is decided exactly ([`RoundedBox::cast`]); the result is never too far.

use crate::body::record::Shell;
use crate::collide::narrow_phase::UNIT_BITS;
use crate::collide::rounded_box::{Cast, FRACTION_BITS, RoundedBox, Segment, Side, normal};

/// Contacts stop a body at a wall. Bodies that pass through one all the same are smaller cores, so that a body can slide along walls and
/// over their seams: quarters of the moving body's size.
pub(crate) const CORES: [i32; 2] = [3, 0];

/// Where an obstacle stops a motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    /// The part of the motion before it, 30 fraction bits.
    pub(crate) part: i32,
    /// Outward normal of the obstacle, 16 fraction bits.
    pub(crate) normal: [i64; 2],
}

impl Barrier {
    pub(crate) fn new(segment: &Segment, cast: &Cast) -> Self {
        let part = (cast.place >> (FRACTION_BITS - UNIT_BITS)) as i32;
        Self { part, normal: normal(segment, cast) }
    }
}

/// Where `motion` ends because three quarters of `mover` touch `obstacle`, or `None` if they do not. For a body that is already deeper
/// inside, the centre counts; if that is inside too, it may leave freely.
pub(crate) fn sweep(mover: &Shell, motion: [i32; 2], obstacle: &Shell) -> Option<Barrier> {
    let segment = Segment { from: mover.position, delta: motion.map(i64::from) };
    for quarters in CORES {
        let core = |extent: i32| extent / 4 * quarters;
        let sum = RoundedBox {
            centre: obstacle.position,
            half: [0, 1].map(|axis| core(mover.half[axis]) + obstacle.half[axis]),
            radius: core(mover.radius) + obstacle.radius,
        };
        let cast = sum.cast(&segment)?;
        if cast.side != Side::Inside {
            return Some(Barrier::new(&segment, &cast));
        }
    }
    None
}
