//! A limit of how often something happens, and whom it is for.

#[cfg(any(feature = "codes", feature = "sealed"))]
use core::net::IpAddr;

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

/// What one customer of a network provider can choose from: an address of version 4, or a /64 network of version 6.
#[cfg(any(feature = "codes", feature = "sealed"))]
pub(crate) fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}
