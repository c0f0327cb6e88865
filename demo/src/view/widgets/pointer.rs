//! The mouse, at most one click per picture, and the keys before it. On a slow machine several clicks come between two pictures; each counts where it was
//! made, and for the units that were selected then: a key that was pressed after a click waits for the next picture.

use std::collections::VecDeque;
use std::sync::OnceLock;

use macroquad::input::utils::{register_input_subscriber, repeat_all_miniquad_input};
use macroquad::input::{MouseButton, is_mouse_button_down, mouse_position};
use macroquad::math::{Vec2, vec2};
use macroquad::miniquad::window::dpi_scale;
use macroquad::miniquad::{EventHandler, KeyCode, KeyMods, MouseButton as Code, TouchPhase};

use crate::view::widgets::keys;

/// Events that wait for later pictures; further ones are forgotten.
const WAITING_MAX: usize = 32;

/// A button in one picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Button {
    pub(crate) is_down: bool,
    /// It has gone down, or up. Both, if it was a click.
    pub(crate) is_pressed: bool,
    pub(crate) is_released: bool,
}

/// The mouse in one picture.
#[derive(Debug, Default)]
pub(crate) struct Pointer {
    /// In the coordinates of `mouse_position`.
    pub(crate) at: Vec2,
    pub(crate) left: Button,
    pub(crate) right: Button,
    /// The keys that have gone down before the mouse does anything, in their order, and what was held then.
    pub(crate) keys: Vec<(KeyCode, KeyMods)>,
    waiting: VecDeque<Event>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Moved(Vec2),
    Button {
        is_left: bool,
        is_down: bool,
        at: Vec2,
    },
    Key(KeyCode, KeyMods),
    /// The system has taken the finger: what was begun comes to nothing.
    Cancelled,
}

impl Pointer {
    /// Reads what has happened since the last picture.
    pub(crate) fn advance(&mut self) {
        keys::forget();
        repeat_all_miniquad_input(self, subscriber());
        self.next();
        if self.waiting.is_empty() {
            // A mouse that leaves the window is no event.
            self.at = vec2(mouse_position().0, mouse_position().1);
            self.left.follow(is_mouse_button_down(MouseButton::Left));
            self.right.follow(is_mouse_button_down(MouseButton::Right));
        }
    }

    /// Takes the events of one picture: keys, then one press, and its release if that was at the same place.
    fn next(&mut self) {
        for button in [&mut self.left, &mut self.right] {
            (button.is_pressed, button.is_released) = (false, false);
        }
        self.keys.clear();
        let mut has_begun = false;
        while let Some(event) = self.waiting.front().copied() {
            match event {
                Event::Moved(_) | Event::Key(..) if has_begun => return,
                Event::Key(key, held) => self.keys.push((key, held)),
                Event::Moved(at) => self.at = at,
                Event::Cancelled if has_begun => return,
                Event::Cancelled => self.left.is_down = false,
                Event::Button { is_down: true, .. } if has_begun => return,
                Event::Button { at, .. } if has_begun && at != self.at => return,
                Event::Button { is_left, is_down, at } => {
                    self.at = at;
                    let button = if is_left { &mut self.left } else { &mut self.right };
                    button.is_down = is_down;
                    *if is_down { &mut button.is_pressed } else { &mut button.is_released } = true;
                    has_begun = true;
                    if !is_down {
                        self.waiting.pop_front();
                        return;
                    }
                }
            }
            self.waiting.pop_front();
        }
    }

    fn wait(&mut self, event: Event) {
        if matches!((self.waiting.back(), event), (Some(Event::Moved(_)), Event::Moved(_))) {
            self.waiting.pop_back();
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(event);
        }
    }

    fn button(&mut self, code: Code, is_down: bool, at: Vec2) {
        if matches!(code, Code::Left | Code::Right) {
            self.wait(Event::Button { is_left: code == Code::Left, is_down, at: at / dpi_scale() });
        }
    }
}

impl Button {
    /// Whether it is down, or was since the last picture.
    pub(crate) fn is_held(self) -> bool {
        self.is_down || self.is_pressed
    }

    /// Whether it does anything in this picture: a finger is on the screen only then, also if it has come and gone since the last picture.
    pub(crate) fn is_used(self) -> bool {
        self.is_held() || self.is_released
    }

    /// A button that is up without a word was let go outside of the window.
    fn follow(&mut self, is_down: bool) {
        if self.is_down && !is_down {
            (self.is_down, self.is_released) = (false, true);
        }
    }
}

/// The program's number at the window library, which keeps the events of each number until they are read.
fn subscriber() -> usize {
    static NUMBER: OnceLock<usize> = OnceLock::new();
    *NUMBER.get_or_init(register_input_subscriber)
}

impl EventHandler for Pointer {
    fn update(&mut self) {}

    fn draw(&mut self) {}

    fn key_down_event(&mut self, key: KeyCode, held: KeyMods, is_repeated: bool) {
        keys::note(key, held);
        if !is_repeated {
            self.wait(Event::Key(key, held));
        }
    }

    fn mouse_motion_event(&mut self, x: f32, y: f32) {
        self.wait(Event::Moved(vec2(x, y) / dpi_scale()));
    }

    fn mouse_button_down_event(&mut self, code: Code, x: f32, y: f32) {
        self.button(code, true, vec2(x, y));
    }

    fn mouse_button_up_event(&mut self, code: Code, x: f32, y: f32) {
        self.button(code, false, vec2(x, y));
    }

