//! A page: the browser's audio, by way of the window library. The browser mixes.

use std::sync::{Arc, Mutex, PoisonError};

use macroquad::audio::{PlaySoundParams, Sound, load_sound_from_bytes, play_sound};
use macroquad::experimental::coroutines::start_coroutine;

use crate::sound::cue::{Cue, index, waves};
use crate::sound::wave;

/// The browser's copies of the waves, as far as they have been made.
pub(super) struct Player {
    sounds: Arc<Mutex<Vec<Sound>>>,
}

impl Player {
    /// Waves are computed and handed over one after the other, between pictures.
    pub(super) fn start() -> Self {
        let sounds: Arc<Mutex<Vec<Sound>>> = Arc::default();
        let ready = Arc::clone(&sounds);
        start_coroutine(async move {
            for (cue, variant) in waves() {
                // Where a browser cannot decode a wave, the others would have the wrong numbers.
                let Ok(sound) = load_sound_from_bytes(&file(&wave::samples(cue, variant))).await else {
                    return;
                };
                ready.lock().unwrap_or_else(PoisonError::into_inner).push(sound);
            }
        });
        Self { sounds }
    }

    /// Plays a cue, if it is there already.
    pub(super) fn play(&self, cue: Cue, variant: u32, volume: f32) {
        let sounds = self.sounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(sound), true) = (sounds.get(index(cue, variant)), volume > 0.0) {
            play_sound(sound, PlaySoundParams { looped: false, volume });
        }
    }
}

/// A WAV file: RIFF with one chunk for the format (PCM, mono, 16 bits) and one for the samples.
fn file(samples: &[f32]) -> Vec<u8> {
    let length = 2 * samples.len() as u32;
    let mut bytes = Vec::with_capacity(44 + length as usize);
    bytes.extend(b"RIFF");
    bytes.extend((36 + length).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend(wave::RATE.to_le_bytes());
    bytes.extend((2 * wave::RATE).to_le_bytes());
    bytes.extend(2_u16.to_le_bytes());
    bytes.extend(16_u16.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(length.to_le_bytes());
    for sample in samples {
        bytes.extend(((sample * f32::from(i16::MAX)) as i16).to_le_bytes());
    }
    bytes
}
