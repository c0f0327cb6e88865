//! How many packets the middle of a star takes from one connection.

use crate::service::bucket::Bucket;
use crate::value::time::{Duration, Instant};

/// Packets per second that one connection may send. A player sends 20 to 70; a player who sends its state, some 500 more.
const RATE: u64 = 1_000;

/// Packets that it may send at once.
const BURST: u64 = 1_000;

/// A connection that has sent so many packets too many is closed, and its player dropped: orders are among the packets that are not looked at, and
/// the others wait for them. Nobody honest has one too many: the transport keeps at most 512 packets of a connection, which is less than a
/// burst, however long this process has stood.
const EXCESS_MAX: u32 = 1_000;

/// What has come by one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flow {
    bucket: Bucket,
    /// Packets that were too many.
    excess: u32,
}

/// Whether a packet is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It is.
    Take,
    /// There are too many.
    Leave,
    /// There have been too many for long: the connection is to be closed. This is said once.
    Close,
}

impl Flow {
    /// A packet has come.
    pub(crate) fn take(&mut self, now: Instant) -> Verdict {
        if self.bucket.take(now, Duration::from_micros(1_000_000 / RATE), BURST).is_ok() {
            return Verdict::Take;
        }
        self.excess = self.excess.saturating_add(1);
        if self.excess == EXCESS_MAX { Verdict::Close } else { Verdict::Leave }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_to_the_rate() {
        let mut flow = Flow::default();
        let (mut taken, mut closed) = (0, 0);
        for packet in 0..100_000_u64 {
            // 20,000 packets per second for 5 s.
            let verdict = flow.take(Instant::from_micros(packet * 50));
            taken += u64::from(verdict == Verdict::Take);
            closed += u32::from(verdict == Verdict::Close);
        }
        assert!((BURST + 5 * RATE - 2..=BURST + 5 * RATE).contains(&taken), "{taken}");
        assert_eq!(closed, 1);
    }
}
