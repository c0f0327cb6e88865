//! TCP against UDP: the same inputs over the same bad link, once as a stream of messages, once as the redundant packets of a session.

mod carry;
mod measure;

use testudo_lockstep::Duration;
use testudo_lockstep::simnet::LinkConfig;

pub(crate) use measure::Measured;

/// Inputs per second, and pictures.
pub(crate) const RATE: u32 = 60;

/// The receiver plays each input this long after its earliest possible arrival.
pub(crate) const DELAY: Duration = Duration::from_millis(100);

/// The kind of latency that a condition states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    RoundTrip,
    OneWay,
}

/// A link, and the result of Linux TCP on such a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Condition {
    pub(crate) name: &'static str,
    pub(crate) latency_ms: u64,
    pub(crate) kind: Kind,
    pub(crate) loss_ppm: u32,
    /// Share of frozen pictures, and other measurements as text.
    pub(crate) kernel_stalled: Option<f64>,
    pub(crate) kernel: &'static str,
}

/// Each latency as a round trip and as one way. The figures of the kernel were measured with a delay of 100 ms and 60 inputs per second; a
/// range is represented by its middle.
pub(crate) const CONDITIONS: [Condition; 6] = [
    condition("rtt-100ms-1%", 100, Kind::RoundTrip, 10_000, Some(0.023), "2.3 % stalled"),
    condition("one-way-100ms-1%", 100, Kind::OneWay, 10_000, Some(0.09), "8 to 10 % stalled"),
    condition("rtt-250ms-5%", 250, Kind::RoundTrip, 50_000, Some(0.405), "39 to 42 % stalled"),
    condition("one-way-250ms-5%", 250, Kind::OneWay, 50_000, Some(0.625), "60 to 65 % stalled"),
    condition("rtt-2s-25%", 2_000, Kind::RoundTrip, 250_000, None, "under 10 % delivered"),
    condition("one-way-2s-25%", 2_000, Kind::OneWay, 250_000, None, "not measured"),
];

const fn condition(
    name: &'static str,
    latency_ms: u64,
    kind: Kind,
    loss_ppm: u32,
    kernel_stalled: Option<f64>,
    kernel: &'static str,
) -> Condition {
    Condition { name, latency_ms, kind, loss_ppm, kernel_stalled, kernel }
}

impl Condition {
    /// The link; both directions are alike.
    pub(crate) fn link(&self) -> LinkConfig {
        let one_way = match self.kind {
            Kind::OneWay => self.latency_ms,
            Kind::RoundTrip => self.latency_ms / 2,
        };
        LinkConfig::new().latency(Duration::from_millis(one_way)).loss_ppm(self.loss_ppm)
    }

    /// The share of late inputs of the best possible protocol that sends one packet per input: an input is late if all packets that could
    /// bring it in time are lost.
    pub(crate) fn optimum_late(&self) -> f64 {
        let in_time = DELAY.as_micros() * u64::from(RATE) / 1_000_000 + 1;
        (f64::from(self.loss_ppm) / 1e6).powi(in_time as i32)
    }
}

/// The results of one condition.
pub(crate) struct Row {
    pub(crate) condition: Condition,
    pub(crate) tcp: Measured,
    pub(crate) udp: Measured,
    /// Payload that the sender's session sent, acknowledgements and headers included.
    pub(crate) udp_bytes_per_second: f64,
}

/// Runs one condition over TCP and UDP.
pub(crate) fn run(condition: Condition, inputs: u32, seed: u64) -> Row {
    let link = condition.link();
    let tcp = measure::measure(&carry::tcp(link, inputs, seed), link.latency);
    let (udp, bytes) = carry::udp(link, inputs, seed);
    Row {
        condition,
        tcp,
        udp: measure::measure(&udp, link.latency),
        udp_bytes_per_second: bytes as f64 * f64::from(RATE) / f64::from(inputs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_optimum_is_seven_losses_in_a_row() {
        let optimum = CONDITIONS.map(|condition| condition.optimum_late());
        for (found, expected) in optimum.iter().zip([1e-14, 1e-14, 7.8e-10, 7.8e-10, 6.1e-5, 6.1e-5]) {
            assert!((found / expected - 1.0).abs() < 0.01, "{found:e} {expected:e}");
        }
    }

    #[test]
    fn our_protocol_is_at_the_optimum_and_tcp_is_not() {
        let rows = CONDITIONS.map(|condition| run(condition, 9_000, 1));
        for row in &rows {
            let (name, late) = (row.condition.name, row.udp.late_fraction * 9_000.0);
            // At a quarter lost 0.55 inputs are expected to be late; more than 7 have a probability below one in a million, even if
            // they come in pairs.
            let most = if row.condition.loss_ppm == 250_000 { 7.0 } else { 0.0 };
            assert!(late <= most, "{name}: {late} late");
            assert_eq!(row.udp.delivered_fraction, 1.0, "{name}");
            assert!((row.udp.added_latency_ms_p50 - 100.0).abs() < 0.1, "{name}: {:?}", row.udp);
            assert!((row.udp.added_latency_ms_p99 - 100.0).abs() < 0.1, "{name}: {:?}", row.udp);
            assert!(
                row.tcp.stalled_fraction > 0.01 && row.tcp.late_fraction > row.udp.late_fraction,
                "{name}"
            );
        }
        // TCP gets worse with the link.
        assert!(rows[0].tcp.stalled_fraction < rows[2].tcp.stalled_fraction);
        assert!(rows[2].tcp.stalled_fraction < rows[4].tcp.stalled_fraction);
        for row in &rows[4..] {
            let tcp = row.tcp;
            assert!(
                tcp.late_fraction > 0.9 && tcp.stalled_fraction > 0.5 && tcp.delivered_fraction < 0.9,
                "{tcp:?}"
            );
        }
    }

    #[test]
    fn over_tcp_each_input_is_a_message_of_its_own() {
        let latency = Duration::from_millis(100);
        let trips = carry::tcp(LinkConfig::new().latency(latency), 600, 1);
        assert!(trips.len() == 600 && trips.iter().all(|trip| trip.usable == Some(trip.sent + latency)));
    }

    #[test]
    fn a_perfect_link_is_perfect_for_both() {
        let row = run(condition("perfect", 100, Kind::OneWay, 0, None, ""), 1_000, 1);
        for measured in [row.tcp, row.udp] {
            assert_eq!((measured.late_fraction, measured.stalled_fraction), (0.0, 0.0), "{measured:?}");
            assert_eq!(measured.delivered_fraction, 1.0);
        }
    }
}
