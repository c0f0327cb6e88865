//! The person's place: two clients side by side, what is chosen, what the time does.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2};
use macroquad::shapes::draw_rectangle;
use macroquad::window::{screen_height, screen_width};
use testudo_lockstep::Duration;
use testudo_lockstep::Simulation as _;

use crate::app::{MatchError, Pilot, Skirmish, SkirmishSpec};
use crate::game::{Command, Place};
use crate::view::alarm::{self, Answer};
use crate::view::batch::Batch;
use crate::view::camera::{Camera, raw};
use crate::view::debug::Layers;
use crate::view::effects::Effects;
use crate::view::help;
use crate::view::layout::Layout;
use crate::view::minimap;
use crate::view::order_log::OrderLog;
use crate::view::palette::{BAD, GOOD, PANEL, PANEL_RAISED, SELECTION, TEXT, TEXT_DIM, army, faded};
use crate::view::panel::{self, Wish};
use crate::view::pen::{Align, LARGE, Pen, SIZE, SMALL};
use crate::view::scene::{self, Extras, View};
use crate::view::selection::{Chosen, Own};
use crate::view::ui::Ui;
use crate::view::viewport;

/// Real time that simulating may take per picture.
const BUDGET: Duration = Duration::from_millis(40);

/// Speeds, percent of real time.
pub(crate) const SPEEDS: [u32; 6] = [25, 50, 100, 200, 400, 800];

/// What the next left click means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aim {
    Attack,
    Patrol,
}

/// One player's side.
#[derive(Default)]
pub(crate) struct Side {
    pub(crate) chosen: Chosen,
    pub(crate) effects: Effects,
}

/// Everything that the window shows.
pub(crate) struct Desk {
    spec: SkirmishSpec,
    pub(crate) skirmish: Skirmish,
    pub(crate) sides: [Side; 2],
    pub(crate) camera: Camera,
    pub(crate) layout: Layout,
    pub(crate) ui: Ui,
    pen: Pen,
    batch: Batch,
    pub(crate) layers: Layers,
    pub(crate) log: OrderLog,
    pub(crate) is_paused: bool,
    pub(crate) wants_step: bool,
    /// Place in [`SPEEDS`].
    pub(crate) speed: usize,
    pub(crate) shows_help: bool,
    pub(crate) aim: Option<Aim>,
    /// The corner where a box began, and on whose side.
    pub(crate) drag: Option<(u8, Vec2)>,
    /// Whose side the keys are for.
    pub(crate) active: u8,
    /// All turns have been played, and the log knows.
    is_over: bool,
    /// The desync has been reported to the log, and the card has been answered.
    alarmed: bool,
    is_answered: bool,
    /// The person has given an order: the hint has done its work.
    pub(crate) has_ordered: bool,
    /// What went wrong, if the match has ended early.
    error: Option<String>,
    seconds: f32,
}

impl Desk {
    /// # Errors
    /// Settings of the match out of range.
    pub(crate) fn new(spec: SkirmishSpec, speed_percent: u32, log: OrderLog) -> Result<Self, MatchError> {
        let skirmish = Skirmish::new(spec.clone())?;
        if let Some(error) = skirmish.unrecorded() {
            eprintln!("No replay is written: {error}");
        }
        let layout = Layout::new(screen_width(), screen_height());
        let camera = scene::opening(&skirmish.client(0).game(), layout.views[0]);
        Ok(Self {
            camera,
            spec,
            skirmish,
            sides: [Side::default(), Side::default()],
            layout,
            ui: Ui::new(),
            pen: Pen::new(),
            batch: Batch::new(),
            layers: Layers::default(),
            log,
            is_paused: false,
            wants_step: false,
            speed: SPEEDS.iter().position(|speed| *speed >= speed_percent).unwrap_or(SPEEDS.len() - 1),
            shows_help: false,
            aim: None,
            drag: None,
            active: 0,
            is_over: false,
            alarmed: false,
            is_answered: false,
            has_ordered: false,
            error: None,
            seconds: 0.0,
        })
    }

    /// Whether the copies have been equal all the time.
    pub(crate) fn agrees(&self) -> bool {
        self.skirmish.desync().is_none() && self.error.is_none()
    }

    /// The last words to the log.
    pub(crate) fn note_end(&mut self) {
        let (turns, checksums) = self.skirmish.compared();
        let checksums: Vec<String> = checksums.iter().map(|sum| format!("{sum:016x}")).collect();
        self.log.end(turns, &checksums, self.agrees());
    }

