//! What a relay allows.

use testudo_lockstep::transport::places::Bucket;
use testudo_lockstep::{Duration, Instant};

/// Limits of a relay. Whatever clients do, it uses no more than this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Rooms at once.
    pub(crate) rooms_max: usize,
    /// Rooms at once that were opened from one address.
    pub(crate) rooms_per_address_max: usize,
    /// Watchers of one room at once.
    pub(crate) watchers_max: u32,
    /// How much later than the players they get everything.
    pub(crate) watch_delay: Duration,
    /// Bytes of one match's state on its way to somebody who joins.
    pub(crate) state_bytes_max: u32,
    /// Bytes of states in all rooms together.
    pub(crate) states_bytes_max: u64,
    /// Time in which everybody must come to a new room.
    pub(crate) lobby: Duration,
    /// A room without any connection ends after this time.
    pub(crate) idle: Duration,
    /// A room ends after this time whatever happens in it.
    pub(crate) age_max: Duration,
    /// Time that running matches have after the relay was told to stop.
    pub(crate) drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rooms_max: 200,
            rooms_per_address_max: 16,
            watchers_max: 16,
            watch_delay: Duration::ZERO,
            state_bytes_max: 16 << 20,
            states_bytes_max: 256 << 20,
            lobby: Duration::from_secs(600),
            idle: Duration::from_secs(60),
            age_max: Duration::from_secs(12 * 3_600),
            drain: Duration::from_secs(600),
        }
    }
}

/// Packets per second that one connection may send. A player sends 20 to 70; a player who sends its state, some 500 more.
const RATE: u64 = 1_000;

/// Packets that it may send at once.
const BURST: u64 = 1_000;

/// A connection that has sent so many packets too many is closed, and its player dropped: orders are among the packets that are not looked at, and
/// the others wait for them. Nobody honest has one too many: the transport keeps at most 512 packets of a connection, which is less than a
/// burst, however long this process has stood.
pub(crate) const EXCESS_MAX: u32 = 1_000;

/// Takes one packet of a connection out; false if there are too many.
pub(crate) fn take_packet(bucket: &mut Bucket, now: Instant) -> bool {
    bucket.take(now, Duration::from_micros(1_000_000 / RATE), BURST).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_to_the_rate() {
        let mut bucket = Bucket::default();
        let mut taken = 0;
        for packet in 0..100_000_u64 {
            // 20,000 packets per second for 5 s.
            taken += u64::from(take_packet(&mut bucket, Instant::from_micros(packet * 50)));
        }
        assert!((BURST + 5 * RATE - 2..=BURST + 5 * RATE).contains(&taken), "{taken}");
    }
}
