//! Steering: how a unit goes where it wants to go among others.

mod avoid;
mod near;
mod party;
pub(crate) mod raw;
mod squares;

pub(crate) use avoid::Yielding;
pub use avoid::{Step, give_way};
pub(crate) use near::Sight;
pub use near::{Going, Neighbour};
pub(crate) use party::{Party, Plain};
pub(crate) use squares::Squares;
