//! Common work for every picture: saving with F12, the size of letters, counting.

use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::math::Rect;
#[cfg(not(target_arch = "wasm32"))]
use macroquad::texture::get_screen_data;
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
            self.saved += 1;
            let name = format!("testudo-{}.png", self.saved);
            let mut picture = get_screen_data();
            // Remaining transparency has no meaning on a screen.
            picture.get_image_data_mut().iter_mut().for_each(|pixel| pixel[3] = u8::MAX);
            picture.export_png(&name);
            let path = std::path::absolute(&name).map_or(name.clone(), |path| path.display().to_string());
            let is_there = std::path::Path::new(&name).exists();
            let text =
                if is_there { format!("Saved as {path}") } else { format!("{path} cannot be written") };
            self.told = Some((text, get_time() + TOLD));
            log.note("picture", name);
        } else {
            self.is_wanted = is_key_pressed(KeyCode::F12);
        }
    }
}

/// A line over everything, in the middle of the screen.
fn notice(pen: &Pen, text: &str) {
    let size = screen::size();
    let width = (pen.width(text, SIZE) + 32.0).min(size.x);
    let plate = Rect::new((size.x - width) / 2.0, size.y * 0.4, width, 40.0);
    pen.plate(text, plate, SIZE, TEXT, PANEL);
}
