//! Draws everything around and over the views.

use macroquad::math::Rect;
use macroquad::shapes::{draw_rectangle, draw_rectangle_lines};

use crate::app::{Pilot, Spread};
use crate::view::battle::scene::Marks;
use crate::view::hud::alarm::{self, Answer};
use crate::view::hud::header::{self, Header};
use crate::view::hud::hearing;
use crate::view::hud::help;
use crate::view::hud::panel::{self, Wish};
use crate::view::hud::status::{self, Status};
use crate::view::paint::palette::{BAD, GOOD, LINE, PANEL, TEXT, army};
use crate::view::paint::pen::{Align, LARGE, SIZE, SMALL};
use crate::view::screens::desk::prediction::shown_by;
use crate::view::screens::desk::{Desk, LAST_LOOK};
use crate::view::screens::picture::SPEEDS;
use crate::view::widgets::bar::TopBar;

/// What the battle is about, and a shorter form for narrow screens.
pub(super) const GOALS: [&str; 2] =
    ["Bring down the enemy's keep. Protect your own.", "Bring down their keep."];

/// Instead of the goal while the battle stands still.
const PAUSED: [&str; 2] = ["Paused. Orders can be given.", "Paused"];

/// From this width on there is room for every button of the top bar, pixels.
const WIDE: f32 = 720.0;

/// From here on there is room for the slider of the sound, too, pixels.
const WIDE_SOUND: f32 = 880.0;

impl Desk {
    /// Draws one picture and handles its widgets.
    pub(super) fn draw(&mut self) {
        let slot = self.skirmish.desync().and_then(|desync| desync.body());
        let accused = slot.map(|slot| (slot, (self.seconds * 1.2).fract()));
        let differing = self.skirmish.spread().map_or(&[][..], Spread::differing);
        for player in 0..2_u8 {
            let sight = self.sight(player, shown_by(&self.skirmish, player));
            let side = &self.sides[usize::from(player)];
            sight.draw(&mut self.batch, side, self.layers, self.ui.mouse, Marks { accused, differing });
        }
        self.draw_headers();
        self.draw_top();
        self.draw_over_view();
        self.draw_spread();
        self.draw_status();
        self.draw_panel();
        self.draw_cards();
        self.draw_menu();
        if self.shows_help {
            help::draw(&self.pen, self.layout.around(), &help::SKIRMISH);
        }
        self.ui.end();
        let layout = self.layout;
        let body = slot.and_then(|slot| self.place_of(slot));
        if let Some(at) = body.filter(|_| self.alarm.is_told) {
            let at = self.camera.to_screen(layout.views[0], at);
            self.ui.note("accused", Rect::new(at.x - 6.0, at.y - 6.0, 12.0, 12.0));
        }
        let fixed = [
            ("view 1", layout.views[0]),
            ("view 2", layout.views[1]),
            ("map 1", layout.maps[0]),
            ("map 2", layout.maps[1]),
        ];
        self.log.places(self.ui.places().iter().map(|(name, rect)| (*name, *rect)).chain(fixed));
    }

    fn draw_headers(&mut self) {
        for (player, widget) in (0..2_u8).zip(["pilot 1", "pilot 2"]) {
            let rect = self.layout.headers[usize::from(player)];
            if player == 1 && !self.is_split {
                self.draw_caption(rect);
                continue;
            }
            let is_person = self.skirmish.pilot(player) == Pilot::Person;
            let predicts = self.skirmish.predicts(player);
            let header = Header { rect, player, widget, is_person, predicts };
            let side = &self.sides[usize::from(player)];
            let pressed = header.draw(&self.pen, &mut self.ui, side, self.skirmish.client(player).game());
            if pressed == Some(header::Wish::Predict) {
                self.toggle_prediction(player);
            }
            if pressed == Some(header::Wish::Pilot) {
                let other = if is_person { Pilot::Bot(self.level()) } else { Pilot::Person };
                self.skirmish.set_pilot(player, other);
                self.log.note("pilot", i32::from(player));
            }
        }
    }

    /// The title above the inset. A click enlarges the inset.
    fn draw_caption(&mut self, rect: Rect) {
        let inset = self.layout.views[1];
        draw_rectangle_lines(inset.x, inset.y, inset.w, inset.h, 2.0, LINE);
        self.ui.cover(rect.combine_with(inset));
        let words = ["The other computer (Tab)", "Other computer"];
        let text = words.into_iter().find(|text| self.pen.width(text, SMALL) + 12.0 < rect.w).unwrap_or("");
        if self.ui.button(&self.pen, "enlarge", rect, text, false) {
            self.set_split(true);
        }
    }

