//! Watching the replay of a battle.

mod budget;
mod course;
mod curve;
mod story;

#[cfg(test)]
mod tests;

pub(crate) use budget::Budget;
pub(crate) use course::Course;
pub(crate) use curve::{Curve, Sample};
#[cfg(test)]
pub(crate) use story::Milestone;
