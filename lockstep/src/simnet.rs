//! A simulated network with virtual time: everything that happens on it follows from one seed.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::Rng;
use rand_pcg::Pcg32;

use crate::time::{Duration, Instant};

/// One million: probabilities are parts per million.
pub const PPM: u32 = 1_000_000;

/// Longest time that a packet waits for a link with limited bandwidth.
const QUEUE_MAX: Duration = Duration::from_millis(500);

/// How one direction of a link treats packets. The default is perfect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkSettings {
    /// Time on the way, one direction.
    pub latency: Duration,
    /// Added to each packet's latency: uniform between zero and this. Jitter above the packet interval reorders.
    pub jitter: Duration,
    /// Packets lost, parts per million.
    pub loss_ppm: u32,
    /// Packets that arrive twice (each copy with its own jitter), parts per million.
    pub duplicate_ppm: u32,
    /// Packets that are held back by [`LinkSettings::reorder_hold`], so that later ones overtake, parts per million.
    pub reorder_ppm: u32,
    /// How long a reordered packet is held back.
    pub reorder_hold: Duration,
    /// Packets in which one to three bits are flipped, parts per million.
    pub corrupt_ppm: u32,
    /// Packets that begin a burst of loss, parts per million: nothing gets through for [`LinkSettings::burst_length`].
    pub burst_ppm: u32,
    /// Length of a burst.
    pub burst_length: Duration,
    /// Bytes per second that the link carries; packets queue for up to half a second, then they are lost. 0 = no limit.
    pub bytes_per_second: u32,
}

/// A packet that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Node that sent it.
    pub from: u32,
    /// Node that it arrived at.
    pub to: u32,
    /// Content.
    pub bytes: Vec<u8>,
}

/// What happened to packets so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SimNetStats {
    /// Packets given to the network.
    pub sent: u64,
    /// Packets that arrived, copies included.
    pub delivered: u64,
    /// Packets lost.
    pub lost: u64,
    /// Extra copies.
    pub duplicated: u64,
    /// Packets held back.
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
/// use testudo_lockstep::simnet::{LinkSettings, SimNet};
/// use testudo_lockstep::{Duration, Instant};
/// let mut net = SimNet::new(7);
/// net.set_default(LinkSettings { latency: Duration::from_millis(30), ..LinkSettings::default() });
/// net.send(Instant::ZERO, 0, 1, b"hello");
/// let at = net.next_delivery().unwrap();
/// assert_eq!(at, Instant::from_millis(30));
/// assert_eq!(net.receive(at).unwrap().bytes, b"hello");
/// ```
#[derive(Clone, Debug)]
pub struct SimNet {
    seed: u64,
    default: LinkSettings,
    links: BTreeMap<(u32, u32), Line>,
    /// One side of a partition.
    island: BTreeSet<u32>,
    /// Packets on the way by (arrival, order of sending): the order of delivery is defined.
    on_the_way: BTreeMap<(Instant, u64), Delivery>,
    order: u64,
    stats: SimNetStats,
    /// Buffers of delivered packets that were given back.
    spare: Vec<Vec<u8>>,
}

/// One direction of a link, with its own random numbers: other links' traffic does not change its fate.
#[derive(Clone, Debug)]
struct Line {
    settings: Option<LinkSettings>,
    rng: Pcg32,
    /// End of the burst of loss.
    dark_until: Instant,
    /// When everything that was sent so far has left.
    free_at: Instant,
}

