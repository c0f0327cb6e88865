//! A limit of how often something happens.

use crate::value::time::{Duration, Instant};

/// A limit of how often something happens. It starts full.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    /// When it is full again.
    full_at: Instant,
}

impl Bucket {
    /// Takes one out: `burst` may be taken at once, and one more after each gap.
    ///
    /// # Errors
    /// It is empty for so long.
    pub(crate) fn take(&mut self, now: Instant, gap: Duration, burst: u64) -> Result<(), Duration> {
        let full_at = self.full_at.max(now) + gap;
        let ahead = full_at.since(now);
        if ahead > gap.times(burst) {
            return Err(ahead - gap.times(burst));
        }
        self.full_at = full_at;
        Ok(())
    }
}
