//! Bad usage: one clear line, exit code 2, no panic.

use crate::run::{corrupt, program, refused, run, run_json};

/// Arguments, and a word that the line has to contain.
const REFUSED: [(&str, &str); 53] = [
    ("--units 50", "try: testudo skirmish --units 50"),
    ("headless --players 0", "--players"),
    ("headless --players 17", "--players"),
    ("headless --units 0", "--units"),
    ("headless --units 100001", "--units"),
    ("headless --turns 0", "--turns"),
    ("headless --turns 1000001", "--turns"),
    ("headless --seed -1", "-1"),
    ("headless --latency-ms 10001", "--latency-ms"),
    ("headless --jitter-ms 10001", "--jitter-ms"),
    ("headless --loss 1.5", "--loss"),
    ("headless --loss NaN", "--loss"),
    ("headless --duplicate -0.1", "-0"),
    ("headless --pace sometimes", "--pace"),
    ("headless --no-such-option", "--no-such-option"),
    ("headless --replay", "--replay"),
    ("headless --replay Cargo.toml/file", "Cargo.toml"),
    ("verify", "FILE"),
    ("verify no-such-file", "no-such-file"),
    ("replay no-such-file --turn 3", "no-such-file"),
    ("headless --bot easy,hard,hard,hard", "--bot names 4 players, but the match has 2"),
    ("host --bot --headless --name abcdefghijklmnopqrstuvwxy", "25 bytes, 24 are allowed"),
    ("headless --spectators 17", "--spectators"),
    ("headless --spectators 1 --topology mesh", "--spectators needs a star: nobody watches a mesh"),
    ("headless --prediction 1001", "--prediction"),
    ("headless --prediction", "--prediction"),
    ("headless --corrupt-turn 1", "--corrupt-player"),
    ("host", "--bot"),
    ("headless --players 3 --map ford", "a map is for two players, not for 3"),
    ("host --players 3 --map ford", "a map is for two players, not for 3"),
    ("host --players 3 --map ford --bot --headless", "a map is for two players, not for 3"),
    ("host --bot --headless --resume a.save --pace fixed", "--pace"),
    ("host --bot --headless --resume a.save --no-bots", "--no-bots"),
    ("host --bot --headless --resume a.save --bots-take-over", "--bots-take-over"),
    ("host --bot --headless --bind nowhere", "--bind"),
    ("host --bot --headless --public 192.0.2.1:0", "--public"),
    (
        "host --bot --headless --public 192.0.2.1:1 --public 192.0.2.2:1 --public 192.0.2.3:1 --public 192.0.2.4:1",
        "--public is given 4 times, 3 are possible",
    ),
    (
        "relay --agones --public 192.0.2.1:1 --public 192.0.2.2:1 --public 192.0.2.3:1 --public 192.0.2.4:1",
        "--public is given 4 times, 3 are possible",
    ),
    ("host --bot --headless --players 0", "--players"),
    ("join", "<CODE>"),
    ("join nowhere --bot --headless", "damaged or incomplete"),
    ("join http://localhost/ --bot --headless", "the link has no code"),
    ("join nowhere --plain --bot --headless", "nowhere"),
    ("join 127.0.0.1:0", "--plain"),
    ("join 127.0.0.1:0 --plain", "--bot"),
    ("join localhost --plain", "as in localhost:"),
    ("netbench --inputs 600 --plot Cargo.toml/file", "Cargo.toml"),
    ("no-such-command", "no-such-command"),
    ("soak --games 0", "--games"),
    ("soak --games 1000001", "--games"),
    ("soak --games many", "--games"),
    ("soak --seed -1", "-1"),
    ("soak --players 4", "--players"),
];

#[test]
fn bad_usage_is_refused_in_one_line() {
    for (arguments, word) in REFUSED {
        assert_eq!(refused(arguments, 2, word).stdout, "", "{arguments}");
    }
}

#[test]
fn bad_usage_with_json_is_an_object() {
    for arguments in ["headless --players 0", "soak --games 0", "join", "host"] {
        let report = run_json(arguments, 2);
        let error = report["error"].as_str().expect("a sentence");
        assert!(!error.contains('\n'), "{error}");
        assert_eq!(report.as_object().map(serde_json::Map::len), Some(1));
    }
}

#[test]
fn faults_that_cannot_be_are_refused() {
    let cases = [
        (10, 0, 0, "position.x", 0, "turn"),
        (0, 2, 0, "position.x", 0, "player"),
        (0, 0, 999, "position.x", 0, "body"),
        (0, 0, 0, "mass", 0, "mass"),
        (0, 0, 0, "position.x", 32, "bit"),
        (0, 0, 0, "position.x", 31, "range"),
        (0, 0, 0, "velocity.y", 30, "range"),
    ];
    for (turn, player, body, field, bit, word) in cases {
        let fault = corrupt(turn, player, body, field, bit);
        refused(&format!("headless --units 10 --turns 10 {fault}"), 2, word);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in ["--help", "--version", "headless --help", "host --help", "join --help", "soak --help"] {
        let ended = run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{arguments}");
        assert!(!ended.stdout.is_empty(), "{arguments}");
    }
}

/// What stood beside the options of a command was never printed.
#[test]
fn help_says_what_exit_codes_mean() {
    for command in ["verify", "link", "replay", "referee", "verdict", "conformance"] {
        let ended = run(&format!("{command} --help"));
        assert!(ended.stdout.contains("Exit code"), "{command}: {}", ended.stdout);
    }
    let ended = run("host --help");
    assert!(ended.stdout.contains("brings its player back after a crash"), "{}", ended.stdout);
}

/// `./a.replay` was another file than `a.replay`, and the log of the orders emptied the replay.
#[test]
fn two_spellings_of_one_file_are_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("new")).expect("a folder");
    let whole = folder.path().canonicalize().expect("it is there").join("a.replay");
    let here = |arguments: &str| {
        let output = program(arguments).current_dir(folder.path()).output().expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let game = "headless --units 3 --turns 4";
    assert_eq!(here(&format!("{game} --replay a.replay")).0, Some(0));
    let before = std::fs::read(&whole).expect("it was written");
    let also = whole.display();
    for arguments in [
        "replay a.replay --log-orders ./a.replay".into(),
        format!("replay a.replay --log-orders {also}"),
        format!("{game} --report new/../a.replay --replay a.replay"),
        format!("{game} --report ./b --replay b"),
        format!("{game} --report c.p1 --replay ./c {}", corrupt(1, 1, 4, "position.x", 3)),
    ] {
        let (code, said) = here(&arguments);
        assert!(code == Some(2) && said.contains("name the same file"), "{arguments}: {code:?} {said}");
    }
    assert_eq!(std::fs::read(&whole).expect("it is there"), before);
    // What is no file may stand for two.
    #[cfg(unix)]
    assert_eq!(here(&format!("{game} --report /dev/null --replay /dev/../dev/null")).0, Some(0));
}
