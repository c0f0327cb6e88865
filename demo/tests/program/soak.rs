//! `soak`: random matches, each a pure function of its seed.

use serde_json::Value;
use testudo_tests::cases::share;

use crate::run::{run, run_json};

/// The object without the keys that differ between runs: measured times.
fn soak(arguments: &str) -> Value {
    let mut report = run_json(arguments, 0);
    let keys = report.as_object_mut().unwrap();
    for key in ["wall_seconds", "processor_seconds"] {
        let time = keys.remove(key).unwrap();
        assert!(time.as_f64() > Some(0.0), "{key}: {time}");
    }
    for class in keys["speed"].as_array_mut().unwrap() {
        let class = class.as_object_mut().unwrap();
        let simulated = class["simulated_seconds"].as_f64().unwrap();
        let processor = class.remove("processor_seconds").unwrap().as_f64().unwrap();
        let ratio = class.remove("times_real_time").unwrap().as_f64().unwrap();
        assert!((ratio * processor - simulated).abs() < 1e-3 * simulated, "{ratio} {processor} {simulated}");
    }
    report
}

fn number(report: &Value, key: &str) -> u64 {
    report.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number {key} in {report}"))
}

#[test]
fn a_few_games_pass_and_are_the_same_twice() {
    let games_played = share(6);
    let command = format!("soak --games {games_played} --seed 1");
    let report = soak(&command);
    assert_eq!(report, soak(&command));
    assert_eq!(number(&report, "/games"), games_played);
    assert_eq!((number(&report, "/mismatches"), number(&report, "/stalls_unrecovered")), (0, 0));
    assert_eq!(report["failing_seeds"], serde_json::json!([]));
    assert!(
        number(&report, "/turns_total") >= 100 * games_played && number(&report, "/contacts_total") > 100,
        "{report}"
    );
    assert!(report["simulated_seconds"].as_f64() > Some(10.0 * games_played as f64), "{report}");
    let games = |class: &Value| number(class, "/games");
    assert_eq!(report["speed"].as_array().unwrap().iter().map(games).sum::<u64>(), games_played);
    for kind in [
        "loss",
        "duplicate",
        "reorder",
        "partition",
        "corruption",
        "drop",
        "rejoin",
        "rejoins",
        "pause",
        "late_joins",
        "watchers",
    ] {
        number(&report, &format!("/faults/{kind}"));
    }
    assert_eq!(number(&report, "/drops_agreed"), number(&report, "/faults/drop"));
    assert_eq!(number(&report, "/rejoins"), number(&report, "/faults/rejoin"));
}

/// The command that is printed for a failing seed relies on this.
#[test]
fn a_game_alone_is_the_game_of_the_run() {
    let alone: Vec<Value> = (5..8).map(|seed| soak(&format!("soak --games 1 --seed {seed}"))).collect();
    let together = soak("soak --games 3 --seed 5");
    for key in ["/turns_total", "/contacts_total", "/faults/loss", "/faults/reorder", "/faults/corruption"] {
        let sum: u64 = alone.iter().map(|report| number(report, key)).sum();
        assert_eq!(number(&together, key), sum, "{key}");
    }
}

/// The option had another name, which scripts may still use.
#[test]
fn predictions_change_no_game() {
    let plain = soak("soak --games 1 --seed 5");
    for option in ["--prediction", "--predict"] {
        assert_eq!(soak(&format!("soak --games 1 --seed 5 {option}")), plain, "{option}");
    }
}

#[test]
fn the_summary_is_for_people() {
    let ended = run("soak --games 2 --seed 3");
    assert_eq!(ended.code, 0, "{ended:?}");
    for word in ["games", "failures    none", "checksums", "partitions", "times real time", "links  players"]
    {
        assert!(ended.stdout.contains(word), "'{word}' is missing:\n{}", ended.stdout);
    }
}
