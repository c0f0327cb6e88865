//! A changed client: it takes a place in a match of the real program by its code, plays by the rules, and lies in one way.
//!
//! `tests/liar/run.sh` lets it play against live processes. It is made of the demo's own sources, so it speaks the same language, and the
//! program that is shipped has nothing of it.

// The demo's modules name each other from the root of their package.
#[allow(
    dead_code,
    unused_imports,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the demo's edge, of which the liar uses a part"
)]
#[path = "../../../demo/src/app/mod.rs"]
mod app;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "as above"
)]
#[path = "../../../demo/src/console.rs"]
mod console;

mod lie;
mod lying_copy;
#[expect(clippy::disallowed_methods, reason = "live matches pass in real time")]
mod place;
mod twist;

use std::process::ExitCode;

/// What can be asked of it.
const USAGE: &str = "liar LIE CODE: joins and lies until the match is over
liar LIE open RELAY-CODE PLAYERS TURNS: opens a room and lies in it
liar knock CODE TIMES MS: comes and goes
liar damage FILE SEED: writes a damaged copy of a file to FILE.SEED
LIE: honest, ahead:N, flip, checksum, signed, silent, pause, speed:N, late:MS, orders, copies:N, no-acks, identity:N";

/// The program. It ends with one JSON object about what became of it.
#[must_use]
pub fn run() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["knock", code, times, ms] => place::knock(code, times, ms),
        ["damage", file, seed] => place::damage(file, seed),
        [lie, "open", code, players, turns] => place::open(lie, code, players, turns),
        [lie, code] => place::join(lie, code),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(sentence) => {
            eprintln!("liar: {sentence}");
            ExitCode::FAILURE
        }
    }
}
