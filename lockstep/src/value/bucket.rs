//! A limit of how often something happens, or of how much.

use crate::value::time::{Duration, Instant};

/// A limit of how often something happens, or of how much. It starts full, and time fills it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    /// When it is full again.
    full_at: Instant,
}

impl Bucket {
    /// Takes out what comes back in `price`: of a full one as much as comes back in `most`.
    ///
    /// # Errors
    /// There is too little in it for so long. Then nothing is taken.
    pub(crate) fn take(&mut self, now: Instant, price: Duration, most: Duration) -> Result<(), Duration> {
        let full_at = self.full_at.max(now) + price;
        let ahead = full_at.since(now);
        if ahead > most {
            return Err(ahead - most);
        }
        self.full_at = full_at;
        Ok(())
    }

    /// Whether all is in it again.
    #[cfg(feature = "sealed")]
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.full_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_may_be_taken_as_comes_back() {
        let ms = Duration::from_millis;
        let mut bucket = Bucket::default();
        let mut take = |at: u64, price: u64| bucket.take(Instant::from_millis(at), ms(price), ms(30));
        assert_eq!([take(5, 10), take(5, 10), take(5, 10)], [Ok(()); 3]);
        assert_eq!((take(5, 10), take(5, 1)), (Err(ms(10)), Err(ms(1))));
        assert_eq!((take(14, 10), take(15, 10), take(15, 10)), (Err(ms(1)), Ok(()), Err(ms(10))));
        // More than it holds is never there, and time beyond a full one is not kept.
        assert_eq!((take(1_000, 31), take(1_000, 30), take(1_000, 1)), (Err(ms(1)), Ok(()), Err(ms(1))));
    }
}
