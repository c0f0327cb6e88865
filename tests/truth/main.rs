//! What is true of bodies, whatever the engine's bits are: each truth names where its expectation comes from (a conservation
//! law, a formula, brute force) and is asked at five rates with parameters drawn from a seed, so that nothing can be tuned to one number.
//!
//! Golden values prove that all machines compute the same; this suite proves that it is right. `docs/physics-promises.md` lists the laws
//! with their tolerances and the test that holds each.

#[allow(dead_code, reason = "the helpers of the golden tests; not all of them are needed here")]
#[path = "../physics/build.rs"]
mod build;
mod chains;
mod closed_chains;
mod crush;
mod crushers;
mod damping;
mod dominance;
mod edges;
mod frame;
mod gates;
mod geometry;
mod geometry_fast;
mod geometry_tools;
mod geometry_walls;
mod masses;
mod operated;
mod pairs;
mod pile_up;
mod scenes;
mod sensors;
mod sleep;
mod sleep_random;
mod solve;
mod solve_rest;
mod struck;
mod terrain;
mod terrain_tools;
mod unusual;
mod wedged;
