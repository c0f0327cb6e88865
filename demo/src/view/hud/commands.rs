//! Buttons for commands to the selected units, and what the colours of debug drawing mean.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::shapes::draw_rectangle;

use crate::view::command::side::Aim;
use crate::view::widgets::ui::Ui;
use testudo_render::battle::debug::Layers;
use testudo_render::battle::selection::KEYS;
use testudo_render::paint::atlas::Sprite;
use testudo_render::paint::batch::Batch;
use testudo_render::paint::palette::{DYING, PANEL, SELECTION, TEXT, army, faded};
use testudo_render::paint::pen::{Align, Pen, SMALL};

/// Sides of a button, pixels; in a narrow view buttons are narrower, but no narrower than this beside a minimap.
const WIDE: f32 = 62.0;
const WIDE_LEAST: f32 = 50.0;
const HIGH: f32 = 46.0;
const GAP: f32 = 4.0;

/// Width and height of a badge, pixels.
const BADGE: Vec2 = vec2(50.0, 22.0);

/// Width and height of the card of the selected units, and the room that it leaves for hints above it, pixels.
const CARD: Vec2 = vec2(296.0, HIGH);
const CARD_BELOW: f32 = 50.0;

/// Width of the narrowest card with all of its words, pixels.
const CARD_LEAST: f32 = 200.0;

/// Height of the lowest view with buttons, pixels.
pub(crate) const LOWEST_VIEW: f32 = 130.0;

/// Where the command bar and the badges of groups are in a view with a minimap in its lower left corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CommandLayout {
    /// The upper right corner of the view.
    corner: Vec2,
    /// Lower left corner of the bar, and the width of a button.
    bar: Vec2,
    wide: f32,
    /// Lower left corner of the lowest row of badges, and how many fit side by side; none in a view that is too low.
    badges: Vec2,
    across: usize,
    /// Where the card of the selected units is, if there is room for it.
    pub(crate) card: Option<Rect>,
}

impl CommandLayout {
    /// Beside the minimap; above it, if the view is too narrow.
    pub(crate) fn new(view: Rect, map: Rect) -> Self {
        let count = BUTTONS.len() as f32;
        let beside = vec2(map.right() + 12.0, view.bottom() - 8.0);
        let above = vec2(view.x + 8.0, map.y - 8.0);
        let fits = beside.x + count * (WIDE_LEAST + GAP) < view.right() - 8.0;
        let bar = if fits { beside } else { above };
        let room = view.right() - 8.0 - bar.x;
        let wide = WIDE.min(room / count - GAP);
        let badges = vec2(bar.x, bar.y - HIGH - 8.0);
        let is_low = badges.y - BADGE.y < view.y + 4.0;
        let across = if is_low { 0 } else { (room / (BADGE.x + GAP)).max(1.0) as usize };
        // Beside the bar; beside the minimap below it, where it hides nothing; or above all badges.
        let end = bar.x + count * (wide + GAP) + 4.0;
        let rows = KEYS.div_ceil(across.max(1)) as f32;
        let at = if end + CARD.x + 8.0 <= view.right() {
            vec2(end, bar.y - CARD.y)
        } else if !fits && view.right() - 8.0 - beside.x >= CARD_LEAST {
            vec2(beside.x, beside.y - CARD.y)
        } else {
            vec2(bar.x, badges.y - rows * (BADGE.y + GAP) - 4.0 - CARD.y)
        };
        let card = Rect::new(at.x, at.y, CARD.x.min(view.right() - 8.0 - at.x), CARD.y);
        // In a low view, a card above the badges would lie over the enemy's keep.
        let has_room = card.y > view.y + CARD_BELOW.max(view.h / 2.0);
        Self { corner: vec2(view.right(), view.y), bar, wide, badges, across, card: has_room.then_some(card) }
    }

    /// What the bar, a row of badges and the card may cover, as far as they are below the middle of the view.
    pub(crate) fn covered(&self) -> [Rect; 2] {
        let top = self.badges.y - BADGE.y;
        let width = BUTTONS.len() as f32 * (self.wide + GAP);
        [Rect::new(self.bar.x, top, width, self.bar.y - top), self.card.unwrap_or_default()]
    }
}

/// The effect of a button.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    All,
    /// Gives the next click this meaning.
    Aim(Aim),
    Stop,
    Hold,
}

/// Script name, label, effect.
const BUTTONS: [(&str, &str, Said); 5] = [
    ("choose all", "All", Said::All),
    ("attack", "Attack", Said::Aim(Aim::Attack)),
    ("patrol", "Patrol", Said::Aim(Aim::Patrol)),
    ("stop", "Stop", Said::Stop),
    ("hold", "Hold", Said::Hold),
];

/// Draws a player's bar; `aim` is the meaning of the next click.
pub(crate) fn draw(ui: &mut Ui, layout: &CommandLayout, player: u8, aim: Option<Aim>) -> Option<Said> {
    let mut said = None;
    for (n, (name, word, what)) in BUTTONS.into_iter().enumerate() {
        let left = layout.bar.x + n as f32 * (layout.wide + GAP);
        let button = Rect::new(left, layout.bar.y - HIGH, layout.wide, HIGH);
        ui.cover(button);
        let is_lit = aim.is_some_and(|aim| what == Said::Aim(aim));
        if ui.button(name, button, "", is_lit) {
            said = Some(what);
        }
        icon(&mut ui.batch, what, army(player), vec2(button.x + button.w / 2.0, button.y + 16.0));
        let below = Rect { y: button.y + 24.0, h: 22.0, ..button };
        ui.pen.label(word, below, Align::Middle, SMALL, TEXT);
    }
    ui.batch.draw();
    said
}

