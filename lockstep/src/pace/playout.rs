//! The playout delay buffer of one-way streams: watchers, demonstrations, replays over the network.
//!
//! The first arrival fixes the local clock: frame n is due at `anchor + n * period + delay`. If a frame arrives later than that, the
//! simulation waits. If all of them do for two seconds, the match has stood still, and the clock is fixed anew. If frames arrive in a bunch, the driver
//! catches up by at most four frames per call (see [`crate::Driver::with_playout`]). Symmetric peers need no such buffer: their two turns ahead have the
//! same effect.

use crate::value::time::{Duration, FrameRate, Instant};

/// How long the delay is. Keep it below a quarter of [`SessionConfig::window`](crate::SessionConfig::window), in turns: a watcher takes no entries further
/// ahead of its picture than the window, and is dropped when it has fallen back by so much. For a delay against watchers who tell players what they see,
/// the host has [`SessionConfig::watch_delay`](crate::SessionConfig::watch_delay).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum PlayoutMode {
    /// A delay that changes only where the stream itself becomes later for more than two seconds, as after a stop of the match. Glenn
    /// Fiedler's articles use 100 ms.
    Fixed(Duration),
    /// The shortest delay that keeps the share of late frames below a limit. Follows the drift of the clocks; playback runs up to 3 %
    /// faster or slower for this.
    Adaptive {
        /// Accepted share of late frames, parts per million. 1,000 is a good value.
        late_ppm: u32,
        /// The delay before the first measurements.
        start: Duration,
    },
}

/// When frames are due.
#[derive(Clone, Debug)]
pub struct Playout {
    mode: PlayoutMode,
    rate: FrameRate,
    /// When `anchor_frame` would be due without delay, microseconds; fixed by the first arrival, and anew
    /// when all has been late for long.
    anchor_us: Option<i64>,
    /// The first frame that passes at this rate.
    anchor_frame: u32,
    /// Current delay relative to the anchor, microseconds; negative if the first arrival was itself late.
    delay_us: i64,
    target_us: i64,
    last: Instant,
    offsets: Histogram,
    late_run: LateRun,
    arrived: u64,
    late: u64,
}

/// Playback speed changes by at most this share of real time: 3 %.
const SLEW_PPM: i64 = 30_000;

/// Arrivals between two evaluations of the histogram.
const ADAPT_EVERY: u64 = 16;

/// Arrivals before the first evaluation.
const ADAPT_AFTER: u64 = 256;

/// If everything is late for so long, the clock is fixed anew.
const LATE_MAX: Duration = Duration::from_secs(2);

/// So many bunches must be late, too: turns may be long.
const LATE_BUNCHES_MIN: u32 = 4;

/// An adaptive delay follows what is later by less than this, microseconds.
const FOLLOWED_US: i64 = 20_000;

impl Playout {
    /// A buffer for frames at this rate. A [`crate::Driver`] updates it to the rate of its session.
    #[must_use]
    pub fn new(mode: PlayoutMode, rate: FrameRate) -> Self {
        let start = match mode {
            PlayoutMode::Fixed(delay) | PlayoutMode::Adaptive { start: delay, .. } => delay,
        };
        let delay_us = signed_us(start);
        Self {
            mode,
            rate,
            anchor_us: None,
            anchor_frame: 0,
            delay_us,
            target_us: delay_us,
            last: Instant::ZERO,
            offsets: Histogram::new(),
            late_run: LateRun::default(),
            arrived: 0,
            late: 0,
        }
    }

    /// Fixes the clock: frame 0 counts as arrived at this time. Otherwise the first arrival fixes it.
    pub fn set_anchor(&mut self, at: Instant) {
        (self.anchor_us, self.anchor_frame) = (Some(signed_us(at.since(Instant::ZERO))), 0);
        self.last = at;
    }

