//! Teams: two against two, real processes on loopback.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::network::Process;
use crate::relayed::Relay;
use crate::run::{refused, run, run_json};

fn checksum(report: &Value) -> &str {
    report["final_checksum"].as_str().unwrap_or_else(|| panic!("no checksum: {report}"))
}

/// The host has put everybody into a team, and changes its mind; a guest chooses for itself, and nobody chooses for another player. Every copy
/// comes to the battle that one process comes to with the same teams.
fn two_against_two(hosts: &str) {
    let game = "--players 4 --units 6 --turns 60 --seed 12";
    let mut host = Process::start(&format!("{hosts} {game} --teams 1,1,2,0"));
    let codes = [host.invitation().1, host.invitation().1, host.invitation().1];
    let mut lines = host.child.stdin.take().expect("piped");
    writeln!(lines, "wait").expect("it reads");
    host.wait_for("does not begin before you type: ready");
    let mut guests = codes.each_ref().map(|code| Process::start(&format!("join {code}")));
    let mut asks = guests[2].child.stdin.take().expect("piped");
    writeln!(asks, "team 2 2\nteam 9\nteam 2").expect("it reads");
    guests[2].wait_for("teams are chosen before the start");
    guests[2].wait_for("type: team NUMBER");
    guests[2].wait_for("player 4 is in team 2");
    for whose in ["player 2, orange, team 1", "player 3, pink, team 2", "player 4, yellow, team 2"] {
        wait_until_told(&mut host, &mut lines, whose);
        wait_until_told(&mut guests[2], &mut asks, whose);
    }
    writeln!(lines, "team 2 2\nteam 3 1").expect("it reads");
    host.wait_for("player 3 is in team 1");
    for whose in ["player 2, orange, team 2", "player 3, pink, team 1"] {
        wait_until_told(&mut guests[2], &mut asks, whose);
    }
    writeln!(lines, "ready").expect("it reads");
    host.wait_for("everybody is here");
    let (code, hosted) = host.end();
    assert_eq!((code, &hosted["teams"]), (0, &json!([1, 2, 1, 2])), "{hosted}");
    for guest in guests {
        let (code, report) = guest.end();
        assert_eq!((code, &report["teams"]), (0, &json!([1, 2, 1, 2])), "{report}");
        assert_eq!(checksum(&report), checksum(&hosted));
    }
    let alone = run_json(&format!("headless --pace fixed {game} --teams 1,2,1,2"), 0);
    assert_eq!(checksum(&alone), checksum(&hosted));
    let without = run_json(&format!("headless --pace fixed {game}"), 0);
    assert_eq!((without.get("teams"), without.get("winning_team")), (None, None));
    assert_ne!(checksum(&without), checksum(&hosted));
}

/// Asks who is here until the line of a player begins like this.
fn wait_until_told(process: &mut Process, lines: &mut impl std::io::Write, whose: &str) {
    let player = &whose[..8];
    loop {
        writeln!(lines, "who").expect("it reads");
        if process.wait_for(&format!("{player},")).starts_with(whose) {
            return;
        }
    }
}

#[test]
fn the_lobbys_teams_are_the_battles_at_a_host() {
    two_against_two("host");
}

#[test]
fn the_lobbys_teams_are_the_battles_through_a_relay() {
    let relay = Relay::start("");
    two_against_two(&format!("host --relay {}", relay.code));
}

/// Whoever comes back by `join` has no `--teams`, and showed that to everybody.
#[test]
fn the_hosts_plan_stays_when_the_host_comes_back_to_the_lobby() {
    use std::io::Write as _;

    let relay = Relay::start("");
    let game = "--players 3 --units 5 --turns 8 --teams 1,2,2";
    let mut host = Process::start(&format!("host --relay {} {game}", relay.code));
    let codes = [host.invitation().1, host.invitation().1];
    let back = host.wait_for("back: ").trim_end().trim_start_matches("back: ").to_owned();
    let mut guest = Process::start(&format!("join {}", codes[0]));
    let mut lines = guest.child.stdin.take().expect("piped");
    let mut shown = |guest: &mut Process, whose: &str| {
        loop {
            writeln!(lines, "who").expect("it reads");
            if guest.wait_for("player 1").starts_with(whose) {
                return;
            }
        }
    };
    shown(&mut guest, "player 1, sky blue, team 1");
    host.child.kill().expect("it runs");
    let host = Process::start(&format!("join {back} --name Ada"));
    shown(&mut guest, "player 1 (Ada), sky blue, team 1");
    let other = Process::start(&format!("join {}", codes[1]));
    for process in [host, guest, other] {
        let (code, report) = process.end();
        assert_eq!((code, &report["teams"]), (0, &json!([1, 2, 2])), "{report}");
    }
}

/// In virtual time, to the end; and the replay knows the teams.
#[test]
fn a_team_wins_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let replay = folder.path().join("a.replay");
    let game = "--players 4 --units 5 --turns 6000 --seed 4 --teams 1,2,1,2";
    let report = run_json(&format!("headless {game} --replay {}", replay.display()), 0);
    assert_eq!(report["checksums_agree"], true);
    let winner = report["winner"].as_u64().expect("somebody has won");
    assert!(winner < 2, "the lowest number stands for the team: {report}");
    assert_eq!(report["winning_team"], winner + 1);
    assert_eq!(run(&format!("verify {}", replay.display())).code, 0);
}

#[test]
fn teams_that_make_no_sense_are_refused_with_one_line() {
    let cases = [
        ("--teams 1,2", "names 2 players"),
        ("--teams 1,1,1,1", "nobody is left to fight"),
        ("--teams 1,2,1,9", "0 to 8"),
        ("--teams 1,2,x,2", "0 to 8"),
        ("--teams 1,2,1,2 --resume x.save", "--resume"),
    ];
    for (options, part) in cases {
        let players = if options.contains("resume") { "" } else { "--players 4" };
        refused(&format!("host {players} {options} --bot --headless"), 2, part);
    }
}
