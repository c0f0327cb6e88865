//! Measures prediction: `cargo run --release -p testudo-tests --features measure --example foresight`. Prints the tables of docs/prediction.md.

#[path = "crowd.rs"]
mod crowd;

use std::time::Instant;

use cpu_time::ThreadTime;
use crowd::{Crowd, March, Plan, Told, play};
use testudo_lockstep::predict::PictureBudget;
use testudo_lockstep::{Duration, PlayerId, Simulation as _};

/// Time of a picture that prediction may take.
const BUDGET: Duration = Duration::from_millis(8);

/// Copies that are measured.
const COPIES: usize = 400;

fn main() {
    println!("A copy of a crowd into a kept one, microseconds by the clock: best, median, mean");
    for bodies in [1_000, 10_000] {
        copies(bodies);
    }
    println!(
        "\nunits of each player, round trip | orders seen after (share in the next frame) | run after | off: mean, p99, most | \
         processor's ms of a picture: mean, p99, most | by the clock: mean, p99, most | frames of a picture: mean | ms of a frame"
    );
    for (units, seconds) in [(1_000, 60), (2_000, 60), (10_000, 30)] {
        for round_trip_ms in [100, 200, 300] {
            matches(Plan { units, round_trip_ms, seconds, predicts: true });
        }
    }
}

/// Bodies in contact, all of which move.
fn copies(bodies: u32) {
    let mut crowd = Crowd::new(bodies / 2);
    for part in 0..8 {
        for player in [0, 1].map(PlayerId) {
            crowd.apply(player, &March { part, goal: [0, 0] });
        }
    }
    (0..300).for_each(|_| crowd.step(20));
    let mut kept = crowd.clone();
    let mut micros: Vec<f64> = (0..COPIES)
        .map(|_| {
            let start = Instant::now();
            kept.clone_from(&crowd);
            start.elapsed().as_nanos() as f64 / 1e3
        })
        .collect();
    micros.sort_unstable_by(f64::total_cmp);
    let mean = micros.iter().sum::<f64>() / micros.len() as f64;
    let contacts = crowd.contacts();
    println!("{bodies} bodies, {contacts} contacts: {:.1}, {:.1}, {mean:.1}", micros[0], micros[COPIES / 2]);
}

fn matches(plan: Plan) {
    let (mut processor, mut clock) = (Vec::new(), Vec::new());
    let mut budget = PictureBudget::new(BUDGET);
    let told = play(plan, &mut |follow| {
        let (start, thread) = (Instant::now(), ThreadTime::now());
        let frames = follow(budget.frames());
        let took = thread.elapsed();
        clock.push(start.elapsed().as_secs_f64() * 1e3);
        processor.push(took.as_secs_f64() * 1e3);
        budget.note(frames, Duration::from_micros(took.as_micros() as u64));
    });
    let Told { corrections, stats, seen_after, ran_after, .. } = &told;
    let mean = |list: &[u32]| f64::from(list.iter().sum::<u32>()) / list.len().max(1) as f64;
    let next = seen_after.iter().filter(|frames| **frames == 1).count();
    let length = |raw: u64| raw as f64 / 65_536.0;
    let pictures = plan.seconds as f64 * 60.0;
    println!(
        "{:6}, {} ms | {:.2} ({next} of {}) | {:.2} | {:.3} {:.3} {:.3} | {} | {} | {:.2} | {:.2} | {stats:?}, right {} wrong {}",
        plan.units,
        plan.round_trip_ms,
        mean(seen_after),
        told.orders,
        mean(ran_after),
        length(corrections.mean()),
        length(corrections.percentile(99)),
        length(corrections.greatest()),
        spread(processor),
        spread(clock),
        stats.frames as f64 / pictures,
        budget.frame_time().as_micros() as f64 / 1e3,
        corrections.right(),
        corrections.wrong(),
    );
}

/// Mean, 99th percentile, greatest.
fn spread(mut list: Vec<f64>) -> String {
    list.sort_unstable_by(f64::total_cmp);
    let mean = list.iter().sum::<f64>() / list.len().max(1) as f64;
    format!("{mean:.2} {:.2} {:.2}", list[list.len() * 99 / 100], list[list.len() - 1])
}