    /// From `frame` on, frames pass at another rate. The due times of earlier frames and of that frame itself do not change. Frames before
    /// `frame` must not be asked for any more.
    pub fn set_rate(&mut self, frame: u32, rate: FrameRate) {
        if rate == self.rate {
            return;
        }
        if let Some(anchor) = self.anchor_us {
            self.anchor_us = Some(anchor.saturating_add(self.nominal_us(frame)));
            self.anchor_frame = frame;
        }
        self.rate = rate;
    }

    /// The rate at which frames pass now.
    #[must_use]
    pub fn rate(&self) -> FrameRate {
        self.rate
    }

    /// Notes that a frame can be simulated from now on. Call this once per frame, in order.
    pub fn note_arrival(&mut self, frame: u32, now: Instant) {
        self.pass_to(now);
        let (now_us, nominal) = (signed_us(now.since(Instant::ZERO)), self.nominal_us(frame));
        if self.anchor_us.is_none() {
            self.anchor_us = Some(now_us.saturating_sub(nominal));
            self.last = now;
        }
        let offset_us = now_us.saturating_sub(self.anchor_us.unwrap_or(now_us)).saturating_sub(nominal);
        self.arrived += 1;
        self.late += u64::from(offset_us > self.delay_us);
        if let PlayoutMode::Adaptive { late_ppm, .. } = self.mode {
            self.offsets.add(offset_us);
            if self.offsets.arrived >= ADAPT_AFTER && self.arrived.is_multiple_of(ADAPT_EVERY) {
                self.target_us = self.offsets.quantile_from_above(late_ppm);
            }
        }
        self.note_lateness(offset_us, now);
    }

    /// Fixes the clock anew by the earliest of the late arrivals, if everything has been late for long: the match stood still, or the way became longer.
    fn note_lateness(&mut self, offset_us: i64, now: Instant) {
        // Whoever accepts late frames may have the first one of each turn late for ever.
        let (is_adaptive, start) = match self.mode {
            PlayoutMode::Fixed(delay) => (false, delay),
            PlayoutMode::Adaptive { start, .. } => (true, start),
        };
        let late_from = if is_adaptive { self.delay_us.saturating_add(FOLLOWED_US) } else { self.delay_us };
        let Some(by) = self.late_run.note(offset_us, late_from, is_adaptive, now) else { return };
        self.anchor_us = self.anchor_us.map(|anchor| anchor.saturating_add(by));
        self.offsets = Histogram::new();
        (self.delay_us, self.target_us) = (signed_us(start), signed_us(start));
    }

    /// Number of frames that are due at `now`, counted from frame 0.
    pub fn frames_due(&mut self, now: Instant) -> u32 {
        self.pass_to(now);
        let Some(anchor) = self.anchor_us else { return 0 };
        let passed = signed_us(now.since(Instant::ZERO)).saturating_sub(anchor).saturating_sub(self.delay_us);
        if passed < 0 {
            // Everything before the anchor's frame was due before the rate changed.
            return self.anchor_frame;
        }
        let frames = passed as u128 * u128::from(self.rate.as_millihertz()) / 1_000_000_000;
        u32::try_from(frames + 1 + u128::from(self.anchor_frame)).unwrap_or(u32::MAX)
    }

    /// When a frame is due at the current delay.
    #[must_use]
    pub fn due_at(&self, frame: u32) -> Option<Instant> {
        let at = self.anchor_us?.saturating_add(self.nominal_us(frame)).saturating_add(self.delay_us);
        Some(Instant::from_micros(at.max(0) as u64))
    }

    /// The current delay relative to the arrival that the clock was fixed by, in microseconds.
    #[must_use]
    pub fn delay_us(&self) -> i64 {
        self.delay_us
    }

