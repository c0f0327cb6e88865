//! The other page of the menu: how a match with others begins.

use macroquad::input::{KeyCode, get_char_pressed, is_key_pressed};
use macroquad::math::Rect;
use macroquad::miniquad::window::clipboard_get;

use crate::view::hud::ending::told;
use crate::view::widgets::keys;
use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{BACKDROP, BAD, TEXT, TEXT_DIM};
use testudo_render::paint::pen::{Align, LARGE, Pen, SMALL};

/// Longest text that is taken: a link with a code is shorter.
const TEXT_MAX: usize = 400;

/// Height of the page where there is room for it, pixels.
pub(crate) const HEIGHT: f32 = 300.0;

/// What the person wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FriendsAction {
    /// This window hosts.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    Host,
    /// To the place that a code opens.
    Join,
    /// A room at the relay whose code it is.
    Room,
    /// To the other page.
    Back,
}

/// What is written on the page. It has no default: see `opened`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Friends {
    text: String,
    /// Why the last wish was not fulfilled.
    said: Option<String>,
}

/// A browser gives what is pasted to keys only, and lets no page listen.
#[cfg(not(target_arch = "wasm32"))]
const HOW: &str = "To join, paste or type the code or the link that the host has sent you. With a relay's code you open a room there.";
#[cfg(target_arch = "wasm32")]
const HOW: &str = "To join, paste (Ctrl V, Cmd V) or type the code that the host has sent you. A page cannot host by itself: with a relay's code it opens a room there.";

impl Friends {
    const EMPTY: Self = Self { text: String::new(), said: None };

    /// An empty page. Keys that were pressed in the battle are forgotten, or they would stand in the field for the code.
    pub(crate) fn opened() -> Self {
        while get_char_pressed().is_some() {}
        Self::EMPTY
    }

    /// What was pasted or typed: a code, a link or a command.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Tells why a wish was not fulfilled.
    pub(crate) fn say(&mut self, why: &str) {
        self.said = Some(told(why));
    }

    /// Reads the keys of one picture; true: the person wants to join.
    pub(crate) fn read_keys(&mut self) -> bool {
        let mut typed = String::new();
        while let Some(character) = get_char_pressed() {
            typed.push(character);
        }
        if keys::wants_to_paste() {
            self.paste();
        } else {
            self.take(&typed);
        }
        if is_key_pressed(KeyCode::Backspace) && self.text.pop().is_some() {
            self.said = None;
        }
        is_key_pressed(KeyCode::Enter)
    }

    fn paste(&mut self) {
        match clipboard_get() {
            Some(pasted) if !pasted.trim().is_empty() => {
                self.text.clear();
                self.take(&pasted);
            }
            _ => self.say("there is no text to paste"),
        }
    }

    /// Adds what can be part of a code, a link or a command.
    fn take(&mut self, more: &str) {
        let is_fit = |character: &char| character.is_ascii_graphic() || *character == ' ';
        let room = TEXT_MAX.saturating_sub(self.text.len());
        let before = self.text.len();
        self.text.extend(more.chars().filter(is_fit).take(room));
        if self.text.len() > before {
            self.said = None;
        }
    }

    /// Draws the page into its card.
    pub(crate) fn draw(&mut self, ui: &mut Ui, card: Rect) -> Option<FriendsAction> {
        let (x, width) = (card.x + 22.0, card.w - 44.0);
        ui.pen.strong("A match with friends", x, card.y + 36.0, LARGE, TEXT);
        let mut wish = None;
        let line = |y: f32, h: f32| Rect::new(x, card.y + y, width, h);
        #[cfg(not(target_arch = "wasm32"))]
        if ui.button("host match", line(50.0, 28.0), "Host: show codes for the others", true) {
            wish = Some(FriendsAction::Host);
        }
        let below = ui.pen.wrapped(HOW, line(98.0, 17.0), SMALL, TEXT_DIM);
        let field = Rect { y: below - 8.0, ..line(0.0, 28.0) };
        ui.note("code", field);
        ui.pen.fill(field, BACKDROP);
        let inside = Rect { x: field.x + 8.0, w: field.w - 16.0, ..field };
        if self.text.is_empty() {
            ui.pen.label("Ctrl V: paste", inside, Align::Left, SMALL, TEXT_DIM);
        } else {
            ui.pen.label(self.end_in(&ui.pen, inside.w), inside, Align::Left, SMALL, TEXT);
        }
        if let Some(said) = &self.said {
            ui.pen.wrapped(said, Rect::new(x, field.bottom() + 18.0, width, 17.0), SMALL, BAD);
        }
        let actions: &[(&'static str, &str, Option<FriendsAction>)] = &[
            ("join match", "Join", Some(FriendsAction::Join)),
            #[cfg(not(target_arch = "wasm32"))]
            ("paste", "Paste", None),
            ("open room", "Open room", Some(FriendsAction::Room)),
            ("back to menu", "Back", Some(FriendsAction::Back)),
        ];
        let is_lit =
            |action: &Option<FriendsAction>| *action == Some(FriendsAction::Join) && !self.text.is_empty();
        let buttons = actions.iter().map(|(name, word, action)| (*name, *word, is_lit(action)));
        match ui.row(line(card.h - 44.0, 30.0), 8.0, buttons).map(|n| actions[n].2) {
            Some(None) => self.paste(),
            Some(action) => wish = action,
            None => {}
        }
        wish
    }

    /// As much of the text's end as there is room for.
    fn end_in(&self, pen: &Pen, width: f32) -> &str {
        let starts = self.text.char_indices().map(|(at, _)| &self.text[at..]);
        starts.into_iter().find(|end| pen.width(end, SMALL) <= width).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pasted(text: &str) -> Friends {
        let mut friends = Friends::EMPTY;
        friends.take(text);
        friends
    }

    #[test]
    fn what_is_taken_is_bounded_and_printable() {
        let mut friends = pasted(&"a\u{202e}b\u{7}".repeat(10_000));
        assert_eq!(friends.text.len(), TEXT_MAX);
        friends.take("c");
        assert_eq!(friends.text, "ab".repeat(TEXT_MAX / 2));
    }

    #[test]
    fn a_reason_goes_away_with_the_next_letter() {
        let mut friends = pasted("0abd");
        friends.say("a part is missing");
        assert_eq!(friends.said.as_deref(), Some("A part is missing"));
        friends.take("e");
        assert_eq!(friends.said, None);
    }
}
