//! Keys with what was held when they went down. At a few pictures per second a quick Ctrl A is over before anybody asks for Ctrl.

use std::sync::{Mutex, MutexGuard, PoisonError};

use macroquad::input::{KeyCode, is_key_down, is_key_pressed};
use macroquad::miniquad::KeyMods;

/// What a key does to a screen.
pub(crate) type Act<T> = fn(&mut T);

/// Keys of one picture; further ones are forgotten.
const KEYS_MAX: usize = 32;

/// The keys that have gone down since the last picture, and whether Ctrl was held. Global, as are the keys of the library.
static PRESSED: Mutex<Vec<(KeyCode, bool)>> = Mutex::new(Vec::new());

fn pressed() -> MutexGuard<'static, Vec<(KeyCode, bool)>> {
    PRESSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new picture begins.
pub(super) fn forget() {
    pressed().clear();
}

/// A key has gone down while others were held.
pub(super) fn note(key: KeyCode, held: KeyMods) {
    let mut pressed = pressed();
    if pressed.len() < KEYS_MAX {
        pressed.push((key, held.ctrl));
    }
}

/// Whether Ctrl is held, or was when this key went down.
pub(crate) fn control(key: KeyCode) -> bool {
    was_held(key) || is_key_down(KeyCode::LeftControl) || is_key_down(KeyCode::RightControl)
}

fn was_held(key: KeyCode) -> bool {
    pressed().contains(&(key, true))
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
        assert_eq!([KeyCode::A, KeyCode::S, KeyCode::Q].map(was_held), [true, false, false]);
        (0..100).for_each(|_| note(KeyCode::B, with(true)));
        assert_eq!(pressed().len(), KEYS_MAX);
        forget();
        assert!(!was_held(KeyCode::A));
    }
}