    /// Number of frames that have arrived, and how many of them were late.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.arrived, self.late)
    }

    /// Microseconds from the anchor's frame to this frame, rounded up, so that a frame is never due too early.
    fn nominal_us(&self, frame: u32) -> i64 {
        match frame.checked_sub(self.anchor_frame) {
            Some(frames) => self.rate.micros_of(frames) as i64,
            None => -(self.rate.micros_of(self.anchor_frame - frame) as i64),
        }
    }

    /// Moves the delay slowly towards its target.
    fn pass_to(&mut self, now: Instant) {
        let passed = signed_us(now.since(self.last));
        let most = passed.saturating_mul(SLEW_PPM) / 1_000_000;
        if most > 0 && self.anchor_us.is_some() {
            self.delay_us += self.target_us.saturating_sub(self.delay_us).clamp(-most, most);
            self.last = now;
        }
    }
}

/// Microseconds; a time that is too long for the sums here counts as the longest one, 36,000 years.
fn signed_us(time: Duration) -> i64 {
    time.as_micros().min(1 << 60) as i64
}

/// Arrivals that are all late. What arrives at one time is a bunch, of which the first frame is the latest.
#[derive(Clone, Copy, Debug, Default)]
struct LateRun {
    /// When the first of them came; none if the last arrival was in time.
    since: Option<Instant>,
    bunches: u32,
    /// The smallest offset of a bunch's first frame.
    smallest_us: i64,
    last: Option<Instant>,
}

impl LateRun {
    /// `counts_all`: a frame that is in time within a late bunch ends the run, too. Returns the smallest offset if the run has lasted long enough.
    fn note(&mut self, offset_us: i64, late_from: i64, counts_all: bool, now: Instant) -> Option<i64> {
        let is_first = self.last.replace(now) != Some(now);
        if offset_us <= late_from {
            if is_first || counts_all {
                self.since = None;
            }
            return None;
        }
        if !is_first {
            return None;
        }
        if self.since.is_none() {
            (self.bunches, self.smallest_us) = (0, i64::MAX);
        }
        let since = *self.since.get_or_insert(now);
        self.bunches += 1;
        self.smallest_us = self.smallest_us.min(offset_us);
        let is_long = now.since(since) >= LATE_MAX && self.bunches >= LATE_BUNCHES_MIN;
        is_long.then(|| {
            self.since = None;
            self.smallest_us
        })
    }
}

/// Arrival offsets above the smallest recent one, in bins of a millisecond; old ones fade.
///
/// The smallest recent offset follows clock drift and path changes within seconds; the spread above it changes slowly.
#[derive(Clone, Debug)]
struct Histogram {
    bins: Vec<u32>,
    total: u64,
    /// Number of arrivals in it.
    arrived: u64,
    since_fading: u32,
    /// Smallest offset of this window of arrivals and of the one before.
    smallest_us: [i64; 2],
    in_window: u32,
}

/// Range of the histogram: four seconds.
const BINS: usize = 4_096;

/// Weight of a new arrival.
const WEIGHT: u32 = 1 << 10;

/// After this many arrivals all weights fade by an eighth.
const FADE_EVERY: u32 = 2_048;

/// Arrivals over which the smallest offset is taken: about four seconds of input.
const WINDOW: u32 = 256;

impl Histogram {
    fn new() -> Self {
        Self {
            bins: Vec::new(),
            total: 0,
            arrived: 0,
            since_fading: 0,
            smallest_us: [i64::MAX; 2],
            in_window: 0,
        }
    }

    fn base_us(&self) -> i64 {
        self.smallest_us[0].min(self.smallest_us[1])
    }

