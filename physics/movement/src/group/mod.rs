//! Groups: places around a goal, and who takes which.

mod assign;
mod slots;

pub use assign::assign;
pub use slots::{Formation, PlacesError, places};
