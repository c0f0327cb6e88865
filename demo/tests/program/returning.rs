//! Players that are lost, come back, or come late, and hosts that go: real processes on loopback.

use serde_json::Value;
use tempfile::tempdir;
use testudo_lockstep::service::code::JoinCode;

use crate::network::Process;
use crate::run::{refused, run, wait_until};

fn checksum(report: &Value) -> &str {
    report["final_checksum"].as_str().unwrap_or_else(|| panic!("no checksum: {report}"))
}

/// One guest is killed without a word, and comes back with the same code; somebody begins to watch in the middle.
#[test]
fn who_was_killed_comes_back_with_the_same_code_and_who_watches_comes_late() {
    kill_and_return("", 90);
}

/// Without a secret nobody can tell who comes, so the place has to be free.
#[test]
fn without_a_seal_a_free_place_is_taken_over() {
    kill_and_return("--plain", 110);
}

fn kill_and_return(plain: &str, turns: u32) {
    let mut host = Process::start(&format!("host {plain} --players 3 --units 10 --turns {turns} --seed 7"));
    let codes = [host.invitation().1, host.invitation().1];
    let watch = host.watch_code();
    let folder = tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let files = ["0.replay", "1.replay"].map(file);
    let join = |guest: usize| {
        let file = files[guest].display();
        Process::with_replay(&format!("join {plain} {} --name Ada --replay {file}", codes[guest]))
    };
    let mut guests = [0, 1].map(join);
    host.wait_for("everybody is here");
    let recorded = || std::fs::read(&files[0]).unwrap_or_default();
    wait_until(|| recorded().len() > 200);
    guests[0].child.kill().expect("it runs");
    guests[0].child.wait().expect("it ends");
    let before_the_crash = recorded();
    let save = file("0.replay.save");
    std::fs::write(&save, b"of before the crash").expect("a save");
    if !plain.is_empty() {
        host.wait_for("is lost");
    }
    let back = join(0);
    let late = file("watcher.replay");
    let watcher = Process::with_replay(&format!("join {plain} {watch} --watch --replay {}", late.display()));
    let line = host.wait_for("is back");
    assert!(line.contains("(Ada)"), "{line}");
    let (code, hosted) = host.end();
    assert_eq!(
        (code, &hosted["players_lost"], &hosted["players_back"]),
        (0, &1.into(), &1.into()),
        "{hosted}"
    );
    let [killed, other] = guests;
    drop(killed);
    assert!(hosted["host_bytes_per_second"].is_number(), "{hosted}");
    let after = file("0-2.replay");
    let recorded_in = [&after, &files[1], &late];
    for (process, file) in [back, other, watcher].into_iter().zip(recorded_in) {
        let (code, report) = process.end();
        // A watcher's bytes were called the host's.
        assert!(report["bytes_per_second_per_player"].is_number(), "{report}");
        assert_eq!(report.get("host_bytes_per_second"), None, "{report}");
        assert_eq!(
            (code, &report["turns"], &report["frames"]),
            (0, &turns.into(), &(4 * turns).into()),
            "{report}"
        );
        assert_eq!(checksum(&report), checksum(&hosted));
        assert_eq!(report["checksums_agree"], true);
        // Whoever came in the middle recorded nothing.
        let verified = run(&format!("verify --json {}", file.display()));
        let about: Value = serde_json::from_str(&verified.stdout).expect("a JSON object");
        let (first, played) = (about["first_turn"].as_u64().unwrap(), about["turns"].as_u64().unwrap());
        assert_eq!((verified.code, first + played), (0, u64::from(turns)), "{verified:?}");
        assert_eq!(first > 0, file != &files[1], "{verified:?}");
    }
    // It was emptied when the same command began, and removed when the state had come.
    assert!(recorded() == before_the_crash, "the replay up to the crash has changed");
    assert_eq!(std::fs::read(&save).expect("the save"), b"of before the crash");
}

