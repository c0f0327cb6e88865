//! The main screen: a large view of the own army, the other computer as an inset, the selection, and the speed.

mod eye;
mod finale;
mod frame;
mod layout;
mod menu;
mod online;
mod over;
mod prediction;
mod spread;

use std::cell::Cell;
use std::ops::Range;

use macroquad::input::{KeyCode, get_dropped_files, is_key_pressed, is_quit_requested};
use macroquad::math::Vec2;
use macroquad::time::get_frame_time;
use macroquad::window::next_frame;
use testudo_lockstep::Duration;

use crate::app::interrupt;
use crate::app::playback::Course;
use crate::app::{MatchError, NetworkMatch, News, Pilot, Skirmish, SkirmishSpec, read_replay};
use crate::game::Game;
use crate::view::battle::debug::Layers;
use crate::view::battle::opening::Opened;
use crate::view::battle::scene;
use crate::view::battle::shown::Shown;
use crate::view::battle::view::View;
use crate::view::command::controls::{self, Mouse};
use crate::view::command::order_log::OrderLog;
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::command::touch::{Finger, Touches};
use crate::view::hud::hearing::Hearing;
use crate::view::hud::hints::Progress;
use crate::view::hud::menu::Menu;
use crate::view::hud::result::{self, Score};
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::{Camera, place};
use crate::view::paint::pen::Pen;
use crate::view::paint::screen;
use crate::view::screens::cubes;
use crate::view::screens::picture::{PICTURE_MAX, PictureCount, Pictures, SPEEDS};
use crate::view::screens::viewing::{self, Back};
use crate::view::widgets::keys;
use crate::view::widgets::ui::Ui;
use finale::{Finale, Want};
use layout::DeskLayout;
use prediction::shown_by;
use spread::Alarm;

/// Real time that simulating may take per picture.
const BUDGET: Duration = Duration::from_millis(40);

/// Frames of the match per second.
const FRAMES_PER_SECOND: f32 = 20.0;

/// Time for which a decided battle goes on, so that the last blow is visible, seconds.
const LAST_LOOK: f32 = 1.5;

/// From here on a network counts as broken.
const BAD_LOSS_PPM: u32 = 100_000;
const BAD_LATENCY: Duration = Duration::from_millis(140);

/// Runs picture by picture. `told` has the verdict so far, because a window may be closed at any time.
pub(crate) async fn run(
    spec: SkirmishSpec,
    page: Option<String>,
    speed_percent: u32,
    log: OrderLog,
    tell: impl Fn(&NetworkMatch, &News),
    told: &Cell<Option<Result<bool, MatchError>>>,
) -> Result<bool, MatchError> {
    // Whether all copies were equal in matches with others.
    let mut agreed = true;
    let mut desk = Desk { page, ..Desk::new(spec, speed_percent, log, Hearing::open())? };
    let mut pictures = Pictures::default();
    let mut count = PictureCount::new();
    loop {
        let seconds = get_frame_time().min(PICTURE_MAX);
        pictures.begin(&desk.pen, &mut desk.log);
        count.note_picture(&mut desk.log);
        desk.lay_out();
        desk.ui.begin();
        desk.read(seconds);
        desk.advance(seconds);
        desk.draw();
        desk.log.camera(&desk.camera);
        told.set(Some(Ok(agreed && desk.agrees())));
        pictures.save_on_key(&desk.pen, &mut desk.log);
        if desk.wants.take_if(|wants| matches!(wants, Want::LookBack)).is_some() {
            desk = desk.look_back().await;
        }
        if let Some(Want::Online(game)) = desk.wants.take_if(|wants| matches!(wants, Want::Online(_))) {
            let (back, agrees) = desk.play_online(*game, &tell).await;
            (desk, agreed) = (back, agreed && agrees);
        }
        let replay = desk.dropped_replay().or_else(|| desk.wanted_replay());
        if replay.is_some() || matches!(desk.wants, Some(Want::Cubes)) {
            desk = desk.visit(replay, speed_percent, told).await?;
        }
        if keys::wants_to_quit() || is_quit_requested() || interrupt::is_asked() {
            desk.note_end();
            macroquad::miniquad::window::order_quit();
        }
        next_frame().await;
    }
}

