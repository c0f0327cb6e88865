//! The Testudo demo: a small battle of armies over deterministic lockstep.
//!
//! The battle is the package `testudo-battle`, which knows neither clock nor network; `testudo-render` draws it. `testudo-cubes` is the scene of Glenn
//! Fiedler's articles, `pair` two copies of it over a network. `app` runs matches. `view` shows them in a window or in a browser page; `cli` is the
//! command line. What takes time is in the packages: the build that a new user waits for optimises those and not this one.

// A reader that goes would end the program: `console` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

// A browser page shows the window and does not use sockets or matches without a picture.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "clocks, sockets, files and threads are here, and nothing of them reaches a simulation"
)]
mod app;
#[cfg(not(target_arch = "wasm32"))]
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the system on one side, people on the other"
)]
mod cli;
#[cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports, unused_macros))]
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it prints, and keeps the first error"
)]
mod console;
#[cfg(not(target_arch = "wasm32"))]
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "measures time and reports in floats"
)]
mod load;
#[cfg(not(target_arch = "wasm32"))]
#[expect(clippy::disallowed_types, reason = "measures in virtual time and reports in floats")]
mod netbench;
#[cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]
#[expect(clippy::disallowed_types, reason = "says in floats how far two copies are apart")]
mod pair;
#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a window draws in floats")]
mod view;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    cli::run()
}

#[cfg(target_arch = "wasm32")]
fn main() {
    view::open_page();
}