    /// Lets the match run for the time of one picture.
    pub(crate) fn advance(&mut self, real: f32) {
        self.seconds += real;
        let micros = (real * 1e6) as u64 * u64::from(SPEEDS[self.speed]) / 100;
        let (frame, mut passed) = (self.skirmish.frame(0), 0.0);
        let result = if self.error.is_some() {
            Ok(())
        } else if core::mem::take(&mut self.wants_step) {
            self.is_paused = true;
            self.skirmish.step_frame()
        } else if self.is_paused {
            Ok(())
        } else {
            passed = micros as f32 / 1e6;
            self.skirmish.advance(Duration::from_micros(micros), BUDGET)
        };
        if let Err(error) = result {
            self.error = Some(error.to_string());
        }
        if self.is_paused && self.skirmish.frame(0) != frame {
            passed = 0.05;
        }
        for (player, side) in self.sides.iter_mut().enumerate() {
            let game = self.skirmish.client(player as u8).game();
            side.effects.observe(&game, self.skirmish.frame(player as u8), passed, real);
        }
        self.look_for_desync();
        if !self.is_over && self.skirmish.is_over() {
            self.is_over = true;
            self.note_end();
        }
    }

    fn look_for_desync(&mut self) {
        if let (Some(desync), false) = (self.skirmish.desync(), self.alarmed) {
            self.alarmed = true;
            self.is_paused = true;
            self.log.desync(desync);
            if let Some(slot) = desync.body()
                && let Some(at) = self.place_of(slot)
            {
                self.camera.scale = self.camera.scale.max(20.0);
                // Below the card.
                let low = 0.25 * self.layout.views[0].h / self.camera.scale;
                self.camera.centre = at - Vec2::new(0.0, low);
            }
        }
    }

    fn place_of(&self, slot: u32) -> Option<Vec2> {
        let game = self.skirmish.client(0).game();
        scene::position(&game, game.world().body_in_slot(slot)?, 65_536)
    }

    /// A new match with the same settings and the present network.
    fn restart(&mut self) {
        self.spec.link = self.skirmish.link();
        match Skirmish::new(self.spec.clone()) {
            Ok(skirmish) => self.skirmish = skirmish,
            Err(error) => self.error = Some(error.to_string()),
        }
        self.sides = [Side::default(), Side::default()];
        (self.alarmed, self.is_answered, self.is_paused, self.error) = (false, false, false, None);
        self.is_over = false;
        self.show_all();
        self.log.note("restart", true);
    }

    /// All armies in the picture, as at the start.
    pub(crate) fn show_all(&mut self) {
        self.camera = scene::opening(&self.skirmish.client(0).game(), self.layout.views[0]);
    }

    pub(crate) fn view(&self, side: u8) -> View {
        View { rect: self.layout.views[usize::from(side)], camera: self.camera }
    }

    /// The player's living units.
    pub(crate) fn own(&self, player: u8) -> Vec<Own> {
        let game = self.skirmish.client(player).game();
        let looks = game.unit_looks().filter(|look| look.army == player);
        let own = looks.filter_map(|look| {
            let position = game.world().body(look.body)?.position();
            let place = crate::game::Point::from_vec2(position);
            Some(Own { index: look.index, place, groups: look.groups })
        });
        own.collect()
    }

    /// Tells the chosen units of a player a command; shows at once where it leads.
    pub(crate) fn command(&mut self, player: u8, command: Command, at: Option<Vec2>) {
        let own = self.own(player);
        let side = &mut self.sides[usize::from(player)];
        side.chosen.keep(&own);
        let mut is_given = false;
        for order in side.chosen.orders(&own, command) {
            if self.skirmish.order(player, &order).is_ok() {
                is_given = true;
                let turn = self.skirmish.session(player).next_turn().0;
                self.log.order(player, turn, &order, side.chosen.len());
            }
        }
        if let (Some(at), true) = (at, is_given) {
            side.effects.mark(at, player, matches!(command, Command::Attack(_) | Command::Strike(_)));
            self.has_ordered = true;
        }
    }

    /// The place of an order.
    pub(crate) fn order_place(at: Vec2) -> Place {
        Place::near(raw(at))
    }

