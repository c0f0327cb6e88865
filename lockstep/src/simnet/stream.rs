//! Both ends of a TCP connection, in one direction: which segment goes out again when, and what the receiver hands over.
//!
//! Sources: RFC 6298 (time-out and its backoff, Karn's rule), RFC 5681 and RFC 6675 (fast retransmit by selective acknowledgements), and for
//! the smallest time-out `tcp_rtt_estimator` of Linux, where 200 ms take the place of the clock granularity G.
//! What the model leaves out stands at [`super::Transport::Tcp`].

use std::collections::VecDeque;

use rand_pcg::Pcg32;

use super::line::Line;
use crate::value::time::{Duration, Instant};

/// The time-out before a round trip has been measured: RFC 6298, 2.1.
const TIMEOUT_FIRST: Duration = Duration::from_secs(1);

/// Least distance of the time-out from the smoothed round trip: `TCP_RTO_MIN` of Linux.
const MARGIN_MIN_US: u64 = 200_000;

/// Longest time-out: `TCP_RTO_MAX` of Linux.
const TIMEOUT_MAX_US: u64 = 120_000_000;

/// So many later segments have arrived before one counts as lost: RFC 5681.
const DUPLICATES: u32 = 3;

/// Segments that wait to be confirmed; then the sender's buffer is full and takes no more.
const BACKLOG_MAX: u64 = 4_096;

/// Doublings after which the time-out has reached its maximum from any start.
const BACKOFF_MAX: u32 = 10;

/// What sender and receiver know.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The luck of segments, and of acknowledgements.
    pub(super) way: Line,
    pub(super) back: Line,
    /// Not confirmed, oldest first.
    segments: VecDeque<Segment>,
    /// Number of the oldest of them.
    first: u64,
    /// The number that the receiver hands over next: at least `first`.
    wanted: u64,
    /// When the oldest segment goes out again.
    timer: Option<Instant>,
    /// The timer that was last given away by [`Stream::new_timer`].
    announced: Option<Instant>,
    /// Smoothed round trip and its variation, microseconds.
    round_trip: Option<(u64, u64)>,
    /// How often the time-out has been doubled.
    backoff: u32,
    /// What was sent before this number and is not confirmed was lost with the segment that timed out: it follows as soon as that one
    /// is confirmed, as in the slow start of RFC 5681, but all at once.
    recover: u64,
}

/// A packet, as a stream carries it.
#[derive(Clone, Debug)]
struct Segment {
    /// Empty when the receiver has handed it over.
    bytes: Vec<u8>,
    length: u64,
    sent_at: Instant,
    /// It has been sent again; if that is lost, too, only the time-out helps. What its acknowledgement measures is not known to be its
    /// round trip: Karn's rule.
    is_resent: bool,
    received_at: Option<Instant>,
    /// The sender knows that it was received.
    is_known: bool,
}

/// What a receiver tells: it has everything before `wanted`, and whatever else it had received when it said so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ack {
    wanted: u64,
    /// The segment that it answers.
    number: u64,
    said_at: Instant,
}

