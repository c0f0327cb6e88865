//! Draws what the physics engine sees over the picture.

use macroquad::color::Color;
use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::math::Rect;
use testudo_physics as physics;
use testudo_physics::{Aabb, BodyRef, DebugDraw, DebugDrawOptions, Shape, TouchingContact};

use crate::battle::view::View;
use crate::paint::atlas::Sprite;
use crate::paint::batch::Batch;
use crate::paint::camera::{place, units, vector};
use crate::paint::palette::{DYING, SELECTION, TEXT_DIM, WOUNDED, army, faded};
use testudo_battle::Game;

/// A layer: its key, what its colour means, and that.
type Layer = (KeyCode, &'static str, Color);

/// The layers, in the order of their keys.
fn all() -> [Layer; 6] {
    [
        (KeyCode::F2, "F2: cells of the quadtree", army(0)),
        (KeyCode::F3, "F3: boxes of bodies", WOUNDED),
        (KeyCode::F4, "F4: contacts, and their normals", DYING),
        (KeyCode::F5, "F5: way in a quarter of a second", TEXT_DIM),
        (KeyCode::F6, "F6: bodies that sleep", army(2)),
        (KeyCode::F7, "F7: ways to each goal", army(1)),
    ]
}

/// Which layers are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layers([bool; 6]);

impl Layers {
    /// Toggles layers by their keys.
    pub fn read_keys(&mut self) {
        self.0.iter_mut().zip(all()).for_each(|(is_on, (key, ..))| *is_on ^= is_key_pressed(key));
    }

    /// The key of each layer that is switched on, and what its colour means.
    pub fn legend(self) -> impl Iterator<Item = (&'static str, Color)> {
        let shown = all().into_iter().zip(self.0).filter(|(_, is_on)| *is_on);
        shown.map(|((_, word, color), _)| (word, color))
    }

    /// Draws what is switched on.
    pub fn draw(self, batch: &mut Batch, game: &Game, view: &View) {
        if self == Self::default() {
            return;
        }
        let [cells, boxes, contacts, velocities, sleepers, flows] = self.0;
        if flows {
            draw_flows(batch, game, view);
        }
        let options = DebugDrawOptions::new().shapes(sleepers).aabbs(boxes).tree_cells(cells);
        let options = options.contacts(contacts).velocities(velocities);
        game.world().debug_draw(&mut Painter { batch, view }, options);
    }
}

/// The flow fields: from every fourth cell, where units walk from there.
fn draw_flows(batch: &mut Batch, game: &Game, view: &View) {
    for (flow, arrows) in game.flows().enumerate() {
        let color = faded(army(flow as u8 % 4), 0.7);
        for (from, to) in arrows.step_by(2) {
            let (from, to) = (place(from), place(to));
            if view.sees(from, 1.0) && from != to {
                let way = (to - from).normalize() * 1.2;
                batch.line(view.at(from), view.at(from + way), 1.5, color);
                batch.sprite(Sprite::Block, view.at(from), 1.5, color);
            }
        }
    }
}

struct Painter<'a> {
    batch: &'a mut Batch,
    view: &'a View,
}

impl Painter<'_> {
    fn rect(&self, aabb: Aabb) -> Rect {
        let (min, max) = (self.view.at(vector(aabb.min)), self.view.at(vector(aabb.max)));
        Rect::new(min.x, min.y, max.x - min.x, max.y - min.y)
    }
}

impl DebugDraw for Painter<'_> {
    fn shape(&mut self, body: BodyRef<'_>, shape: Shape, centre: physics::Vec2) {
        let at = vector(centre);
        if body.is_awake() || !self.view.sees(at, 4.0) {
            return;
        }
        match shape {
            Shape::Circle { radius } => {
                let radius = units(radius.to_bits() as i32) * self.view.camera.scale;
                self.batch.sprite(Sprite::Ring, self.view.at(at), radius * 1.05, army(2));
            }
            Shape::Rect { half_extents } => {
                let rect = self.view.rect_at(at, vector(half_extents));
                self.batch.frame(rect, 2.0, army(2));
            }
            _ => {}
        }
    }

    fn aabb(&mut self, _: BodyRef<'_>, aabb: Aabb) {
        let rect = self.rect(aabb);
        if rect.overlaps(&self.view.rect) {
            self.batch.frame(rect, 1.0, faded(WOUNDED, 0.8));
        }
    }

    fn tree_cell(&mut self, quadrant: Aabb, depth: u32, _: u32) {
        let rect = self.rect(quadrant);
        if rect.overlaps(&self.view.rect) {
            let strength = 0.35 + 0.06 * depth.min(10) as f32;
            self.batch.frame(rect, 1.0, faded(army(0), strength));
        }
    }

    fn contact(&mut self, _: TouchingContact, point: physics::Vec2, normal: physics::Vec2) {
        let at = vector(point);
        if self.view.sees(at, 1.0) {
            let (from, to) = (self.view.at(at), self.view.at(at + vector(normal) * 0.4));
            // From far away large marks would hide the units.
            let size = (self.view.camera.scale * 0.1).clamp(0.5, 2.5);
            self.batch.line(from, to, size.min(2.0), SELECTION);
            self.batch.sprite(Sprite::Block, from, size, DYING);
        }
    }

    fn velocity(&mut self, _: BodyRef<'_>, centre: physics::Vec2, velocity: physics::Vec2) {
        let at = vector(centre);
        if self.view.sees(at, 4.0) {
            // Where it will be in a quarter of a second.
            let end = at + vector(velocity) * 0.25;
            self.batch.line(self.view.at(at), self.view.at(end), 1.5, TEXT_DIM);
        }
    }
}
