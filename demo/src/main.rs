//! The Testudo demo: a small battle of armies over deterministic lockstep.
//!
//! `game` is the simulation and knows neither clock nor network; `bots` play it; `app` runs matches;
//! `cubes` is the scene of the articles. `view` shows them in a window; `cli` is the command line.

mod app;
mod bench;
mod bots;
mod cli;
mod cubes;
mod game;
mod soak;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
