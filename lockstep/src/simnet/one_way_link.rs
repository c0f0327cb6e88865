//! One direction of a link, with its own random numbers, so that other links' traffic does not affect its packets.

use rand_core::Rng;
use rand_pcg::Pcg32;

use crate::simnet::link::{LinkConfig, PPM};
use crate::value::time::{Duration, Instant};

/// Longest time that a packet waits for a link with limited bandwidth.
const QUEUE_MAX: Duration = Duration::from_millis(500);

/// One direction of a link.
#[derive(Clone, Debug)]
pub(super) struct OneWayLink {
    rng: Pcg32,
    /// End of the burst of loss.
    dark_until: Instant,
    /// When everything sent so far has left.
    free_at: Instant,
}

/// Why a packet does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loss {
    Chance,
    Burst,
    /// The queue of a narrow link was full.
    Queue,
}

/// What happens to one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fate {
    pub(super) loss: Option<Loss>,
    pub(super) arrival: Instant,
    /// When a second copy arrives, if there is one.
    pub(super) copy: Option<Instant>,
    pub(super) is_held_back: bool,
    /// Which bits are flipped, if any.
    pub(super) flips: Option<[u32; 4]>,
}

impl OneWayLink {
    pub(super) fn new(rng: Pcg32) -> Self {
        Self { rng, dark_until: Instant::ZERO, free_at: Instant::ZERO }
    }

    /// Puts a packet of this many bytes on the link. Every packet takes the same number of random draws whatever the settings are, so that
    /// one setting does not affect the outcome of the others.
    pub(super) fn carry(&mut self, now: Instant, bytes: u64, settings: &LinkConfig) -> Fate {
        let draws: [u32; 5] = core::array::from_fn(|_| below(&mut self.rng, PPM));
        let jitters = [
            below64(&mut self.rng, settings.jitter.as_micros()),
            below64(&mut self.rng, settings.jitter.as_micros()),
        ];
        let flips: [u32; 4] = core::array::from_fn(|_| self.rng.next_u32());
        if draws[4] < settings.burst_ppm && now >= self.dark_until {
            self.dark_until = now + settings.burst_length;
        }
        let queued = self.free_at.since(now);
        let is_full = settings.bytes_per_second > 0 && queued > QUEUE_MAX;
        let sending = match settings.bytes_per_second {
            0 => Duration::ZERO,
            rate => Duration::from_micros((bytes * 1_000_000).div_ceil(u64::from(rate))),
        };
        if !is_full {
            self.free_at = now + queued + sending;
        }
        let loss = if now < self.dark_until {
            Some(Loss::Burst)
        } else if is_full {
            Some(Loss::Queue)
        } else {
            (draws[0] < settings.loss_ppm).then_some(Loss::Chance)
        };
        let arrives = now + (queued + sending + settings.latency);
        let is_held_back = draws[2] < settings.reorder_ppm;
        let held = if is_held_back { settings.reorder_hold } else { Duration::ZERO };
        Fate {
            loss,
            arrival: arrives + Duration::from_micros(jitters[0]) + held,
            copy: (draws[1] < settings.duplicate_ppm).then(|| arrives + Duration::from_micros(jitters[1])),
            is_held_back,
            flips: (draws[3] < settings.corrupt_ppm && bytes > 0).then_some(flips),
        }
    }
}

/// Flips one to three bits.
pub(super) fn corrupt(content: &mut [u8], flips: [u32; 4]) {
    let bits = content.len() as u64 * 8;
    let chosen = [0, 1, 2].map(|i| u64::from(flips[i]) % bits);
    for (i, &bit) in chosen[..1 + (flips[3] % 3) as usize].iter().enumerate() {
        // A bit that is flipped twice would be intact again.
        if !chosen[..i].contains(&bit) {
            content[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
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
