//! A simulated network in virtual time: everything that happens on it follows from one seed.
//!
//! It carries packets over UDP or over TCP ([`Transport`]), so that the two can be compared on the same bad link.

mod link;
#[cfg(test)]
mod lying_sources;
mod one_way_link;
mod stream;
pub(crate) mod virtual_match;

use std::collections::{BTreeMap, BTreeSet};

use rand_pcg::Pcg32;

use crate::value::time::Instant;
pub use link::{LinkConfig, PPM, Transport};
use one_way_link::{Fate, Loss, OneWayLink};
use stream::{Connection, Side};

/// A packet that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Delivery {
    /// Node that sent it.
    pub from: u32,
    /// Node that it arrived at.
    pub to: u32,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Counters of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SimNetStats {
    /// Packets given to the network; for TCP its IP packets, acknowledgements included.
    pub sent: u64,
    /// IP packets of TCP that repeat earlier bytes.
    pub resent: u64,
    /// Packets that reached the other node, copies included.
    pub delivered: u64,
    /// Packets lost.
    pub lost: u64,
    /// Extra copies.
    pub duplicated: u64,
    /// Packets delayed for reordering.
    pub reordered: u64,
    /// Packets with flipped bits.
    pub corrupted: u64,
    /// Packets lost in bursts.
    pub lost_in_bursts: u64,
    /// Packets lost because the link's queue was full.
    pub lost_in_queues: u64,
    /// Packets lost between the two sides of a partition.
    pub partitioned: u64,
}

/// The network between numbered nodes.
///
/// ```
/// use testudo_lockstep::simnet::{LinkConfig, SimNet};
/// use testudo_lockstep::{Duration, Instant};
/// let mut net = SimNet::new(7);
/// net.set_default(LinkConfig::new().latency(Duration::from_millis(30)));
/// net.send(Instant::ZERO, 0, 1, b"hello");
/// let at = net.next_delivery().unwrap();
/// assert_eq!(at, Instant::from_millis(30));
/// assert_eq!(net.receive(at).unwrap().bytes, b"hello");
/// ```
#[derive(Debug)]
pub struct SimNet {
    seed: u64,
    default: LinkConfig,
    settings: BTreeMap<Direction, LinkConfig>,
    one_way_links: BTreeMap<Direction, OneWayLink>,
    /// By the two nodes, the lower one first.
    connections: BTreeMap<Direction, Connection>,
    /// One side of a partition.
    island: BTreeSet<u32>,
    /// Future events by (time, order of sending), so that the order of everything is defined.
    on_the_way: BTreeMap<(Instant, u64), Event>,
    order: u64,
    stats: SimNetStats,
    /// Buffers of delivered packets for reuse.
    spare: Vec<Vec<u8>>,
}

/// One direction of a link: from, to.
type Direction = (u32, u32);

/// What happens at a point of virtual time.
#[derive(Clone, Debug)]
enum Event {
    /// A packet is ready for [`SimNet::receive`].
    Delivery(Delivery),
    /// An IP packet of a connection reaches the other end.
    Segment(Direction, Vec<u8>),
    /// One end of a connection has something to do.
    Timer(Direction, Side),
}

