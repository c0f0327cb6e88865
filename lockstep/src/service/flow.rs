//! How many packets the middle of a star takes from one connection.

use crate::value::bucket::Bucket;
use crate::value::entry::SPEED_PERCENT_MAX;
use crate::value::time::{Duration, Instant};

/// Packets per second that one connection may send at least. At 20 frames per second a player sends 20 to 70; one that gives its state, some 500 more.
const RATE_MIN: u64 = 1_000;

/// Packets per second besides those of turns: 486 of a state, at 500,000 bytes per second with the packets that promise it; 100 of messages; 20 of who
/// receives a state.
const BESIDES: u64 = 700;

/// Packets that carry what one frame has to say, if it does not fit into one.
const PACKETS_OF_FRAME: u64 = 4;

/// Packets that it may send at once. The transport keeps at most 512 packets of a connection, however long this process has stood.
const BURST: u64 = 1_000;

/// A connection that has sent so many packets too many is closed with the next one, and its player dropped: orders are among the packets that are not
/// looked at, and the others wait for them.
const EXCESS_MAX: u64 = 1_000;

/// One of these is forgotten each time: a connection that lasts for a day is not closed for what adds up in it.
const EXCESS_GAP: Duration = Duration::from_millis(100);

/// What has come by one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// Time that each packet costs.
    gap: Duration,
    bucket: Bucket,
    /// Packets that were too many.
    excess: Bucket,
    is_closed: bool,
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
    /// Of a connection to a match with so many frames per second.
    pub(crate) fn new(frames_per_second: u32) -> Self {
        Self {
            gap: Duration::from_micros(1_000_000 / rate(frames_per_second)),
            bucket: Bucket::default(),
            excess: Bucket::default(),
            is_closed: false,
        }
    }

    /// A packet has come.
    pub(crate) fn take(&mut self, now: Instant) -> Verdict {
        if self.bucket.take(now, self.gap, self.gap.times(BURST)).is_ok() {
            return Verdict::Take;
        }
        let is_much = self.excess.take(now, EXCESS_GAP, EXCESS_GAP.times(EXCESS_MAX)).is_err();
        if is_much && !core::mem::replace(&mut self.is_closed, true) {
            Verdict::Close
        } else {
            Verdict::Leave
        }
    }
}

/// Packets per second that nobody honest exceeds in a match with so many frames per second. A player sends once for each turn that it closes, and a turn is
/// one frame at least; nobody sends more often than that, or than once per frame at the usual speed.
fn rate(frames_per_second: u32) -> u64 {
    let frames = u64::from(frames_per_second.max(1));
    // Turns by the article's rule have frames of whole milliseconds.
    let turns = (1_000 / (1_000 / frames).max(1)).max(frames) * u64::from(SPEED_PERCENT_MAX) / 100;
    (BESIDES + PACKETS_OF_FRAME * turns).max(RATE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of so many packets per second, evenly spread, for so many seconds: those that were taken, and when it was closed.
    fn send(flow: &mut Flow, per_second: u64, seconds: u64) -> (u64, Option<u64>) {
        let (mut taken, mut closed_ms) = (0, None);
        for packet in 0..per_second * seconds {
            let micros = packet * 1_000_000 / per_second;
            match flow.take(Instant::from_micros(micros)) {
                Verdict::Take => taken += 1,
                Verdict::Leave => {}
                Verdict::Close => assert_eq!(closed_ms.replace(micros / 1_000), None, "it is said once"),
            }
        }
        (taken, closed_ms)
    }

    #[test]
    fn a_flood_is_cut_to_the_rate() {
        let (taken, closed) = send(&mut Flow::new(20), 20_000, 5);
        assert!((BURST + 5 * RATE_MIN - 2..=BURST + 5 * RATE_MIN).contains(&taken), "{taken}");
        assert!(closed.is_some());
    }

    /// Nothing told the limit from one that was half or twice as high.
    #[test]
    fn the_limit_is_where_it_is_said_to_be() {
        let at = Instant::from_millis(5);
        let verdicts = |flow: &mut Flow, count: u64| (0..count).map(|_| flow.take(at)).collect::<Vec<_>>();
        let mut flow = Flow::new(20);
        assert!(verdicts(&mut flow, BURST).iter().all(|verdict| *verdict == Verdict::Take));
        assert!(verdicts(&mut flow, EXCESS_MAX).iter().all(|verdict| *verdict == Verdict::Leave));
        assert_eq!(verdicts(&mut flow, 3), [Verdict::Close, Verdict::Leave, Verdict::Leave]);
        // As many as may come, and one more per second.
        let day = 20_000;
        assert_eq!(send(&mut Flow::new(20), RATE_MIN, day), (RATE_MIN * day, None));
        let (taken, closed) = send(&mut Flow::new(20), RATE_MIN + 1, day);
        assert!(taken < (RATE_MIN + 1) * day && closed.is_none(), "{taken} {closed:?}");
        // Ten more are as many as are forgotten.
        assert_eq!(send(&mut Flow::new(20), RATE_MIN + 9, 2_000).1, None);
        assert!(send(&mut Flow::new(20), RATE_MIN + 12, 2_000).1.is_some());
    }

    /// A connection had a thousand packets too many for ever: two short floods an hour apart closed it.
    #[test]
    fn what_was_too_much_long_ago_is_forgotten() {
        let mut flow = Flow::new(20);
        for hour in 0..24 {
            let at = Instant::from_millis(3_600_000 * hour);
            let verdicts: Vec<Verdict> = (0..BURST + EXCESS_MAX - 100).map(|_| flow.take(at)).collect();
            assert!(!verdicts.contains(&Verdict::Close), "{hour}");
        }
    }

    #[test]
    fn the_rate_is_that_of_the_frames() {
        let rates = [1, 20, 30, 60, 144, 240, 501, 1_000].map(rate);
        assert_eq!(rates, [1_000, 1_000, 1_000, 1_320, 2_360, 3_200, 10_700, 10_700]);
    }
}
