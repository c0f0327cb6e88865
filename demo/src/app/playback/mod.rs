//! A replay to look at: to any frame and back in bounded steps, compared with what was recorded in the background.

mod budget;
mod checking;
mod course;
mod evidence;
mod keyframes;
mod story;
mod timetable;

#[cfg(test)]
mod tests;

pub(crate) use budget::Budget;
pub(crate) use course::Course;
#[cfg(test)]
pub(crate) use story::Departure;
pub(crate) use timetable::Timetable;
