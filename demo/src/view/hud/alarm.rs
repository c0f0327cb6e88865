//! The card that reports a desync.

use macroquad::math::Rect;

use crate::app::Desync;
use crate::view::widgets::card::{self, Card};
use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::BAD;

/// From the top of the picture to below the card, pixels: eight lines of the report.
pub(crate) const HEIGHT: f32 = 14.0 + card::height(8);

/// Draws the card in the middle of the top of a rectangle. Gives the name of the button that was pressed: "go on" or "restart".
pub(crate) fn draw(ui: &mut Ui, around: Rect, desync: &Desync) -> Option<&'static str> {
    let card = Card {
        title: &format!("\u{2260}  The copies differ from turn {} on", desync.turn),
        color: BAD,
        lines: &desync.report(["player 1", "player 2"]),
        choices: &[("go on", "Continue and watch it spread", 190.0), ("restart", "New match", 130.0)],
    };
    card.draw(ui, around)
}
