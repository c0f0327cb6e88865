//! The judge of pairs, with scripts at random. `TESTUDO_PAIRS=100000` plays so many, and `TESTUDO_PAIRS_FROM` says from which seed on.

use testudo_tests::fuzz::{pairs, script};

/// Bytes of a script: about a hundred calls and steps.
const BYTES: usize = 400;

/// A number in a variable of the environment.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays scripts that were wrong once.
fn stay_right<const N: usize>(seeds: [u64; N]) {
    seeds.into_iter().for_each(|seed| pairs(&script(seed, BYTES)));
}

#[test]
fn a_kinematic_body_that_the_worlds_edge_stops_in_a_sleeper_touches_it() {
    // It fell asleep in the frame in which it arrived, and the sleeper, too: its sleep time is below a frame.
    stay_right([30_013_855, 40_015_221]);
}

#[test]
fn a_small_fast_body_that_begins_in_two_walls_that_cover_each_other_touches_them() {
    stay_right([40_006_635]);
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