impl SimNet {
    /// A network of perfect links.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            default: LinkSettings::default(),
            links: BTreeMap::new(),
            island: BTreeSet::new(),
            on_the_way: BTreeMap::new(),
            order: 0,
            stats: SimNetStats::default(),
            spare: Vec::new(),
        }
    }

    /// Settings of all links that have none of their own.
    pub fn set_default(&mut self, settings: LinkSettings) {
        self.default = settings;
    }

    /// Settings of one direction, from now on.
    pub fn set_link(&mut self, from: u32, to: u32, settings: LinkSettings) {
        self.line(from, to).settings = Some(settings);
    }

    /// Cuts these nodes off from all others, from now on; packets on the way still arrive. An empty list heals.
    pub fn set_partition(&mut self, island: &[u32]) {
        self.island = island.iter().copied().collect();
    }

    /// Puts a packet on its way at `now`.
    pub fn send(&mut self, now: Instant, from: u32, to: u32, bytes: &[u8]) {
        self.stats.sent += 1;
        let default = self.default;
        let line = self.line(from, to);
        let settings = line.settings.unwrap_or(default);
        // Every packet takes the same draws whatever the settings are, so that one setting does not shift the others' luck.
        let draws: [u32; 5] = core::array::from_fn(|_| below(&mut line.rng, PPM));
        let jitters = [
            below64(&mut line.rng, settings.jitter.as_micros()),
            below64(&mut line.rng, settings.jitter.as_micros()),
        ];
        let flips: [u32; 4] = core::array::from_fn(|_| line.rng.next_u32());
        if draws[4] < settings.burst_ppm && now >= line.dark_until {
            line.dark_until = now + settings.burst_length;
        }
        let dark = now < line.dark_until;
        let queued = line.free_at.since(now);
        let full = settings.bytes_per_second > 0 && queued > QUEUE_MAX;
        let sending = match settings.bytes_per_second {
            0 => Duration::ZERO,
            rate => Duration::from_micros((bytes.len() as u64 * 1_000_000).div_ceil(u64::from(rate))),
        };
        if !full {
            line.free_at = now + queued + sending;
        }
        if self.island.contains(&from) != self.island.contains(&to) {
            self.stats.partitioned += 1;
            return;
        }
        if draws[0] < settings.loss_ppm || dark || full {
            self.stats.lost += u64::from(!dark && !full);
            self.stats.lost_in_bursts += u64::from(dark);
            self.stats.lost_in_queues += u64::from(full && !dark);
            return;
        }
        let travel = queued + sending + settings.latency;
        let mut content = self.spare.pop().unwrap_or_default();
        content.clear();
        content.extend_from_slice(bytes);
        if draws[3] < settings.corrupt_ppm && !content.is_empty() {
            self.stats.corrupted += 1;
            let bits = content.len() as u64 * 8;
            let chosen = [0, 1, 2].map(|i| u64::from(flips[i]) % bits);
            for (i, &bit) in chosen[..1 + (flips[3] % 3) as usize].iter().enumerate() {
                // A bit that is flipped twice would be whole again.
                if !chosen[..i].contains(&bit) {
                    content[(bit / 8) as usize] ^= 1 << (bit % 8);
                }
            }
        }
        let mut arrival = now + travel + Duration::from_micros(jitters[0]);
        if draws[2] < settings.reorder_ppm {
            self.stats.reordered += 1;
            arrival += settings.reorder_hold;
        }
        if draws[1] < settings.duplicate_ppm {
            self.stats.duplicated += 1;
            let copy = Delivery { from, to, bytes: content.clone() };
            self.enqueue(now + travel + Duration::from_micros(jitters[1]), copy);
        }
        self.enqueue(arrival, Delivery { from, to, bytes: content });
    }

    /// When the next packet arrives.
    pub fn next_delivery(&self) -> Option<Instant> {
        self.on_the_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the next packet that has arrived by `now`, in order of arrival.
    pub fn receive(&mut self, now: Instant) -> Option<Delivery> {
        if self.next_delivery()? > now {
            return None;
        }
        let (_, delivery) = self.on_the_way.pop_first()?;
        self.stats.delivered += 1;
        Some(delivery)
    }

    /// Gives a delivered packet's buffer back for reuse.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < 64 {
            self.spare.push(bytes);
        }
    }

    /// Packets on the way.
    pub fn in_flight(&self) -> u64 {
        self.on_the_way.len() as u64
    }

    /// What happened so far.
    pub fn stats(&self) -> SimNetStats {
        self.stats
    }

    fn enqueue(&mut self, at: Instant, delivery: Delivery) {
        self.on_the_way.insert((at, self.order), delivery);
        self.order += 1;
    }

    fn line(&mut self, from: u32, to: u32) -> &mut Line {
        let seed = self.seed;
        let stream = (u64::from(from) << 32) | u64::from(to);
        self.links.entry((from, to)).or_insert_with(|| Line {
            settings: None,
            rng: Pcg32::new(seed, stream),
            dark_until: Instant::ZERO,
            free_at: Instant::ZERO,
        })
    }
}

