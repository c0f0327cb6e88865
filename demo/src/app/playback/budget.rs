//! Limits of the simulation before the next picture.

use testudo_lockstep::Duration;

use testudo_render::clock::Clock;

/// Remaining frames and time. At least one frame is always left, so that the work ends at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    frames: u32,
    /// The clock that was started with it, and its end.
    time: Option<(Clock, Duration)>,
    is_fresh: bool,
}

impl Budget {
    /// This many frames, however long they take.
    #[cfg(test)]
    pub(crate) fn frames(frames: u32) -> Self {
        Self { frames, time: None, is_fresh: true }
    }

    /// At most this many frames, started within a time from now.
    pub(crate) fn within(frames: u32, time: Duration) -> Self {
        Self { frames, time: Some((Clock::start(), time)), is_fresh: true }
    }

    /// Takes one frame; false if there is none left.
    pub(crate) fn take(&mut self) -> bool {
        let is_late = self.time.is_some_and(|(clock, end)| clock.elapsed() >= end);
        let is_granted = self.is_fresh || (self.frames > 0 && !is_late);
        self.is_fresh = false;
        self.frames = self.frames.saturating_sub(u32::from(is_granted));
        is_granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(mut budget: Budget) -> u32 {
        (0..100).filter(|_| budget.take()).count() as u32
    }

    #[test]
    fn frames_are_limited_and_one_is_always_left() {
        assert_eq!([0, 1, 7].map(|frames| taken(Budget::frames(frames))), [1, 1, 7]);
        assert_eq!(taken(Budget::within(50, Duration::ZERO)), 1, "the time is over at once");
        assert_eq!(taken(Budget::within(50, Duration::from_secs(3_600))), 50);
    }
}
