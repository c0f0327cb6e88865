//! Sends a state to one remote: chooses the next chunk, and the rate.
//!
//! The rate starts low, grows while chunks get through, and falls when they take longer than necessary: then they wait in a queue, and
//! orders would wait behind them.

use crate::packet::Want;
use crate::session::transfer::blob::Blob;
use crate::value::time::{Duration, Instant};

/// Greatest number of chunks in flight: the range of a [`Want`].
const FLIGHT_MAX: u32 = 512;

/// Bytes per second that are always tried.
const RATE_MIN: u32 = 16_000;

/// Chunks that take this much longer than the quickest one are waiting in a queue.
const QUEUED: Duration = Duration::from_millis(150);

/// Time between two changes of the rate.
const ADAPT_EVERY: Duration = Duration::from_millis(50);

/// A chunk is repeated after this time while the round trip is unknown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Bytes that may be sent at once if the caller comes late, as a time at the present rate.
const BURST: Duration = Duration::from_millis(20);

/// Time between two repetitions of the manifest, until the remote knows it.
const PROMISE_EVERY: Duration = Duration::from_millis(100);

/// Bytes of a packet besides its chunk, including UDP and IP headers.
const OVERHEAD: u32 = 48;

/// A limit of bytes per second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateLimit {
    free_at: Instant,
}

impl RateLimit {
    pub(crate) fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Counts the bytes of a chunk.
    pub(crate) fn spend(&mut self, bytes: u32, rate: u32, now: Instant) {
        let micros = u64::from(bytes + OVERHEAD) * 1_000_000 / u64::from(rate.max(1));
        let oldest = Instant::from_micros(now.as_micros().saturating_sub(BURST.as_micros()));
        self.free_at = self.free_at.max(oldest) + Duration::from_micros(micros);
    }
}

/// One remote that receives a state.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// Whether the remote knows the manifest.
    pub(crate) is_known: bool,
    /// When the remote last reported progress.
    pub(crate) progress: Instant,
    /// When each chunk was last sent.
    sent: Vec<Option<Instant>>,
    /// When a chunk was last sent.
    served: Option<Instant>,
    /// All chunks below this number have arrived there.
    next: u32,
    received: u32,
    /// Chunks after `next` that have arrived there, as in a [`Want`].
    have: [u64; FLIGHT_MAX as usize / 64],
    rate: u32,
    limit: RateLimit,
    round_trip: Option<Duration>,
    quickest: Duration,
    adapted: Instant,
    promised: Option<Instant>,
    /// The remote wants another state, or asks for one: it has lost the manifest of this one, or got a late copy of another one's.
    reminds: bool,
}

impl Sender {
    /// `rate_max` in bytes per second.
    pub(crate) fn new(rate_max: u32, now: Instant) -> Self {
        Self {
            is_known: false,
            progress: now,
            sent: Vec::new(),
            served: None,
            next: 0,
            received: 0,
            have: [0; FLIGHT_MAX as usize / 64],
            rate: (rate_max / 8).max(RATE_MIN).min(rate_max),
            limit: RateLimit::default(),
            round_trip: None,
            quickest: Duration::from_secs(60),
            adapted: now,
            promised: None,
            reminds: false,
        }
    }

    /// The remote reports what it has.
    pub(crate) fn heard(&mut self, want: &Want, rate_max: u32, now: Instant) {
        (self.is_known, self.reminds) = (true, false);
        if want.received > self.received || want.next > self.next {
            self.progress = now;
        }
        // A damaged block reduces the number.
        (self.received, self.next) = (want.received, want.next);
        self.have = [0; FLIGHT_MAX as usize / 64];
        self.have[..want.have.len()].copy_from_slice(&want.have);
        let passed = (now.as_micros() / 1_000) as u16;
        let round_trip = passed.wrapping_sub(want.echo_ms).wrapping_sub(want.held_ms);
        if want.received == 0 || round_trip > 20_000 {
            return;
        }
        let round_trip = Duration::from_millis(u64::from(round_trip));
        self.quickest = self.quickest.min(round_trip);
        self.round_trip = Some(round_trip);
        if now.since(self.adapted) < ADAPT_EVERY {
            return;
        }
        let is_queued = round_trip > self.quickest + QUEUED;
        if !is_queued {
            self.rate = self.rate.saturating_add(self.rate / 8);
            self.adapted = now;
        } else if now.since(self.adapted) >= round_trip {
            self.rate -= self.rate / 4;
            self.adapted = now;
        }
        self.rate = self.rate.max(RATE_MIN).min(rate_max);
    }

    /// The next chunk to send, and its earliest time. None while there is none.
    pub(crate) fn due(&self, blob: &Blob) -> Option<(u32, Instant)> {
        if !self.is_known {
            return None;
        }
        let mut due: Option<(u32, Instant)> = None;
        let end = blob.chunks().min(self.next.saturating_add(FLIGHT_MAX));
        for index in (self.next..end).filter(|&index| !self.is_there(index) && blob.chunk(index).is_some()) {
            let sent = self.sent.get(index as usize).copied().flatten();
            let at = sent.map_or(Instant::ZERO, |sent| sent + self.patience());
            if due.is_none_or(|due| at < due.1) {
                due = Some((index, at));
            }
            if at == Instant::ZERO {
                break;
            }
        }
        due.map(|(index, at)| (index, at.max(self.limit.free_at())))
    }

    /// When this remote was last sent a chunk. Among remotes whose chunks are due at the same time, the one that has waited longest comes first.
    pub(crate) fn served(&self) -> Option<Instant> {
        self.served
    }

    /// The remote knows no more of this state: the manifest is sent once more, beside the chunks.
    pub(crate) fn remind(&mut self) {
        self.reminds = self.is_known;
    }

    /// When the manifest is sent (again). None: the remote knows it.
    pub(crate) fn promise_at(&self) -> Option<Instant> {
        let is_due = !self.is_known || self.reminds;
        is_due.then(|| self.promised.map_or(Instant::ZERO, |at| at + PROMISE_EVERY))
    }

    /// The manifest was sent.
    pub(crate) fn note_promised(&mut self, now: Instant) {
        (self.promised, self.reminds) = (Some(now), false);
    }

    /// A chunk was sent.
    pub(crate) fn note_sent(&mut self, index: u32, bytes: u32, now: Instant) {
        let index = index as usize;
        if self.sent.len() <= index {
            self.sent.resize(index + 1, None);
        }
        self.sent[index] = Some(now);
        self.served = Some(now);
        self.limit.spend(bytes, self.rate, now);
    }

    fn is_there(&self, index: u32) -> bool {
        let Some(behind) = index.checked_sub(self.next.saturating_add(1)) else { return false };
        self.have.get(behind as usize / 64).is_some_and(|word| word >> (behind % 64) & 1 == 1)
    }

    /// After this time an unconfirmed chunk counts as lost.
    fn patience(&self) -> Duration {
        let patience = |round_trip: Duration| Duration::from_micros(round_trip.as_micros() * 3 / 2) + QUEUED;
        self.round_trip.map_or(PATIENCE, patience).min(Duration::from_secs(3))
    }
}
