//! The judge of pairs, with scripts at random. `TESTUDO_PAIRS=100000` plays so many, and `TESTUDO_PAIRS_FROM` says from which seed on.

use testudo_tests::fuzz::{pairs, script};

/// Bytes of a script: about a hundred calls and steps.
const BYTES: usize = 400;

/// A number in a variable of the environment.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn pairs_that_touch_are_reported_and_others_are_not() {
    let first = asked("TESTUDO_PAIRS_FROM").unwrap_or(1);
    let mut wrong = Vec::new();
    for seed in first..first + asked("TESTUDO_PAIRS").unwrap_or(60) {
        if std::panic::catch_unwind(|| pairs(&script(seed, BYTES))).is_err() {
            wrong.push(seed);
        }
    }
    assert!(wrong.is_empty(), "{} scripts from seed {first} on are wrong: {wrong:?}", wrong.len());
}
