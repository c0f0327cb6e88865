//! Text: two weights of one typeface, sharp on every screen.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use macroquad::color::Color;
use macroquad::math::Rect;
use macroquad::shapes::draw_rectangle;
use macroquad::text::{Font, TextParams, draw_text_ex, load_ttf_font_from_bytes, measure_text};
use macroquad::window::screen_dpi_scale;

use crate::paint::screen;

/// Size of ordinary text, pixels.
pub const SIZE: f32 = 15.0;
pub const SMALL: f32 = 13.0;
pub const LARGE: f32 = 19.0;

/// Every size that is written, pixels, and what is written beside ASCII.
const SIZES: [f32; 6] = [11.0, 12.0, SMALL, SIZE, LARGE, 26.0];
const BEYOND_ASCII: [char; 2] = ['\u{2013}', '\u{2260}'];

/// How text stands at its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    Left,
    Middle,
    Right,
}

/// Writes on the screen.
pub struct Pen {
    regular: Option<Font>,
    medium: Option<Font>,
    /// Pixels of the screen per coordinate for which the letters are ready.
    ratio: Cell<f32>,
    /// The texts of this picture and their positions, because texts may not overlap.
    written: RefCell<Vec<(Rect, String)>>,
}

impl Pen {
    /// Writes in the window, which has to be open.
    pub fn for_window() -> Self {
        // If a font does not load, the window library's built-in font replaces it.
        let regular = load_ttf_font_from_bytes(include_bytes!("../../../assets/Roboto-Regular.ttf")).ok();
        let medium = load_ttf_font_from_bytes(include_bytes!("../../../assets/Roboto-Medium.ttf")).ok();
        let pen = Self { regular, medium, ratio: Cell::new(0.0), written: RefCell::default() };
        pen.follow_screen();
        pen
    }

    /// Makes letters ready for the screen; call before a picture begins. A glyph that is new in the middle of a picture may replace the
    /// texture from which the picture's other letters are still to be drawn: they came out black.
    pub fn follow_screen(&self) {
        if self.ratio.replace(screen::pixels()) == screen::pixels() {
            return;
        }
        let characters: Vec<char> = (' '..='~').chain(BEYOND_ASCII).collect();
        for font in [&self.regular, &self.medium].into_iter().flatten() {
            for size in SIZES {
                let pixels = f32::from(font_size(size).0) * screen_dpi_scale();
                font.populate_font_cache(&characters, pixels.ceil() as u16);
            }
        }
    }

    /// Writes at a base line; returns where the text ends.
    pub fn text(&self, text: &str, x: f32, y: f32, size: f32, color: Color) -> f32 {
        self.write(self.regular.as_ref(), text, x, y, size, color)
    }

    /// As [`Pen::text`], in the heavier weight.
    pub fn strong(&self, text: &str, x: f32, y: f32, size: f32, color: Color) -> f32 {
        self.write(self.medium.as_ref(), text, x, y, size, color)
    }

    /// Writes a word in the middle of a rectangle's height.
    pub fn label(&self, text: &str, rect: Rect, align: Align, size: f32, color: Color) {
        let width = self.width(text, size);
        let x = match align {
            Align::Left => rect.x,
            Align::Middle => rect.x + (rect.w - width) / 2.0,
            Align::Right => rect.x + rect.w - width,
        };
        self.text(text, x.round(), (rect.y + rect.h / 2.0 + size * 0.35).round(), size, color);
    }

    /// Fills a rectangle.
    pub fn fill(&self, rect: Rect, color: Color) {
        draw_rectangle(rect.x, rect.y, rect.w, rect.h, color);
    }

    /// Words in the middle of a plate that hides what is below.
    pub fn plate(&self, text: &str, rect: Rect, size: f32, color: Color, fill: Color) {
        self.cover(rect);
        self.fill(rect, fill);
        self.label(text, rect, Align::Middle, size, color);
    }

    /// Writes words in as many lines as the width asks for, the first at the upper edge of `rect`, whose height is that of a line. Returns
    /// where the next line would be.
    pub fn wrapped(&self, text: &str, rect: Rect, size: f32, color: Color) -> f32 {
        let lines = self.lines(text, rect.w, size);
        for (n, line) in lines.iter().enumerate() {
            self.text(line, rect.x, rect.y + n as f32 * rect.h, size, color);
        }
        rect.y + lines.len() as f32 * rect.h
    }

