//! Units and their present tasks.

use std::collections::VecDeque;

use testudo_physics::BodyId;

use crate::kind::Kind;
use crate::point::{Point, squared};

/// Greatest momentum that a unit accumulates, ms.
const MOMENTUM_MAX_MS: u16 = 2_000;

/// The enemy that a unit fights. Numbers of the match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Foe {
    /// By its number.
    Unit(u32),
    /// By its number.
    Building(u32),
}

/// A destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Destination {
    /// The unit's own place at the end.
    pub(crate) place: Point,
    /// The destination that the units of one order share: so they share a flow field.
    pub(crate) goal: Point,
}

impl Destination {
    /// Until its numbers are read.
    pub(crate) const NOWHERE: Self = Self { place: Point::ZERO, goal: Point::ZERO };
}

/// What to do there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    /// See [`Task::March`].
    March,
    /// See [`Task::Attack`].
    Attack,
    /// See [`Task::Strike`].
    Strike(Foe),
    /// See [`Task::Patrol`].
    Patrol { back: Destination },
}

/// Something for a unit to do after its present errand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Errand {
    pub(crate) deed: Deed,
    pub(crate) destination: Destination,
}

/// Most errands of a unit; an order queued behind these is dropped.
pub(crate) const ERRANDS_MAX: usize = 8;

impl Deed {
    /// The task of walking there.
    pub(crate) fn task(self, destination: Destination) -> Task {
        match self {
            Self::March => Task::March(destination),
            Self::Attack => Task::Attack(destination),
            Self::Strike(foe) => Task::Strike { foe, destination },
            Self::Patrol { back } => Task::Patrol { to: destination, back },
        }
    }
}

/// The task that a unit was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Task {
    /// Stays at its post. Attacks enemies that come in sight, and goes back afterwards.
    #[default]
    Hold,
    /// Goes there. Strikes enemies within reach, but does not stop for them.
    March(Destination),
    /// Goes there, and attacks enemies that come in sight.
    Attack(Destination),
    /// Like [`Task::Attack`], then back, until told otherwise: it goes on with its later errands where it would turn.
    Patrol { to: Destination, back: Destination },
    /// Goes to this enemy. On the way it strikes only enemies within reach.
    Strike { foe: Foe, destination: Destination },
    /// Nobody told it: like [`Task::Attack`], to an enemy who strikes a building near its post. Afterwards it goes back there.
    Aid(Destination),
    /// Nobody told it: goes back to its post. Attacks as its stance says.
    Return(Destination),
}

/// What a unit does when it has no orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stance {
    /// Attacks enemies that come in sight of its post, and those who strike a building near it.
    #[default]
    Defend,
    /// Stays where it is, and strikes only enemies within reach.
    Hold,
    /// Like [`Stance::Defend`], but it sees twice as far, and pursues.
    Pursue,
}

impl Stance {
    /// By their numbers in orders and in the state.
    pub(crate) const ALL: [Self; 3] = [Self::Defend, Self::Hold, Self::Pursue];

    /// In the order in which a person goes through them.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

impl Task {
    /// One of each, by their numbers in the state.
    pub(crate) const ALL: [Self; 7] = [
        Self::Hold,
        Self::March(Destination::NOWHERE),
        Self::Attack(Destination::NOWHERE),
        Self::Patrol { to: Destination::NOWHERE, back: Destination::NOWHERE },
        Self::Strike { foe: Foe::Unit(0), destination: Destination::NOWHERE },
        Self::Aid(Destination::NOWHERE),
        Self::Return(Destination::NOWHERE),
    ];

    /// Which one of [`Task::ALL`] it is, whatever its parts.
    pub(crate) fn number(&self) -> u8 {
        match self {
            Self::Hold => 0,
            Self::March(_) => 1,
            Self::Attack(_) => 2,
            Self::Patrol { .. } => 3,
            Self::Strike { .. } => 4,
            Self::Aid(_) => 5,
            Self::Return(_) => 6,
        }
    }

    /// Where the unit goes now.
    pub(crate) fn destination(&self) -> Option<&Destination> {
        match self {
            Self::Hold => None,
            Self::March(destination)
            | Self::Attack(destination)
            | Self::Patrol { to: destination, .. }
            | Self::Strike { destination, .. }
            | Self::Aid(destination)
            | Self::Return(destination) => Some(destination),
        }
    }

    /// Nobody told it to do anything: an order that is queued begins at once.
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Self::Hold | Self::Aid(_) | Self::Return(_) => true,
            Self::March(_) | Self::Attack(_) | Self::Patrol { .. } | Self::Strike { .. } => false,
        }
    }
}

/// One place in an army. When the unit falls, a recruit takes its number.
///
/// What every frame reads comes first, in one line of the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Unit {
    /// The body in the world; none while the place waits for a recruit.
    pub(crate) body: Option<BodyId>,
    /// The enemy that it fights.
    pub(crate) target: Option<Foe>,
    /// From when on it can strike, by the time of the match, ms.
    pub(crate) ready_ms: u64,
    /// The army: the player who commands it.
    pub(crate) army: u8,
    pub(crate) kind: Kind,
    pub(crate) stance: Stance,
    /// Bit `n`: member of control group `n`.
    pub(crate) groups: u16,
    /// At most 0 only between a blow and the end of its frame.
    pub(crate) hit_points: i32,
    /// Where it stands when it has nothing to do; it goes back there when it was pushed or drawn away.
    pub(crate) post: Point,
    /// For how long it has been away from its post with nothing to do, ms; stops counting at its largest value.
    pub(crate) away_ms: u16,
    pub(crate) task: Task,
    /// Its later errands, the next one first; at most [`ERRANDS_MAX`].
    pub(crate) errands: VecDeque<Errand>,
}

impl Unit {
    /// Its momentum for a charge: for how long it has run, ms, where it was `running_ms` a frame before. It gathers some while it runs at three quarters of its
    /// speed or more, and loses it twice as fast while it does not.
    pub(crate) fn momentum(&self, running_ms: u16, velocity: Point, elapsed_ms: u16) -> u16 {
        let quick = self.kind.stats().speed / 4 * 3;
        if velocity.distance_squared(Point::ZERO) >= squared(quick) {
            running_ms.saturating_add(elapsed_ms).min(MOMENTUM_MAX_MS)
        } else {
            running_ms.saturating_sub(elapsed_ms.saturating_mul(2))
        }
    }

    /// Has nothing to do any more, and stays at a place.
    pub(crate) fn settle(&mut self, post: Point) {
        (self.task, self.post, self.away_ms) = (Task::Hold, post, 0);
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.body.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler asks here for a new task, and the test for its number.
    fn after(task: Task) -> Option<Task> {
        let next = |task: Task| Some(Task::ALL[usize::from(task.number()) + 1]);
        match task {
            Task::Hold
            | Task::March(_)
            | Task::Attack(_)
            | Task::Patrol { .. }
            | Task::Strike { .. }
            | Task::Aid(_) => next(task),
            Task::Return(_) => None,
        }
    }

    #[test]
    fn each_task_has_a_number_of_its_own() {
        let all: Vec<Task> = core::iter::successors(Some(Task::Hold), |task| after(*task)).collect();
        assert_eq!(all, Task::ALL);
        assert!((0..).zip(&all).all(|(number, task)| task.number() == number));
    }
}
