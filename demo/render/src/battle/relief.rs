//! The picture of a map's ground, computed once: grass, water with its shores, rocks, and the soil of woods. Noise bends the outlines of the
//! map's rectangles, by less than a unit's width.

use macroquad::color::{Color, WHITE};
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::texture::Image;

use crate::battle::land::{character, scattered};
use crate::battle::view::View;
use crate::clock::Clock;
use crate::paint::batch::{Batch, Painter};
use crate::paint::camera::place;
use crate::paint::palette::{
    BACKDROP, CANOPY_DARK, DEEP, EARTH, GROUND, MOSS, OUTSIDE, ROCK, ROCK_DARK, SHORE, STRAW, WATER, mixed,
};
use testudo_battle::{Game, Scenery};

/// Texels along the longer side, and of the coarse picture that is there at once.
const TEXELS: f32 = 1_536.0;
const COARSE: f32 = 384.0;

/// The picture shows this much beyond the field, characters of a map.
const MARGIN: f32 = 2.0;

/// Cells of a mask along one character, and how often it is blurred.
const CELLS: f32 = 4.0;
const BLURS: usize = 2;

/// Draws the ground of the field, and with `beyond` a strip around it.
pub fn draw(batch: &mut Batch, game: &Game, view: &View, beyond: bool) {
    let half = place(game.field_half());
    let whole = half + Vec2::splat(MARGIN * character(game));
    let shown = if beyond { whole } else { half };
    let Vec2 { x, y } = shown / whole;
    let part = Rect::new(0.5 - 0.5 * x, 0.5 - 0.5 * y, x, y);
    batch.picture(key(game), view.rect_at(Vec2::ZERO, shown), part, || begin(game, whole));
}

/// Differs where the ground differs.
fn key(game: &Game) -> u64 {
    let setup = game.setup();
    let map = setup.map.map_or(0, |map| map.hash);
    map ^ setup.seed.rotate_left(32) ^ u64::from(setup.units) << 8 ^ u64::from(setup.players)
}

/// The coarse picture, and who paints the fine one.
fn begin(game: &Game, half: Vec2) -> (Image, Painter) {
    let soil = Soil::new(game, half);
    let mut coarse = Canvas::new(half, COARSE);
    coarse.paint_rows(&soil, u16::MAX);
    let mut fine = Canvas::new(half, TEXELS);
    let painter = move |seconds: f32| {
        let clock = Clock::start();
        while !fine.is_full() && clock.elapsed().as_micros() as f32 <= seconds * 1e6 {
            fine.paint_rows(&soil, 2);
        }
        fine.is_full().then(|| fine.take())
    };
    (coarse.take(), Box::new(painter))
}

/// A picture that is painted row by row.
struct Canvas {
    image: Image,
    half: Vec2,
    /// Side of a texel, units.
    texel: f32,
    /// Rows that are painted.
    rows: u16,
}

impl Canvas {
    fn new(half: Vec2, texels: f32) -> Self {
        let texel = 2.0 * half.max_element() / texels;
        let (width, height) = ((2.0 * half.x / texel) as u16, (2.0 * half.y / texel) as u16);
        let bytes = Vec::with_capacity(4 * usize::from(width) * usize::from(height));
        Self { image: Image { bytes, width, height }, half, texel, rows: 0 }
    }

    fn is_full(&self) -> bool {
        self.rows == self.image.height
    }

    fn paint_rows(&mut self, soil: &Soil, count: u16) {
        let end = self.image.height.min(self.rows.saturating_add(count));
        for y in self.rows..end {
            let at = |x: u16| vec2(f32::from(x) + 0.5, f32::from(y) + 0.5) * self.texel - self.half;
            let row = (0..self.image.width).flat_map(|x| <[u8; 4]>::from(soil.color(at(x))));
            self.image.bytes.extend(row);
        }
        self.rows = end;
    }

    fn take(&mut self) -> Image {
        core::mem::replace(&mut self.image, Image::empty())
    }
}

/// What the ground is made of.
struct Soil {
    /// Half of the field's sides, units, and the side of a character.
    field: Vec2,
    character: f32,
    water: Mask,
    rock: Mask,
    wood: Mask,
}

impl Soil {
    fn new(game: &Game, half: Vec2) -> Self {
        let (mut water, mut rock, mut wood) = (Vec::new(), Vec::new(), Vec::new());
        for scenery in game.scenery() {
            let (list, centre, half) = match scenery {
                Scenery::Water { centre, half } => (&mut water, centre, half),
                Scenery::Rock { centre, half } => (&mut rock, centre, half),
                Scenery::Wood { centre, half } => (&mut wood, centre, half),
                Scenery::Building(_) => continue,
            };
            let (centre, half) = (place(centre), place(half));
            list.push(Rect::new(centre.x - half.x, centre.y - half.y, 2.0 * half.x, 2.0 * half.y));
        }
        let (field, character) = (place(game.field_half()), character(game));
        let mask = |rects: &[Rect]| Mask::new(rects, field, half, character);
        Self { field, character, water: mask(&water), rock: mask(&rock), wood: mask(&wood) }
    }

