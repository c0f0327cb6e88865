//! The bodies of a step as the solver sees them.

use crate::body::record::Shell;
use crate::body::working_index::WorkingIndex;
use crate::solve::solver::Velocity;

/// A body whose velocity along locked axes is restored after every pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locked {
    pub(crate) body: WorkingIndex,
    pub(crate) axis: u8,
    pub(crate) velocity: i32,
}

/// Arrays by working index.
pub(crate) struct Bodies<'a> {
    pub(crate) shells: &'a [Shell],
    pub(crate) velocities: &'a mut [Velocity],
    /// What gravity and forces added to the velocities in this frame, or empty.
    pub(crate) gained: &'a [[i32; 2]],
    pub(crate) locked: &'a [Locked],
    /// The kinematic bodies at rest, ascending. Moving bodies that the solver cannot move are kinematic, too.
    pub(crate) parked: &'a [WorkingIndex],
    /// Whether there is a kinematic body.
    pub(crate) some_kinematic: bool,
}

/// Restores the velocities along locked axes.
pub(crate) fn hold(locked: &[Locked], velocities: &mut [Velocity]) {
    for locked in locked {
        let velocity = &mut velocities[locked.body];
        let mut v = velocity.get();
        v[usize::from(locked.axis)] = locked.velocity;
        *velocity = Velocity::new(v);
    }
}
