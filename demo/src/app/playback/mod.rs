//! Watching a replay: seeking to any frame in bounded steps, and comparing with the recording in the background.

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
