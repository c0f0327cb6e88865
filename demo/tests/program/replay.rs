//! Replays as files: written, verified, damaged, inspected.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::tempdir;

use crate::run::{corrupt, program, refused, refused_json, run, run_json};

const MATCH: &str = "headless --players 2 --units 24 --turns 60 --seed 7 --pace fixed";

/// A recording of [`MATCH`]. It is valid as long as the versions of the physics and of the rules stay the same. After a change of bits and
/// a new version record it again:
/// `testudo headless --players 2 --units 24 --turns 60 --seed 7 --pace fixed --replay demo/tests/replays/small.replay`.
fn checked_in() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/replays/small.replay")
}

#[test]
fn a_match_that_was_recorded_is_verified() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("match.replay");
    let played = run_json(&format!("{MATCH} --latency-ms 100 --loss 0.1 --replay {}", file.display()), 0);
    let verdict = run_json(&format!("verify {}", file.display()), 0);
    for (key, value) in [("complete", Value::from(true)), ("equal", true.into()), ("turns", 60.into())] {
        assert_eq!(verdict[key], value, "{key} in {verdict}");
    }
    assert_eq!((&verdict["first_bad_turn"], &verdict["frames"]), (&Value::Null, &240.into()));
    let end = run_json(&format!("replay {}", file.display()), 0);
    assert_eq!(end["checksum"], played["final_checksum"]);
    assert_eq!(end["kills"], played["kills"]);
    let middle = run_json(&format!("replay {} --turn 30", file.display()), 0);
    assert_ne!(middle["checksum"], end["checksum"]);
    assert!(run(&format!("replay {} --turn 61", file.display())).stderr.contains("60 turns"));
}

/// The state at the end was that of a keyframe behind the flipped bit.
#[test]
fn what_is_told_of_a_recording_that_went_wrong_is_where_its_orders_lead() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("match.replay");
    let long = MATCH.replace("--turns 60", "--turns 170");
    let whole = run_json(&long, 0);
    let fault = corrupt(20, 0, 5, "position.x", 12);
    let broken = run_json(&format!("{long} {fault} --replay {}", file.display()), 1);
    assert_ne!(broken["client_checksums"][0], broken["client_checksums"][1]);
    let told = run_json(&format!("replay {}", file.display()), 1);
    assert_eq!(told["checksum"], whole["final_checksum"]);
    assert!(told["difference"].as_str().is_some_and(|what| what.contains("turn 20:")), "{told}");
}

/// A match without a window as a link: `verify` and `replay` come to the same checksum, and a changed link is refused.
#[test]
fn a_link_is_the_whole_match() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("match.replay");
    let played = run_json(&format!("{MATCH} --loss 0.1 --replay {}", file.display()), 0);
    let page = "https://example.org/play/";
    let made = run_json(&format!("link {} --page {page}", file.display()), 0);
    let link = made["link"].as_str().expect("a link");
    assert!(link.starts_with(&format!("{page}#battle=")) && link.len() < 3_000, "{link}");
    for given in [link, link.split_once('#').expect("an address").1] {
        let verdict = run_json(&format!("verify {given}"), 0);
        assert_eq!((&verdict["equal"], &verdict["turns"]), (&true.into(), &60.into()), "{verdict}");
        assert_eq!(run_json(&format!("replay {given}"), 0)["checksum"], played["final_checksum"]);
    }
    let changed = if link.ends_with('A') { "B" } else { "A" };
    for damaged in [&link[..link.len() - 9], &format!("{}{changed}", &link[..link.len() - 1])] {
        refused_json(&format!("verify {damaged}"), 2, "copy the whole link");
    }
    let half = fs::read(&file).unwrap();
    fs::write(&file, &half[..half.len() / 2]).unwrap();
    refused_json(&format!("link {}", file.display()), 2, "cut off");
}

#[test]
fn the_checked_in_replay_stands_as_long_as_the_versions_do() {
    let verdict = run_json(&format!("verify {}", checked_in().display()), 0);
    assert_eq!((&verdict["equal"], &verdict["complete"]), (&true.into(), &true.into()), "{verdict}");
    // The same match played again gives the same file, byte for byte, on a bad network too.
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("again.replay");
    run_json(&format!("{MATCH} --latency-ms 60 --jitter-ms 30 --loss 0.05 --replay {}", file.display()), 0);
    assert!(
        fs::read(file).unwrap() == fs::read(checked_in()).unwrap(),
        "another recording of the same match"
    );
}

