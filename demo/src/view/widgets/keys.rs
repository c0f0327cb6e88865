//! Keys with what was held when they went down. (At a few pictures per second a quick Ctrl A was over before anybody asked for Ctrl.)

use std::cell::RefCell;

use macroquad::input::{KeyCode, is_key_down, is_key_pressed};
use macroquad::miniquad::KeyMods;

/// Keys of one picture; further ones are forgotten.
const KEYS_MAX: usize = 32;

thread_local! {
    /// The keys that have gone down since the last picture.
    static PRESSED: RefCell<Vec<(KeyCode, KeyMods)>> = const { RefCell::new(Vec::new()) };
}

/// A new picture begins.
pub(super) fn forget() {
    PRESSED.with_borrow_mut(Vec::clear);
}

/// A key has gone down while others were held.
pub(super) fn note(key: KeyCode, held: KeyMods) {
    PRESSED.with_borrow_mut(|pressed| {
        if pressed.len() < KEYS_MAX {
            pressed.push((key, held));
        }
    });
}

/// Whether Ctrl is held, or was when this key went down.
pub(crate) fn control(key: KeyCode) -> bool {
    let has_gone =
        PRESSED.with_borrow(|pressed| pressed.iter().any(|(down, held)| *down == key && held.ctrl));
    has_gone || is_key_down(KeyCode::LeftControl) || is_key_down(KeyCode::RightControl)
}

/// Ctrl Q.
pub(crate) fn wants_to_quit() -> bool {
    is_key_pressed(KeyCode::Q) && control(KeyCode::Q)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(ctrl: bool) -> KeyMods {
        KeyMods { ctrl, ..KeyMods::default() }
    }

    #[test]
    fn a_chord_that_is_over_within_one_picture_counts() {
        note(KeyCode::A, with(true));
        note(KeyCode::S, with(false));
        let was_held =
            |key| PRESSED.with_borrow(|keys| keys.iter().any(|(down, held)| *down == key && held.ctrl));
        assert_eq!([KeyCode::A, KeyCode::S, KeyCode::Q].map(was_held), [true, false, false]);
        (0..100).for_each(|_| note(KeyCode::B, with(true)));
        assert_eq!(PRESSED.with_borrow(Vec::len), KEYS_MAX);
        forget();
        assert!(!was_held(KeyCode::A));
    }
}
