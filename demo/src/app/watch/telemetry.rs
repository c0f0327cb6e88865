//! Measures the network's effect on a running match, several times per second.

use std::collections::VecDeque;

use testudo_lockstep::simnet::SimNetStats;
use testudo_lockstep::{Driver, Duration, Instant, PlayerId, Simulation};

/// Time between two samples.
const INTERVAL: Duration = Duration::from_millis(100);

/// Samples kept: the last 24 seconds.
const SAMPLES_MAX: usize = 240;

/// One measurement over [`INTERVAL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sample {
    /// Slowest confirmation of a player's entries, rolling average, milliseconds.
    pub(crate) round_trip_ms: u32,
    /// Length of a turn, milliseconds.
    pub(crate) turn_ms: u32,
    /// Frames in which a client waited, over all clients.
    pub(crate) stalled_frames: u32,
    /// How many frames the last client is behind the first.
    pub(crate) behind_frames: u32,
    /// UDP payload that all clients sent, bytes per second.
    pub(crate) bytes_per_second: u32,
    /// The same for received packets.
    pub(crate) received_per_second: u32,
    /// Packets given to the network, and those that it lost.
    pub(crate) packets: u32,
    pub(crate) lost: u32,
}

impl Sample {
    /// The mean of the last so many samples, of those that come newest first.
    pub(crate) fn mean<'a>(
        newest_first: impl Iterator<Item = &'a Self>,
        count: usize,
        of: fn(&Self) -> u32,
    ) -> u32 {
        let (sum, number) =
            newest_first.take(count).fold((0, 0), |(sum, n), sample| (sum + of(sample), n + 1));
        sum / number.max(1)
    }
}

/// Counters that only grow, at the last sample.
#[derive(Clone, Copy, Default)]
struct Totals {
    stalled: u64,
    bytes: u64,
    received: u64,
    packets: u64,
    lost: u64,
}

/// The recent samples.
pub(crate) struct Telemetry {
    due: Instant,
    last: Totals,
    samples: VecDeque<Sample>,
}

impl Telemetry {
    /// Starts measuring at this time.
    pub(crate) fn new(start: Instant) -> Self {
        Self { due: start + INTERVAL, last: Totals::default(), samples: VecDeque::with_capacity(SAMPLES_MAX) }
    }

    /// Takes a sample if it is time.
    pub(crate) fn observe<S: Simulation>(&mut self, now: Instant, net: SimNetStats, drivers: &[Driver<S>]) {
        if now < self.due {
            return;
        }
        let span = INTERVAL + now.since(self.due);
        self.due = now + INTERVAL;
        let sessions = || drivers.iter().map(Driver::session);
        let totals = Totals {
            stalled: sessions().map(|session| session.stats().stalled_frames).sum(),
            bytes: sessions().map(|session| session.stats().bytes_sent).sum(),
            received: sessions().map(|session| session.stats().bytes_received).sum(),
            packets: net.sent,
            lost: net.lost + net.lost_in_bursts + net.lost_in_queues,
        };
        let Some(first) = sessions().next() else { return };
        let players = (0..first.config().players).map(PlayerId);
        let reports = players.map(|player| first.player_report(player));
        let frames = || drivers.iter().map(|driver| driver.frame().0);
        let plan = first.plan();
        let per_second = |bytes: u64| (bytes * 1_000_000 / span.as_micros().max(1)) as u32;
        let sample = Sample {
            round_trip_ms: reports.map(|report| u32::from(report.network_ms)).max().unwrap_or(0),
            turn_ms: (u64::from(plan.frames_per_turn) * 1_000_000 / u64::from(plan.pace_millihertz.max(1)))
                as u32,
            stalled_frames: (totals.stalled - self.last.stalled) as u32,
            behind_frames: frames().max().unwrap_or(0) - frames().min().unwrap_or(0),
            bytes_per_second: per_second(totals.bytes - self.last.bytes),
            received_per_second: per_second(totals.received - self.last.received),
            packets: (totals.packets - self.last.packets) as u32,
            lost: (totals.lost - self.last.lost) as u32,
        };
        self.last = totals;
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// Oldest first.
    pub(crate) fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.samples.iter()
    }
}
