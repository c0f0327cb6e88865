//! Units: what they do at the moment.

use testudo_physics::BodyId;

use crate::game::kind::Kind;
use crate::game::point::Point;
use crate::game::routes::RouteId;

/// Whom a unit fights. Numbers of the match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Foe {
    Unit(u32),
    Building(u32),
}

/// Where to, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    /// The unit's own place at the end.
    pub(crate) place: Point,
    /// The route that it shares with others; none: straight.
    pub(crate) route: Option<RouteId>,
}

/// What a unit was told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Task {
    /// Stays, attacks who comes in sight.
    #[default]
    Hold,
    /// Goes there and does not look around.
    March(Way),
    /// Goes there, attacks who comes in sight.
    Attack(Way),
    /// As [`Task::Attack`], and back, until told otherwise.
    Patrol { to: Way, back: Way },
    /// Goes to this enemy and attacks nobody else.
    Strike { foe: Foe, way: Way },
}

impl Task {
    /// Where the unit goes now.
    pub(crate) fn way(&self) -> Option<&Way> {
        match self {
            Self::Hold => None,
            Self::March(way)
            | Self::Attack(way)
            | Self::Patrol { to: way, .. }
            | Self::Strike { way, .. } => Some(way),
        }
    }

    /// The task of a unit that has come to the end of its way.
    pub(crate) fn arrived(self) -> Self {
        match self {
            Self::Hold | Self::March(_) | Self::Attack(_) => Self::Hold,
            Self::Patrol { to, back } => Self::Patrol { to: back, back: to },
            // The rest of the way is wherever the enemy has gone.
            Self::Strike { foe, way } => Self::Strike { foe, way: Way { route: None, ..way } },
        }
    }
}

/// One place in an army. When the unit falls, a recruit takes its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unit {
    /// The army: the player who commands it.
    pub(crate) army: u8,
    pub(crate) kind: Kind,
    /// Bit `n`: member of control group `n`.
    pub(crate) groups: u16,
    /// The body in the world; none while the place waits for a recruit.
    pub(crate) body: Option<BodyId>,
    /// At most 0 only between a blow and the end of its frame.
    pub(crate) hit_points: i32,
    /// Until the next blow, ms.
    pub(crate) reload_ms: u16,
    /// For how long it has wanted to move and hardly did, ms; stops counting at its largest value.
    pub(crate) jammed_ms: u16,
    pub(crate) task: Task,
    /// The enemy that it fights.
    pub(crate) target: Option<Foe>,
}

impl Unit {
    pub(crate) fn is_alive(&self) -> bool {
        self.body.is_some()
    }
}
