//! Draws what stands on the ground of a map and moves on it: trees, grass, and light on water.

use macroquad::color::WHITE;
use macroquad::math::{Rect, Vec2, vec2};

use crate::battle::view::View;
use crate::paint::atlas::Sprite;
use crate::paint::batch::Batch;
use crate::paint::camera::place;
use crate::paint::palette::{CANOPY, CANOPY_DARK, GRASS, STRAW, WATER, faded, mixed};
use testudo_battle::{Game, Scenery};

/// Characters of a hand-made map across its longer side, about. Shores and trees follow it, so larger fields have larger ones.
const CHARACTERS_ACROSS: f32 = 58.0;

/// Number of ripples across the longer side.
const RIPPLES_ACROSS: f32 = 26.0;

/// The side of a character of the map, units.
pub fn character(game: &Game) -> f32 {
    2.0 * place(game.field_half()).max_element() / CHARACTERS_ACROSS
}

/// Draws what lies below everything else.
pub fn draw(batch: &mut Batch, game: &Game, view: &View, seconds: f32) {
    let (character, half) = (character(game), place(game.field_half()));
    grass(batch, game, view);
    for scenery in game.scenery() {
        match scenery {
            Scenery::Water { centre, half } => {
                let apart = character * CHARACTERS_ACROSS / RIPPLES_ACROSS;
                ripples(batch, view, area(place(centre), place(half)), apart, seconds);
            }
            Scenery::Wood { centre, half } => trees(batch, view, area(place(centre), place(half)), character),
            _ => {}
        }
    }
    // Woods go on around the field, where nothing of the battle is: it would be black.
    let seen = view.camera.seen(view.rect);
    let (left, top) = (-half.x - seen.x, -half.y - seen.y);
    let (right, bottom) = (seen.right() - half.x, seen.bottom() - half.y);
    let strips = [
        Rect::new(seen.x, seen.y, seen.w, top),
        Rect::new(seen.x, half.y, seen.w, bottom),
        Rect::new(seen.x, -half.y, left, 2.0 * half.y),
        Rect::new(half.x, -half.y, right, 2.0 * half.y),
    ];
    for strip in strips.into_iter().filter(|strip| strip.w > 0.0 && strip.h > 0.0) {
        trees(batch, view, strip, 1.3 * character);
    }
}

/// Blades of grass, fewer of them from far away, none on water and rocks.
fn grass(batch: &mut Batch, game: &Game, view: &View) {
    /// Distance between tufts, units of length; most of them across; below this scale they are left out, pixels per unit.
    const APART: f32 = 2.4;
    const ACROSS_MAX: f32 = 44.0;
    const SCALE_MIN: f32 = 7.0;
    let half = place(game.field_half());
    let seen = view.camera.seen(view.rect);
    let Some(ground) = seen.intersect(area(Vec2::ZERO, half)).filter(|_| view.camera.scale > SCALE_MIN)
    else {
        return;
    };
    let bare = game.scenery().filter_map(|scenery| match scenery {
        Scenery::Water { centre, half } | Scenery::Rock { centre, half } => {
            Some(area(place(centre), place(half) + 0.5))
        }
        _ => None,
    });
    let bare: Vec<Rect> = bare.filter(|bare| bare.overlaps(&seen)).collect();
    for (at, hash) in scatter(ground, APART.max(seen.w.max(seen.h) / ACROSS_MAX)) {
        let part = |shift: u32| (hash >> shift & 0xff) as f32 / 255.0;
        if !bare.iter().any(|bare| bare.contains(at)) {
            let size = (0.22 + 0.16 * part(16)) * view.camera.scale;
            batch.sprite(Sprite::Tuft, view.at(at), size, faded(mixed(GRASS, STRAW, part(24) * 0.7), 0.7));
        }
    }
}

pub fn area(centre: Vec2, half: Vec2) -> Rect {
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
pub fn scattered(x: i32, y: i32) -> u32 {
    let hash = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
    (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d)
}

fn trees(batch: &mut Batch, view: &View, area: Rect, apart: f32) {
    for (at, hash) in scatter(area, apart) {
        let radius = apart * (0.5 + 0.26 * (hash >> 16 & 0xff) as f32 / 255.0);
        if view.sees(at, radius) {
            let (at, radius) = (view.at(at), radius * view.camera.scale);
            batch.sprite(Sprite::Shadow, at + Vec2::splat(radius * 0.4), radius * 1.3, WHITE);
            let color = mixed(CANOPY, CANOPY_DARK, (hash >> 24 & 0xf) as f32 / 18.0);
            batch.turned(Sprite::Tree, at, radius, Vec2::from_angle((hash & 7) as f32 * 0.1 - 0.35), color);
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