fn other_match(folder: &Path) -> PathBuf {
    let file = folder.join("other.replay");
    run_json(&format!("{} --replay {}", MATCH.replace("--seed 7", "--seed 8"), file.display()), 0);
    file
}

#[test]
fn a_replay_is_played_at_a_speed() {
    let file = checked_in();
    let end = run_json(&format!("replay {}", file.display()), 0);
    let played = run_json(&format!("replay {} --turn 40 --speed 16", file.display()), 0);
    assert_eq!((&played["turn"], &played["checksum"]), (&60.into(), &end["checksum"]));
    for bad in ["0.2", "17", "fast", "NaN"] {
        assert_eq!(run(&format!("replay {} --speed {bad}", file.display())).code, 2, "{bad}");
    }
}

#[test]
fn a_broken_clients_replay_diverges_and_the_others_does_not() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("match.replay");
    let fault = corrupt(20, 1, 20, "position.x", 3);
    let paper = folder.path().join("report.txt");
    run_json(&format!("{MATCH} {fault} --replay {} --report {}", file.display(), paper.display()), 1);
    let text = fs::read_to_string(paper).expect("a report");
    for part in
        ["differ from turn 20 on", "position.x of body 20", "testudo verify", "\"first_divergent_turn\": 20"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    // With exit code 0 a script would see no disagreement.
    let whole = run_json(&format!("verify {}", file.display()), 1);
    assert_eq!(whole["diverged_turn"], 20, "the disagreement is noted on both sides: {whole}");
    assert_eq!(whole["equal"], true, "this side's states follow from the orders: {whole}");
    let broken = run_json(&format!("verify {}.p1", file.display()), 1);
    assert_eq!((&broken["first_bad_turn"], &broken["equal"]), (&20.into(), &false.into()));
    let files = format!("{0} {0}.p1", file.display());
    let comparison = run_json(&format!("desync {files}"), 1);
    assert_eq!((&comparison["first_divergent_turn"], &comparison["outlier"]), (&20.into(), &"B".into()));
    let difference = &comparison["difference"];
    // Each side keeps its states until they have been compared, so nothing has spread yet.
    for (key, value) in [("at_turn", Value::from(21)), ("kind", "body".into()), ("index", 20.into())] {
        assert_eq!(difference[key], value, "{key} in {difference}");
    }
    // The frame's checksum is no number of the state, but computed from it.
    assert_eq!((&difference["field"], &difference["differing_numbers"]), (&"position.x".into(), &1.into()));
    let [broken, whole] = [0, 1].map(|side| difference["values"][side].as_i64().unwrap());
    assert_eq!(broken ^ whole, 1 << 3, "{difference}");
    assert!(run(&format!("desync {files}")).stdout.contains("outlier            B"));
    let same = run_json(&format!("desync {0} {0}", file.display()), 0);
    assert_eq!((&same["agree"], &same["turns"]), (&true.into(), &60.into()));
    refused_json(
        &format!("desync {} {}", file.display(), other_match(folder.path()).display()),
        2,
        "not of the same match",
    );
}

/// The state was written after the match, and long matches had forgotten it by then.
#[test]
fn the_state_after_a_difference_is_kept_however_long_the_match_goes_on() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("match.replay");
    let fault = corrupt(20, 1, 20, "position.x", 3);
    let long = MATCH.replace("--turns 60", "--turns 140");
    run_json(&format!("{long} {fault} --replay {}", file.display()), 1);
    let comparison = run_json(&format!("desync {0} {0}.p1", file.display()), 1);
    assert_eq!(comparison["difference"]["at_turn"], 21, "{comparison}");
    assert_eq!(comparison["difference"]["field"], "position.x", "{comparison}");
}

