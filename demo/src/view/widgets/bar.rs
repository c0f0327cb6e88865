//! The bar at the top of a window: words from the left, buttons from the right.

use macroquad::math::Rect;

use crate::view::widgets::ui::{FINGER, Ui};
use testudo_render::paint::palette::{PANEL, TEXT, TEXT_DIM};
use testudo_render::paint::pen::{LARGE, Pen, SMALL};

/// Height of a button for a mouse, and the gap between two, pixels.
const HIGH: f32 = 28.0;
const GAP: f32 = 6.0;

/// What is left of the bar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopBar {
    rect: Rect,
    /// Left edge of the last button.
    left: f32,
    high: f32,
}

impl TopBar {
    /// Draws the empty bar.
    pub(crate) fn new(ui: &mut Ui, rect: Rect) -> Self {
        ui.pen.fill(rect, PANEL);
        ui.cover(rect);
        Self { rect, left: rect.right() - 10.0, high: if ui.is_touched { FINGER } else { HIGH } }
    }

    /// The place of the next button, to the left of the last one.
    pub(crate) fn place(&mut self, width: f32) -> Rect {
        // On a small phone buttons are narrower, or the last one would leave the screen.
        let width = width * (self.rect.w / 400.0).min(1.0);
        self.left -= width + GAP;
        Rect::new(self.left, self.rect.y + (self.rect.h - self.high) / 2.0, width, self.high)
    }

    /// A button there.
    pub(crate) fn button(
        &mut self,
        ui: &mut Ui,
        name: &'static str,
        width: f32,
        word: &str,
        lit: bool,
    ) -> bool {
        let place = self.place(width);
        ui.button(name, place, word, lit)
    }

    /// Where the words have to end.
    pub(crate) fn end(&self) -> f32 {
        self.left - 16.0
    }

    /// Writes a title, and what it is about, as far as there is room before `end`.
    pub(crate) fn title(&self, pen: &Pen, title: &str, about: &str, end: f32) {
        let (left, base) = (self.rect.x + 16.0, self.rect.y + 29.0);
        if left + pen.width(title, LARGE) * 1.04 > end {
            return;
        }
        let x = pen.strong(title, left, base, LARGE, TEXT) + 14.0;
        if x + pen.width(about, SMALL) < end {
            pen.text(about, x, base - 1.0, SMALL, TEXT_DIM);
        }
    }
}
