//! Touch input. The window library reports one finger as the left mouse button; held still for a moment, it counts as the right one. Two
//! fingers move and zoom the picture.

use macroquad::input::{Touch, TouchPhase, touches};
use macroquad::math::{Rect, Vec2};
use macroquad::time::get_frame_time;

use testudo_render::paint::camera::Camera;
use testudo_render::paint::screen;

/// A finger counts as held if it stays within this many pixels for this many seconds.
const STILL: f32 = 12.0;
const HELD: f32 = 0.5;

/// Touch input of one picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Finger {
    /// A finger has just been held for long enough.
    pub(crate) has_held: bool,
    /// There are two fingers, or one of two is left.
    pub(crate) is_pinching: bool,
}

/// The state of the fingers between pictures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touches {
    /// Position and time at which a single finger touched; none once it has moved or has been held.
    single: Option<(Vec2, f32)>,
    /// Midpoint and distance of two fingers.
    pair: Option<(Vec2, f32)>,
    is_pinching: bool,
}

impl Touches {
    /// Reads the fingers. `under` is the view that they move and zoom.
    pub(crate) fn read(&mut self, camera: &mut Camera, under: Rect) -> Finger {
        let fingers: Vec<Touch> = touches()
            .into_iter()
            .filter(|touch| !matches!(touch.phase, TouchPhase::Ended | TouchPhase::Cancelled))
            .collect();
        // The window library gives pixels of the screen. On a phone they are finer than coordinates, and two fingers would zoom about a wrong place.
        let places: Vec<Vec2> = fingers.iter().map(|touch| touch.position / screen::pixels()).collect();
        let has_begun = fingers.first().is_some_and(|touch| touch.phase == TouchPhase::Started);
        // The real time, not the limited one: else a finger would have to be held for five pictures where they are slow.
        self.follow(&places, has_begun, camera, under, get_frame_time())
    }

    fn follow(
        &mut self,
        places: &[Vec2],
        has_begun: bool,
        camera: &mut Camera,
        under: Rect,
        seconds: f32,
    ) -> Finger {
        let mut has_held = false;
        match *places {
            [] => *self = Self::default(),
            [at] => {
                self.pair = None;
                let before = self.single.map(|(from, since)| (from, since + seconds));
                self.single = if has_begun { Some((at, 0.0)) } else { before };
                self.single = self.single.filter(|(from, _)| !self.is_pinching && from.distance(at) < STILL);
                has_held = self.single.is_some_and(|(_, since)| since >= HELD);
                if has_held {
                    self.single = None;
                }
            }
            [a, b, ..] => {
                let (middle, apart) = ((a + b) / 2.0, a.distance(b).max(1.0));
                if let Some((before, apart_before)) = self.pair {
                    camera.centre -= (middle - before) / camera.scale;
                    camera.zoom(under, middle, apart / apart_before);
                }
                (self.single, self.pair, self.is_pinching) = (None, Some((middle, apart)), true);
            }
        }
        Finger { has_held, is_pinching: self.is_pinching }
    }
}

#[cfg(test)]
mod tests {
    use macroquad::math::vec2;

    use super::*;

    const VIEW: Rect = Rect { x: 0.0, y: 0.0, w: 600.0, h: 400.0 };
    const PICTURE: f32 = 0.1;

    fn held(places: &[Vec2]) -> usize {
        let (mut touches, mut camera) = (Touches::default(), Camera::new(Vec2::ZERO, 10.0));
        let mut is_held = |n, at| touches.follow(&[at], n == 0, &mut camera, VIEW, PICTURE).has_held;
        places.iter().enumerate().filter(|(n, at)| is_held(*n, **at)).count()
    }

    #[test]
    fn a_finger_that_stays_is_held_once_and_one_that_moves_never() {
        assert_eq!(held(&[vec2(100.0, 100.0); 20]), 1);
        let moving: Vec<Vec2> = (0..20_u8).map(|n| vec2(100.0 + 5.0 * f32::from(n), 100.0)).collect();
        assert_eq!(held(&moving), 0);
    }

    #[test]
    fn two_fingers_hold_the_field_under_them_and_leave_nothing_chosen() {
        let (mut touches, mut camera) = (Touches::default(), Camera::new(Vec2::ZERO, 10.0));
        let first = [vec2(200.0, 200.0), vec2(300.0, 200.0)];
        touches.follow(&first, true, &mut camera, VIEW, PICTURE);
        let held = first.map(|at| camera.to_field(VIEW, at));
        let second = [vec2(180.0, 220.0), vec2(380.0, 220.0)];
        let finger = touches.follow(&second, false, &mut camera, VIEW, PICTURE);
        assert!(finger.is_pinching && !finger.has_held);
        for (place, at) in held.into_iter().zip(second) {
            assert!(camera.to_screen(VIEW, place).distance(at) < 0.1, "{camera:?}");
        }
        assert_eq!(camera.scale, 20.0);
        let one_left = touches.follow(&second[..1], false, &mut camera, VIEW, PICTURE);
        assert!(one_left.is_pinching, "the finger that is left draws no box");
        assert_eq!(touches.follow(&[], false, &mut camera, VIEW, PICTURE), Finger::default());
    }
}
