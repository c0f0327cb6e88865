//! Shared helpers of the workspace tests: scenes and whole networks that more than one test builds.

pub mod scenes;
