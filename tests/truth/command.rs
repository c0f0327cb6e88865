//! Measurements, and tests that take too long for a test run:
//! `cargo run --release -p testudo-tests --features measure --example truths -- scenes 1 10000`, `... -- wide 1 5000`, `... -- pile-up` and `... -- unusual`.

#[allow(dead_code, reason = "the helpers of the golden tests; not all of them are needed here")]
#[path = "../physics/build.rs"]
mod build;
mod chains;
mod crushers;
#[allow(dead_code, reason = "only the truths of unusual scenes are heard here")]
mod frame;
mod masses;
mod scenes;
mod unusual;
mod wedged;

use std::process::ExitCode;
use std::time::Instant;

use testudo_physics::{BodyDef, WorldDef};

use crate::build::{add, circle, deepest_overlap, milli, momentum, world};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("pile-up") => pile_up(),
        Some(kind @ ("scenes" | "wide")) => {
            let offset = if kind == "wide" { scenes::WIDE } else { 0 };
            let number = |at: usize, usual| arguments.get(at).map_or(Ok(usual), |text| text.parse::<u64>());
            match (number(1, 1), number(2, 10_000)) {
                (Ok(first), Ok(count)) => return scenes(offset + first, count),
                _ => eprintln!("the first seed and the number of scenes are numbers"),
            }
            return ExitCode::FAILURE;
        }
        Some("unusual") => {
            let number = |at: usize, usual| arguments.get(at).map_or(Ok(usual), |text| text.parse::<u64>());
            let word = arguments.get(3).map_or("", String::as_str);
            match (number(1, 1), number(2, 50)) {
                (Ok(first), Ok(count @ 1..)) => return unusual(first, count, word),
                _ => eprintln!(
                    "the first seed and the number of seeds are numbers, and there is at least one seed"
                ),
            }
            return ExitCode::FAILURE;
        }
        _ => {
            eprintln!(
                "usage: truths pile-up, truths scenes|wide [FIRST SEED] [NUMBER OF SCENES], or truths unusual [FIRST SEED] [NUMBER OF SEEDS] [WORD OF A LAW]"
            );
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Plays random scenes and prints the violated laws.
fn scenes(first: u64, count: u64) -> ExitCode {
    let start = Instant::now();
    let mut failed = 0;
    for seed in first..first + count {
        let failures = scenes::Scene::new(seed).play();
        failed += u64::from(!failures.is_empty());
        failures.iter().for_each(|line| println!("{line}"));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{count} scenes from seed {first}: {failed} broke a law; {seconds:.0} s");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Hears the truths about unusual scenes whose names contain `word`, seed by seed.
fn unusual(first: u64, count: u64, word: &str) -> ExitCode {
    let seeds = first..first.saturating_add(count);
    println!("{count} seeds from {first} on");
    let truths = unusual::UNUSUAL
        .into_iter()
        .chain(masses::MASSES)
        .chain(chains::CHAINS)
        .chain(crushers::CRUSHERS)
        .chain(wedged::WEDGED);
    let truths: Vec<_> = truths.filter(|(law, ..)| law.contains(word)).collect();
    if truths.is_empty() {
        eprintln!("no law's name contains \"{word}\"");
        return ExitCode::FAILURE;
    }
    let failed = truths.into_iter().map(|(law, source, hearing)| {
        // A truth that does not hold panics with all lines.
        let hear = |seed| frame::Truth::hear(law, source, seed..=seed, hearing);
        let fails = |&seed: &u64| std::panic::catch_unwind(|| hear(seed)).is_err();
        let failed: Vec<_> = seeds.clone().filter(fails).collect();
        println!(
            "{law}: {}",
            if failed.is_empty() { "holds".to_owned() } else { format!("broken by {failed:?}") }
        );
        failed.len()
    });
    // All are heard, whatever the first ones say.
    if failed.sum::<usize>() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How long the steps of 10,000 discs in one point take, and how they come apart.
fn pile_up() {
    for fps in [20, 60] {
        let mut w = world(WorldDef::new().sleep_ms(0));
        for _ in 0..10_000 {
            add(&mut w, BodyDef::dynamic(circle(500)));
        }
        let (mut fastest, mut longest) = (0, 0.0_f64);
        for _ in 0..20 * fps {
            let start = Instant::now();
            w.step(fps).expect("in range");
            longest = longest.max(start.elapsed().as_secs_f64());
            fastest = fastest.max(frame::top_speed(&w).to_bits());
            assert_eq!(momentum(&w), [0, 0]);
        }
        println!(
            "10,000 discs in one point, {fps} fps: longest step {:.0} ms; up to {:.1} units/s; deepest overlap after 20 s {:.3} units",
            longest * 1e3,
            fastest as f64 / 65_536.0,
            deepest_overlap(&w) as f64 / f64::from(milli(1_000).to_bits() as i32),
        );
    }
}
