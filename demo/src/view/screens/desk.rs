//! The person's place: two clients side by side, what is chosen, what the time does.

use std::cell::Cell;

use macroquad::input::{KeyCode, is_key_pressed};
use macroquad::math::{Rect, Vec2};
use macroquad::shapes::draw_rectangle;
use macroquad::time::get_frame_time;
use macroquad::window::{clear_background, next_frame, screen_height, screen_width};
use testudo_lockstep::Duration;

use crate::app::{MatchError, Pilot, Skirmish, SkirmishSpec};
use crate::game::Game;
use crate::view::battle::debug::Layers;
use crate::view::battle::scene;
use crate::view::battle::view::View;
use crate::view::command::controls::{self, Mouse};
use crate::view::command::order_log::OrderLog;
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::command::steering::steer;
use crate::view::hud::alarm::{self, Answer};
use crate::view::hud::header::{self, Header};
use crate::view::hud::help;
use crate::view::hud::panel::{self, Wish};
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::{Camera, units};
use crate::view::paint::palette::{BACKDROP, BAD, GOOD, PANEL, TEXT, TEXT_DIM};
use crate::view::paint::pen::{Align, LARGE, Pen, SIZE, SMALL};
use crate::view::screens::layout::Layout;
use crate::view::screens::picture::{PICTURE_MAX, PictureCount, save_picture_on_key};
use crate::view::widgets::ui::Ui;

/// Real time that simulating may take per picture.
const BUDGET: Duration = Duration::from_millis(40);

/// Speeds, percent of real time.
pub(crate) const SPEEDS: [u32; 6] = [25, 50, 100, 200, 400, 800];

/// Picture after picture. The verdict so far stands in `told`, because a window may be closed at any time.
pub(crate) async fn run(
    spec: SkirmishSpec,
    speed_percent: u32,
    log: OrderLog,
    told: &Cell<Option<Result<bool, MatchError>>>,
) -> Result<bool, MatchError> {
    let mut desk = Desk::new(spec, speed_percent, log)?;
    let mut pictures = 0;
    let mut count = PictureCount::new();
    loop {
        let seconds = get_frame_time().min(PICTURE_MAX);
        count.note_picture(&mut desk.log);
        desk.layout = Layout::new(screen_width(), screen_height());
        desk.ui.begin();
        desk.read(seconds);
        desk.advance(seconds);
        clear_background(BACKDROP);
        desk.draw();
        told.set(Some(Ok(desk.agrees())));
        save_picture_on_key(&mut desk.log, &mut pictures);
        if controls::wants_to_quit() {
            desk.note_end();
            macroquad::miniquad::window::order_quit();
        }
        next_frame().await;
    }
}

/// Everything that the window shows.
pub(crate) struct Desk {
    spec: SkirmishSpec,
    skirmish: Skirmish,
    sides: [Side; 2],
    camera: Camera,
    pub(crate) layout: Layout<2>,
    pub(crate) ui: Ui,
    pen: Pen,
    batch: Batch,
    layers: Layers,
    pub(crate) log: OrderLog,
    is_paused: bool,
    wants_step: bool,
    /// Place in [`SPEEDS`].
    speed: usize,
    shows_help: bool,
    /// Whose side the keys are for.
    active: u8,
    /// All turns have been played, and the log knows.
    is_over: bool,
    /// The desync has been reported to the log, and the card has been answered.
    alarmed: bool,
    is_answered: bool,
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
            active: 0,
            is_over: false,
            alarmed: false,
            is_answered: false,
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
    fn show_all(&mut self) {
        self.camera = scene::opening(&self.skirmish.client(0).game(), self.layout.views[0]);
    }

