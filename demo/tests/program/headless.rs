//! `headless`: whole matches over simulated networks.

use serde_json::Value;

use crate::run::{corrupt, refused_json, run, run_json};

const MATCH: &str = "headless --players 3 --units 24 --turns 60 --seed 7 --pace fixed";
const TERRIBLE: &str = "--latency-ms 150 --jitter-ms 60 --loss 0.2 --duplicate 0.05 --reorder 0.1";

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("an array").iter().map(|item| item.as_str().expect("strings")).collect()
}

#[test]
fn every_promised_key_is_there() {
    let report = run_json(MATCH, 0);
    let keys = "players turns frames seed final_checksum checksums_agree first_divergent_turn stalled_frames
        stalled_fraction turn_ms_mean delivered_fraction bytes_per_second_per_player host_bytes_per_second step_ms_median
        step_ms_p99 bodies contacts_mean client_checksums client_steps kills winner";
    for key in keys.split_whitespace() {
        assert!(report.get(key).is_some(), "no key {key} in {report}");
    }
    let checksum = report["final_checksum"].as_str().unwrap();
    assert!(checksum.len() == 16 && u64::from_str_radix(checksum, 16).is_ok(), "{checksum}");
    assert_eq!(report["checksums_agree"], true);
    assert_eq!(report["first_divergent_turn"], Value::Null);
    assert_eq!(strings(&report["client_checksums"]), [checksum; 3]);
    assert_eq!(report["client_steps"], serde_json::json!([240, 240, 240]), "each client simulates by itself");
    assert_eq!(
        (&report["players"], &report["turns"], &report["frames"]),
        (&3.into(), &60.into(), &240.into())
    );
    // A player who starts ahead of the others slows down by up to 1/32 until the lead is gone.
    let turn_ms = report["turn_ms_mean"].as_f64().unwrap();
    assert!((200.0..200.2).contains(&turn_ms), "{turn_ms}");
    assert_eq!(report["stalled_frames"], 0, "nothing stalls on a perfect link");
    assert!(report["contacts_mean"].as_f64().unwrap() > 1.0, "nobody met: {report}");
    assert!(report["bodies"].as_u64().unwrap() > 72);
    assert_eq!(report.get("desync"), None);
    assert_eq!(report["winner"], Value::Null, "nobody has won after so short a time");
}

#[test]
fn help_is_a_command_too() {
    for arguments in ["help", "help join", "join --help"] {
        let ended = run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        assert!(ended.stdout.contains("Usage") && !ended.stdout.contains("STRING"), "{ended:?}");
    }
}

#[test]
fn the_network_changes_how_long_it_takes_but_not_what_happens() {
    let perfect = run_json(MATCH, 0);
    let again = run_json(MATCH, 0);
    let terrible = run_json(&format!("{MATCH} {TERRIBLE}"), 0);
    let mesh = run_json(&format!("{MATCH} {TERRIBLE} --topology mesh"), 0);
    for other in [&again, &terrible, &mesh] {
        assert_eq!(other["final_checksum"], perfect["final_checksum"]);
        assert_eq!(other["checksums_agree"], true);
    }
    assert!(terrible["stalled_frames"].as_u64() > Some(0), "the terrible network did no harm");
    assert!(terrible["delivered_fraction"].as_f64() < Some(0.9));
    let other_seed = run_json(&MATCH.replace("--seed 7", "--seed 8"), 0);
    assert_ne!(other_seed["final_checksum"], perfect["final_checksum"]);
}

/// Whoever watches changes nothing, and has a copy that is compared.
#[test]
fn spectators_have_copies_of_their_own() {
    let alone = run_json(&format!("{MATCH} {TERRIBLE}"), 0);
    let watched = run_json(&format!("{MATCH} {TERRIBLE} --spectators 2"), 0);
    let checksum = alone["final_checksum"].as_str().unwrap();
    assert_eq!(strings(&watched["client_checksums"]), [checksum; 5]);
    assert_eq!(watched["client_steps"], serde_json::json!([240, 240, 240, 240, 240]));
    assert_eq!((&watched["players"], &watched["spectators"]), (&3.into(), &2.into()));
    assert_eq!(alone.get("spectators"), None);
    // The others agree against the broken copy, also where there are only two players.
    let fault = corrupt(9, 1, 0, "position.x", 2);
    let broken = run_json(&format!("headless --units 10 --turns 20 --pace fixed --spectators 1 {fault}"), 1);
    assert_eq!(broken["desync"]["values"].as_array().map(Vec::len), Some(3), "{broken}");
    assert_eq!((&broken["desync"]["outlier"], &broken["first_divergent_turn"]), (&1.into(), &9.into()));
    refused_json("headless --spectators 1 --loss 1", 1, "player 2, 1 watcher");
}

