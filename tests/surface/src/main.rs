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
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

const PACKAGES: [&str; 3] = ["physics", "movement", "lockstep"];

/// Where cargo starts this program in place of rustdoc, this names rustdoc.
const RUSTDOC: &str = "TESTUDO_SURFACE_RUSTDOC";

fn main() -> ExitCode {
    if let Some(rustdoc) = std::env::var_os(RUSTDOC) {
        return document(&rustdoc);
    }
    let update = std::env::args().any(|argument| argument == "--update");
    let folder = match documents() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("surface: {error}");
            return ExitCode::from(2);
        }
    };
    let mut same = true;
    for package in PACKAGES {
        match check(package, &folder, update) {
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
fn check(package: &str, folder: &Path, update: bool) -> Result<usize, Box<dyn Error>> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{package}.txt"));
    let items = public_items(&folder.join(format!("testudo_{package}.json")))?;
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

/// Has rustdoc describe the packages with all their features, and returns the folder of what it wrote.
///
/// The command is that of the section `doc` of `.ci/run`: both find what other builds of the workspace have compiled.
fn documents() -> Result<PathBuf, Box<dyn Error>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Build scripts look at what cargo has told this program about its own package, too, and would run again.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    let status = cargo
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", &target)
        .env(RUSTDOC, std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()))
        .env("RUSTDOC", std::env::current_exe()?)
        .env("RUSTDOCFLAGS", "-Z unstable-options --output-format json --cap-lints allow")
        .args(["doc", "--quiet", "--workspace", "--all-features", "--no-deps"])
        .status()?;
    if !status.success() {
        return Err("rustdoc failed".into());
    }
    Ok(target.join("doc"))
}

/// Does what cargo asks of rustdoc, for the packages that have a list.
///
/// The JSON format of rustdoc is unstable; a stable rustdoc gives it when asked in this way. Cargo and the compiler must not see the variable:
/// build scripts ask for it, and where it changes, everything that needs them is built again.
fn document(rustdoc: &OsStr) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let other = arguments.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    let is_listed = |name: &OsString| PACKAGES.iter().any(|package| *name == *format!("testudo_{package}"));
    if other.is_some_and(|name| !is_listed(name)) {
        return ExitCode::SUCCESS;
    }
    let status = Command::new(rustdoc).args(arguments).env("RUSTC_BOOTSTRAP", "1").status();
    if status.as_ref().is_ok_and(ExitStatus::success) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The public items that a description of rustdoc names, one a line, sorted.
fn public_items(json: &Path) -> Result<String, Box<dyn Error>> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    let mut lines: Vec<String> = api.items().map(ToString::to_string).collect();
    lines.sort_unstable();
    Ok(lines.join("\n") + "\n")
}