    fn add(&mut self, offset_us: i64) {
        if self.bins.is_empty() {
            self.bins = vec![0; BINS];
        }
        self.in_window += 1;
        if self.in_window > WINDOW {
            let before = self.base_us();
            self.smallest_us = [i64::MAX, self.smallest_us[0]];
            self.in_window = 1;
            if self.base_us().saturating_sub(before) > FOLLOWED_US {
                // What came last was measured from a base that is none any more.
                self.bins.fill(0);
                (self.total, self.arrived) = (0, 0);
            }
        }
        self.smallest_us[0] = self.smallest_us[0].min(offset_us);
        let index = (offset_us.saturating_sub(self.base_us()) / 1_000).clamp(0, BINS as i64 - 1) as usize;
        self.bins[index] = self.bins[index].saturating_add(WEIGHT);
        self.total += u64::from(WEIGHT);
        self.arrived += 1;
        self.since_fading += 1;
        if self.since_fading == FADE_EVERY {
            self.since_fading = 0;
            for bin in &mut self.bins {
                *bin -= *bin / 8;
            }
            self.total = self.bins.iter().map(|&bin| u64::from(bin)).sum();
        }
    }

    /// The smallest offset that at most this share of arrivals exceeds, microseconds.
    fn quantile_from_above(&self, ppm: u32) -> i64 {
        let allowed = self.total * u64::from(ppm) / 1_000_000;
        let mut above = 0;
        for (index, &bin) in self.bins.iter().enumerate().rev() {
            above += u64::from(bin);
            if above > allowed {
                return self.base_us() + (index as i64 + 1) * 1_000;
            }
        }
        self.base_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_100: PlayoutMode = PlayoutMode::Fixed(Duration::from_millis(100));

    #[test]
    fn frames_are_due_100_ms_after_the_first_arrival() {
        let mut playout = Playout::new(MS_100, FrameRate::per_second(60).unwrap());
        assert_eq!(playout.frames_due(Instant::from_millis(500)), 0, "nothing has arrived");
        playout.note_arrival(0, Instant::from_millis(1_000));
        assert_eq!(playout.frames_due(Instant::from_micros(1_099_999)), 0);
        assert_eq!(playout.frames_due(Instant::from_micros(1_100_000)), 1);
        assert_eq!(playout.frames_due(Instant::from_micros(1_116_666)), 1);
        assert_eq!(playout.frames_due(Instant::from_micros(1_116_667)), 2);
        assert_eq!(playout.frames_due(Instant::from_millis(2_100)), 61, "60 frames are one second");
        assert_eq!(playout.due_at(60), Some(Instant::from_millis(2_100)));
    }

    #[test]
    fn exactly_on_time_is_in_time() {
        let mut playout = Playout::new(MS_100, FrameRate::per_second(10).unwrap());
        playout.note_arrival(0, Instant::from_millis(0));
        playout.note_arrival(1, Instant::from_millis(200));
        assert_eq!(playout.counts(), (2, 0));
        playout.note_arrival(2, Instant::from_micros(300_001));
        assert_eq!(playout.counts(), (3, 1));
    }

    #[test]
    fn another_rate_counts_from_its_first_frame() {
        let mut playout = Playout::new(MS_100, FrameRate::per_second(10).unwrap());
        playout.note_arrival(0, Instant::ZERO);
        // Frame 20 is due after 2,100 ms; then they pass at half the rate.
        playout.set_rate(20, FrameRate::per_second(5).unwrap());
        assert_eq!(playout.due_at(20), Some(Instant::from_millis(2_100)));
        assert_eq!(playout.due_at(25), Some(Instant::from_millis(3_100)));
        assert_eq!(playout.frames_due(Instant::from_millis(2_099)), 20, "what was due before is due still");
        assert_eq!(playout.frames_due(Instant::from_millis(2_100)), 21);
        assert_eq!(playout.frames_due(Instant::from_millis(3_100)), 26);
    }

    #[test]
    fn the_spread_is_kept_while_the_clocks_drift() {
        let mut histogram = Histogram::new();
        for step in 0..200_000_i64 {
            // Two parts per thousand of drift, a spread of 0 to 50 ms.
            histogram.add(step * 33 + (step * 7_919 % 50_000));
        }
        let newest = 200_000 * 33 + 50_000;
        assert!((newest - histogram.quantile_from_above(1_000)).abs() < 20_000);
    }
}