/// The host goes: the others have a replay and a save, and with either of their saves the match goes on to its end.
#[test]
#[cfg(unix)]
fn a_match_whose_host_has_gone_is_resumed_from_a_save() {
    let folder = tempdir().expect("a folder");
    let [hosts, guests] = ["host.replay", "guest.replay"].map(|name| folder.path().join(name));
    let saves = [&hosts, &guests].map(|replay| replay.with_extension("replay.save"));
    let game = "--players 2 --units 10 --turns 40 --seed 8";
    let mut host = Process::with_replay(&format!("host {game} --replay {}", hosts.display()));
    let (_, code) = host.invitation();
    let guest = Process::with_replay(&format!("join {code} --replay {}", guests.display()));
    wait_until(|| saves.iter().all(|save| save.exists()));
    host.signal("-TERM");
    let (code, report) = host.end();
    assert_eq!((code, &report["checksums_agree"]), (0, &true.into()), "{report}");
    let (code, report) = guest.end();
    assert_eq!(code, 1, "it was not played to its end: {report}");
    let sentence = report["error"].as_str().expect("a sentence");
    assert!(sentence.contains("ended the match early"), "{report}");
    assert_eq!(report["save"], saves[1].display().to_string());
    assert_eq!(run(&format!("verify {}", guests.display())).code, 0);

    // Nobody comes, and the host leaves: the turns before the save were said to be played, and equal to the others'.
    let mut alone = Process::start(&format!("host --resume {}", saves[0].display()));
    alone.invitation();
    alone.signal("-TERM");
    let (code, report) = alone.end();
    assert_eq!((code, report), (0, serde_json::json!({ "turns": 0, "checksums_agree": true })));

    let mut ends = Vec::new();
    for (own, save) in saves.iter().enumerate() {
        let mut host = Process::start(&format!("host --resume {}", save.display()));
        let (place, code) = host.invitation();
        assert_eq!(place as usize, 2 - own, "whoever resumes it keeps their army");
        // The other one has kept a save, too, in the folder of its replays.
        let folder = tempdir().expect("a folder");
        std::fs::copy(&saves[1 - own], folder.path().join("kept.save")).expect("a copy");
        let replay = folder.path().join("again.replay");
        let mut guest = Process::with_replay(&format!("join {code} --replay {}", replay.display()));
        guest.wait_for("the host's save is the one that was kept here");
        let (code, hosted) = host.end();
        assert_eq!((code, &hosted["turns"], &hosted["player"]), (0, &40.into(), &own.into()), "{hosted}");
        // Turns take 200 ms, on any machine. Those before the save were counted, without their time.
        assert!(hosted["turn_ms_mean"].as_f64().is_some_and(|ms| ms > 195.0), "{hosted}");
        assert!(hosted["host_bytes_per_second"].is_number(), "also if player 2 hosts: {hosted}");
        let (code, report) = guest.end();
        assert_eq!(report.get("host_bytes_per_second"), None, "{report}");
        assert_eq!((code, checksum(&report)), (0, checksum(&hosted)), "{report}");
        assert_eq!(run(&format!("verify {}", replay.display())).code, 0, "a resumed match has a replay, too");
        ends.push(checksum(&hosted).to_owned());
    }
    assert_eq!(ends[0], ends[1], "both saves are of the same moment");
}

#[test]
fn whoever_is_removed_is_told_so_and_stays_away() {
    use std::io::Write as _;

    let mut host = Process::start("host --players 3 --units 4 --turns 50");
    let codes = [host.invitation().1, host.invitation().1];
    let guests = codes.each_ref().map(|code| Process::start(&format!("join {code}")));
    host.wait_for("everybody is here");
    let lines = "vote 1\nkick 9\nkick 1\nwho\nkick 2";
    writeln!(host.child.stdin.take().expect("piped"), "{lines}").expect("it reads");
    host.wait_for("nobody votes themselves out");
    host.wait_for("there is no player 9");
    host.wait_for("nobody removes themselves");
    host.wait_for("player 1, sky blue: this is you");
    host.wait_for("player 2 is removed");
    host.wait_for("player 2 is lost: a bot plays on");
    let [kicked, other] = guests;
    let (code, report) = kicked.end();
    assert_eq!(code, 1, "{report}");
    assert_eq!(report["error"], "the host has removed this player", "{report}");
    let ended = run(&format!("join {} --bot --headless", codes[0]));
    assert_eq!((ended.code, ended.stderr.contains("removed")), (1, true), "{ended:?}");
    let (code, hosted) = host.end();
    assert_eq!(code, 0, "{hosted}");
    assert_eq!(checksum(&other.end().1), checksum(&hosted));
}

#[test]
fn a_code_that_opens_nothing_is_answered_with_one_clear_line() {
    let mut host = Process::start("host --players 2 --units 3 --turns 10");
    let (_, code) = host.invitation();
    let watch = host.watch_code();
    let known: JoinCode = code.parse().expect("a code");
    let other = |addresses, hash, secret| JoinCode::new(addresses, hash, secret).expect("a code").to_string();
    let (addresses, hash, secret) = (known.addresses(), known.certificate_hash(), *known.secret());
    // The port stays taken, so no other test gets it. A socket that is connected to itself hears nobody else.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let gone = silent.local_addr().expect("bound");
    silent.connect(gone).expect("connected");
    let damaged = code.replacen(&code[40..41], if &code[40..41] == "7" { "8" } else { "7" }, 1);
    let cases = [
        (other(addresses, hash, [7; 16]), "", 1, "opens no place"),
        (other(addresses, [7; 32], secret), "", 1, "another server"),
        (other(&[gone], hash, secret), "", 1, "nobody answered"),
        (code.clone(), "--watch", 1, "to watch"),
        (code[..60].to_owned(), "", 2, ""),
        (damaged, "", 2, ""),
        (addresses[0].to_string(), "", 2, "--plain"),
    ];
    for (code, options, exit, part) in cases {
        refused(&format!("join {code} {options} --bot --headless"), exit, part);
    }
    let guest = Process::start(&format!("join {}", code.to_lowercase()));
    let watcher = Process::start(&format!("join {watch}"));
    let (code, hosted) = host.end();
    assert_eq!(code, 0, "nothing of this has disturbed the match: {hosted}");
    assert_eq!(checksum(&guest.end().1), checksum(&hosted));
    assert_eq!(watcher.end().0, 0, "the code says that it is for watching");
}

