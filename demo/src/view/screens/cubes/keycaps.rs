//! The six keys as they are held, in a corner of a view.

use macroquad::color::BLACK;
use macroquad::math::{Rect, Vec2, vec2};

use crate::view::widgets::ui::{FINGER, Ui};
use testudo_cubes::Input;
use testudo_render::paint::atlas::Sprite;
use testudo_render::paint::palette::{BACKDROP, PANEL_BRIGHT, SELECTION, TEXT, TEXT_DIM, faded};
use testudo_render::paint::pen::{Align, SMALL};

/// Side of a key for a mouse, the room between two, and the width of the space bar, pixels.
const KEY: f32 = 30.0;
const GAP: f32 = 4.0;
const SPACE: f32 = 106.0;
const SPACE_SHORT: f32 = 50.0;

/// In a narrower view the space bar is short; in a lower one the keys stand beside the field, pixels.
const NARROW: f32 = 420.0;
const LOW: f32 = 260.0;

/// A key: script name, place from the upper left corner, whether it is held, its word, or where its arrow points on the screen.
type Key = (&'static str, Rect, bool, &'static str, Option<Vec2>);

/// Where the keys are in a view.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pad {
    /// What is darker below the keys.
    card: Rect,
    corner: Vec2,
    /// Side of a key, and the width of the space bar.
    side: f32,
    space: f32,
    has_caption: bool,
}

impl Pad {
    /// In the lower left corner, and not higher than the view.
    fn new(view: Rect, is_touched: bool) -> Self {
        let side = if is_touched { FINGER } else { KEY }.min((view.h - 24.0 - GAP) / 2.0);
        let space = if view.w < NARROW { SPACE_SHORT } else { SPACE };
        let size = vec2(3.0 * (side + GAP) + 6.0 + space, 2.0 * side + GAP);
        let has_caption = view.h >= size.y + 46.0;
        let margin = if has_caption { 16.0 } else { 12.0 };
        let corner = vec2(view.x + 16.0, view.bottom() - size.y - margin);
        let above = if has_caption { 30.0 } else { 10.0 };
        let card = Rect::new(corner.x - 10.0, corner.y - above, size.x + 20.0, size.y + above + 10.0);
        Self { card, corner, side, space, has_caption }
    }
}

/// What the keys leave of a view for the field.
pub(super) fn beside(ui: &Ui, view: Rect) -> Rect {
    if view.h >= LOW {
        return view;
    }
    let left = Pad::new(view, ui.is_touched).card.right();
    Rect { x: left, w: view.right() - left, ..view }
}

fn keys(held: Input, side: f32, space: f32) -> [Key; 6] {
    let step = side + GAP;
    let at = |column: f32, row: f32, width: f32| Rect::new(column * step, row * step, width, side);
    let wide = |row: f32, width: f32| Rect { x: 3.0 * step + 6.0, ..at(0.0, row, width) };
    [
        ("key left", at(0.0, 1.0, side), held.left, "", Some(-Vec2::X)),
        ("key right", at(2.0, 1.0, side), held.right, "", Some(Vec2::X)),
        ("key up", at(1.0, 0.0, side), held.up, "", Some(-Vec2::Y)),
        ("key down", at(1.0, 1.0, side), held.down, "", Some(Vec2::Y)),
        ("key space", wide(1.0, space), held.space, "Space", None),
        ("key z", wide(0.0, side), held.z, "Z", None),
    ]
}

/// Draws the keys in the lower left corner of a view. Gives those that the mouse or a finger holds, if they `are_live`.
pub(super) fn draw(ui: &mut Ui, view: Rect, held: Input, caption: &str, are_live: bool) -> Input {
    let Pad { card, corner, side, space, has_caption } = Pad::new(view, ui.is_touched);
    ui.batch.block(card, faded(BACKDROP, 0.72));
    let keys = keys(held, side, space).map(|(name, rect, is_held, word, way)| {
        let (rect, sign) = (rect.offset(corner), if is_held { BLACK } else { TEXT_DIM });
        let fill = if is_held { SELECTION } else { PANEL_BRIGHT };
        ui.batch.stretched(Sprite::Tile, rect.center(), rect.size() / 2.0, fill);
        if let Some(way) = way {
            ui.batch.turned(Sprite::Arrow, rect.center(), 11.0, way, sign);
        }
        (name, rect, word, sign)
    });
    ui.batch.draw();
    if has_caption {
        ui.pen.text(caption, corner.x, corner.y - 11.0, SMALL, TEXT);
    }
    let [left, right, up, down, space, z] = keys.map(|(name, rect, word, sign)| {
        ui.pen.label(word, rect, Align::Middle, SMALL, sign);
        are_live && ui.is_held(name, rect)
    });
    Input { left, right, up, down, space, z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_render::paint::screen::misplaced;

    #[test]
    fn the_keys_stay_in_their_view_and_leave_room_for_the_field() {
        for (width, height) in
            [(317.0, 192.0), (419.0, 102.0), (412.0, 148.0), (397.0, 312.0), (677.0, 572.0)]
        {
            for is_touched in [false, true] {
                let (view, what) = (Rect::new(0.0, 74.0, width, height), format!("{width}x{height}"));
                let pad = Pad::new(view, is_touched);
                assert_eq!(misplaced(view, &[pad.card]), None, "{what}: {pad:?}");
                assert!(pad.side >= KEY || height < 120.0, "{what}: {pad:?}");
                assert!(height >= LOW || view.right() - pad.card.right() > 100.0, "{what}: {pad:?}");
                for (name, rect, ..) in keys(Input::default(), pad.side, pad.space) {
                    assert_eq!(misplaced(pad.card, &[rect.offset(pad.corner)]), None, "{what}: {name}");
                }
            }
        }
    }
}
