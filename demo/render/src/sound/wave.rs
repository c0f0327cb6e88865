//! The sounds themselves, computed from sines and noise when the program starts.

use std::f32::consts::TAU;

use crate::sound::cue::Cue;

/// Samples per second.
pub(crate) const RATE: u32 = 32_000;

/// The samples of a cue, within -1..=1. The same for the same arguments.
pub(crate) fn samples(cue: Cue, variant: u32) -> Vec<f32> {
    let mut wave = match cue {
        Cue::Order => notes(&[(659.3, 0.07), (880.0, 0.12)], pluck, 0.34),
        Cue::Attack => notes(&[(196.0, 0.1), (261.6, 0.2)], brass, 0.5),
        Cue::Blow => blow(variant),
        Cue::Arrow => arrow(variant),
        Cue::Fall => fall(variant),
        Cue::Crash => crash(),
        Cue::Horn => notes(&[(146.8, 0.35), (220.0, 0.9)], brass, 0.65),
        Cue::Victory => notes(&[(261.6, 0.16), (329.6, 0.16), (392.0, 0.16), (523.3, 0.9)], brass, 0.45),
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
    let phase = TAU * hertz * vibrato(t);
    let tone: f32 = (1..=7_u8)
        .map(|n| {
            let n = f32::from(n);
            (phase * n).sin() / n * envelope.powf(0.6 * n)
        })
        .sum();
    0.55 * tone
}

/// The time as a swaying tone counts it: the integral of a frequency that swings by [`DEPTH`] about 1. A factor of the time itself would swing
/// further and further.
fn vibrato(t: f32) -> f32 {
    /// Swings per second.
    const RATE: f32 = 5.0;
    t + DEPTH / (TAU * RATE) * (1.0 - (TAU * RATE * t).cos())
}

/// How far the frequency of a horn sways, as a part of it.
const DEPTH: f32 = 0.004;

/// Metal on metal: partials that are no harmonics of each other.
fn blow(variant: u32) -> Vec<f32> {
    let (base, mut noise) = (1_150.0 + 240.0 * variant as f32, Noise::new(variant));
    let ring = |t: f32| -> f32 {
        [(1.0, 1.0), (1.53, 0.7), (2.18, 0.55), (2.91, 0.4), (3.87, 0.25)]
            .into_iter()
            .map(|(ratio, part)| part * (TAU * base * ratio * t).sin() * (-(16.0 + 9.0 * ratio) * t).exp())
            .sum()
    };
    // The click is dull: white noise is harsh where blow follows blow.
    let mut low = 0.0_f32;
    seconds(0.24)
        .map(|t| {
            low += 0.4 * (noise.next() - low);
            0.22 * ring(t) + 0.6 * low * (-140.0 * t).exp()
        })
        .collect()
}

/// Air along feathers.
fn arrow(variant: u32) -> Vec<f32> {
    let (length, mut noise) = (0.2 + 0.03 * variant as f32, Noise::new(10 + variant));
    let (mut low, mut lower) = (0.0_f32, 0.0_f32);
    seconds(length)
        .map(|t| {
            low += 0.25 * (noise.next() - low);
            lower += 0.1 * (low - lower);
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
            (0.6 * (TAU * phase).sin() + 1.4 * low) * (-15.0 * t).exp()
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
            (2.2 * low + 0.4 * hit * rumble.next() + 0.3 * (TAU * 46.0 * t).sin()) * (-2.2 * t).exp()
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
    use crate::sound::cue::waves;

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

    /// What the ear hears of a wave: A-weighting (IEC 61672) by its first-order poles, with 0 dB at 1 kHz. Loudness of the loudest tenth of a
    /// second, dB.
    fn loudness(wave: &[f32]) -> f32 {
        let mut heard = wave.to_vec();
        heard.resize(wave.len() + RATE as usize / 10, 0.0);
        let time = 1.0 / RATE as f32;
        for hertz in [20.6, 20.6, 107.7, 737.9] {
            let part = 1.0 / (1.0 + TAU * hertz * time);
            let (mut high, mut before) = (0.0, 0.0);
            for sample in &mut heard {
                high = part * (high + *sample - before);
                before = *sample;
                *sample = high;
            }
        }
        let window = RATE as usize / 10;
        let mean = |part: &[f32]| part.iter().map(|sample| sample * sample).sum::<f32>() / window as f32;
        let most = heard.chunks(window / 4).collect::<Vec<_>>();
        let energy = most.windows(4).map(|four| four.iter().map(|part| mean(part)).sum::<f32>());
        10.0 * energy.fold(0.0, f32::max).log10() + 2.0
    }

    #[test]
    fn the_measure_of_loudness_knows_a_tone() {
        // A sine of amplitude 1 has -3 dB; A-weighting takes 10.9 dB at 200 Hz.
        for (hertz, wanted) in [(1_000.0, -3.0), (200.0, -13.9)] {
            let tone = loudness(&seconds(1.0).map(|t| (TAU * hertz * t).sin()).collect::<Vec<_>>());
            assert!((tone - wanted).abs() < 1.0, "{hertz}: {tone}");
        }
    }

    /// Otherwise a fall would not be heard below a victory.
    #[test]
    fn sounds_of_a_kind_are_equally_loud() {
        for (cue, variant) in waves() {
            let wanted = match cue {
                Cue::Order | Cue::Attack | Cue::Crash => -19.5,
                Cue::Blow | Cue::Arrow | Cue::Fall => -21.0,
                // Rare, and to be heard above the battle.
                Cue::Horn | Cue::Victory | Cue::Defeat => -15.0,
            };
            let loudness = loudness(&samples(cue, variant));
            assert!((loudness - wanted).abs() < 3.0, "{cue:?} {variant}: {loudness} dB, not {wanted}");
        }
    }

    #[test]
    fn a_horn_sways_no_more_in_the_end_than_in_the_beginning() {
        let step = 1.0 / RATE as f32;
        for n in 0..60_000_u16 {
            let t = f32::from(n) * step;
            // Its frequency as a part of the note's; f32 knows the phase to a thousandth here.
            let frequency =
                (f64::from(vibrato(t + 20.0 * step)) - f64::from(vibrato(t))) / f64::from(20.0 * step);
            assert!((frequency - 1.0).abs() < 1.5 * f64::from(DEPTH), "at {t}: {frequency}");
        }
    }

    #[test]
    fn variants_differ() {
        for cue in [Cue::Blow, Cue::Arrow, Cue::Fall] {
            assert_ne!(samples(cue, 0), samples(cue, 1), "{cue:?}");
        }
    }
}
