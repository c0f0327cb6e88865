//! A relay: one process that is the middle of the star for many matches. It forwards, and knows nothing of the game.
//!
//! From the bottom: `limits`, and `counters` with the times of `forwarding`; a `room` is one match; `rooms` finds the room and the place of whoever comes. These read no
//! clock, no socket and no randomness, so tests run them in virtual time. `server` puts them on a sealed port; over `http`, `metrics` shows the
//! counters and `web` is the browser page; `agones` talks to a cluster, and `load` measures, with the processes of
//! `process`.

pub(crate) mod agones;
pub(crate) mod counters;
pub(crate) mod forwarding;
pub(crate) mod http;
pub(crate) mod limits;
pub(crate) mod load;
mod lot;
pub(crate) mod metrics;
mod phase;
pub(crate) mod process;
pub(crate) mod room;
pub(crate) mod rooms;
pub(crate) mod server;
#[cfg(test)]
mod tests;
pub(crate) mod web;
