//! Random numbers of a match: each kind of draw has a stream of its own, so what is drawn besides moves nothing that an old seed had.

use rand_core::Rng;
use rand_pcg::Pcg32;

/// Everything that is drawn: uniform, up to a bias below (length of the range) / 2^32.
pub(super) struct Dice(Pcg32);

impl Dice {
    pub(super) fn of(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    pub(super) fn between(&mut self, low: i32, high: i32) -> i32 {
        let span = (i64::from(high) - i64::from(low)).max(0) as u64 + 1;
        (i64::from(low) + ((u64::from(self.0.next_u32()) * span) >> 32) as i64) as i32
    }
}