    fn draw_top(&mut self) {
        let top = self.layout.top;
        let mut bar = TopBar::new(&mut self.ui, top);
        let mut place = |width: f32| bar.place(width);
        // In a narrow window the key N is enough for single frames.
        let is_wide = top.w >= WIDE;
        let [long, word, number] = if is_wide { [84.0, 74.0, 50.0] } else { [66.0, 50.0, 40.0] };
        let (help, faster) = (place(word), place(34.0));
        let (speed, slower) = (place(number), place(34.0));
        let step = is_wide.then(|| place(86.0));
        let (pause, menu) = (place(long), place(word));
        let sound = place(hearing::BUTTON);
        let volume = (top.w >= WIDE_SOUND).then(|| place(hearing::SLIDER));
        self.hearing.draw(&self.pen, &mut self.ui, sound, volume, &mut self.log);
        if self.ui.button(&self.pen, "help", help, if is_wide { "F1 help" } else { "Help" }, self.shows_help)
        {
            self.toggle_help();
        }
        if self.ui.button(&self.pen, "menu", menu, "Menu", self.menu.is_some()) {
            self.toggle_menu();
        }
        if self.ui.button(&self.pen, "faster", faster, "+", false) {
            self.change_speed(1);
        }
        if self.ui.button(&self.pen, "slower", slower, "\u{2013}", false) {
            self.change_speed(-1);
        }
        self.pen.label(&format!("{}x", SPEEDS[self.speed] as f32 / 100.0), speed, Align::Middle, SIZE, TEXT);
        if let Some(step) = step
            && self.ui.button(&self.pen, "step", step, "One frame", false)
        {
            self.wants_step = true;
        }
        let word = if self.is_paused { "Continue" } else { "Pause" };
        if self.ui.button(&self.pen, "pause", pause, word, self.is_paused) {
            self.toggle_pause();
        }
        let (mut x, room) = (top.x + 16.0, bar.end());
        if x + self.pen.width("Testudo", LARGE) + 20.0 + self.pen.width(GOALS[0], SIZE) < room {
            x = self.pen.strong("Testudo", x, top.y + 29.0, LARGE, TEXT) + 20.0;
        }
        let lines = if self.is_paused { PAUSED } else { GOALS };
        if let Some(goal) = lines.into_iter().find(|goal| x + self.pen.width(goal, SIZE) + 6.0 < room) {
            let end = self.pen.text(goal, x, top.y + 28.0, SIZE, army(0));
            self.ui.note("goal", Rect::new(x, top.y, end - x, top.h));
        }
    }

    fn draw_status(&mut self) {
        let recent: Vec<u32> =
            self.skirmish.samples().rev().take(20).map(|sample| sample.bytes_per_second).collect();
        let status = Status {
            computers: 2,
            are_simulated: true,
            turns: self.skirmish.compared().0,
            divergent_turn: self.skirmish.desync().map(|desync| desync.turn),
            bytes_per_second: recent.iter().sum::<u32>() / recent.len().max(1) as u32,
            is_doubtful: false,
            is_waiting: (0..2).any(|player| self.skirmish.waiting(player).is_some()),
        };
        let (is_unfolded, is_split) = (self.is_unfolded, Some(self.is_split));
        match status.draw(&self.pen, &mut self.ui, self.layout.status, is_unfolded, is_split) {
            Some(status::Wish::Unfold) => {
                self.is_unfolded = !self.is_unfolded;
                self.log.note("unfolded", self.is_unfolded);
            }
            Some(status::Wish::Split) => {
                self.set_split(!self.is_split);
                self.log.note("split", self.is_split);
            }
            None => {}
        }
    }

    fn draw_panel(&mut self) {
        let Some(rect) = self.layout.panel else { return };
        match panel::draw(&mut self.batch, &self.pen, &mut self.ui, rect, &self.skirmish) {
            Some(Wish::Network(link)) => {
                self.skirmish.set_link(link);
                self.log.network(&link);
                // After damage to the network, both ends are worth seeing.
                self.set_split(self.is_split || !self.progress.has_broken_network);
            }
            Some(Wish::Corrupt) => {
                self.skirmish.corrupt_one_bit();
                self.is_paused = false;
                self.set_split(true);
                self.progress.has_corrupted = true;
                self.log.note("corrupt", true);
            }
            None => {}
        }
    }

    /// The card: what happened, and the choices.
    fn draw_cards(&mut self) {
        let around = self.layout.around();
        // (The menu did not hide the frame and the buttons of a card below it.)
        let is_covered = self.menu.is_some() || self.shows_help;
        if let (Some(desync), false) = (self.skirmish.desync(), self.alarm.is_answered) {
            if is_covered {
                return;
            }
            match alarm::draw(&self.pen, &mut self.ui, around, desync) {
                Some(Answer::GoOn) => self.watch_it_spread(),
                Some(Answer::Restart) => self.restart(None),
                None => {}
            }
            return;
        }
        if self.decided.is_some_and(|seconds| seconds > LAST_LOOK) && !is_covered {
            self.draw_result(around);
        }
        /// Time for which the window shows why a file was refused, seconds.
        const SAID: f32 = 8.0;
        self.refused.take_if(|(_, since)| self.seconds - *since > SAID);
        let refused = self.refused.as_ref().map(|(text, _)| text);
        let (text, color) = if let Some(error) = self.error.as_ref().or(refused) {
            (error.clone(), BAD)
        } else if self.is_over {
            let (turns, sums) = self.skirmish.compared();
            let mut sums: Vec<String> = sums.iter().map(|sum| format!("{sum:016x}")).collect();
            sums.dedup();
            let text = format!("Over after {turns} turns. Final checksum: {}", sums.join(", "));
            (text, if self.agrees() { GOOD } else { BAD })
        } else {
            return;
        };
        // Beside the inset, or below it where that leaves too little. (It cut the inset from its title.)
        let (inset, wide) = (self.layout.views[1], self.pen.width(&text, SIZE) + 24.0);
        let bar = Rect { y: around.y + 48.0, h: 36.0, ..around };
        let bar = match inset.x - around.x - 10.0 {
            _ if self.is_split => bar,
            free if wide <= free => Rect { w: free, ..bar },
            _ => Rect { y: inset.bottom() + 8.0, ..bar },
        };
        self.pen.cover(bar);
        draw_rectangle(bar.x, bar.y, bar.w, bar.h, PANEL);
        self.pen.label(&text, bar, Align::Middle, SIZE, color);
    }
}
