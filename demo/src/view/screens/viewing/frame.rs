//! Draws the surroundings of a replay's picture: the match, its players, the position, and the state of the comparison.

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};
use macroquad::shapes::draw_rectangle;
use testudo_lockstep::replay::Ending;

use crate::app::share;
use crate::app::words::count;
use crate::view::hud::{commands, header, hearing, help};
use crate::view::screens::viewing::controls::{MOVES, PLAY};
use crate::view::screens::viewing::timeline::{Timeline, clock};
use crate::view::screens::viewing::{Back, Viewing};
use crate::view::widgets::bar::TopBar;
use crate::view::widgets::ui::numbered;
use testudo_battle::Setup;
use testudo_render::paint::palette::{BAD, GOOD, PANEL, PANEL_RAISED, TEXT, TEXT_DIM, WARN, army, faded};
use testudo_render::paint::pen::{Align, SIZE, SMALL};

/// Names of the buttons that follow a player, for scripts.
const FOLLOW: [&str; 16] = numbered!("follow");

/// Width of the buttons that lead back to a battle and copy a link, pixels.
const BACK: f32 = 94.0;

/// Height of the buttons below the view, above the timeline, pixels.
const TRANSPORT: f32 = 44.0;

/// The parts of the panel.
fn transport(panel: Rect) -> Rect {
    Rect { h: TRANSPORT, ..panel }
}

fn timeline(panel: Rect) -> Rect {
    Rect::new(panel.x + 16.0, panel.y + TRANSPORT, panel.w - 32.0, panel.h - TRANSPORT - 8.0)
}

impl Viewing {
    /// Everything around the view, and what lies over it.
    pub(super) fn draw_frame(&mut self) {
        self.draw_top();
        self.draw_armies();
        self.draw_notes();
        let view = self.board.eye.layout.views[0];
        commands::legend(&self.stage.ui.pen, vec2(view.x + 10.0, view.y + 60.0), self.stage.layers);
        let bottom = self.board.eye.layout.panel;
        self.stage.ui.pen.fill(bottom, PANEL);
        self.stage.ui.cover(bottom);
        self.draw_transport();
        let rect = timeline(self.board.eye.layout.panel);
        let wanted = Timeline::draw(&mut self.stage.ui, rect, &self.course);
        self.drag(wanted);
        let mut fixed = vec![("view", view), ("map", self.board.eye.layout.maps[0])];
        fixed.extend(Timeline::divergence(rect, &self.course).map(|rect| ("diverged here", rect)));
        self.stage.end(view, &help::REPLAY, &fixed);
    }

    fn draw_top(&mut self) {
        let top = self.board.eye.layout.top;
        let mut bar = TopBar::new(&mut self.stage.ui, top);
        let Setup { players, units, seed, map } = self.course.terms().setup;
        let (map, turns) = (map.map_or("Random rocks", |map| &map.name), self.course.timetable().turns());
        let about = format!(
            "{map}, {}, {} each, seed {seed}, {}",
            count(players, "player"),
            count(units, "unit"),
            count(turns, "turn")
        );
        self.stage.draw_help_button(bar.place(74.0));
        self.stage.draw_sound(bar.place(hearing::BUTTON), None);
        let ways: &[(&str, &str, Back)] = match self.way_back {
            Some(Back::New) => &[("back to battle", "New battle", Back::New)],
            Some(Back::Old) => &[("back to battle", "Back", Back::Old)],
            Some(_) => &[("back to battle", "Back", Back::Running), ("play on", "Play on here", Back::Here)],
            None => &[],
        };
        for (name, word, back) in ways {
            if bar.button(&mut self.stage.ui, name, BACK, word, false) {
                self.wants = Some(*back);
            }
        }
        if let Some(link) = &self.link
            && self.stage.ui.copy("share", bar.place(BACK), share::word(link), link)
        {
            self.stage.log.note("link", link.clone());
        }
        let (text, color) = self.verdict();
        let width = self.stage.ui.pen.width(&text, SIZE);
        let mut end = bar.end();
        if width + 16.0 < end {
            self.stage.ui.pen.label(&text, Rect { w: end - top.x, ..top }, Align::Right, SIZE, color);
            end -= width + 16.0;
        }
        bar.title(&self.stage.ui.pen, "Testudo replay", &about, end);
    }

