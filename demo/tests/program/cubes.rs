//! `cubes`: two simulations two seconds apart, and the divergence of floats in the same scene.

use std::fs;

use serde_json::Value;

use crate::run::{refused_json, run, run_json};

const SHORT: &str = "cubes --seconds 10 --cubes 400 --seed 5";

#[test]
fn every_promised_key_is_there() {
    let report = run_json(SHORT, 0);
    let keys = "cubes frames seed final_checksum checksums_agree first_divergent_frame client_checksums frames_compared
        delay_ms_mean delay_ms_max stalled_frames late_fraction delivered_fraction bytes_per_second contacts_mean fixed float";
    for key in keys.split_whitespace() {
        assert!(report.get(key).is_some(), "no key {key} in {report}");
    }
    for numbers in ["fixed", "float"] {
        for key in ["first_divergent_frame", "max", "final_max", "final_mean"] {
            assert!(report[numbers].get(key).is_some(), "no key {key} of {numbers} in {report}");
        }
    }
}

#[test]
fn two_seconds_later_every_frame_is_the_same_and_floats_are_somewhere_else() {
    let report = run_json(SHORT, 0);
    assert_eq!(report["checksums_agree"], true);
    assert_eq!((&report["frames"], &report["frames_compared"]), (&600.into(), &600.into()));
    assert_eq!(report["client_checksums"][0], report["client_checksums"][1]);
    let fixed = &report["fixed"];
    assert_eq!((&fixed["first_divergent_frame"], &fixed["max"]), (&Value::Null, &0.0.into()));
    let float = &report["float"];
    assert!(float["first_divergent_frame"].as_u64().is_some_and(|frame| frame < 600), "{report}");
    assert!(float["final_max"].as_f64() > Some(1.0), "{report}");
    // The network was bad, the sides were two seconds apart, and something was compared.
    assert!(report["delivered_fraction"].as_f64().is_some_and(|part| (0.6..0.9).contains(&part)), "{report}");
    assert!(report["delay_ms_mean"].as_f64().is_some_and(|ms| (1_990.0..2_150.0).contains(&ms)), "{report}");
    assert!(report["contacts_mean"].as_f64() > Some(10.0), "{report}");
}

#[test]
fn the_network_changes_the_delay_but_not_what_happens() {
    let here = run_json(&format!("{SHORT} --latency-ms 0 --loss 0"), 0);
    let far = run_json(&format!("{SHORT} --latency-ms 3000 --jitter-ms 80 --loss 0.4"), 0);
    assert_eq!(here["final_checksum"], far["final_checksum"]);
    assert_eq!(here["stalled_frames"], 0, "{here}");
    assert!(here["delay_ms_max"].as_f64() < Some(150.0) && far["delay_ms_mean"].as_f64() > Some(3_000.0));
    let other = run_json(&SHORT.replace("--seed 5", "--seed 6"), 0);
    assert_ne!(here["final_checksum"], other["final_checksum"]);
}

#[test]
fn one_flipped_bit_is_seen_in_its_frame_and_never_heals() {
    for frame in [0, 222, 599] {
        let report = run_json(&format!("{SHORT} --corrupt-frame {frame}"), 1);
        assert_eq!(report["first_divergent_frame"], frame, "{report}");
        assert_eq!((&report["checksums_agree"], &report["frames_compared"]), (&false.into(), &600.into()));
        assert_ne!(report["client_checksums"][0], report["client_checksums"][1]);
    }
}

#[test]
fn the_plot_shows_three_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("divergence.svg");
    let ended = run(&format!("{SHORT} --divergence {}", file.display()));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("equal in every one of 600 frames"), "{}", ended.stdout);
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg") && svg.matches("<polyline").count() == 3, "{svg}");
    // The line of fixed point, drawn last, stays at zero: a single height.
    let line = svg.rsplit("<polyline points=\"").next().and_then(|rest| rest.split('"').next()).unwrap();
    let heights: Vec<&str> = line.split(' ').filter_map(|point| point.split(',').nth(1)).collect();
    assert!(heights.len() > 100 && heights.iter().all(|height| *height == heights[0]), "{line}");
}

/// The result was printed, and a second object after it.
#[cfg(target_os = "linux")]
#[test]
fn a_plot_on_a_full_disk_is_one_error() {
    refused_json("cubes --seconds 1 --cubes 20 --divergence /dev/full", 1, "cannot write /dev/full");
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, word) in [
        ("cubes --cubes 0", "--cubes"),
        ("cubes --seconds 4000", "--seconds"),
        ("cubes --loss 2", "probability"),
        ("cubes --seconds 1 --corrupt-frame 60", "--corrupt-frame is 60, but there are 0 to 59"),
        ("cubes --divergence /nowhere/at/all.svg", "cannot write"),
    ] {
        refused_json(arguments, 2, word);
    }
    refused_json("cubes --seconds 1 --loss 1", 1, "did not connect in time");
}