#[test]
fn before_the_start_somebody_else_may_come_instead_of_who_was_removed() {
    use std::io::Write as _;

    let mut host = Process::start("host --players 2 --units 3 --turns 8 --page http://localhost/");
    let (_, code) = host.invitation();
    let mut stdin = host.child.stdin.take().expect("piped");
    writeln!(stdin, "vote 2\nkick 2").expect("it reads");
    host.wait_for("there are no votes before the start");
    host.wait_for("player 2 is removed");
    let line = host.wait_for("join 2: ");
    let link = host.wait_for("link 2: http://localhost/#");
    assert!(link.trim_end().ends_with(line.trim_end().trim_start_matches("join 2: ")), "{link}");
    let ended = run(&format!("join {code} --bot --headless"));
    assert_eq!((ended.code, ended.stderr.contains("removed this player")), (1, true), "{ended:?}");
    let guest = Process::start(&format!("join {}", line.trim_end().trim_start_matches("join 2: ")));
    let (code, hosted) = host.end();
    assert_eq!((code, checksum(&guest.end().1)), (0, checksum(&hosted)), "{hosted}");
}

#[test]
fn a_match_begins_when_everybody_is_ready() {
    use std::io::Write as _;

    let mut host = Process::start("host --players 2 --units 3 --turns 8");
    let (_, code) = host.invitation();
    let mut guest = Process::start(&format!("join {code} --name Ada"));
    let mut asks = guest.child.stdin.take().expect("piped");
    let mut stdin = host.child.stdin.take().expect("piped");
    writeln!(stdin, "wait").expect("it reads");
    host.wait_for("does not begin before you type: ready");
    host.wait_for("player 2");
    writeln!(stdin, "who").expect("it reads");
    host.wait_for("player 1, sky blue: this is you, asks to wait");
    writeln!(asks, "wait\nready").expect("it reads");
    guest.wait_for("does not begin before");
    writeln!(stdin, "ready").expect("it reads");
    host.wait_for("everybody is here");
    let (code, hosted) = host.end();
    assert_eq!((code, checksum(&guest.end().1)), (0, checksum(&hosted)), "{hosted}");
}

/// As a laptop that was closed for a while: the others go on without it, and it comes back by itself. The match is long: a busy machine needs half a
/// minute for that.
#[test]
#[cfg(unix)]
fn a_program_that_stood_still_for_too_long_comes_back_by_itself() {
    let mut host = Process::start("host --players 3 --units 6 --turns 240 --seed 9");
    let codes = [host.invitation().1, host.invitation().1];
    let guests = codes.each_ref().map(|code| Process::start(&format!("join {code}")));
    host.wait_for("everybody is here");
    guests[0].signal("-STOP");
    host.wait_for("player 2 is lost: a bot plays on");
    guests[0].signal("-CONT");
    host.wait_for("player 2 is back");
    let (code, hosted) = host.end();
    assert_eq!(code, 0, "{hosted}");
    for guest in guests {
        let (code, report) = guest.end();
        assert_eq!((code, &report["turns"]), (0, &240.into()), "{report}");
        assert_eq!(checksum(&report), checksum(&hosted));
    }
}

#[test]
fn what_cannot_be_resumed_or_opened_is_refused_with_one_line() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("no.save");
    std::fs::write(&file, "TESTSAVE").expect("it can be written");
    let cases = [
        (format!("host --resume {}", file.display()), "cut off or damaged"),
        ("host --resume no-such-file.save".into(), "no-such-file.save"),
        ("host --relay 0123".into(), ""),
        ("host --relay CODE --plain".into(), "--plain"),
        ("join".into(), "CODE"),
    ];
    for (arguments, part) in cases {
        refused(&format!("{arguments} --bot --headless"), 2, part);
    }
}

/// Reading ended there, without a word: nobody could say `ready` any more.
#[test]
fn a_line_in_another_encoding_does_not_end_what_is_typed() {
    use std::io::Write as _;

    let mut host = Process::start("host --players 2 --units 3 --turns 8");
    host.invitation();
    let mut stdin = host.child.stdin.take().expect("piped");
    stdin.write_all(b"wait\nkick Jos\xe9\nready\n").expect("it reads");
    host.wait_for("does not begin before you type: ready");
    host.wait_for("there is no player Jos");
    host.wait_for("begins when all are here and ready");
}
