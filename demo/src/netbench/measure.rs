//! What a receiver shows: each input is played 100 ms after its earliest possible arrival, at most four per picture.

use serde::Serialize;
use testudo_lockstep::{Duration, Instant};

use crate::netbench::{DELAY, RATE};

/// Greatest number of inputs that are played in one picture to catch up.
const PER_PICTURE_MAX: u32 = 4;

/// The trip of one input. Inputs are used in order: an input that arrives before an earlier one counts from the arrival of that one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trip {
    pub(super) sent: Instant,
    /// None: not before the end of the run.
    pub(super) usable: Option<Instant>,
}

/// The result at the receiver. In JSON, what is not finite is null.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Measured {
    /// Share of inputs that had not arrived when they were due.
    pub(crate) late_fraction: f64,
    /// Share of pictures in which nothing moved.
    pub(crate) stalled_fraction: f64,
    /// Stops of any length, each counted once.
    pub(crate) hitches_per_minute: f64,
    /// Share of inputs that were played before the last one was due.
    pub(crate) delivered_fraction: f64,
    /// Time from an input's earliest possible arrival to the picture that shows it, over the inputs that were played.
    pub(crate) added_latency_ms_p50: f64,
    pub(crate) added_latency_ms_p99: f64,
}

/// Plays the inputs; `latency` is that of the link.
pub(super) fn measure(trips: &[Trip], latency: Duration) -> Measured {
    let start = trips.first().map_or(Instant::ZERO, |trip| trip.sent);
    let inputs = trips.len() as u32;
    let picture = |number: u32| {
        // Rounded as senders round, so that an input that is exactly in time counts as in time.
        let after = (u64::from(number) * 1_000_000).div_ceil(u64::from(RATE));
        start + latency + DELAY + Duration::from_micros(after)
    };
    let (mut next, mut stalled, mut hitches, mut was_stalled) = (0_u32, 0_u32, 0_u32, false);
    let mut added = Vec::new();
    for number in 0..inputs {
        let now = picture(number);
        let mut played = 0;
        while next <= number
            && played < PER_PICTURE_MAX
            && trips[next as usize].usable.is_some_and(|usable| usable <= now)
        {
            added.push(now.since(trips[next as usize].sent + latency).as_micros());
            (next, played) = (next + 1, played + 1);
        }
        let is_stalled = played == 0;
        stalled += u32::from(is_stalled);
        hitches += u32::from(is_stalled && !was_stalled);
        was_stalled = is_stalled;
    }
    let late =
        (0..).zip(trips).filter(|(number, trip)| trip.usable.is_none_or(|usable| usable > picture(*number)));
    let late = late.count() as f64;
    added.sort_unstable();
    let quantile = |part: usize| {
        let at = (added.len() * part / 100).min(added.len().saturating_sub(1));
        added.get(at).map_or(f64::NAN, |micros| *micros as f64 / 1_000.0)
    };
    let all = f64::from(inputs.max(1));
    Measured {
        late_fraction: late / all,
        stalled_fraction: f64::from(stalled) / all,
        hitches_per_minute: f64::from(hitches) * 60.0 * f64::from(RATE) / all,
        delivered_fraction: f64::from(next) / all,
        added_latency_ms_p50: quantile(50),
        added_latency_ms_p99: quantile(99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: Duration = Duration::from_millis(50);

    /// 600 inputs; each arrives later than the link's latency by `late`, and none before an earlier one.
    fn trips(late: impl Fn(u32) -> Option<u64>) -> Vec<Trip> {
        let mut last = Some(Instant::ZERO);
        (0..600)
            .map(|number| {
                let sent = Instant::from_micros((u64::from(number) * 1_000_000).div_ceil(60));
                let arrival = late(number).map(|ms| sent + LATENCY + Duration::from_millis(ms));
                last = last.zip(arrival).map(|(last, arrival)| last.max(arrival));
                Trip { sent, usable: last }
            })
            .collect()
    }

    #[test]
    fn in_time_is_in_time() {
        let measured = measure(&trips(|_| Some(100)), LATENCY);
        let (late, stalled, delivered) =
            (measured.late_fraction, measured.stalled_fraction, measured.delivered_fraction);
        assert_eq!((late, stalled, delivered, measured.added_latency_ms_p99), (0.0, 0.0, 1.0, 100.0));
    }

    #[test]
    fn one_late_input_stops_the_picture_and_is_caught_up_with() {
        // 200 ms late: due after 100 ms, so six pictures of 16.7 ms are frozen; the inputs that waited behind it are late, too.
        let measured = measure(&trips(|number| Some(if number == 300 { 200 } else { 0 })), LATENCY);
        assert!((measured.stalled_fraction * 600.0 - 6.0).abs() < 0.01, "{measured:?}");
        assert!((measured.late_fraction * 600.0 - 6.0).abs() < 0.01, "{measured:?}");
        assert!((measured.hitches_per_minute - 6.0).abs() < 0.01, "one in ten seconds: {measured:?}");
        assert_eq!((measured.delivered_fraction, measured.added_latency_ms_p50), (1.0, 100.0));
        assert!(measured.added_latency_ms_p99 > 100.0, "{measured:?}");
    }

    #[test]
    fn what_never_comes_stops_it_for_good() {
        let measured = measure(&trips(|number| (number < 450).then_some(0)), LATENCY);
        assert_eq!((measured.delivered_fraction, measured.stalled_fraction), (0.75, 0.25));
        assert_eq!(measured.late_fraction, 0.25);
    }
}