    /// The window library tells of a finger as a mouse, too. Every tap would be two presses: the first would give the order, the second would
    /// clear the selection. But it tells the mouse nothing of a finger that is taken away, as by a call that comes in.
    fn touch_event(&mut self, phase: TouchPhase, _finger: u64, _x: f32, _y: f32) {
        if phase == TouchPhase::Cancelled {
            self.wait(Event::Cancelled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWN: Button = Button { is_down: true, is_pressed: true, is_released: false };
    const HELD: Button = Button { is_down: true, is_pressed: false, is_released: false };
    const UP: Button = Button { is_down: false, is_pressed: false, is_released: true };
    const CLICK: Button = Button { is_down: false, is_pressed: true, is_released: true };
    const NOTHING: Button = Button { is_down: false, is_pressed: false, is_released: false };

    /// The mouse and its left button in the pictures after these events.
    fn pictures(events: &[Event], number: usize) -> Vec<(f32, Button)> {
        let mut pointer = Pointer::default();
        events.iter().for_each(|event| pointer.wait(*event));
        let mut next = || {
            pointer.next();
            (pointer.at.x, pointer.left)
        };
        (0..number).map(|_| next()).collect()
    }

    fn moved(x: f32) -> Event {
        Event::Moved(vec2(x, 0.0))
    }

    fn button(is_down: bool, x: f32) -> Event {
        Event::Button { is_left: true, is_down, at: vec2(x, 0.0) }
    }

    #[test]
    fn a_click_between_two_pictures_counts_where_it_was_made() {
        let events = [moved(1.0), button(true, 1.0), button(false, 1.0), moved(9.0)];
        assert_eq!(pictures(&events, 2), [(1.0, CLICK), (9.0, NOTHING)]);
    }

    #[test]
    fn two_clicks_between_two_pictures_are_two() {
        let click = |x| [moved(x), button(true, x), button(false, x)];
        let seen = pictures(&[click(1.0), click(2.0)].concat(), 3);
        assert_eq!(seen, [(1.0, CLICK), (2.0, CLICK), (2.0, NOTHING)]);
    }

    #[test]
    fn a_box_between_two_pictures_begins_and_ends_where_it_was_drawn() {
        let events = [moved(1.0), button(true, 1.0), moved(5.0), moved(7.0), button(false, 7.0), moved(9.0)];
        assert_eq!(pictures(&events, 3), [(1.0, DOWN), (7.0, UP), (9.0, NOTHING)]);
        assert_eq!(pictures(&events[..3], 2), [(1.0, DOWN), (5.0, HELD)]);
    }

    /// Whoever was selected with the key went where others had been sent before.
    #[test]
    fn a_key_waits_for_the_click_before_it() {
        let mut pointer = Pointer::default();
        let mut pressed = |events: &[Event], keys: &[KeyCode]| {
            events.iter().for_each(|event| pointer.wait(*event));
            keys.iter().for_each(|key| pointer.key_down_event(*key, KeyMods::default(), false));
            pointer.key_down_event(KeyCode::A, KeyMods::default(), true);
        };
        pressed(&[moved(1.0)], &[KeyCode::S]);
        pressed(&[moved(2.0), button(true, 2.0), button(false, 2.0)], &[KeyCode::Key2, KeyCode::H]);
        pressed(&[button(true, 3.0)], &[KeyCode::Key3]);
        let mut next = || {
            pointer.next();
            (pointer.at.x, pointer.left, pointer.keys.iter().map(|(key, _)| *key).collect::<Vec<_>>())
        };
        assert_eq!(next(), (2.0, CLICK, vec![KeyCode::S]));
        assert_eq!(next(), (3.0, DOWN, vec![KeyCode::Key2, KeyCode::H]));
        assert_eq!(next(), (3.0, HELD, vec![KeyCode::Key3]));
        assert_eq!(next(), (3.0, HELD, vec![]));
    }

    #[test]
    fn a_finger_is_told_of_once() {
        let mut pointer = Pointer::default();
        for phase in [TouchPhase::Started, TouchPhase::Moved, TouchPhase::Ended] {
            pointer.touch_event(phase, 1, 5.0, 5.0);
        }
        assert!(pointer.waiting.is_empty());
    }

    /// The button stayed down: the box followed the next finger, and a replay stood still.
    #[test]
    fn a_finger_that_is_taken_away_lets_go_and_presses_nothing() {
        let events = [button(true, 1.0), moved(5.0), Event::Cancelled];
        assert_eq!(pictures(&events, 2), [(1.0, DOWN), (5.0, NOTHING)]);
        assert_eq!(pictures(&[events[0], events[2]], 2), [(1.0, DOWN), (1.0, NOTHING)]);
        let mut pointer = Pointer::default();
        pointer.touch_event(TouchPhase::Cancelled, 1, 5.0, 5.0);
        assert!(matches!(pointer.waiting.make_contiguous(), [Event::Cancelled]));
    }

    /// In the picture of a tap there was no finger over the list of players: it changed, and the tap voted against whoever had come into the row.
    #[test]
    fn a_finger_is_there_from_its_press_to_its_release() {
        for (button, is_used) in [(DOWN, true), (HELD, true), (UP, true), (CLICK, true), (NOTHING, false)] {
            assert_eq!(button.is_used(), is_used, "{button:?}");
        }
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut pointer = Pointer::default();
        for n in 0..1_000_u16 {
            pointer.wait(moved(f32::from(n)));
            pointer.wait(button(n % 2 == 0, f32::from(n)));
        }
        assert_eq!(pointer.waiting.len(), WAITING_MAX);
    }
}
