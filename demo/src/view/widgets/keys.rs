//! Keys with what was held when they went down. At a few pictures per second a quick Ctrl A is over before anybody asks for Ctrl.

use std::sync::{Mutex, MutexGuard, PoisonError};

use macroquad::input::{KeyCode, is_key_down, is_key_pressed};
use macroquad::miniquad::KeyMods;

/// What a key does to a screen.
pub(crate) type Act<T> = fn(&mut T);

/// Keys of one picture; further ones are forgotten.
const KEYS_MAX: usize = 32;

/// The keys that have gone down since the last picture, and what was held. Global, as are the keys of the library.
static PRESSED: Mutex<Vec<(KeyCode, KeyMods)>> = Mutex::new(Vec::new());

fn pressed() -> MutexGuard<'static, Vec<(KeyCode, KeyMods)>> {
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
        pressed.push((key, held));
    }
}

/// Whether Ctrl is held, or was when this key went down.
fn control(key: KeyCode) -> bool {
    was_pressed(key, |held| held.ctrl)
        || is_key_down(KeyCode::LeftControl)
        || is_key_down(KeyCode::RightControl)
}

fn was_pressed(key: KeyCode, with: fn(&KeyMods) -> bool) -> bool {
    pressed().iter().any(|(pressed, held)| *pressed == key && with(held))
}

/// Ctrl V, or Cmd V on a Mac.
pub(crate) fn wants_to_paste() -> bool {
    is_key_pressed(KeyCode::V) && (control(KeyCode::V) || was_pasted())
}

fn was_pasted() -> bool {
    was_pressed(KeyCode::V, |held| held.logo)
}

/// Ctrl Q.
pub(crate) fn wants_to_quit() -> bool {
    is_key_pressed(KeyCode::Q) && control(KeyCode::Q)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CTRL: KeyMods = KeyMods { ctrl: true, shift: false, alt: false, logo: false };
    const CMD: KeyMods = KeyMods { ctrl: false, logo: true, ..CTRL };

    #[test]
    fn a_chord_that_is_over_within_one_picture_counts() {
        let with_control = |key| was_pressed(key, |held| held.ctrl);
        note(KeyCode::A, CTRL);
        note(KeyCode::S, KeyMods::default());
        assert_eq!([KeyCode::A, KeyCode::S, KeyCode::Q].map(with_control), [true, false, false]);
        assert!(!was_pasted());
        // On a Mac nobody could paste a code.
        note(KeyCode::V, CMD);
        assert!(was_pasted() && !with_control(KeyCode::V));
        (0..100).for_each(|_| note(KeyCode::B, CTRL));
        assert_eq!(pressed().len(), KEYS_MAX);
        forget();
        assert!(!with_control(KeyCode::A) && !was_pasted());
    }
}