impl Stream {
    /// `number` tells this direction from others.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let line = |name: &[u8; 8]| Line::new(Pcg32::new(seed ^ u64::from_le_bytes(*name), number));
        Self {
            way: line(b"segments"),
            back: line(b"confirms"),
            segments: VecDeque::new(),
            first: 0,
            wanted: 0,
            timer: None,
            announced: None,
            round_trip: None,
            backoff: 0,
            recover: 0,
        }
    }

    /// Takes a packet to send; its number, unless the buffer is full.
    pub(super) fn push(&mut self, now: Instant, bytes: Vec<u8>) -> Option<u64> {
        let waiting = self.segments.len() as u64;
        if waiting >= BACKLOG_MAX {
            return None;
        }
        self.segments.push_back(Segment {
            length: bytes.len() as u64,
            bytes,
            sent_at: now,
            is_resent: false,
            received_at: None,
            is_known: false,
        });
        if self.timer.is_none() {
            self.timer = Some(now + self.timeout());
        }
        Some(self.first + waiting)
    }

    /// Bytes of a segment.
    pub(super) fn length(&self, number: u64) -> u64 {
        self.place(number).map_or(0, |place| self.segments[place].length)
    }

    /// A segment arrives: what can be handed over now, and the receiver's answer.
    pub(super) fn receive(&mut self, now: Instant, number: u64) -> (Vec<Vec<u8>>, Ack) {
        if let Some(place) = self.place(number) {
            self.segments[place].received_at.get_or_insert(now);
        }
        let mut ready = Vec::new();
        while let Some(place) = self.place(self.wanted)
            && self.segments[place].received_at.is_some()
        {
            ready.push(core::mem::take(&mut self.segments[place].bytes));
            self.wanted += 1;
        }
        (ready, Ack { wanted: self.wanted, number, said_at: now })
    }

    /// An acknowledgement arrives: the segments that are lost by all appearances.
    pub(super) fn confirm(&mut self, now: Instant, ack: Ack) -> Vec<u64> {
        let answered = self.place(ack.number).map(|place| &self.segments[place]);
        if let Some(sent_at) = answered.filter(|segment| !segment.is_resent).map(|segment| segment.sent_at) {
            self.measure(now.since(sent_at).as_micros());
        }
        let mut recover = 0;
        if ack.wanted > self.first {
            self.segments.drain(..(ack.wanted - self.first) as usize);
            self.first = ack.wanted;
            self.timer = (!self.segments.is_empty()).then(|| now + self.timeout());
            recover = core::mem::take(&mut self.recover);
        }
        let mut lost = Vec::new();
        let mut later = 0;
        for (place, segment) in self.segments.iter_mut().enumerate().rev() {
            let number = self.first + place as u64;
            segment.is_known |= segment.received_at.is_some_and(|at| at <= ack.said_at);
            if segment.is_known {
                later += 1;
            } else if number < recover || (later >= DUPLICATES && !segment.is_resent) {
                segment.is_resent = true;
                lost.push(number);
            }
        }
        lost.reverse();
        lost
    }

    /// A timer goes off: the segment to send again, unless the timer has been set to another time.
    pub(super) fn time_out(&mut self, now: Instant) -> Option<u64> {
        if self.timer != Some(now) {
            return None;
        }
        self.segments.front_mut()?.is_resent = true;
        self.backoff = (self.backoff + 1).min(BACKOFF_MAX);
        self.timer = Some(now + self.timeout());
        self.recover = self.first + self.segments.len() as u64;
        Some(self.first)
    }

    /// When to call [`Stream::time_out`], if that has changed since the last time.
    pub(super) fn new_timer(&mut self) -> Option<Instant> {
        let changed = self.timer != self.announced;
        self.announced = self.timer;
        self.timer.filter(|_| changed)
    }

    /// Segments that have not been handed over.
    pub(super) fn undelivered(&self) -> u64 {
        self.first + self.segments.len() as u64 - self.wanted
    }

    /// Segments that have arrived and wait for one before them.
    pub(super) fn held_back(&self) -> u64 {
        let handed_over = (self.wanted - self.first) as usize;
        let waiting = self.segments.iter().skip(handed_over);
        waiting.filter(|segment| segment.received_at.is_some()).count() as u64
    }

    fn place(&self, number: u64) -> Option<usize> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (place < self.segments.len()).then_some(place)
    }

    /// RFC 6298, 2.2 and 2.3. A measurement also ends the doubling.
    fn measure(&mut self, round_trip: u64) {
        self.round_trip = Some(match self.round_trip {
            None => (round_trip, round_trip / 2),
            Some((smoothed, variation)) => {
                ((7 * smoothed + round_trip) / 8, (3 * variation + smoothed.abs_diff(round_trip)) / 4)
            }
        });
        self.backoff = 0;
    }

    fn timeout(&self) -> Duration {
        let single = self.round_trip.map_or(TIMEOUT_FIRST.as_micros(), |(smoothed, variation)| {
            smoothed + (4 * variation).max(MARGIN_MIN_US)
        });
        Duration::from_micros((single << self.backoff).min(TIMEOUT_MAX_US))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinkSettings, PPM, SimNet, SimNetStats, Transport};
    use super::*;

    const TCP: LinkSettings =
        LinkSettings { latency: Duration::from_millis(50), transport: Transport::Tcp, ..PERFECT };

    const PERFECT: LinkSettings = LinkSettings {
        latency: Duration::ZERO,
        jitter: Duration::ZERO,
        loss_ppm: 0,
        duplicate_ppm: 0,
        reorder_ppm: 0,
        reorder_hold: Duration::ZERO,
        corrupt_ppm: 0,
        burst_ppm: 0,
        burst_length: Duration::ZERO,
        bytes_per_second: 0,
        transport: Transport::Udp,
    };

    const DEAD: LinkSettings = LinkSettings { loss_ppm: PPM, ..TCP };

    fn ms(at: u64) -> Instant {
        Instant::from_millis(at)
    }

    /// Arrivals up to a point of time, in milliseconds, with the first byte of each packet.
    fn arrivals(net: &mut SimNet, until: Instant) -> Vec<(u64, u8)> {
        let mut seen = Vec::new();
        while let Some(at) = net.next_delivery().filter(|at| *at <= until) {
            while let Some(delivery) = net.receive(at) {
                seen.push((at.as_micros() / 1_000, delivery.bytes[0]));
            }
        }
        seen
    }

    #[test]
    fn one_lost_packet_holds_back_all_behind_it_for_three_more_and_a_round_trip() {
        let mut net = SimNet::new(1);
        let mut seen = Vec::new();
        for number in 0..40_u8 {
            let now = ms(u64::from(number) * 10);
            net.set_default(TCP);
            seen.extend(arrivals(&mut net, now));
            if number == 10 {
                net.set_link(0, 1, DEAD);
            }
            net.send(now, 0, 1, &[number]);
            net.set_link(0, 1, TCP);
            if number == 27 {
                assert_eq!(net.held_back(), 12, "11 to 22 have arrived by 270 ms");
            }
        }
        seen.extend(arrivals(&mut net, ms(10_000)));
        // Sent at 100 ms. The third packet after it arrives at 180 ms, says so at 230 ms, and what goes out then arrives at 280 ms.
        let expected = (0..40_u8).map(|number| match number {
            10..=22 => (280, number),
            _ => (u64::from(number) * 10 + 50, number),
        });
        assert_eq!(seen, expected.collect::<Vec<_>>());
        assert_eq!((net.stats().sent, net.stats().resent, net.stats().lost), (41, 1, 1));
    }

    #[test]
    fn alone_a_lost_packet_waits_for_the_timeout_and_that_doubles() {
        let mut net = SimNet::new(1);
        net.set_default(TCP);
        net.send(ms(0), 0, 1, &[0]);
        assert_eq!(arrivals(&mut net, ms(999)), [(50, 0)]);
        // One measurement of 100 ms, variation 50 ms: the time-out is 300 ms.
        net.set_link(0, 1, DEAD);
        net.send(ms(1_000), 0, 1, &[1]);
        assert_eq!(arrivals(&mut net, ms(1_500)), []);
        assert_eq!(net.stats().resent, 1, "at 1,300 ms, lost again");
        net.set_link(0, 1, TCP);
        assert_eq!(arrivals(&mut net, ms(60_000)), [(1_950, 1)], "600 ms later, and 50 ms on the way");
        // What was sent again measures nothing: the next one starts from 300 ms doubled twice.
        net.set_link(0, 1, DEAD);
        net.send(ms(60_000), 0, 1, &[2]);
        assert_eq!(arrivals(&mut net, ms(61_199)), []);
        assert_eq!(net.stats().resent, 2);
        assert_eq!(arrivals(&mut net, ms(61_200)), []);
        assert_eq!(net.stats().resent, 3);
    }

    /// 3,000 packets, 16 ms apart, over a network that does everything.
    fn run(seed: u64) -> (Vec<(Instant, Vec<u8>)>, SimNetStats) {
        let mut net = SimNet::new(seed);
        net.set_default(LinkSettings {
            jitter: Duration::from_millis(25),
            loss_ppm: 200_000,
            duplicate_ppm: 50_000,
            reorder_ppm: 100_000,
            reorder_hold: Duration::from_millis(30),
            corrupt_ppm: 10_000,
            burst_ppm: 1_000,
            burst_length: Duration::from_millis(300),
            bytes_per_second: 50_000,
            ..TCP
        });
        let mut seen = Vec::new();
        for number in 0..3_000_u32 {
            let now = ms(u64::from(number) * 16);
            while let Some(at) = net.next_delivery().filter(|at| *at <= now) {
                seen.extend(core::iter::from_fn(|| net.receive(at)).map(|delivery| (at, delivery.bytes)));
            }
            net.send(now, 0, 1, &number.to_le_bytes());
        }
        while let Some(at) = net.next_delivery() {
            seen.extend(core::iter::from_fn(|| net.receive(at)).map(|delivery| (at, delivery.bytes)));
        }
        assert_eq!((net.in_flight(), net.held_back()), (0, 0));
        (seen, net.stats())
    }

    #[test]
    fn everything_arrives_once_whole_and_in_order_and_a_seed_is_a_fate() {
        let (seen, stats) = run(11);
        let numbers: Vec<Vec<u8>> = (0..3_000_u32).map(|number| number.to_le_bytes().to_vec()).collect();
        assert_eq!(seen.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>(), numbers);
        assert!(seen.is_sorted_by_key(|(at, _)| *at));
        assert!(stats.lost > 500 && stats.corrupted > 10 && stats.lost_in_bursts > 10, "{stats:?}");
        assert_eq!(stats.sent, 3_000 + stats.resent);
        assert!(stats.resent >= stats.lost + stats.lost_in_bursts + stats.corrupted, "{stats:?}");
        assert_eq!(stats.delivered, 3_000);
        assert_eq!(run(11).0, seen);
        assert_ne!(run(12).0, seen);
    }

    #[test]
    fn a_cut_link_fills_the_buffer_and_heals() {
        let mut net = SimNet::new(1);
        net.set_default(TCP);
        net.set_partition(&[1]);
        for number in 0..5_000_u64 {
            net.send(ms(number), 0, 1, &[number as u8]);
        }
        assert_eq!(arrivals(&mut net, ms(5_000)), []);
        assert_eq!((net.in_flight(), net.stats().lost_in_queues), (BACKLOG_MAX, 5_000 - BACKLOG_MAX));
        net.set_partition(&[]);
        // Time-outs at 1, 3 and 7 s; the third gets through, is confirmed at 7.1 s, and the rest follows.
        let seen = arrivals(&mut net, ms(8_000));
        let expected = (0..BACKLOG_MAX).map(|number| (if number == 0 { 7_050 } else { 7_150 }, number as u8));
        assert_eq!(seen, expected.collect::<Vec<_>>());
    }

    #[test]
    fn over_a_perfect_link_both_transports_are_alike_and_a_change_is_for_the_next_packet() {
        let mut net = SimNet::new(1);
        net.set_default(TCP);
        net.send(ms(0), 0, 1, &[0]);
        net.set_default(LinkSettings { transport: Transport::Udp, ..TCP });
        net.send(ms(1), 0, 1, &[1]);
        net.set_default(TCP);
        net.send(ms(2), 0, 1, &[2]);
        assert_eq!(arrivals(&mut net, ms(1_000)), [(50, 0), (51, 1), (52, 2)]);
        assert_eq!(net.stats().resent, 0);
    }
}
