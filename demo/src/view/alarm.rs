//! The card that tells what broke.

use macroquad::math::Rect;
use macroquad::shapes::{draw_rectangle, draw_rectangle_lines};

use crate::app::Desync;
use crate::view::palette::{BAD, PANEL, TEXT, TEXT_DIM};
use crate::view::pen::{LARGE, Pen, SIZE};
use crate::view::ui::Ui;

/// What the person wants to do about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    GoOn,
    Restart,
}

/// Draws the card in the middle of the top of a rectangle.
pub(crate) fn draw(pen: &Pen, ui: &mut Ui, around: Rect, desync: &Desync) -> Option<Answer> {
    let lines = report(desync);
    let size = (620.0_f32.min(around.w - 16.0), 108.0 + lines.len() as f32 * 22.0);
    let card = Rect::new(around.x + (around.w - size.0) / 2.0, around.y + 14.0, size.0, size.1);
    draw_rectangle(card.x, card.y, card.w, card.h, PANEL);
    draw_rectangle_lines(card.x, card.y, card.w, card.h, 4.0, BAD);
    let x = card.x + 22.0;
    pen.strong(
        &format!("\u{2260}  The copies differ since turn {}", desync.turn),
        x,
        card.y + 36.0,
        LARGE,
        BAD,
    );
    for (n, (name, value)) in lines.iter().enumerate() {
        let y = card.y + 64.0 + n as f32 * 22.0;
        pen.text(name, x, y, SIZE, TEXT_DIM);
        pen.text(value, x + 104.0, y, SIZE, TEXT);
    }
    let y = card.y + card.h - 44.0;
    let go_on = ui.button(pen, "go on", Rect::new(x, y, 190.0, 30.0), "Go on and watch it spread", false);
    let restart = ui.button(pen, "restart", Rect::new(x + 202.0, y, 130.0, 30.0), "New match", false);
    ui.cover(card);
    go_on.then_some(Answer::GoOn).or(restart.then_some(Answer::Restart))
}

/// Names and values of the report.
fn report(desync: &Desync) -> Vec<(&'static str, String)> {
    let mut lines = vec![("first frame", format!("{} of the match", desync.frame))];
    if let Some(number) = &desync.number {
        let object = format!("{} {}", number.kind, number.index);
        match desync.body() {
            Some(slot) => lines.push(("first body", format!("{slot}, ringed in both views"))),
            None => lines.push(("first in", object)),
        }
        lines.push(("field", number.field.into()));
        for (player, value) in number.values.iter().enumerate() {
            let copy = ["player 1", "player 2"].get(player).copied().unwrap_or("another");
            lines.push((copy, value.map_or("has no such number".into(), |raw| in_words(number.field, raw))));
        }
        if let [Some(a), Some(b), ..] = number.values[..] {
            let bits = (a ^ b).count_ones();
            let text =
                if bits == 1 { "1 bit of the match".into() } else { format!("{bits} bits of that number") };
            lines.push(("difference", text));
        }
    }
    let whose = desync.outlier.map_or("two copies have no majority".into(), |player| {
        format!("player {}'s copy is the broken one", player + 1)
    });
    lines.push(("verdict", whose));
    lines
}

/// A raw number; places and speeds have 16 fraction bits, exactly and in units.
fn in_words(field: &str, raw: i128) -> String {
    if field.starts_with("position") || field.starts_with("velocity") {
        format!("{raw} = {:.5} units", raw as f64 / 65_536.0)
    } else {
        raw.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::diagnosis::NumberDifference;

    #[test]
    fn the_report_names_body_field_values_and_the_broken_copy() {
        let values = vec![Some(65_536), Some(65_536 + 2_048)];
        let number = NumberDifference { kind: "body", index: 7, field: "position.x", values };
        let desync = Desync { turn: 3, frame: 15, number: Some(number), outlier: Some(1) };
        let text = format!("{:?}", report(&desync));
        for part in
            ["15 of", "7, ringed", "position.x", "1.00000 units", "1.03125 units", "1 bit", "player 2's"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
