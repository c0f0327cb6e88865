//! The program at a terminal, which `script` makes.

use std::process::Command;

/// Reading what is typed, a host in the background was stopped by the system, and everybody's match with it.
#[test]
fn a_match_in_the_background_of_a_terminal_is_not_stopped() {
    let program = env!("CARGO_BIN_EXE_testudo");
    let game = "host --players 1 --units 3 --turns 8 --bot --headless --json";
    // A shell that a person uses puts it into a group of its own, as this does; and it tells when it stops.
    let shell = format!("set -m; {program} {game} & wait $!; echo ended with $?");
    let mut script = Command::new("script");
    script.args(["-qec", &shell, "/dev/null"]).env("SHELL", "/bin/bash");
    script.env("XDG_STATE_HOME", std::env::temp_dir().join("testudo-test-state"));
    let Ok(output) = script.output() else {
        return eprintln!("skipped: there is no `script` here");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("ended with 0"), "{said}");
}
