//! A referee watches a match in which one copy is damaged, and says whose it is; another program checks that.

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::network::Process;
#[cfg(unix)]
use crate::network::signal;
use crate::run::{program, run_json, wait_until};

const GAME: &str = "--players 2 --units 12 --turns 40 --seed 3";

/// Plays a match of two in which the guest's copy may be damaged. Returns the referee's exit code, what it says, and where.
fn refereed(game: &str, fault: &str) -> (i32, Value, TempDir, String) {
    refereed_while(game, fault, |_, _, _| {})
}

/// The same; something happens in the middle of the match, which is being recorded in a folder.
fn refereed_while(
    game: &str,
    fault: &str,
    happens: impl FnOnce(&mut Process, &Child, &Path),
) -> (i32, Value, TempDir, String) {
    let folder = tempdir().expect("a folder");
    let mut host = Process::start(&format!("host {game}"));
    let (_, code) = host.invitation();
    let own = host.referee_code();
    let archive = folder.path().display();
    let referee = program(&format!("referee {own} --archive {archive} --json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    host.wait_for("somebody watches");
    let guest = Process::start(&format!("join {code} {fault}"));
    happens(&mut host, &referee, folder.path());
    let _ = (host.end(), guest.end());
    let output = referee.wait_with_output().expect("it ends");
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let mut files = std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|file| file.path());
    let file = files.find(|path| path.extension().is_some_and(|ending| ending == "json"));
    let file = file.expect("a judgement").display().to_string();
    (output.status.code().unwrap_or(-1), said, folder, file)
}

#[test]
fn a_damaged_copy_is_found_and_the_judgement_can_be_checked() {
    let (code, said, _folder, file) = refereed(GAME, "--corrupt 10,5");
    let difference = &said["judgement"]["difference"];
    assert_eq!((code, &difference["turn"]), (1, &10.into()), "{said}");
    assert_eq!(difference["at_fault"], serde_json::json!([1]), "{said}");
    let key = said["key"].as_str().expect("a key");
    let checked = run_json(&format!("verdict {file} --key {key}"), 0);
    assert_eq!((&checked["holds"], &checked["simulated"]), (&true.into(), &true.into()), "{checked}");
    // The player has signed the wrong checksum, and the other one the right one. The referee alone cannot invent that; together with the other
    // player it could, so between two nobody is convicted.
    assert_eq!(checked["accused"], serde_json::json!([1]), "{checked}");
    assert_eq!(checked["convicted"], serde_json::json!([]), "{checked}");
    assert!(checked["fingerprint"].is_string(), "{checked}");

    // Whoever blames the other player instead has no signature.
    let text = std::fs::read_to_string(&file).expect("a file");
    let pretty = text.replace("\"at_fault\": [\n        1\n      ]", "\"at_fault\": [0]");
    assert_ne!(text, pretty);
    std::fs::write(&file, pretty).expect("a file");
    let checked = run_json(&format!("verdict {file}"), 1);
    assert!(checked["doubt"].as_str().is_some_and(|doubt| doubt.contains("signature")), "{checked}");
}

/// The replay of a resumed match was thrown away, so nobody could check the judgement.
#[test]
#[cfg(unix)]
fn the_judgement_of_a_resumed_match_can_be_checked() {
    let files = tempdir().expect("a folder");
    let replay = files.path().join("a.replay");
    let mut host = Process::with_replay(&format!(
        "host --players 2 --units 12 --turns 100 --seed 3 --replay {}",
        replay.display()
    ));
    let (_, code) = host.invitation();
    let guest = Process::start(&format!("join {code}"));
    let save = replay.with_extension("replay.save");
    wait_until(|| save.exists());
    host.signal("-TERM");
    let _ = (host.end(), guest.end());

    let game = format!("--resume {}", save.display());
    let (code, said, _folder, file) = refereed(&game, "--corrupt 80,5");
    let difference = &said["judgement"]["difference"];
    assert_eq!((code, &difference["turn"]), (1, &80.into()), "{said}");
    let checked = run_json(&format!("verdict {file}"), 0);
    assert_eq!((&checked["holds"], &checked["simulated"]), (&true.into(), &true.into()), "{checked}");
    assert!(checked["resumed_at"].as_u64().is_some_and(|turn| (1..80).contains(&turn)), "{checked}");
    assert_eq!(checked["accused"], difference["at_fault"], "{checked}");
    let archived = Path::new(&file).with_extension("replay");
    let verified = run_json(&format!("verify {}", archived.display()), 1);
    assert_eq!(verified["equal"], true, "{verified}");
    assert!(verified["diverged_turn"].is_number(), "{verified}");
}

#[test]
fn a_match_without_a_difference_is_judged_too() {
    let (code, said, _folder, file) = refereed(GAME, "");
    assert_eq!((code, &said["judgement"]["difference"]), (0, &Value::Null), "{said}");
    assert_eq!(said["judgement"]["turns"], 40, "{said}");
    let other = "0".repeat(64);
    assert_eq!(run_json(&format!("verdict {file}"), 0)["holds"], true);
    assert_eq!(run_json(&format!("verdict {file} --key {other}"), 1)["holds"], false);
}

/// The referee counted the turn in which it was, or took its own end for that of the match: nobody's simulation came to that.
#[test]
#[cfg(unix)]
fn a_judgement_of_a_match_that_ended_early_holds() {
    let until_replay = |folder: &Path| {
        let is_replay = |path: std::path::PathBuf| {
            path.extension().is_some_and(|ending| ending == "replay")
                && path.metadata().is_ok_and(|about| about.len() > 300)
        };
        let files = || std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
        wait_until(|| files().any(is_replay));
    };
    let game = GAME.replace("--turns 40", "--turns 80");
    for (name, code) in [("host-ends", 1), ("referee-ends", 0)] {
        let (ended, said, _folder, file) = refereed_while(&game, "", |host, referee, folder| {
            until_replay(folder);
            if name == "host-ends" { host.signal("-TERM") } else { signal(referee.id(), "-TERM") }
        });
        assert_eq!((ended, &said["judgement"]["checksum"]), (code, &Value::Null), "{name}: {said}");
        assert!(said["judgement"]["turns"].as_u64().is_some_and(|turns| turns < 80), "{name}: {said}");
        let checked = run_json(&format!("verdict {file}"), 0);
        assert_eq!((&checked["holds"], &checked["simulated"]), (&true.into(), &true.into()), "{checked}");
    }
}
