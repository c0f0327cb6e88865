//! A TCP connection between two nodes: both ends are `smoltcp`, the link between them is the simulated one.
//!
//! Every message goes into the stream after its length (two bytes, little-endian). Nagle's algorithm is off, so each message is a segment
//! of its own while the window has room. [`super::Transport::Tcp`] lists the differences from a kernel's TCP.

use core::fmt;
use std::collections::{BTreeSet, VecDeque};

use rand_pcg::Pcg32;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Packet, TcpPacket};

use super::one_way_link::OneWayLink;
use crate::value::time::Instant;

/// Bytes of a socket's buffer in each direction; Linux starts with the same.
const BUFFER_BYTES: usize = 64 << 10;

/// Greatest number of messages that wait for the socket; beyond that the sender's buffer is full.
const BACKLOG_MAX: usize = 4_096;

/// Largest message that fits into a socket's buffer with its length in front. That length has room for it in its two bytes.
const MESSAGE_BYTES_MAX: usize = BUFFER_BYTES - 2;

/// Like Ethernet.
const MTU: usize = 1_500;

const PORT: u16 = 7_000;

/// An end of a connection: the node with the lower number is 0.
pub(super) type Side = usize;

/// A connection that begins when its first message is sent.
pub(super) struct Connection {
    ends: [End; 2],
    /// What carries the packets of each side.
    pub(super) one_way_links: [OneWayLink; 2],
    began: bool,
}

struct End {
    interface: Interface,
    cable: Cable,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    /// Messages with their lengths that the socket has not taken yet.
    waiting: VecDeque<Vec<u8>>,
    /// Bytes read from the stream that are not a whole message yet.
    partial: Vec<u8>,
    sent: u64,
    received: u64,
    /// Sequence number after the last byte that was sent for the first time.
    sent_up_to: Option<u32>,
    /// Sequence number of the next byte to read; known since the other side's first packet.
    wanted: Option<u32>,
    /// Sequence numbers of segments that have arrived and were not read yet.
    ahead: BTreeSet<u32>,
    /// The timer that was reported last.
    timer: Option<Instant>,
}

/// What one end did in a call.
#[derive(Default)]
pub(super) struct Round {
    /// Messages that are ready for the application.
    pub(super) messages: Vec<Vec<u8>>,
    /// IP packets for the other end, and whether each repeats earlier bytes.
    pub(super) packets: Vec<(Vec<u8>, bool)>,
    /// When to run this end again, if that has changed.
    pub(super) timer: Option<Instant>,
}

impl Connection {
    /// `number` distinguishes this connection from others.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let one_way = |name: &[u8; 8]| OneWayLink::new(Pcg32::new(seed ^ u64::from_le_bytes(*name), number));
        Self {
            ends: [0, 1].map(|side| End::new(seed ^ number.rotate_left(32) ^ side as u64, side)),
            one_way_links: [one_way(b"segments"), one_way(b"confirms")],
            began: false,
        }
    }

    /// Takes a message to send; false if the buffer is full, or smaller than the message. [`Connection::run`] sends it.
    pub(super) fn push(&mut self, side: Side, bytes: &[u8]) -> bool {
        if !self.began {
            self.began = true;
            self.ends[1 - side].listen();
            self.ends[side].connect(1 - side);
        }
        let end = &mut self.ends[side];
        if end.waiting.len() >= BACKLOG_MAX || bytes.len() > MESSAGE_BYTES_MAX {
            return false;
        }
        let mut message = (bytes.len() as u16).to_le_bytes().to_vec();
        message.extend_from_slice(bytes);
        end.waiting.push_back(message);
        end.sent += 1;
        true
    }

    /// A packet arrives at one end.
    pub(super) fn arrive(&mut self, side: Side, packet: Vec<u8>) {
        let end = &mut self.ends[side];
        end.note_arrival(&packet);
        end.cable.inbox.push_back(packet);
    }

    /// Lets one end do what is due.
    pub(super) fn run(&mut self, side: Side, now: Instant) -> Round {
        self.ends[side].run(now)
    }

    /// Messages that were sent and not delivered, in both directions.
    pub(super) fn undelivered(&self) -> u64 {
        let [low, high] = &self.ends;
        (low.sent - high.received) + (high.sent - low.received)
    }

    /// Segments that have arrived and wait for an earlier one.
    pub(super) fn held_back(&self) -> u64 {
        self.ends.iter().map(|end| end.ahead.len() as u64).sum()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("undelivered", &self.undelivered()).finish_non_exhaustive()
    }
}

