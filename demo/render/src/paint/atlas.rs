//! Every shape that the battle is drawn with, computed once from distance functions into one texture, in several sizes, so that
//! small ones stay smooth.

use std::f32::consts::FRAC_1_SQRT_2;

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::texture::{FilterMode, Image, Texture2D};

use crate::paint::screen;

/// A shape about the origin, within a circle or square of radius 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Sprite {
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
    /// A guard from above, who looks to +x: broad, behind a shield, with a sword. From here on in eight [`Pose`]s.
    Guard,
    /// An archer from above, who looks to +x: slim, behind a bow.
    Archer,
}

/// One of the pictures of a unit: four of walking, the first of which stands, and four of striking.
pub type Pose = u8;
pub const POSES: u8 = 8;
pub const STRIKES: Pose = 4;

/// A shape in a pose: a picture of the texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure(pub Sprite, pub Pose);

impl From<Sprite> for Figure {
    fn from(sprite: Sprite) -> Self {
        Self(sprite, 0)
    }
}

impl Figure {
    /// Its place among all pictures of the texture.
    fn number(self) -> u8 {
        self.0 as u8 + self.1 + if self.0 == Sprite::Archer { POSES - 1 } else { 0 }
    }

    /// All of them, in the order of their numbers.
    fn all() -> impl Iterator<Item = Self> {
        let poses = |sprite| if sprite as u8 >= Sprite::Guard as u8 { POSES } else { 1 };
        SPRITES.into_iter().flat_map(move |sprite| (0..poses(sprite)).map(move |pose| Self(sprite, pose)))
    }
}

/// In the order of their declaration.
const SPRITES: [Sprite; 16] = {
    use Sprite::*;
    [
        Block, Ball, Ring, Shadow, Shield, Arrow, Boulder, Glow, Tile, Spark, Stain, Disc, Tree, Tuft, Guard,
        Archer,
    ]
};

/// Pictures below each other; the next ones stand beside them.
const ROWS: u8 = 15;

/// Sides of the pictures of one shape, texels.
const SIZES: [u16; 4] = [96, 48, 24, 12];

/// Texels between two pictures.
const GAP: u16 = 2;

/// The picture shows a little more than the shape, so that its edge can be smooth.
pub const MARGIN: f32 = 1.12;

/// The texture and where everything is in it.
pub struct Atlas {
    /// None where nothing is shown.
    texture: Option<Texture2D>,
    size: Vec2,
    /// Pixels of the screen per coordinate.
    dpi: f32,
}

/// Width and height of all pictures of one shape, texels.
fn strip() -> (u16, u16) {
    (SIZES.iter().map(|size| size + GAP).sum(), SIZES[0] + GAP)
}

/// Sides of the texture, texels.
fn sides() -> (u16, u16) {
    let ((wide, high), count) = (strip(), Figure::all().count() as u16);
    (wide * count.div_ceil(u16::from(ROWS)), high * u16::from(ROWS))
}

/// Upper left corner of the pictures of a shape, texels.
fn corner(figure: Figure) -> (u16, u16) {
    let ((wide, high), number) = (strip(), figure.number());
    (wide * u16::from(number / ROWS), high * u16::from(number % ROWS))
}

impl Atlas {
    pub fn for_window() -> Self {
        let (width, height) = sides();
        let mut image = Image::gen_image_color(width, height, Color::new(1.0, 1.0, 1.0, 0.0));
        for figure in Figure::all() {
            let (mut left, top) = corner(figure);
            for size in SIZES {
                paint(&mut image, figure, left, top, size);
                left += size + GAP;
            }
        }
        let texture = Texture2D::from_image(&image);
        texture.set_filter(FilterMode::Linear);
        Self { texture: Some(texture), dpi: screen::pixels(), ..Self::blind() }
    }

    /// The size of letters may have changed.
    pub fn follow_screen(&mut self) {
        self.dpi = screen::pixels();
    }

    /// Knows where everything would be in the texture.
    pub fn blind() -> Self {
        let (width, height) = sides();
        Self { texture: None, size: vec2(f32::from(width), f32::from(height)), dpi: 1.0 }
    }