/// Everything that the window shows.
pub(crate) struct Desk {
    spec: SkirmishSpec,
    /// Where a page is that plays links.
    page: Option<String>,
    skirmish: Skirmish,
    sides: [Side; 2],
    touches: Touches,
    hearing: Hearing,
    camera: Camera,
    /// What shows all armies, and what the camera may show at most.
    opened: Opened,
    layout: DeskLayout,
    /// Both views are equally large, and the panel is open.
    is_split: bool,
    is_unfolded: bool,
    /// What the person has tried so far.
    progress: Progress,
    /// The hint that the log knows to wait.
    hint: Option<usize>,
    /// Kills over time.
    score: Score,
    /// Time since the battle was decided, seconds; none before.
    decided: Option<f32>,
    /// What the card at the end offers.
    finale: Option<Finale>,
    /// What the person wants to see next.
    wants: Option<Want>,
    pub(crate) ui: Ui,
    pen: Pen,
    batch: Batch,
    layers: Layers,
    pub(crate) log: OrderLog,
    is_paused: bool,
    wants_step: bool,
    /// Index in [`SPEEDS`]: now, and when a battle begins.
    speed: usize,
    first_speed: usize,
    shows_help: bool,
    /// What the person chooses for the next battle, while the menu is open.
    menu: Option<Menu>,
    /// The log knows that the help or the menu is open.
    is_covered: bool,
    /// The side that the keys control.
    active: u8,
    /// All turns have been played, and the log knows.
    is_over: bool,
    alarm: Alarm,
    /// The log knows who has won.
    is_decided_noted: bool,
    /// What went wrong, if the match has ended early.
    error: Option<String>,
    /// Why a dropped file was refused, and since when the message is shown, seconds.
    refused: Option<(String, f32)>,
    seconds: f32,
}

impl Desk {
    /// # Errors
    /// Settings of the match out of range.
    pub(crate) fn new(
        spec: SkirmishSpec,
        speed_percent: u32,
        mut log: OrderLog,
        hearing: Hearing,
    ) -> Result<Self, MatchError> {
        log.started(&spec.terms.setup, &spec.link);
        let skirmish = Skirmish::new(spec.clone())?;
        if let Some(error) = skirmish.unrecorded() {
            eprintln!("No replay is written: {error}");
        }
        let game = skirmish.client(0).game();
        let speed = SPEEDS.iter().position(|speed| *speed >= speed_percent).unwrap_or(SPEEDS.len() - 1);
        let layout = DeskLayout::new(screen::size(), false, false).of_field(place(game.field_half()));
        let opened = Opened::new(game, layout.views[0], Some(0), &over::covers(&layout, false));
        Ok(Self {
            camera: opened.camera,
            opened,
            spec,
            page: None,
            skirmish,
            sides: [Side::default(), Side::default()],
            touches: Touches::default(),
            hearing,
            layout,
            is_split: false,
            is_unfolded: false,
            progress: Progress::remembered(),
            hint: Progress::remembered().next(),
            score: Score::default(),
            decided: None,
            finale: None,
            wants: None,
            ui: Ui::new(),
            pen: Pen::new(),
            batch: Batch::new(),
            layers: Layers::default(),
            log,
            is_paused: false,
            wants_step: false,
            speed,
            first_speed: speed,
            shows_help: false,
            menu: None,
            is_covered: false,
            active: 0,
            is_over: false,
            alarm: Alarm::default(),
            is_decided_noted: false,
            error: None,
            refused: None,
            seconds: 0.0,
        })
    }

    /// Shows a replay, or the cubes. The person comes back to another battle, with the same settings.
    async fn visit(
        self,
        replay: Option<Course>,
        speed_percent: u32,
        told: &Cell<Option<Result<bool, MatchError>>>,
    ) -> Result<Self, MatchError> {
        let predicting = self.predicting();
        let Self { spec, page, log, mut hearing, progress, hint, skirmish, .. } = self;
        let link = skirmish.link();
        drop(skirmish);
        hearing.start_again();
        let (log, hearing) = match replay {
            Some(course) => {
                viewing::visit(course.by_page(page.clone()), log, hearing, told, Back::New).await.0
            }
            None => (cubes::visit(log).await.map_err(|error| MatchError::Cubes(error.to_string()))?, hearing),
        };
        let mut desk = Self::new(SkirmishSpec { link, ..spec }, speed_percent, log, hearing)?;
        predicting.into_iter().for_each(|player| desk.toggle_prediction(player));
        Ok(Self { page, progress, hint, ..desk })
    }

