//! Peak memory: each engine alone in a process of its own.

use std::process::Command;

use serde::Serialize;

use crate::engine::{Contender, Settings};

/// Steps of the crowd after which the peak is read.
const STEPS: u32 = 200;

/// What one engine needed.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryRow {
    /// Movable bodies of the crowd.
    pub count: u32,
    /// Engine.
    pub engine: String,
    /// Peak resident memory of a process that ran nothing else, in bytes.
    pub peak_bytes: u64,
    /// Part of it that the program and the scene needed before the engine was created.
    pub harness_bytes: u64,
}

/// Starts this program once for each engine.
pub fn memory(count: u32, contenders: &[Contender], settings: Settings) -> Vec<MemoryRow> {
    let program = std::env::current_exe().expect("the program knows where it is");
    contenders
        .iter()
        .filter_map(|contender| {
            let output = Command::new(&program)
                .args(["--scene", "crowd", "--json", "-", "--only", contender.name()])
                .args(["--n", &count.to_string(), "--steps", &STEPS.to_string()])
                .args(["--peer-iterations", &settings.peer_iterations.to_string()])
                .output()
                .expect("the program can start itself");
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
            let row = &report["simulated"][0];
            Some(MemoryRow {
                count,
                engine: contender.name().to_owned(),
                peak_bytes: row["process_peak_bytes"].as_u64()?,
                harness_bytes: row["harness_peak_bytes"].as_u64()?,
            })
        })
        .collect()
}
