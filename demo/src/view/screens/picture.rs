//! What all screens do with every picture: time passes, F12 saves it, somebody counts.

use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::texture::get_screen_data;
use macroquad::time::get_time;

use crate::view::command::order_log::OrderLog;

/// Longest time that a picture stands for, seconds: after a longer one the match is behind the clock, not ahead of the eye.
pub(crate) const PICTURE_MAX: f32 = 0.1;

/// How many pictures there are in a second, for the log.
pub(crate) struct PictureCount {
    pictures: u32,
    since: f64,
}

impl PictureCount {
    /// Pictures from one note to the next.
    const EVERY: u32 = 200;

    pub(crate) fn new() -> Self {
        Self { pictures: 0, since: get_time() }
    }

    pub(crate) fn note_picture(&mut self, log: &mut OrderLog) {
        self.pictures += 1;
        if self.pictures == Self::EVERY {
            let now = get_time();
            let rate = f64::from(self.pictures) / (now - self.since).max(1e-3);
            log.note("pictures_per_second", (rate * 10.0).round() / 10.0);
            *self = Self { pictures: 0, since: now };
        }
    }
}

/// F12 saves what is on the screen in the folder in which the program was started; `saved` pictures are there already.
pub(crate) fn save_picture_on_key(log: &mut OrderLog, saved: &mut u32) {
    if !is_key_pressed(KeyCode::F12) {
        return;
    }
    *saved += 1;
    let number = *saved;
    let name = format!("testudo-{number}.png");
    let mut picture = get_screen_data();
    // What is left of transparency means nothing on a screen.
    picture.get_image_data_mut().iter_mut().for_each(|pixel| pixel[3] = u8::MAX);
    picture.export_png(&name);
    log.note("picture", name);
}