#[test]
fn every_frame_comes_to_the_same_from_the_saved_state() {
    let plain = run_json(MATCH, 0);
    let heavy = run_json(&format!("{MATCH} --heavy"), 0);
    assert_eq!(heavy["final_checksum"], plain["final_checksum"]);
    assert_eq!((&heavy["frames_restored"], &heavy["frames"]), (&240.into(), &240.into()));
    assert_eq!(plain.get("frames_restored"), None);
    // A flipped bit is a difference between two clients, and none between a state and itself.
    let fault = corrupt(20, 0, 5, "position.x", 3);
    let broken = run_json(&format!("{MATCH} --heavy {fault}"), 1);
    assert_eq!((&broken["first_divergent_turn"], &broken["frames_restored"]), (&20.into(), &240.into()));
}

#[test]
fn predictions_change_nothing() {
    let plain = run_json(&format!("{MATCH} {TERRIBLE}"), 0);
    let predicting = run_json(&format!("{MATCH} {TERRIBLE} --prediction 500"), 0);
    for key in ["final_checksum", "client_checksums", "client_steps", "stalled_frames", "delivered_fraction"]
    {
        assert_eq!(predicting[key], plain[key], "{key}");
    }
    let number = |key: &str| predicting[key].as_u64().unwrap_or_else(|| panic!("no {key} in {predicting}"));
    let (right, wrong) = (number("predicted_turns_right"), number("predicted_turns_wrong"));
    assert!(right > 0 && wrong > 0 && right + wrong <= 3 * 60, "{predicting}");
    assert!(number("prediction_corrections") > 0, "{predicting}");
    assert_eq!(plain.get("predicted_turns_right"), None);
    assert_eq!(run_json(&format!("{MATCH} --prediction 0"), 0).get("prediction_corrections"), None, "off");
    let fault = corrupt(20, 1, 5, "position.x", 3);
    let broken = run_json(&format!("{MATCH} --prediction 500 {fault}"), 1);
    assert_eq!((&broken["first_divergent_turn"], &broken["desync"]["outlier"]), (&20.into(), &1.into()));
}

#[test]
fn an_adaptive_pace_agrees_too() {
    let report = run_json(&format!("{MATCH} {TERRIBLE}").replace("--pace fixed", "--pace adaptive"), 0);
    assert_eq!(report["checksums_agree"], true);
    let steps = report["client_steps"].as_array().unwrap();
    assert!(steps.iter().all(|client| *client == report["frames"]), "{steps:?}");
}

/// The orders of a corrupted client's bot must not affect the others.
#[test]
fn a_corrupted_client_differs_alone_and_is_found() {
    let whole = run_json(MATCH, 0);
    for field in ["position.x", "position.y", "velocity.x", "velocity.y"] {
        let fault = corrupt(20, 1, 5, field, 3);
        let broken = run_json(&format!("{MATCH} {TERRIBLE} {fault}"), 1);
        assert_eq!(broken["checksums_agree"], false);
        assert_eq!(broken["first_divergent_turn"], 20);
        assert_eq!(broken["final_checksum"], whole["final_checksum"], "player 0 is not touched by {field}");
        let (broken_sums, whole_sums) = (&broken["client_checksums"], &whole["client_checksums"]);
        assert_eq!(broken_sums[0], whole_sums[0], "{field}");
        assert_ne!(broken_sums[1], whole_sums[1], "{field}");
        assert_eq!(broken_sums[2], whole_sums[2], "{field}");
        assert_eq!(broken["client_steps"], whole["client_steps"], "the run goes on to the end");
        let desync = &broken["desync"];
        assert_eq!((&desync["turn"], &desync["frame"]), (&20.into(), &83.into()), "{desync}");
        assert_eq!((&desync["body"], &desync["field"]), (&5.into(), &field.into()), "{desync}");
        assert_eq!(desync["outlier"], 1);
        let values: Vec<i64> =
            desync["values"].as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect();
        assert_eq!(values[0], values[2], "{desync}");
        assert_eq!(values[0] ^ values[1], 1 << 3, "{desync}");
    }
}

#[test]
fn between_two_clients_the_broken_one_is_found_too() {
    let fault = corrupt(19, 0, 0, "velocity.y", 0);
    let broken = run_json(&format!("headless --units 10 --turns 20 --pace fixed {fault}"), 1);
    assert_eq!((&broken["desync"]["outlier"], &broken["first_divergent_turn"]), (&0.into(), &19.into()));
    assert_ne!(broken["client_checksums"][0], broken["client_checksums"][1]);
}

#[test]
fn any_number_of_players_has_a_match() {
    for (players, units) in [(1, 1), (1, 50), (16, 4)] {
        let report = run_json(&format!("headless --players {players} --units {units} --turns 10"), 0);
        assert_eq!(report["checksums_agree"], true);
        assert_eq!(report["client_checksums"].as_array().map(Vec::len), Some(players));
    }
}

#[test]
fn a_match_that_cannot_start_gives_up() {
    refused_json("headless --loss 1", 1, "did not start");
}

#[test]
fn without_arguments_a_match_is_played_and_explained() {
    let ended = run("");
    assert_eq!(ended.code, 0, "{ended:?}");
    for word in ["turns", "frames", "checksums", "agreed", "stalls", "bytes/s", "step", "Try next"] {
        assert!(ended.stdout.contains(word), "'{word}' is missing:\n{}", ended.stdout);
    }
    assert_eq!(run_json("", 0)["checksums_agree"], true);
}
