//! Thread CPU time and its statistics.

use cpu_time::ThreadTime;
use serde::Serialize;

/// Runs `work` and returns its thread CPU time in microseconds.
pub fn time_us(work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// Runs `work` and returns how long that took by the clock on the wall, in microseconds: for work on several threads.
pub fn wall_us(work: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// Times of many repetitions.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// Half of the repetitions took no longer.
    pub median: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// Arithmetic mean.
    pub mean: f64,
}

impl Summary {
    /// Summarises `values`; zero for none.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().fold(0.0, |sum, value| sum + value) / sorted.len().max(1) as f64;
        Self { median: quantile(&sorted, 0.5), p99: quantile(&sorted, 0.99), mean }
    }
}

/// The value below which `share` of the ascending `sorted` lie (nearest rank); zero for none.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// Peak resident memory of this process so far in bytes, where the system tells (Linux).
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), 50.0);
        assert_eq!(quantile(&values, 0.99), 99.0);
        assert_eq!(quantile(&values, 1.0), 100.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn work_takes_time() {
        let busy = time_us(|| {
            std::hint::black_box((0..1_000_000_u64).fold(0, |sum, x| std::hint::black_box(sum ^ x)));
        });
        assert!(busy > 0.0);
    }
}
