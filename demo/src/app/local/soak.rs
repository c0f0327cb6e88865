//! Plays many games at once, on all cores. The results do not depend on the number of cores.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::app::{Clock, ThreadClock};
use crate::soak::{GameReport, Plan, PlanError, play};

/// A game, and the processor time that it took.
#[derive(Clone, Debug)]
pub(crate) struct PlayedGame {
    pub(crate) report: GameReport,
    pub(crate) processor_micros: u64,
}

/// All games of a soak, in order of their seeds.
#[derive(Clone, Debug)]
pub(crate) struct SoakOutcome {
    pub(crate) games: Vec<PlayedGame>,
    pub(crate) wall_micros: u64,
    pub(crate) threads: usize,
}

/// Plays the games of the seeds `seed`, `seed + 1`, ... `progress` is called for each finished game, from any thread.
///
/// # Errors
/// A plan out of range.
pub(crate) fn soak(
    games: u64,
    seed: u64,
    progress: impl Fn(&GameReport) + Sync,
) -> Result<SoakOutcome, PlanError> {
    let clock = Clock::start();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= games {
                return;
            }
            let clock = ThreadClock::start();
            let result = play(&Plan::of(seed.wrapping_add(number)))
                .map(|report| PlayedGame { report, processor_micros: clock.elapsed_micros() });
            if let Ok(game) = &result {
                progress(&game.report);
            }
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(number, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let games = results.into_values().collect::<Result<Vec<_>, _>>()?;
    Ok(SoakOutcome { games, wall_micros: clock.elapsed().as_micros(), threads })
}
