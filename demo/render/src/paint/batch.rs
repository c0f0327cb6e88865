//! Many shapes in few draw calls: thousands of units cost what a handful costs.

use macroquad::color::{Color, WHITE};
use macroquad::math::{Rect, Vec2, Vec4, vec2, vec3};
use macroquad::models::{Mesh, Vertex, draw_mesh};
use macroquad::texture::{DrawTextureParams, Image, Texture2D, draw_texture_ex};
use macroquad::time::get_frame_time;

use crate::paint::atlas::{Atlas, Figure, MARGIN, Sprite};

/// Shapes per draw call: four vertices each, numbered with 16 bits.
const SHAPES_MAX: usize = 8_000;

/// Vertices and indices of the largest draw call, for the window's settings.
pub const VERTICES_MAX: usize = SHAPES_MAX * 4 + 1;
pub const INDICES_MAX: usize = SHAPES_MAX * 6 + 1;

/// Goes on painting for so many seconds; gives the picture when it is ready.
pub type Painter = Box<dyn FnMut(f32) -> Option<Image>>;

struct Picture {
    /// What it shows.
    key: u64,
    texture: Texture2D,
    /// Until a better one is ready.
    painter: Option<Painter>,
}

/// Shapes that wait to be drawn, in order.
pub struct Batch {
    atlas: Atlas,
    mesh: Mesh,
    /// A large picture. It goes with the batch from screen to screen.
    picture: Option<Picture>,
    /// Drawn so far.
    shapes: u64,
}

impl Batch {
    /// Draws in the window, which has to be open.
    pub fn for_window() -> Self {
        Self::with(Atlas::for_window())
    }

    /// Draws nowhere: for measuring what comes before.
    pub fn blind() -> Self {
        Self::with(Atlas::blind())
    }

    fn with(atlas: Atlas) -> Self {
        let texture = atlas.texture().map(Texture2D::weak_clone);
        let mesh = Mesh { vertices: Vec::new(), indices: Vec::new(), texture };
        Self { atlas, mesh, picture: None, shapes: 0 }
    }

    /// Shapes drawn so far.
    pub fn shapes(&self) -> u64 {
        self.shapes
    }

    /// A shape about a point of the screen.
    pub fn sprite(&mut self, sprite: Sprite, centre: Vec2, radius: f32, color: Color) {
        self.turned(sprite, centre, radius, vec2(1.0, 0.0), color);
    }

    /// A shape whose +x axis points along `axis`, a unit vector.
    pub fn turned(&mut self, figure: impl Into<Figure>, centre: Vec2, radius: f32, axis: Vec2, color: Color) {
        let part = self.atlas.part(figure.into(), radius);
        let along = axis * (radius * MARGIN);
        let across = vec2(-along.y, along.x);
        self.quad(centre, [along, across], part, color);
    }

    /// A shape stretched to a rectangle.
    pub fn stretched(&mut self, sprite: Sprite, centre: Vec2, half: Vec2, color: Color) {
        let part = self.atlas.part(sprite.into(), half.max_element());
        let half = half * MARGIN;
        self.quad(centre, [vec2(half.x, 0.0), vec2(0.0, half.y)], part, color);
    }

    /// A filled rectangle.
    pub fn block(&mut self, rect: Rect, color: Color) {
        let part = self.atlas.part(Sprite::Block.into(), 1.0);
        let half = rect.size() / 2.0;
        self.quad(rect.point() + half, [vec2(half.x, 0.0), vec2(0.0, half.y)], part, color);
    }

    /// The edge of a rectangle, `width` pixels inwards.
    pub fn frame(&mut self, rect: Rect, width: f32, color: Color) {
        let Rect { x, y, w, h } = rect;
        self.block(Rect::new(x, y, w, width), color);
        self.block(Rect::new(x, y + h - width, w, width), color);
        self.block(Rect::new(x, y + width, width, h - 2.0 * width), color);
        self.block(Rect::new(x + w - width, y + width, width, h - 2.0 * width), color);
    }

    /// A line of a width in pixels.
    pub fn line(&mut self, from: Vec2, to: Vec2, width: f32, color: Color) {
        let part = self.atlas.part(Sprite::Block.into(), 1.0);
        let half = (to - from) / 2.0;
        let side = half.normalize_or_zero().perp() * (width / 2.0);
        self.quad(from + half, [half, side], part, color);
    }

    /// A part of a large picture, stretched to a rectangle. When `key` is another one than before, `begin` gives a coarse one, and the painter of
    /// a better one: a battle would stand still for half a second while its whole ground is painted.
    pub fn picture(&mut self, key: u64, rect: Rect, part: Rect, begin: impl FnOnce() -> (Image, Painter)) {
        /// Part of the time between two pictures that may be spent on painting, and its limits, seconds.
        const SHARE: f32 = 0.1;
        const LIMITS: (f32, f32) = (0.003, 0.02);
        self.draw();
        self.shapes += 1;
        if self.mesh.texture.is_none() {
            return;
        }
        let known = self.picture.take_if(|picture| picture.key == key);
        let mut picture = known.unwrap_or_else(|| {
            let (coarse, painter) = begin();
            Picture { key, texture: Texture2D::from_image(&coarse), painter: Some(painter) }
        });
        let seconds = (get_frame_time() * SHARE).clamp(LIMITS.0, LIMITS.1);
        if let Some(image) = picture.painter.as_mut().and_then(|painter| painter(seconds)) {
            (picture.texture, picture.painter) = (Texture2D::from_image(&image), None);
        }
        let Vec2 { x, y } = picture.texture.size();
        let source = Some(Rect::new(part.x * x, part.y * y, part.w * x, part.h * y));
        let params = DrawTextureParams { dest_size: Some(rect.size()), source, ..Default::default() };
        draw_texture_ex(&picture.texture, rect.x, rect.y, WHITE, params);
        self.picture = Some(picture);
    }

    /// A part of the texture about a point: `along` and `across` lead from there to the middles of two of its edges.
    fn quad(&mut self, centre: Vec2, [along, across]: [Vec2; 2], part: Rect, color: Color) {
        if self.mesh.vertices.len() >= SHAPES_MAX * 4 {
            self.draw();
        }
        let first = self.mesh.vertices.len() as u16;
        // No array functions: where they are calls, the four colours and a `map` of the six numbers take half of a picture's time.
        let color = color.into();
        let mut vertex = |at: Vec2, x: f32, y: f32| {
            let (position, uv) = (vec3(at.x, at.y, 0.0), vec2(x, y));
            self.mesh.vertices.push(Vertex { position, uv, color, normal: Vec4::ZERO });
        };
        let (right, bottom) = (part.x + part.w, part.y + part.h);
        vertex(centre - along - across, part.x, part.y);
        vertex(centre + along - across, right, part.y);
        vertex(centre + along + across, right, bottom);
        vertex(centre - along + across, part.x, bottom);
        let indices = [first, first + 1, first + 2, first, first + 2, first + 3];
        self.mesh.indices.extend_from_slice(&indices);
    }

    /// Draws what waits. Call before anything that is drawn by other means.
    pub fn draw(&mut self) {
        if !self.mesh.indices.is_empty() {
            self.shapes += self.mesh.vertices.len() as u64 / 4;
            if self.mesh.texture.is_some() {
                draw_mesh(&self.mesh);
                self.atlas.follow_screen();
            }
            self.mesh.vertices.clear();
            self.mesh.indices.clear();
        }
    }
}