    fn color(&self, p: Vec2) -> Color {
        let c = p / self.character;
        let bend =
            vec2(noise(c * 1.4), noise(c * 1.4 + 37.0)) + 0.5 * vec2(noise(c * 3.7), noise(c * 3.7 + 91.0));
        let q = p + (bend - 0.75) * 0.5 * self.character;
        let (wide, fine) = (noise(c * 0.4), noise(c * 1.1 + 7.0));
        let grain = 0.94 + 0.12 * (0.5 * noise(p * 1.7) + 0.5 * noise(p * 5.3));
        let grass = mixed(GROUND, MOSS, 0.9 * smooth(0.35, 0.8, 0.6 * wide + 0.4 * fine));
        let grass = mixed(grass, STRAW, 0.55 * smooth(0.55, 0.9, 0.5 * noise(c * 0.5 + 53.0) + 0.5 * fine));
        // Beyond the field, and below trees.
        let away = (p.abs() - self.field).max_element() / self.character;
        let grass = mixed(grass, OUTSIDE, smooth(-0.6, 0.8, away + fine - 0.5));
        let mut color = mixed(grass, CANOPY_DARK, 0.8 * smooth(0.15, 0.7, self.wood.at(q)));
        let water = self.water.at(q);
        if water > 0.05 {
            color = mixed(color, EARTH, 0.8 * smooth(0.12, 0.3, water));
            color = mixed(color, SHORE, smooth(0.3, 0.38, water) * (0.75 + 0.25 * fine));
            let depth = smooth(0.55, 1.0, water) * (0.7 + 0.3 * wide);
            color = mixed(color, mixed(mixed(WATER, WHITE, 0.12), DEEP, depth), smooth(0.42, 0.48, water));
        }
        color = scaled(color, grain);
        // Light falls from the upper left.
        let shade = smooth(0.2, 0.6, self.rock.at(q - Vec2::splat(0.3 * self.character)));
        color = mixed(color, BACKDROP, 0.45 * shade);
        let rock = self.rock.at(q);
        if rock > 0.2 { mixed(color, self.stone(p, q), smooth(0.38, 0.46, rock)) } else { color }
    }

    /// The surface of a rock, lit from the upper left.
    fn stone(&self, p: Vec2, q: Vec2) -> Color {
        let step = Vec2::splat(0.09 * self.character);
        let height = |p: Vec2, q: Vec2| {
            let (near, second, hash) = crags(p / (0.62 * self.character));
            let crack = smooth(0.0, 0.2, second - near);
            let top = 0.35 + 0.65 * (hash & 0xff) as f32 / 255.0;
            (smooth(0.3, 0.75, self.rock.at(q)) * (0.35 + 0.65 * top * crack), crack, top)
        };
        let ((here, crack, top), (lower, ..)) = (height(p, q), height(p - step, q - step));
        let light = 0.42 + 0.3 * top + 1.1 * (here - lower) + 0.14 * (noise(p * 3.1) - 0.5);
        scaled(mixed(ROCK_DARK, ROCK, light.clamp(-0.4, 1.3)), 0.55 + 0.45 * crack)
    }
}

/// Where one kind of ground is: 1 inside, 0 outside, .5 at the edge.
struct Mask {
    /// None where there is nothing of this kind.
    cells: Vec<f32>,
    columns: usize,
    half: Vec2,
    cell: f32,
}

impl Mask {
    fn new(rects: &[Rect], field: Vec2, half: Vec2, character: f32) -> Self {
        let cell = character / CELLS;
        let [columns, rows] = [half.x, half.y].map(|half| (2.0 * half / cell).ceil() as usize + 2);
        if rects.is_empty() {
            return Self { cells: Vec::new(), columns, half, cell };
        }
        let at = |n: usize| {
            let p = vec2((n % columns) as f32, (n / columns) as f32) * cell - half;
            // What reaches the edge of the field goes on beyond.
            p.clamp(-field + 0.1, field - 0.1)
        };
        let is_inside = |p: Vec2| rects.iter().any(|rect| rect.contains(p));
        let mut cells: Vec<f32> =
            (0..columns * rows).map(|n| if is_inside(at(n)) { 1.0 } else { 0.0 }).collect();
        for _ in 0..BLURS {
            for step in [1, columns] {
                let before = cells.clone();
                for n in step..cells.len() - step {
                    cells[n] = (before[n - step] + before[n] + before[n + step]) / 3.0;
                }
            }
        }
        Self { cells, columns, half, cell }
    }

