//! The bans of `clippy.toml`: checks that each ban works, and where it is lifted.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::lexer::{Token, closing};
use crate::tree::{Finding, Tree, look_at};

/// Where a ban may be lifted: a file, and in it the module to which the attribute belongs, or none for the whole file or a function. Keep it
/// short: every line is a place to look at by hand. The reasons stand in the attributes.
const EDGES: [(&str, Option<&str>); 36] = [
    // Constants that are read from text once.
    ("demo/battle/src/map.rs", None),
    ("demo/src/main.rs", Some("app")),
    ("demo/src/main.rs", Some("cli")),
    ("demo/src/main.rs", Some("console")),
    ("demo/src/main.rs", Some("load")),
    ("demo/src/main.rs", Some("netbench")),
    ("demo/src/main.rs", Some("pair")),
    ("demo/src/main.rs", Some("view")),
    ("demo/bench/src/lib.rs", None),
    ("demo/cubes/src/float.rs", None),
    ("demo/render/src/lib.rs", None),
    ("demo/tests/program/main.rs", None),
    ("lockstep/c/build.rs", None),
    ("lockstep/c/examples/tug.rs", None),
    ("lockstep/c/src/draw.rs", None),
    // The words of a thread's last failure.
    ("lockstep/c/src/lib.rs", None),
    // Who calls from another thread is refused.
    ("lockstep/c/src/handle.rs", None),
    ("lockstep/c/tests/header.rs", None),
    ("lockstep/c/tests/scene.rs", None),
    ("lockstep/examples/first_game.rs", None),
    ("lockstep/examples/internet_game.rs", None),
    ("lockstep/examples/relay.rs", None),
    // How many cases one test has.
    ("lockstep/src/simnet/lying_sources.rs", None),
    ("lockstep/src/transport/mod.rs", Some("sealed")),
    ("lockstep/src/transport/tcp.rs", None),
    ("lockstep/src/transport/udp.rs", None),
    ("physics/examples/threads.rs", None),
    ("physics/src/draw/interpolate.rs", None),
    // Threads of the game, whose number and order no result depends on.
    ("physics/src/step/crew.rs", None),
    ("tests/liar/src/lib.rs", None),
    ("tests/lockstep/tcp.rs", None),
    ("tests/lockstep/udp.rs", None),
    ("tests/sealed/tests/wire.rs", None),
    ("tests/sealed/src/game.rs", None),
    ("tests/sealed/src/stranger.rs", None),
    // It says that everything unused is meant, not that bans are lifted.
    ("tests/tidy/planted/simulation/src/lib.rs", None),
];

/// Lints that bans rely on. `style` holds the first three, `restriction` the others.
const LINTS: [&str; 9] = [
    "disallowed_types",
    "disallowed_methods",
    "disallowed_macros",
    "print_stdout",
    "print_stderr",
    "float_arithmetic",
    "style",
    "restriction",
    "all",
];

/// A ban is lifted at an edge, with a reason, and nowhere else.
pub(crate) fn bans_are_lifted_at_edges_only(tree: &Tree) -> Vec<Finding> {
    let mut findings = look_at(tree.rust_files(""), |path, _, report| {
        let tokens = tree.tokens(path);
        for (at, token) in tokens.iter().enumerate() {
            let lifts = token.is_name("allow") || token.is_name("expect") || token.is_name("warn");
            if !lifts || !tokens.get(at + 1).is_some_and(|next| next.is_sign("(")) {
                continue;
            }
            let end = closing(&tokens, at + 1);
            let inside = &tokens[at + 2..end];
            if !names_a_ban(inside) {
                continue;
            }
            let module = module_after(&tokens, end);
            let is_edge =
                EDGES.iter().any(|(file, name)| *file == path && name.is_none_or(|_| *name == module));
            if !is_edge || !inside.iter().any(|token| token.is_name("reason")) {
                let advice = "a ban of clippy.toml is lifted here; do without, or name this edge in tests/tidy/bans.rs and give a `reason`";
                report(token.line, advice.into());
            }
        }
    });
    let manifests = tree.texts().filter(|(path, _)| path.ends_with("Cargo.toml"));
    findings.extend(look_at(manifests, |_, text, report| {
        if let Some(at) = text.lines().position(|line| line.trim_start().starts_with("disallowed_")) {
            report(at + 1, "bans hold for whole packages; lift them at an edge, in the code".into());
        }
    }));
    findings
}

