//! The instruction sets that the tests can force on this machine, so that no path passes because it did not run.

use std::collections::BTreeSet;
use std::io::Write;

use testudo_physics::{Simd, World, WorldDef};

/// Instruction sets that must run if the variable names them, separated by blanks; others are only reported.
const REQUIRED: &str = "TESTUDO_SIMD_REQUIRED";

/// The instruction set that a world uses when it may use registers up to `simd`.
fn instructions(simd: Simd) -> &'static str {
    World::new(WorldDef::new().simd(simd)).expect("defaults").instruction_set()
}

/// Every instruction set of this machine, each once, and what forces it; the narrowest first.
pub(crate) fn forced() -> Vec<(Simd, &'static str)> {
    let mut found: Vec<(Simd, &'static str)> = Vec::new();
    for simd in [Simd::Plain, Simd::Bits128, Simd::Bits256, Simd::Widest] {
        let name = instructions(simd);
        if !found.iter().any(|&(_, known)| known == name) {
            found.push((simd, name));
        }
    }
    found
}

/// What there are for this target, and which of them any machine has.
fn of_target() -> (&'static [&'static str], &'static [&'static str]) {
    if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        (&["sse2", "sse4.2", "avx2", "avx512"], &["sse2", "sse4.2"])
    } else if cfg!(target_arch = "aarch64") {
        (&["neon"], &["neon"])
    } else if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
        (&["simd128"], &["simd128"])
    } else {
        (&["plain"], &["plain"])
    }
}

/// A path that did not run on this machine is named in the output (bypassing the test harness, which hides the output of passing tests). A
/// path that every machine has, or that the environment names, fails if it did not run.
#[test]
fn every_instruction_set_runs_or_is_reported() {
    let (known, everywhere) = of_target();
    let ran: BTreeSet<&str> = forced().iter().map(|&(_, name)| name).collect();
    let named = std::env::var(REQUIRED).unwrap_or_default();
    let mut report = String::new();
    for name in known {
        let required = everywhere.contains(name) || named.split_whitespace().any(|wanted| wanted == *name);
        assert!(ran.contains(name) || !required, "{name} must run here, but only {ran:?} did");
        let word = if ran.contains(name) { "ran" } else { "SKIPPED: this machine lacks it:" };
        report += &format!("golden scenes: {word} {name}\n");
    }
    for wanted in named.split_whitespace() {
        assert!(known.contains(&wanted), "{REQUIRED} names {wanted}; this target has {known:?}");
    }
    assert!(ran.iter().all(|name| known.contains(name)), "{ran:?} is more than is known here: {known:?}");
    std::io::stderr().write_all(report.as_bytes()).expect("standard error");
}
