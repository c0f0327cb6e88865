//! A part of the screen that shows a part of the field.

use macroquad::math::{Rect, Vec2};

use crate::paint::camera::Camera;

/// One view: a part of the screen that shows the camera's part of the field.
#[derive(Clone, Copy)]
pub struct View {
    pub rect: Rect,
    pub camera: Camera,
}

impl View {
    pub fn at(&self, place: Vec2) -> Vec2 {
        self.camera.to_screen(self.rect, place)
    }

    /// A rectangle of the field on the screen.
    pub fn rect_at(&self, centre: Vec2, half: Vec2) -> Rect {
        let (min, size) = (self.at(centre - half), half * 2.0 * self.camera.scale);
        Rect::new(min.x, min.y, size.x, size.y)
    }

    /// Whether something at a position is visible; `margin` in units of length.
    pub fn sees(&self, place: Vec2, margin: f32) -> bool {
        let seen = self.camera.seen(self.rect);
        (place.x - seen.center().x).abs() < seen.w / 2.0 + margin
            && (place.y - seen.center().y).abs() < seen.h / 2.0 + margin
    }
}
