//! The sounds themselves, computed from sines and noise when the program starts.

use std::f32::consts::TAU;

use crate::view::sound::cue::Cue;

/// Samples per second.
pub(crate) const RATE: u32 = 32_000;

/// The samples of a cue, within -1..=1. The same for the same arguments.
pub(crate) fn samples(cue: Cue, variant: u32) -> Vec<f32> {
    let mut wave = match cue {
        Cue::Order => notes(&[(659.3, 0.07), (880.0, 0.12)], pluck, 0.28),
        Cue::Attack => notes(&[(196.0, 0.1), (261.6, 0.2)], brass, 0.4),
        Cue::Blow => blow(variant),
        Cue::Arrow => arrow(variant),
        Cue::Fall => fall(variant),
        Cue::Crash => crash(),
        Cue::Horn => notes(&[(146.8, 0.35), (220.0, 0.9)], brass, 0.7),
        Cue::Victory => notes(&[(261.6, 0.16), (329.6, 0.16), (392.0, 0.16), (523.3, 0.9)], brass, 0.7),
        Cue::Defeat => notes(&[(196.0, 0.35), (155.6, 0.35), (130.8, 1.1)], brass, 0.7),
    };
    soften_ends(&mut wave);
    wave
}

/// A few thousandths of a second up and down, so that nothing clicks.
fn soften_ends(wave: &mut [f32]) {
    let ramp = (RATE as usize / 400).min(wave.len() / 2);
    let last = wave.len().saturating_sub(1);
    for n in 0..ramp {
        let part = n as f32 / ramp as f32;
        wave[n] *= part;
        wave[last - n] *= part;
    }
}

fn seconds(length: f32) -> impl Iterator<Item = f32> {
    (0..(length * RATE as f32) as u32).map(|n| n as f32 / RATE as f32)
}

/// One tone after the other, each a frequency in hertz and a length in seconds.
fn notes(notes: &[(f32, f32)], voice: fn(f32, f32, f32) -> f32, loudness: f32) -> Vec<f32> {
    let tone = |(hertz, length): &(f32, f32)| {
        let (hertz, length) = (*hertz, *length);
        seconds(length).map(move |t| loudness * voice(hertz, t, length))
    };
    notes.iter().flat_map(tone).collect()
}

/// A string that is plucked.
fn pluck(hertz: f32, t: f32, _: f32) -> f32 {
    let tone = (TAU * hertz * t).sin() + 0.4 * (2.0 * TAU * hertz * t).sin();
    0.7 * tone * (-18.0 * t).exp() * (t * 400.0).min(1.0)
}

/// A horn: the higher harmonics come later and go sooner.
fn brass(hertz: f32, t: f32, length: f32) -> f32 {
    let (left, swell) = (length - t, (t * 14.0).min(1.0));
    let envelope = swell * (left * 9.0).min(1.0);
    let wobble = 1.0 + 0.004 * (TAU * 5.0 * t).sin() * swell;
    let tone: f32 = (1..=7_u8)
        .map(|n| {
            let n = f32::from(n);
            (TAU * hertz * wobble * n * t).sin() / n * envelope.powf(0.6 * n)
        })
        .sum();
    0.55 * tone
}

/// Metal on metal: partials that are no harmonics of each other.
fn blow(variant: u32) -> Vec<f32> {
    let (base, mut noise) = (1_150.0 + 240.0 * variant as f32, Noise::new(variant));
    let ring = |t: f32| -> f32 {
        [(1.0, 1.0), (1.53, 0.7), (2.18, 0.55), (2.91, 0.4), (3.87, 0.25)]
            .into_iter()
            .map(|(ratio, part)| part * (TAU * base * ratio * t).sin() * (-(16.0 + 9.0 * ratio) * t).exp())
            .sum()
    };
    seconds(0.24).map(|t| 0.22 * ring(t) + 0.5 * noise.next() * (-140.0 * t).exp()).collect()
}

/// Air along feathers.
fn arrow(variant: u32) -> Vec<f32> {
    let (length, mut noise) = (0.2 + 0.03 * variant as f32, Noise::new(10 + variant));
    let (mut low, mut lower) = (0.0_f32, 0.0_f32);
    seconds(length)
        .map(|t| {
            low += 0.45 * (noise.next() - low);
            lower += 0.12 * (low - lower);
            let swell = (TAU * t / length / 2.0).sin();
            0.5 * (low - lower) * swell * swell
        })
        .collect()
}

/// A body hits the ground.
fn fall(variant: u32) -> Vec<f32> {
    let (base, mut noise) = (105.0 + 14.0 * variant as f32, Noise::new(20 + variant));
    let mut low = 0.0_f32;
    seconds(0.3)
        .map(|t| {
            low += 0.08 * (noise.next() - low);
            // The tone sinks: its phase is the integral of its frequency.
            let phase = base * (t - 1.4 * t * t);
            (0.5 * (TAU * phase).sin() + 0.9 * low) * (-15.0 * t).exp()
        })
        .collect()
}

/// Walls come down, stone after stone.
fn crash() -> Vec<f32> {
    let (mut rumble, mut stones, mut low) = (Noise::new(31), Noise::new(32), 0.0_f32);
    let mut hit = 0.0_f32;
    seconds(1.7)
        .map(|t| {
            low += 0.05 * (rumble.next() - low);
            if stones.next() > 0.9992 {
                hit = 1.0;
            }
            hit *= 0.9985;
            (1.9 * low + 0.35 * hit * rumble.next() + 0.35 * (TAU * 46.0 * t).sin()) * (-2.2 * t).exp()
        })
        .map(|sample: f32| sample.clamp(-1.0, 1.0))
        .collect()
}

/// White noise, the same for the same seed: xorshift of 32 bits.
struct Noise(u32);

impl Noise {
    fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9) ^ 0x1234_5677)
    }

    /// Within -1..1.
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sound::cue::waves;

    #[test]
    fn every_wave_is_heard_is_bounded_and_does_not_click() {
        for (cue, variant) in waves() {
            let wave = samples(cue, variant);
            assert_eq!(wave, samples(cue, variant), "{cue:?}");
            let peak = wave.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
            assert!((0.05..=1.0).contains(&peak), "{cue:?} {variant}: {peak}");
            let ends = wave[0].abs().max(wave[wave.len() - 1].abs());
            assert!(ends < 0.01, "{cue:?} {variant}: {ends}");
            let jump = wave.windows(2).fold(0.0_f32, |jump, pair| jump.max((pair[1] - pair[0]).abs()));
            assert!(jump < 1.0, "{cue:?} {variant}: {jump}");
            assert!(wave.len() < 3 * RATE as usize, "{cue:?}");
        }
    }

    #[test]
    fn variants_differ() {
        for cue in [Cue::Blow, Cue::Arrow, Cue::Fall] {
            assert_ne!(samples(cue, 0), samples(cue, 1), "{cue:?}");
        }
    }
}
