//! Drawing that ends at the edges of a rectangle of the screen. Coordinates stay those of the screen.

use macroquad::camera::{Camera2D, set_camera, set_default_camera};
use macroquad::math::{Rect, vec2};
use macroquad::window::{screen_dpi_scale, screen_height};

/// Everything drawn from now on is cut off at the rectangle.
pub(crate) fn enter(rect: Rect) {
    let dpi = screen_dpi_scale();
    // The library counts a viewport's pixels from below.
    let bottom = screen_height() - rect.y - rect.h;
    let pixels = |length: f32| (length * dpi).round() as i32;
    set_camera(&Camera2D {
        target: rect.center(),
        zoom: vec2(2.0 / rect.w, 2.0 / rect.h),
        viewport: Some((pixels(rect.x), pixels(bottom), pixels(rect.w), pixels(rect.h))),
        ..Camera2D::default()
    });
}

/// The whole screen again.
pub(crate) fn leave() {
    set_default_camera();
}
