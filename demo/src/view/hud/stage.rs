//! What all screens share: what they are drawn with and heard by, the picture from its beginning to its end, the help, and what scripts are
//! told.

use macroquad::input::{KeyCode, is_key_pressed, is_quit_requested};
use macroquad::math::Rect;
use macroquad::miniquad::window::order_quit;
use macroquad::time::get_frame_time;
use testudo_lockstep::Duration;

use crate::app::interrupt;
use crate::view::command::order_log::OrderLog;
use crate::view::hud::hearing::Hearing;
use crate::view::hud::help::{self, Help};
use crate::view::hud::picture::{PICTURE_MAX, Pictures};
use crate::view::hud::tips;
use crate::view::widgets::keys;
use crate::view::widgets::ui::Ui;
use testudo_render::battle::debug::Layers;
use testudo_render::battle::scene::Marks;
use testudo_render::clock::Clock;

/// What screens draw with, read, and hand on to the next one.
pub(crate) struct Stage {
    pub(crate) ui: Ui,
    pub(crate) layers: Layers,
    pub(crate) log: OrderLog,
    pub(crate) hearing: Hearing,
    pub(crate) shows_help: bool,
    /// Real time, seconds.
    pub(crate) seconds: f32,
    /// At most so many pictures per second; a browser has its own.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    pub(crate) fps_max: Option<u32>,
    pictures: Pictures,
}

/// What a window shows as a whole.
pub(crate) trait Screen {
    fn stage(&mut self) -> &mut Stage;

    /// Finds where everything is, in a window that may have another size now.
    fn lay_out(&mut self);

    /// Reads mouse and keys; `seconds` is the time since the last picture.
    fn read(&mut self, seconds: f32);

    /// Lets time pass.
    fn advance(&mut self, seconds: f32);

    /// Draws one picture and asks its widgets.
    fn draw(&mut self);

    /// The picture is drawn; all of it, from the mouse on, has kept the machine at work for so long.
    fn note_work(&mut self, _work: Duration) {}

    /// The person closes the window.
    fn close(&mut self) {
        order_quit();
    }
}

/// One picture of a screen, from its beginning to its end.
pub(crate) fn show_picture(screen: &mut impl Screen) {
    let clock = Clock::start();
    let seconds = get_frame_time().min(PICTURE_MAX);
    let stage = screen.stage();
    stage.seconds += seconds;
    stage.pictures.begin(&stage.ui.pen, &mut stage.log);
    screen.lay_out();
    let stage = screen.stage();
    stage.ui.only = stage.shows_help.then_some(help::CLOSE);
    stage.ui.begin();
    screen.read(seconds);
    screen.advance(seconds);
    screen.draw();
    let stage = screen.stage();
    stage.pictures.end(&stage.ui.pen, &mut stage.log);
    screen.note_work(clock.elapsed());
    #[cfg(not(target_arch = "wasm32"))]
    {
        let stage = screen.stage();
        stage.pictures.rest(stage.fps_max);
    }
    if keys::wants_to_quit() || is_quit_requested() || interrupt::is_asked() {
        screen.close();
    }
}

impl Stage {
    pub(crate) fn new(log: OrderLog) -> Self {
        Self {
            ui: Ui::new(),
            layers: Layers::default(),
            log,
            hearing: Hearing::open(),
            shows_help: false,
            seconds: 0.0,
            fps_max: None,
            pictures: Pictures::default(),
        }
    }

    /// The keys that mean the same everywhere: help, sound, layers of debug drawing.
    pub(crate) fn read_keys(&mut self) {
        if is_key_pressed(KeyCode::F1) {
            self.toggle_help();
        }
        self.hearing.read_keys(&mut self.log);
        self.layers.read_keys();
    }

    pub(crate) fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.log.note("help", self.shows_help);
    }

    /// The button of the help.
    pub(crate) fn draw_help_button(&mut self, button: Rect) {
        let word = if button.w < 70.0 || self.ui.is_touched { "Help" } else { "F1 help" };
        if self.ui.button("help", button, word, self.shows_help) {
            self.toggle_help();
        }
    }

    /// The button of the sound, and its slider if there is room.
    pub(crate) fn draw_sound(&mut self, button: Rect, slider: Option<Rect>) {
        self.hearing.draw(&mut self.ui, button, slider, &mut self.log);
    }

    /// Rings around the body in this slot, which differed first.
    pub(crate) fn accusing(&self, slot: Option<u32>) -> Marks<'static> {
        Marks { accused: slot.map(|slot| (slot, (self.seconds * 1.2).fract())), ..Marks::default() }
    }

    /// Ends a picture with the help over `around`, if it is open. Scripts are told where widgets are, and these rectangles.
    pub(crate) fn end(&mut self, around: Rect, help: &Help, fixed: &[(&'static str, Rect)]) {
        // A click that has just opened it does not close it.
        if self.shows_help && help::draw(&mut self.ui, around, help) && self.ui.only.is_some() {
            self.toggle_help();
        }
        if self.ui.only.is_none() {
            tips::draw(&mut self.ui, fixed);
        }
        self.ui.end();
        let widgets = self.ui.places().iter().map(|(name, rect)| (*name, *rect));
        self.log.places(widgets.chain(fixed.iter().copied()));
    }
}
