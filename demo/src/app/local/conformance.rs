//! The fixed programme of `conformance`: the physics' own, and two short matches in which movement, battle, bots, packets and pace take part.

use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Pace, Topology};
use testudo_physics::{CONFORMANCE, Simd, conformance, hash_bytes};

use crate::app::error::MatchError;
use crate::app::local::simulated::{Checks, SimulatedMatch, play};
use crate::app::terms::Terms;
use crate::app::watch::outcome::Outcome;
use crate::app::watch::pilot::Pilot;
use testudo_battle::bots::Level;
use testudo_battle::{Map, Setup, Teams};

/// What the programme comes to in this version, on every machine and in every build. It moves with `SIM_VERSION`, `MOVEMENT_VERSION`, `PROTOCOL_VERSION`
/// and the battle's `RULES_VERSION`, and with the programme.
pub(crate) const PUBLISHED: u64 = 0x9755_19ff_eefe_ce0d;

/// What the programme has come to here.
pub(crate) struct Computed {
    /// A hash of everything.
    pub(crate) chain: u64,
    /// The physics alone computes what it should.
    pub(crate) is_physics_equal: bool,
}

/// Plays the programme.
///
/// # Errors
/// A match that could not be played.
pub(crate) fn compute() -> Result<Computed, MatchError> {
    let physics = conformance(Simd::Widest);
    let mut chain = link(0, physics);
    let open = Setup { players: 3, units: 24, seed: 7, map: None };
    let ford = Setup { players: 2, units: 30, seed: 8, map: Map::numbered(0) };
    for (setup, topology) in [(open, Topology::Host), (ford, Topology::Mesh)] {
        let outcome = play(&spec(setup, topology), Vec::new(), |_| {})?;
        chain = numbers(&outcome).into_iter().fold(chain, link);
    }
    Ok(Computed { chain, is_physics_equal: physics == CONFORMANCE })
}

/// Bots over a bad network.
fn spec(setup: Setup, topology: Topology) -> SimulatedMatch {
    let link = LinkConfig::new()
        .latency(Duration::from_millis(60))
        .jitter(Duration::from_millis(40))
        .loss_ppm(100_000)
        .duplicate_ppm(50_000)
        .reorder_ppm(50_000)
        .reorder_hold(Duration::from_millis(100));
    SimulatedMatch {
        terms: Terms { setup, turns: 60 },
        link,
        topology,
        pace: Pace::Adaptive,
        fault: None,
        pilots: vec![Pilot::Bot(Level::Normal), Pilot::Bot(Level::Hard), Pilot::Bot(Level::Clumsy)],
        teams: Teams::default(),
        spectators: 0,
        checks: Checks::default(),
    }
}

/// The state of each client at the end, and how the match went.
fn numbers(outcome: &Outcome) -> Vec<u64> {
    let (sent, lost) = outcome.simulated.packets.unwrap_or_default();
    let clients = outcome
        .clients
        .iter()
        .flat_map(|client| [client.checksum, client.steps.into(), client.stalled_frames, client.bytes_sent]);
    [sent, lost, outcome.timed.duration.as_micros(), outcome.divergent_turn.is_some().into()]
        .into_iter()
        .chain(clients)
        .collect()
}

/// The hash of everything before and of this number.
fn link(chain: u64, number: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&chain.to_le_bytes());
    bytes[8..].copy_from_slice(&number.to_le_bytes());
    hash_bytes(&bytes)
}
