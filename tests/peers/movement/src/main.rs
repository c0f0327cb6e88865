//! `testudo-movement` beside crates for paths and for avoidance, on the same scenes: thread CPU time together with quality.
//!
//! `cargo run --release [single | paths | crowds]`, some three minutes. With `--features detour` Detour's crowd plays, too.

mod agents;
mod avoidance;
#[cfg(feature = "detour")]
mod detour;
mod paths;
mod single;

fn main() {
    // A part alone, if it is named.
    let part = std::env::args().nth(1).unwrap_or_default();
    let plays = |name: &str| part.is_empty() || part == name;
    if plays("single") {
        single::table();
    }
    if plays("paths") {
        paths();
    }
    if plays("crowds") {
        crowds();
    }
}

fn paths() {
    println!("| 512 x 512 cells | field | `pathfinding::dijkstra_all` | one A* | its path / ours |");
    println!("|---|---|---|---|---|");
    for houses in [0, 500, 3_000] {
        paths::row(houses);
    }
}

fn crowds() {
    println!(
        "| two groups cross | ms per frame | worst | arrived | after, s | overlapping pairs | deepest, diameters |"
    );
    println!("|---|---|---|---|---|---|---|");
    for count in [200, 1_000] {
        avoidance::rows(count);
    }
}
