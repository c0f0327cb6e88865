//! How long a match has lasted.

use testudo_lockstep::{Duration, Instant};

/// When the match began for this seat, and when its last turn was over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    began: Option<Instant>,
    /// With the bytes that had been sent by then.
    ended: Option<(Instant, u64)>,
}

impl Span {
    pub(super) fn begin(&mut self, now: Instant) {
        self.began = Some(now);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    pub(super) fn end(&mut self, at: Instant, bytes_sent: u64) {
        self.ended.get_or_insert((at, bytes_sent));
    }

    /// How long it lasted, and the bytes that were sent in that time. A match that has not ended lasts until now.
    pub(super) fn length_and_bytes(&self, now: Instant, bytes_sent: u64) -> (Duration, u64) {
        let (end, bytes) = self.ended.unwrap_or((now, bytes_sent));
        (end.since(self.began.unwrap_or(end)), bytes)
    }
}
