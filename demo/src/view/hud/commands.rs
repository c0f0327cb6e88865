//! Buttons for commands to the selected units, and for debug drawing. Each shows its key when the mouse is over it.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::shapes::draw_rectangle;

use crate::view::battle::debug::Layers;
use crate::view::battle::selection::KEYS;
use crate::view::command::side::Aim;
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::palette::{DYING, PANEL, SELECTION, TEXT, army, faded};
use crate::view::paint::pen::{Align, Pen, SMALL};
use crate::view::widgets::ui::Ui;

/// Sides of a button, pixels.
const WIDE: f32 = 62.0;
pub(crate) const HIGH: f32 = 46.0;
const GAP: f32 = 4.0;

/// The effect of a button.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    All,
    /// Gives the next click this meaning.
    Aim(Aim),
    Stop,
    Hold,
}

/// Script name, label, tooltip, effect.
const BUTTONS: [(&str, &str, &str, Said); 5] = [
    ("choose all", "All", "Select the whole army: Ctrl A", Said::All),
    ("attack", "Attack", "Go there and attack on the way: A, then click", Said::Aim(Aim::Attack)),
    ("patrol", "Patrol", "Walk between here and there: P, then click", Said::Aim(Aim::Patrol)),
    ("stop", "Stop", "Stop, and attack who comes near: S", Said::Stop),
    ("hold", "Hold", "Hold ground, or attack who comes near again: H", Said::Hold),
];

/// Draws a player's bar to the right of a point at its lower left corner; `aim` is the meaning of the next click.
pub(crate) fn draw(
    batch: &mut Batch,
    pen: &Pen,
    ui: &mut Ui,
    corner: Vec2,
    player: u8,
    aim: Option<Aim>,
) -> Option<Said> {
    let (mut said, mut tip) = (None, None);
    for (n, (name, word, about, what)) in BUTTONS.into_iter().enumerate() {
        let button = Rect::new(corner.x + n as f32 * (WIDE + GAP), corner.y - HIGH, WIDE, HIGH);
        ui.cover(button);
        let is_lit = aim.is_some_and(|aim| what == Said::Aim(aim));
        if ui.button(pen, name, button, "", is_lit) {
            said = Some(what);
        }
        icon(batch, what, army(player), vec2(button.x + button.w / 2.0, button.y + 16.0));
        let below = Rect { y: button.y + 24.0, h: 22.0, ..button };
        pen.label(word, below, Align::Middle, SMALL, TEXT);
        if button.contains(ui.mouse) {
            tip = Some((button, about));
        }
    }
    batch.draw();
    if let Some((button, about)) = tip {
        let wide = pen.width(about, SMALL) + 16.0;
        let plate = Rect::new(button.x, button.y - 30.0, wide, 24.0);
        pen.cover(plate);
        draw_rectangle(plate.x, plate.y, plate.w, plate.h, faded(PANEL, 0.95));
        pen.label(about, plate, Align::Middle, SMALL, TEXT);
    }
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

/// Draws a badge for each group with members, to the right of a point at their lower left corner. Returns the pressed one.
pub(crate) fn groups(pen: &Pen, ui: &mut Ui, corner: Vec2, sizes: &[usize; KEYS]) -> Option<usize> {
    const BADGE: Vec2 = vec2(50.0, 22.0);
    let (mut pressed, mut x) = (None, corner.x);
    for (key, name) in GROUPS.into_iter().enumerate().filter(|(key, _)| sizes[*key] > 0) {
        let badge = Rect::new(x, corner.y - BADGE.y, BADGE.x, BADGE.y);
        ui.cover(badge);
        if ui.button(pen, name, badge, &format!("{key}: {}", sizes[key]), false) {
            pressed = Some(key);
        }
        x += BADGE.x + 4.0;
    }
    pressed
}

/// Draws a switch for each layer of debug drawing, one below the other at the right edge of a view, from `top` on.
pub(crate) fn layers(pen: &Pen, ui: &mut Ui, view: Rect, top: f32, layers: &mut Layers) {
    for (n, (name, word, is_on)) in layers.switches().into_iter().enumerate() {
        let button = Rect::new(view.x + view.w - 100.0, top + n as f32 * 25.0, 90.0, 23.0);
        if button.bottom() > view.bottom() {
            return;
        }
        ui.cover(button);
        if ui.button(pen, name, button, word, *is_on) {
            *is_on = !*is_on;
        }
    }
}
