//! Kinds of units and their properties.

use crate::point::UNIT;

/// Radius of a unit, raw.
pub(crate) const UNIT_RADIUS: i32 = UNIT / 2;

/// The kind of a unit. It follows from the unit's number: the first three quarters of an army are guards, the others are archers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Fights in melee.
    Guard,
    /// Shoots from the second rank.
    Archer,
}

/// Properties of a kind. Lengths and speeds are raw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stats {
    /// At the start, but for a tenth more or less.
    pub hit_points: i32,
    /// Hit points that a blow or an arrow removes.
    pub damage: u32,
    /// Damage factor of the first blow after a run.
    pub(crate) charge: u32,
    /// Time between two blows or arrows, ms.
    pub(crate) reload_ms: u32,
    /// Attack range from centre to centre, or to the wall of a building.
    pub range: i32,
    /// Distance at which enemies are noticed.
    pub(crate) sight: i32,
    /// Walking speed per second.
    pub speed: i32,
    /// Mass in 1/65,536.
    pub(crate) mass: i32,
}

const GUARD: Stats = Stats {
    hit_points: 180,
    damage: 12,
    charge: 4,
    reload_ms: 600,
    range: UNIT * 3 / 2,
    sight: 9 * UNIT,
    speed: 4 * UNIT,
    mass: 2 * UNIT,
};

const ARCHER: Stats = Stats {
    hit_points: 90,
    damage: 11,
    charge: 1,
    reload_ms: 1_200,
    range: 8 * UNIT,
    sight: 11 * UNIT,
    speed: UNIT * 9 / 2,
    mass: UNIT,
};

impl Kind {
    /// The kind of unit number `index` in an army of `units`.
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

/// Number of guards in an army of `units`; they are its first units.
pub(crate) fn guards(units: u32) -> u32 {
    units - units / 4
}
