//! A link as a QR code, for a phone's camera: small beside the link, and over the whole picture after a click.

use macroquad::color::{BLACK, WHITE};
use macroquad::math::Rect;
use macroquad::shapes::draw_rectangle;
use qrcode::{Color, EcLevel, QrCode};

use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{PANEL, TEXT};
use testudo_render::paint::pen::{Align, SIZE};

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
    /// Shows this link from now on, also in a large code: the one before may be used by now. None: there is nothing to show.
    pub(crate) fn turn_to(&mut self, link: Option<&str>) {
        let link = link.unwrap_or_default();
        if self.link != link {
            self.link = link.into();
            let code = || QrCode::with_error_correction_level(link, EcLevel::L).ok();
            self.code = if link.is_empty() { None } else { code() };
        }
        self.is_large &= self.code.is_some();
    }

    /// A small code; a click opens it.
    pub(crate) fn draw_small(&mut self, ui: &mut Ui, rect: Rect) {
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
        let words = ui.hand("Point a phone's camera at it. A click closes it.");
        ui.pen.label(&words, line, Align::Middle, SIZE, TEXT);
        self.is_large = !ui.area("qr large", around);
        true
    }
}

fn draw(code: &QrCode, room: Rect) {
    let (plate, squares) = squares(code, room);
    draw_rectangle(plate.x, plate.y, plate.w, plate.h, WHITE);
    squares.iter().for_each(|dark| draw_rectangle(dark.x, dark.y, dark.w, dark.h, BLACK));
}

/// The light plate of a code, and its dark squares: of whole pixels, as large as there is room for.
fn squares(code: &QrCode, room: Rect) -> (Rect, Vec<Rect>) {
    let across = code.width() + 2 * MARGIN;
    let size = (room.w.min(room.h) / across as f32).floor().max(1.0);
    let side = size * across as f32;
    let corner = (room.center() - side / 2.0).floor();
    let mut dark = Vec::new();
    for (row, colors) in code.to_colors().chunks(code.width()).enumerate() {
        for (column, _) in colors.iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
            let at = |place: usize| size * (place + MARGIN) as f32;
            dark.push(Rect::new(corner.x + at(column), corner.y + at(row), size, size));
        }
    }
    (Rect::new(corner.x, corner.y, side, side), dark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a scanner reads on a dark screen of this size.
    fn read(code: &QrCode, (width, height): (usize, usize)) -> String {
        let (plate, squares) = squares(code, Rect::new(0.0, 0.0, width as f32, height as f32));
        let mut pixels = vec![40_u8; width * height];
        for (rect, light) in core::iter::once((plate, 255)).chain(squares.into_iter().map(|dark| (dark, 0))) {
            for y in rect.y as usize..rect.bottom() as usize {
                pixels[y * width..][rect.x as usize..rect.right() as usize].fill(light);
            }
        }
        let mut seen =
            rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| pixels[y * width + x]);
        let [grid] = &seen.detect_grids()[..] else { panic!("no code in {width}x{height}") };
        grid.decode().expect("it can be read").1
    }

    /// A second friend scanned the first one's code, and took that place.
    #[test]
    fn a_large_code_is_never_that_of_a_player_who_is_here() {
        let mut qr = Qr::default();
        let links = ["http://a/#player-2", "http://a/#player-3"];
        let shown = |qr: &Qr| qr.code.as_ref().map(|code| read(code, (412, 690)));
        qr.turn_to(Some(links[0]));
        qr.is_large = true;
        qr.turn_to(Some(links[1]));
        assert_eq!((shown(&qr).as_deref(), qr.is_large), (Some(links[1]), true));
        qr.turn_to(None);
        assert_eq!((shown(&qr), qr.is_large), (None, false));
    }

    #[test]
    fn a_scanner_reads_the_link_from_every_screen() {
        for (address, code) in
            [("http://127.0.0.1:8080/", 154), ("https://a-long-name-of-a-server.example.org:44333/", 210)]
        {
            let link = format!("{address}#{}", "q7x".repeat(code / 3));
            let code = QrCode::with_error_correction_level(&link, EcLevel::L).unwrap();
            let squares = code.width();
            assert!(squares <= 65, "{squares}: a small screen shows them with three pixels each");
            for screen in [(412, 690), (844, 240), (1_360, 700), (3_840, 2_000)] {
                assert_eq!(read(&code, screen), link, "{screen:?}");
            }
        }
    }
}