    /// Draws one picture and asks its widgets.
    pub(crate) fn draw(&mut self) {
        let games = [self.skirmish.client(0).game(), self.skirmish.client(1).game()];
        let slot = self.skirmish.desync().and_then(|desync| desync.body());
        let pulse = (self.seconds * 1.2).fract();
        for (player, game) in games.iter().enumerate() {
            let (view, side) =
                (View { rect: self.layout.views[player], camera: self.camera }, &self.sides[player]);
            viewport::enter(view.rect);
            let extras = Extras {
                alpha: self.skirmish.alpha(player as u8),
                player: player as u8,
                chosen: &side.chosen,
                effects: &side.effects,
                accused: slot.map(|slot| (slot, pulse)),
            };
            scene::draw(&mut self.batch, game, &view, &extras);
            self.layers.draw(&mut self.batch, game, &view);
            if let Some((owner, from)) = self.drag
                && usize::from(owner) == player
            {
                let (from, to) = (view.at(from), self.ui.mouse);
                let (low, high) = (from.min(to), from.max(to));
                let rect = Rect::new(low.x, low.y, high.x - low.x, high.y - low.y);
                self.batch.block(rect, faded(SELECTION, 0.12));
                self.batch.frame(rect, 1.5, SELECTION);
            }
            let seen = self.camera.seen(view.rect);
            minimap::draw(&mut self.batch, game, self.layout.maps[player], seen);
            self.batch.draw();
            viewport::leave();
        }
        drop(games);
        self.draw_frame();
    }

    /// Everything around the views, and what lies over them.
    fn draw_frame(&mut self) {
        self.draw_headers();
        self.draw_top();
        let wish = panel::draw(&mut self.batch, &self.pen, &mut self.ui, self.layout.bottom, &self.skirmish);
        match wish {
            Some(Wish::Network(link)) => {
                self.skirmish.set_link(link);
                self.log.network(&link);
            }
            Some(Wish::Corrupt) => {
                self.skirmish.corrupt_one_bit();
                self.is_paused = false;
                self.log.note("corrupt", true);
            }
            None => {}
        }
        let views = self.layout.views;
        let around = Rect { w: views[1].x + views[1].w - views[0].x, ..views[0] };
        if let (Some(desync), false) = (self.skirmish.desync(), self.is_answered) {
            match alarm::draw(&self.pen, &mut self.ui, around, desync) {
                Some(Answer::GoOn) => (self.is_answered, self.is_paused) = (true, false),
                Some(Answer::Restart) => self.restart(),
                None => {}
            }
        }
        self.draw_verdicts();
        if self.is_over {
            let bar = Rect { h: 36.0, ..around };
            let (turns, sums) = self.skirmish.compared();
            let sums: Vec<String> = sums.iter().map(|sum| format!("{sum:016x}")).collect();
            let text = format!("Over after {turns} turns. Final checksums: {}", sums.join(", "));
            draw_rectangle(bar.x, bar.y, bar.w, bar.h, PANEL);
            self.pen.label(&text, bar, Align::Middle, SIZE, if self.agrees() { GOOD } else { BAD });
        }
        if let Some(error) = &self.error {
            let bar = Rect { h: 36.0, ..around };
            draw_rectangle(bar.x, bar.y, bar.w, bar.h, PANEL);
            self.pen.label(error, bar, Align::Middle, SIZE, BAD);
        }
        if self.shows_help {
            help::draw(&self.pen, around, &help::SKIRMISH);
        }
        self.ui.end();
        let layout = self.layout;
        let fixed = [
            ("view 1", layout.views[0]),
            ("view 2", layout.views[1]),
            ("map 1", layout.maps[0]),
            ("map 2", layout.maps[1]),
        ];
        self.log.places(self.ui.places().iter().map(|(name, rect)| (*name, *rect)).chain(fixed));
    }

    /// Each client's own word on who has won; the game goes on.
    fn draw_verdicts(&self) {
        for (player, view) in (0..2_u8).zip(self.layout.views) {
            let result = self.skirmish.client(player).game().result();
            let Some(result) = result else { continue };
            let (text, color) = match u8::try_from(result) {
                Ok(winner) if winner == player => ("Victory: their keep has fallen", GOOD),
                Ok(_) => ("Defeat: our keep has fallen", BAD),
                Err(_) => ("Nobody has won: all keeps have fallen", TEXT),
            };
            let bar = Rect::new(view.x + view.w / 2.0 - 190.0, view.y + 64.0, 380.0, 48.0);
            draw_rectangle(bar.x, bar.y, bar.w, bar.h, faded(PANEL, 0.9));
            self.pen.label(text, bar, Align::Middle, LARGE, color);
        }
    }

