//! The window. It reads clients' states and gives orders; nothing that it does changes a simulation by another way, and a slow
//! picture only makes time pass more slowly.

mod alarm;
mod atlas;
mod batch;
mod camera;
mod card;
mod conditions;
mod controls;
mod cubes;
mod debug;
mod desk;
#[cfg(not(target_arch = "wasm32"))]
mod display;
#[cfg(not(target_arch = "wasm32"))]
mod drawing_cost;
mod effects;
#[cfg(not(target_arch = "wasm32"))]
mod ending;
mod graph;
mod header;
mod help;
mod layout;
#[cfg(not(target_arch = "wasm32"))]
mod lobby;
mod minimap;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(not(target_arch = "wasm32"))]
mod network;
mod order_log;
#[cfg(target_arch = "wasm32")]
mod page;
mod palette;
mod panel;
#[cfg(not(target_arch = "wasm32"))]
mod peers;
mod pen;
mod scene;
mod selection;
mod side;
mod sight;
mod steering;
mod ui;
#[cfg(not(target_arch = "wasm32"))]
mod viewing;
mod viewport;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use drawing_cost::{DrawingResult, measure as measure_drawing};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::{WindowError, open, open_cubes, open_network, open_replay};
#[cfg(target_arch = "wasm32")]
pub(crate) use page::open_page;

use std::cell::Cell;

use macroquad::conf::Conf;
use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::miniquad;
use macroquad::miniquad::conf::{LinuxBackend, Platform};
use macroquad::texture::get_screen_data;
use macroquad::time::{get_frame_time, get_time};
use macroquad::window::{clear_background, next_frame, screen_height, screen_width};

use crate::app::{MatchError, SkirmishSpec};
use desk::Desk;
use layout::Layout;
use order_log::OrderLog;
use palette::BACKDROP;

/// Longest time that a picture stands for, seconds: after a longer one the match is behind the clock, not ahead of the eye.
const PICTURE_MAX: f32 = 0.1;

/// Settings of the window.
fn conf(linux_backend: LinuxBackend) -> Conf {
    Conf {
        miniquad_conf: miniquad::conf::Conf {
            window_title: "Testudo".into(),
            window_width: 1_360,
            window_height: 860,
            high_dpi: true,
            sample_count: 1,
            platform: Platform { linux_backend, ..Platform::default() },
            ..miniquad::conf::Conf::default()
        },
        draw_call_vertex_capacity: batch::VERTICES_MAX,
        draw_call_index_capacity: batch::INDICES_MAX,
        ..Conf::default()
    }
}

/// Picture after picture. The verdict so far stands in `told`, because a window may be closed at any time.
async fn run(
    spec: SkirmishSpec,
    speed_percent: u32,
    log: OrderLog,
    told: &Cell<Option<Result<bool, MatchError>>>,
) -> Result<bool, MatchError> {
    let mut desk = Desk::new(spec, speed_percent, log)?;
    let mut pictures = 0;
    let mut rate = Rate::new();
    loop {
        let seconds = get_frame_time().min(PICTURE_MAX);
        rate.note_picture(&mut desk.log);
        desk.layout = Layout::new(screen_width(), screen_height());
        desk.ui.begin();
        desk.read(seconds);
        desk.advance(seconds);
        clear_background(BACKDROP);
        desk.draw();
        told.set(Some(Ok(desk.agrees())));
        save_picture_on_key(&mut desk.log, &mut pictures);
        if controls::wants_to_quit() {
            desk.note_end();
            miniquad::window::order_quit();
        }
        next_frame().await;
    }
}

/// How many pictures there are in a second, for the log.
struct Rate {
    pictures: u32,
    since: f64,
}

impl Rate {
    /// Pictures from one note to the next.
    const EVERY: u32 = 200;

    fn new() -> Self {
        Self { pictures: 0, since: get_time() }
    }

    fn note_picture(&mut self, log: &mut OrderLog) {
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
fn save_picture_on_key(log: &mut OrderLog, saved: &mut u32) {
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
