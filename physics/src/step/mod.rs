//! The working arrays and phases of a step.

pub(crate) mod broad_phase;
pub(crate) mod crew;
pub(crate) mod crossings;
mod fast;
mod fast_marks;
mod finder;
mod found;
mod gains;
pub(crate) mod input;
pub(crate) mod islands;
mod kernels;
pub(crate) mod lanes;
mod near;
mod overlap;
mod passages;
mod pile_up;
pub(crate) mod scene;
mod seams;
pub(crate) mod stepper;
mod strikes;
mod terrain;
mod windows;
pub(crate) mod workers;
pub(crate) mod working;
