//! The machine's clocks.

use testudo_lockstep::{Duration, Instant};

#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant as Moment;

#[cfg(target_arch = "wasm32")]
use page::Moment;

/// Time since its start, for sessions and for measurements.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Moment);

impl Clock {
    pub fn start() -> Self {
        Self(Moment::now())
    }

    pub fn now(&self) -> Instant {
        Instant::from_micros(self.elapsed().as_micros())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed().into()
    }

    /// Nanoseconds, at most 4.29 s.
    pub fn elapsed_nanos(&self) -> u32 {
        self.0.elapsed().as_nanos().try_into().unwrap_or(u32::MAX)
    }
}

/// The standard library has no clock in a browser, so the window library asks the page.
#[cfg(target_arch = "wasm32")]
mod page {
    use std::time::Duration;

    use macroquad::miniquad::date;

    /// Seconds since 1970, by the machine's clock as it was when the page was opened.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Moment(f64);

    impl Moment {
        pub(super) fn now() -> Self {
            Self(date::now())
        }

        pub(super) fn elapsed(&self) -> Duration {
            // `demo/web/link.js` gives a clock that is not set back.
            Duration::try_from_secs_f64(date::now() - self.0).unwrap_or_default()
        }
    }
}

/// Processor time of the calling thread: on a busy machine it says more than the clock.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, Debug)]
pub struct ThreadClock(cpu_time::ThreadTime);

#[cfg(not(target_arch = "wasm32"))]
impl ThreadClock {
    pub fn start() -> Self {
        Self(cpu_time::ThreadTime::now())
    }

    /// Microseconds; only on the thread that has started the clock.
    pub fn elapsed_micros(&self) -> u64 {
        self.0.elapsed().as_micros().try_into().unwrap_or(u64::MAX)
    }
}
