//! What things cost: the standard scenes on this engine alone, lockstep, and the pictures of the battle. `tests/peers` compares with other engines.
//!
//! This is a package of its own because what is measured, and what measures it, has to be optimised: the demo itself is not, so that it builds soon.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![expect(missing_docs, reason = "inside of the demo; p99 is the 99th percentile of what stands before it")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "measures time and reports in floats"
)]

mod drawing;
mod lockstep;
mod quality;
mod run;

use serde::Serialize;
use testudo_tests::scenes::{self, Scene};

pub use drawing::{DrawingResult, measure as measure_drawing};
pub use lockstep::{LockstepResult, run as measure_lockstep};

/// The measurements of one scene. The names of the fields are the keys of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct SceneResult {
    pub name: &'static str,
    /// Movable bodies.
    pub n: u32,
    /// Writing the units' velocities, removing and creating, and the step itself.
    pub step_ms_median: f64,
    pub step_ms_p99: f64,
    /// Penetration of overlapping discs at the end, in units; a disc's diameter is 1.
    pub penetration_mean: f64,
    pub penetration_p99: f64,
    pub penetration_max: f64,
    /// Contacts at the end.
    pub contacts: u32,
    /// Kinetic energy at the end over that at the start; only where it should be kept.
    pub energy_kept: Option<f64>,
    /// Bytes of a snapshot, contacts included.
    pub bytes_per_body: f64,
    pub checksum_us: f64,
    pub snapshot_us: f64,
    /// The program's own bytes, which are only checked for damage.
    pub restore_us: f64,
    /// Untrusted bytes, which are validated completely.
    pub from_bytes_us: f64,
    /// Greatest memory of the process so far, minus that before the first scene; null if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
}

/// Name, movable bodies, and how the scene is made.
type Entry = (&'static str, u32, fn(u32) -> Scene);

/// Scenes in the order in which they run; the one whose memory is reported comes first.
const SCENES: [Entry; 8] = [
    ("crowd", 10_000, scenes::crowd),
    ("crowd", 1_000, scenes::crowd),
    ("crowd", 50_000, scenes::crowd),
    ("gather", 10_000, scenes::gather),
    ("bounce", 10_000, scenes::bounce),
    ("idle", 50_000, scenes::idle),
    ("churn", 10_000, scenes::churn),
    ("crowd", 100_000, scenes::crowd),
];

/// How many scenes there are.
pub const SCENES_COUNT: usize = SCENES.len();

/// Runs every scene. `portable`: without the instructions that are chosen at run time. `begins` is told the name of a scene and its number of bodies
/// before it runs.
pub fn measure_scenes(portable: bool, mut begins: impl FnMut(&'static str, u32)) -> Vec<SceneResult> {
    let memory_before = run::peak_memory_bytes();
    let measured = SCENES.iter().map(|&(name, n, scene)| {
        begins(name, n);
        run::scene(name, n, &scene(n), portable, memory_before)
    });
    measured.collect()
}
