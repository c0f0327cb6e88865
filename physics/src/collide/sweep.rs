//! Continuous collision: how far a shape can move before it meets another.
//!
//! Two rounded boxes touch where the centre of one hits their Minkowski sum, the rounded box with both extents added. So the motion is a
//! segment against that box, which is decided exactly ([`RoundedBox::cast`]); the result is never too far.

use crate::body::record::Shell;
use crate::collide::narrow_phase::UNIT_BITS;
use crate::collide::rounded_box::{Cast, FRACTION_BITS, RoundedBox, Segment, Side, normal};
use crate::math::axes::{both, each_axis};

/// By how much the core of a body is smaller than the body, at most, raw units: 1/16 unit.
const SLACK: i32 = 1 << 12;

/// What meets a wall. Contacts stop a body there. What passes through a wall all the same is a core, so that a body can slide along walls and over their seams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core {
    /// The body, smaller by a quarter of each extent, by [`SLACK`] at most.
    Body,
    /// Its centre.
    Centre,
}

impl Core {
    /// In the order of asking. A body whose core is already inside is deeper, and its centre counts; if that is inside too, it may leave freely.
    pub(crate) const ALL: [Self; 2] = [Self::Body, Self::Centre];

    /// The core's extent, from the body's.
    pub(crate) fn of(self, extent: i32) -> i32 {
        match self {
            Self::Body => extent - (extent / 4).min(SLACK),
            Self::Centre => 0,
        }
    }
}

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

/// Where `motion` ends because the [core](Core) of `mover` touches `obstacle`, or `None` if it does not.
pub(crate) fn sweep(mover: &Shell, motion: [i32; 2], obstacle: &Shell) -> Option<Barrier> {
    let segment = Segment { from: mover.position, delta: both(motion, i64::from) };
    for core in Core::ALL {
        let sum = RoundedBox {
            centre: obstacle.position,
            half: each_axis(|axis| core.of(mover.half[axis]) + obstacle.half[axis]),
            radius: core.of(mover.radius) + obstacle.radius,
        };
        let cast = sum.cast(&segment)?;
        if cast.side != Side::Inside {
            return Some(Barrier::new(&segment, &cast));
        }
    }
    None
}
