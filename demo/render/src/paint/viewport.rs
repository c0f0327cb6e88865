//! Drawing that ends at the edges of a rectangle of the screen. Coordinates stay those of the screen.

use macroquad::camera::{Camera2D, set_camera};
use macroquad::math::{Rect, vec2};

use crate::paint::screen;

/// Everything drawn from now on is cut off at the rectangle.
pub fn enter(rect: Rect) {
    let ratio = screen::pixels();
    // The library counts a viewport's pixels from below.
    let bottom = screen::size().y - rect.y - rect.h;
    let pixels = |length: f32| (length * ratio).round() as i32;
    set_camera(&Camera2D {
        target: rect.center(),
        zoom: vec2(2.0 / rect.w, 2.0 / rect.h),
        viewport: Some((pixels(rect.x), pixels(bottom), pixels(rect.w), pixels(rect.h))),
        ..Camera2D::default()
    });
}

/// The whole screen again.
pub fn leave() {
    let size = screen::size();
    set_camera(&Camera2D { target: size / 2.0, zoom: 2.0 / size, ..Camera2D::default() });
}
