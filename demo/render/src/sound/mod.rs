//! Sound: computed when the program starts, mixed by the program, and handed to the system's sound server or to the browser. Where there is
//! neither, there is silence. Nothing here reaches a simulation.

pub mod cue;
// A page's browser mixes by itself.
#[cfg(any(target_os = "linux", test))]
mod mixer;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_os = "linux")]
mod pulse;
#[cfg(any(target_os = "linux", target_arch = "wasm32", test))]
mod wave;

pub use cue::Cue;

/// Initial volume, 0..=1.
const VOLUME: f32 = 0.6;

/// Time after which a sound server that is not there is looked for again.
#[cfg(target_os = "linux")]
const AGAIN_SECONDS: f32 = 5.0;

/// Where sounds go.
enum Output {
    #[cfg_attr(any(target_os = "linux", target_arch = "wasm32"), allow(dead_code))]
    Silence,
    #[cfg(target_os = "linux")]
    Pulse(pulse::Speaker),
    #[cfg(target_arch = "wasm32")]
    Page(page::Player),
}

/// What the person hears.
pub struct Sounds {
    output: Output,
    /// Volume, 0..=1, and whether the person wants none.
    volume: f32,
    is_muted: bool,
    /// The mixer has heard of both.
    #[cfg(target_os = "linux")]
    is_gain_sent: bool,
    /// When the server was looked for last, seconds.
    #[cfg(target_os = "linux")]
    looked: f32,
    /// Real time since the start, and when each cue was played last, seconds.
    seconds: f32,
    played: [f32; cue::CUES],
    /// Counts what was played, for a change between variants.
    count: u32,
}

impl Sounds {
    /// Where this window's sounds go is asked without waiting for the answer.
    pub fn open() -> Self {
        #[cfg(target_os = "linux")]
        let output = Output::Pulse(pulse::start());
        #[cfg(target_arch = "wasm32")]
        let output = Output::Page(page::Player::start());
        #[cfg(not(any(target_os = "linux", target_arch = "wasm32")))]
        let output = Output::Silence;
        Self::to(output)
    }

    fn to(output: Output) -> Self {
        let mut sounds = Self {
            output,
            volume: VOLUME,
            is_muted: false,
            #[cfg(target_os = "linux")]
            is_gain_sent: true,
            #[cfg(target_os = "linux")]
            looked: 0.0,
            seconds: 0.0,
            played: [f32::NEG_INFINITY; cue::CUES],
            count: 0,
        };
        sounds.set_volume(VOLUME);
        sounds
    }

    /// Whether anybody takes the sounds.
    pub fn is_heard(&self) -> bool {
        match &self.output {
            Output::Silence => false,
            #[cfg(target_os = "linux")]
            Output::Pulse(speaker) => speaker.is_connected(),
            #[cfg(target_arch = "wasm32")]
            Output::Page(_) => true,
        }
    }

    /// Real time passes, seconds.
    pub fn pass(&mut self, seconds: f32) {
        self.seconds += seconds;
        #[cfg(target_os = "linux")]
        self.look_for_server();
        #[cfg(target_os = "linux")]
        if !self.is_gain_sent {
            self.send_gain();
        }
    }

    /// The sound server may have been started again.
    #[cfg(target_os = "linux")]
    fn look_for_server(&mut self) {
        if let Output::Pulse(speaker) = &mut self.output
            && speaker.is_over()
            && self.seconds - self.looked >= AGAIN_SECONDS
        {
            self.looked = self.seconds;
            speaker.again();
            self.is_gain_sent = false;
        }
    }

    /// Lets a cue be heard at a loudness of 0..=1, unless the same one was heard just before. True if it is played.
    pub fn play(&mut self, cue: Cue, loudness: f32) -> bool {
        let last = &mut self.played[cue as usize];
        if self.seconds - *last < cue.gap() {
            return false;
        }
        *last = self.seconds;
        self.count = self.count.wrapping_add(1);
        match &mut self.output {
            Output::Silence => {}
            #[cfg(target_os = "linux")]
            Output::Pulse(speaker) => {
                speaker.send(mixer::Event::Play { cue, variant: self.count % cue.variants(), loudness });
            }
            #[cfg(target_arch = "wasm32")]
            Output::Page(player) => {
                let gain = if self.is_muted { 0.0 } else { gain(self.volume) };
                player.play(cue, self.count % cue.variants(), loudness * gain);
            }
        }
        true
    }

    pub fn volume(&self) -> f32 {
        self.volume
    }

    pub fn is_muted(&self) -> bool {
        self.is_muted
    }

    /// Sets the volume, 0..=1.
    pub fn set_volume(&mut self, volume: f32) {
        self.volume = volume.clamp(0.0, 1.0);
        self.send_gain();
    }

    pub fn set_muted(&mut self, is_muted: bool) {
        self.is_muted = is_muted;
        self.send_gain();
    }

    fn send_gain(&mut self) {
        #[cfg(target_os = "linux")]
        if let Output::Pulse(speaker) = &mut self.output {
            // While the server stands still, the mixer hears nothing: whoever has muted it is not to hear it later.
            let gain = if self.is_muted { 0.0 } else { gain(self.volume) };
            self.is_gain_sent = speaker.send(mixer::Event::Gain(gain));
        }
    }
}

/// The ear counts in ratios: half of the slider is a quarter of the amplitude.
#[cfg(any(target_os = "linux", target_arch = "wasm32"))]
fn gain(volume: f32) -> f32 {
    volume * volume
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cue_is_not_heard_again_at_once() {
        let mut sounds = Sounds::to(Output::Silence);
        assert!(sounds.play(Cue::Horn, 1.0) && sounds.play(Cue::Blow, 1.0));
        sounds.pass(1.0);
        assert!(!sounds.play(Cue::Horn, 1.0) && sounds.play(Cue::Blow, 1.0));
        sounds.pass(20.0);
        assert!(sounds.play(Cue::Horn, 1.0));
        assert!(!sounds.is_heard());
    }
}
