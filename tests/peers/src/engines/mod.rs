//! One file for each engine.

pub mod box2d;
pub mod rapier;
pub mod testudo;