    fn at(&self, p: Vec2) -> f32 {
        if self.cells.is_empty() {
            return 0.0;
        }
        let p = ((p + self.half) / self.cell).max(Vec2::ZERO);
        let (column, row) = ((p.x as usize).min(self.columns - 2), p.y as usize);
        let get = |n: usize| self.cells.get(n).copied().unwrap_or(0.0);
        let first = row * self.columns + column;
        let across = |n: usize| get(n) + (get(n + 1) - get(n)) * (p.x - p.x.floor());
        let (upper, lower) = (across(first), across(first + self.columns));
        upper + (lower - upper) * (p.y - p.y.floor())
    }
}

/// 0 up to `from`, 1 from `to` on.
fn smooth(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Random values, 0..=1, with smooth ways from each whole point to the next.
fn noise(p: Vec2) -> f32 {
    let (low, t) = (p.floor(), p - p.floor());
    let t = t * t * (3.0 - 2.0 * t);
    let at = |x: i32, y: i32| (scattered(low.x as i32 + x, low.y as i32 + y) >> 9 & 0xff) as f32 / 255.0;
    let (upper, lower) = (at(0, 0) + (at(1, 0) - at(0, 0)) * t.x, at(0, 1) + (at(1, 1) - at(0, 1)) * t.x);
    upper + (lower - upper) * t.y
}

/// Of stones strewn about a stone to each whole point: how far the nearest one is, and the next one, and a random number of the nearest.
fn crags(p: Vec2) -> (f32, f32, u32) {
    let mut found = (f32::MAX, f32::MAX, 0);
    for n in 0..9 {
        let (x, y) = (p.x.floor() as i32 + n % 3 - 1, p.y.floor() as i32 + n / 3 - 1);
        let hash = scattered(x, y);
        let off = |shift: u32| (hash >> shift & 0xff) as f32 / 255.0;
        let away = p.distance(vec2(x as f32 + off(0), y as f32 + off(8)));
        if away < found.0 {
            found = (away, found.0, hash >> 16);
        } else {
            found.1 = found.1.min(away);
        }
    }
    found
}

fn scaled(color: Color, light: f32) -> Color {
    Color::new(color.r * light, color.g * light, color.b * light, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_battle::{Map, Setup};

    #[test]
    fn a_picture_that_is_painted_in_parts_is_whole_in_the_end() {
        let game = Game::new(Setup { players: 2, units: 20, seed: 1, map: Map::named("ford") }).unwrap();
        let half = place(game.field_half());
        let (coarse, mut painter) = begin(&game, half);
        let mut calls = 1;
        let fine = loop {
            match painter(0.0) {
                Some(fine) => break fine,
                None => calls += 1,
            }
        };
        assert!(calls > 100, "{calls}: no part takes long");
        assert_eq!((coarse.width, fine.width), (COARSE as u16, TEXELS as u16));
        assert_eq!(fine.bytes.len(), 4 * fine.width as usize * fine.height as usize);
        let soil = Soil::new(&game, half);
        for (x, y) in [(0, 0), (700, 300), (fine.width as u32 - 1, fine.height as u32 - 1)] {
            let texel = 2.0 * half.max_element() / TEXELS;
            let wanted = <[u8; 4]>::from(soil.color(vec2(x as f32 + 0.5, y as f32 + 0.5) * texel - half));
            let at = 4 * (y as usize * fine.width as usize + x as usize);
            assert_eq!(fine.bytes[at..at + 4], wanted, "{x}, {y}");
        }
    }

    #[test]
    fn outlines_are_natural_and_where_the_ground_is() {
        let setup = Setup { players: 2, units: 100, seed: 1, map: Map::named("ford") };
        let game = Game::new(setup).unwrap();
        let soil = Soil::new(&game, place(game.field_half()) + Vec2::splat(MARGIN * character(&game)));
        let is_blue = |p: Vec2| soil.color(p).b > 1.25 * soil.color(p).r;
        let (mut straight, mut edges) = (0, 0);
        for scenery in game.scenery() {
            let Scenery::Water { centre, half } = scenery else { continue };
            let (centre, half) = (place(centre), place(half));
            assert!(is_blue(centre), "{centre}");
            // Along an upper edge, half of a unit below it and above it.
            for n in 0..20_u8 {
                let x = centre.x + half.x * (f32::from(n) / 10.0 - 0.95);
                let [out, inside] = [-0.5, 0.5].map(|away| is_blue(vec2(x, centre.y - half.y + away)));
                edges += 1;
                straight += usize::from(!out && inside);
            }
        }
        assert!(edges > 100 && straight > edges / 4 && straight < edges * 9 / 10, "{straight} of {edges}");
    }
}
