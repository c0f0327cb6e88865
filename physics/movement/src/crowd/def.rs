//! What a game says about its units and their orders, and what it is told.

use core::fmt;

use testudo_physics::{Angle, BodyId, Fx, Vec2};

use crate::flow::FlowError;
use crate::ground::GroundError;
use crate::group::{Formation, PlacesError};

/// Greatest speed and acceleration of a unit, units/s and units/s^2.
const PACE_MAX: Fx = testudo_physics::SPEED_MAX;

/// A unit that cannot get nearer to its goal for this long gives up and says so, ms. A unit that waits behind others waits as long as one of them advances.
pub const GIVE_UP_MS: u32 = 20_000;

/// How a unit moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoverDef {
    /// Greatest speed, units per second, above 0..=1,024. Default 3.
    pub speed: Fx,
    /// Greatest change of its velocity, units per second squared, above 0..=1,024. Default 30.
    pub acceleration: Fx,
}

impl Default for MoverDef {
    fn default() -> Self {
        Self { speed: Fx::const_from_int(3), acceleration: Fx::const_from_int(30) }
    }
}

impl MoverDef {
    pub(crate) fn validate(&self) -> Result<(), MoveError> {
        for value in [self.speed, self.acceleration] {
            if value <= Fx::ZERO || value > PACE_MAX {
                return Err(MoveError::Pace { value });
            }
        }
        Ok(())
    }
}

/// An order to some units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Order {
    pub(crate) goal: Vec2,
    pub(crate) formation: Formation,
    pub(crate) facing: Angle,
    pub(crate) together: bool,
}

impl Order {
    /// Go to this place and stand around it as a disc, each unit at its own pace.
    pub fn go(goal: Vec2) -> Self {
        Self { goal, formation: Formation::Disc, facing: Angle::ZERO, together: false }
    }

    /// Stand in this formation, facing this direction.
    pub fn formation(self, formation: Formation, facing: Angle) -> Self {
        Self { formation, facing, ..self }
    }

    /// Whether all go at the pace of the slowest. Default no.
    pub fn together(self, together: bool) -> Self {
        Self { together, ..self }
    }
}

/// What happened to a unit in the last [`Crowd::step`](crate::Crowd::step).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveEvent {
    /// It stands at its place, or as near as the others let it. It may still brake over half of its radius.
    Arrived(BodyId),
    /// No path leads from it to its goal; it stands.
    Unreachable(BodyId),
    /// It did not get nearer for [`GIVE_UP_MS`]; it stands.
    GaveUp(BodyId),
    /// Its body is gone; it is no unit any more.
    Gone(BodyId),
    /// The body that it pursued is gone; it stands. Told once, when the unit thinks next: at most half a second later.
    PreyGone(BodyId),
}

/// Why an order or a unit was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// There is no such body.
    BodyGone(BodyId),
    /// The body is static or kinematic; units are dynamic.
    NotDynamic(BodyId),
    /// The body that a unit is to pursue is gone.
    PreyGone(BodyId),
    /// A unit is to pursue itself.
    PursuesItself(BodyId),
    /// The crowd has not looked at the obstacles of the world yet: call [`Crowd::survey`](crate::Crowd::survey) before the first order.
    NotSurveyed,
    /// The body is no unit of this crowd.
    Stranger(BodyId),
    /// The unit is larger than all sizes of the ground.
    TooLarge {
        /// Half of its extent, units.
        radius: Fx,
    },
    /// A speed or an acceleration is not above 0 and at most 1,024.
    Pace {
        /// The value.
        value: Fx,
    },
    /// A reach is outside of 0..=65,536 units.
    Reach {
        /// The value.
        value: Fx,
    },
    /// The goal is beyond +-16,384 units.
    Goal,
    /// There is no such formation.
    Places(PlacesError),
    /// There is no field for the goal.
    Flow(FlowError),
}

impl From<FlowError> for MoveError {
    fn from(error: FlowError) -> Self {
        Self::Flow(error)
    }
}

impl From<PlacesError> for MoveError {
    fn from(error: PlacesError) -> Self {
        Self::Places(error)
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BodyGone(id) => write!(f, "body {id} is gone"),
            Self::NotDynamic(id) => write!(f, "body {id} is not dynamic, so it cannot be a unit"),
            Self::PreyGone(id) => write!(f, "body {id} is gone, so nobody can pursue it"),
            Self::PursuesItself(id) => write!(f, "unit {id} cannot pursue itself"),
            Self::NotSurveyed => {
                write!(f, "the ground was never surveyed: call Crowd::survey before the first order")
            }
            Self::Stranger(id) => write!(f, "body {id} is no unit of this crowd"),
            Self::TooLarge { radius } => {
                write!(f, "a radius of {radius} is above the greatest size of the ground")
            }
            Self::Pace { value } => {
                write!(f, "a speed or acceleration must be above 0 and at most 1024, not {value}")
            }
            Self::Reach { value } => write!(f, "a reach must be 0 to 65536 units, not {value}"),
            Self::Goal => write!(f, "a goal must lie within +-16384 units"),
            Self::Places(error) => error.fmt(f),
            Self::Flow(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MoveError {}

/// Why a crowd was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrowdError {
    /// The ground is wrong.
    Ground(GroundError),
    /// The fields are wrong.
    Flow(FlowError),
    /// The fields may find no cell in a frame: [`CrowdDef::cells_per_frame`](crate::CrowdDef::cells_per_frame) is at least 1.
    CellsPerFrame,
}

impl From<GroundError> for CrowdError {
    fn from(error: GroundError) -> Self {
        Self::Ground(error)
    }
}

impl From<FlowError> for CrowdError {
    fn from(error: FlowError) -> Self {
        Self::Flow(error)
    }
}

impl fmt::Display for CrowdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ground(error) => error.fmt(f),
            Self::Flow(error) => error.fmt(f),
            Self::CellsPerFrame => write!(f, "a crowd must search at least one cell per frame"),
        }
    }
}

impl core::error::Error for CrowdError {}