    pub fn texture(&self) -> Option<&Texture2D> {
        self.texture.as_ref()
    }

    /// The part of the texture with a shape, for this radius on the screen, pixels; in 0..=1.
    pub fn part(&self, figure: Figure, radius: f32) -> Rect {
        let wanted = radius * 2.0 * MARGIN * self.dpi;
        let level = SIZES.iter().rposition(|size| f32::from(*size) >= wanted).unwrap_or(0);
        let (left, top) = corner(figure);
        let left = left + SIZES[..level].iter().map(|size| size + GAP).sum::<u16>();
        let (x, y) = (f32::from(left), f32::from(top));
        let mut part = Rect::new(x, y, f32::from(SIZES[level]), f32::from(SIZES[level]));
        if figure.0 == Sprite::Block {
            // Its middle: no edge at all.
            part = Rect::new(x + 4.0, y + 4.0, 4.0, 4.0);
        }
        Rect::new(part.x / self.size.x, part.y / self.size.y, part.w / self.size.x, part.h / self.size.y)
    }
}

fn paint(image: &mut Image, figure: Figure, left: u16, top: u16, size: u16) {
    let texel = 2.0 * MARGIN / f32::from(size);
    for y in 0..size {
        for x in 0..size {
            let at = |n: u16| (f32::from(n) + 0.5) * texel - MARGIN;
            let (light, alpha) = shade(figure, vec2(at(x), at(y)), texel);
            let color = Color::new(light, light, light, alpha.clamp(0.0, 1.0));
            image.set_pixel(u32::from(left + x), u32::from(top + y), color);
        }
    }
}

