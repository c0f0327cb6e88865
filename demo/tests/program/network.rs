//! `host` and `join`: separate processes on loopback, free ports only. Sealed, unless a test says otherwise.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
#[cfg(unix)]
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;
use tempfile::tempdir;

use crate::run::{program, refused, run, run_json, wait_until};

/// A process that does not outlive its test.
pub(crate) struct Process {
    pub(crate) child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Process {
    pub(crate) fn start(arguments: &str) -> Self {
        Self::with_replay(&format!("{arguments} --no-replay"))
    }

    pub(crate) fn with_replay(arguments: &str) -> Self {
        Self::of(&format!("{arguments} --bot --headless --json"))
    }

    /// Any command of the program.
    pub(crate) fn of(arguments: &str) -> Self {
        Self::spawn(&mut program(arguments))
    }

    /// The program with more than arguments.
    pub(crate) fn spawn(program: &mut Command) -> Self {
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        Self { child, stderr }
    }

    /// The next line on standard error.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a line");
        line
    }

    /// Waits for a line that contains this.
    pub(crate) fn wait_for(&mut self, part: &str) -> String {
        self.until(|line| line.contains(part)).1
    }

    /// The lines before the next one that is meant, and that one.
    pub(crate) fn until(&mut self, is_meant: impl Fn(&str) -> bool) -> (String, String) {
        let mut before = String::new();
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "it ended after:\n{before}");
            if is_meant(&line) {
                return (before, line);
            }
            before.push_str(&line);
        }
    }

    /// What it prints after `watch: `.
    pub(crate) fn watch_code(&mut self) -> String {
        self.wait_for("watch: ").trim_end().trim_start_matches("watch: ").to_owned()
    }

    /// What it prints after `referee: `.
    pub(crate) fn referee_code(&mut self) -> String {
        self.wait_for("referee: ").trim_end().trim_start_matches("referee: ").to_owned()
    }

    /// Sends it a signal: `-TERM` asks it to end in good order.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        self::signal(self.child.id(), signal);
    }

    /// The next join string that a host prints, and for which place.
    pub(crate) fn invitation(&mut self) -> (u32, String) {
        let line = self.line();
        let rest = line.strip_prefix("join ").unwrap_or_else(|| panic!("no invitation: {line:?}"));
        let (place, string) = rest.trim_end().split_once(": ").expect("join P: STRING");
        (place.parse().expect("a number"), string.to_owned())
    }

    /// Exit code and JSON object.
    pub(crate) fn end(mut self) -> (i32, Value) {
        let mut stdout = String::new();
        self.child.stdout.take().expect("piped").read_to_string(&mut stdout).expect("UTF-8");
        let code = self.child.wait().expect("it ends").code().unwrap_or(-1);
        let report = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout:?}"));
        (code, report)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if the process has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a process a signal.