    /// Shows the battle so far. The person comes back to it as it was, or plays on from what was shown.
    async fn look_back(mut self) -> Self {
        let Some(course) = self.so_far() else { return self };
        // (What is not over is not complete, which is no reason for another exit code.)
        let told = Cell::new(None);
        let ((log, hearing), here) =
            viewing::visit(course, self.log, self.hearing, &told, Back::Running).await;
        let mut desk = Self { log, hearing, is_paused: true, ..self };
        if here.is_some() {
            desk.restart(here);
        }
        desk
    }

    /// Whether the copies have been equal throughout.
    pub(crate) fn agrees(&self) -> bool {
        self.skirmish.desync().is_none() && self.error.is_none()
    }

    /// The last words to the log.
    pub(crate) fn note_end(&mut self) {
        (0..2).for_each(|player| self.note_foreseen(player));
        let (turns, checksums) = self.skirmish.compared();
        let checksums: Vec<String> = checksums.iter().map(|sum| format!("{sum:016x}")).collect();
        self.log.end(turns, &checksums, self.agrees());
    }

    /// Both computers side by side, or one of them large.
    fn set_split(&mut self, is_split: bool) {
        if is_split == self.is_split {
            return;
        }
        (self.is_split, self.active) = (is_split, 0);
        self.lay_out();
    }

