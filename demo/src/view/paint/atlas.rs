//! Every shape that the battle is drawn with, computed once from distance functions into one texture, in several sizes, so that
//! small ones stay smooth.

use std::f32::consts::FRAC_1_SQRT_2;

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::texture::{FilterMode, Image, Texture2D};

use crate::view::paint::screen;

/// A shape about the origin, within a circle or square of radius 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
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
    /// A guard from above, who looks to +x: broad, behind a shield.
    Guard,
    /// An archer from above, who looks to +x: slim, behind a bow.
    Archer,
    /// Rays around a point, where a unit was hit.
    Spark,
    /// A soft stain without an edge.
    Stain,
    /// A flat disc.
    Disc,
    /// The crown of a tree from above.
    Tree,
    /// A few blades of grass.
    Tuft,
}

/// In the order of their declaration: a line of the texture each.
const SPRITES: [Sprite; 16] = [
    Sprite::Block,
    Sprite::Ball,
    Sprite::Ring,
    Sprite::Shadow,
    Sprite::Shield,
    Sprite::Arrow,
    Sprite::Boulder,
    Sprite::Glow,
    Sprite::Tile,
    Sprite::Guard,
    Sprite::Archer,
    Sprite::Spark,
    Sprite::Stain,
    Sprite::Disc,
    Sprite::Tree,
    Sprite::Tuft,
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
    /// Pixels of the screen per coordinate.
    dpi: f32,
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
        Self { texture: Some(texture), dpi: screen::pixels(), ..Self::blind() }
    }

    /// The size of letters may have changed.
    pub(crate) fn follow_screen(&mut self) {
        self.dpi = screen::pixels();
    }

    /// Knows where everything would be in the texture.
    pub(crate) fn blind() -> Self {
        let (width, height) = sides();
        Self { texture: None, size: vec2(f32::from(width), f32::from(height)), dpi: 1.0 }
    }

    pub(crate) fn texture(&self) -> Option<&Texture2D> {
        self.texture.as_ref()
    }

    /// The part of the texture with a shape, for this radius on the screen, pixels; in 0..=1.
    pub(crate) fn part(&self, sprite: Sprite, radius: f32) -> Rect {
        let line = f32::from(sprite as u8);
        let wanted = radius * 2.0 * MARGIN * self.dpi;
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
        Sprite::Ring => (1.0, edge((round - 0.94).abs() - 0.06)),
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
        Sprite::Guard => {
            // Shoulders, a head, and a bent shield across the front that is nearly as broad as the place he takes.
            let body = (vec2((p.x + 0.32) / 0.44, p.y / 0.66).length() - 1.0) * 0.44;
            let bend = ((p + vec2(0.5, 0.0)).length() - 1.12).abs();
            let shield = bend.max(p.y.abs() - 0.54).max(0.2 - p.x) - 0.1;
            let head = (p + vec2(0.26, 0.0)).length() - 0.28;
            let light = if shield < 0.0 { 1.0 } else { 0.7 };
            outlined(body.min(shield), light + 0.28 * edge(head).clamp(0.0, 1.0), texel)
        }
        Sprite::Archer => {
            // A slim body, the arc of a bow in front, and the arrow on it.
            let body = rounded(p + vec2(0.3, 0.0), vec2(0.38, 0.42), 0.34);
            let bow = ((p + vec2(0.16, 0.0)).length() - 0.82).abs().max(0.2 - p.x) - 0.085;
            let arrow = rounded(p - vec2(0.34, 0.0), vec2(0.52, 0.06), 0.05);
            let head = (p + vec2(0.28, 0.0)).length() - 0.24;
            let light = if body < 0.0 { 0.72 } else { 1.0 };
            outlined(body.min(bow).min(arrow), light + 0.26 * edge(head).clamp(0.0, 1.0), texel)
        }
        Sprite::Spark => {
            let angle = p.y.atan2(p.x);
            let ray = 0.25 + 0.75 * (3.5 * angle).cos().abs().powi(6);
            (1.0, ((ray - round) * 3.0).clamp(0.0, 1.0))
        }
        Sprite::Stain => {
            let t = (1.0 - round).clamp(0.0, 1.0);
            (1.0, t * t * (3.0 - 2.0 * t))
        }
        Sprite::Disc => (1.0, edge(round - 1.0)),
        Sprite::Tree => {
            let angle = p.y.atan2(p.x);
            let radius = 0.88 + 0.06 * (5.0 * angle + 0.6).cos() + 0.05 * (9.0 * angle).sin();
            // Leaves: bright and dark spots of two sizes, brighter towards the light.
            let leaves = (9.0 * p.x + 2.0).sin() * (8.0 * p.y).sin() + 0.6 * (17.0 * p.x - 9.0 * p.y).sin();
            let lit = 0.86 - 0.3 * p.dot(Vec2::splat(FRAC_1_SQRT_2)) + 0.08 * leaves;
            let rim = edge(radius - 0.12 - round).clamp(0.0, 1.0);
            (lit * (1.0 - 0.35 * rim), edge(round - radius))
        }
        Sprite::Tuft => {
            let blade = |lean: f32, x: f32| (p.x - x - lean * (0.6 - p.y).powi(2)).abs() - 0.1 * (p.y + 0.9);
            let blades = blade(-0.25, -0.25).min(blade(0.05, 0.0)).min(blade(0.3, 0.3));
            (0.8 - 0.3 * p.y, edge(blades.max(p.y - 0.6).max(-0.9 - p.y)))
        }
    }
}

/// A shape with a dark line around it, so that it stands out from its neighbours and from any ground.
fn outlined(distance: f32, light: f32, texel: f32) -> (f32, f32) {
    /// Width of the line.
    const LINE: f32 = 0.1;
    let inside = (0.5 - distance / texel).clamp(0.0, 1.0);
    (light * inside + 0.1 * (1.0 - inside), 0.5 - (distance - LINE) / texel)
}

/// Below 0 within a rectangle with round corners.
fn rounded(p: Vec2, half: Vec2, radius: f32) -> f32 {
    let beyond = p.abs() - (half - Vec2::splat(radius));
    beyond.max(Vec2::ZERO).length() + beyond.max_element().min(0.0) - radius
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_a_line_of_its_own() {
        for (line, sprite) in (0_u8..).zip(SPRITES) {
            assert_eq!(sprite as u8, line, "{sprite:?}");
        }
    }

    /// What is drawn of a shape stays within its circle, so that units are as large as the physics has them.
    #[test]
    fn units_are_seen_where_they_are() {
        for sprite in [Sprite::Guard, Sprite::Archer, Sprite::Ball] {
            let seen = |p: Vec2| shade(sprite, p, 0.02).1 > 0.5;
            for angle in 0..64 {
                let way = Vec2::from_angle(angle as f32 * 0.1);
                assert!(!seen(way * 1.1), "{sprite:?} at {angle}");
            }
            assert!(seen(vec2(-0.2, 0.0)), "{sprite:?}");
        }
        let (guard, archer) =
            (shade(Sprite::Guard, vec2(0.5, 0.5), 0.02).1, shade(Sprite::Archer, vec2(-0.6, 0.6), 0.02).1);
        assert!(guard > 0.5 && archer < 0.5, "silhouettes differ: {guard} {archer}");
    }
}
