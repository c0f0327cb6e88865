//! The window. It reads clients' states and gives orders; nothing that it does changes a simulation by another way, and a slow
//! picture only makes time pass more slowly.

mod alarm;
mod atlas;
mod batch;
mod camera;
mod controls;
mod debug;
mod desk;
mod display;
mod effects;
mod graph;
mod help;
mod layout;
mod minimap;
mod order_log;
mod palette;
mod panel;
mod pen;
mod scene;
mod selection;
mod ui;
mod viewport;

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use macroquad::conf::Conf;
use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::miniquad;
use macroquad::miniquad::conf::{LinuxBackend, Platform};
use macroquad::texture::get_screen_data;
use macroquad::time::get_frame_time;
use macroquad::window::{clear_background, next_frame, screen_height, screen_width};

use crate::app::{MatchError, SkirmishSpec};
use desk::Desk;
use display::Display;
use layout::Layout;
use order_log::OrderLog;
use palette::BACKDROP;

/// Longest time that a picture stands for, seconds: after a longer one the match is behind the clock, not ahead of the eye.
const PICTURE_MAX: f32 = 0.1;

/// Why there was no window, or what went wrong in it.
#[derive(Debug)]
pub(crate) enum WindowError {
    /// There is no display; why.
    NoDisplay(String),
    Match(MatchError),
}

/// Opens a window with both clients of a match and runs until it is closed. Tells whether the copies were equal all the time.
///
/// # Errors
/// No display, or settings of the match out of range.
pub(crate) fn open(spec: SkirmishSpec, log: Option<File>) -> Result<bool, WindowError> {
    let display = display::find().map_err(WindowError::NoDisplay)?;
    let result: Rc<Cell<Option<Result<bool, MatchError>>>> = Rc::default();
    let told = Rc::clone(&result);
    let started = Rc::new(Cell::new(false));
    let has_started = Rc::clone(&started);
    let future = async move {
        has_started.set(true);
        told.set(Some(run(spec, OrderLog::new(log), &told).await));
    };
    // The library panics where the display has no way to draw; after the first picture a panic is a fault of this program.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let mut hook = Some(hook);
    let future = async move {
        if let Some(hook) = hook.take() {
            panic::set_hook(hook);
        }
        future.await;
    };
    let entered =
        panic::catch_unwind(AssertUnwindSafe(|| macroquad::Window::from_config(conf(display), future)));
    match (entered, started.get()) {
        (Err(cause), true) => panic::resume_unwind(cause),
        (Err(_), false) => {
            drop(panic::take_hook());
            Err(WindowError::NoDisplay("the display cannot draw with OpenGL".into()))
        }
        (Ok(()), _) => result.take().unwrap_or(Ok(true)).map_err(WindowError::Match),
    }
}

fn conf(display: Display) -> Conf {
    let linux_backend =
        if display == Display::Wayland { LinuxBackend::WaylandOnly } else { LinuxBackend::X11Only };
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
    log: OrderLog,
    told: &Cell<Option<Result<bool, MatchError>>>,
) -> Result<bool, MatchError> {
    let mut desk = Desk::new(spec, log)?;
    let mut pictures = 0;
    loop {
        let seconds = get_frame_time().min(PICTURE_MAX);
        desk.layout = Layout::new(screen_width(), screen_height());
        desk.ui.begin();
        controls::read(&mut desk, seconds);
        desk.advance(seconds);
        clear_background(BACKDROP);
        desk.draw();
        told.set(Some(Ok(desk.agrees())));
        if is_key_pressed(KeyCode::F12) {
            pictures += 1;
            save_picture(&mut desk, pictures);
        }
        if controls::wants_to_quit() {
            desk.note_end();
            miniquad::window::order_quit();
        }
        next_frame().await;
    }
}

/// Saves what is on the screen in the folder in which the program was started.
fn save_picture(desk: &mut Desk, number: u32) {
    let name = format!("testudo-{number}.png");
    let mut picture = get_screen_data();
    // What is left of transparency means nothing on a screen.
    picture.get_image_data_mut().iter_mut().for_each(|pixel| pixel[3] = u8::MAX);
    picture.export_png(&name);
    desk.log.note("picture", name);
}
