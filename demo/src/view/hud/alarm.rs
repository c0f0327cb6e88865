//! The card that reports a desync.

use macroquad::math::Rect;

use crate::app::Desync;
use crate::view::paint::palette::BAD;
use crate::view::widgets::card::{self, Card};
use crate::view::widgets::ui::Ui;

/// The person's choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    GoOn,
    Restart,
}

/// From the top of the picture to below the card, pixels: eight lines of the report.
pub(crate) const HEIGHT: f32 = 14.0 + card::height(8);

/// Draws the card in the middle of the top of a rectangle.
pub(crate) fn draw(ui: &mut Ui, around: Rect, desync: &Desync) -> Option<Answer> {
    let card = Card {
        title: &format!("\u{2260}  The copies differ from turn {} on", desync.turn),
        color: BAD,
        lines: &report(desync, ["player 1", "player 2"]),
        choices: &[("go on", "Continue and watch it spread", 190.0), ("restart", "New match", 130.0)],
    };
    card.draw(ui, around).map(|name| if name == "restart" { Answer::Restart } else { Answer::GoOn })
}

/// Names and values of the report. `copies`: the owners of the first two values.
pub(crate) fn report(desync: &Desync, copies: [&'static str; 2]) -> Vec<(&'static str, String)> {
    let mut lines = vec![("first frame", format!("{} of the match", desync.frame))];
    if let Some(number) = &desync.number {
        let object = format!("{} {}", number.kind, number.index);
        match desync.body() {
            Some(slot) => lines.push(("first body", format!("{slot}, ringed in the picture"))),
            None => lines.push(("first in", object)),
        }
        lines.push(("field", number.field.into()));
        for (player, value) in number.values.iter().enumerate() {
            let copy = copies.get(player).copied().unwrap_or("another");
            lines.push((copy, value.map_or("has no such number".into(), |raw| in_words(number.field, raw))));
        }
        if let [Some(a), Some(b), ..] = number.values[..] {
            let bits = (a ^ b).count_ones();
            let text =
                if bits == 1 { "1 bit of that number".into() } else { format!("{bits} bits of that number") };
            lines.push(("difference", text));
        }
    }
    match desync.verdict() {
        Some((how, what)) => lines.extend([("verdict", how.into()), (" ", what)]),
        None => lines.push(("verdict", "unknown: there is no majority".into())),
    }
    lines
}

/// A raw number; positions and speeds have 16 fraction bits, shown exactly and in units.
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
    use crate::app::watch::diagnosis::{Again, NumberDifference};

    #[test]
    fn the_report_names_body_field_values_and_the_broken_copy() {
        let values = vec![Some(65_536), Some(65_536 + 2_048)];
        let number = NumberDifference { kind: "body", index: 7, field: "position.x", values };
        let again = [(0, true), (1, false)];
        let again = again.map(|(player, is)| Again { player, is_reproduced: Some(is) }).to_vec();
        let desync = Desync { turn: 3, frame: 15, number: Some(number), outlier: None, again: Vec::new() }
            .judge(again);
        let text = format!("{:?}", report(&desync, ["player 1", "player 2"]));
        for part in [
            "15 of",
            "7, ringed",
            "position.x",
            "1.00000 units",
            "1.03125 units",
            "1 bit",
            "simulated again",
            "player 2's memory was damaged",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
