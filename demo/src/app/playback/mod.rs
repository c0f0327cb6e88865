//! Watching the replay of a battle, and how one goes that is played.

mod budget;
mod course;
mod curve;
mod score;
mod story;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use budget::Budget;
pub(crate) use course::Course;
pub(crate) use curve::{ArmySample, Curve};
pub(crate) use score::Score;
#[cfg(test)]
pub(crate) use story::Milestone;
