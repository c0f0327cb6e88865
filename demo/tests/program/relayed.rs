//! A relay and its players: real processes on loopback, free ports only.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};

use serde_json::Value;
use testudo_lockstep::service::code::JoinCode;

use crate::network::Process;
use crate::run::{refused, run, wait_until};

/// A relay that does not outlive its test.
pub(crate) struct Relay {
    process: Process,
    pub(crate) code: String,
}

impl Relay {
    pub(crate) fn start(options: &str) -> Self {
        let process = Process::of(&format!("relay --json {options}"));
        let mut relay = Self { process, code: String::new() };
        relay.code = relay.line("relay at ");
        relay
    }

    /// The rest of the next line that begins like this.
    fn line(&mut self, start: &str) -> String {
        let (_, line) = self.process.until(|line| line.starts_with(start));
        line.trim_end()[start.len()..].to_owned()
    }

    /// All that it prints before a line that begins like this.
    pub(crate) fn until(&mut self, start: &str) -> String {
        self.process.until(|line| line.starts_with(start)).0
    }
}

/// A match through a relay: the host, the codes of players 2, 3, ..., and the code for watching.
pub(crate) fn open(relay: &Relay, players: usize, options: &str) -> (Process, Vec<String>, String) {
    let mut host = Process::start(&format!("host --relay {} --players {players} {options}", relay.code));
    let codes = (2..=players)
        .map(|player| {
            let (place, code) = host.invitation();
            assert_eq!(place as usize, player);
            code
        })
        .collect();
    let watch = host.watch_code();
    (host, codes, watch)
}

pub(crate) fn join(code: &str) -> Process {
    Process::start(&format!("join {code}"))
}

/// Everybody has played to the end, with the same state.
pub(crate) fn assert_agreed(processes: impl IntoIterator<Item = Process>, turns: u32) -> Vec<Value> {
    let mut reports: Vec<Value> = Vec::new();
    for process in processes {
        let (code, report) = process.end();
        assert_eq!((code, &report["turns"]), (0, &turns.into()), "{report}");
        assert_eq!(report["checksums_agree"], true, "{report}");
        let first = reports.first().unwrap_or(&report);
        assert_eq!(report["final_checksum"], first["final_checksum"]);
        assert!(report["final_checksum"].is_string());
        reports.push(report);
    }
    reports
}

/// Four players and two watchers. One player is killed without a word and comes back with the same code, one is gone for good, one watcher
/// comes late. Then the relay is told to stop in the middle of another match, which is played to its end.
#[test]
#[cfg(unix)]
fn a_relay_carries_a_match_through_everything_and_lets_the_last_one_finish() {
    let mut relay = Relay::start("--metrics 127.0.0.1:0 --print-watch-codes");
    let page = relay.line("metrics at http://");
    let (mut host, codes, watch) = open(&relay, 4, "--units 8 --turns 150 --seed 3");
    assert_eq!(relay.line("watch: "), watch, "the operator may watch, too");
    let mut players: Vec<Process> = codes.iter().map(|code| join(code)).collect();
    let early = join(&watch);
    host.wait_for("everybody is here");
    players[0].child.kill().expect("it runs");
    players[2].child.kill().expect("it runs");
    let back = join(&codes[0]);
    let late = join(&watch);
    host.wait_for("is back");
    let shown = get(&page);
    for line in
        ["testudo_relay_rooms 1", "testudo_relay_players_seen_total 4", "testudo_relay_players_back_total 1"]
    {
        assert!(shown.lines().any(|shown| shown == line), "{line} in {shown}");
    }
    let stayed = players.swap_remove(1);
    let reports = assert_agreed([host, stayed, back, early, late], 150);
    // Whoever opened the room is the relay's guest like the others.
    for report in &reports {
        assert_eq!(report.get("host_bytes_per_second"), None, "{report}");
        assert!(report["bytes_per_second_per_player"].is_number(), "{report}");
    }
    assert_eq!(
        (&reports[0]["players_lost"], &reports[0]["players_back"]),
        (&2.into(), &1.into()),
        "{}",
        reports[0]
    );

    let (mut host, codes, _) = open(&relay, 2, "--units 8 --turns 60 --seed 4");
    let guest = join(&codes[0]);
    host.wait_for("everybody is here");
    let (waiting, _, _) = open(&relay, 2, "--units 8 --turns 60 --seed 5");
    relay.process.signal("-TERM");
    relay.line("opens no more rooms");
    refused(&format!("host --relay {} --players 2 --bot --headless", relay.code), 1, "");
    let (code, report) = waiting.end();
    let told = report["error"].as_str().expect("a sentence");
    assert!(code == 1 && told.starts_with("the relay "), "{report}");
    assert_agreed([host, guest], 60);
    let (code, report) = relay.process.end();
    assert_eq!(code, 0, "{report}");
    let seen = (&report["rooms"], &report["players_seen"], &report["watchers_seen"]);
    assert_eq!(seen, (&3.into(), &7.into(), &2.into()), "{report}");
    for counter in ["bytes_in", "bytes_out"] {
        assert!(report[counter].as_u64().is_some_and(|bytes| bytes > 50_000), "{report}");
    }
    assert!(report["packets_refused"].is_u64(), "{report}");
}

