//! Sizes of files, things left undone, and where programs may be.

use crate::lexer::test_module_lines;
use crate::tree::{Finding, Tree, look_at};

/// Longest file, its unit tests not counted.
const LINES_MAX: usize = 600;

/// The members of the workspace that are libraries.
const LIBRARIES: [&str; 8] = [
    "physics",
    "physics/movement",
    "lockstep",
    "demo/battle",
    "demo/cubes",
    "demo/render",
    "demo/bench",
    "tests",
];

/// Files are short enough to be read at once.
pub(crate) fn files_are_short(tree: &Tree) -> Vec<Finding> {
    let files = ["physics/", "lockstep/", "demo/"].into_iter().flat_map(|part| tree.product_files(part));
    look_at(files, |path, text, report| {
        let lines = text.lines().count() - test_module_lines(&tree.tokens(path));
        if lines > LINES_MAX {
            let message = format!(
                "{lines} lines without unit tests, {LINES_MAX} are allowed; a file is one noun: find the second one in \
                 it and give it a file of its own"
            );
            report(LINES_MAX + 1, message);
        }
    })
}

/// Marks of unfinished work. Written in two halves, or this file would break its own rule.
const UNFINISHED: [(&str, &str); 8] = [
    (concat!("TO", "DO"), "finish it, or write down the limit in the docs of the item"),
    (concat!("FIX", "ME"), "fix it, or write down the limit in the docs of the item"),
    (concat!("XX", "X"), "say what is meant in a sentence"),
    (concat!("unimpl", "emented!"), "return an error that says what is not supported"),
    (concat!("to", "do!"), "return an error that says what is not supported"),
    (
        concat!("#[ign", "ore"),
        "make the test fast and sure, or delete it: a test that never runs proves nothing",
    ),
    (
        concat!("/wo", "rk/"),
        "a path of one machine means nothing elsewhere; write it relative to the repository",
    ),
    (
        concat!("/ho", "me/"),
        "a path of one machine means nothing elsewhere; write it relative to the repository",
    ),
];

/// Nothing is marked as unfinished, and no test is switched off.
pub(crate) fn nothing_is_unfinished(tree: &Tree) -> Vec<Finding> {
    look_at(tree.texts(), |_, text, report| {
        for (place, line) in text.lines().enumerate() {
            for (mark, advice) in UNFINISHED.iter().filter(|(mark, _)| contains_word(line, mark)) {
                report(place + 1, format!("`{mark}`: {advice}"));
            }
        }
    })
}

/// Whether the line has the mark, not as a part of a longer word.
fn contains_word(line: &str, mark: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + mark.len()..].chars().next();
        let free_before = !before.is_some_and(is_word) || !mark.starts_with(is_word);
        let free_after = !after.is_some_and(is_word) || !mark.ends_with(is_word);
        free_before && free_after
    })
}

/// Programs live in the demo, and plain cargo commands mean the whole workspace.
pub(crate) fn programs_live_in_the_demo(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |path: &str, line: usize, message: &str| {
        findings.push(Finding { path: path.into(), line, message: message.into() });
    };
    for library in LIBRARIES {
        let advice =
            "programs belong into the demo package, or `cargo run` would not know which one to start";
        for (path, _) in tree.rust_files(&format!("{library}/src/")) {
            let inside = &path[library.len() + "/src/".len()..];
            if inside == "main.rs" || inside.starts_with("bin/") {
                report(path, 1, advice);
            }
        }
        let manifest = format!("{library}/Cargo.toml");
        if let Some(line) = line_with(tree, &manifest, "[[bin]]") {
            report(&manifest, line, advice);
        }
    }
    if let Some(line) = line_with(tree, "Cargo.toml", "default-members") {
        report("Cargo.toml", line, "take `default-members` out: plain `cargo test` must test every package");
    }
    if tree.text("demo/Cargo.toml").is_some() && line_with(tree, "demo/Cargo.toml", "default-run").is_none() {
        report("demo/Cargo.toml", 1, "set `default-run`, so that `cargo run --release` alone plays the demo");
    }
    findings
}

/// Every member of the workspace follows its lints; packages outside have a workspace of their own.
pub(crate) fn members_share_lints(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.texts().filter(|(path, _)| path.ends_with("Cargo.toml"));
    let members = manifests.filter(|(path, text)| !text.contains("[workspace]") && *path != ALONE);
    look_at(members, |_, text, report| {
        if !text.replace(' ', "").contains("[lints]\nworkspace=true") {
            report(1, "add `[lints]` with `workspace = true`: one set of lints for all packages".into());
        }
    })
}

