//! Buttons and sliders, drawn and asked in one call. Each has a name, by which scripts find it on the screen.

use std::collections::BTreeMap;

use macroquad::color::Color;
use macroquad::input::touches;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::miniquad::window::clipboard_set;
use macroquad::miniquad::{KeyCode, KeyMods};
use macroquad::shapes::{draw_circle, draw_rectangle, draw_rectangle_lines};

use crate::view::widgets::pointer::{Button, Pointer};
use testudo_render::paint::batch::Batch;
use testudo_render::paint::palette::{LINE, PANEL, PANEL_BRIGHT, PANEL_RAISED, TEXT, TEXT_DIM, faded, mixed};
use testudo_render::paint::pen::{Align, Pen, SMALL};
use testudo_render::paint::screen;

/// The names of the buttons of up to sixteen players, for scripts: "word 1" and so on.
macro_rules! numbered {
    ($word:literal) => {
        numbered!($word: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    ($word:literal: $($number:literal)*) => {
        [$(concat!($word, " ", $number)),*]
    };
}
pub(crate) use numbered;

/// What widgets are drawn with, and the state of the mouse.
pub(crate) struct Ui {
    pub(crate) pen: Pen,
    pub(crate) batch: Batch,
    pub(crate) mouse: Vec2,
    /// It is a finger.
    is_finger: bool,
    /// A finger has touched the picture: words are about fingers.
    pub(crate) is_touched: bool,
    /// Nothing but this widget takes clicks.
    pub(crate) only: Option<&'static str>,
    pointer: Pointer,
    /// Name of the widget that the button went down on.
    held: Option<&'static str>,
    /// What lies over the field, in this picture and in the last one.
    covers: Vec<Rect>,
    covers_before: Vec<Rect>,
    /// The button went down on one of them: it is not for the field.
    taken: bool,
    /// Where every widget of this picture is.
    places: BTreeMap<&'static str, Rect>,
    /// The text that was copied last.
    copied: String,
}

/// A slider's range and how its value is written.
pub(crate) struct Scale {
    pub(crate) max: f32,
    pub(crate) unit: &'static str,
}

/// Sides of what a finger finds, pixels.
pub(crate) const FINGER: f32 = 36.0;

/// A finger hits a small widget in a rectangle about it: buttons of panels are only 24 pixels high.
fn within_reach(rect: Rect) -> Rect {
    let size = rect.size().max(Vec2::splat(FINGER));
    let corner = rect.center() - size / 2.0;
    Rect::new(corner.x, corner.y, size.x, size.y)
}

/// Whether the text that was copied last is in the clipboard.
fn is_clipboard_open() -> bool {
    #[cfg(target_arch = "wasm32")]
    return crate::app::page::is_clipboard_open();
    #[cfg(not(target_arch = "wasm32"))]
    return true;
}

impl Ui {
    pub(crate) fn new() -> Self {
        Self {
            pen: Pen::for_window(),
            batch: Batch::for_window(),
            mouse: Vec2::ZERO,
            is_finger: false,
            is_touched: false,
            only: None,
            pointer: Pointer::default(),
            held: None,
            covers: Vec::new(),
            covers_before: Vec::new(),
            taken: false,
            places: BTreeMap::new(),
            copied: String::new(),
        }
    }

    /// Reads the mouse. Call once per picture, before anything else.
    pub(crate) fn begin(&mut self) {
        self.pointer.advance();
        let mouse = self.pointer.at / screen::factor();
        // A finger leaves the mouse where it was lifted.
        self.is_finger = !touches().is_empty() || self.is_finger && mouse == self.mouse;
        self.is_touched |= self.is_finger;
        self.mouse = mouse;
        core::mem::swap(&mut self.covers, &mut self.covers_before);
        self.covers.clear();
        let left = self.left();
        if left.is_pressed {
            self.taken = self.covers_before.iter().any(|cover| cover.contains(self.mouse));
        } else if !left.is_down && !left.is_released {
            // Otherwise right clicks in the field would do nothing after a press on a button of the command bar.
            self.taken = false;
        }
        self.places.clear();
    }

    pub(crate) fn left(&self) -> Button {
        self.pointer.left
    }

    pub(crate) fn right(&self) -> Button {
        self.pointer.right
    }

    /// The keys that have gone down before what the mouse does in this picture, in their order.
    pub(crate) fn keys(&self) -> Vec<(KeyCode, KeyMods)> {
        self.pointer.keys.clone()
    }

    /// Words about clicks, for whoever taps.
    pub(crate) fn hand(&self, words: &str) -> String {
        if self.is_touched { words.replace("click", "tap") } else { words.to_owned() }
    }

    /// Call after all widgets of the picture.
    pub(crate) fn end(&mut self) {
        if !self.left().is_down {
            self.held = None;
        }
    }

    /// Whether the left button belongs to a panel or its widgets.
    pub(crate) fn has_taken_mouse(&self) -> bool {
        self.taken || self.held.is_some() || self.covers_before.iter().any(|cover| cover.contains(self.mouse))
    }

    /// Clicks on a panel do not reach anything below it.
    pub(crate) fn cover(&mut self, rect: Rect) {
        self.covers.push(rect);
    }

    /// A card with a name for scripts: it hides what is below, and takes its clicks. Its outline is as wide as this.
    pub(crate) fn card(&mut self, name: &'static str, card: Rect, fill: Color, (wide, line): (f32, Color)) {
        self.pen.cover(card);
        self.cover(card);
        if fill.a == 1.0 {
            // Otherwise a click on the menu would give the order whose button is below.
            self.places.retain(|_, place| !place.overlaps(&card));
            self.held = self.held.filter(|_| !(self.left().is_pressed && card.contains(self.mouse)));
        }
        self.note(name, card);
        self.pen.fill(card, fill);
        draw_rectangle_lines(card.x, card.y, card.w, card.h, wide, line);
    }

    /// A strip above a view, with the colour of an army at its left.
    pub(crate) fn strip(&mut self, rect: Rect, army: Color) {
        self.pen.fill(rect, PANEL_RAISED);
        self.pen.fill(Rect { w: 6.0, ..rect }, army);
    }

    /// What lies over the field in this picture, so far.
    pub(crate) fn covers(&self) -> &[Rect] {
        &self.covers
    }

    /// Whether the mouse is over a rectangle, as opposed to a finger that was there.
    pub(crate) fn hovers(&self, rect: Rect) -> bool {
        rect.contains(self.mouse) && (self.left().is_used() || !self.is_finger)
    }

    /// Where the widgets are.
    pub(crate) fn places(&self) -> &BTreeMap<&'static str, Rect> {
        &self.places
    }

    /// Registers a rectangle for scripts.
    pub(crate) fn note(&mut self, name: &'static str, rect: Rect) {
        self.places.insert(name, rect);
    }

    /// Whether the mouse is over a widget, or a finger near it; and the button may go down on it.
    fn hold(&mut self, name: &'static str, rect: Rect) -> bool {
        self.places.insert(name, rect);
        let reach = if self.is_touched { within_reach(rect) } else { rect };
        if reach != rect {
            self.covers.push(reach);
        }
        let over = reach.contains(self.mouse) && self.only.is_none_or(|only| only == name);
        // Otherwise a finger on a player's button in the lobby would press that of the next row.
        let other = self.held.and_then(|held| self.places.get(held));
        let is_nearer = rect.contains(self.mouse) || other.is_none_or(|other| !other.contains(self.mouse));
        if over && is_nearer && self.left().is_pressed {
            self.held = Some(name);
        }
        over
    }

    /// A button; true when it has been pressed and let go.
    pub(crate) fn button(&mut self, name: &'static str, rect: Rect, text: &str, lit: bool) -> bool {
        let over = self.hold(name, rect);
        let held = self.held == Some(name);
        let fill = match (held, over || lit) {
            (true, _) => PANEL,
            (false, true) => PANEL_BRIGHT,
            (false, false) => PANEL_RAISED,
        };
        self.pen.fill(rect, fill);
        draw_rectangle_lines(rect.x, rect.y, rect.w, rect.h, 2.0, if lit { TEXT_DIM } else { LINE });
        self.pen.label(text, rect, Align::Middle, SMALL, TEXT);
        held && over && self.left().is_released
    }

    /// A button that copies a text, and then says so; true when it has been pressed.
    pub(crate) fn copy(&mut self, name: &'static str, rect: Rect, word: &str, text: &str) -> bool {
        let is_copied = self.copied == text;
        // A browser may keep its clipboard to the person.
        let short = if is_clipboard_open() { "Copied" } else { "Ctrl C" };
        let forms = if is_clipboard_open() { [short; 2] } else { ["Press Ctrl C or Cmd C", "Ctrl or Cmd C"] };
        let said = self.pen.fitting(forms, SMALL, rect.w - 8.0).unwrap_or(short);
        let is_pressed = self.button(name, rect, if is_copied { said } else { word }, false);
        if is_pressed {
            clipboard_set(text);
            text.clone_into(&mut self.copied);
        }
        is_pressed
    }

    /// Buttons side by side, equally wide: script name, label, whether it is lit. Gives the number of the one that has been pressed.
    pub(crate) fn row<'a>(
        &mut self,
        rect: Rect,
        gap: f32,
        buttons: impl ExactSizeIterator<Item = (&'static str, &'a str, bool)>,
    ) -> Option<usize> {
        let step = (rect.w + gap) / buttons.len() as f32;
        let mut pressed = None;
        for (n, (name, word, lit)) in buttons.enumerate() {
            let button = Rect { x: (rect.x + n as f32 * step).floor(), w: (step - gap).floor(), ..rect };
            if self.button(name, button, word, lit) {
                pressed = Some(n);
            }
        }
        pressed
    }

    /// Something that one clicks on; true when it has been pressed and let go.
    pub(crate) fn area(&mut self, name: &'static str, rect: Rect) -> bool {
        let over = self.hold(name, rect);
        self.held == Some(name) && over && self.left().is_released
    }

    /// Something that one presses for a while: whether it is held now.
    pub(crate) fn is_held(&mut self, name: &'static str, rect: Rect) -> bool {
        self.hold(name, rect);
        self.held == Some(name)
    }

    /// Something along which one drags; while it is held, how far along the mouse is, 0..=1.
    pub(crate) fn scrub(&mut self, name: &'static str, rect: Rect) -> Option<f32> {
        self.is_held(name, rect).then(|| ((self.mouse.x - rect.x) / rect.w.max(1.0)).clamp(0.0, 1.0))
    }

    /// A slider without words, for a value of 0..=1; true when the value has changed.
    pub(crate) fn track(&mut self, name: &'static str, track: Rect, value: &mut f32) -> bool {
        let over = self.hold(name, track);
        let held = self.held == Some(name);
        let before = *value;
        if held {
            *value = ((self.mouse.x - track.x) / track.w).clamp(0.0, 1.0);
        }
        let middle = (track.y + track.h / 2.0).round();
        let knob = vec2(track.x + *value * track.w, middle);
        let bright = mixed(TEXT_DIM, TEXT, if held || over { 1.0 } else { 0.3 });
        draw_rectangle(track.x, middle - 2.0, track.w, 4.0, PANEL_BRIGHT);
        draw_rectangle(track.x, middle - 2.0, *value * track.w, 4.0, faded(bright, 0.8));
        draw_circle(knob.x, knob.y, 7.0, bright);
        *value != before
    }

    /// A slider with its name on the left and its value on the right; true when the value has changed.
    pub(crate) fn slider(&mut self, name: &'static str, rect: Rect, value: &mut f32, scale: &Scale) -> bool {
        const NAME: f32 = 82.0;
        const VALUE: f32 = 62.0;
        let track = Rect::new(rect.x + NAME, rect.y, (rect.w - NAME - VALUE).max(20.0), rect.h);
        let before = *value;
        let mut part = (*value / scale.max).clamp(0.0, 1.0);
        if self.track(name, track, &mut part) {
            *value = (part * scale.max).round();
        }
        self.pen.label(name, Rect { w: NAME, ..rect }, Align::Left, SMALL, TEXT_DIM);
        let shown = format!("{} {}", value.round(), scale.unit);
        let right = Rect::new(track.x + track.w, rect.y, VALUE, rect.h);
        self.pen.label(&shown, right, Align::Right, SMALL, TEXT);
        *value != before
    }
}