impl End {
    fn new(seed: u64, side: Side) -> Self {
        let mut cable = Cable::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut cable, smoltcp::time::Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            // The list is empty and has room for one.
            let _ = addresses.push(IpCidr::new(address(side), 24));
        });
        let buffer = || tcp::SocketBuffer::new(vec![0; BUFFER_BYTES]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        socket.set_congestion_control(tcp::CongestionControl::Reno);
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        Self {
            interface,
            cable,
            sockets,
            handle,
            waiting: VecDeque::new(),
            partial: Vec::new(),
            sent: 0,
            received: 0,
            sent_up_to: None,
            wanted: None,
            ahead: BTreeSet::new(),
            timer: None,
        }
    }

    fn listen(&mut self) {
        let listening = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle).listen(PORT);
        debug_assert!(listening.is_ok(), "{listening:?}");
    }

    fn connect(&mut self, other: Side) {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle);
        let connecting = socket.connect(self.interface.context(), (address(other), PORT), PORT + 1);
        debug_assert!(connecting.is_ok(), "{connecting:?}");
    }

    fn run(&mut self, now: Instant) -> Round {
        let at = smoltcp::time::Instant::from_micros(now.as_micros() as i64);
        let mut round = Round::default();
        loop {
            self.interface.poll(at, &mut self.cable, &mut self.sockets);
            self.read(&mut round.messages);
            // One message at a time, so that each is a segment of its own.
            if !self.write() {
                break;
            }
        }
        for packet in core::mem::take(&mut self.cable.outbox) {
            let is_resent = self.note_sent(&packet);
            round.packets.push((packet, is_resent));
        }
        let timer = self.interface.poll_at(at, &self.sockets);
        // Everything due now has been done; the network's clock has steps of a microsecond.
        let timer = timer
            .map(|timer| Instant::from_micros((timer.total_micros().max(0) as u64).max(now.as_micros() + 1)));
        if timer != self.timer {
            (self.timer, round.timer) = (timer, timer);
        }
        round
    }

    fn write(&mut self) -> bool {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle);
        let Some(message) = self.waiting.front() else { return false };
        if !socket.may_send() || socket.send_capacity() - socket.send_queue() < message.len() {
            return false;
        }
        let sent = socket.send_slice(message);
        debug_assert_eq!(sent, Ok(message.len()));
        self.waiting.pop_front();
        true
    }

    fn read(&mut self, messages: &mut Vec<Vec<u8>>) {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle);
        let before = self.partial.len();
        while socket.can_recv() {
            let taken = socket.recv(|bytes| {
                self.partial.extend_from_slice(bytes);
                (bytes.len(), ())
            });
            if taken.is_err() {
                break;
            }
        }
        let read = (self.partial.len() - before) as u32;
        if let Some(wanted) = &mut self.wanted {
            *wanted = wanted.wrapping_add(read);
            self.ahead.retain(|sequence| sequence.wrapping_sub(*wanted) as i32 > 0);
        }
        let mut start = 0;
        while let Some((length, rest)) = self.partial[start..].split_first_chunk::<2>() {
            let length = usize::from(u16::from_le_bytes(*length));
            let Some(message) = rest.get(..length) else { break };
            messages.push(message.to_vec());
            self.received += 1;
            start += 2 + length;
        }
        self.partial.drain(..start);
    }

    /// Whether the packet repeats earlier bytes.
    fn note_sent(&mut self, packet: &[u8]) -> bool {
        let Some((sequence, length, _)) = segment(packet) else { return false };
        if length == 0 {
            return false;
        }
        let end = sequence.wrapping_add(length);
        let is_new = self.sent_up_to.is_none_or(|up_to| end.wrapping_sub(up_to) as i32 > 0);
        if is_new {
            self.sent_up_to = Some(end);
        }
        !is_new
    }

    fn note_arrival(&mut self, packet: &[u8]) {
        let Some((sequence, length, is_first)) = segment(packet) else { return };
        if is_first {
            self.wanted.get_or_insert(sequence.wrapping_add(1));
        }
        if length > 0 && self.wanted.is_some_and(|wanted| sequence.wrapping_sub(wanted) as i32 > 0) {
            self.ahead.insert(sequence);
        }
    }
}

/// Sequence number, bytes of content, and whether it is the first packet of its side (SYN).
fn segment(packet: &[u8]) -> Option<(u32, u32, bool)> {
    let packet = Ipv4Packet::new_checked(packet).ok()?;
    let segment = TcpPacket::new_checked(packet.payload()).ok()?;
    let sequence = segment.seq_number().0 as u32;
    Some((sequence, segment.payload().len() as u32, segment.syn()))
}

fn address(side: Side) -> IpAddress {
    IpAddress::v4(10, 0, 0, 1 + side as u8)
}

/// Carries packets between an interface and the simulated link.
#[derive(Default)]
struct Cable {
    inbox: VecDeque<Vec<u8>>,
    outbox: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);

struct Sending<'a>(&'a mut VecDeque<Vec<u8>>);

