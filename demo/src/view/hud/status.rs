//! One line that summarises the match: number of computers, whether their copies are identical, bandwidth.

use macroquad::color::Color;
use macroquad::math::Rect;
use macroquad::shapes::draw_line;

use crate::app::words::count;
use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{BAD, GOOD, LINE, PANEL, TEXT_DIM, WARN};
use testudo_render::paint::pen::{LARGE, Pen, SMALL};

/// Below this width the buttons are narrower, pixels.
const NARROW: f32 = 600.0;

/// The content of the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) computers: u8,
    /// They are simulated in this window.
    pub(crate) are_simulated: bool,
    /// Number of turns in which the copies were compared.
    pub(crate) turns: u32,
    /// The first turn in which they differed.
    pub(crate) divergent_turn: Option<u32>,
    /// Somebody's copy cannot be compared, or is known to be wrong.
    pub(crate) is_doubtful: bool,
    /// UDP payload of all computers together.
    pub(crate) bytes_per_second: u32,
    pub(crate) is_waiting: bool,
}

/// What the person has pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StatusAction {
    Unfold,
    Split,
}

impl Status {
    /// The line as text.
    pub(crate) fn words(&self) -> (String, Color) {
        let rate = f64::from(self.bytes_per_second) / 1e3;
        let kind = if self.are_simulated { "simulated computer" } else { "computer" };
        let all = count(self.computers, kind);
        match (self.divergent_turn, self.turns, self.is_waiting) {
            (Some(turn), ..) => (format!("{all}, different since turn {turn}"), BAD),
            _ if self.is_doubtful => (format!("{all}, not all compared"), WARN),
            (None, 0, _) => (format!("{all}, connecting"), TEXT_DIM),
            (None, _, true) => (format!("{all}, waiting for orders"), WARN),
            (None, ..) => (format!("{all}, identical, {rate:.1} kB/s"), GOOD),
        }
    }

    /// The line, its size, and its colour, so that it fits: in a narrow window it is smaller, or begins later.
    fn fitting(&self, pen: &Pen, room: f32) -> (String, f32, Color) {
        let (words, color) = self.words();
        let short = words.split_once(", ").map_or(words.clone(), |(_, rest)| rest.to_owned());
        let forms = [(&words, LARGE), (&words, SMALL), (&short, SMALL)];
        let fits = forms.into_iter().find(|(text, size)| pen.width(text, *size) * 1.04 < room);
        let (text, size) = fits.unwrap_or((&short, SMALL));
        (text.clone(), size, color)
    }

    /// Draws the line with its buttons. `is_split`: whether there are two views; none where there is always one.
    pub(crate) fn draw(
        &self,
        ui: &mut Ui,
        rect: Rect,
        is_unfolded: bool,
        is_split: Option<bool>,
    ) -> Option<StatusAction> {
        ui.pen.fill(rect, PANEL);
        draw_line(rect.x, rect.y, rect.x + rect.w, rect.y, 2.0, LINE);
        ui.cover(rect);
        let mut right = rect.x + rect.w - 10.0;
        let is_touched = ui.is_touched;
        let mut place = |width: f32| {
            right -= width + 6.0;
            let high = if is_touched { rect.h } else { 26.0 };
            Rect::new(right, rect.y + (rect.h - high) / 2.0, width, high)
        };
        let wide = if rect.w < NARROW { 84.0 } else { 110.0 };
        let network = place(wide);
        let split = is_split.map(|is_split| (place(wide), is_split));
        let end = split.map_or(network.x, |(button, _)| button.x);
        let (words, size, color) = self.fitting(&ui.pen, end - rect.x - 24.0);
        let after = ui.pen.strong(&words, rect.x + 16.0, rect.y + 24.0, size, color);
        let mut action = None;
        let fold = if is_unfolded { "Network \u{2013}" } else { "Network +" };
        if ui.button("unfold", network, fold, is_unfolded) {
            action = Some(StatusAction::Unfold);
        }
        if let Some((button, is_split)) = split {
            let text = if is_split { "One view" } else { "Two views" };
            if ui.button("split", button, text, is_split) {
                action = Some(StatusAction::Split);
            }
        }
        let about = format!("equal checksums in {}; only orders travel", count(self.turns, "turn"));
        let is_good = self.divergent_turn.is_none() && !self.is_doubtful && self.turns > 0;
        if is_good && ui.pen.width(&about, SMALL) < end - after - 40.0 {
            ui.pen.text(&about, after + 20.0, rect.y + 23.0, SMALL, TEXT_DIM);
        }
        action
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_matters_first() {
        let calm = Status {
            computers: 2,
            are_simulated: false,
            turns: 40,
            divergent_turn: None,
            is_doubtful: false,
            bytes_per_second: 940,
            is_waiting: false,
        };
        assert_eq!(calm.words().0, "2 computers, identical, 0.9 kB/s");
        let broken = Status { divergent_turn: Some(12), is_waiting: true, ..calm };
        assert_eq!(broken.words().0, "2 computers, different since turn 12");
        assert_eq!(Status { is_doubtful: true, ..calm }.words().0, "2 computers, not all compared");
        assert_eq!(Status { is_waiting: true, ..calm }.words().0, "2 computers, waiting for orders");
        let here = Status { are_simulated: true, ..calm };
        assert_eq!(here.words().0, "2 simulated computers, identical, 0.9 kB/s");
        assert_eq!(Status { turns: 0, ..calm }.words().0, "2 computers, connecting");
        assert_eq!(Status { computers: 1, ..calm }.words().0, "1 computer, identical, 0.9 kB/s");
    }
}
