//! Messages over one link: in order, each once, repeated until they are acknowledged, and never more than fits.
//!
//! Whoever sends too much is not listened to until it has waited long enough; its own queue fills up, and it is told. Whoever acknowledges
//! nothing gets no more than its queue holds.

use std::collections::VecDeque;

use crate::packet::{BODY_BITS_MAX, FRAMES_MAX, Frame, MESSAGES_HEAD_BITS_MAX, Messages};
use crate::value::bucket::Bucket;
use crate::value::ids::Identity;
#[cfg(all(feature = "testing", feature = "simnet"))]
use crate::value::ids::PlayerId;
use crate::value::time::{Duration, Instant};

/// Greatest number of messages that wait for one remote, and of their bytes. Profiles are not counted: there is at most one that waits for
/// each player.
const WAITING_MAX: usize = 128;
const WAITING_BYTES_MAX: usize = 64 << 10;

/// Greatest number of frames that are sent without being acknowledged.
const FLIGHT_MAX: u32 = 32;

/// Shortest time between two packets of messages over one link.
const GAP: Duration = Duration::from_millis(10);

/// Shortest and longest time after which the oldest frame is sent again; it doubles each time.
const AGAIN_MIN: Duration = Duration::from_millis(150);
const AGAIN_MAX: Duration = Duration::from_secs(2);

/// What one sender may send: so many bytes per second, and so many at once. Each frame costs [`FRAME_COST`] besides its bytes.
const BYTES_PER_SECOND: u64 = 4_096;
const BYTES_AT_ONCE: u64 = 16_384;
const FRAME_COST: u64 = 64;

/// What one sender may still send.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget(Bucket);

impl Budget {
    /// Takes the price of a frame out. Returns false, and takes nothing, if it is too much now.
    pub(super) fn take(&mut self, frame: &Frame, now: Instant) -> bool {
        let bytes = match frame {
            Frame::Profile { bytes, .. } | Frame::Message { bytes, .. } => bytes.len() as u64,
            Frame::Undelivered { .. } => 0,
        };
        let span = |bytes: u64| Duration::from_micros(bytes * 1_000_000 / BYTES_PER_SECOND);
        self.0.take(now, span(bytes + FRAME_COST), span(BYTES_AT_ONCE)).is_ok()
    }
}

/// Both directions of one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    /// The nonce of the link: another link of the same peer begins anew.
    pub(super) nonce: u64,
    /// Whose link it is.
    pub(super) remote: Option<Identity>,
    /// Frames that the remote has not acknowledged, oldest first, and the number of the first one.
    waiting: VecDeque<Frame>,
    first: u32,
    /// Bytes and number of the messages among them.
    bytes: usize,
    messages: usize,
    /// Number of frames from the first one on that have been sent since it was the first, or was sent again.
    sent: u32,
    /// The same, but not counted anew when they are sent again: the remote may have these already, so they stay as they are.
    fixed: u32,
    /// When a packet was last sent.
    sent_at: Option<Instant>,
    /// Since when the oldest frame waits for its acknowledgement, and how often it was sent again.
    since: Instant,
    tries: u32,
    /// Number of the next frame of the remote.
    expected: u32,
    /// The remote is to be told of it.
    owes_ack: bool,
    /// What the remote may send.
    pub(super) budget: Budget,
    /// The remote has shown its profile over this link.
    pub(super) has_shown: bool,
}

impl Channel {
    pub(super) fn new(nonce: u64) -> Self {
        Self { nonce, ..Self::default() }
    }

    /// For another link of the same peer. What the remote may send stays as it was, because a hello costs little. Returns the frames that the former
    /// link has not acknowledged, each with whose link it was.
    pub(super) fn begin_again(
        &mut self,
        nonce: u64,
    ) -> impl Iterator<Item = (Option<Identity>, Frame)> + use<> {
        let budget = core::mem::take(&mut self.budget);
        let Self { remote, waiting, .. } =
            core::mem::replace(self, Self { nonce, budget, ..Self::default() });
        waiting.into_iter().map(move |frame| (remote, frame))
    }