/// A part of a workspace of its own.
const ALONE: &str = "tests/bare/std/Cargo.toml";

/// Which package may not know which: manifest, forbidden package, why.
const STRANGERS: [(&str, &str, &str); 4] = [
    ("physics/Cargo.toml", "testudo-lockstep", "a game of one player needs no network"),
    ("physics/movement/Cargo.toml", "testudo-lockstep", "a game of one player needs no network"),
    (
        "tests/Cargo.toml",
        "testudo-demo",
        "the tests must build for machines without a window; test the demo in demo/tests",
    ),
    ("physics/Cargo.toml", "rand =", "the engine's random numbers are state: physics/src/math/rng.rs"),
];

/// The files of lockstep that may name physics, each behind a feature.
const BRIDGES: [&str; 2] = ["lockstep/src/world.rs", "lockstep/src/crowd.rs"];

/// The engines do not know each other but for the bridges, and the tests not the demo.
pub(crate) fn packages_know_only_what_they_need(tree: &Tree) -> Vec<Finding> {
    let known = STRANGERS.into_iter().filter_map(|(path, stranger, why)| {
        let line = line_with(tree, path, stranger)?;
        Some(Finding { path: path.into(), line, message: format!("take `{stranger}` out: {why}") })
    });
    known.chain(lockstep_carries_any_game(tree)).chain(simulations_stand_alone(tree)).collect()
}

/// What the demo's simulations may depend on, and for their tests. They do not draw, read the command line or wait.
const NEEDED: [(&str, &[&str]); 2] = [
    ("demo/battle/Cargo.toml", &["testudo-physics", "testudo-movement", "testudo-lockstep", "smallvec"]),
    ("demo/cubes/Cargo.toml", &["testudo-physics", "testudo-lockstep"]),
];
const NEEDED_BY_TESTS: &[&str] = &["testudo-tests"];

/// All dependencies stand in two tables, a line each: what stands in another one is a stranger, too.
fn simulations_stand_alone(tree: &Tree) -> Vec<Finding> {
    let looked_at = NEEDED.into_iter().map(|(path, needed)| {
        look_at(tree.file(path), |_, text, report| {
            let mut allowed: Option<&[&str]> = None;
            for (at, line) in text.lines().enumerate() {
                let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
                let is_strange = if line.starts_with('[') {
                    allowed = match line {
                        "[dependencies]" => Some(needed),
                        "[dev-dependencies]" => Some(NEEDED_BY_TESTS),
                        _ => None,
                    };
                    allowed.is_none() && line.contains("dependencies")
                } else {
                    let is_entry = !name.is_empty() && !name.starts_with('#');
                    is_entry && allowed.is_some_and(|allowed| !allowed.contains(&name))
                };
                if is_strange {
                    report(
                        at + 1,
                        format!("take `{line}` out: this is simulation only, {needed:?} are what it needs"),
                    );
                }
            }
        })
    });
    looked_at.flatten().collect()
}

/// Lockstep carries the actions of any deterministic game: without its feature `physics` it does not even build the other engine.
fn lockstep_carries_any_game(tree: &Tree) -> Vec<Finding> {
    let mut findings = look_at(tree.file("lockstep/Cargo.toml"), |_, text, report| {
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("testudo-physics") && !line.contains("optional = true") {
                let advice =
                    "make `testudo-physics` optional: lockstep carries the actions of any deterministic game";
                report(at + 1, advice.into());
            }
        }
    });
    let files = tree.rust_files("lockstep/src/").filter(|(path, _)| !BRIDGES.contains(path));
    findings.extend(look_at(files, |path, _, report| {
        if let Some(token) = tree.tokens(path).iter().find(|token| token.is_name("testudo_physics")) {
            let advice = format!(
                "`testudo_physics` may stand in {BRIDGES:?} only: lockstep carries any deterministic game"
            );
            report(token.line, advice);
        }
    }));
    findings
}

/// The only modules that may contain `unsafe`, each a file and its folder: plain data, registers, work lent to threads that live longer, and the functions
/// of a browser page, which nobody can call without it.
const AUDITED: [&str; 4] =
    ["physics/src/math/plain", "physics/src/simd", "physics/src/step/crew", "demo/src/app/page/imports"];

