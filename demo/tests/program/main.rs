//! Runs the program as a user starts it: what it prints, and how it ends.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "starts processes, talks to them and reads what they write"
)]

mod bad_input;
mod codes;
mod conformance;
mod cubes;
mod fleet;
mod headless;
mod netbench;
mod network;
mod readers;
mod referee;
mod relayed;
mod replay;
mod returning;
mod run;
mod soak;
mod strangers;
mod teams;
#[cfg(target_os = "linux")]
mod terminal;
mod window;
