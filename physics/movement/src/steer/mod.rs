//! Steering: how a unit goes where it wants to go among others.

mod avoid;
mod near;

pub use avoid::{Step, give_way};
pub(crate) use near::Squares;
pub use near::{Going, Neighbour};