fn names_a_ban(inside: &[Token<'_>]) -> bool {
    inside.windows(4).any(|path| {
        path[0].is_name("clippy") && path[1].is_sign(":") && LINTS.iter().any(|lint| path[3].is_name(lint))
    }) || inside.iter().any(|token| token.is_name("warnings"))
}

/// The module that an attribute belongs to, if it is one: after `)]` and further attributes stands `mod NAME`.
fn module_after<'a>(tokens: &[Token<'a>], end: usize) -> Option<&'a str> {
    let mut at = end + 2;
    while tokens.get(at).is_some_and(|token| token.is_sign("#")) {
        at = closing(tokens, at + 1) + 1;
    }
    if tokens.get(at).is_some_and(|token| token.is_name("pub")) {
        at += 1;
    }
    let is_module = tokens.get(at).is_some_and(|token| token.is_name("mod"));
    is_module.then(|| tokens.get(at + 1).map(|name| name.text)).flatten()
}

/// The paths that a list of bans names.
fn banned(list: &str) -> BTreeSet<&str> {
    list.lines().filter_map(|line| line.split("path = \"").nth(1)?.split('"').next()).collect()
}

/// What clippy says of a planted package under the bans of a folder, a line each.
fn clippy(planted: &str, bans: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["clippy", "--quiet", "--offline", "--locked", "--message-format=short", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted"))
        .current_dir(root.join(planted))
        .env("CLIPPY_CONF_DIR", root.join(bans))
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("disallowed"),
        "clippy is a part of the toolchain (rustup component add clippy): {said}"
    );
    said
}

/// Every path of the list is named by a finding in the planted package, and nothing that only looks alike is.
#[track_caller]
fn assert_every_ban_bites(planted: &str, bans: &str, list: &str) -> String {
    let said = clippy(planted, bans);
    let found: BTreeSet<&str> = said
        .lines()
        .filter(|line| line.contains(": use of a disallowed "))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    assert_eq!(found, banned(list), "{planted} has to break every ban of the list once");
    let alike: Vec<&str> = said.lines().filter(|line| line.contains("alike.rs")).collect();
    assert!(alike.is_empty(), "{alike:#?}");
    said
}

#[test]
fn every_ban_of_the_simulation_bites() {
    let list = include_str!("../../clippy.toml");
    let said = assert_every_ban_bites("tests/tidy/planted/simulation", "", list);
    for denied in ["floating-point arithmetic", "use of `println!`", "use of `eprintln!`"] {
        assert!(said.contains(denied), "{denied} is not found: {said}");
    }
}

#[test]
fn every_ban_of_the_tests_bites() {
    assert_every_ban_bites("tests/tidy/planted/test_code", "tests", include_str!("../clippy.toml"));
}

#[cfg(test)]
mod tests {
    use super::bans_are_lifted_at_edges_only;
    use crate::tree::{Tree, assert_found};

    #[test]
    fn a_lifted_ban_is_found() {
        let reason = "#![allow(clippy::disallowed_types, reason = \"a socket\")]";
        let edge = "#[cfg(a)]\n#[expect(clippy::disallowed_types, reason = \"b\")]\n#[cfg(c)]\nmod view;";
        let clean = [
            ("lockstep/src/transport/tcp.rs", reason),
            ("lockstep/src/transport/udp.rs", reason),
            ("demo/src/main.rs", edge),
            (
                "physics/src/world.rs",
                "#![allow(clippy::too_many_arguments)] fn allow(style: u8) { option.expect(\"all\"); }",
            ),
        ];
        assert_eq!(bans_are_lifted_at_edges_only(&Tree::planted(&clean)), []);
        let planted = [
            ("physics/src/world.rs", reason),
            ("lockstep/src/transport/tcp.rs", "#![allow(clippy::disallowed_types)]"),
            ("lockstep/src/transport/udp.rs", "#![allow(clippy::disallowed_types)]"),
            ("demo/src/main.rs", "#[allow(clippy::disallowed_types, reason = \"b\")] mod cubes;"),
            ("demo/cubes/src/scene.rs", "#![allow(clippy::disallowed_types, reason = \"b\")]"),
            ("demo/battle/src/lib.rs", "#![cfg_attr(test, allow(clippy::print_stdout))]"),
            ("demo/battle/src/lib.rs", "#![allow(clippy::all)]"),
            ("demo/battle/src/lib.rs", "#![allow(warnings)]"),
            ("demo/battle/src/lib.rs", "#[warn(clippy::float_arithmetic)] fn f() {}"),
        ];
        for (path, text) in planted {
            assert_found(
                &bans_are_lifted_at_edges_only(&Tree::planted(&[(path, text)])),
                path,
                1,
                "is lifted here",
            );
        }
        let manifest = ("Cargo.toml", "[workspace.lints.clippy]\ndisallowed_types = \"allow\"");
        assert_found(
            &bans_are_lifted_at_edges_only(&Tree::planted(&[manifest])),
            "Cargo.toml",
            2,
            "at an edge",
        );
    }
}