fn icon(batch: &mut Batch, what: Said, own: Color, at: Vec2) {
    match what {
        Said::All => {
            for x in [-9.0, 0.0, 9.0] {
                batch.sprite(Sprite::Ball, at + vec2(x, 0.0), 5.0, own);
            }
        }
        Said::Aim(Aim::Attack) => batch.turned(Sprite::Arrow, at, 11.0, Vec2::X, DYING),
        Said::Aim(Aim::Patrol) => {
            batch.turned(Sprite::Arrow, at - vec2(8.0, 0.0), 7.0, -Vec2::X, SELECTION);
            batch.turned(Sprite::Arrow, at + vec2(8.0, 0.0), 7.0, Vec2::X, SELECTION);
        }
        Said::Stop => batch.sprite(Sprite::Tile, at, 8.0, TEXT),
        Said::Hold => batch.sprite(Sprite::Shield, at, 11.0, own),
    }
}

/// Script names of the badges.
const GROUPS: [&str; KEYS] = [
    "group 0", "group 1", "group 2", "group 3", "group 4", "group 5", "group 6", "group 7", "group 8",
    "group 9",
];

/// Draws a badge for each group with members. Returns the pressed one.
pub(crate) fn groups(ui: &mut Ui, layout: &CommandLayout, sizes: &[usize; KEYS]) -> Option<usize> {
    let mut pressed = None;
    if layout.across == 0 {
        return None;
    }
    let shown = GROUPS.into_iter().enumerate().filter(|(key, _)| sizes[*key] > 0);
    for (n, (key, name)) in shown.enumerate() {
        let (column, row) = ((n % layout.across) as f32, (n / layout.across) as f32);
        let at = layout.badges + vec2(column, -row) * (BADGE + Vec2::splat(GAP));
        let badge = Rect::new(at.x, at.y - BADGE.y, BADGE.x, BADGE.y);
        ui.cover(badge);
        if ui.button(name, badge, &format!("{key}: {}", sizes[key]), false) {
            pressed = Some(key);
        }
    }
    pressed
}

/// Says what the colours of the layers mean, below a point of a view: there are up to six colours at once.
pub(crate) fn legend(pen: &Pen, at: Vec2, layers: Layers) {
    const LINE: f32 = 18.0;
    let lines: Vec<_> = layers.legend().collect();
    if lines.is_empty() {
        return;
    }
    let wide = lines.iter().map(|(word, _)| pen.width(word, SMALL)).fold(0.0, f32::max) + 34.0;
    let plate = Rect::new(at.x, at.y, wide, lines.len() as f32 * LINE + 8.0);
    pen.cover(plate);
    pen.fill(plate, faded(PANEL, 0.85));
    for (n, (word, color)) in lines.into_iter().enumerate() {
        let y = plate.y + 4.0 + n as f32 * LINE;
        draw_rectangle(plate.x + 8.0, y + 4.0, 10.0, 10.0, color);
        pen.text(word, plate.x + 26.0, y + 14.0, SMALL, TEXT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_and_badges_stay_in_views_of_any_width() {
        for width in [200.0, 397.0, 412.0, 600.0, 800.0, 3_840.0] {
            let view = Rect::new(10.0, 70.0, width, 500.0);
            let map = Rect::new(18.0, 430.0, 132.0, 132.0);
            let layout = CommandLayout::new(view, map);
            let end = layout.bar.x + BUTTONS.len() as f32 * (layout.wide + GAP);
            assert!(end <= view.right() && layout.wide > 20.0, "{width}: {layout:?}");
            assert!(layout.badges.x + layout.across as f32 * (BADGE.x + GAP) <= view.right(), "{width}");
            let is_beside = layout.bar.x > map.right();
            assert!(is_beside || layout.bar.y < map.y, "{width}: {layout:?}");
            assert_eq!(is_beside, width > 500.0, "{width}");
            let Some(card) = layout.card else {
                assert!(width < 300.0, "there is room: {width}");
                continue;
            };
            let rows = KEYS.div_ceil(layout.across) as f32;
            let is_above = card.bottom() <= layout.badges.y - rows * (BADGE.y + GAP);
            assert!(card.right() <= view.right() && card.y > view.y, "{width}: {card:?}");
            let is_beside_map = card.x > map.right() && card.y >= layout.bar.y;
            let is_apart = is_above || is_beside_map || card.x >= end - GAP && card.y >= layout.badges.y;
            assert!(is_apart && !card.overlaps(&map), "{width}: {card:?}");
            let wanted = (390.0..500.0).contains(&width);
            assert_eq!(is_beside_map, wanted, "on a phone it hid the keep: {width}: {card:?}");
        }
        let low =
            |width| CommandLayout::new(Rect::new(0.0, 74.0, width, 135.0), Rect::new(8.0, 147.0, 54.0, 54.0));
        assert_eq!(low(300.0).across, 0, "badges would lie over the header");
        // With two views in a low window, the bar lay over the own keep.
        let beside = low(397.0);
        assert!(beside.bar.x > 62.0 && beside.bar.y > 190.0 && beside.wide >= WIDE_LEAST, "{beside:?}");
        assert!(beside.across > 0 && beside.badges.y - BADGE.y > 74.0, "{beside:?}");
    }
}