impl Device for Cable {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, _: smoltcp::time::Instant) -> Option<(Received, Sending<'_>)> {
        Some((Received(self.inbox.pop_front()?), Sending(&mut self.outbox)))
    }

    fn transmit(&mut self, _: smoltcp::time::Instant) -> Option<Sending<'_>> {
        Some(Sending(&mut self.outbox))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ip, MTU);
        capabilities
    }
}

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let written = write(&mut packet);
        self.0.push_back(packet);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinkConfig, PPM, SimNet, SimNetStats, Transport};
    use super::*;
    use crate::value::time::Duration;

    const TCP: LinkConfig = PERFECT.latency(Duration::from_millis(50)).transport(Transport::Tcp);

    const PERFECT: LinkConfig = LinkConfig::new();

    const DEAD: LinkConfig = TCP.loss_ppm(PPM);

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

    /// A network whose nodes 0 and 1 have been connected since 150 ms.
    fn connected() -> SimNet {
        let mut net = SimNet::new(1);
        net.set_default(TCP);
        net.send(ms(0), 0, 1, &[255]);
        // SYN, its answer, then the message: one round trip and a half.
        assert_eq!(arrivals(&mut net, ms(999)), [(150, 255)]);
        net
    }

    #[test]
    fn one_lost_packet_holds_back_all_behind_it_for_a_round_trip_and_some_more() {
        let mut net = connected();
        let mut seen = Vec::new();
        for number in 0..40_u8 {
            let now = ms(1_000 + u64::from(number) * 10);
            seen.extend(arrivals(&mut net, now));
            net.set_link(0, 1, if number == 10 { DEAD } else { TCP });
            net.send(now, 0, 1, &[number]);
            if number == 27 {
                assert_eq!(net.held_back(), 12, "11 to 22 have arrived by 1,270 ms");
            }
        }
        seen.extend(arrivals(&mut net, ms(10_000)));
        // Sent at 1,100 ms. The fourth packet after it arrives at 1,190 ms and says so for the third time; that arrives at 1,240 ms, and
        // what goes out then, at 1,290 ms.
        let expected = (0..40_u8).map(|number| match number {
            10..=23 => (1_290, number),
            _ => (1_000 + u64::from(number) * 10 + 50, number),
        });
        assert_eq!(seen, expected.collect::<Vec<_>>());
        assert_eq!((net.stats().resent, net.stats().lost), (1, 1));
    }

    #[test]
    fn alone_a_lost_packet_waits_for_the_timeout_and_that_doubles() {
        let mut net = connected();
        net.set_link(0, 1, DEAD);
        net.send(ms(2_000), 0, 1, &[1]);
        assert_eq!(arrivals(&mut net, ms(3_500)), []);
        assert_eq!(net.stats().resent, 1, "at 3,000 ms, lost again");
        net.set_link(0, 1, TCP);
        assert_eq!(arrivals(&mut net, ms(60_000)), [(5_050, 1)], "two seconds later, and 50 ms on the way");
    }

    /// 3,000 packets, 16 ms apart, over a network that does everything.
    fn run(seed: u64) -> (Vec<(Instant, Vec<u8>)>, SimNetStats) {
        let mut net = SimNet::new(seed);
        let everything = TCP
            .jitter(Duration::from_millis(25))
            .loss_ppm(200_000)
            .duplicate_ppm(50_000)
            .reorder_ppm(100_000)
            .reorder_hold(Duration::from_millis(30))
            .corrupt_ppm(10_000)
            .burst_ppm(1_000)
            .burst_length(Duration::from_millis(300))
            .bytes_per_second(50_000);
        net.set_default(everything);
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
        assert!(stats.resent > 100 && stats.duplicated > 100, "{stats:?}");
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
        assert_eq!(
            (net.in_flight(), net.stats().lost_in_queues),
            (BACKLOG_MAX as u64, 5_000 - BACKLOG_MAX as u64)
        );
        net.set_partition(&[]);
        // SYN goes out again after 1, 3 and 7 s; the third gets through. Then as much per round trip as slow start allows.
        let seen = arrivals(&mut net, ms(8_000));
        assert_eq!(seen[0], (7_150, 0));
        assert!(seen.iter().map(|(_, number)| *number).eq((0..BACKLOG_MAX).map(|number| number as u8)));
    }

    /// One byte more than the buffer has room for waited for ever, with all that was sent later.
    #[test]
    fn a_message_that_the_buffer_has_no_room_for_holds_up_no_other() {
        let mut net = connected();
        for (number, bytes) in [1, 65_534, 65_535, 65_536, 1].into_iter().enumerate() {
            net.send(ms(1_000), 0, 1, &vec![number as u8; bytes]);
        }
        let numbers: Vec<u8> = arrivals(&mut net, ms(60_000)).into_iter().map(|(_, number)| number).collect();
        assert_eq!((numbers, net.in_flight(), net.stats().lost_in_queues), (vec![0, 1, 4], 0, 2));
    }

    #[test]
    fn over_a_perfect_link_both_transports_are_alike_and_a_change_is_for_the_next_packet() {
        let mut net = connected();
        net.send(ms(1_000), 0, 1, &[0]);
        net.set_default(TCP.transport(Transport::Udp));
        net.send(ms(1_001), 0, 1, &[1]);
        net.set_default(TCP);
        net.send(ms(1_002), 0, 1, &[2]);
        assert_eq!(arrivals(&mut net, ms(2_000)), [(1_050, 0), (1_051, 1), (1_052, 2)]);
        assert_eq!(net.stats().resent, 0);
    }
}
