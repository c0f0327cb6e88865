//! The machine's clocks.

use testudo_lockstep::{Duration, Instant};

/// Time since its start, for sessions, and for measuring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_micros(self.elapsed().as_micros())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_micros(self.0.elapsed().as_micros().try_into().unwrap_or(u64::MAX))
    }

    /// Nanoseconds, at most 4.29 s.
    pub(crate) fn elapsed_nanos(&self) -> u32 {
        self.0.elapsed().as_nanos().try_into().unwrap_or(u32::MAX)
    }
}

/// Time that the calling thread has run on a processor: on a busy machine it says more than the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadClock(cpu_time::ThreadTime);

impl ThreadClock {
    pub(crate) fn start() -> Self {
        Self(cpu_time::ThreadTime::now())
    }

    /// Microseconds; only on the thread that has started the clock.
    pub(crate) fn elapsed_micros(&self) -> u64 {
        self.0.elapsed().as_micros().try_into().unwrap_or(u64::MAX)
    }
}