    /// How far the comparison has come, in words.
    fn verdict(&self) -> (String, Color) {
        let (turns, all) = (self.course.turns_checked(), self.course.timetable().turns());
        let percent = u64::from(turns) * 100 / u64::from(all.max(1));
        match self.course.divergence() {
            Some(found) => (format!("\u{2260} {found}"), BAD),
            None if self.course.replay().is_brief() => match self.course.is_checked() {
                true => ("the last checksum is that of the link".into(), GOOD),
                false => (format!("simulated {} %, then compared", percent), TEXT_DIM),
            },
            None if self.course.is_checked() => (format!("all {all} checksums are as recorded"), GOOD),
            None => (format!("checked {percent} %: as recorded"), TEXT_DIM),
        }
    }

    /// A button for each player, and how the army stands.
    fn draw_armies(&mut self) {
        let strip = self.board.eye.layout.headers[0];
        self.stage.ui.pen.fill(strip, PANEL_RAISED);
        self.stage.ui.cover(strip);
        let players = self.course.terms().setup.players;
        let room = strip.w / f32::from(players.max(1));
        for (player, name) in (0..players).zip(FOLLOW) {
            let rect = Rect::new(strip.x + f32::from(player) * room, strip.y, room, strip.h);
            draw_rectangle(rect.x, rect.y, 6.0, rect.h, army(player));
            let width = (room - 12.0).min(92.0);
            let button = Rect::new(rect.x + 10.0, rect.y + 3.0, width, rect.h - 6.0);
            let text =
                if width > 60.0 { format!("Player {}", player + 1) } else { format!("{}", player + 1) };
            let is_followed = self.followed == Some(player);
            if self.stage.ui.button(name, button, &text, is_followed) {
                self.follow(if is_followed { None } else { Some(player) });
            }
            let game = self.course.game();
            let base = rect.y + 21.0;
            let x = button.x + button.w + 10.0;
            let pen = &self.stage.ui.pen;
            let [long, short] = header::standing(game, player);
            let living = game.middle(player).map_or(0, |(count, _)| count).to_string();
            // As much as there is room for, and the last order beside it.
            let has_room = |x: f32, text: &str| x + pen.width(text, SMALL) + 8.0 < rect.right();
            let score = [long, short, living].into_iter().find(|text| has_room(x, text));
            let x = pen.text(&score.unwrap_or_default(), x, base, SMALL, TEXT) + 16.0;
            let order = self.last_orders.get(usize::from(player)).map_or("", String::as_str);
            if has_room(x, order) {
                pen.text(order, x, base, SMALL, faded(army(player), 0.9));
            }
        }
    }