/// Light and opacity of a shape at a point; `texel` is the width of its smooth edge.
fn shade(Figure(sprite, pose): Figure, p: Vec2, texel: f32) -> (f32, f32) {
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
        Sprite::Guard => guard(pose, p, texel),
        Sprite::Archer => archer(pose, p, texel),
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

/// How far the left foot is ahead in each picture of walking; the right one is as far behind.
const STEPS: [f32; 4] = [0.0, 0.26, 0.0, -0.26];

/// Below 0 within the feet of somebody in this pose.
fn feet(pose: Pose, p: Vec2) -> f32 {
    let step = STEPS[usize::from(pose % STRIKES)] * if pose < STRIKES { 1.0 } else { 0.5 };
    let foot = |at: Vec2| ((p - at) / vec2(0.24, 0.13)).length() - 1.0;
    0.13 * foot(vec2(step - 0.3, -0.3)).min(foot(vec2(-step - 0.3, 0.3)))
}

/// Shoulders, a head, a bent shield across the front that is nearly as broad as the place he takes, and a sword.
fn guard(pose: Pose, p: Vec2, texel: f32) -> (f32, f32) {
    /// The angle of the sword, and how far he leans forwards, in each pose.
    const SWORD: [(f32, f32); 8] = [
        (0.5, 0.0),
        (0.35, 0.0),
        (0.5, 0.0),
        (0.65, 0.0),
        (0.85, -0.08),
        (0.3, 0.04),
        (-0.6, 0.12),
        (-0.2, 0.06),
    ];
    let (angle, lean) = SWORD[usize::from(pose % POSES)];
    let feet = feet(pose, p);
    let p = p - vec2(lean, 0.0);
    let body = (vec2((p.x + 0.32) / 0.44, p.y / 0.66).length() - 1.0) * 0.44;
    let bend = ((p + vec2(0.5, 0.0)).length() - 1.12).abs();
    let shield = bend.max((p.y + 0.1).abs() - 0.5).max(0.2 - p.x) - 0.1;
    let hand = vec2(-0.05, 0.5);
    let sword = away(p, hand, hand + 0.5 * Vec2::from_angle(angle)) - 0.055;
    let head = (p + vec2(0.26, 0.0)).length() - 0.28;
    let light = if shield.min(sword) < 0.0 { 1.0 } else { 0.7 };
    let light = if body.min(shield).min(sword) > feet { 0.45 } else { light };
    let light = light + 0.28 * (0.5 - head / texel).clamp(0.0, 1.0);
    outlined(body.min(shield).min(sword).min(feet), light, texel)
}

/// A slim body, the arc of a bow in front, its string, and the arrow on it.
fn archer(pose: Pose, p: Vec2, texel: f32) -> (f32, f32) {
    /// How far the string is drawn in each pose of a shot; after the last one the arrow is gone.
    const DRAWN: [f32; 4] = [0.1, 0.35, 0.55, 0.0];
    let drawn = if pose < STRIKES { 0.0 } else { DRAWN[usize::from(pose - STRIKES) % 4] };
    let body = rounded(p + vec2(0.3, 0.0), vec2(0.38, 0.42), 0.34);
    let bow = ((p + vec2(0.16, 0.0)).length() - 0.82).abs().max(0.2 - p.x) - 0.085;
    let (tip, nock) = (vec2(0.2, 0.73), vec2(0.2 - drawn, 0.0));
    let string = away(vec2(p.x, p.y.abs()), tip, nock) - 0.02;
    let arrow = if drawn > 0.0 { away(p, nock, nock + vec2(0.72, 0.0)) - 0.055 } else { f32::MAX };
    let head = (p + vec2(0.28, 0.0)).length() - 0.24;
    let (feet, upper) = (feet(pose, p), body.min(bow).min(arrow));
    let light = match upper {
        _ if feet < upper => 0.45,
        _ if body < 0.0 => 0.72,
        _ => 1.0,
    };
    let light = light + 0.26 * (0.5 - head / texel).clamp(0.0, 1.0);
    let (light, alpha) = outlined(upper.min(feet), light, texel);
    // The string has no dark line around it.
    let string = (0.5 - string / texel).clamp(0.0, 1.0);
    if string > alpha { (1.0, string) } else { (light, alpha) }
}

/// How far a point is from a line.
fn away(p: Vec2, from: Vec2, to: Vec2) -> f32 {
    let (p, way) = (p - from, to - from);
    (p - way * (p.dot(way) / way.length_squared()).clamp(0.0, 1.0)).length()
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
    fn every_picture_has_a_place_of_its_own() {
        for (number, figure) in (0_u8..).zip(Figure::all()) {
            assert_eq!(figure.number(), number, "{figure:?}");
        }
        // What every browser can hold.
        assert!(sides().0.max(sides().1) <= 2_048, "{:?}", sides());
    }

    #[test]
    fn every_pose_is_another_picture() {
        for sprite in [Sprite::Guard, Sprite::Archer] {
            let picture = |pose| -> Vec<bool> {
                let at = |n: u16| f32::from(n) * 0.05 - 1.0;
                (0..1_600)
                    .map(|n| shade(Figure(sprite, pose), vec2(at(n % 40), at(n / 40)), 0.02).1 > 0.5)
                    .collect()
            };
            for pose in (0..POSES).filter(|pose| *pose != 2) {
                let others = (0..pose).filter(|other| *other != 2 && picture(*other) == picture(pose));
                assert_eq!(others.count(), 0, "{sprite:?} {pose}");
            }
        }
    }

    /// What is drawn of a shape stays within its circle, so that units are as large as the physics has them.
    #[test]
    fn units_are_seen_where_they_are() {
        let is_unit = |figure: &Figure| [Sprite::Guard, Sprite::Archer, Sprite::Ball].contains(&figure.0);
        for figure in Figure::all().filter(is_unit) {
            let seen = |p: Vec2| shade(figure, p, 0.02).1 > 0.5;
            for angle in 0..64 {
                let way = Vec2::from_angle(angle as f32 * 0.1);
                assert!(!seen(way * 1.1), "{figure:?} at {angle}");
            }
            assert!(seen(vec2(-0.2, 0.0)), "{figure:?}");
        }
        let at = |sprite, p| shade(Figure(sprite, 0), p, 0.02).1;
        let (guard, archer) = (at(Sprite::Guard, vec2(-0.3, 0.6)), at(Sprite::Archer, vec2(-0.3, 0.6)));
        assert!(guard > 0.5 && archer < 0.5, "silhouettes differ: {guard} {archer}");
    }
}
