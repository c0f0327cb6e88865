//! Watching the replay of a battle.

mod budget;
mod course;
mod story;

#[cfg(test)]
mod tests;

pub(crate) use budget::Budget;
pub(crate) use course::Course;
#[cfg(test)]
pub(crate) use story::Departure;
