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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::narrow_phase::{UNIT, manifold, separation};

    /// No definition can make a box with round corners yet. Contacts and continuous collision know what it is nevertheless.
    #[test]
    fn boxes_with_round_corners_have_room() {
        const ONE: i32 = 1 << 16;
        let round = Shell { half: [ONE; 2], radius: ONE, ..Shell::HOLE };
        let disc = |place: i32| Shell { position: [place; 2], radius: ONE / 2, ..Shell::HOLE };
        // Beside the corner (2, 2) of the box around it: .055 away from the round corner, or .015 within it.
        let away = manifold(&round, &disc(ONE * 21 / 10), ONE).expect("near");
        assert!((away.gap - 3_646).abs() <= 2 && away.normal[0] == away.normal[1], "{away:?}");
        let touching = manifold(&round, &disc(ONE * 41 / 20), ONE).expect("near");
        assert!((touching.gap + 988).abs() <= 2 && touching.normal[0] == touching.normal[1], "{touching:?}");
        // Two of them, side by side and corner to corner: 1/2 apart, and (3 - 2) * sqrt(2) - 2 = -.586.
        let other = |position: [i32; 2]| Shell { position, ..round };
        let (normal, gap) = separation(&round, &other([4 * ONE + ONE / 2, ONE]));
        assert!(UNIT - normal[0] < 4 && normal[1] == 0 && gap == ONE / 2, "{normal:?} {gap}");
        let (_, gap) = separation(&round, &other([3 * ONE; 2]));
        assert!((gap + 38_390).abs() <= 2, "{gap}");
        // The core of what flies through it has radius 7/16. It stops 23/16 from the corner of the core: at 1 + 23/16 / sqrt(2) = 2.01646.
        let barrier = sweep(&disc(5 * ONE), [-10 * ONE; 2], &round).expect("it is in the way");
        let stopped = 5 * ONE - ((i64::from(10 * ONE) * i64::from(barrier.part)) >> UNIT_BITS) as i32;
        assert!((stopped - 132_151).abs() < 3, "{stopped}");
    }
}
