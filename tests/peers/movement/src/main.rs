//! `testudo-movement` beside crates for paths and for avoidance, on the same scenes: thread CPU time together with quality.
//!
//! `cargo run --release`, some two minutes.

mod avoidance;
mod paths;

fn main() {
    println!("| 512 x 512 cells | field | `pathfinding::dijkstra_all` | one A* | its path / ours |");
    println!("|---|---|---|---|---|");
    for houses in [0, 500, 3_000] {
        paths::row(houses);
    }
    println!();
    println!(
        "| two groups cross | ms per frame | worst | arrived | after, s | overlapping pairs | deepest, diameters |"
    );
    println!("|---|---|---|---|---|---|---|");
    for count in [200, 1_000] {
        avoidance::rows(count);
    }
}
