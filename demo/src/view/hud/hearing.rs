//! What the person hears of a battle, and the button and the slider for it.

use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::math::Rect;

use crate::view::command::order_log::OrderLog;
use crate::view::command::side::Side;
use crate::view::widgets::ui::Ui;
use testudo_render::battle::view::View;
use testudo_render::sound::{Cue, Sounds};

/// Loudness of what is outside the view, and from which scale on everything in it is as loud as it can be, pixels per unit.
const FAR: f32 = 0.15;
const NEAR_FROM: f32 = 24.0;

/// Widths of the button and of the slider, pixels.
pub(crate) const BUTTON: f32 = 64.0;
pub(crate) const SLIDER: f32 = 64.0;

/// The person's ears.
pub(crate) struct Hearing {
    sounds: Sounds,
    /// The armies have met.
    has_met: bool,
}

impl Hearing {
    pub(crate) fn open() -> Self {
        Self { sounds: Sounds::open(), has_met: false }
    }

    /// A new battle begins.
    pub(crate) fn start_again(&mut self) {
        self.has_met = false;
    }

    /// Plays what has happened since the last picture, `real` seconds ago. `player` is the person's.
    pub(crate) fn listen(&mut self, side: &mut Side, view: &View, player: u8, real: f32, log: &mut OrderLog) {
        self.sounds.pass(real);
        if let Some(cue) = side.answer.take() {
            self.play(cue, 1.0, log);
        }
        let near = (view.camera.scale / NEAR_FROM).clamp(0.3, 1.0);
        for event in side.effects.take_events() {
            let loudness = if view.sees(event.at, 0.0) { near } else { FAR };
            let has_met = core::mem::replace(&mut self.has_met, true);
            let is_own_building = event.is_siege && event.army == player;
            if !has_met || is_own_building {
                self.play(Cue::Horn, 0.8, log);
            }
            self.play(event.cue, loudness, log);
        }
    }

    /// The battle is decided; `is_won` from the person's side.
    pub(crate) fn end(&mut self, is_won: bool, log: &mut OrderLog) {
        self.play(if is_won { Cue::Victory } else { Cue::Defeat }, 1.0, log);
    }

    fn play(&mut self, cue: Cue, loudness: f32, log: &mut OrderLog) {
        let is_rare = !matches!(cue, Cue::Blow | Cue::Arrow | Cue::Fall);
        if self.sounds.play(cue, loudness) && is_rare && log.is_on() {
            log.note("heard", cue.name());
        }
    }

    /// M switches the sound off and on.
    pub(crate) fn read_keys(&mut self, log: &mut OrderLog) {
        if is_key_pressed(KeyCode::M) {
            self.toggle(log);
        }
    }

    fn toggle(&mut self, log: &mut OrderLog) {
        let is_muted = !self.sounds.is_muted();
        self.sounds.set_muted(is_muted);
        log.note("muted", is_muted);
    }

    /// The mute button, and the slider beside it if there is room.
    pub(crate) fn draw(&mut self, ui: &mut Ui, button: Rect, slider: Option<Rect>, log: &mut OrderLog) {
        let word = match (self.sounds.is_heard(), self.sounds.is_muted()) {
            (false, _) => "No sound",
            (true, true) => "Muted",
            (true, false) => "Sound",
        };
        if ui.button("sound", button, word, self.sounds.is_muted()) {
            self.toggle(log);
        }
        let mut volume = self.sounds.volume();
        if let Some(track) = slider
            && ui.track("volume", track, &mut volume)
        {
            self.sounds.set_volume(volume);
            log.note("volume", (volume * 100.0).round());
        }
    }
}
