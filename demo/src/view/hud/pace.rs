//! How fast time passes on a screen: it stands, goes on frame by frame, or runs at a speed.

use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::math::Rect;

use crate::view::command::order_log::OrderLog;
use crate::view::hud::stage::Stage;
use testudo_render::paint::palette::TEXT;
use testudo_render::paint::pen::{Align, SIZE};

/// Speeds, percent of real time.
const SPEEDS: [u32; 6] = [25, 50, 100, 200, 400, 800];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pace {
    pub(crate) is_paused: bool,
    /// One frame is to pass.
    pub(crate) wants_step: bool,
    /// Place in [`SPEEDS`]: now, and when a battle begins.
    speed: usize,
    first: usize,
}

impl Pace {
    /// At this speed, or the next higher one.
    pub(crate) fn new(percent: u32) -> Self {
        let speed = SPEEDS.iter().position(|speed| *speed >= percent).unwrap_or(SPEEDS.len() - 1);
        Self { is_paused: false, wants_step: false, speed, first: speed }
    }

    /// The next battle, at the first speed again: the end of the last one may have been awaited at a high speed.
    pub(crate) fn begin_again(&mut self, log: &mut OrderLog) {
        *self = Self { is_paused: false, wants_step: false, ..*self };
        self.set(self.first, log);
    }

    /// Percent of real time.
    pub(crate) fn percent(&self) -> u32 {
        SPEEDS[self.speed]
    }

    pub(crate) fn toggle_pause(&mut self, log: &mut OrderLog) {
        self.is_paused = !self.is_paused;
        log.note("paused", self.is_paused);
    }

    /// The slowest.
    pub(crate) fn crawl(&mut self, log: &mut OrderLog) {
        self.is_paused = false;
        self.set(0, log);
    }

    fn set(&mut self, speed: usize, log: &mut OrderLog) {
        self.speed = speed;
        log.note("speed_percent", self.percent());
    }

    /// The keys of the speed.
    pub(crate) fn read_keys(&mut self, log: &mut OrderLog) {
        let is_any = |keys: [KeyCode; 2]| keys.into_iter().any(is_key_pressed);
        let faster = is_any([KeyCode::Equal, KeyCode::KpAdd]);
        self.change(faster, is_any([KeyCode::Minus, KeyCode::KpSubtract]), log);
    }

    fn change(&mut self, faster: bool, slower: bool, log: &mut OrderLog) {
        if faster != slower {
            let last = SPEEDS.len() - 1;
            self.set(if faster { last.min(self.speed + 1) } else { self.speed.saturating_sub(1) }, log);
        }
    }

    /// The speed between the buttons that change it.
    pub(crate) fn draw(&mut self, stage: &mut Stage, slower: Rect, speed: Rect, faster: Rect) {
        let ui = &mut stage.ui;
        let slower = ui.button("slower", slower, "\u{2013}", false);
        let faster = ui.button("faster", faster, "+", false);
        ui.pen.label(&format!("{}x", self.percent() as f32 / 100.0), speed, Align::Middle, SIZE, TEXT);
        self.change(faster, slower, &mut stage.log);
    }
}