#[test]
fn a_relay_serves_the_page_and_says_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = folder.path().join("served");
    std::fs::create_dir_all(&served).expect("a folder");
    let root = served.display();
    refused(&format!("relay --web 127.0.0.1:0 --web-root {root}"), 2, "demo/web/build.sh");
    std::fs::write(served.join("index.html"), "the page").expect("a file");
    std::fs::write(folder.path().join("testudo-secret"), "not for the world").expect("a file");
    let mut relay = Relay::start(&format!("--web 127.0.0.1:0 --web-root {root}"));
    let page = relay.line("page at http://");
    assert_eq!(relay.line("page that opens a room: http://"), format!("{page}#open={}", relay.code));
    assert_eq!(get(&page), "the page");
    let answer = asked(&page, "/../testudo-secret");
    assert!(!answer.contains("not for the world"), "{answer}");
    let answer = asked(&page, "/nothing");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    for length in [300, 9_000] {
        let answer = asked(&page, &format!("/{}", "a".repeat(length)));
        assert!(answer.starts_with("HTTP/1.1 414"), "it was 500: {answer}");
    }
}

/// The body of a page.
fn get(page: &str) -> String {
    let (_, path) = page.split_once('/').expect("a path");
    let answer = asked(page, &format!("/{path}"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer.split_once("\r\n\r\n").expect("a body").1.to_owned()
}

/// What the server of a page answers.
fn asked(page: &str, path: &str) -> String {
    let (address, _) = page.split_once('/').expect("a path");
    let address: SocketAddr = address.parse().expect("an address");
    let mut stream = TcpStream::connect(address).expect("the page is there");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("UTF-8");
    answer
}

/// Without its host a match at a relay goes on, and is saved as before.
#[test]
fn a_match_at_a_relay_outlives_whoever_opened_it() {
    let relay = Relay::start("");
    let (mut host, codes, _) = open(&relay, 3, "--units 6 --turns 110 --seed 5");
    let folder = tempfile::tempdir().expect("a folder");
    let replay = folder.path().join("a.replay");
    let save = replay.with_extension("replay.save");
    let mut keeper = Process::with_replay(&format!("join {} --replay {}", codes[0], replay.display()));
    let other = join(&codes[1]);
    host.wait_for("everybody is here");
    host.child.kill().expect("it runs");
    keeper.wait_for("player 1 is lost");
    // One of the time with the host, if there is one.
    let _ = std::fs::remove_file(&save);
    wait_until(|| {
        assert!(keeper.child.try_wait().expect("it can be asked").is_none(), "no save before the end");
        save.exists()
    });
    let reports = assert_agreed([keeper, other], 110);
    assert_eq!(reports[0]["players_lost"], 1, "{}", reports[0]);
    assert!(replay.exists(), "it was written");
    assert!(!save.exists(), "after the end there is nothing to go on with");
}

/// Players do not notice; the old code leads nowhere from then on.
#[test]
fn a_relay_makes_a_new_certificate_before_the_old_one_expires() {
    let mut relay = Relay::start("--renew-s 9 --drain-s 1");
    let (mut host, codes, _) = open(&relay, 2, "--units 4 --turns 90 --seed 6");
    let guest = join(&codes[0]);
    host.wait_for("everybody is here");
    let old = relay.code.clone();
    relay.code = relay.line("relay at ");
    assert_ne!(relay.code, old);
    let command = format!("host --relay {old} --players 2 --bot --headless --no-replay");
    refused(&command, 1, "another server answered");
    assert_agreed([host, guest], 90);
}

#[test]
fn what_a_relay_cannot_do_is_said_in_one_line() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound");
    refused(&format!("relay --bind {address}"), 1, &address.to_string());
    assert_eq!(run("relay --rooms-max 0").code, 2);

    let relay = Relay::start("--rooms-max 1");
    let known: JoinCode = relay.code.parse().expect("a code");
    let guess = JoinCode::new(known.addresses(), known.certificate_hash(), [1; 16]).expect("a code");
    let (_first, codes, _) = open(&relay, 2, "--units 3 --turns 9");
    for (code, part) in [(relay.code.clone(), "no free room"), (guess.to_string(), "opens no room")] {
        refused(&format!("host --relay {code} --players 2 --bot --headless"), 1, part);
    }
    refused(&format!("join {guess} --bot --headless"), 1, "");
    assert!(codes[0].parse::<JoinCode>().is_ok());
}

/// Whoever had come back did not know that player 1 had gone: it waited for that one to ask for saves, and so did the others.
#[test]
fn a_match_at_a_relay_is_saved_after_a_return_though_its_first_player_has_gone() {
    let relay = Relay::start("");
    let (mut host, codes, _) = open(&relay, 3, "--units 6 --turns 220 --seed 5");
    let folder = tempfile::tempdir().expect("a folder");
    let replay = folder.path().join("a.replay");
    let save = replay.with_extension("replay.save");
    let mut lost = join(&codes[0]);
    let mut keeper = Process::with_replay(&format!("join {} --replay {}", codes[1], replay.display()));
    host.wait_for("everybody is here");
    host.child.kill().expect("it runs");
    keeper.wait_for("player 1 is lost");
    lost.child.kill().expect("it runs");
    keeper.wait_for("player 2 is lost");
    let back = join(&codes[0]);
    keeper.wait_for("player 2 is back");
    let _ = std::fs::remove_file(&save);
    wait_until(|| {
        assert!(keeper.child.try_wait().expect("it can be asked").is_none(), "no save before the end");
        save.exists()
    });
    assert_agreed([keeper, back], 220);
    assert!(replay.exists(), "it was written");
}
