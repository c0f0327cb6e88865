//! The scene of the articles, seen from above: a player's cube among many small ones. Six keys, sampled once per frame, decide
//! everything: arrows push the cube, space lifts it and blows the others away, z gathers them and rolls them along.
//!
//! `scene` is the simulation in integers; `float` is the same scene as a plain `f32` solver has it, for comparison.

mod float;
mod input;
mod rules;
mod scene;

pub(crate) use float::{ContactOrder, FloatCubes};
pub(crate) use input::{Autopilot, Input};
pub(crate) use rules::{
    BLOW_REACH, CUBES_MAX, FRAMES_PER_SECOND, GATHER_REACH, LIFT_FRAMES, Setup, SetupError,
};
pub(crate) use scene::{Cube, Cubes};
