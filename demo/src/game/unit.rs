//! Units: what they are, what they do at the moment.

use testudo_physics::BodyId;

use crate::game::point::{Point, UNIT};
use crate::game::rate::Rate;

/// Radius of a unit, raw.
pub(crate) const UNIT_RADIUS: i32 = UNIT / 2;

/// What a unit is. It follows from its number: the first three quarters of an army are guards, the others archers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Fights hand to hand.
    Guard,
    /// Shoots from the second rank.
    Archer,
}

/// Properties of a kind. Lengths and speeds are raw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stats {
    pub(crate) hit_points: i32,
    /// Hit points that an attack takes, per second.
    pub(crate) damage_per_second: u32,
    /// Attack range from centre to centre.
    pub(crate) range: i32,
    /// Distance at which enemies are noticed.
    pub(crate) sight: i32,
    /// Walking speed per second.
    pub(crate) speed: i32,
    /// Mass in 1/65,536.
    pub(crate) mass: i32,
}

const GUARD: Stats = Stats {
    hit_points: 120,
    damage_per_second: 20,
    range: UNIT * 3 / 2,
    sight: 9 * UNIT,
    speed: 4 * UNIT,
    mass: 2 * UNIT,
};

const ARCHER: Stats = Stats {
    hit_points: 60,
    damage_per_second: 9,
    range: 8 * UNIT,
    sight: 11 * UNIT,
    speed: UNIT * 9 / 2,
    mass: UNIT,
};

impl Kind {
    /// What unit number `index` of an army of `units` is.
    pub(crate) fn of(index: u32, units: u32) -> Self {
        if index < guards(units) { Self::Guard } else { Self::Archer }
    }

    pub(crate) const fn stats(self) -> &'static Stats {
        match self {
            Self::Guard => &GUARD,
            Self::Archer => &ARCHER,
        }
    }
}

/// Guards in an army of `units`; they are its first units.
pub(crate) fn guards(units: u32) -> u32 {
    units - units / 4
}

/// What a unit was told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Task {
    /// Stays, attacks who comes in sight.
    #[default]
    Hold,
    /// Goes there and does not look around.
    March(Point),
    /// Goes there, attacks who comes in sight.
    Attack(Point),
}

/// One place in an army. When the unit falls, a reinforcement takes its place and its control groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unit {
    /// The army: the player who commands it.
    pub(crate) army: u8,
    pub(crate) kind: Kind,
    /// Bit `n`: member of control group `n`.
    pub(crate) groups: u16,
    /// The body in the world; none while the place waits for a reinforcement.
    pub(crate) body: Option<BodyId>,
    /// At most 0 only between a blow and the end of its frame.
    pub(crate) hit_points: i32,
    /// Carries the fractions of its blows.
    pub(crate) blows: Rate,
    pub(crate) task: Task,
    /// The enemy that it fights: a unit number of the match.
    pub(crate) target: Option<u32>,
}

impl Unit {
    pub(crate) fn is_alive(&self) -> bool {
        self.body.is_some()
    }
}
