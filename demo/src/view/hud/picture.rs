//! Common work for every picture: saving with F12, the size of letters, counting.

#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::math::Rect;
#[cfg(not(target_arch = "wasm32"))]
use macroquad::texture::{Image, get_screen_data};
use macroquad::time::get_time;
use macroquad::window::clear_background;

use crate::view::command::order_log::OrderLog;
use testudo_render::paint::palette::{BACKDROP, PANEL, TEXT};
use testudo_render::paint::pen::{Pen, SIZE};
use testudo_render::paint::screen::Letters;
use testudo_render::paint::{screen, viewport};

/// Longest time that a picture stands for, seconds: after a longer one the match is behind the clock, not ahead of the eye.
pub(crate) const PICTURE_MAX: f32 = 0.1;

/// Pictures from one note of how many there are in a second to the next.
const COUNTED: u32 = 200;

/// For how long the window says where a picture has gone, or how large letters are now, seconds.
const TOLD: f64 = 4.0;

/// Begins and ends pictures. F9 changes the size of letters. F12 saves what is on the screen in the folder in which the program was started;
/// a page leaves that to the browser.
#[derive(Default)]
pub(crate) struct Pictures {
    #[cfg(not(target_arch = "wasm32"))]
    saved: u32,
    /// The key was pressed; the next picture is saved, without a word about the last one.
    #[cfg(not(target_arch = "wasm32"))]
    is_wanted: bool,
    /// What the window says, and until when.
    told: Option<(String, f64)>,
    /// What the log knows of texts that lie over each other.
    clash: Option<String>,
    /// Pictures since a time.
    count: (u32, f64),
    /// When this picture was begun, seconds.
    begun_at: f64,
}

impl Pictures {
    /// Begins a picture: call before anything is laid out, read or drawn.
    pub(crate) fn begin(&mut self, pen: &Pen, log: &mut OrderLog) {
        #[cfg(target_arch = "wasm32")]
        screen::set_pixel_ratio(crate::app::page::pixel_ratio());
        if is_key_pressed(KeyCode::F9) {
            screen::set_letters(screen::letters().next());
            let text = match screen::letters() {
                Letters::Auto => "Letters follow the size of the picture".into(),
                Letters::Percent(percent) => format!("Letters: {percent} %"),
            };
            self.told = Some((text, get_time() + TOLD));
        }
        if screen::follow_choice() {
            log.note("letters", f64::from(screen::factor()));
        }
        let ((pictures, since), now) = (self.count, get_time());
        if pictures == COUNTED {
            let rate = f64::from(pictures) / (now - since).max(1e-3);
            log.note("pictures_per_second", (rate * 10.0).round() / 10.0);
        }
        self.count = if matches!(pictures, 0 | COUNTED) { (1, now) } else { (pictures + 1, since) };
        self.begun_at = now;
        pen.follow_screen();
        viewport::leave();
        clear_background(BACKDROP);
    }

    /// Waits until a picture has stood for its time, if there is a limit.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn rest(&self, fps_max: Option<u32>) {
        let Some(fps_max) = fps_max else { return };
        let rest = self.begun_at + 1.0 / f64::from(fps_max) - get_time();
        if rest > 0.0 {
            std::thread::sleep(std::time::Duration::from_secs_f64(rest));
        }
    }

    /// Ends a picture, when everything else has been drawn. Texts that lie over each other or leave the screen are noted for scripts.
    pub(crate) fn end(&mut self, pen: &Pen, log: &mut OrderLog) {
        // The browser has keys of its own for pictures.
        #[cfg(not(target_arch = "wasm32"))]
        self.save_on_key(log);
        self.told.take_if(|(_, until)| *until < get_time());
        #[cfg(not(target_arch = "wasm32"))]
        let is_silent = self.is_wanted;
        #[cfg(target_arch = "wasm32")]
        let is_silent = false;
        if let Some((text, _)) = self.told.as_ref().filter(|_| !is_silent) {
            notice(pen, text);
        }
        let clash = pen.take_clash(log.is_on());
        if clash != self.clash {
            log.note("clash", clash.clone());
            self.clash = clash;
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn save_on_key(&mut self, log: &mut OrderLog) {
        if core::mem::take(&mut self.is_wanted) {
            let name = self.free_name();
            let path = std::path::absolute(&name).map_or(name.clone(), |path| path.display().to_string());
            let text = match save(Path::new(&name), get_screen_data()) {
                Ok(()) => {
                    log.note("picture", name);
                    format!("Saved as {path}")
                }
                Err(error) => {
                    log.note("error", error.to_string());
                    format!("{path} cannot be written")
                }
            };
            self.told = Some((text, get_time() + TOLD));
        } else {
            self.is_wanted = is_key_pressed(KeyCode::F12);
        }
    }

    /// A name that no file has: pictures of earlier runs stay.
    #[cfg(not(target_arch = "wasm32"))]
    fn free_name(&mut self) -> String {
        loop {
            self.saved += 1;
            let name = format!("testudo-{}.png", self.saved);
            if !Path::new(&name).exists() {
                return name;
            }
        }
    }
}

/// Writes what is on the screen. (The library's own function panics where it cannot write.)
#[cfg(not(target_arch = "wasm32"))]
fn save(path: &Path, mut picture: Image) -> image::ImageResult<()> {
    // Remaining transparency has no meaning on a screen.
    picture.get_image_data_mut().iter_mut().for_each(|pixel| pixel[3] = u8::MAX);
    // The lowest row comes first.
    let rows = picture.bytes.chunks_exact(4 * usize::from(picture.width));
    let bytes = rows.rev().collect::<Vec<_>>().concat();
    let [width, height] = [picture.width, picture.height].map(u32::from);
    image::save_buffer(path, &bytes, width, height, image::ColorType::Rgba8)
}

/// A line over everything, in the middle of the screen.
fn notice(pen: &Pen, text: &str) {
    let size = screen::size();
    let width = (pen.width(text, SIZE) + 32.0).min(size.x);
    let plate = Rect::new((size.x - width) / 2.0, size.y * 0.4, width, 40.0);
    pen.plate(text, plate, SIZE, TEXT, PANEL);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program ended where a picture could not be written, and a match with it.
    #[test]
    fn a_picture_is_saved_or_it_is_said_that_it_cannot_be() {
        let screen = || Image { bytes: (1..=16).collect(), width: 2, height: 2 };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        save(&path, screen()).unwrap();
        let saved = image::open(&path).unwrap().into_rgba8();
        let rows = [[9, 10, 11, 255, 13, 14, 15, 255], [1, 2, 3, 255, 5, 6, 7, 255]];
        assert_eq!(saved.into_raw(), rows.concat(), "the highest row comes first");
        assert!(save(&path.join("picture.png"), screen()).is_err());
    }
}
