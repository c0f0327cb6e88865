//! What part of the field is seen. Both views share one camera, so that they can be compared.

use macroquad::math::{Rect, Vec2, vec2};

/// Pixels per unit of length.
const SCALE_MIN: f32 = 1.5;
const SCALE_MAX: f32 = 64.0;

/// Middle of the picture, units, and its scale. The field's y axis points down on the screen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    pub centre: Vec2,
    pub scale: f32,
    /// What is left of the last turns of the wheel: a logarithm of scales.
    zoom_left: f32,
}

impl Camera {
    /// Shows everything within `half` of a position, to all sides.
    pub fn fitting(centre: Vec2, half: Vec2, view: Rect) -> Self {
        let scale = (view.size() / (half * 2.0)).min_element();
        Self::new(centre, scale.clamp(SCALE_MIN, SCALE_MAX))
    }

    /// One that stands still.
    pub fn new(centre: Vec2, scale: f32) -> Self {
        Self { centre, scale, zoom_left: 0.0 }
    }

    /// The wheel was turned: the scale changes by this factor within a moment.
    pub fn wish_zoom(&mut self, factor: f32) {
        self.zoom_left = (self.zoom_left + factor.ln()).clamp(-2.0, 2.0);
    }

    /// Comes a part of the way to the wished scale; what is under the pixel stays there. `seconds`: since the last picture.
    pub fn ease_zoom(&mut self, view: Rect, pixel: Vec2, seconds: f32) {
        /// Speed of the way: after a tenth of a second a fifth of it is left.
        const SPEED: f32 = 16.0;
        if self.zoom_left == 0.0 {
            return;
        }
        let step = if self.zoom_left.abs() < 0.002 {
            self.zoom_left
        } else {
            self.zoom_left * (1.0 - (-SPEED * seconds).exp())
        };
        self.zoom_left -= step;
        self.zoom(view, pixel, step.exp());
    }

    pub fn to_screen(self, view: Rect, place: Vec2) -> Vec2 {
        view.center() + (place - self.centre) * self.scale
    }

    pub fn to_field(self, view: Rect, pixel: Vec2) -> Vec2 {
        self.centre + (pixel - view.center()) / self.scale
    }

    /// The rectangle of the field that a view shows.
    pub fn seen(self, view: Rect) -> Rect {
        let size = view.size() / self.scale;
        Rect::new(self.centre.x - size.x / 2.0, self.centre.y - size.y / 2.0, size.x, size.y)
    }

    /// Changes the scale; what is under the pixel stays there.
    pub fn zoom(&mut self, view: Rect, pixel: Vec2, factor: f32) {
        let held = self.to_field(view, pixel);
        self.scale = (self.scale * factor).clamp(SCALE_MIN, SCALE_MAX);
        self.centre += held - self.to_field(view, pixel);
    }

    /// Changes the scale; the middle of the picture stays there.
    pub fn scale_by(&mut self, factor: f32) {
        self.scale = (self.scale * factor).clamp(SCALE_MIN, SCALE_MAX);
    }

    /// Keeps what is seen within bounds: two fingers cannot make the field tiny, and a group at its edge does not show what is beyond.
    pub fn hold(&mut self, bounds: Rect, view: Rect) {
        /// What rounding may do: a camera within its bounds stays the same.
        const NEARLY: f32 = 1.001;
        let fitting = (view.size() / bounds.size()).max_element();
        if self.scale * NEARLY < fitting {
            (self.scale, self.zoom_left) = (fitting, 0.0);
        }
        let room = ((bounds.size() - view.size() / self.scale) / 2.0).max(Vec2::ZERO);
        let held = self.centre.clamp(bounds.center() - room, bounds.center() + room);
        if (held - self.centre).abs().max_element() > NEARLY - 1.0 {
            self.centre = held;
        }
    }
}

/// A vector of the simulation in units.
pub fn vector(v: testudo_physics::Vec2) -> Vec2 {
    Vec2::new(v.x.to_bits() as f32, v.y.to_bits() as f32) / 65_536.0
}

/// A point of the simulation in units.
pub fn units(raw: i32) -> f32 {
    raw as f32 / 65_536.0
}

/// A place of the field as the simulation writes it; far outside of every field it stops.
pub fn raw(place: Vec2) -> testudo_battle::Point {
    let part = |units: f32| (units.clamp(-16_384.0, 16_383.0) * 65_536.0) as i32;
    testudo_battle::Point { x: part(place.x), y: part(place.y) }
}

/// A point of the simulation in units.
pub fn place(point: testudo_battle::Point) -> Vec2 {
    vec2(units(point.x), units(point.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_never_a_stamp() {
        let (view, bounds) = (Rect::new(0.0, 0.0, 400.0, 800.0), Rect::new(-60.0, -40.0, 140.0, 80.0));
        let mut camera = Camera::fitting(Vec2::ZERO, vec2(60.0, 40.0), view);
        camera.wish_zoom(0.5);
        camera.zoom(view, vec2(200.0, 400.0), 0.001);
        camera.hold(bounds, view);
        assert!((camera.scale - 10.0).abs() < 0.1, "the height is the narrow side: {camera:?}");
        let before = camera;
        camera.ease_zoom(view, vec2(0.0, 0.0), 0.1);
        assert_eq!(camera, before, "the wheel has nothing left");
    }

    #[test]
    fn nothing_beyond_the_bounds_is_seen_wherever_the_camera_goes() {
        let (view, bounds) = (Rect::new(0.0, 74.0, 1_280.0, 600.0), Rect::new(-60.0, -30.0, 140.0, 60.0));
        for scale in [2.0, 9.0, 30.0] {
            for x in [-500.0, -60.0, 0.0, 70.0, 500.0] {
                for y in [-500.0, -30.0, 20.0, 500.0] {
                    let mut camera = Camera::new(vec2(x, y), scale);
                    camera.hold(bounds, view);
                    let seen = camera.seen(view);
                    let all = bounds.combine_with(seen);
                    assert!((all.size() - bounds.size()).abs().max_element() < 0.1, "{camera:?} {seen:?}");
                }
            }
        }
    }

    #[test]
    fn zooming_holds_the_place_under_the_mouse() {
        let view = Rect::new(10.0, 20.0, 600.0, 400.0);
        let mut camera = Camera::fitting(Vec2::ZERO, Vec2::splat(50.0), view);
        let mouse = vec2(123.0, 321.0);
        let before = camera.to_field(view, mouse);
        camera.zoom(view, mouse, 2.0);
        assert!((camera.to_field(view, mouse) - before).length() < 1e-3);
        assert!((camera.to_screen(view, before) - mouse).length() < 1e-2);
    }

    #[test]
    fn an_eased_zoom_comes_to_its_end_in_pictures_of_any_length() {
        let view = Rect::new(10.0, 20.0, 600.0, 400.0);
        for (pictures, seconds) in [(120, 1.0 / 60.0), (12, 0.1)] {
            let mut camera = Camera::fitting(Vec2::ZERO, Vec2::splat(50.0), view);
            let before = camera.scale;
            camera.wish_zoom(1.5);
            (0..pictures).for_each(|_| camera.ease_zoom(view, vec2(300.0, 200.0), seconds));
            assert!((camera.scale / before - 1.5).abs() < 1e-3, "{}", camera.scale / before);
        }
    }
}
