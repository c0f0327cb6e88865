//! Groups: places around a goal, and which unit takes which place.

mod assign;
mod slots;

pub use assign::assign;
pub use slots::{Formation, PlacesError, places};
