//! Measures prediction: `cargo run --release -p testudo-tests --example foresight`. Prints a table for docs/prediction.md.

#[path = "crowd.rs"]
mod crowd;

use cpu_time::ThreadTime;
use crowd::{Plan, play};

/// Time of a picture that prediction may take, nanoseconds.
const BUDGET: u128 = 8_000_000;

fn main() {
    println!(
        "units per player, round trip | seen after | ran after | off: mean, p99, most | work ms: mean, p99, most | corrections"
    );
    for (units, seconds) in [(1_000, 30), (2_000, 30), (10_000, 15)] {
        for round_trip_ms in [100, 200, 300] {
            let mut nanos = Vec::new();
            let plan = Plan { units, round_trip_ms, seconds, predicts: true, budget: budget(units) };
            let told = play(plan, &mut |follow| {
                let start = ThreadTime::now();
                follow();
                nanos.push(start.elapsed().as_nanos());
            });
            nanos.sort_unstable();
            let mean = |list: &[u32]| f64::from(list.iter().sum::<u32>()) / list.len().max(1) as f64;
            let length = |raw: u64| raw as f64 / 65_536.0;
            let c = &told.corrections;
            let ms = |nanos: u128| nanos as f64 / 1e6;
            let average = nanos.iter().sum::<u128>() / nanos.len().max(1) as u128;
            println!(
                "{units:6}, {round_trip_ms} ms, {} frames | {:.2} | {:.2} | {:.3} {:.3} {:.3} | {:.2} {:.2} {:.2} | {:?}, right {} wrong {}",
                plan.budget,
                mean(&told.seen_after),
                mean(&told.ran_after),
                length(c.mean()),
                length(c.percentile(99)),
                length(c.greatest()),
                ms(average),
                ms(nanos[nanos.len() * 99 / 100]),
                ms(nanos[nanos.len() - 1]),
                told.stats,
                c.right(),
                c.wrong(),
            );
        }
    }
}

/// Frames that fit into the budget: measured once.
fn budget(units: u32) -> u32 {
    use testudo_lockstep::Simulation as _;
    let mut crowd = crowd::Crowd::new(units);
    for part in 0..8 {
        let march = crowd::March { part, goal: [0, 0] };
        [0, 1].map(testudo_lockstep::PlayerId).iter().for_each(|player| crowd.apply(*player, &march));
    }
    (0..40).for_each(|_| crowd.step(20));
    let start = ThreadTime::now();
    (0..20).for_each(|_| crowd.step(20));
    let each = start.elapsed().as_nanos() / 20;
    (BUDGET / each.max(1)).clamp(1, 32) as u32
}
