//! Why there is no field to a goal.

use core::fmt;

use testudo_physics::Vec2;

/// Greatest number of fields of one [`Flows`](crate::Flows).
pub const FIELDS_MAX: u32 = 1_024;

/// Why there is no flow to a goal, or to no goal at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowError {
    /// No open cell is near the goal.
    NoGround {
        /// The goal.
        goal: Vec2,
    },
    /// All fields are in use.
    TooMany {
        /// How many there may be.
        max: u32,
    },
    /// The greatest number of fields is outside of 1..=[`FIELDS_MAX`].
    FieldsMax {
        /// The value.
        value: u32,
    },
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGround { goal } => {
                write!(f, "no open ground within 32 cells of ({}, {})", goal.x, goal.y)
            }
            Self::TooMany { max } => write!(f, "all {max} fields are in use"),
            Self::FieldsMax { value } => {
                write!(f, "the greatest number of fields must be 1 to {FIELDS_MAX}, not {value}")
            }
        }
    }
}

impl core::error::Error for FlowError {}
