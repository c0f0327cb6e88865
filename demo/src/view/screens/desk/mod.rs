//! The main screen: a large view of the own army, the other computer as an inset, the selection, and the speed.

mod finale;
mod frame;
mod layout;
mod menu;
mod online;
mod over;
mod spread;

use macroquad::input::{KeyCode, get_dropped_files, is_key_pressed, mouse_wheel};
use macroquad::math::Vec2;
use macroquad::miniquad::window::order_quit;
use macroquad::window::next_frame;
use testudo_lockstep::Duration;

use crate::app::habits::Progress;
use crate::app::playback::Course;
use crate::app::{MatchError, NetworkMatch, News, Skirmish, SkirmishSpec, read_replay};
use crate::console::errln;
use crate::view::command::side::Side;
use crate::view::command::steering::ARROWS;
use crate::view::hud::menu::Menu;
use crate::view::hud::pace::Pace;
use crate::view::hud::stage::{Screen, Stage, show_picture};
use crate::view::screens::board::Board;
use crate::view::screens::cubes;
use crate::view::screens::eye::Eye;
use crate::view::screens::viewing::{self, Back, Told};
use finale::{Finale, Want};
use layout::layout;
use spread::Alarm;
use testudo_battle::Game;
use testudo_render::battle::scene;
use testudo_render::paint::camera::place;
use testudo_render::paint::screen;

/// Real time that simulating may take per picture.
const BUDGET: Duration = Duration::from_millis(40);

/// Height that a card needs between the bar at the top and the panel, which otherwise stays folded, pixels.
const CARD_ROOM: f32 = 300.0;

/// From here on a network counts as broken.
const BAD_LOSS_PPM: u32 = 100_000;
const BAD_LATENCY: Duration = Duration::from_millis(140);

/// Runs picture by picture. `told` has the verdict so far, because a window may be closed at any time.
pub(crate) async fn run(
    spec: SkirmishSpec,
    page: Option<String>,
    speed_percent: u32,
    stage: Stage,
    tell: impl Fn(&NetworkMatch, &News),
    told: &Told,
) -> Result<bool, MatchError> {
    let mut desk = Desk { page, ..Desk::new(spec, Pace::new(speed_percent), stage)? };
    loop {
        show_picture(&mut desk);
        desk.tell_verdict(told);
        if desk.wants.take_if(|wants| matches!(wants, Want::LookBack)).is_some() {
            desk = desk.look_back().await;
        }
        if let Some(Want::Online(game)) = desk.wants.take_if(|wants| matches!(wants, Want::Online(_))) {
            desk = desk.play_online(*game, &tell, told).await;
        }
        let replay = desk.dropped_replay().or_else(|| desk.wanted_replay());
        if replay.is_some() || matches!(desk.wants, Some(Want::Cubes)) {
            desk = desk.visit(replay).await?;
        }
        next_frame().await;
    }
}

/// Everything that the window shows.
struct Desk {
    spec: SkirmishSpec,
    /// Where a page is that plays links.
    page: Option<String>,
    skirmish: Skirmish,
    board: Board,
    stage: Stage,
    pace: Pace,
    /// What the person has tried so far.
    progress: Progress,
    /// The hint that the log knows to wait.
    hint: Option<usize>,
    /// What the card at the end offers.
    finale: Option<Finale>,
    /// What the person wants to see next.
    wants: Option<Want>,
    /// What the person chooses for the next battle, while the menu is open.
    menu: Option<Menu>,
    /// The log knows that the help or the menu is open.
    is_covered: bool,
    /// All turns have been played, and the log knows.
    is_over: bool,
    alarm: Alarm,
    /// What went wrong, if the match has ended early.
    error: Option<String>,
    /// Why something was refused that the person wanted, and since when the message is shown, seconds.
    refused: Option<(String, f32)>,
    /// All copies were equal in the matches with others that have been played from here.
    has_agreed: bool,
}

impl Screen for Desk {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn lay_out(&mut self) {
        let has_card = self.menu.is_some()
            || self.board.score.is_last_blow_seen()
            || (self.skirmish.desync().is_some() && !self.alarm.is_answered);
        let (game, eye) = (self.skirmish.copy(0).game(), &mut self.board.eye);
        // On a phone that lies on its side, the card of the end would lie over the panel.
        eye.is_unfolded &= !has_card || layout(screen::size(), eye.is_split, true).around().h >= CARD_ROOM;
        let layout = layout(screen::size(), eye.is_split, eye.is_unfolded).of_field(place(game.field_half()));
        let covers = over::covers(&layout);
        eye.lay_out(layout, game, over::only_army(&layout, eye.is_unfolded), &covers);
    }

