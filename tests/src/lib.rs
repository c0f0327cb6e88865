//! Shared helpers of the workspace's tests: scenes that several tests build, and what must hold for any bytes.

pub mod cases;
pub mod counting;
#[cfg(feature = "checks")]
pub mod fuzz;
#[cfg(feature = "checks")]
pub mod pairs;
pub mod scenes;
pub mod threads;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples of the guides.
#[cfg(doctest)]
#[doc = include_str!("../../docs/debugging-a-desync.md")]
#[doc = include_str!("../../docs/first-game.md")]
#[doc = include_str!("../../docs/in-your-engine.md")]
struct Guides;
