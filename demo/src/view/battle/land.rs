//! Draws the ground of a map: water with its shores, and trees.

use macroquad::color::WHITE;
use macroquad::math::{Rect, Vec2, vec2};

use crate::game::{Game, Scenery};
use crate::view::battle::view::View;
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::place;
use crate::view::paint::palette::{CANOPY, MOSS, SHORE, WATER, faded, mixed};

/// Width of the shore, units of length.
const SHORE_WIDTH: f32 = 0.5;

/// Number of trees across the longer side of a wooded field; larger fields have larger trees.
const TREES_ACROSS: f32 = 58.0;

/// Number of ripples across the longer side.
const RIPPLES_ACROSS: f32 = 26.0;

/// Draws water and woods, which lie below everything else.
pub(crate) fn draw(batch: &mut Batch, game: &Game, view: &View, seconds: f32) {
    let long = 2.0 * place(game.field_half()).max_element();
    let waters = || {
        game.scenery().filter_map(|scenery| match scenery {
            Scenery::Water { centre, half } => Some((place(centre), place(half))),
            _ => None,
        })
    };
    for (centre, half) in waters() {
        batch.block(view.rect_at(centre, half + Vec2::splat(SHORE_WIDTH)), SHORE);
    }
    for (centre, half) in waters() {
        batch.block(view.rect_at(centre, half), WATER);
    }
    for (centre, half) in waters() {
        ripples(batch, view, area(centre, half), long / RIPPLES_ACROSS, seconds);
    }
    for scenery in game.scenery() {
        if let Scenery::Wood { centre, half } = scenery {
            let (centre, half) = (place(centre), place(half));
            batch.block(view.rect_at(centre, half), faded(MOSS, 0.8));
            trees(batch, view, area(centre, half), long / TREES_ACROSS);
        }
    }
}

fn area(centre: Vec2, half: Vec2) -> Rect {
    Rect::new(centre.x - half.x, centre.y - half.y, half.x * 2.0, half.y * 2.0)
}

/// Points of a grid in a rectangle, each moved a little at random, and a random number for each.
fn scatter(area: Rect, apart: f32) -> impl Iterator<Item = (Vec2, u32)> {
    let cells = move |from: f32, to: f32| (from / apart).ceil() as i32..(to / apart).ceil() as i32;
    cells(area.y, area.bottom()).flat_map(move |y| {
        cells(area.x, area.right()).map(move |x| {
            let hash = scattered(x, y);
            let off = |shift: u32| (hash >> shift & 0xff) as f32 / 255.0 - 0.5;
            (vec2(x as f32 + 0.7 * off(0), y as f32 + 0.7 * off(8)) * apart, hash)
        })
    })
}

/// A pseudo-random number that depends only on a position: the same in every picture.
pub(crate) fn scattered(x: i32, y: i32) -> u32 {
    let hash = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
    (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d)
}

fn trees(batch: &mut Batch, view: &View, area: Rect, apart: f32) {
    for (at, hash) in scatter(area, apart) {
        let radius = apart * (0.42 + 0.22 * (hash >> 16 & 0xff) as f32 / 255.0);
        if view.sees(at, radius) {
            let (at, radius) = (view.at(at), radius * view.camera.scale);
            batch.sprite(Sprite::Shadow, at + Vec2::splat(radius * 0.35), radius * 1.3, WHITE);
            let color = mixed(CANOPY, MOSS, (hash >> 24 & 0xf) as f32 / 24.0);
            batch.turned(Sprite::Boulder, at, radius, Vec2::from_angle(hash as f32), color);
        }
    }
}

/// Light spots that come and go.
fn ripples(batch: &mut Batch, view: &View, area: Rect, apart: f32, seconds: f32) {
    for (at, hash) in scatter(area, apart) {
        let radius = vec2(apart * 0.3, apart * 0.07);
        let is_inside = at.x - radius.x > area.x && at.x + radius.x < area.right();
        if is_inside && view.sees(at, radius.x) {
            let glow = 0.5 + 0.5 * (seconds * 0.9 + hash as f32).sin();
            let color = faded(mixed(WATER, WHITE, 0.35), 0.15 + 0.35 * glow);
            batch.stretched(Sprite::Stain, view.at(at), radius * view.camera.scale, color);
        }
    }
}
