//! A relay: one process that is the middle of the star for many matches. It forwards, and knows nothing of the game.
//!
//! Rooms, limits and the sealed port are the library's. `server` runs them, and `teller` says what happens; over `http`, `metrics` shows the counters and
//! `web` is the browser page; `agones` talks to a cluster.

pub(crate) mod agones;
pub(crate) mod http;
pub(crate) mod metrics;
pub(crate) mod server;
mod teller;
pub(crate) mod web;