    fn read(&mut self, seconds: f32) {
        if !is_key_pressed(KeyCode::Escape) && self.reads_code() {
            return;
        }
        self.stage.read_keys();
        if self.stage.shows_help {
            self.menu = None;
        }
        if is_key_pressed(KeyCode::F10) {
            self.toggle_menu();
        }
        if is_key_pressed(KeyCode::Escape) {
            self.stage.shows_help = false;
            if self.menu.is_some() {
                self.toggle_menu();
            }
            self.board.sides.iter_mut().for_each(Side::let_go);
        }
        self.read_time_keys();
        let is_covered = self.stage.shows_help || self.menu.is_some();
        let is_moved = self.board.read(&mut self.stage, &mut self.skirmish, is_covered, seconds);
        if let Some(why) = self.board.take_refusal() {
            self.refuse(&why);
        }
        self.alarm.is_followed &= !is_moved && mouse_wheel().1 == 0.0;
    }

    /// Lets the match run for the time of one picture.
    fn advance(&mut self, real: f32) {
        let micros = (real * 1e6) as u64 * u64::from(self.pace.percent()) / 100;
        let (frame, mut passed) = (self.skirmish.frame(0), 0.0);
        let is_covered = self.stage.shows_help || self.menu.is_some();
        if core::mem::replace(&mut self.is_covered, is_covered) != is_covered {
            self.stage.log.note(if is_covered { "covered" } else { "uncovered" }, frame);
        }
        // After the last blow there is nothing left to simulate.
        let result = if self.error.is_some() || self.board.score.is_last_blow_seen() {
            Ok(())
        } else if core::mem::take(&mut self.pace.wants_step) {
            self.pace.is_paused = true;
            self.skirmish.step_frame()
        } else if self.pace.is_paused || self.is_covered {
            // Otherwise units would be lost while somebody reads the help.
            Ok(())
        } else {
            passed = micros as f32 / 1e6;
            self.skirmish.advance(Duration::from_micros(micros), BUDGET)
        };
        if let Err(error) = result {
            self.error = Some(error.to_string());
        }
        if self.pace.is_paused && self.skirmish.frame(0) != frame {
            passed = 0.05;
        }
        self.skirmish.foresee(Duration::from_micros((passed * 1e6) as u64));
        self.board.see(&mut self.stage, &self.skirmish, passed, real);
        self.look_for_desync();
        self.follow_spread(real);
        self.note_progress();
        if !self.is_over && self.skirmish.is_over() {
            self.is_over = true;
            self.note_end();
        }
    }

    fn draw(&mut self) {
        self.draw_all();
        self.stage.log.camera(&self.board.eye.camera);
    }

    fn close(&mut self) {
        self.note_end();
        order_quit();
    }
}

impl Desk {
    /// # Errors
    /// Settings of the match out of range.
    fn new(spec: SkirmishSpec, pace: Pace, mut stage: Stage) -> Result<Self, MatchError> {
        stage.log.started(&spec.terms.setup, &spec.link);
        let skirmish = Skirmish::new(spec.clone())?;
        if let Some(error) = skirmish.unrecorded() {
            errln!("No replay is written: {error}");
        }
        Ok(Self {
            board: Board::new(Eye::new(layout(screen::size(), false, false)), ARROWS),
            spec,
            page: None,
            skirmish,
            stage,
            pace,
            progress: Progress::remembered(),
            hint: Progress::remembered().next(),
            finale: None,
            wants: None,
            menu: None,
            is_covered: false,
            is_over: false,
            alarm: Alarm::default(),
            error: None,
            refused: None,
            has_agreed: true,
        })
    }

    /// Shows a replay, or the cubes. The person comes back to another battle, with the same settings. What they come to is no verdict on a battle
    /// of this window.
    async fn visit(self, replay: Option<Course>) -> Result<Self, MatchError> {
        let predicting = self.predicting();
        let Self { spec, page, stage, mut pace, progress, hint, skirmish, has_agreed, .. } = self;
        drop(skirmish);
        let mut stage = match replay {
            Some(course) => viewing::visit(course.by_page(page.clone()), stage, Back::New).await.0,
            None => cubes::visit(stage).await?,
        };
        pace.begin_again(&mut stage.log);
        let mut desk = Self::new(spec, pace, stage)?;
        predicting.into_iter().for_each(|player| desk.skirmish.set_prediction(player, true));
        Ok(Self { page, progress, hint, has_agreed, ..desk })
    }

    /// Shows the battle so far. The person comes back to it as it was, or plays on from what was shown.
    async fn look_back(mut self) -> Self {
        let Some(course) = self.so_far() else { return self };
        let (stage, here) = viewing::visit(course, self.stage, Back::Running).await;
        (self.stage, self.pace.is_paused) = (stage, true);
        if here.is_some() {
            self.restart(here);
        }
        self
    }

