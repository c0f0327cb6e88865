//! Draws the ground of a map: water with its shores, trees, and rocks.

use macroquad::color::{Color, WHITE};
use macroquad::math::{Rect, Vec2, vec2};

use crate::game::{Game, Scenery};
use crate::view::battle::view::View;
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::place;
use crate::view::paint::palette::{
    BACKDROP, CANOPY, CANOPY_DARK, DEEP, EARTH, ROCK, ROCK_DARK, SHORE, WATER, faded, mixed,
};

/// Characters of a hand-made map across its longer side, about. Shores and trees follow it, so larger fields have larger ones.
const CHARACTERS_ACROSS: f32 = 58.0;

/// Number of ripples across the longer side.
const RIPPLES_ACROSS: f32 = 26.0;

/// Draws water and woods, which lie below everything else.
pub(crate) fn draw(batch: &mut Batch, game: &Game, view: &View, seconds: f32) {
    let long = 2.0 * place(game.field_half()).max_element();
    let character = long / CHARACTERS_ACROSS;
    let waters = || {
        game.scenery().filter_map(|scenery| match scenery {
            Scenery::Water { centre, half } => Some((place(centre), place(half))),
            _ => None,
        })
    };
    let woods = || {
        game.scenery().filter_map(|scenery| match scenery {
            Scenery::Wood { centre, half } => Some((place(centre), place(half))),
            _ => None,
        })
    };
    for (centre, half) in woods() {
        undergrowth(batch, view, area(centre, half), character);
    }
    // Each layer as a whole, because the rectangles of a lake touch.
    for (beyond, color) in [(0.34, faded(EARTH, 0.8)), (0.2, SHORE), (0.0, WATER)] {
        for (centre, half) in waters() {
            shape_of_water(batch, view, area(centre, half), character, beyond * character, color);
        }
    }
    let all: Vec<Rect> = waters().map(|(centre, half)| area(centre, half)).collect();
    for at in inner_corners(&all) {
        batch.block(view.rect_at(at, Vec2::splat(INSET * character)), WATER);
    }
    for (centre, half) in waters() {
        let deep = (half - Vec2::splat(0.3 * character)).max(Vec2::ZERO) * view.camera.scale;
        batch.stretched(Sprite::Stain, view.at(centre), deep, faded(DEEP, 0.9));
        ripples(batch, view, area(centre, half), long / RIPPLES_ACROSS, seconds);
    }
    for (centre, half) in woods() {
        trees(batch, view, area(centre, half), character);
    }
}

/// The woods around the field: nothing of the battle is there, but the ground goes on. (It was black.)
pub(crate) fn beyond(batch: &mut Batch, view: &View, half: Vec2) {
    let apart = 2.0 * half.max_element() / CHARACTERS_ACROSS * 1.3;
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
        undergrowth(batch, view, strip, apart);
        trees(batch, view, strip, apart);
    }
}

/// Corners of rectangles with water on all sides: there the shores of the rectangles would show in the middle of a lake.
fn inner_corners(waters: &[Rect]) -> Vec<Vec2> {
    const NEAR: f32 = 0.05;
    let signs = [vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(1.0, 1.0), vec2(-1.0, 1.0)];
    let is_water = |at: Vec2| waters.iter().any(|water| water.contains(at));
    let corners =
        waters.iter().flat_map(|water| signs.map(|sign| water.center() + sign * water.size() / 2.0));
    corners.filter(|at| signs.iter().all(|sign| is_water(*at + *sign * NEAR))).collect()
}

/// The inner part of a rectangle of water begins this far from its edge, characters of a map.
const INSET: f32 = 0.36;

/// One layer of a rectangle of water: its inner part, and discs of different sizes along the edge in place of straight lines and corners.
/// The layer ends about `beyond` units outside of the rectangle.
fn shape_of_water(batch: &mut Batch, view: &View, water: Rect, character: f32, beyond: f32, color: Color) {
    let inset = INSET * character;
    let inner = Rect::new(
        water.x + inset,
        water.y + inset,
        (water.w - 2.0 * inset).max(0.0),
        (water.h - 2.0 * inset).max(0.0),
    );
    let grown = (inset + beyond).max(0.0);
    if !view.camera.seen(view.rect).overlaps(&water) {
        return;
    }
    // A cross: only the corners are left to the discs, so neighbours have no seam.
    let half = inner.size() / 2.0;
    for reach in [vec2(grown, 0.0), vec2(0.0, grown)] {
        batch.block(view.rect_at(inner.center(), half + reach), color);
    }
    let apart = 0.5 * character;
    let mut disc = |at: Vec2| {
        let hash = scattered((at.x * 8.0) as i32, (at.y * 8.0) as i32);
        let radius = grown * (0.8 + 0.45 * (hash >> 8 & 0xff) as f32 / 255.0);
        if radius > 0.0 {
            batch.sprite(Sprite::Disc, view.at(at), radius * view.camera.scale, color);
        }
    };
    let steps = |length: f32| (length / apart).ceil().max(1.0) as i32;
    for n in 0..=steps(inner.w) {
        let x = inner.x + inner.w * n as f32 / steps(inner.w) as f32;
        disc(vec2(x, inner.y));
        disc(vec2(x, inner.bottom()));
    }
    for n in 1..steps(inner.h) {
        let y = inner.y + inner.h * n as f32 / steps(inner.h) as f32;
        disc(vec2(inner.x, y));
        disc(vec2(inner.right(), y));
    }
}