#[test]
fn a_damaged_replay_is_sound_up_to_the_damage_and_never_good() {
    let folder = tempdir().expect("a folder");
    let bytes = fs::read(checked_in()).unwrap();
    let check = |name: &str, bytes: &[u8], code: i32| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        run_json(&format!("verify {}", file.display()), code)
    };
    let half = check("half", &bytes[..bytes.len() / 2], 1);
    assert_eq!((&half["complete"], &half["equal"]), (&false.into(), &true.into()));
    assert!(half["turns"].as_u64().is_some_and(|turns| (10..50).contains(&turns)), "{half}");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    let flipped = check("flipped", &flipped, 1);
    assert!(flipped["damage"].as_str().is_some_and(|what| what.contains("at byte")), "{flipped}");
    let none = check("none", b"something else", 2);
    assert!(none["error"].as_str().is_some_and(|error| error.contains("not a replay")), "{none}");
    let empty = check("empty", &bytes[..20], 2);
    assert!(empty["error"].as_str().is_some_and(|error| error.contains("header is damaged")), "{empty}");
    // The viewer says so in one line before it looks for a display.
    for (name, what) in [("none", "not a replay"), ("empty", "header is damaged")] {
        refused(&format!("replay {}", folder.path().join(name).display()), 2, what);
    }
    let missing = run_json("verify no-such-file", 2);
    assert!(missing["error"].as_str().is_some_and(|error| error.starts_with("no-such-file")), "{missing}");
}

/// B was called wrong, whichever file that was; a link had "another checksum" in turn 0; a file that was cut agreed.
#[test]
fn replays_of_two_matches_and_files_that_are_cut_are_told_apart() {
    let folder = tempdir().expect("a folder");
    let [easy, hard] = ["easy", "hard"].map(|bot| {
        let file = folder.path().join(format!("{bot}.replay"));
        run_json(&format!("{MATCH} --bot {bot} --replay {}", file.display()), 0);
        file.display().to_string()
    });
    for (a, b) in [(&easy, &hard), (&hard, &easy)] {
        let two = run_json(&format!("desync {a} {b}"), 1);
        assert_eq!((&two["agree"], &two["outlier"]), (&false.into(), &"unknown".into()), "{two}");
        assert!(two["other_orders_in_turn"].as_u64().is_some_and(|turn| turn < 60), "{two}");
    }
    assert!(run(&format!("desync {easy} {hard}")).stdout.contains("two matches"));
    let ford = folder.path().join("ford.replay").display().to_string();
    run_json(&format!("{MATCH} --map ford --replay {ford}"), 0);
    refused_json(&format!("desync {easy} {ford}"), 2, "or map differ");
    let whole = fs::read(&easy).expect("it is there");
    let cut = folder.path().join("cut.replay");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("a folder of ours");
    let found = run_json(&format!("desync {easy} {}", cut.display()), 1);
    let complete = [0, 1].map(|at| found["files"][at]["complete"].as_bool());
    assert_eq!((&found["agree"], complete), (&true.into(), [Some(true), Some(false)]), "{found}");
    let link = run(&format!("link {easy}")).stdout;
    let link = link.trim().trim_start_matches("testudo replay ");
    refused_json(&format!("desync {easy} {link}"), 2, "testudo verify");
}

#[test]
fn files_that_would_overwrite_each_other_are_refused() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("match.replay").display().to_string();
    run_json(&format!("{MATCH} --replay {file}"), 0);
    let save = folder.path().join("match.save").display().to_string();
    for arguments in [
        format!("{MATCH} --replay {file} --report {file}"),
        format!("host --headless --bot --replay {save}"),
        format!("host --headless --bot --replay {file} --report {file}"),
        format!("replay {file} --log-orders {file}"),
    ] {
        assert_eq!(run(&arguments).code, 2, "{arguments}");
    }
    assert_eq!(run(&format!("verify {file}")).code, 0, "it is whole");
}

/// The numbers of the page were those of rules before.
#[test]
fn the_page_about_desyncs_shows_what_is_printed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/debugging-a-desync.md");
    let page = fs::read_to_string(page).expect("the page");
    let folder = tempdir().expect("a folder");
    let joined = page.replace("\\\n", " ");
    let commands = joined.lines().filter_map(|line| line.strip_prefix("$ testudo "));
    let commands: Vec<&str> = commands.filter(|command| command.contains("match.replay")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        let output = program(command).current_dir(folder.path()).output().expect("the program starts");
        let printed = String::from_utf8(output.stdout).expect("output is UTF-8");
        // Of a match the page shows what is about its difference.
        let is_shown = |line: &&str| {
            let topics = ["checksums ", "diagnosis ", "broken "];
            !command.starts_with("headless") || topics.iter().any(|topic| line.trim().starts_with(topic))
        };
        assert!(printed.lines().filter(is_shown).count() >= 3, "{command}: {printed}");
        for line in printed.lines().filter(is_shown) {
            assert!(page.lines().any(|shown| shown == line), "{command} prints: {line}");
        }
    }
}