impl SimNet {
    /// A network of perfect links.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            default: LinkConfig::new(),
            settings: BTreeMap::new(),
            one_way_links: BTreeMap::new(),
            connections: BTreeMap::new(),
            island: BTreeSet::new(),
            on_the_way: BTreeMap::new(),
            order: 0,
            stats: SimNetStats::default(),
            spare: Vec::new(),
        }
    }

    /// Settings of all links that have none of their own.
    pub fn set_default(&mut self, settings: LinkConfig) {
        self.default = settings;
    }

    /// Settings of one direction, from now on.
    pub fn set_link(&mut self, from: u32, to: u32, settings: LinkConfig) {
        self.settings.insert((from, to), settings);
    }

    /// Cuts these nodes off from all others, from now on; packets in flight still arrive. An empty list ends the partition.
    pub fn set_partition(&mut self, island: &[u32]) {
        self.island = island.iter().copied().collect();
    }

    /// Sends a packet at `now`. Over TCP one of more than 65,534 bytes is lost, as in a full queue.
    pub fn send(&mut self, now: Instant, from: u32, to: u32, bytes: &[u8]) {
        let settings = self.settings((from, to));
        match settings.transport {
            Transport::Udp => self.send_datagram(now, (from, to), bytes, &settings),
            Transport::Tcp => self.send_message(now, (from, to), bytes),
        }
    }

    fn send_datagram(&mut self, now: Instant, direction: Direction, bytes: &[u8], settings: &LinkConfig) {
        self.stats.sent += 1;
        let seed = self.seed;
        let link = self
            .one_way_links
            .entry(direction)
            .or_insert_with(|| OneWayLink::new(Pcg32::new(seed, number_of(direction))));
        let fate = link.carry(now, bytes.len() as u64, settings);
        if !self.arrives(direction, &fate) {
            return;
        }
        let (from, to) = direction;
        let mut bytes = self.copy_of(bytes);
        if let Some(flips) = fate.flips {
            self.stats.corrupted += 1;
            one_way_link::corrupt(&mut bytes, flips);
        }
        self.stats.reordered += u64::from(fate.is_held_back);
        if let Some(arrival) = fate.copy {
            self.stats.duplicated += 1;
            self.enqueue(arrival, Event::Delivery(Delivery { from, to, bytes: bytes.clone() }));
        }
        self.enqueue(fate.arrival, Event::Delivery(Delivery { from, to, bytes }));
    }

    fn send_message(&mut self, now: Instant, direction: Direction, bytes: &[u8]) {
        let (seed, (pair, side)) = (self.seed, end_of(direction));
        let new = || Connection::new(seed, number_of(pair));
        if self.connections.entry(pair).or_insert_with(new).push(side, bytes) {
            self.run(now, pair, side);
        } else {
            self.stats.sent += 1;
            self.stats.lost_in_queues += 1;
        }
    }

    /// Lets one end of a connection do what is due, and sends its packets.
    fn run(&mut self, now: Instant, pair: Direction, side: Side) {
        let direction = if side == 0 { pair } else { (pair.1, pair.0) };
        let settings = self.settings(direction);
        let Some(connection) = self.connections.get_mut(&pair) else { return };
        let round = connection.run(side, now);
        let fates: Vec<Fate> = round
            .packets
            .iter()
            .map(|(packet, _)| connection.one_way_links[side].carry(now, packet.len() as u64, &settings))
            .collect();
        for ((packet, is_resent), fate) in round.packets.into_iter().zip(fates) {
            self.stats.sent += 1;
            self.stats.resent += u64::from(is_resent);
            self.stats.reordered += u64::from(fate.is_held_back);
            if !self.arrives(direction, &fate) || self.is_broken(&fate) {
                continue;
            }
            if let Some(arrival) = fate.copy {
                self.stats.duplicated += 1;
                self.enqueue(arrival, Event::Segment(direction, packet.clone()));
            }
            self.enqueue(fate.arrival, Event::Segment(direction, packet));
        }
        for bytes in round.messages {
            self.enqueue(now, Event::Delivery(Delivery { from: direction.1, to: direction.0, bytes }));
        }
        if let Some(at) = round.timer {
            self.enqueue(at, Event::Timer(pair, side));
        }
    }

    fn segment_arrives(&mut self, now: Instant, direction: Direction, packet: Vec<u8>) {
        let (pair, side) = end_of((direction.1, direction.0));
        if let Some(connection) = self.connections.get_mut(&pair) {
            connection.arrive(side, packet);
            self.run(now, pair, side);
        }
    }

    /// Whether a packet with this fate reaches the other end; counts it if it does not.
    fn arrives(&mut self, direction: Direction, fate: &Fate) -> bool {
        if self.is_cut(direction) {
            self.stats.partitioned += 1;
            return false;
        }
        match fate.loss {
            None => return true,
            Some(Loss::Chance) => self.stats.lost += 1,
            Some(Loss::Burst) => self.stats.lost_in_bursts += 1,
            Some(Loss::Queue) => self.stats.lost_in_queues += 1,
        }
        false
    }

    /// Whether a segment that arrives fails TCP's own checksum.
    fn is_broken(&mut self, fate: &Fate) -> bool {
        self.stats.corrupted += u64::from(fate.flips.is_some());
        fate.flips.is_some()
    }

    fn is_cut(&self, (from, to): Direction) -> bool {
        self.island.contains(&from) != self.island.contains(&to)
    }

    fn settings(&self, direction: Direction) -> LinkConfig {
        self.settings.get(&direction).copied().unwrap_or(self.default)
    }

    /// When the next packet arrives. With TCP it may be earlier: then the sender has something to do, and [`SimNet::receive`] does it.
    #[must_use]
    pub fn next_delivery(&self) -> Option<Instant> {
        self.on_the_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the next packet that has arrived by `now`, in order of arrival.
    pub fn receive(&mut self, now: Instant) -> Option<Delivery> {
        while self.next_delivery()? <= now {
            let ((at, _), event) = self.on_the_way.pop_first()?;
            match event {
                Event::Delivery(delivery) => {
                    self.stats.delivered += 1;
                    return Some(delivery);
                }
                Event::Segment(direction, packet) => self.segment_arrives(at, direction, packet),
                Event::Timer(pair, side) => self.run(at, pair, side),
            }
        }
        None
    }

    /// Returns a delivered packet's buffer for reuse.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < 64 {
            self.spare.push(bytes);
        }
    }

    /// Packets in flight: those that were not lost, and for TCP all that were not delivered.
    pub fn in_flight(&self) -> u64 {
        let arriving = self.on_the_way.values().filter(|event| matches!(event, Event::Delivery(_))).count();
        arriving as u64 + self.connections.values().map(Connection::undelivered).sum::<u64>()
    }

    /// Packets that have arrived over TCP and wait for an earlier one.
    pub fn held_back(&self) -> u64 {
        self.connections.values().map(Connection::held_back).sum()
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> SimNetStats {
        self.stats
    }

    fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        copy
    }

    fn enqueue(&mut self, at: Instant, event: Event) {
        self.on_the_way.insert((at, self.order), event);
        self.order += 1;
    }
}

/// The two nodes of a direction, the lower one first, and which of them sends.
fn end_of((from, to): Direction) -> (Direction, Side) {
    if from <= to { ((from, to), 0) } else { ((to, from), 1) }
}

/// The number of a direction's random stream.
fn number_of((from, to): Direction) -> u64 {
    (u64::from(from) << 32) | u64::from(to)
}
