//! The Testudo demo.
fn main() {}
