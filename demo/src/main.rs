//! The Testudo demo: a small real-time strategy battle over deterministic lockstep.
//!
//! `game` is the simulation and knows nothing of clocks, files or windows; `cli` owns those.

mod bots;
mod cli;
mod game;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
