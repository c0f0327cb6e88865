//! The Testudo demo: a small battle of armies over deterministic lockstep.
//!
//! `game` is the simulation and knows neither clock nor network; `bots` play it; `app` runs matches;
//! `cubes` is the scene of the articles. `view` shows them in a window or in a browser page; `cli` is the command line.

// A browser page shows the window and has no use for sockets and for matches without a picture.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]
mod app;
#[cfg(not(target_arch = "wasm32"))]
mod bench;
mod bots;
#[cfg(not(target_arch = "wasm32"))]
mod cli;
#[cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]
mod cubes;
#[cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]
mod game;
#[cfg(not(target_arch = "wasm32"))]
mod netbench;
#[cfg(not(target_arch = "wasm32"))]
mod soak;
mod view;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    cli::run()
}

#[cfg(target_arch = "wasm32")]
fn main() {
    view::open_page();
}
