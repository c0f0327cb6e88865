//! What a button is for, told beside it while the mouse is over it.

use macroquad::math::{Rect, Vec2};

use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{PANEL, TEXT, faded};
use testudo_render::paint::pen::SMALL;
use testudo_render::paint::screen;

/// Script name of a button, and what it is for; the key comes last.
const TIPS: [(&str, &str); 18] = [
    ("choose all", "Select the whole army: Ctrl A"),
    ("attack", "Go there and attack on the way: A, then click"),
    ("patrol", "Walk between here and there: P, then click"),
    ("stop", "Stop, and attack what comes near: S"),
    ("hold", "Hold ground; again: pursue; again: defend the place: H"),
    ("prediction 1", "Show your orders at once, before they run everywhere: V"),
    ("prediction 2", "Show these orders at once, before they run everywhere"),
    ("pilot 1", "Hand the army over to a bot, and take it back"),
    ("step", "Run one frame, then stand: N"),
    ("split", "One view, or both computers side by side: Tab"),
    ("enlarge", "The same battle as the other computer has it: Tab"),
    ("unfold", "What travels between the computers, and ways to disturb it"),
    ("corrupt", "Change one bit in player 2's memory, and see how it is found"),
    ("look back", "Watch this battle so far, and play on from any moment of it"),
    ("to cubes", "Leave the battle for one scene that two computers share by six keys"),
    ("last replay", "Leave the battle and watch the newest recording"),
    ("copy own", "What brings you back to your own place after a crash"),
    ("seed next", "The number that rocks and armies are drawn from, another one"),
];

/// Draws the tip of the button under the mouse, where it hides no widget and none of the small maps, which are among these rectangles.
pub(crate) fn draw(ui: &mut Ui, fixed: &[(&'static str, Rect)]) {
    let under = |(name, about): &(&str, &'static str)| {
        let button = *ui.places().get(name)?;
        ui.hovers(button).then_some((button, *about))
    };
    let Some((button, about)) = TIPS.iter().find_map(under) else { return };
    // Fingers have no keys.
    let about = about.rsplit_once(": ").filter(|_| ui.is_touched).map_or(about, |(what, _)| what);
    // Else a tip would lie over the name of the enemy's keep.
    let maps = fixed.iter().filter(|(name, _)| name.starts_with("map")).map(|(_, map)| map);
    let covers: Vec<Rect> = ui.covers().iter().chain(ui.places().values()).chain(maps).copied().collect();
    let wide = ui.pen.width(about, SMALL) + 16.0;
    let Some(plate) = place(button, wide, screen::size(), &covers) else { return };
    // Within a card, or away from it: not across its edge.
    let [low, high] = [plate.point(), plate.point() + plate.size()];
    let is_whole = |place: &Rect| !place.overlaps(&plate) || place.contains(low) && place.contains(high);
    if !ui.places().values().all(is_whole) {
        return;
    }
    ui.batch.draw();
    ui.pen.cover(plate);
    ui.note("tooltip", plate);
    ui.pen.plate(about, plate, SMALL, TEXT, faded(PANEL, 0.95));
}

/// A plate above a button or below it, which lies over nothing but what the button itself lies on; none where there is no room.
fn place(button: Rect, wide: f32, window: Vec2, covers: &[Rect]) -> Option<Rect> {
    const HIGH: f32 = 24.0;
    const GAP: f32 = 4.0;
    let x = button.x.min(window.x - wide - GAP).max(GAP);
    let others: Vec<&Rect> = covers.iter().filter(|cover| !cover.contains(button.center())).collect();
    let free = |y: f32, beyond: fn(&Rect) -> f32| {
        let mut plate = Rect::new(x, y, wide, HIGH);
        while (GAP..window.y - HIGH).contains(&plate.y) {
            match others.iter().find(|cover| cover.overlaps(&plate)) {
                Some(cover) => plate.y = beyond(cover),
                None => return Some(plate),
            }
        }
        None
    };
    free(button.y - HIGH - 6.0, |cover| cover.y - HIGH - GAP)
        .or_else(|| free(button.bottom() + 6.0, |cover| cover.bottom() + GAP))
}

#[cfg(test)]
mod tests {
    use macroquad::math::vec2;

    use super::*;

    #[test]
    fn a_tooltip_lies_over_nothing() {
        let (button, window) = (Rect::new(100.0, 570.0, 60.0, 24.0), vec2(800.0, 600.0));
        let badges: Vec<Rect> = (0..10_u8)
            .map(|n| Rect::new(100.0 + 54.0 * f32::from(n % 7), 520.0 - 26.0 * f32::from(n / 7), 50.0, 22.0))
            .collect();
        let card = Rect::new(100.0, 440.0, 240.0, 46.0);
        for count in 0..=badges.len() {
            let covers: Vec<Rect> = badges[..count].iter().copied().chain([card, button]).collect();
            let plate = place(button, 240.0, window, &covers).unwrap();
            assert!(covers.iter().all(|cover| !cover.overlaps(&plate)) && plate.y > 400.0, "{plate:?}");
        }
        let full = [Rect::new(0.0, 0.0, 800.0, 560.0), Rect::new(0.0, 596.0, 800.0, 4.0)];
        assert_eq!(place(button, 240.0, window, &full), None, "there is no room");
        let top = Rect { y: 8.0, ..button };
        assert!(place(top, 240.0, window, &[]).unwrap().y > top.bottom(), "below a button at the top");
    }
}
