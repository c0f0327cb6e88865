//! Draws everything around and over the views.

use macroquad::math::Rect;
use macroquad::shapes::draw_rectangle_lines;

use crate::app::Pilot;
use crate::app::words::count;
use crate::view::hud::alarm;
use crate::view::hud::hearing;
use crate::view::hud::help;
use crate::view::hud::menu;
use crate::view::hud::panel::{self, PanelAction};
use crate::view::screens::clients::Clients as _;
use crate::view::screens::desk::Desk;
use crate::view::widgets::bar::TopBar;
use testudo_render::battle::scene::Marks;
use testudo_render::paint::palette::{BAD, GOOD, LINE, PANEL, TEXT, army};
use testudo_render::paint::pen::{LARGE, SIZE, SMALL};

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
    pub(super) fn draw_all(&mut self) {
        let slot = self.skirmish.desync().and_then(|desync| desync.body());
        let differing = self.skirmish.spread().map_or(&[][..], |spread| &spread.differing);
        let marks = Marks { differing, ..self.stage.accusing(slot) };
        self.board.draw(&mut self.stage, &self.skirmish, marks);
        self.draw_headers();
        self.draw_top();
        self.draw_over_view();
        self.draw_spread();
        if self.board.draw_status(&mut self.stage, &self.skirmish, true) {
            self.toggle_split();
        }
        self.draw_panel();
        self.draw_cards();
        self.draw_menu();
        let eye = &self.board.eye;
        let body = slot.and_then(|slot| self.place_of(slot));
        if let Some(at) = body.filter(|_| self.alarm.is_told) {
            let at = eye.view(0).at(at);
            self.stage.ui.note("accused", Rect::new(at.x - 6.0, at.y - 6.0, 12.0, 12.0));
        }
        let ([view, other], [map, small]) = (eye.layout.views, eye.layout.maps);
        let fixed = [("view 1", view), ("view 2", other), ("map 1", map), ("map 2", small)];
        self.stage.end(eye.layout.around(), &help::SKIRMISH, &fixed);
    }

    fn draw_headers(&mut self) {
        for (player, widget) in (0..2_u8).zip(["pilot 1", "pilot 2"]) {
            if player == 1 && !self.board.eye.is_split {
                self.draw_caption(self.board.eye.layout.headers[1]);
            } else if self.board.draw_header(&mut self.stage, &mut self.skirmish, (player, widget)) {
                let is_person = self.skirmish.has_person(player);
                self.skirmish
                    .set_pilot(player, if is_person { Pilot::Bot(self.level()) } else { Pilot::Person });
                self.stage.log.note("pilot", i32::from(player));
            }
        }
    }

    /// The title above the inset. A click enlarges the inset.
    fn draw_caption(&mut self, rect: Rect) {
        let inset = self.board.eye.layout.views[1];
        draw_rectangle_lines(inset.x, inset.y, inset.w, inset.h, 2.0, LINE);
        self.stage.ui.cover(rect.combine_with(inset));
        let words = ["The other computer (Tab)", "The other computer", "Other computer"];
        let words = &words[usize::from(self.stage.ui.is_touched)..];
        let text = self.stage.ui.pen.fitting(words, SMALL, rect.w - 12.0).unwrap_or(&"");
        if self.stage.ui.button("enlarge", rect, text, false) {
            self.set_split(true);
        }
    }

    fn draw_top(&mut self) {
        let top = self.board.eye.layout.top;
        let mut bar = TopBar::new(&mut self.stage.ui, top);
        // In a narrow window the key N is enough for single frames.
        let is_wide = top.w >= WIDE;
        let [long, word, number] = if is_wide { [84.0, 74.0, 50.0] } else { [66.0, 50.0, 40.0] };
        self.stage.draw_help_button(bar.place(word));
        self.menu.take_if(|_| self.stage.shows_help);
        let (faster, speed, slower) = (bar.place(34.0), bar.place(number), bar.place(34.0));
        self.pace.draw(&mut self.stage, slower, speed, faster);
        let ui = &mut self.stage.ui;
        self.pace.wants_step |= is_wide && bar.button(ui, "step", 86.0, "One frame", false);
        let pause = if self.pace.is_paused { "Continue" } else { "Pause" };
        if bar.button(ui, "pause", long, pause, self.pace.is_paused) {
            self.pace.toggle_pause(&mut self.stage.log);
        }
        if bar.button(&mut self.stage.ui, "menu", word, "Menu", self.menu.is_some()) {
            self.toggle_menu();
        }
        let sound = bar.place(hearing::BUTTON);
        let volume = (top.w >= WIDE_SOUND).then(|| bar.place(hearing::SLIDER));
        self.stage.draw_sound(sound, volume);
        let (mut x, room) = (top.x + 16.0, bar.end());
        // As long as the goal is at most.
        const GOAL: f32 = 400.0;
        if x + self.stage.ui.pen.width("Testudo", LARGE) + 20.0 + GOAL < room {
            x = self.stage.ui.pen.strong("Testudo", x, top.y + 29.0, LARGE, TEXT) + 20.0;
        }
        let lines = match self.skirmish.rival() {
            _ if self.pace.is_paused => PAUSED.map(str::to_owned),
            // The card says how it was decided.
            _ if self.skirmish.result().is_some() => Default::default(),
            Some(level) => {
                let bot = menu::bot(level);
                [format!("Bring down the keep of {bot}, or all of its army."), GOALS[1].to_owned()]
            }
            None => GOALS.map(str::to_owned),
        };
        let goal = self.stage.ui.pen.fitting(lines, SIZE, room - x - 6.0);
        if let Some(goal) = goal.filter(|goal| !goal.is_empty()) {
            let end = self.stage.ui.pen.text(&goal, x, top.y + 28.0, SIZE, army(0));
            self.stage.ui.note("goal", Rect::new(x, top.y, end - x, top.h));
        }
    }

    fn draw_panel(&mut self) {
        let rect = self.board.eye.layout.panel;
        if rect.h == 0.0 {
            return;
        }
        match panel::draw(&mut self.stage.ui, rect, &self.skirmish) {
            Some(PanelAction::Network(link)) => {
                self.skirmish.set_link(link);
                self.stage.log.network(&link);
                // After damage to the network, both ends are worth seeing.
                self.set_split(self.board.eye.is_split || !self.progress.has_broken_network);
            }
            Some(PanelAction::Corrupt) => {
                self.skirmish.corrupt_one_bit();
                self.pace.is_paused = false;
                self.set_split(true);
                self.progress.has_corrupted = true;
                self.stage.log.note("corrupt", true);
            }
            None => {}
        }
    }

    /// The card: what happened, and the choices.
    fn draw_cards(&mut self) {
        let around = self.board.eye.layout.around();
        // The menu does not hide the frame and the buttons of a card below it, so the card is not drawn.
        let is_covered = self.menu.is_some() || self.stage.shows_help;
        if let (Some(desync), false) = (self.skirmish.desync(), self.alarm.is_answered) {
            if is_covered {
                return;
            }
            match alarm::draw(&mut self.stage.ui, around, desync) {
                Some("restart") => self.restart(None),
                Some(_) => self.watch_it_spread(),
                None => {}
            }
            return;
        }
        if self.board.score.is_last_blow_seen() && !is_covered {
            self.draw_result(around);
        }
        /// Time for which the window shows why a file was refused, seconds.
        const SAID: f32 = 8.0;
        self.refused.take_if(|(_, since)| self.stage.seconds - *since > SAID);
        let refused = self.refused.as_ref().map(|(text, _)| text);
        let (text, color) = if let Some(error) = self.error.as_ref().or(refused) {
            (error.clone(), BAD)
        } else if self.is_over {
            let (turns, sums) = self.skirmish.compared();
            let mut sums: Vec<String> = sums.iter().map(|sum| format!("{sum:016x}")).collect();
            sums.dedup();
            let text = format!("Over after {}. Final checksum: {}", count(turns, "turn"), sums.join(", "));
            (text, if self.agrees() { GOOD } else { BAD })
        } else {
            return;
        };
        // Beside the inset, or below it where that leaves too little: it must not cut the inset from its title.
        let (inset, wide) = (self.board.eye.layout.views[1], self.stage.ui.pen.width(&text, SIZE) + 24.0);
        let bar = Rect { y: around.y + 48.0, h: 36.0, ..around };
        let bar = match inset.x - around.x - 10.0 {
            _ if self.board.eye.is_split => bar,
            free if wide <= free => Rect { w: free, ..bar },
            _ => Rect { y: inset.bottom() + 8.0, ..bar },
        };
        self.stage.ui.pen.plate(&text, bar, SIZE, color, PANEL);
    }
}
