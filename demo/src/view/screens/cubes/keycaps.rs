//! The six keys as they are held, in a corner of a view.

use macroquad::color::{BLACK, Color};
use macroquad::math::{Rect, Vec2, vec2};

use crate::cubes::Input;
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::palette::{BACKDROP, PANEL_BRIGHT, SELECTION, TEXT, TEXT_DIM, faded};
use crate::view::paint::pen::{Align, Pen, SMALL};

/// Side of a key, and the room between two, pixels.
const KEY: f32 = 30.0;
const GAP: f32 = 4.0;

/// Width and height of all of them.
const WIDTH: f32 = KEY * 3.0 + GAP * 3.0 + SPACE;
const HEIGHT: f32 = KEY * 2.0 + GAP;
const SPACE: f32 = 112.0;

/// Position of a key from the upper left corner, and its label.
struct Key {
    rect: Rect,
    is_held: bool,
    sign: Sign,
}

enum Sign {
    /// An arrow head that points there on the screen.
    Arrow(Vec2),
    Word(&'static str),
}

fn keys(held: Input) -> [Key; 6] {
    let step = KEY + GAP;
    let arrow = |column: f32, row: f32, is_held: bool, way: Vec2| Key {
        rect: Rect::new(column * step, row * step, KEY, KEY),
        is_held,
        sign: Sign::Arrow(way),
    };
    let word = |row: f32, width: f32, is_held: bool, word: &'static str| Key {
        rect: Rect::new(3.0 * step + 6.0, row * step, width, KEY),
        is_held,
        sign: Sign::Word(word),
    };
    [
        arrow(1.0, 0.0, held.up, vec2(0.0, -1.0)),
        arrow(0.0, 1.0, held.left, vec2(-1.0, 0.0)),
        arrow(1.0, 1.0, held.down, vec2(0.0, 1.0)),
        arrow(2.0, 1.0, held.right, vec2(1.0, 0.0)),
        word(0.0, KEY, held.z, "Z"),
        word(1.0, SPACE - 6.0, held.space, "Space"),
    ]
}

/// Draws the keys in the lower left corner of a view.
pub(super) fn draw(batch: &mut Batch, pen: &Pen, view: Rect, held: Input, caption: &str) {
    let corner = vec2(view.x + 16.0, view.y + view.h - HEIGHT - 16.0);
    let card = Rect::new(corner.x - 10.0, corner.y - 30.0, WIDTH + 20.0, HEIGHT + 40.0);
    batch.block(card, faded(BACKDROP, 0.72));
    let keys = keys(held);
    for key in &keys {
        let half = key.rect.size() / 2.0;
        let centre = corner + key.rect.center();
        let (fill, sign) = if key.is_held { (SELECTION, BLACK) } else { (PANEL_BRIGHT, TEXT_DIM) };
        batch.stretched(Sprite::Tile, centre, half, fill);
        if let Sign::Arrow(way) = key.sign {
            batch.turned(Sprite::Arrow, centre, 11.0, way, sign);
        }
    }
    batch.draw();
    for key in &keys {
        if let Sign::Word(word) = key.sign {
            let rect = Rect::new(corner.x + key.rect.x, corner.y + key.rect.y, key.rect.w, key.rect.h);
            let color: Color = if key.is_held { BLACK } else { TEXT_DIM };
            pen.label(word, rect, Align::Middle, SMALL, color);
        }
    }
    pen.text(caption, corner.x, corner.y - 11.0, SMALL, TEXT);
}
