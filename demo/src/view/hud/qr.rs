//! A link as a QR code, for a phone's camera: small beside the link, and over the whole picture after a click.

use macroquad::color::{BLACK, WHITE};
use macroquad::math::Rect;
use macroquad::shapes::draw_rectangle;
use qrcode::{Color, EcLevel, QrCode};

use crate::view::paint::palette::{PANEL, TEXT};
use crate::view::paint::pen::{Align, SIZE};
use crate::view::widgets::ui::Ui;

/// Light squares around a code, which scanners need.
const MARGIN: usize = 4;

/// Height of the line below a large code, pixels.
const LINE: f32 = 40.0;

/// The code that is shown.
#[derive(Default)]
pub(crate) struct Qr {
    link: String,
    /// None: the link is too long for a code.
    code: Option<QrCode>,
    is_large: bool,
}

impl Qr {
    /// A small code; a click opens it.
    pub(crate) fn draw_small(&mut self, ui: &mut Ui, link: &str, rect: Rect) {
        if self.link != link {
            self.link = link.into();
            self.code = QrCode::with_error_correction_level(link, EcLevel::L).ok();
        }
        if let Some(code) = &self.code {
            draw(code, rect);
            self.is_large = ui.area("qr", rect);
        }
    }

    /// The code over the whole picture, until the next click; false if there is none.
    pub(crate) fn draw_large(&mut self, ui: &mut Ui, around: Rect) -> bool {
        let Some(code) = self.code.as_ref().filter(|_| self.is_large) else { return false };
        ui.pen.fill(around, PANEL);
        ui.cover(around);
        draw(code, Rect { h: around.h - LINE, ..around });
        let line = Rect { y: around.bottom() - LINE, h: LINE, ..around };
        ui.pen.label("Point a phone's camera at it. A click closes it.", line, Align::Middle, SIZE, TEXT);
        self.is_large = !ui.area("qr large", around);
        true
    }
}

/// Squares of whole pixels, as large as there is room for.
fn draw(code: &QrCode, room: Rect) {
    let squares = code.width() + 2 * MARGIN;
    let size = (room.w.min(room.h) / squares as f32).floor().max(1.0);
    let side = size * squares as f32;
    let (left, top) = ((room.x + (room.w - side) / 2.0).floor(), (room.y + (room.h - side) / 2.0).floor());
    draw_rectangle(left, top, side, side, WHITE);
    for (row, colors) in code.to_colors().chunks(code.width()).enumerate() {
        for (column, _) in colors.iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
            let at = |place: usize| size * (place + MARGIN) as f32;
            draw_rectangle(left + at(column), top + at(row), size, size, BLACK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_link_to_a_place_fits_into_a_code() {
        let link = format!("https://a-long-name-of-a-server.example.org:44333/{}", "A".repeat(210));
        let code = QrCode::with_error_correction_level(&link, EcLevel::L).unwrap();
        assert!(
            code.width() <= 65,
            "{} squares: a small screen shows them with three pixels each",
            code.width()
        );
    }
}
