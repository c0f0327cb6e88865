//! Running matches: the part of the demo that touches the network, but for `load`. It prints nothing.
//!
//! From the bottom: `terms` and `error`; `watch` is one peer's copy of a match, with comparison, recording and measurement;
//! `local` runs all peers in this process, `online` one of them over a network; `playback` plays replays, `share` makes links of them.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod display;
mod error;
mod files;
pub(crate) mod habits;
pub(crate) mod interrupt;
mod local;
pub(crate) mod maps;
pub(crate) mod online;
#[cfg(target_arch = "wasm32")]
pub(crate) mod page;
pub(crate) mod playback;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod relay;
#[cfg(any(target_arch = "wasm32", test))]
#[cfg_attr(test, allow(dead_code))]
pub(crate) mod settings;
pub(crate) mod share;
mod terms;
pub(crate) mod trace;
pub(crate) mod watch;
pub(crate) mod words;

pub(crate) use error::MatchError;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use local::conformance::{PUBLISHED, compute};
pub(crate) use local::simulated::{Checks, SimulatedMatch, play};
pub(crate) use local::skirmish::{Skirmish, SkirmishSpec};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use local::soak::{Battle, SoakOutcome, soak};
pub(crate) use online::network::NetworkMatch;
pub(crate) use online::news::News;
pub(crate) use online::remark::Remark;
pub(crate) use online::seat::{Seat, SeatOptions};
pub(crate) use share::open as open_replay;
pub(crate) use terms::{TURNS_MAX, Terms};
pub(crate) use watch::diagnosis::{Desync, Diagnosis};
pub(crate) use watch::game_copy::Fault;
pub(crate) use watch::outcome::Outcome;
pub(crate) use watch::pilot::Pilot;
#[cfg(test)]
pub(crate) use watch::recording::header as replay_header;
pub(crate) use watch::recording::{Kept, Recording, ReplayFile, read as read_replay};
pub(crate) use watch::spread::Spread;
pub(crate) use watch::telemetry::Sample;