    /// Whether messages wait to be acknowledged.
    pub(super) fn has_messages(&self) -> bool {
        self.messages > 0
    }

    /// Whether a player's profile waits to be acknowledged.
    #[cfg(all(feature = "testing", feature = "simnet"))]
    pub(super) fn has_profile(&self, player: PlayerId) -> bool {
        self.waiting.iter().any(|frame| matches!(frame, Frame::Profile { player: of, .. } if *of == player))
    }

    /// Appends a frame. Returns false if there is no room for it.
    pub(super) fn push(&mut self, frame: Frame) -> bool {
        match &frame {
            Frame::Profile { player, .. } => {
                // What was not sent yet is of no interest any more.
                let is_same =
                    |old: &&mut Frame| matches!(old, Frame::Profile { player: other, .. } if other == player);
                if let Some(old) = self.waiting.iter_mut().skip(self.fixed as usize).find(is_same) {
                    *old = frame;
                    return true;
                }
            }
            Frame::Undelivered { players } => {
                for old in self.waiting.iter_mut().skip(self.fixed as usize) {
                    if let Frame::Undelivered { players: others } = old {
                        *others |= players;
                        return true;
                    }
                }
            }
            Frame::Message { bytes, .. } => {
                if self.messages >= WAITING_MAX || self.bytes + bytes.len() > WAITING_BYTES_MAX {
                    return false;
                }
                (self.messages, self.bytes) = (self.messages + 1, self.bytes + bytes.len());
            }
        }
        self.waiting.push_back(frame);
        true
    }

    /// The remote has taken every frame below this number.
    fn acknowledge(&mut self, ack: u32, now: Instant) {
        let count = ack.wrapping_sub(self.first);
        // Only what was sent can have been taken.
        if count > self.fixed || count == 0 {
            return;
        }
        for frame in self.waiting.drain(..count as usize) {
            if let Frame::Message { bytes, .. } = frame {
                (self.messages, self.bytes) = (self.messages - 1, self.bytes - bytes.len());
            }
        }
        (self.first, self.sent) = (ack, self.sent.saturating_sub(count));
        self.fixed = self.fixed.saturating_sub(count);
        (self.since, self.tries) = (now, 0);
    }

    /// How long the oldest frame waits for its acknowledgement.
    fn patience(&self, round_trip: Duration) -> Duration {
        let first = (round_trip + round_trip).max(AGAIN_MIN);
        first.times(1 << self.tries.min(4)).min(AGAIN_MAX)
    }

    /// When the next packet is due.
    pub(super) fn due_at(&self, round_trip: Duration) -> Option<Instant> {
        let free = self.sent_at.map_or(Instant::ZERO, |at| at + GAP);
        let has_new = self.sent < FLIGHT_MAX && (self.sent as usize) < self.waiting.len();
        if self.owes_ack || has_new {
            return Some(free);
        }
        (self.sent > 0).then(|| free.max(self.since + self.patience(round_trip)))
    }

    /// The next packet.
    pub(super) fn packet(&mut self, round_trip: Duration, now: Instant) -> Messages {
        if self.sent > 0 && now.since(self.since) >= self.patience(round_trip) {
            (self.sent, self.tries) = (0, self.tries + 1);
        }
        let mut bits = MESSAGES_HEAD_BITS_MAX;
        let fits = |frame: &&Frame| {
            bits += frame.bits();
            bits <= BODY_BITS_MAX
        };
        let room = FLIGHT_MAX.saturating_sub(self.sent).min(FRAMES_MAX);
        let fresh = self.waiting.iter().skip(self.sent as usize).take(room as usize);
        let frames: Vec<Frame> = fresh.take_while(fits).cloned().collect();
        let first = if frames.is_empty() { 0 } else { self.first.wrapping_add(self.sent) };
        if self.sent == 0 {
            self.since = now;
        }
        self.sent += frames.len() as u32;
        self.fixed = self.fixed.max(self.sent);
        (self.owes_ack, self.sent_at) = (false, Some(now));
        Messages { ack: self.expected, first, frames }
    }

