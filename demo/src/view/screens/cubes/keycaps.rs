//! The six keys as they are held, in a corner of a view.

use macroquad::color::BLACK;
use macroquad::math::{Rect, Vec2, vec2};

use crate::view::paint::atlas::Sprite;
use crate::view::paint::palette::{BACKDROP, PANEL_BRIGHT, SELECTION, TEXT, TEXT_DIM, faded};
use crate::view::paint::pen::{Align, SMALL};
use crate::view::widgets::ui::{FINGER, Ui};
use testudo_cubes::Input;

/// Side of a key for a mouse, the room between two, and the width of the space bar, pixels.
const KEY: f32 = 30.0;
const GAP: f32 = 4.0;
const SPACE: f32 = 106.0;

/// A key: script name, place from the upper left corner, whether it is held, its word, or where its arrow points on the screen.
type Key = (&'static str, Rect, bool, &'static str, Option<Vec2>);

fn keys(held: Input, side: f32) -> [Key; 6] {
    let step = side + GAP;
    let at = |column: f32, row: f32, width: f32| Rect::new(column * step, row * step, width, side);
    let wide = |row: f32, width: f32| Rect { x: 3.0 * step + 6.0, ..at(0.0, row, width) };
    [
        ("key left", at(0.0, 1.0, side), held.left, "", Some(-Vec2::X)),
        ("key right", at(2.0, 1.0, side), held.right, "", Some(Vec2::X)),
        ("key up", at(1.0, 0.0, side), held.up, "", Some(-Vec2::Y)),
        ("key down", at(1.0, 1.0, side), held.down, "", Some(Vec2::Y)),
        ("key space", wide(1.0, SPACE), held.space, "Space", None),
        ("key z", wide(0.0, side), held.z, "Z", None),
    ]
}

/// Draws the keys in the lower left corner of a view. Gives those that the mouse or a finger holds, if they `are_live`.
pub(super) fn draw(ui: &mut Ui, view: Rect, held: Input, caption: &str, are_live: bool) -> Input {
    let side = if ui.is_touched { FINGER } else { KEY };
    let size = vec2(3.0 * (side + GAP) + 6.0 + SPACE, 2.0 * side + GAP);
    let corner = vec2(view.x + 16.0, view.bottom() - size.y - 16.0);
    let card = Rect::new(corner.x - 10.0, corner.y - 30.0, size.x + 20.0, size.y + 40.0);
    ui.batch.block(card, faded(BACKDROP, 0.72));
    let keys = keys(held, side).map(|(name, rect, is_held, word, way)| {
        let (rect, sign) = (rect.offset(corner), if is_held { BLACK } else { TEXT_DIM });
        let fill = if is_held { SELECTION } else { PANEL_BRIGHT };
        ui.batch.stretched(Sprite::Tile, rect.center(), rect.size() / 2.0, fill);
        if let Some(way) = way {
            ui.batch.turned(Sprite::Arrow, rect.center(), 11.0, way, sign);
        }
        (name, rect, word, sign)
    });
    ui.batch.draw();
    ui.pen.text(caption, corner.x, corner.y - 11.0, SMALL, TEXT);
    let [left, right, up, down, space, z] = keys.map(|(name, rect, word, sign)| {
        ui.pen.label(word, rect, Align::Middle, SMALL, sign);
        are_live && ui.is_held(name, rect)
    });
    Input { left, right, up, down, space, z }
}