    fn draw_headers(&mut self) {
        const NAMES: [[&str; 2]; 2] = [["pilot 1", "Player 1"], ["pilot 2", "Player 2"]];
        for player in 0..2_u8 {
            let rect = self.layout.headers[usize::from(player)];
            draw_rectangle(rect.x, rect.y, rect.w, rect.h, PANEL_RAISED);
            draw_rectangle(rect.x, rect.y, 6.0, rect.h, army(player));
            let [widget, name] = NAMES[usize::from(player)];
            let is_person = self.skirmish.pilot(player) == Pilot::Person;
            let base = rect.y + 20.0;
            let x = self.pen.strong(name, rect.x + 16.0, base, SIZE, army(player)) + 12.0;
            let (text, other) =
                if is_person { ("You play", Pilot::Bot) } else { ("A bot plays", Pilot::Person) };
            let button = Rect::new(x, rect.y + 3.0, 92.0, rect.h - 6.0);
            if self.ui.button(&self.pen, widget, button, text, is_person) {
                self.skirmish.set_pilot(player, other);
                self.log.note("pilot", i32::from(player));
            }
            let x = button.x + button.w + 14.0;
            let hint = self.hint(player, is_person);
            self.pen.text(&hint.0, x, base, SMALL, hint.1);
            let game = self.skirmish.client(player).game();
            let (kills, losses) = game.score(player);
            let living = game.middle(player).map_or(0, |(count, _)| count);
            let score = format!("{living} units   {kills} beaten   {losses} lost");
            self.pen.label(&score, Rect { w: rect.w - 10.0, ..rect }, Align::Right, SMALL, TEXT);
        }
    }

    /// What to do next, in a few words.
    fn hint(&self, player: u8, is_person: bool) -> (String, Color) {
        let chosen = self.sides[usize::from(player)].chosen.len();
        if !is_person {
            return ("click to play it yourself".into(), TEXT_DIM);
        }
        match self.aim.filter(|_| self.active == player) {
            Some(Aim::Attack) => return ("click where to attack".into(), SELECTION),
            Some(Aim::Patrol) => return ("click where to patrol".into(), SELECTION),
            None => {}
        }
        match chosen {
            0 if !self.has_ordered => ("drag a box over your units".into(), SELECTION),
            0 => (String::new(), TEXT_DIM),
            _ if !self.has_ordered => (format!("{chosen} chosen: right-click somewhere"), SELECTION),
            _ => (format!("{chosen} chosen"), SELECTION),
        }
    }

    fn draw_top(&mut self) {
        let top = self.layout.top;
        draw_rectangle(top.x, top.y, top.w, top.h, PANEL);
        self.ui.cover(top);
        let x = self.pen.strong("Testudo", top.x + 16.0, top.y + 29.0, LARGE, TEXT) + 14.0;
        let about = "two clients, two copies of one battle, only orders in between";
        if top.w > 1_000.0 {
            self.pen.text(about, x, top.y + 28.0, SMALL, TEXT_DIM);
        }
        let mut right = top.x + top.w - 10.0;
        let mut place = |width: f32| {
            right -= width + 6.0;
            Rect::new(right, top.y + 8.0, width, 28.0)
        };
        let (help, faster) = (place(74.0), place(34.0));
        let (speed, slower, step, pause) = (place(58.0), place(34.0), place(92.0), place(84.0));
        if self.ui.button(&self.pen, "help", help, "F1 help", self.shows_help) {
            self.toggle_help();
        }
        if self.ui.button(&self.pen, "faster", faster, "+", false) {
            self.change_speed(1);
        }
        if self.ui.button(&self.pen, "slower", slower, "\u{2013}", false) {
            self.change_speed(-1);
        }
        self.pen.label(&format!("{}x", SPEEDS[self.speed] as f32 / 100.0), speed, Align::Middle, SIZE, TEXT);
        if self.ui.button(&self.pen, "step", step, "One frame", false) {
            self.wants_step = true;
        }
        let word = if self.is_paused { "Go on" } else { "Pause" };
        if self.ui.button(&self.pen, "pause", pause, word, self.is_paused) {
            self.toggle_pause();
        }
    }

    pub(crate) fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.log.note("help", self.shows_help);
    }

    pub(crate) fn toggle_pause(&mut self) {
        self.is_paused = !self.is_paused;
        self.log.note("paused", self.is_paused);
    }

    pub(crate) fn change_speed(&mut self, steps: i32) {
        let wanted = self.speed as i32 + steps;
        self.speed = wanted.clamp(0, SPEEDS.len() as i32 - 1) as usize;
        self.log.note("speed_percent", SPEEDS[self.speed]);
    }
}
