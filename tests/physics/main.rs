//! The physics engine as a whole: golden scenes, laws of motion, saved states, bad input.
//!
//! A golden value changes only with a reason in `CHANGELOG.md` and a new `SIM_VERSION`. `BREAKAGES.md` beside this file
//! lists deliberate breakages and the test that catches each.

mod build;
mod calls;
mod conformance;
mod drawing;
mod elastic;
mod faults;
mod golden;
mod input;
mod interpolation;
mod laws;
mod levels;
mod long_frames;
mod operations;
mod pairs;
mod reading;
mod scene_laws;
mod scenes;
#[cfg(not(target_family = "wasm"))] // WASI has no threads
mod threads;
mod walls;
mod workers;
