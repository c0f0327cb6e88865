//! The settings of a link.

use crate::value::time::Duration;

/// One million: probabilities are parts per million.
pub const PPM: u32 = 1_000_000;

/// The transport protocol between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Transport {
    /// UDP: each packet on its own, lost, duplicated, overtaken or damaged as the link does it.
    #[default]
    Udp,
    /// TCP: one connection between each two nodes, with `smoltcp` at both ends and Nagle's algorithm off. Every packet arrives once,
    /// undamaged and in order, as late as that takes. Everything behind a lost segment waits: head-of-line blocking. The connection begins
    /// with a handshake at the first packet. The link loses, duplicates, reorders and damages IP packets, acknowledgements included;
    /// damaged ones count as lost.
    ///
    /// Compared with a kernel: the smallest retransmission time-out is 1,000 ms (Linux: 200 ms). There are no selective acknowledgements,
    /// so each round trip repairs one loss, and no tail loss probes. Congestion control is Reno (Linux: Cubic, which smoltcp computes in
    /// floats). With short round trips this TCP does worse than a kernel's.
    Tcp,
}

/// How one direction of a link treats packets. A new one is perfect.
///
/// ```
/// use testudo_lockstep::Duration;
/// use testudo_lockstep::simnet::LinkConfig;
/// let bad = LinkConfig::new().latency(Duration::from_millis(80)).jitter(Duration::from_millis(20)).loss_ppm(50_000);
/// assert_eq!(bad.loss_ppm, 50_000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[must_use]
pub struct LinkConfig {
    /// See [`LinkConfig::latency()`].
    pub latency: Duration,
    /// See [`LinkConfig::jitter()`].
    pub jitter: Duration,
    /// See [`LinkConfig::loss_ppm()`].
    pub loss_ppm: u32,
    /// See [`LinkConfig::duplicate_ppm()`].
    pub duplicate_ppm: u32,
    /// See [`LinkConfig::reorder_ppm()`].
    pub reorder_ppm: u32,
    /// See [`LinkConfig::reorder_hold()`].
    pub reorder_hold: Duration,
    /// See [`LinkConfig::corrupt_ppm()`].
    pub corrupt_ppm: u32,
    /// See [`LinkConfig::burst_ppm()`].
    pub burst_ppm: u32,
    /// See [`LinkConfig::burst_length()`].
    pub burst_length: Duration,
    /// See [`LinkConfig::bytes_per_second()`].
    pub bytes_per_second: u32,
    /// See [`LinkConfig::transport()`].
    pub transport: Transport,
}

impl LinkConfig {
    /// A perfect link: every packet arrives at once.
    pub const fn new() -> Self {
        let zero = Duration::ZERO;
        Self {
            latency: zero,
            jitter: zero,
            loss_ppm: 0,
            duplicate_ppm: 0,
            reorder_ppm: 0,
            reorder_hold: zero,
            corrupt_ppm: 0,
            burst_ppm: 0,
            burst_length: zero,
            bytes_per_second: 0,
            transport: Transport::Udp,
        }
    }

    /// Latency of one direction. Default 0.
    pub const fn latency(self, latency: Duration) -> Self {
        Self { latency, ..self }
    }

    /// Random addition to each packet's latency: uniform between zero and this. Jitter above the packet interval reorders packets. Default
    /// 0.
    pub const fn jitter(self, jitter: Duration) -> Self {
        Self { jitter, ..self }
    }

    /// Lost packets, parts per million. Default 0.
    pub const fn loss_ppm(self, loss_ppm: u32) -> Self {
        Self { loss_ppm, ..self }
    }

    /// Packets that arrive twice (each copy with its own jitter), parts per million. Default 0.
    pub const fn duplicate_ppm(self, duplicate_ppm: u32) -> Self {
        Self { duplicate_ppm, ..self }
    }

    /// Packets that are delayed by [`LinkConfig::reorder_hold()`], so that later ones overtake them, parts per million. Default 0.
    pub const fn reorder_ppm(self, reorder_ppm: u32) -> Self {
        Self { reorder_ppm, ..self }
    }

    /// Delay of a reordered packet. Default 0.
    pub const fn reorder_hold(self, reorder_hold: Duration) -> Self {
        Self { reorder_hold, ..self }
    }

    /// Packets in which one to three bits are flipped, parts per million. Default 0.
    pub const fn corrupt_ppm(self, corrupt_ppm: u32) -> Self {
        Self { corrupt_ppm, ..self }
    }

    /// Packets that start a burst of loss, parts per million: everything is lost for [`LinkConfig::burst_length()`]. Default 0.
    pub const fn burst_ppm(self, burst_ppm: u32) -> Self {
        Self { burst_ppm, ..self }
    }

    /// Length of a burst. Default 0.
    pub const fn burst_length(self, burst_length: Duration) -> Self {
        Self { burst_length, ..self }
    }

    /// Capacity of the link, bytes per second. Packets queue for up to half a second; beyond that they are lost. 0 = no limit. The default.
    pub const fn bytes_per_second(self, bytes_per_second: u32) -> Self {
        Self { bytes_per_second, ..self }
    }

    /// The transport protocol. A change applies to packets sent after it. Default [`Transport::Udp`].
    pub const fn transport(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }
}
