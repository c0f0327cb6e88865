//! Starting the program and reading what it prints.

use std::process::{Command, Stdio};

use serde_json::Value;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program with arguments separated by spaces, in an environment without a display.
pub(crate) fn program(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testudo"));
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    // The player's key stays out of the home folder.
    command.env("XDG_STATE_HOME", std::env::temp_dir().join("testudo-test-state"));
    command
}

/// Waits until something is so, for some five minutes at most. It looks every few milliseconds, because a loop without a pause takes a core from the
/// programs that it waits for.
#[track_caller]
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    panic!("what the test waits for never comes");
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &str) -> Ended {
    let output = program(arguments).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let ended = Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert!(!ended.stderr.contains("panicked"), "{arguments}: {}", ended.stderr);
    ended
}

/// Runs the program with `--json`; the exit code has to be `code`, and standard output has to be one JSON object.
pub(crate) fn run_json(arguments: &str, code: i32) -> Value {
    let ended = run(&format!("{arguments} --json"));
    assert_eq!(ended.code, code, "{arguments}: {ended:?}");
    let value: Value = serde_json::from_str(&ended.stdout).expect("standard output is one JSON value");
    assert!(value.is_object(), "{arguments}: {value}");
    value
}

/// Runs the program, which has to refuse: with this exit code, and one line on standard error that contains `part`.
#[track_caller]
pub(crate) fn refused(arguments: &str, code: i32, part: &str) -> Ended {
    let ended = run(arguments);
    assert_eq!((ended.code, ended.stderr.lines().count()), (code, 1), "{arguments}: {ended:?}");
    assert!(ended.stderr.contains(part), "{arguments}: {part} in {ended:?}");
    ended
}

/// Runs the program with `--json`, which has to refuse with this exit code and an error that contains `part`.
#[track_caller]
pub(crate) fn refused_json(arguments: &str, code: i32, part: &str) {
    let report = run_json(arguments, code);
    assert!(report["error"].as_str().is_some_and(|error| error.contains(part)), "{arguments}: {report}");
}

/// The options for one damaged number.
pub(crate) fn corrupt(turn: u32, player: u32, body: u32, field: &str, bit: u32) -> String {
    let place = format!("--corrupt-turn {turn} --corrupt-player {player} --corrupt-body {body}");
    format!("{place} --corrupt-field {field} --corrupt-bit {bit}")
}
