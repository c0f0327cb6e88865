//! Adds up what sounds at the same time. No clock: the output asks for samples, and time is their number.

use crate::sound::cue::{Cue, index, waves};
use crate::sound::wave;

/// Waves that sound at the same time; one more is left out.
const VOICES_MAX: usize = 24;

/// What the mixer is told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Event {
    /// From now on this is heard, at this loudness, 0..=1.
    Play { cue: Cue, variant: u32, loudness: f32 },
    /// Everything is multiplied by this from now on, 0..=1.
    Gain(f32),
}

/// A wave that is being played.
#[derive(Clone, Copy, Debug)]
struct Voice {
    wave: usize,
    /// Samples played.
    at: usize,
    loudness: f32,
}

/// All waves, and those that are being played.
pub(crate) struct Mixer {
    waves: Vec<Vec<f32>>,
    voices: Vec<Voice>,
    gain: f32,
}

impl Mixer {
    pub(crate) fn new() -> Self {
        let waves = waves().map(|(cue, variant)| wave::samples(cue, variant)).collect();
        Self { waves, voices: Vec::with_capacity(VOICES_MAX), gain: 1.0 }
    }

    pub(crate) fn hear(&mut self, event: Event) {
        match event {
            Event::Play { cue, variant, loudness } => {
                if self.voices.len() < VOICES_MAX {
                    let loudness = loudness.clamp(0.0, 1.0);
                    self.voices.push(Voice { wave: index(cue, variant), at: 0, loudness });
                }
            }
            Event::Gain(gain) => self.gain = gain.clamp(0.0, 1.0),
        }
    }

    /// The next samples, within -1..=1.
    pub(crate) fn fill(&mut self, samples: &mut [f32]) {
        samples.fill(0.0);
        for voice in &mut self.voices {
            let rest = self.waves[voice.wave].get(voice.at..).unwrap_or_default();
            for (sample, value) in samples.iter_mut().zip(rest) {
                *sample += value * voice.loudness;
            }
            voice.at += samples.len();
        }
        self.voices.retain(|voice| voice.at < self.waves[voice.wave].len());
        for sample in samples {
            // Many voices come close to 1, and none beyond it.
            *sample = self.gain * sample.tanh();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is heard of a list of events, each after a number of samples, asked for in parts of this length.
    fn heard(events: &[(usize, Event)], part: usize, length: usize) -> Vec<f32> {
        let mut mixer = Mixer::new();
        let mut all = Vec::new();
        while all.len() < length {
            for (_, event) in events.iter().filter(|(at, _)| *at == all.len()) {
                mixer.hear(*event);
            }
            let next = events.iter().map(|(at, _)| *at).filter(|at| *at > all.len()).min();
            let end = next.unwrap_or(length).min(all.len() + part).min(length);
            let mut samples = vec![f32::NAN; end - all.len()];
            mixer.fill(&mut samples);
            all.extend(samples);
        }
        all
    }

    fn play(cue: Cue, variant: u32) -> Event {
        Event::Play { cue, variant, loudness: 1.0 }
    }

    fn battle() -> Vec<(usize, Event)> {
        let waves: Vec<(Cue, u32)> = waves().collect();
        let event = |n: usize| waves[n * 7 % waves.len()];
        (0..400).map(|n| (n * 97, play(event(n).0, event(n).1))).collect()
    }

    #[test]
    fn a_loud_battle_stays_within_bounds_and_is_heard() {
        let heard = heard(&battle(), 1_000, 60_000);
        assert!(heard.iter().all(|sample| (-1.0..=1.0).contains(sample)));
        let peak = heard.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
        assert!(peak > 0.5, "{peak}");
    }

    #[test]
    fn the_same_events_give_the_same_samples_in_parts_of_any_length() {
        let whole = heard(&battle(), 60_000, 60_000);
        for part in [1, 333, 4_096] {
            assert_eq!(heard(&battle(), part, 60_000), whole, "{part}");
        }
    }

    #[test]
    fn who_is_muted_is_silent_and_comes_back() {
        let mut events = battle();
        events.insert(0, (0, Event::Gain(0.0)));
        assert!(heard(&events, 500, 60_000).iter().all(|sample| *sample == 0.0));
        events.push((30_000, Event::Gain(0.5)));
        let heard = heard(&events, 500, 60_000);
        assert!(heard[..30_000].iter().all(|sample| *sample == 0.0));
        assert!(heard[30_000..].iter().any(|sample| sample.abs() > 0.1));
    }

    #[test]
    fn after_the_last_wave_there_is_silence() {
        let heard = heard(&[(0, play(Cue::Blow, 1))], 100, 2 * wave::RATE as usize);
        assert!(heard[..4_000].iter().any(|sample| sample.abs() > 0.05));
        assert!(heard[wave::RATE as usize..].iter().all(|sample| *sample == 0.0));
    }
}
