//! Keys and mouse move the camera.

use macroquad::input::{
    KeyCode, MouseButton, is_key_down, is_mouse_button_down, mouse_delta_position, mouse_wheel,
};
use macroquad::math::{Rect, Vec2, vec2};

use testudo_render::paint::camera::Camera;
use testudo_render::paint::screen;

/// Pixels per second.
const PAN_SPEED: f32 = 700.0;

/// Width of the strip at the edge of the screen that moves the picture, pixels.
const EDGE: f32 = 3.0;

/// Keys that move the picture left, right, up and down, and the one that shows all armies.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    ways: [KeyCode; 4],
    pub(crate) all: KeyCode,
}

pub(crate) const ARROWS: Keys =
    Keys { ways: [KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down], all: KeyCode::Home };

/// For windows in which the arrows have another meaning.
pub(crate) const WASD: Keys =
    Keys { ways: [KeyCode::A, KeyCode::D, KeyCode::W, KeyCode::S], all: KeyCode::C };

/// Moves the camera by keys and mouse. `under` is the view under the mouse, in which the wheel zooms; `seconds` is the time since the last
/// picture. True if the camera was moved; zooming does not count.
pub(crate) fn steer(
    keys: Keys,
    camera: &mut Camera,
    mouse: Vec2,
    under: Option<Rect>,
    (may_push_edges, seconds): (bool, f32),
) -> bool {
    let [left, right, up, down] = keys.ways.map(|key| f32::from(u8::from(is_key_down(key))));
    let mut way = vec2(right - left, down - up);
    let screen = screen::size();
    if may_push_edges && mouse != Vec2::ZERO {
        let edge = |at: f32, end: f32| {
            f32::from(u8::from(at >= end - EDGE && at < end)) - f32::from(u8::from((0.0..EDGE).contains(&at)))
        };
        way += vec2(edge(mouse.x, screen.x), edge(mouse.y, screen.y));
    }
    let mut moved = way * (PAN_SPEED * seconds / camera.scale);
    if is_mouse_button_down(MouseButton::Middle) {
        // The library measures in half screens, and in the opposite direction.
        moved += mouse_delta_position() * screen / 2.0 / camera.scale;
    }
    camera.centre += moved;
    let (_, wheel) = mouse_wheel();
    if let Some(view) = under {
        if wheel != 0.0 {
            camera.wish_zoom(1.2_f32.powf(wheel.clamp(-1.0, 1.0)));
        }
        camera.ease_zoom(view, mouse, seconds);
    }
    moved != Vec2::ZERO
}
