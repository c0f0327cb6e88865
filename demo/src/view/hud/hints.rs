//! What to try next: four hints, each of which stays until it has been followed.

use macroquad::math::Rect;

use crate::app::habits::Progress;
use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{PANEL, SELECTION, TEXT, TEXT_DIM, faded};
use testudo_render::paint::pen::{SIZE, SMALL};

/// Each with a shorter form for narrow screens.
const HINTS: [[&str; 2]; 4] = [
    ["Drag a box over your blue units, or press All", "Drag a box over your units"],
    ["Press Attack, then click on the orange army", "Press Attack, click orange on the map"],
    ["Open Network below and make it terrible: the battle stays the same", "Open Network, make it terrible"],
    ["Open Network and corrupt one bit: see how it is found", "Open Network, corrupt one bit"],
];

/// The hints about the network once its panel is open.
const HINTS_OPEN: [[&str; 2]; 2] = [
    ["Press Terrible below: the battle stays the same", "Press Terrible below"],
    ["Press Corrupt one bit below: see how it is found", "Press Corrupt one bit"],
];

/// What is on the screen, so that hints name nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    /// The network's panel is open.
    pub(crate) panel: bool,
    /// The enemy's keep is in the large view.
    pub(crate) enemy: bool,
}

/// The words of a hint, long and short.
fn words(number: usize, seen: Seen) -> [&'static str; 2] {
    let first = HINTS.len() - HINTS_OPEN.len();
    match number.checked_sub(first) {
        Some(open) if seen.panel => HINTS_OPEN[open],
        // On a phone there may be no orange army in the picture.
        None if number == 1 && !seen.enemy => {
            ["Press Attack, then click on orange on the small map", HINTS[1][1]]
        }
        _ => HINTS[number],
    }
}

/// Width of the button that puts hints away, pixels.
const AWAY: f32 = 26.0;

/// Draws the current hint in the middle of a strip, if there is one. Returns whether the person wants no more of them.
pub(crate) fn draw(ui: &mut Ui, strip: Rect, progress: Progress, seen: Seen) -> bool {
    let Some(number) = progress.next() else { return false };
    let count = format!("{} of {}", number + 1, HINTS.len());
    let lead = ui.pen.width(&count, SMALL) + 14.0;
    let beside = lead + 28.0 + AWAY;
    let forms = words(number, seen).map(|text| ui.hand(text));
    let Some(text) = ui.pen.fitting(forms, SIZE, strip.w - beside) else { return false };
    let width = ui.pen.width(&text, SIZE) + beside;
    let pill = Rect::new((strip.x + (strip.w - width) / 2.0).floor(), strip.y, width, strip.h);
    ui.card("hint", pill, faded(PANEL, 0.92), (2.0, faded(SELECTION, 0.6)));
    ui.pen.text(&count, pill.x + 14.0, pill.y + pill.h / 2.0 + 5.0, SMALL, TEXT_DIM);
    ui.pen.text(&text, pill.x + 14.0 + lead, pill.y + pill.h / 2.0 + 5.0, SIZE, TEXT);
    let away = Rect::new(pill.right() - AWAY, pill.y + 3.0, AWAY - 3.0, pill.h - 6.0);
    ui.button("hints away", away, "x", false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_open_an_open_panel() {
        let seen = |panel, enemy| Seen { panel, enemy };
        for number in 0..HINTS.len() {
            let is_about_network = HINTS[number][0].starts_with("Open Network");
            let [open, folded] = [true, false].map(|panel| words(number, seen(panel, true)));
            assert_eq!(is_about_network, open != folded, "hint {number}");
            assert!(open.iter().all(|text| !text.contains("Open Network")));
            assert!(words(number, seen(false, false)).iter().all(|text| !text.contains("army")));
        }
    }
}
