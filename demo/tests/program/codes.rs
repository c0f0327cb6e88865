//! What a code opens, for whom, and where it can be read.

use std::io::Write as _;

use crate::network::Process;
use crate::relayed::{Relay, assert_agreed, join, open};
use crate::run::refused;

/// Each took the place from the other for ever, with "the connection is lost: asking for the place again".
#[test]
fn one_code_in_two_programs_belongs_to_the_newer_one() {
    let mut host = Process::start("host --players 2 --units 6 --turns 60 --seed 8");
    let (_, code) = host.invitation();
    let older = join(&code);
    host.wait_for("everybody is here");
    let newer = join(&code);
    let (ended, report) = older.end();
    assert_eq!(ended, 1, "{report}");
    let why = report["error"].as_str().unwrap_or_default();
    assert!(why.contains("your code is used by somebody else"), "{report}");
    let reports = assert_agreed([host, newer], 60);
    assert!(reports[0]["players_lost"].as_u64() <= Some(1), "it is lost once at most: {}", reports[0]);
}

/// The same command opened another room, and a bot played on.
#[test]
fn whoever_opened_a_room_comes_back_to_it_after_a_crash() {
    let relay = Relay::start("");
    let (mut host, codes, _) = open(&relay, 2, "--units 6 --turns 90 --seed 9");
    let back = host.wait_for("back: ").trim_end().trim_start_matches("back: ").to_owned();
    let mut guest = join(&codes[0]);
    host.wait_for("everybody is here");
    host.child.kill().expect("it runs");
    guest.wait_for("player 1 is lost");
    let host = join(&back);
    guest.wait_for("player 1 is back");
    let reports = assert_agreed([host, guest], 90);
    assert_eq!(reports[0]["player"], 0, "{}", reports[0]);
}

/// What stands on a command line, every user of the machine can read.
#[test]
fn a_code_is_read_from_the_input_or_a_file() {
    let mut host = Process::start("host --players 3 --units 4 --turns 9 --seed 3");
    let [(_, first), (_, second)] = [host.invitation(), host.invitation()];
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("code");
    std::fs::write(&file, format!("{first}\n")).expect("a file");
    let by_file = join(&format!("@{}", file.display()));
    let mut by_input = join("-");
    writeln!(by_input.child.stdin.as_mut().expect("piped"), "{second}").expect("it reads");
    assert_agreed([host, by_file, by_input], 9);
    std::fs::remove_file(&file).expect("it was written");
    refused(&format!("join @{} --bot --headless", file.display()), 2, "");
}

/// Logs of relays held the codes by which each of their matches can be watched.
#[test]
fn a_relay_prints_no_codes_of_its_rooms() {
    let mut relay = Relay::start("");
    let (_host, _, watch) = open(&relay, 2, "--units 3 --turns 9");
    let before = relay.until("a room was opened");
    assert!(!before.contains(&watch) && !before.contains("watch"), "{before}");
}
