//! What a player measures of its network and of its machine.

use std::collections::VecDeque;

use crate::value::time::{Duration, Instant};

/// A rolling average that rises at once and falls by a tenth of the difference, in integers.
///
/// From the second part of the articles (<http://clintonbrennan.com/2014/04/lockstep-implementation-in-unity3d-part-2/>): `(9 * average + sample) / 10`,
/// rounded down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct RollingAverage(u32);

impl RollingAverage {
    /// Adds a sample; the caller chooses the unit.
    fn add(&mut self, sample: u32) {
        let falling = (9 * u64::from(self.0) + u64::from(sample)) / 10;
        self.0 = if sample > self.0 { sample } else { falling as u32 };
    }

    fn get(self) -> u32 {
        self.0
    }
}

/// This player's own measurements.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    /// Entries that not everybody has confirmed yet, and when they closed: the article's stopwatches.
    stopwatches: VecDeque<(u32, Instant)>,
    network_us: RollingAverage,
    runtime_us: RollingAverage,
    slowest_frame: Duration,
    sent: (u16, u16),
    /// When the latest stalls ended.
    stalls: [Option<Instant>; STALLS as usize],
}

/// Greatest number of entries that are timed at once.
const STOPWATCHES_MAX: usize = 16;

/// A wait for a turn that is at least this long is a stall: the network was gone, which says nothing about its latency.
const STALL: Duration = Duration::from_millis(500);

/// This many stalls within [`STALLS_WITHIN`] are no accident: the network really is that bad.
const STALLS: u32 = 3;
const STALLS_WITHIN: Duration = Duration::from_secs(10);

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            stopwatches: VecDeque::with_capacity(STOPWATCHES_MAX),
            network_us: RollingAverage::default(),
            runtime_us: RollingAverage::default(),
            slowest_frame: Duration::ZERO,
            sent: (0, 0),
            stalls: [None; STALLS as usize],
        }
    }

    /// An entry closes and goes out.
    pub(crate) fn entry_closed(&mut self, number: u32, now: Instant) {
        if self.stopwatches.len() < STOPWATCHES_MAX {
            self.stopwatches.push_back((number, now));
        }
    }

    /// A turn begins after a wait. Entries that were in flight during a stall are not measured.
    pub(crate) fn turn_begins(&mut self, waited: Duration, now: Instant) {
        if waited < STALL {
            return;
        }
        self.stalls.rotate_right(1);
        self.stalls[0] = Some(now);
        if !self.stalls_often(now) {
            self.stopwatches.clear();
        }
    }

    fn stalls_often(&self, now: Instant) -> bool {
        self.stalls.iter().all(|stall| stall.is_some_and(|stall| now.since(stall) < STALLS_WITHIN))
    }

    /// Everybody has the entries below `confirmed`. `waited`: how long the next turn has been waited for.
    pub(crate) fn confirmed(&mut self, confirmed: u32, waited: Duration, now: Instant) {
        let in_stall = waited >= STALL && !self.stalls_often(now);
        while let Some((_, closed)) = self.stopwatches.pop_front_if(|(number, _)| *number < confirmed) {
            if in_stall {
                continue;
            }
            let micros = now.since(closed).as_micros();
            self.network_us.add(u32::try_from(micros).unwrap_or(u32::MAX));
        }
    }

    /// Average time to the last confirmation of an entry.
    pub(crate) fn network(&self) -> Duration {
        Duration::from_micros(u64::from(self.network_us.get()))
    }

    /// How long a frame took, everything included.
    pub(crate) fn frame_took(&mut self, span: Duration) {
        self.slowest_frame = self.slowest_frame.max(span);
    }

    /// A turn is over.
    pub(crate) fn turn_ended(&mut self) {
        if self.slowest_frame > Duration::ZERO {
            let micros = self.slowest_frame.as_micros();
            self.runtime_us.add(u32::try_from(micros).unwrap_or(u32::MAX));
        }
        self.slowest_frame = Duration::ZERO;
    }

    /// Whether a frame takes longer than it lasts, or the others have been told so last.
    pub(crate) fn is_too_slow(&self, frames_per_second: u32) -> bool {
        // It was rounded up.
        let told_us = u32::from(self.sent.1).saturating_sub(1) * 1_000 + 1;
        u64::from(self.runtime_us.get().max(told_us)) * u64::from(frames_per_second) > 1_000_000
    }

    /// The averages in milliseconds, if they differ enough from those sent last: any rise, or a fall by an eighth.
    pub(crate) fn take_report(&mut self) -> Option<(u16, u16)> {
        let millis =
            |average: RollingAverage| u16::try_from(average.get().div_ceil(1_000)).unwrap_or(u16::MAX);
        let now = (millis(self.network_us), millis(self.runtime_us));
        let differs = |now: u16, sent: u16| now > sent || u32::from(now) * 8 < u32::from(sent) * 7;
        if !differs(now.0, self.sent.0) && !differs(now.1, self.sent.1) {
            return None;
        }
        self.sent = now;
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_rise_at_once_and_fall_by_a_tenth() {
        let mut average = RollingAverage::default();
        let mut seen = Vec::new();
        for sample in [100, 50, 50, 200, 0] {
            average.add(sample);
            seen.push(average.get());
        }
        assert_eq!(seen, [100, 95, 90, 200, 180]);
        average.add(u32::MAX);
        assert_eq!(average.get(), u32::MAX);
    }

    #[test]
    fn the_slowest_frame_of_a_turn_counts() {
        let mut meter = Meter::new();
        let mut seen = Vec::new();
        for turn in [&[10, 80, 20][..], &[10, 10], &[]] {
            turn.iter().for_each(|ms| meter.frame_took(Duration::from_millis(*ms)));
            meter.turn_ended();
            seen.push(meter.runtime_us.get());
        }
        assert_eq!(seen, [80_000, 73_000, 73_000]);
    }

    #[test]
    fn a_stall_is_not_a_round_trip_unless_it_comes_again_and_again() {
        let mut meter = Meter::new();
        let at = Instant::from_millis;
        meter.entry_closed(2, at(0));
        meter.confirmed(3, Duration::ZERO, at(60));
        assert_eq!(meter.take_report(), Some((60, 0)));
        for (number, ms) in [(3, 100), (4, 3_000), (5, 6_000)] {
            meter.entry_closed(number, at(ms));
            meter.confirmed(number + 1, Duration::from_millis(900), at(ms + 2_000));
            meter.turn_begins(Duration::from_millis(900), at(ms + 2_000));
            assert_eq!(meter.take_report(), None, "{number}");
        }
        meter.entry_closed(6, at(8_500));
        meter.confirmed(7, Duration::from_millis(900), at(10_500));
        assert_eq!(meter.take_report(), Some((2_000, 0)));
    }
}