    /// Words in lines that are at most so wide.
    pub fn lines(&self, text: &str, width: f32, size: f32) -> Vec<String> {
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if self.width(&format!("{line} {word}"), size) <= width => {
                    *line += &format!(" {word}")
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    pub fn width(&self, text: &str, size: f32) -> f32 {
        let text = &legible(text);
        let (font_size, font_scale) = font_size(size);
        measure_text(text, self.regular.as_ref(), font_size, font_scale).width
    }

    /// The first of some forms of a text that there is room for.
    pub fn fitting<T: AsRef<str>>(
        &self,
        forms: impl IntoIterator<Item = T>,
        size: f32,
        room: f32,
    ) -> Option<T> {
        forms.into_iter().find(|form| self.width(form.as_ref(), size) <= room)
    }

    /// Writes the first of some forms of a text that there is room for in a rectangle, if there is one.
    pub fn fit<T: AsRef<str>>(
        &self,
        forms: impl IntoIterator<Item = T>,
        rect: Rect,
        align: Align,
        size: f32,
        color: Color,
    ) {
        if let Some(text) = self.fitting(forms, size, rect.w).filter(|_| rect.h > 0.0) {
            self.label(text.as_ref(), rect, align, size, color);
        }
    }

    /// Something opaque hides the texts below it.
    pub fn cover(&self, rect: Rect) {
        self.written.borrow_mut().retain(|(text, _)| !text.overlaps(&rect));
    }

    /// Ends a picture. Two texts of it that lie over each other, or one that leaves the screen, if anybody `asks`.
    pub fn take_clash(&self, asks: bool) -> Option<String> {
        /// Letters are a little smaller than their boxes, pixels.
        const SLACK: f32 = 2.0;
        let written = self.written.take();
        if !asks {
            return None;
        }
        let size = screen::size() + 2.0 * SLACK;
        let screen = Rect::new(-SLACK, -SLACK, size.x, size.y);
        for (n, (rect, text)) in written.iter().enumerate() {
            if !screen.contains(rect.point()) || !screen.contains(rect.point() + rect.size()) {
                return Some(format!("'{text}' leaves the screen"));
            }
            let other = written[..n].iter().find(|(other, _)| {
                rect.intersect(*other).is_some_and(|common| common.w > SLACK && common.h > SLACK)
            });
            if let Some((_, other)) = other {
                return Some(format!("'{text}' lies over '{other}'"));
            }
        }
        None
    }

    fn write(&self, font: Option<&Font>, text: &str, x: f32, y: f32, size: f32, color: Color) -> f32 {
        let text = &legible(text);
        // The library takes care of screens with more pixels.
        let (font_size, font_scale) = font_size(size);
        let params = TextParams { font, font_size, font_scale, color, ..TextParams::default() };
        // Between pixels, letters would be smeared.
        let ratio = screen::pixels();
        let [left, base] = [x, y].map(|at| (at * ratio).round() / ratio);
        let width = draw_text_ex(text, left, base, params).width;
        if !text.is_empty() {
            let rect = Rect::new(x, y - size * 0.76, width, size * 0.96);
            self.written.borrow_mut().push((rect, text.to_string()));
        }
        x + width
    }
}

/// A text with a question mark for every character that the fonts lack: a name in another script was not to be seen.
fn legible(text: &str) -> Cow<'_, str> {
    let has = |c: &char| matches!(c, ' '..='~') || BEYOND_ASCII.contains(c);
    if text.chars().all(|c| has(&c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if has(&c) { c } else { '?' }).collect())
}

/// The library's size for letters of this size, pixels of the desktop, and the scale that leads back to coordinates.
fn font_size(size: f32) -> (u16, f32) {
    let pixels = (size * screen::factor()).round().max(1.0);
    (pixels as u16, size / pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_another_script_is_seen() {
        assert_eq!(legible("Gr\u{fc}\u{df}e \u{65e5}\u{672c}"), "Gr??e ??");
        assert_eq!(legible("\u{2260} a \u{2013} ~"), "\u{2260} a \u{2013} ~");
    }
}