    /// A packet has arrived. Returns its frames that are new, in order; [`Channel::take`] notes each that is used.
    pub(super) fn receive(&mut self, packet: Messages, now: Instant) -> impl Iterator<Item = Frame> + use<> {
        self.acknowledge(packet.ack, now);
        let known = self.expected.wrapping_sub(packet.first);
        let count = packet.frames.len() as u32;
        self.owes_ack |= count > 0;
        // After a gap, or only what was taken long ago.
        let skipped = if known <= FLIGHT_MAX { known.min(count) } else { count };
        packet.frames.into_iter().skip(skipped as usize)
    }

    /// The next frame of the remote is taken.
    pub(super) fn take(&mut self) {
        self.expected = self.expected.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;
    use crate::packet::{Address, MESSAGE_BYTES_MAX};
    use crate::value::ids::{Identity, PlayerId};

    const RTT: Duration = Duration::from_millis(80);

    fn message(number: u32, length: usize) -> Frame {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.resize(length.max(4), 7);
        Frame::Message { from: Identity::Relay, to: Address::Receiver, bytes }
    }

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn every_message_arrives_once_and_in_order_over_a_bad_line() {
        for seed in 0..20 {
            let mut dice = Pcg32::seed_from_u64(seed);
            let mut ends = [Channel::new(1), Channel::new(1)];
            let mut flight: Vec<(u64, usize, Messages)> = Vec::new();
            let (mut given, mut taken) = ([0_u32; 2], [0_u32; 2]);
            for ms in 0..120_000 {
                for end in 0..2 {
                    if dice.next_u32() % 100 == 0 && given[end] < 300 {
                        let length = dice.next_u32() as usize % MESSAGE_BYTES_MAX;
                        given[end] += u32::from(ends[end].push(message(given[end], length)));
                    }
                    if ends[end].due_at(RTT).is_some_and(|due| due <= at(ms)) {
                        let packet = ends[end].packet(RTT, at(ms));
                        // A third is lost, some come twice, and they overtake each other.
                        for _ in 0..[0, 1, 2, 1, 0, 1][dice.next_u32() as usize % 6] {
                            flight.push((ms + 10 + u64::from(dice.next_u32() % 60), 1 - end, packet.clone()));
                        }
                    }
                }
                let (arrived, rest) = flight.into_iter().partition(|(due, ..)| *due <= ms);
                flight = rest;
                let arrived: Vec<(u64, usize, Messages)> = arrived;
                for (_, end, packet) in arrived {
                    for frame in ends[end].receive(packet, at(ms)) {
                        let Frame::Message { bytes, .. } = frame else { panic!("{frame:?}") };
                        assert_eq!(bytes[..4], taken[end].to_le_bytes(), "seed {seed}");
                        taken[end] += 1;
                        ends[end].take();
                    }
                }
            }
            assert_eq!(given, [300, 300], "seed {seed}");
            assert_eq!(taken, [300, 300], "seed {seed}");
        }
    }

    /// A profile was changed in the place of one that had been sent, and its number was known at the other end: the change was lost.
    #[test]
    fn the_newest_profile_arrives_also_after_repetitions() {
        let profile =
            |player: u8, value: u8| Frame::Profile { player: PlayerId(player), bytes: vec![value; 60] };
        let (mut sender, mut receiver) = (Channel::new(1), Channel::new(1));
        let mut shown = [0; 16];
        let mut hear = |receiver: &mut Channel, packet: Messages, ms: u64| {
            for frame in receiver.receive(packet, at(ms)) {
                let Frame::Profile { player, bytes } = frame else { panic!("{frame:?}") };
                shown[player.index()] = bytes[0];
                receiver.take();
            }
            shown
        };
        (0..16).for_each(|player| assert!(sender.push(profile(player, 1))));
        // All of them arrive, and the acknowledgement does not.
        let packet = sender.packet(RTT, at(0));
        hear(&mut receiver, packet, 10);
        (0..16).for_each(|player| assert!(sender.push(profile(player, 2))));
        assert_eq!(sender.due_at(RTT), Some(at(10)));
        for ms in (200..2_000).step_by(10) {
            if sender.due_at(RTT).is_some_and(|due| due <= at(ms)) {
                let packet = sender.packet(RTT, at(ms));
                hear(&mut receiver, packet, ms);
                let answer = receiver.packet(RTT, at(ms));
                assert_eq!(sender.receive(answer, at(ms)).count(), 0);
            }
        }
        assert_eq!(hear(&mut receiver, Messages::default(), 2_000), [2; 16]);
    }

    #[test]
    fn a_remote_that_acknowledges_nothing_costs_one_queue() {
        let mut channel = Channel::new(1);
        let accepted = (0..10_000).filter(|number| channel.push(message(*number, 1_000))).count();
        assert_eq!(accepted, WAITING_BYTES_MAX / 1_000);
        let (mut packets, mut bits) = (0, 0);
        for ms in 0..60_000 {
            if channel.due_at(RTT).is_some_and(|due| due <= at(ms)) {
                let packet = channel.packet(RTT, at(ms));
                bits += packet.frames.iter().map(Frame::bits).sum::<u32>();
                packets += 1;
            }
        }
        // Up to 32 frames every two seconds, one in each packet.
        assert!(packets < 32 * 40 && bits / 8 < 60 * 20_000, "{packets} packets, {} bytes", bits / 8);
        // Profiles that wait replace each other.
        for number in 0..1_000 {
            let bytes = vec![number as u8; 3];
            assert!(channel.push(Frame::Profile { player: PlayerId((number % 16) as u8), bytes }));
        }
        assert!(channel.waiting.len() <= accepted + 16, "{}", channel.waiting.len());
    }

    #[test]
    fn a_sender_that_floods_is_heard_at_its_rate() {
        let mut budget = Budget::default();
        let second_of = |seconds: u64| seconds * BYTES_PER_SECOND / 100;
        let heard = |budget: &mut Budget, from: u64, to: u64| {
            (from..to).filter(|ms| budget.take(&message(0, 36), at(*ms))).count() as u64
        };
        let second = heard(&mut budget, 0, 1_000);
        let expected = BYTES_AT_ONCE / 100 + second_of(1)..=BYTES_AT_ONCE / 100 + second_of(1) + 2;
        assert!(expected.contains(&second), "{second}");
        let later = heard(&mut budget, 1_000, 11_000);
        assert!((second_of(10)..=second_of(10) + 2).contains(&later), "{later}");
    }

    #[test]
    fn numbers_out_of_nowhere_change_nothing() {
        let mut channel = Channel::new(1);
        (0..3).for_each(|number| assert!(channel.push(message(number, 8))));
        let _ = channel.packet(RTT, at(0));
        for ack in [4, 5, u32::MAX, 1 << 31] {
            let packet = Messages { ack, first: 0, frames: Vec::new() };
            assert_eq!(channel.receive(packet, at(1)).count(), 0);
            assert_eq!(channel.waiting.len(), 3, "{ack}");
        }
        for first in [1, 2, 77, u32::MAX, 1 << 31] {
            let packet = Messages { ack: 0, first, frames: vec![message(9, 8)] };
            assert_eq!(channel.receive(packet, at(1)).count(), 0, "{first}");
        }
        assert_eq!(channel.expected, 0);
        // One below and one above what was sent: another frame waits and was not sent yet.
        assert!(channel.push(message(3, 8)));
        for (ack, waiting) in [(4, 4), (2, 2), (3, 1), (4, 1)] {
            let packet = Messages { ack, first: 0, frames: Vec::new() };
            assert_eq!(channel.receive(packet, at(2)).count(), 0);
            assert_eq!(channel.waiting.len(), waiting, "{ack}");
        }
    }

    /// Each hello with another nonce filled the budget again.
    #[test]
    fn what_the_remote_may_send_stays_as_it_was_when_the_link_begins_again() {
        let mut channel = Channel::new(1);
        let mut heard = 0;
        for nonce in 2..200 {
            while channel.budget.take(&message(0, 1_000), at(5)) {
                heard += 1;
            }
            drop(channel.begin_again(nonce));
            assert_eq!(channel.nonce, nonce);
        }
        assert!((10..=20).contains(&heard), "{heard} messages of a thousand bytes at once");
    }
}