    /// Faults of the file, and the peers' reports.
    fn draw_notes(&mut self) {
        let replay = self.course.replay();
        let mut notes: Vec<(String, Color)> = Vec::new();
        if let Some(damage) = replay.damage() {
            notes.push((format!("The file is damaged: {damage}. Everything before that is sound."), WARN));
        } else if self.way_back == Some(Back::Running) {
            let text = "The match waits where you left it: this is what was recorded until then.";
            notes.push((text.into(), TEXT));
        } else if !replay.is_complete() {
            notes.push(("The file was cut off: the recording has no end.".into(), WARN));
        } else if replay.ending() == Some(Ending::Full) {
            notes.push(("The recording had reached its largest size: the match went on.".into(), WARN));
        }
        if let Some((turn, _)) = replay.start().filter(|(turn, _)| *turn > 0) {
            let text = format!("The recording begins with turn {turn} of the match. Turns count from there.");
            notes.push((text, TEXT));
        }
        if let Some(turn) = replay.desync() {
            notes.push((format!("The peers disagreed from turn {turn} on."), WARN));
        }
        if let Some(difference) = &self.difference {
            notes.push((difference.text.clone(), BAD));
        }
        let view = self.board.eye.layout.views[0];
        for (n, (text, color)) in notes.iter().enumerate() {
            let bar = Rect::new(view.x, view.y + n as f32 * 26.0, view.w, 26.0);
            self.stage.ui.pen.plate(text, bar, SIZE, *color, faded(PANEL, 0.9));
        }
        let (done, whole) = self.course.progress();
        if self.course.is_seeking() && self.seeking_pictures > 2 {
            let bar = Rect::new(view.x + view.w / 2.0 - 110.0, view.y + view.h - 52.0, 220.0, 34.0);
            let text = format!("seeking, {} %", done * 100 / whole.max(1));
            self.stage.ui.pen.plate(&text, bar, SIZE, TEXT, faded(PANEL, 0.9));
        }
    }

    fn draw_transport(&mut self) {
        let rect = transport(self.board.eye.layout.panel);
        // On a phone everything is a little narrower.
        let part = (rect.w / 420.0).min(1.0);
        let mut x = rect.x + 16.0 * part;
        let mut place = |width: f32, gap: f32| {
            let button = Rect::new(x, rect.y + 8.0, width * part, 28.0);
            x += (width + gap) * part;
            button
        };
        let mut wish = None;
        for (_, name, word, width, gap, act) in MOVES {
            let lit = name == PLAY && self.is_playing;
            if self.stage.ui.button(name, place(width, gap), if lit { "Pause" } else { word }, lit) {
                wish = Some(act);
            }
        }
        let (slower, speed) = (place(34.0, 0.0), place(52.0, 0.0));
        let (faster, wrong) = (place(34.0, 18.0), place(96.0, 18.0));
        let is_wrong = self.course.divergence().is_some();
        let text_x = if is_wrong { wrong.x + wrong.w + 18.0 } else { wrong.x };
        if is_wrong && self.stage.ui.button("divergence", wrong, "X difference", false) {
            wish = Some(Self::go_to_divergence);
        }
        self.pace.draw(&mut self.stage, slower, speed, faster);
        self.draw_place(text_x);
        if let Some(act) = wish {
            act(self);
        }
    }

    /// Time, turn, frame and checksum, as far as there is room.
    fn draw_place(&self, x: f32) {
        let end = transport(self.board.eye.layout.panel).right() - 8.0;
        let table = self.course.timetable();
        let frame = self.course.frame();
        let base = transport(self.board.eye.layout.panel).y + 27.0;
        let now = clock(table.time_of(frame).as_millis(), true);
        let whole = format!(" of {}", clock(table.length().as_millis(), true));
        if x + self.stage.ui.pen.width(&now, SIZE) * 1.04 + self.stage.ui.pen.width(&whole, SIZE) > end {
            return;
        }
        let x = self.stage.ui.pen.strong(&now, x, base, SIZE, TEXT);
        let mut x = self.stage.ui.pen.text(&whole, x, base, SIZE, TEXT_DIM) + 22.0;
        let places = [
            ("turn", format!("{} of {}", self.course.turn(), table.turns())),
            ("frame", format!("{frame} of {}", table.frames())),
            ("checksum", format!("{:016x}", self.course.checksum())),
        ];
        for (name, value) in &places {
            if x + self.stage.ui.pen.width(name, SIZE) + 6.0 + self.stage.ui.pen.width(value, SIZE) > end {
                return;
            }
            x = self.stage.ui.pen.text(name, x, base, SIZE, TEXT_DIM) + 6.0;
            x = self.stage.ui.pen.text(value, x, base, SIZE, TEXT) + 22.0;
        }
    }
}