/// The dark ground below trees.
fn undergrowth(batch: &mut Batch, view: &View, area: Rect, character: f32) {
    for (at, hash) in scatter(area, character * 1.4) {
        let radius = character * (1.5 + 0.5 * (hash >> 8 & 0xff) as f32 / 255.0);
        if view.sees(at, radius) {
            batch.sprite(Sprite::Stain, view.at(at), radius * view.camera.scale, faded(CANOPY_DARK, 0.75));
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
        let radius = apart * (0.5 + 0.26 * (hash >> 16 & 0xff) as f32 / 255.0);
        if view.sees(at, radius) {
            let (at, radius) = (view.at(at), radius * view.camera.scale);
            batch.sprite(Sprite::Shadow, at + Vec2::splat(radius * 0.4), radius * 1.3, WHITE);
            let color = mixed(CANOPY, CANOPY_DARK, (hash >> 24 & 0xf) as f32 / 18.0);
            batch.turned(Sprite::Tree, at, radius, Vec2::from_angle((hash & 7) as f32 * 0.1 - 0.35), color);
        }
    }
}

/// The shadow of a rock. All shadows come before all rocks: one rock's shadow on another one would show where they overlap.
pub(crate) fn rock_shadow(batch: &mut Batch, view: &View, centre: Vec2, half: Vec2) {
    let rect = view.rect_at(centre, half);
    let scale = view.camera.scale;
    batch.stretched(
        Sprite::Tile,
        rect.center() + Vec2::splat(0.5 * scale),
        rect.size() / 2.0 + Vec2::splat(0.1 * scale),
        faded(BACKDROP, 0.4),
    );
    batch.stretched(
        Sprite::Stain,
        rect.center(),
        rect.size() * 0.5 + Vec2::splat(1.6 * scale),
        faded(BACKDROP, 0.4),
    );
}

/// A rock: stones side by side, the same in every picture.
pub(crate) fn rock(batch: &mut Batch, view: &View, centre: Vec2, half: Vec2) {
    /// Distance of the stones, units, and most of them along a side.
    const APART: f32 = 1.25;
    const ALONG_MAX: f32 = 12.0;
    let rect = view.rect_at(centre, half);
    let scale = view.camera.scale;
    batch.stretched(Sprite::Tile, rect.center(), rect.size() / 2.0, ROCK_DARK);
    let apart = APART.max(2.0 * half.max_element() / ALONG_MAX);
    let count = |length: f32| (length / apart).round().max(1.0);
    let (columns, rows) = (count(2.0 * half.x), count(2.0 * half.y));
    let step = half * 2.0 / vec2(columns, rows);
    for y in 0..rows as i32 {
        for x in 0..columns as i32 {
            let hash = scattered(x + 31 * centre.x as i32, y + 17 * centre.y as i32);
            let part = |shift: u32| (hash >> shift & 0xff) as f32 / 255.0 - 0.5;
            let at = centre - half + (vec2(x as f32, y as f32) + Vec2::splat(0.5)) * step;
            let at = at + vec2(part(0), part(8)) * step * 0.3;
            let radius = step.max_element() * (0.56 + 0.26 * part(16));
            let color = mixed(ROCK, ROCK_DARK, 0.1 + 0.45 * (part(20) + 0.5));
            batch.turned(
                Sprite::Boulder,
                view.at(at),
                radius * scale,
                Vec2::from_angle(0.9 * part(4)),
                color,
            );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shore_shows_in_the_middle_of_a_lake() {
        let lake =
            [Rect::new(0.0, 0.0, 4.0, 8.0), Rect::new(4.0, 2.0, 2.0, 2.0), Rect::new(4.0, 4.0, 2.0, 2.0)];
        let corners = inner_corners(&lake);
        assert!(!corners.is_empty() && corners.iter().all(|at| *at == vec2(4.0, 4.0)), "{corners:?}");
    }
}
