//! The scene of Glenn Fiedler's articles, seen from above: a player's cube among many small ones. Six keys, sampled once per frame, control
//! everything: arrows push the cube, Space lifts it and blows the others away, Z gathers the others and rolls them along.
//!
//! `scene` is the simulation in integers; `float` is the same scene in a plain `f32` solver, for comparison.

#![deny(unsafe_code, clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]

mod float;
mod input;
mod rules;
mod scene;

pub use float::{ContactOrder, FloatCubes};
pub use input::{Autopilot, Input};
pub use rules::{BLOW_REACH, CUBES_MAX, FRAMES_PER_SECOND, GATHER_REACH, LIFT_FRAMES, Setup, SetupError};
pub use scene::{Cube, Cubes};