/// Uniform in 0..bound by multiplication; the bias is below 2^-12 for bounds up to a million.
fn below(rng: &mut Pcg32, bound: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(bound)) >> 32) as u32
}

/// Uniform in 0..=bound for spans of time.
fn below64(rng: &mut Pcg32, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * (u128::from(bound) + 1)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64, settings: LinkSettings) -> (Vec<(Instant, Vec<u8>)>, SimNetStats) {
        let mut net = SimNet::new(seed);
        net.set_default(settings);
        let mut arrivals = Vec::new();
        for i in 0..10_000_u32 {
            net.send(Instant::from_millis(u64::from(i) * 10), 0, 1, &i.to_le_bytes());
        }
        while let Some(at) = net.next_delivery() {
            arrivals.push((at, net.receive(at).unwrap().bytes));
        }
        (arrivals, net.stats())
    }

    #[test]
    fn a_seed_is_a_fate() {
        let settings = LinkSettings {
            latency: Duration::from_millis(40),
            jitter: Duration::from_millis(25),
            loss_ppm: 200_000,
            duplicate_ppm: 50_000,
            reorder_ppm: 100_000,
            reorder_hold: Duration::from_millis(30),
            corrupt_ppm: 10_000,
            ..LinkSettings::default()
        };
        let (first, stats) = run(11, settings);
        assert_eq!(first, run(11, settings).0);
        assert_ne!(first, run(12, settings).0);
        // 10,000 draws: four standard deviations around the expected counts.
        assert!((1_840..=2_160).contains(&stats.lost), "{stats:?}");
        assert!((320..=480).contains(&stats.duplicated), "{stats:?}");
        assert!((690..=910).contains(&stats.reordered), "{stats:?}");
        assert!((44..=116).contains(&stats.corrupted), "{stats:?}");
        assert_eq!(stats.delivered, 10_000 - stats.lost + stats.duplicated);
    }

    #[test]
    fn loss_of_one_setting_does_not_shift_the_jitter_of_the_rest() {
        let jitter = LinkSettings { jitter: Duration::from_millis(5), ..LinkSettings::default() };
        let lossy = LinkSettings { loss_ppm: 300_000, ..jitter };
        let all = run(3, jitter).0;
        assert!(run(3, lossy).0.iter().all(|arrival| all.contains(arrival)));
    }

    #[test]
    fn bursts_take_out_neighbours() {
        let settings = LinkSettings {
            burst_ppm: 10_000,
            burst_length: Duration::from_millis(100),
            ..LinkSettings::default()
        };
        let stats = run(5, settings).1;
        // One packet per 10 ms: about 1 burst in 109 packets, 10 packets each.
        assert!((700..1_150).contains(&stats.lost_in_bursts), "{stats:?}");
        assert_eq!(stats.lost_in_bursts + stats.delivered, 10_000);
    }

    #[test]
    fn a_narrow_link_delays_and_then_loses() {
        // 400 bytes per second offered, 200 carried.
        let settings = LinkSettings { bytes_per_second: 200, ..LinkSettings::default() };
        let (arrivals, stats) = run(5, settings);
        assert!((4_950..5_050).contains(&stats.delivered), "{stats:?}");
        assert!(arrivals.windows(2).all(|pair| pair[1].0.since(pair[0].0) == Duration::from_millis(20)));
    }

    #[test]
    fn a_partition_cuts_both_ways_until_it_heals() {
        let mut net = SimNet::new(1);
        net.set_partition(&[2, 3]);
        for (from, to) in [(0, 2), (2, 0), (2, 3), (0, 1)] {
            net.send(Instant::ZERO, from, to, b"x");
        }
        assert_eq!((net.in_flight(), net.stats().partitioned), (2, 2));
        net.set_partition(&[]);
        net.send(Instant::ZERO, 0, 2, b"x");
        assert_eq!(net.in_flight(), 3);
    }

    #[test]
    fn total_loss_delivers_nothing() {
        let settings = LinkSettings { loss_ppm: PPM, ..LinkSettings::default() };
        assert_eq!(run(1, settings).0.len(), 0);
    }
}