    /// Lets the match run for the time of one picture.
    pub(crate) fn advance(&mut self, real: f32) {
        self.seconds += real;
        let micros = (real * 1e6) as u64 * u64::from(SPEEDS[self.speed]) / 100;
        let (frame, mut passed) = (self.skirmish.frame(0), 0.0);
        let is_covered = self.shows_help || self.menu.is_some();
        if core::mem::replace(&mut self.is_covered, is_covered) != is_covered {
            self.log.note(if is_covered { "covered" } else { "uncovered" }, frame);
        }
        self.decided = self.skirmish.result().map(|_| self.decided.unwrap_or(0.0) + real);
        // After the last blow there is nothing left to simulate.
        let is_done = self.decided.is_some_and(|seconds| seconds > LAST_LOOK);
        let result = if self.error.is_some() || is_done {
            Ok(())
        } else if core::mem::take(&mut self.wants_step) {
            self.is_paused = true;
            self.skirmish.step_frame()
        } else if self.is_paused || self.is_covered {
            // (Who read the help lost units meanwhile.)
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
        self.see(passed, real);
        let view = View { rect: self.layout.views[0], camera: self.camera };
        self.hearing.listen(&mut self.sides[0], &view, 0, real, &mut self.log);
        self.look_for_desync();
        self.follow_spread(real);
        self.note_score();
        self.note_progress();
        if !self.is_over && self.skirmish.is_over() {
            self.is_over = true;
            self.note_end();
        }
    }

    fn look_for_desync(&mut self) {
        if self.skirmish.desync().is_some() && !self.alarm.is_told {
            self.set_split(true);
        }
        if let (Some(desync), false) = (self.skirmish.desync(), self.alarm.is_told) {
            self.alarm.is_told = true;
            self.is_paused = true;
            self.log.desync(desync);
            if let Some(slot) = desync.body()
                && let Some(at) = self.place_of(slot)
            {
                self.show_below_card(at);
            }
        }
    }

    /// Records kills from time to time, and the winner once.
    fn note_score(&mut self) {
        if self.decided.is_none() {
            self.score.note_at(self.skirmish.frame(0), self.skirmish.client(0).game());
        }
        if let (Some(0.0), Some(winner)) =
            (self.decided.map(|seconds| seconds.min(0.0)), self.skirmish.result())
            && !self.is_decided_noted
        {
            self.is_decided_noted = true;
            self.score.note(result::kills(self.skirmish.client(0).game()));
            self.log.note("result", winner);
            let loses = |player| self.skirmish.pilot(player) == Pilot::Person && winner != Some(player);
            self.hearing.end(!(0..2).any(loses), &mut self.log);
        }
    }

    /// Notes which hints have served their purpose.
    fn note_progress(&mut self) {
        let link = self.skirmish.link();
        self.progress.has_chosen |= self.sides.iter().any(|side| !side.chosen.is_empty());
        self.progress.has_attacked |= self.sides.iter().any(|side| side.has_attacked);
        self.progress.has_broken_network |= link.loss_ppm >= BAD_LOSS_PPM || link.latency >= BAD_LATENCY;
        if self.progress.next() != self.hint {
            self.hint = self.progress.next();
            self.log.note("hint", self.hint.map(|hint| hint + 1));
        }
    }

    /// The replay that was dropped onto the window. Any other file is refused with a message, and the match goes on.
    fn dropped_replay(&mut self) -> Option<Course> {
        let file = get_dropped_files().pop()?;
        let name = file.path.as_ref().and_then(|path| path.file_name());
        let path = name.map_or_else(|| "the file".into(), std::path::PathBuf::from);
        let read = read_replay(&path, file.bytes.unwrap_or_default());
        match read.and_then(|(replay, terms)| Course::new(replay, terms)) {
            Ok(course) => {
                self.note_end();
                self.log.note("dropped", "replay");
                Some(course)
            }
            Err(error) => {
                self.log.note("dropped", error.to_string());
                self.refused = Some((error.to_string(), self.seconds));
                None
            }
        }
    }

    fn place_of(&self, slot: u32) -> Option<Vec2> {
        let game = self.skirmish.client(0).game();
        scene::position(game, game.world().body_in_slot(slot)?, 65_536)
    }

    /// A new match with the same settings and the present network, from its beginning or from `here` on.
    fn restart(&mut self, here: Option<Game>) {
        self.menu = None;
        let predicting = self.predicting();
        self.spec.link = self.skirmish.link();
        let what = if here.is_some() { "goes on" } else { "restart" };
        match Skirmish::going_on(self.spec.clone(), here) {
            Ok(skirmish) => self.skirmish = skirmish,
            Err(error) => self.error = Some(error.to_string()),
        }
        predicting.into_iter().for_each(|player| self.skirmish.set_prediction(player, true));
        self.sides = [Side::default(), Side::default()];
        self.hearing.start_again();
        // (The next battle began at the speed at which the end of the last one was awaited.)
        self.set_speed(self.first_speed);
        (self.alarm, self.is_paused, self.error) = (Alarm::default(), false, None);
        (self.is_over, self.is_decided_noted, self.decided) = (false, false, None);
        (self.score, self.finale) = (Score::default(), None);
        self.show_all();
        self.log.note(what, self.spec.terms.setup.seed);
    }

    /// A client as the window shows it: `shown` is that client's.
    fn sight<'a>(&self, player: u8, shown: Shown<'a>) -> Sight<'a> {
        let rect = self.layout.views[usize::from(player)];
        Sight {
            player,
            shown,
            view: View { rect, camera: self.camera_of(player) },
            map: self.layout.maps[usize::from(player)],
        }
    }

    /// Reads mouse and keys of one picture; `seconds` is the time since the last one.
    pub(crate) fn read(&mut self, seconds: f32) {
        if !is_key_pressed(KeyCode::Escape) && self.reads_code() {
            return;
        }
        if is_key_pressed(KeyCode::F1) {
            self.toggle_help();
        }
        if is_key_pressed(KeyCode::F10) {
            self.toggle_menu();
        }
        if is_key_pressed(KeyCode::Escape) {
            self.shows_help = false;
            if self.menu.is_some() {
                self.toggle_menu();
            }
            self.sides.iter_mut().for_each(Side::let_go);
        }
        self.read_time_keys();
        self.hearing.read_keys(&mut self.log);
        self.layers.read_keys();
        self.move_camera(seconds);
        let (at, is_dragging) = (self.ui.mouse, self.is_dragging());
        if let (Some(side), false) = (self.side_under(at), is_dragging) {
            self.active = side;
        }
        let under = self.layout.views[usize::from(self.side_under(at).unwrap_or(0))];
        let finger = self.touches.read(&mut self.camera, under, seconds);
        for player in self.shown() {
            self.read_side(player, finger);
        }
        // Whoever has moved it: keys, wheel, fingers, the small map, a group.
        self.camera.hold(self.opened.bounds, self.layout.views[0]);
    }

    /// Reads the person's commands for the units of one side.
    fn read_side(&mut self, player: u8, finger: Finger) {
        let is_free = !self.ui.has_taken_mouse() && !self.shows_help && self.menu.is_none();
        let mouse =
            Mouse { at: self.ui.mouse, left: self.ui.left(), right: self.ui.right(), is_free, finger };
        let is_person = self.skirmish.pilot(player) == Pilot::Person;
        let (has_keys, others_box) = (self.commanded() == player, self.is_dragging());
        let mut told = Vec::new();
        {
            let sight = self.sight(player, shown_by(&self.skirmish, player));
            let side = &mut self.sides[usize::from(player)];
            if has_keys && is_person {
                told.extend(controls::keys(side, &sight, &mut self.camera, &mut self.log));
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
        let own = self.sight(player, shown_by(&self.skirmish, player)).own();
        let Self { skirmish, sides, log, .. } = self;
        sides[usize::from(player)].tell(player, &own, told, log, |order| {
            skirmish.order(player, order).ok()?;
            Some(skirmish.session(player).next_turn().0)
        });
    }

    fn read_time_keys(&mut self) {
        /// What each key does.
        const KEYS: [(KeyCode, keys::Act<Desk>); 7] = [
            (KeyCode::Space, Desk::toggle_pause),
            (KeyCode::N, |desk| desk.wants_step = true),
            (KeyCode::V, |desk| desk.toggle_prediction(desk.active)),
            (KeyCode::Equal, |desk| desk.change_speed(1)),
            (KeyCode::KpAdd, |desk| desk.change_speed(1)),
            (KeyCode::Minus, |desk| desk.change_speed(-1)),
            (KeyCode::KpSubtract, |desk| desk.change_speed(-1)),
        ];
        KEYS.iter().filter(|(key, _)| is_key_pressed(*key)).for_each(|(_, act)| act(self));
        if is_key_pressed(KeyCode::Tab) {
            self.set_split(!self.is_split);
            self.log.note("split", self.is_split);
        }
    }

    /// The side whose view, or the strip above it, contains a point of the screen.
    fn side_under(&self, at: Vec2) -> Option<u8> {
        let DeskLayout { headers, views, .. } = &self.layout;
        self.shown().find(|side| [headers, views].iter().any(|of| of[usize::from(*side)].contains(at)))
    }

    /// The sides that have a view of their own.
    fn shown(&self) -> Range<u8> {
        if self.is_split { 0..2 } else { 0..1 }
    }

    /// The side that the keys command: where the mouse was last, unless only the other one has a person.
    fn commanded(&self) -> u8 {
        let is_person = |side: &u8| self.skirmish.pilot(*side) == Pilot::Person;
        Some(self.active).filter(is_person).or_else(|| self.shown().find(is_person)).unwrap_or(self.active)
    }

    /// A box is being drawn.
    fn is_dragging(&self) -> bool {
        self.sides.iter().any(|side| side.drag.is_some())
    }

    fn toggle_help(&mut self) {
        (self.shows_help, self.menu) = (!self.shows_help, None);
        self.log.note("help", self.shows_help);
    }

    fn toggle_pause(&mut self) {
        self.is_paused = !self.is_paused;
        self.log.note("paused", self.is_paused);
    }

    fn change_speed(&mut self, steps: i32) {
        let wanted = self.speed as i32 + steps;
        self.set_speed(wanted.clamp(0, SPEEDS.len() as i32 - 1) as usize);
    }

    fn set_speed(&mut self, speed: usize) {
        self.speed = speed;
        self.log.note("speed_percent", SPEEDS[speed]);
    }
}
