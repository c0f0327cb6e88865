//! Text: two weights of one typeface, sharp on every screen.

use macroquad::color::Color;
use macroquad::math::Rect;
use macroquad::text::{Font, TextParams, draw_text_ex, load_ttf_font_from_bytes, measure_text};
use macroquad::window::screen_dpi_scale;

/// Size of ordinary text, pixels.
pub(crate) const SIZE: f32 = 15.0;
pub(crate) const SMALL: f32 = 13.0;
pub(crate) const LARGE: f32 = 19.0;

/// How text stands at its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    Left,
    Middle,
    Right,
}

/// Writes on the screen.
pub(crate) struct Pen {
    regular: Option<Font>,
    medium: Option<Font>,
}

impl Pen {
    pub(crate) fn new() -> Self {
        // The built-in font of the window library stands in for one that does not load.
        let regular = load_ttf_font_from_bytes(include_bytes!("../../../assets/Roboto-Regular.ttf")).ok();
        let medium = load_ttf_font_from_bytes(include_bytes!("../../../assets/Roboto-Medium.ttf")).ok();
        Self { regular, medium }
    }

    /// Writes at a base line; returns where the text ends.
    pub(crate) fn text(&self, text: &str, x: f32, y: f32, size: f32, color: Color) -> f32 {
        self.write(self.regular.as_ref(), text, x, y, size, color)
    }

    /// As [`Pen::text`], in the heavier weight.
    pub(crate) fn strong(&self, text: &str, x: f32, y: f32, size: f32, color: Color) -> f32 {
        self.write(self.medium.as_ref(), text, x, y, size, color)
    }

    /// Writes a word in the middle of a rectangle's height.
    pub(crate) fn label(&self, text: &str, rect: Rect, align: Align, size: f32, color: Color) {
        let width = self.width(text, size);
        let x = match align {
            Align::Left => rect.x,
            Align::Middle => rect.x + (rect.w - width) / 2.0,
            Align::Right => rect.x + rect.w - width,
        };
        self.text(text, x.round(), (rect.y + rect.h / 2.0 + size * 0.35).round(), size, color);
    }

    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        let dpi = screen_dpi_scale();
        measure_text(text, self.regular.as_ref(), (size * dpi) as u16, 1.0 / dpi).width
    }

    fn write(&self, font: Option<&Font>, text: &str, x: f32, y: f32, size: f32, color: Color) -> f32 {
        let dpi = screen_dpi_scale();
        let params = TextParams {
            font,
            font_size: (size * dpi) as u16,
            font_scale: 1.0 / dpi,
            color,
            ..TextParams::default()
        };
        // Between pixels, letters would be smeared.
        x + draw_text_ex(text, x.round(), y.round(), params).width
    }
}