fn is_audited(path: &str) -> bool {
    let is_in =
        |place: &str| path.strip_prefix(place).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'));
    AUDITED.into_iter().any(is_in)
}

/// Lints that crates deny.
const DENIED: [(&str, &[&str]); 5] = [
    (
        "physics/src/lib.rs",
        &["unsafe_code", "float_arithmetic", "print_stdout", "print_stderr", "must_use_candidate"],
    ),
    (
        "physics/movement/src/lib.rs",
        &["unsafe_code", "float_arithmetic", "print_stdout", "print_stderr", "must_use_candidate"],
    ),
    (
        "lockstep/src/lib.rs",
        &["unsafe_code", "float_arithmetic", "print_stdout", "print_stderr", "must_use_candidate"],
    ),
    ("demo/battle/src/lib.rs", &["unsafe_code", "float_arithmetic", "print_stdout", "print_stderr"]),
    ("demo/cubes/src/lib.rs", &["unsafe_code", "float_arithmetic", "print_stdout", "print_stderr"]),
];

/// The crates keep their bans, and `unsafe` is in the audited modules only.
pub(crate) fn bans_hold(tree: &Tree) -> Vec<Finding> {
    let parts = ["physics/src/", "physics/movement/src/", "lockstep/src/", "demo/"].into_iter();
    let files = parts.flat_map(|src| tree.rust_files(src)).filter(|(path, _)| !is_audited(path));
    let mut findings = look_at(files, |path, _, report| {
        for token in tree.tokens(path).iter().filter(|token| token.is_name("unsafe")) {
            let advice = format!(
                "`unsafe` may stand in {AUDITED:?} only; find the safe way, or the audit has one more place"
            );
            report(token.line, advice);
        }
    });
    for (file, lints) in DENIED {
        findings.extend(look_at(tree.file(file), |_, text, report| {
            let denied = text.lines().filter(|line| line.contains("[deny(") || line.contains("[warn("));
            for lint in lints.iter().filter(|lint| !denied.clone().any(|line| line.contains(**lint))) {
                report(1, format!("deny (or warn of) `{lint}` for the whole crate"));
            }
        }));
    }
    findings
}

