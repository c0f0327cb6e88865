//! A card over the picture: a message and choices.

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};

use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{PANEL, TEXT, TEXT_DIM};
use testudo_render::paint::pen::{LARGE, SIZE};
use testudo_render::paint::screen;

/// Height of a line, pixels.
const LINE: f32 = 22.0;

/// Width of the names before the lines, pixels.
const NAMES: f32 = 104.0;

/// Room that a card leaves below it, pixels.
const EDGE: f32 = 4.0;

/// A choice: the button's script name, its label, its width in pixels.
pub(crate) type Choice = (&'static str, &'static str, f32);

/// What the card says.
pub(crate) struct Card<'a> {
    pub(crate) title: &'a str,
    pub(crate) color: Color,
    /// Names and values; without a name the value has the whole line.
    pub(crate) lines: &'a [(&'static str, String)],
    pub(crate) choices: &'a [Choice],
}

/// Height of a card with this many lines, pixels.
pub(crate) const fn height(lines: usize) -> f32 {
    108.0 + lines as f32 * LINE
}

/// A card of this size at most in the middle of a rectangle, whole pixels.
pub(crate) fn middle(around: Rect, wide: f32, high: f32) -> Rect {
    let size = vec2(wide.min(around.w - 16.0), high.min(around.h - 8.0));
    let corner = (around.center() - size / 2.0).floor();
    Rect::new(corner.x, corner.y.max(around.y + 4.0), size.x, size.y)
}

/// Where a card of this height begins, if it should begin at `top` of a screen of this height: its buttons are never below the edge.
fn above_edge(top: f32, high: f32, screen: f32) -> f32 {
    top.min(screen - high - EDGE)
}

impl Card<'_> {
    /// Draws the card in the middle of the top of a rectangle, higher in a low window. Gives the name of the button that was pressed.
    pub(crate) fn draw(&self, ui: &mut Ui, around: Rect) -> Option<&'static str> {
        let wide = 620.0_f32.min(around.w - 16.0);
        // Long lines are broken, or on a phone the end of a sentence would leave the screen.
        let lines = self.lines.iter().flat_map(|(name, value)| {
            let left = if name.is_empty() { 0.0 } else { NAMES };
            let lines = ui.pen.lines(value, wide - 44.0 - left, SIZE).into_iter().enumerate();
            lines.map(move |(n, line)| (if n == 0 { *name } else { "" }, left, line))
        });
        let lines: Vec<_> = lines.collect();
        let high = height(lines.len());
        let top = above_edge(around.y + 14.0, high, screen::size().y);
        let card = Rect::new(around.x + (around.w - wide) / 2.0, top, wide, high);
        ui.card("card", card, PANEL, (4.0, self.color));
        let mut x = card.x + 22.0;
        ui.pen.strong(self.title, x, card.y + 36.0, LARGE, self.color);
        for (n, (name, left, line)) in lines.iter().enumerate() {
            let y = card.y + 64.0 + n as f32 * LINE;
            ui.pen.text(name, x, y, SIZE, TEXT_DIM);
            ui.pen.text(line, x + left, y, SIZE, TEXT);
        }
        self.choices.iter().fold(None, |pressed, (name, text, width)| {
            let button = Rect::new(x, card.y + card.h - 44.0, *width, 30.0);
            x += width + 12.0;
            if ui.button(name, button, text, false) { Some(*name) } else { pressed }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buttons_of_a_long_card_are_in_a_low_window() {
        for (screen, lines) in [(258.0, 4), (258.0, 6), (430.0, 4), (860.0, 9)] {
            let high = height(lines);
            let top = above_edge(88.0, high, screen);
            assert!(top <= 88.0 && top + high <= screen, "{screen} {lines}: {top}");
        }
        assert_eq!(above_edge(88.0, height(4), 860.0), 88.0);
    }
}
