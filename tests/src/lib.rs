//! Shared helpers of the workspace tests: scenes and whole networks that more than one test builds.

pub mod scenes;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