    /// A client as the window shows it. `game` is that client's.
    fn sight<'a>(&self, player: u8, game: &'a Game) -> Sight<'a> {
        let rect = self.layout.views[usize::from(player)];
        Sight {
            player,
            game,
            alpha: self.skirmish.alpha(player),
            view: View { rect, camera: self.camera },
            map: self.layout.maps[usize::from(player)],
        }
    }

    /// Reads mouse and keys of one picture; `seconds` is the time since the last one.
    pub(crate) fn read(&mut self, seconds: f32) {
        if is_key_pressed(KeyCode::F1) {
            self.toggle_help();
        }
        if is_key_pressed(KeyCode::Escape) {
            self.shows_help = false;
            self.sides.iter_mut().for_each(Side::let_go);
        }
        self.read_time_keys();
        self.layers.read_keys();
        self.move_camera(seconds);
        let (at, is_dragging) = (self.ui.mouse, self.is_dragging());
        if let (Some(side), false) = (self.side_under(at), is_dragging) {
            self.active = side;
        }
        for player in 0..2 {
            self.read_side(player);
        }
    }

    /// What the person tells the units of one side.
    fn read_side(&mut self, player: u8) {
        let mouse = Mouse { at: self.ui.mouse, is_free: !self.ui.has_taken_mouse() && !self.shows_help };
        let is_person = self.skirmish.pilot(player) == Pilot::Person;
        let (has_keys, others_box) = (self.active == player, self.is_dragging());
        let mut told = Vec::new();
        {
            let game = self.skirmish.client(player).game();
            let sight = self.sight(player, &game);
            let side = &mut self.sides[usize::from(player)];
            if has_keys && is_person {
                told.extend(controls::keys(side, &sight, &mut self.log));
            }
            if !others_box || side.drag.is_some() {
                let camera = &mut self.camera;
                told.extend(controls::mouse(side, &sight, mouse, is_person, camera, &mut self.log));
            }
        }
        for told in told {
            self.tell(player, told);
        }
    }

    fn tell(&mut self, player: u8, told: Told) {
        let own = self.sight(player, &self.skirmish.client(player).game()).own();
        let Self { skirmish, sides, log, .. } = self;
        sides[usize::from(player)].tell(player, &own, told, log, |order| {
            skirmish.order(player, order).ok()?;
            Some(skirmish.session(player).next_turn().0)
        });
    }

    fn read_time_keys(&mut self) {
        if is_key_pressed(KeyCode::Space) {
            self.toggle_pause();
        }
        if is_key_pressed(KeyCode::N) {
            self.wants_step = true;
        }
        if is_key_pressed(KeyCode::Equal) || is_key_pressed(KeyCode::KpAdd) {
            self.change_speed(1);
        }
        if is_key_pressed(KeyCode::Minus) || is_key_pressed(KeyCode::KpSubtract) {
            self.change_speed(-1);
        }
    }

    fn move_camera(&mut self, seconds: f32) {
        let mouse = self.ui.mouse;
        let under = self.side_under(mouse).map(|side| self.layout.views[usize::from(side)]);
        let may_push_edges = !self.is_dragging();
        steer(&mut self.camera, mouse, under, may_push_edges, seconds);
        if is_key_pressed(KeyCode::Home) {
            self.show_all();
        }
        let half = units(self.skirmish.client(0).game().field_half());
        self.camera.hold(half);
    }

    /// In whose view a point of the screen is.
    fn side_under(&self, at: Vec2) -> Option<u8> {
        (0..2).find(|side| self.layout.views[usize::from(*side)].contains(at))
    }

    /// A box is being drawn.
    fn is_dragging(&self) -> bool {
        self.sides.iter().any(|side| side.drag.is_some())
    }

    /// Draws one picture and asks its widgets.
    pub(crate) fn draw(&mut self) {
        let slot = self.skirmish.desync().and_then(|desync| desync.body());
        let accused = slot.map(|slot| (slot, (self.seconds * 1.2).fract()));
        for player in 0..2_u8 {
            let game = self.skirmish.client(player).game();
            let sight = self.sight(player, &game);
            let side = &self.sides[usize::from(player)];
            sight.draw(&mut self.batch, side, self.layers, self.ui.mouse, accused);
        }
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
        for (player, view) in (0..2_u8).zip(self.layout.views) {
            header::verdict(&self.pen, view, &self.skirmish.client(player).game(), player);
        }
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

    fn draw_headers(&mut self) {
        for (player, widget) in (0..2_u8).zip(["pilot 1", "pilot 2"]) {
            let is_person = self.skirmish.pilot(player) == Pilot::Person;
            let rect = self.layout.headers[usize::from(player)];
            let header = Header { rect, player, widget, is_person };
            let side = &self.sides[usize::from(player)];
            let pressed = header.draw(&self.pen, &mut self.ui, side, &self.skirmish.client(player).game());
            if pressed {
                let other = if is_person { Pilot::Bot } else { Pilot::Person };
                self.skirmish.set_pilot(player, other);
                self.log.note("pilot", i32::from(player));
            }
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

    fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.log.note("help", self.shows_help);
    }

    fn toggle_pause(&mut self) {
        self.is_paused = !self.is_paused;
        self.log.note("paused", self.is_paused);
    }

    fn change_speed(&mut self, steps: i32) {
        let wanted = self.speed as i32 + steps;
        self.speed = wanted.clamp(0, SPEEDS.len() as i32 - 1) as usize;
        self.log.note("speed_percent", SPEEDS[self.speed]);
    }
}