#[cfg(unix)]
pub(crate) fn signal(id: u32, signal: &str) {
    let sent =
        std::process::Command::new("kill").args([signal, &id.to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

/// Waits until a process that plays has recorded some turns.
#[cfg(unix)]
fn wait_for_turns(replay: &Path) {
    /// More than the header and the first turns.
    const BYTES: u64 = 250;
    wait_until(|| std::fs::metadata(replay).is_ok_and(|file| file.len() >= BYTES));
}

#[test]
fn three_processes_play_the_match_that_one_process_plays() {
    for plain in ["", "--plain"] {
        play_in_three_processes(plain);
    }
}

fn play_in_three_processes(plain: &str) {
    let game = "--players 3 --units 12 --turns 10 --seed 5";
    let mut host = Process::start(&format!("host {plain} {game}"));
    let invitations = [host.invitation(), host.invitation()];
    assert_eq!([invitations[0].0, invitations[1].0], [2, 3], "one line for each free place, counted from 1");
    let joined: Vec<Process> =
        invitations.iter().map(|(_, string)| Process::start(&format!("join {plain} {string}"))).collect();
    let (code, hosted) = host.end();
    assert_eq!(code, 0, "{hosted}");
    let alone = run_json(&format!("headless --pace fixed {game}"), 0);
    assert_eq!(hosted["final_checksum"], alone["final_checksum"]);
    assert_eq!((&hosted["player"], &hosted["frames"]), (&0.into(), &40.into()));
    let mut players = Vec::new();
    for process in joined {
        let (code, report) = process.end();
        assert_eq!(code, 0, "{report}");
        assert_eq!(report["final_checksum"], hosted["final_checksum"]);
        assert_eq!((&report["checksums_agree"], &report["turns"]), (&true.into(), &10.into()));
        assert_eq!((&report["seed"], &report["players"]), (&5.into(), &3.into()), "the host's settings");
        players.push(report["player"].as_u64());
    }
    players.sort_unstable();
    assert_eq!(players, [Some(1), Some(2)]);
}

/// Each process has only its own copy; host and guest find the number with a few questions to each other.
#[test]
fn a_difference_between_two_processes_is_named_to_the_number_by_both() {
    let folder = tempdir().expect("a folder");
    let files = ["host", "guest"].map(|side| folder.path().join(side));
    let [hosts, guests] = files.each_ref().map(|file| file.display());
    let mut host =
        Process::start(&format!("host --players 2 --units 20 --turns 20 --seed 1 --report {hosts}"));
    let (_, string) = host.invitation();
    let guest = Process::start(&format!("join {string} --corrupt 3,20 --report {guests}"));
    let (code, report) = guest.end();
    assert_eq!(code, 1, "{report}");
    let desync = &report["desync"];
    assert_eq!((&desync["turn"], &desync["frame"]), (&3.into(), &15.into()), "{report}");
    assert_eq!((&desync["body"], &desync["field"]), (&20.into(), &"position.x".into()), "{report}");
    assert_eq!(desync["reproducible_here"], false, "the guest's copy was hit: {report}");
    let value = |at: usize| desync["values"][at].as_i64().expect("a number");
    assert_eq!(value(0) ^ value(1), 1 << 11, "the flipped bit: {report}");
    host.wait_for("the copies differ from turn 3 on");
    let (code, hosted) = host.end();
    assert_eq!((code, &hosted["first_divergent_turn"]), (1, &3.into()), "{hosted}");
    assert_eq!(hosted["desync"]["values"], desync["values"], "{hosted}");
    assert_eq!(hosted["desync"]["reproducible_here"], true, "{hosted}");
    let texts = files.map(|file| {
        let text = std::fs::read_to_string(file).expect("a report");
        text.split("this program").next().expect("one part").to_owned()
    });
    assert_eq!(texts[0], texts[1]);
    let verdict = "simulated again from the orders: player 2's memory was damaged";
    for part in ["position.x of body 20", verdict] {
        assert!(texts[0].contains(part), "{}", texts[0]);
    }
    let bad = run("join --plain 127.0.0.1:0 --bot --headless --corrupt 3");
    assert_eq!(bad.code, 2, "{bad:?}");
}

/// The report said "there is no majority", and the line on the terminal named no player.
#[test]
fn whose_copy_is_wrong_is_named_by_everybody() {
    let mut host = Process::start("host --players 3 --units 12 --turns 40 --seed 2");
    let codes = [host.invitation().1, host.invitation().1];
    let mut guests = [("", 0), ("--corrupt 8,5", 1)]
        .map(|(fault, at)| Process::start(&format!("join {} {fault}", codes[at])));
    guests[0].wait_for("player 3 has a wrong copy");
    host.wait_for("player 3 has a wrong copy");
    for process in guests.into_iter().chain([host]) {
        let (code, report) = process.end();
        assert_eq!((code, &report["outliers"]), (1, &serde_json::json!([2])), "{report}");
    }
}

#[test]
#[cfg(unix)]
fn a_wait_is_a_line_on_the_terminal() {
    let mut host = Process::start("host --players 2 --units 4 --turns 30 --seed 2");
    let guest = Process::start(&format!("join {}", host.invitation().1));
    host.wait_for("everybody is here");
    guest.signal("-STOP");
    host.wait_for("waiting for player 2; dropped in");
    guest.signal("-CONT");
    assert_eq!((host.end().0, guest.end().0), (0, 0));
}

/// Otherwise `relay >file` would give an empty file.
#[test]
fn codes_stand_on_the_standard_output_too() {
    let host = program("host --players 2 --units 4 --turns 5 --bot --headless --no-replay")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut host = host.expect("it starts");
    let mut lines = BufReader::new(host.stdout.take().expect("piped")).lines();
    let line = lines.next().expect("a line").expect("UTF-8");
    let code = line.strip_prefix("join 2: ").unwrap_or_else(|| panic!("{line}"));
    let guest = run(&format!("join {code} --bot --headless --no-replay"));
    assert_eq!(guest.code, 0, "{guest:?}");
    assert!(lines.any(|line| line.is_ok_and(|line| line.starts_with("Match over"))));
    assert_eq!(host.wait().expect("it ends").code(), Some(0));
}

#[test]
fn whoever_finds_no_place_is_told_so() {
    let mut host = Process::start("host --plain --players 2 --units 2 --turns 5");
    let (_, string) = host.invitation();
    let guests = [0, 1].map(|_| Process::start(&format!("join --plain {string}")));
    let mut codes = guests.map(|guest| {
        let (code, report) = guest.end();
        assert!(code == 0 || report["error"].is_string(), "{report}");
        code
    });
    codes.sort_unstable();
    assert_eq!(codes, [0, 1], "one plays, the other does not");
    assert_eq!(host.end().0, 0);
}

/// It was said to be done.
#[test]
fn nobody_is_removed_from_an_empty_place() {
    use std::io::Write as _;

    let mut host = Process::start("host --plain --players 2 --units 3 --turns 5");
    let (_, address) = host.invitation();
    let mut stdin = host.child.stdin.take().expect("piped");
    writeln!(stdin, "kick 2").expect("it reads");
    host.wait_for("there is nobody to be removed");
    let mut guest = Process::start(&format!("join --plain {address}"));
    writeln!(guest.child.stdin.take().expect("piped"), "kick 1").expect("it reads");
    guest.wait_for("only the host can remove another player");
    assert_eq!((guest.end().0, host.end().0), (0, 0));
}

#[test]
fn a_match_alone_needs_nobody() {
    let (code, report) = Process::start("host --players 1 --units 3 --turns 3").end();
    assert_eq!((code, &report["checksums_agree"]), (0, &true.into()));
}

#[test]
fn a_name_leads_to_the_host_as_its_address_does() {
    let mut host = Process::start("host --plain --players 2 --units 3 --turns 5");
    let (_, address) = host.invitation();
    let port = address.rsplit_once(':').expect("a port").1;
    let (code, report) = Process::start(&format!("join --plain localhost:{port}")).end();
    assert_eq!(code, 0, "{report}");
    assert_eq!(host.end().0, 0);
    refused("join --plain no-such-host.invalid:4000 --bot --headless", 1, "");
    for wrong in ["localhost", "localhost:", ":4000", "localhost:070000"] {
        // With an example.
        refused(&format!("join --plain {wrong} --bot --headless"), 2, "as in localhost:");
    }
}

#[test]
fn a_match_leaves_a_replay_by_default_and_none_if_that_is_asked() {
    let folder = tempdir().expect("a folder");
    let play = |option: &str| {
        // Long enough for a save.
        let game = "host --players 1 --units 3 --turns 15 --bot --headless --json";
        let output =
            program(&format!("{game} {option}")).current_dir(folder.path()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        std::fs::read_dir(folder.path()).expect("the folder").count()
    };
    assert_eq!(play("--no-replay"), 0, "no file and no folder");
    play("");
    let replays: Vec<_> = std::fs::read_dir(folder.path().join("replays")).expect("the folder").collect();
    let [Ok(replay)] = &replays[..] else { panic!("one replay: {replays:?}") };
    assert_eq!(run(&format!("verify {}", replay.path().display())).code, 0);
}

/// The guest is killed without a bye: a bot plays on for it, and the host reaches the end of the match.
#[test]
#[cfg(unix)]
fn a_bot_stands_in_for_a_guest_that_was_killed() {
    let folder = tempdir().expect("a folder");
    let replay = folder.path().join("a.replay");
    let mut host =
        Process::with_replay(&format!("host --players 2 --units 5 --turns 40 --replay {}", replay.display()));
    let (_, string) = host.invitation();
    let mut guest = Process::start(&format!("join {string}"));
    wait_for_turns(&replay);
    guest.child.kill().expect("it runs");
    let (code, report) = host.end();
    assert_eq!((code, &report["turns"]), (0, &40.into()), "{report}");
}

/// SIGTERM: the process leaves in good order and prints the outcome; the others play on.
#[test]
#[cfg(unix)]
fn a_signal_ends_a_match_in_good_order() {
    let folder = tempdir().expect("a folder");
    let replay = folder.path().join("a.replay");
    let mut host = Process::with_replay(&format!(
        "host --players 2 --units 5 --turns 1000 --replay {}",
        replay.display()
    ));
    let (_, string) = host.invitation();
    let mut guest = Process::start(&format!("join {string}"));
    wait_for_turns(&replay);
    for process in [&mut guest, &mut host] {
        process.signal("-TERM");
        let status = process.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "no signal has killed it: {status:?}");
    }
    let (_, report) = guest.end();
    assert_eq!((&report["checksums_agree"], &report["player"]), (&true.into(), &1.into()), "{report}");
    let (_, report) = host.end();
    assert!(report["turns"].as_u64().is_some_and(|turns| turns < 1_000), "{report}");
}

#[test]
fn a_taken_port_is_an_error_of_the_network() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound");
    for plain in ["", "--plain"] {
        let is_taken = format!("{address}: another program has this port");
        refused(&format!("host {plain} --bot --headless --bind {address}"), 1, &is_taken);
        // This machine has no such address.
        let elsewhere = format!("host {plain} --bot --headless --bind [2001:db8::1]:0");
        refused(&elsewhere, 1, "without IPv6 use 0.0.0.0:0");
    }
}
