//! Running matches: the only part of the demo that reads the clock or touches the network. It prints nothing.

mod client;
mod clock;
mod comparison;
mod cubes;
pub(crate) mod diagnosis;
mod invitation;
mod network;
mod outcome;
pub(crate) mod playback;
mod recording;
mod remote;
mod seat;
mod simulated;
mod skirmish;
#[cfg(not(target_arch = "wasm32"))]
mod soak;
mod telemetry;

use testudo_lockstep::{Pace, SessionConfig, Topology};

pub(crate) use client::Fault;
pub(crate) use clock::Clock;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use clock::ThreadClock;
pub(crate) use cubes::{
    CubesError, CubesMatch, CubesOutcome, CubesSpec, FRAMES_MAX, LiveCubes, Moment, PLAYOUT_DELAY,
};
pub(crate) use diagnosis::Desync;
pub(crate) use network::NetworkMatch;
pub(crate) use outcome::{MatchError, Outcome};
pub(crate) use recording::{Recording, header as replay_header, open as open_replay};
pub(crate) use seat::{Diagnosis, News, Seat, SeatOptions};
pub(crate) use simulated::{SimulatedMatch, play};
pub(crate) use skirmish::{Pilot, Skirmish, SkirmishSpec};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use soak::{SoakOutcome, soak};
pub(crate) use telemetry::Sample;

use crate::game::Setup;

/// What all peers of a match agree on before it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    pub(crate) setup: Setup,
    /// Turns of the match, 1..=[`TURNS_MAX`].
    pub(crate) turns: u32,
}

/// Longest match: more than two days.
pub(crate) const TURNS_MAX: u32 = 1_000_000;

/// Settings of the sessions of a match. A bot plays on for who leaves. Nobody is ever dropped: a match that cannot be completed by all
/// ends for all.
fn session_config(terms: &Terms, session_id: u64) -> SessionConfig {
    SessionConfig::new(terms.setup.players)
        .turns(terms.turns)
        .content_hash(terms.setup.content_hash())
        .session_id(session_id)
        .topology(Topology::Host)
        .pace(Pace::Fixed)
        .bots_take_over(true)
        .without_drops()
}