    /// Whether the copies have been equal throughout.
    fn agrees(&self) -> bool {
        self.skirmish.desync().is_none() && self.error.is_none()
    }

    /// Leaves the verdict so far, because the window may be closed at any time.
    fn tell_verdict(&self, told: &Told) {
        told.set(Some(Ok(self.has_agreed && self.agrees())));
    }

    /// What the person wanted is not possible, and the battle goes on.
    fn refuse(&mut self, why: &impl ToString) {
        let why = why.to_string();
        self.stage.log.note("refused", why.clone());
        self.refused = Some((why, self.stage.seconds));
    }

    /// The last words to the log.
    fn note_end(&mut self) {
        (0..2).for_each(|view| self.board.note_foreseen(&mut self.stage, &self.skirmish, view));
        let (turns, checksums) = self.skirmish.compared();
        let checksums: Vec<String> = checksums.iter().map(|sum| format!("{sum:016x}")).collect();
        self.stage.log.end(turns, &checksums, self.agrees());
    }

    /// Both computers side by side, or one of them large.
    fn set_split(&mut self, is_split: bool) {
        if is_split != self.board.eye.is_split {
            (self.board.eye.is_split, self.board.active) = (is_split, 0);
            self.lay_out();
        }
    }

    fn toggle_split(&mut self) {
        self.set_split(!self.board.eye.is_split);
        self.stage.log.note("split", self.board.eye.is_split);
    }

    /// The players whose views predict.
    fn predicting(&self) -> Vec<u8> {
        (0..2).filter(|player| self.skirmish.predicts(*player)).collect()
    }

    fn look_for_desync(&mut self) {
        if self.skirmish.desync().is_some() && !self.alarm.is_told {
            self.set_split(true);
        }
        if let (Some(desync), false) = (self.skirmish.desync(), self.alarm.is_told) {
            self.alarm.is_told = true;
            self.pace.is_paused = true;
            self.stage.log.desync(desync);
            if let Some(slot) = desync.body()
                && let Some(at) = self.place_of(slot)
            {
                self.show_below_card(at);
            }
        }
    }

    /// Notes which hints have served their purpose.
    fn note_progress(&mut self) {
        let link = self.skirmish.link();
        self.progress.has_chosen |= self.board.sides.iter().any(|side| !side.chosen.is_empty());
        self.progress.has_attacked |= self.board.sides.iter().any(|side| side.has_attacked);
        self.progress.has_broken_network |= link.loss_ppm >= BAD_LOSS_PPM || link.latency >= BAD_LATENCY;
        if self.progress.next() != self.hint {
            self.hint = self.progress.next();
            self.stage.log.note("hint", self.hint.map(|hint| hint + 1));
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
                self.stage.log.note("dropped", "replay");
                Some(course)
            }
            Err(error) => {
                self.refuse(&error);
                None
            }
        }
    }

    fn place_of(&self, slot: u32) -> Option<Vec2> {
        let game = self.skirmish.copy(0).game();
        scene::position(game, game.world().body_in_slot(slot)?, 65_536)
    }

    /// A new match with the same settings and the present network, from its beginning or from `here` on.
    fn restart(&mut self, here: Option<Game>) {
        self.menu = None;
        let predicting = self.predicting();
        let spec = SkirmishSpec { link: self.skirmish.link(), ..self.spec.clone() };
        let what = if here.is_some() { "goes on" } else { "restart" };
        match Skirmish::going_on(spec, here) {
            Ok(skirmish) => self.skirmish = skirmish,
            Err(error) => return self.refuse(&error),
        }
        predicting.into_iter().for_each(|player| self.skirmish.set_prediction(player, true));
        self.board.begin_again(&mut self.stage);
        self.pace.begin_again(&mut self.stage.log);
        (self.alarm, self.error, self.is_over, self.finale) = (Alarm::default(), None, false, None);
        self.stage.log.note(what, self.spec.terms.setup.seed);
    }

    fn read_time_keys(&mut self) {
        if is_key_pressed(KeyCode::Space) {
            self.pace.toggle_pause(&mut self.stage.log);
        }
        self.pace.wants_step |= is_key_pressed(KeyCode::N);
        self.pace.read_keys(&mut self.stage.log);
        if is_key_pressed(KeyCode::V) {
            self.board.toggle_prediction(&mut self.stage, &mut self.skirmish, self.board.active);
        }
        if is_key_pressed(KeyCode::Tab) {
            self.toggle_split();
        }
    }
}
