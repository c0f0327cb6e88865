//! `soak`: random matches, each a pure function of its seed.

use serde_json::Value;

use crate::run::{run, run_json};

/// The object without the one key that is not the same twice.
fn soak(arguments: &str) -> Value {
    let mut report = run_json(arguments, 0);
    let wall = report.as_object_mut().unwrap().remove("wall_seconds").unwrap();
    assert!(wall.as_f64() > Some(0.0), "{wall}");
    report
}

fn number(report: &Value, key: &str) -> u64 {
    report.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number {key} in {report}"))
}

#[test]
fn a_few_games_pass_and_are_the_same_twice() {
    let report = soak("soak --games 6 --seed 1");
    assert_eq!(report, soak("soak --games 6 --seed 1"));
    assert_eq!(number(&report, "/games"), 6);
    assert_eq!((number(&report, "/mismatches"), number(&report, "/stalls_unrecovered")), (0, 0));
    assert_eq!(report["failing_seeds"], serde_json::json!([]));
    assert!(number(&report, "/turns_total") >= 600 && number(&report, "/contacts_total") > 100, "{report}");
    assert!(report["simulated_seconds"].as_f64() > Some(60.0), "{report}");
    for kind in ["loss", "duplicate", "reorder", "partition", "corruption", "drop", "rejoin", "pause"] {
        number(&report, &format!("/faults/{kind}"));
    }
    assert_eq!(number(&report, "/drops_agreed"), number(&report, "/faults/drop"));
    assert_eq!(number(&report, "/rejoins"), number(&report, "/faults/rejoin"));
}

/// What the command that is printed for a failing seed rests on.
#[test]
fn a_game_alone_is_the_game_of_the_run() {
    let alone: Vec<Value> = (5..8).map(|seed| soak(&format!("soak --games 1 --seed {seed}"))).collect();
    let together = soak("soak --games 3 --seed 5");
    for key in ["/turns_total", "/contacts_total", "/faults/loss", "/faults/reorder", "/faults/corruption"] {
        let sum: u64 = alone.iter().map(|report| number(report, key)).sum();
        assert_eq!(number(&together, key), sum, "{key}");
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