fn line_with(tree: &Tree, path: &str, start: &str) -> Option<usize> {
    let text = tree.text(path)?;
    text.lines().position(|line| line.trim_start().starts_with(start)).map(|place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, UNFINISHED};
    use super::{bans_hold, files_are_short, members_share_lints, nothing_is_unfinished};
    use super::{packages_know_only_what_they_need, programs_live_in_the_demo};
    use crate::tree::{Tree, assert_found};

    #[test]
    fn long_files_are_found_and_unit_tests_not_counted() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// check\n".repeat(300));
        let full = "// line\n".repeat(LINES_MAX) + &tests;
        assert_eq!(files_are_short(&Tree::planted(&[("physics/src/world.rs", &full)])), []);
        assert_eq!(files_are_short(&Tree::planted(&[("tests/physics/main.rs", &full)])), []);
        let longer = format!("// one more\n{full}");
        let findings = files_are_short(&Tree::planted(&[("physics/src/world.rs", &longer)]));
        assert_found(&findings, "physics/src/world.rs", LINES_MAX + 1, "601 lines");
    }

    #[test]
    fn every_unfinished_mark_is_found() {
        for (mark, advice) in UNFINISHED {
            let text = format!("fn f() {{}}\n    // {mark} later");
            let findings = nothing_is_unfinished(&Tree::planted(&[("lockstep/src/turn.rs", &text)]));
            assert_found(&findings, "lockstep/src/turn.rs", 2, advice);
        }
        let part = format!("let mas{}s = {}_list;", concat!("TO", "DO"), concat!("TO", "DO"));
        assert_eq!(nothing_is_unfinished(&Tree::planted(&[("a.rs", &part)])), []);
    }

    #[test]
    fn programs_outside_the_demo_are_found() {
        let demo = ("demo/Cargo.toml", "default-run = \"testudo\"\n[[bin]]");
        let clean =
            [demo, ("demo/src/main.rs", ""), ("tests/peers/src/main.rs", ""), ("Cargo.toml", "[workspace]")];
        assert_eq!(programs_live_in_the_demo(&Tree::planted(&clean)), []);
        let planted = [
            ("physics/src/main.rs", "", "demo package"),
            ("lockstep/src/bin/tool.rs", "", "demo package"),
            ("tests/Cargo.toml", "[[bin]]", "demo package"),
            ("Cargo.toml", "default-members = [\"demo\"]", "plain `cargo test`"),
            ("demo/Cargo.toml", "[package]", "default-run"),
        ];
        for (path, text, message) in planted {
            let findings = programs_live_in_the_demo(&Tree::planted(&[(path, text)]));
            assert_found(&findings, path, 1, message);
        }
    }

    #[test]
    fn lints_left_out_are_found() {
        assert_eq!(
            members_share_lints(&Tree::planted(&[("demo/Cargo.toml", "[lints]\nworkspace = true")])),
            []
        );
        let findings = members_share_lints(&Tree::planted(&[("demo/Cargo.toml", "[package]")]));
        assert_found(&findings, "demo/Cargo.toml", 1, "one set of lints");
    }

    #[test]
    fn packages_that_know_too_much_are_found() {
        let clean = [
            ("tests/Cargo.toml", "testudo-physics.workspace = true"),
            ("demo/Cargo.toml", "testudo-lockstep"),
        ];
        assert_eq!(packages_know_only_what_they_need(&Tree::planted(&clean)), []);
        let planted = ("lockstep/Cargo.toml", "[dependencies]\ntestudo-physics.workspace = true");
        let findings = packages_know_only_what_they_need(&Tree::planted(&[planted]));
        assert_found(&findings, planted.0, 2, "any deterministic game");
        let bridge = [
            (
                "lockstep/Cargo.toml",
                "[dependencies]\ntestudo-physics = { workspace = true, optional = true }",
            ),
            (super::BRIDGES[0], "use testudo_physics::World;"),
        ];
        assert_eq!(packages_know_only_what_they_need(&Tree::planted(&bridge)), []);
        let elsewhere = ("lockstep/src/session/mod.rs", "// testudo_physics\nuse testudo_physics::World;");
        let findings = packages_know_only_what_they_need(&Tree::planted(&[bridge[0], bridge[1], elsewhere]));
        assert_found(&findings, elsewhere.0, 2, "any deterministic game");
        let battle = "[dependencies]\ntestudo-physics.workspace = true\n# Short lists.\nsmallvec = \"1\"\n\n[dev-dependencies]\ntestudo-tests.workspace = true\n\n[lints]\nworkspace = true\n";
        let cubes = battle.replace("smallvec = \"1\"\n", "testudo-lockstep.workspace = true\n");
        for (path, clean) in [("demo/battle/Cargo.toml", battle), ("demo/cubes/Cargo.toml", &cubes)] {
            let findings = |text: &str| packages_know_only_what_they_need(&Tree::planted(&[(path, text)]));
            assert_eq!(findings(clean), []);
            for stranger in ["macroquad = \"0.4\"\n", "[target.'cfg(unix)'.dependencies]\nclap = \"4\"\n"] {
                let drawn = clean.replace("# Short lists.\n", stranger);
                assert_found(&findings(&drawn), path, 3, "simulation only");
            }
            assert_found(&findings(&clean.replace("testudo-tests", "rand")), path, 7, "simulation only");
        }
        assert_found(
            &packages_know_only_what_they_need(&Tree::planted(&[("demo/cubes/Cargo.toml", battle)])),
            "demo/cubes/Cargo.toml",
            4,
            "simulation only",
        );
    }

    #[test]
    fn lifted_bans_are_found() {
        let deny = "#![deny(unsafe_code, clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]\n\
                    #![warn(clippy::must_use_candidate)]\n\n";
        let root = ("physics/src/lib.rs", deny);
        let kernel = ("physics/src/simd.rs", "unsafe { f() }");
        assert_eq!(bans_hold(&Tree::planted(&[root, kernel, ("lockstep/src/a.rs", "// unsafe")])), []);
        let findings =
            bans_hold(&Tree::planted(&[root, ("lockstep/src/a.rs", "\nfn f() { unsafe { g() } }")]));
        assert_found(&findings, "lockstep/src/a.rs", 2, "the safe way");
        for (file, _) in super::DENIED {
            let lifted = deny.replace("clippy::float_arithmetic, ", "");
            assert_found(&bans_hold(&Tree::planted(&[(file, &lifted)])), file, 1, "float_arithmetic");
        }
    }
}
