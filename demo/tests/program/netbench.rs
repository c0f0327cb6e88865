//! `netbench`: TCP against UDP.

use serde_json::{Value, json};

use crate::run::run_json;

/// Each latency once as a round trip and once as one way.
#[test]
fn six_links_are_compared() {
    let report = run_json("netbench --inputs 600 --seed 3", 0);
    let link =
        |row: &Value| ["name", "latency_ms", "latency_kind", "loss", "inputs"].map(|key| row[key].clone());
    let links: Vec<_> = report["conditions"].as_array().expect("an array").iter().map(link).collect();
    let expected = [
        json!(["rtt-100ms-1%", 100, "rtt", 0.01, 600]),
        json!(["one-way-100ms-1%", 100, "one_way", 0.01, 600]),
        json!(["rtt-250ms-5%", 250, "rtt", 0.05, 600]),
        json!(["one-way-250ms-5%", 250, "one_way", 0.05, 600]),
        json!(["rtt-2s-25%", 2_000, "rtt", 0.25, 600]),
        json!(["one-way-2s-25%", 2_000, "one_way", 0.25, 600]),
    ];
    assert_eq!(json!(links), json!(expected));
}
