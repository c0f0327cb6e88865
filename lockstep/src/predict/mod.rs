//! Prediction: the local player's orders are carried out at once in a copy of the game that runs a few frames ahead of the confirmed one.
//!
//! The confirmed simulation is the [`crate::Driver`]'s and stays what it is. A [`Predictor`] follows it with a copy of its own, which nobody but
//! renderers can see.

mod budget;
mod events;
mod game;
mod glide;
mod lead;
mod predicted_course;
mod predictor;

pub use budget::PictureBudget;
pub use events::{Certainty, EarlyEvents};
pub use game::Predict;
pub use glide::{Corrections, Glide};
pub use predictor::{Correction, Followed, PredictionStats, Predictor};
