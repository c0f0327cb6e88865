//! Compares the public items of physics, movement and lockstep with the lists beside this file.
//!
//! ```text
//! cargo run --manifest-path tests/surface/Cargo.toml               compares; exit code 1 and the differing lines
//! cargo run --manifest-path tests/surface/Cargo.toml -- --update   writes the lists anew
//! ```
//!
//! A reviewer sees in the lists' diff what a change does to users of the crates.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const PACKAGES: [&str; 3] = ["physics", "movement", "lockstep"];

fn main() -> ExitCode {
    let update = std::env::args().any(|argument| argument == "--update");
    let mut same = true;
    for package in PACKAGES {
        match check(package, update) {
            Ok(differences) => same &= differences == 0,
            Err(error) => {
                eprintln!("surface of {package}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares one package's items with its list, or writes the list. Returns the number of differing lines.
fn check(package: &str, update: bool) -> Result<usize, Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = here.join(format!("{package}.txt"));
    let items = public_items(package, &here.join("../.."))?;
    if update {
        std::fs::write(&list, &items)?;
        println!("{package}: {} public items written", items.lines().count());
        return Ok(0);
    }
    let expected = std::fs::read_to_string(&list)?;
    let (now, before): (BTreeSet<_>, BTreeSet<_>) = (items.lines().collect(), expected.lines().collect());
    for gone in before.difference(&now) {
        println!("- {gone}");
    }
    for new in now.difference(&before) {
        println!("+ {new}");
    }
    let differences = before.symmetric_difference(&now).count();
    if differences == 0 {
        println!("{package}: {} public items, as listed", now.len());
    } else {
        println!(
            "{package}: {differences} lines differ from the list; run with --update if the change is meant"
        );
    }
    Ok(differences)
}

/// The public items of a package with all its features, one a line, sorted.
fn public_items(package: &str, workspace: &Path) -> Result<String, Box<dyn Error>> {
    // A folder of its own: build scripts ask for RUSTC_BOOTSTRAP, and where it changes, everything that needs them is built again.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let target = target.join("surface").join("items");
    let name = format!("testudo-{package}");
    // The JSON format of rustdoc is unstable; a stable compiler gives it when asked in this way.
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(workspace)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target)
        .args(["rustdoc", "--quiet", "--lib", "--all-features", "-p", &name, "--"])
        .args(["-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .status()?;
    if !status.success() {
        return Err("rustdoc failed".into());
    }
    let json = target.join("doc").join(format!("testudo_{package}.json"));
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    let mut lines: Vec<String> = api.items().map(ToString::to_string).collect();
    lines.sort_unstable();
    Ok(lines.join("\n") + "\n")
}
