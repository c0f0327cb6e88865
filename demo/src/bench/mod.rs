//! `bench`: the standard scenes on this engine alone, and the cost of lockstep. `tests/peers` compares with other engines.
//!
//! `relay-load`: what a relay costs, with the processes of `process`.

mod drawing;
mod lockstep;
pub(crate) mod process;
mod quality;
pub(crate) mod relay;
mod run;
mod table;

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use testudo_tests::scenes::{self, Scene};

pub(crate) use drawing::measure as measure_drawing;
pub(crate) use lockstep::LockstepResult;
pub(crate) use table::{print, print_drawing};

/// The measurements of one scene. The names of the fields are the keys of `--json`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SceneResult {
    pub(crate) name: &'static str,
    /// Movable bodies.
    pub(crate) n: u32,
    /// Writing the units' velocities, removing and creating, and the step itself.
    pub(crate) step_ms_median: f64,
    pub(crate) step_ms_p99: f64,
    /// Penetration of overlapping discs at the end, in units; a disc's diameter is 1.
    pub(crate) penetration_mean: f64,
    pub(crate) penetration_p99: f64,
    pub(crate) penetration_max: f64,
    /// Contacts at the end.
    pub(crate) contacts: u32,
    /// Kinetic energy at the end over that at the start; only where it should be kept.
    pub(crate) energy_kept: Option<f64>,
    /// Bytes of a snapshot, contacts included.
    pub(crate) bytes_per_body: f64,
    pub(crate) checksum_us: f64,
    pub(crate) snapshot_us: f64,
    /// The program's own bytes, which are only checked for damage.
    pub(crate) restore_us: f64,
    /// Untrusted bytes, which are validated completely.
    pub(crate) from_bytes_us: f64,
    /// Greatest memory of the process so far, minus that before the first scene; null if the system does not report it.
    pub(crate) peak_memory_bytes: Option<u64>,
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

/// Runs every scene, with a progress bar on standard error. `portable`: without the instructions that are chosen at run time.
pub(crate) fn run(portable: bool) -> (Vec<SceneResult>, LockstepResult) {
    let bar = ProgressBar::new(SCENES.len() as u64 + 1);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len}  {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let memory_before = run::peak_memory_bytes();
    let results = SCENES
        .iter()
        .map(|&(name, n, scene)| {
            bar.set_message(format!("{name} with {n} bodies"));
            let result = run::scene(name, n, &scene(n), portable, memory_before);
            bar.inc(1);
            result
        })
        .collect();
    bar.set_message("lockstep");
    let lockstep = lockstep::run();
    bar.finish_and_clear();
    (results, lockstep)
}
