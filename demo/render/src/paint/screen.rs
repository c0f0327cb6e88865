//! The screen in the window's coordinates: pixels of the desktop, or several of them where the picture is so high that letters would be
//! small.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use macroquad::math::{Rect, Vec2, vec2};
use macroquad::window::{screen_dpi_scale, screen_height, screen_width};

/// Width and height up to which one coordinate is one pixel.
const ORDINARY: Vec2 = vec2(1_440.0, 1_080.0);

/// Room that enlarged letters must leave, in a wide window and in a high one: everything fits into as much as this.
const ROOM: [Vec2; 2] = [vec2(800.0, 600.0), vec2(412.0, 800.0)];

/// Letters grow in steps of a quarter.
const STEPS: f32 = 4.0;

/// Greatest enlargement that follows from the size of the picture.
const AUTO_MAX: f32 = 3.0;

/// The size of letters, and of everything else that is not the battle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Letters {
    /// Follows the size of the picture.
    #[default]
    Auto,
    /// Percent of the ordinary size.
    Percent(u16),
}

impl Letters {
    /// Everything that one can choose.
    pub const ALL: [Self; 5] =
        [Self::Auto, Self::Percent(100), Self::Percent(125), Self::Percent(150), Self::Percent(200)];

    /// The one after this, and after the last one the first.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|letters| *letters == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }

    /// Whether there is room for it in this window. The menu offers no others: they would change nothing.
    pub fn fits(self) -> bool {
        let window = vec2(screen_width(), screen_height()) / moved();
        match self {
            Self::Percent(percent) => self.factor(window) * 100.0 >= f32::from(percent),
            Self::Auto => true,
        }
    }

    /// Pixels of the desktop per coordinate, in a window of this size in pixels of the desktop.
    fn factor(self, window: Vec2) -> f32 {
        let room = ROOM.map(|room| (window / room).min_element()).into_iter().fold(1.0, f32::max);
        let wanted = match self {
            Self::Auto => ((window / ORDINARY).min_element() * STEPS).floor() / STEPS,
            Self::Percent(percent) => f32::from(percent) / 100.0,
        };
        wanted.clamp(1.0, AUTO_MAX).min(room)
    }
}

/// The person's choice for this picture, and for the next one: percent, 0 for [`Letters::Auto`].
static LETTERS: [AtomicU16; 2] = [AtomicU16::new(0), AtomicU16::new(0)];

fn chosen(picture: usize) -> Letters {
    match LETTERS[picture].load(Ordering::Relaxed) {
        0 => Letters::Auto,
        percent => Letters::Percent(percent),
    }
}

/// The person's choice.
pub fn letters() -> Letters {
    chosen(1)
}

/// Holds from the next picture on.
pub fn set_letters(letters: Letters) {
    let percent = match letters {
        Letters::Auto => 0,
        Letters::Percent(percent) => percent,
    };
    LETTERS[1].store(percent, Ordering::Relaxed);
}

/// What a page has said of its pixels: the bits of an `f32`, 0 outside of a page.
static PIXEL_RATIO: AtomicU32 = AtomicU32::new(0);

/// In a page: pixels of the screen per pixel of the page, for the picture that begins.
pub fn set_pixel_ratio(ratio: f32) {
    PIXEL_RATIO.store(ratio.to_bits(), Ordering::Relaxed);
}

/// The next picture begins; true if its letters are of another size.
pub fn follow_choice() -> bool {
    let now = LETTERS[1].load(Ordering::Relaxed);
    LETTERS[0].swap(now, Ordering::Relaxed) != now
}

/// Pixels of the window library per coordinate.
pub fn factor() -> f32 {
    let moved = moved();
    moved * chosen(0).factor(vec2(screen_width(), screen_height()) / moved)
}

/// Pixels of the desktop, or of the page, per coordinate.
pub fn desktop() -> f32 {
    factor() / moved()
}

/// By how much a page's pixels are finer now than when it was loaded: the person has zoomed, or moved it to another screen. The window library
/// knows the ratio of the beginning only.
fn moved() -> f32 {
    match f32::from_bits(PIXEL_RATIO.load(Ordering::Relaxed)) {
        ratio if ratio > 0.0 => ratio / screen_dpi_scale(),
        _ => 1.0,
    }
}

/// Pixels of the screen per coordinate.
pub fn pixels() -> f32 {
    screen_dpi_scale() * factor()
}

/// Width and height of the window.
pub fn size() -> Vec2 {
    vec2(screen_width(), screen_height()) / factor()
}

/// What leaves a rectangle, or lies over something else in it, and what it lies over: tests of layouts look for it. Less than half a pixel is rounding.
pub fn misplaced(around: Rect, parts: &[Rect]) -> Option<[Rect; 2]> {
    parts.iter().enumerate().find_map(|(n, part)| {
        let seen = around.intersect(*part).unwrap_or_default();
        let is_inside = seen.w > part.w - 0.5 && seen.h > part.h - 0.5;
        let other = parts[..n]
            .iter()
            .find(|other| part.intersect(**other).is_some_and(|common| common.w > 0.5 && common.h > 0.5));
        if is_inside { other.map(|other| [*part, *other]) } else { Some([*part, around]) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_grow_with_the_picture() {
        let auto = |width, height| Letters::Auto.factor(vec2(width, height));
        for (width, height) in [(412.0, 800.0), (800.0, 600.0), (1_360.0, 860.0), (1_920.0, 1_080.0)] {
            assert_eq!(auto(width, height), 1.0, "{width}x{height}");
        }
        assert_eq!(auto(2_560.0, 1_440.0), 1.25);
        assert_eq!(auto(3_840.0, 2_160.0), 2.0);
        assert_eq!(auto(2_160.0, 3_840.0), 1.5);
    }

    #[test]
    fn whatever_is_chosen_there_is_room_for_everything() {
        for window in [vec2(300.0, 200.0), vec2(412.0, 915.0), vec2(1_024.0, 600.0), vec2(7_680.0, 4_320.0)] {
            for letters in Letters::ALL {
                let (factor, room) = (letters.factor(window), window / letters.factor(window));
                let fits = ROOM.iter().any(|least| room.cmpge(*least - 0.01).all());
                assert!(factor == 1.0 || fits, "{window} {letters:?}: {room}");
            }
        }
    }

    #[test]
    fn the_key_comes_to_every_choice_and_back() {
        let mut letters = Letters::default();
        for wanted in Letters::ALL {
            assert_eq!(letters, wanted);
            letters = letters.next();
        }
        assert_eq!(letters, Letters::default());
    }
}
