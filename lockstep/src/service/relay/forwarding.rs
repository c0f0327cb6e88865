//! How long whole turns wait at a relay, of all rooms and of the worst ones.

use crate::value::time::{Duration, Instant};

/// Greatest number of times that wait to be read.
const TIMES_MAX: usize = 16_384;

/// What is shown is of the last such time.
const WINDOW: Duration = Duration::from_secs(10);

/// Half of some times are below the first one, 99 of 100 below the second, all of them at most the third.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Spread {
    /// Half of them are below.
    pub half: Duration,
    /// 99 of 100 are below.
    pub most: Duration,
    /// The longest one.
    pub worst: Duration,
}

impl Spread {
    /// Of these times, which are sorted by it. Zero if there are none.
    pub(super) fn of(times: &mut [Duration]) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
        let [half, most, worst] = [50, 99, 100].map(|percent| at(percent).copied().unwrap_or_default());
        Self { half, most, worst }
    }
}

/// The times from the arrival of the last entry of a turn to the packets that forward the turn.
#[derive(Clone, Debug, Default)]
pub struct Forwarding {
    /// Since the last look.
    fresh: Vec<Duration>,
    /// Since the window began.
    recent: Vec<Duration>,
    began: Instant,
    /// Of the last whole window: of all turns, and of the worst turn of each room.
    pub turns: Spread,
    /// Of the worst turn of each room.
    pub rooms: Spread,
}

impl Forwarding {
    /// Notes how long a whole turn waited here.
    pub(super) fn note(&mut self, time: Duration) {
        if self.fresh.len() < TIMES_MAX {
            self.fresh.push(time);
        }
    }

    /// Takes the times that were noted since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = Duration> + '_ {
        let room = TIMES_MAX.saturating_sub(self.recent.len()).min(self.fresh.len());
        self.recent.extend_from_slice(&self.fresh[..room]);
        self.fresh.drain(..)
    }

    /// Whether the window is over; then [`Forwarding::close`] begins the next one.
    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        now.since(self.began) >= WINDOW
    }

    /// Shows the times of the window, and begins the next one. `worst`: of each room in the window.
    pub fn close(&mut self, now: Instant, mut worst: Vec<Duration>) {
        self.turns = Spread::of(&mut self.recent);
        self.rooms = Spread::of(&mut worst);
        self.recent.clear();
        self.began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_and_the_usual_are_told_apart_and_forgotten_after_a_window() {
        let mut forwarding = Forwarding::default();
        (1..=1_000).map(Duration::from_micros).for_each(|time| forwarding.note(time));
        forwarding.note(Duration::from_millis(30));
        assert_eq!(forwarding.take().count(), 1_001);
        assert!(!forwarding.is_over(Instant::from_millis(9_999)));
        let end = Instant::from_millis(10_000);
        assert!(forwarding.is_over(end));
        forwarding.close(end, vec![Duration::from_millis(30), Duration::from_millis(2)]);
        let [half, most, worst] = [501, 991, 30_000].map(Duration::from_micros);
        assert_eq!(forwarding.turns, Spread { half, most, worst });
        assert_eq!(forwarding.rooms.worst, worst);
        forwarding.close(Instant::from_millis(20_000), Vec::new());
        assert_eq!((forwarding.turns, forwarding.rooms), (Spread::default(), Spread::default()));
    }
}
