//! Every shape that the battle is drawn with, computed once from distance functions into one texture, in several sizes, so that
//! small ones stay smooth.

use std::f32::consts::FRAC_1_SQRT_2;

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::texture::{FilterMode, Image, Texture2D};

/// A shape about the origin, within a circle or square of radius 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sprite {
    /// A filled square.
    Block,
    /// A ball with a dark rim.
    Ball,
    /// A thin circle.
    Ring,
    /// Soft, dark below things.
    Shadow,
    /// The sign of guards: a shield.
    Shield,
    /// The sign of archers: an arrow head that points to +x.
    Arrow,
    Boulder,
    /// Bright in the middle.
    Glow,
    /// A square with round corners, lit from above.
    Tile,
}

const SPRITES: [Sprite; 9] = [
    Sprite::Block,
    Sprite::Ball,
    Sprite::Ring,
    Sprite::Shadow,
    Sprite::Shield,
    Sprite::Arrow,
    Sprite::Boulder,
    Sprite::Glow,
    Sprite::Tile,
];

/// Sides of the pictures of one shape, texels.
const SIZES: [u16; 4] = [96, 48, 24, 12];

/// Texels between two pictures.
const GAP: u16 = 2;

/// The picture shows a little more than the shape, so that its edge can be smooth.
pub(crate) const MARGIN: f32 = 1.12;

/// The texture and where everything is in it.
pub(crate) struct Atlas {
    /// None where nothing is shown.
    texture: Option<Texture2D>,
    size: Vec2,
}

/// Sides of the texture, texels.
fn sides() -> (u16, u16) {
    (SIZES.iter().map(|size| size + GAP).sum(), (SIZES[0] + GAP) * SPRITES.len() as u16)
}

impl Atlas {
    pub(crate) fn new() -> Self {
        let (width, height) = sides();
        let row = SIZES[0] + GAP;
        let mut image = Image::gen_image_color(width, height, Color::new(1.0, 1.0, 1.0, 0.0));
        for (line, sprite) in SPRITES.into_iter().enumerate() {
            let mut left = 0;
            for size in SIZES {
                paint(&mut image, sprite, left, line as u16 * row, size);
                left += size + GAP;
            }
        }
        let texture = Texture2D::from_image(&image);
        texture.set_filter(FilterMode::Linear);
        Self { texture: Some(texture), ..Self::blind() }
    }

    /// Knows where everything would be in the texture.
    pub(crate) fn blind() -> Self {
        let (width, height) = sides();
        Self { texture: None, size: vec2(f32::from(width), f32::from(height)) }
    }

    pub(crate) fn texture(&self) -> Option<&Texture2D> {
        self.texture.as_ref()
    }

    /// The part of the texture with a shape, for a radius on the screen of so many pixels; in 0..=1.
    pub(crate) fn part(&self, sprite: Sprite, radius: f32) -> Rect {
        let line = SPRITES.iter().position(|listed| *listed == sprite).unwrap_or(0) as f32;
        let wanted = radius * 2.0 * MARGIN;
        let level = SIZES.iter().rposition(|size| f32::from(*size) >= wanted).unwrap_or(0);
        let left: u16 = SIZES[..level].iter().map(|size| size + GAP).sum();
        let (x, y) = (f32::from(left), line * f32::from(SIZES[0] + GAP));
        let mut part = Rect::new(x, y, f32::from(SIZES[level]), f32::from(SIZES[level]));
        if sprite == Sprite::Block {
            // Its middle: no edge at all.
            part = Rect::new(x + 4.0, y + 4.0, 4.0, 4.0);
        }
        Rect::new(part.x / self.size.x, part.y / self.size.y, part.w / self.size.x, part.h / self.size.y)
    }
}

fn paint(image: &mut Image, sprite: Sprite, left: u16, top: u16, size: u16) {
    let texel = 2.0 * MARGIN / f32::from(size);
    for y in 0..size {
        for x in 0..size {
            let at = |n: u16| (f32::from(n) + 0.5) * texel - MARGIN;
            let (light, alpha) = shade(sprite, vec2(at(x), at(y)), texel);
            let color = Color::new(light, light, light, alpha.clamp(0.0, 1.0));
            image.set_pixel(u32::from(left + x), u32::from(top + y), color);
        }
    }
}

/// Light and opacity of a shape at a point; `texel` is the width of its smooth edge.
fn shade(sprite: Sprite, p: Vec2, texel: f32) -> (f32, f32) {
    let edge = |distance: f32| 0.5 - distance / texel;
    let round = p.length();
    match sprite {
        Sprite::Block => (1.0, 1.0),
        Sprite::Ball => {
            let lit = 0.93 - 0.13 * p.dot(Vec2::splat(FRAC_1_SQRT_2));
            let rim = edge(0.84 - round).clamp(0.0, 1.0);
            (lit * (1.0 - 0.58 * rim), edge(round - 1.0))
        }
        Sprite::Ring => (1.0, edge((round - 0.93).abs() - 0.07)),
        Sprite::Shadow => (0.0, 0.55 * (1.0 - round).clamp(0.0, 1.0).powf(0.8)),
        Sprite::Shield => (1.0, edge(shield(p * 1.35))),
        Sprite::Arrow => (1.0, edge(arrow(p * 1.15))),
        Sprite::Boulder => {
            let angle = p.y.atan2(p.x);
            let radius = 0.93 + 0.05 * (3.0 * angle + 1.0).cos() + 0.04 * (5.0 * angle).sin();
            let lit = 0.82 - 0.3 * p.dot(Vec2::splat(FRAC_1_SQRT_2));
            let rim = edge(radius - 0.14 - round).clamp(0.0, 1.0);
            (lit * (1.0 - 0.4 * rim), edge(round - radius))
        }
        Sprite::Glow => (1.0, (1.0 - round).clamp(0.0, 1.0).powi(2)),
        Sprite::Tile => {
            // Below 0 inside: a square of half side 1 with corners of radius 0.3.
            let beyond = (p.abs() - Vec2::splat(0.7)).max(Vec2::ZERO).length() - 0.3;
            let lit = 0.9 - 0.12 * p.y;
            let rim = edge(-0.14 - beyond).clamp(0.0, 1.0);
            (lit * (1.0 - 0.4 * rim), edge(beyond))
        }
    }
}

/// Flat at the top, two arcs that meet at the bottom; y points down.
fn shield(p: Vec2) -> f32 {
    if p.y < 0.0 { (p.x.abs() - 0.55).max(-p.y - 0.6) } else { vec2(p.x.abs() + 0.3, p.y).length() - 0.85 }
}

/// A triangle with a notch behind.
fn arrow(p: Vec2) -> f32 {
    let y = p.y.abs();
    let front = (p.x * 0.6 + y * 1.0 - 0.42) / 1.166;
    let notch = (-p.x - 0.16 - y * 0.75) / 1.25;
    front.max(notch)
}
