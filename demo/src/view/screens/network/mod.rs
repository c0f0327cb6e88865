//! The window of a match over a real network: this process's client, and what there is to know about the others.

mod frame;

use std::collections::VecDeque;

use macroquad::input::{KeyCode, is_key_pressed, is_quit_requested, prevent_quit};
use macroquad::math::{Vec2, vec2};
use macroquad::time::get_frame_time;
use macroquad::window::next_frame;
use testudo_lockstep::{Duration, PlayerId, SessionPhase, Simulation as _};

use crate::app::interrupt;
use crate::app::{Diagnosis, Kept, MatchError, NetworkMatch, News, Pilot, Remark, Seat};
use crate::view::battle::debug::Layers;
use crate::view::battle::opening::{self, Opened};
use crate::view::battle::shown::Shown;
use crate::view::battle::view::View;
use crate::view::command::controls::{self, Mouse};
use crate::view::command::order_log::OrderLog;
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::command::steering::steer;
use crate::view::command::touch::Touches;
use crate::view::hud::ending;
use crate::view::hud::hearing::Hearing;
use crate::view::hud::qr::Qr;
use crate::view::hud::result::{self, Score};
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::{Camera, place};
use crate::view::paint::pen::Pen;
use crate::view::paint::screen;
use crate::view::screens::layout::Layout;
use crate::view::screens::picture::{PICTURE_MAX, Pictures};
use crate::view::widgets::keys;
use crate::view::widgets::ui::Ui;

/// Time for leaving in good order, seconds; after it the others find out by themselves.
const FAREWELL: f32 = 3.0;

/// Heights of the line about the match and of the panel below it, pixels; the panel is open at first in windows of this size.
const STATUS: f32 = 36.0;
const PANEL_HIGH: f32 = 190.0;
const UNFOLDED_FROM: Vec2 = vec2(800.0, 700.0);

/// Greatest number of notices at a time.
const NOTICES_MAX: usize = 4;

/// Turns from one checksum in the log to the next.
const LOGGED_EVERY: u32 = 5;

/// Frames of the match per second.
const FRAMES_PER_SECOND: u32 = 20;

/// Time from the last blow to the card about the end, seconds.
const LAST_LOOK: f32 = 1.5;

/// Everything that the window shows.
struct NetworkDesk {
    game: NetworkMatch,
    side: Side,
    touches: Touches,
    hearing: Hearing,
    /// Time since the person's match was decided, and they have heard it, seconds.
    decided: Option<f32>,
    /// Kills over time.
    score: Score,
    qr: Qr,
    /// The card about the end has been answered.
    is_ended: bool,
    /// The person wants to see the replay next.
    wants_replay: bool,
    /// None until there is a battle to look at.
    camera: Option<Camera>,
    layout: Layout<1>,
    /// The panel below the line about the match is open.
    is_unfolded: bool,
    ui: Ui,
    pen: Pen,
    batch: Batch,
    layers: Layers,
    log: OrderLog,
    shows_help: bool,
    seconds: f32,
    /// Recent events with their times.
    notices: VecDeque<(String, f32)>,
    /// Turns whose checksum is in the log.
    logged_turns: u32,
    /// An error outside the session.
    error: Option<MatchError>,
    /// The card about a difference has been answered.
    is_answered: bool,
    /// What the log knows of a difference.
    logged: Option<Diagnosis>,
    /// The next turn when the page was hidden; none while somebody sees it.
    hidden_since: Option<u32>,
    /// When the person began to leave.
    leaving: Option<f32>,
    /// Whether the end is in the log.
    is_noted: bool,
}

/// What a person leaves behind.
pub(crate) struct Left {
    pub(crate) game: NetworkMatch,
    pub(crate) log: OrderLog,
    pub(crate) hearing: Hearing,
    /// The replay of the match, if the person wants to see it.
    pub(crate) replay: Option<Kept>,
    /// Where a page is that plays links, if this is a host who knows one.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    pub(crate) page: Option<String>,
    /// What went wrong outside the session.
    pub(crate) error: Option<MatchError>,
    /// The person leaves the program, too.
    pub(crate) quits: bool,
}

/// The states that a seat shows.
fn shown_by<'a>(game: &'a NetworkMatch, seat: &'a Seat) -> Shown<'a> {
    Shown::new(seat.client().game(), game.foresight(), seat.alpha())
}

/// Picture after picture, until the person has left. `tell` hears what happens.
pub(crate) async fn run(
    game: NetworkMatch,
    log: OrderLog,
    hearing: Hearing,
    tell: impl Fn(&NetworkMatch, &News),
) -> Left {
    prevent_quit();
    let (mut desk, mut quits) = (NetworkDesk::new(game, log, hearing), false);
    let mut pictures = Pictures::default();
    while !desk.is_done() {
        let seconds = get_frame_time().min(PICTURE_MAX);
        pictures.begin(&desk.pen, &mut desk.log);
        desk.lay_out();
        desk.ui.begin();
        desk.read(seconds);
        desk.advance(seconds, &tell);
        desk.note_hidden();
        // Nobody sees a hidden page; the match goes on there.
        if desk.hidden_since.is_none() {
            desk.draw();
            pictures.save_on_key(&desk.pen, &mut desk.log);
        }
        let is_told = interrupt::is_asked() && desk.leaving.is_none();
        if keys::wants_to_quit() || is_quit_requested() || is_told {
            quits = true;
            desk.leave();
        }
        next_frame().await;
    }
    desk.note_end();
    let NetworkDesk { mut game, log, mut hearing, wants_replay, error, .. } = desk;
    hearing.start_again();
    let codes = game.seat().and_then(|seat| seat.codes());
    let page = codes.and_then(|codes| codes.page()).map(str::to_owned);
    let replay = if wants_replay { game.take_replay() } else { None };
    Left { game, log, hearing, replay, page, error, quits }
}

/// Whether nobody sees the window. Windows of an operating system are drawn all the time.
fn is_hidden() -> bool {
    #[cfg(target_arch = "wasm32")]
    return crate::app::page::is_hidden();
    #[cfg(not(target_arch = "wasm32"))]
    return false;
}

/// Whether a window of this size has room for the panel beside the battle.
fn begins_unfolded(size: Vec2) -> bool {
    size.cmpge(UNFOLDED_FROM).all()
}

impl NetworkDesk {
    fn new(game: NetworkMatch, log: OrderLog, mut hearing: Hearing) -> Self {
        hearing.start_again();
        Self {
            game,
            side: Side::default(),
            touches: Touches::default(),
            hearing,
            decided: None,
            score: Score::default(),
            qr: Qr::default(),
            is_ended: false,
            wants_replay: false,
            camera: None,
            layout: Layout::new(screen::size()),
            is_unfolded: begins_unfolded(screen::size()),
            ui: Ui::new(),
            pen: Pen::new(),
            batch: Batch::new(),
            layers: Layers::default(),
            log,
            shows_help: false,
            seconds: 0.0,
            notices: VecDeque::new(),
            logged_turns: 0,
            error: None,
            is_answered: false,
            logged: None,
            hidden_since: None,
            leaving: None,
            is_noted: false,
        }
    }

    /// The panel is open, and turns pass: the lobby needs the room.
    fn shows_panel(&self) -> bool {
        self.is_unfolded && self.is_playing()
    }

    fn lay_out(&mut self) {
        let panel = if self.shows_panel() { PANEL_HIGH } else { 0.0 };
        let layout = Layout::above(screen::size(), STATUS + panel);
        let half = self.game.seat().map(|seat| place(seat.client().game().field_half()));
        self.layout = half.map_or(layout, |half| layout.of_field(half));
    }

    // ---- time

    /// Does the due work of the match; stops after an error.
    fn advance(&mut self, seconds: f32, tell: &impl Fn(&NetworkMatch, &News)) {
        self.seconds += seconds;
        if self.error.is_none()
            && let Err(error) = self.game.step()
        {
            self.log.note("error", error.to_string());
            self.error = Some(error);
        }
        while let Some(news) = self.game.poll_news() {
            tell(&self.game, &news);
            self.hear(&news);
        }
        self.game.foresee(Duration::from_micros((seconds * 1e6) as u64));
        let Some(seat) = self.game.seat() else { return };
        let game = seat.client().game();
        let passed = if seat.session().is_paused() || seat.is_over() { 0.0 } else { seconds };
        let shown = Shown::new(game, self.game.foresight(), 0);
        self.side.effects.observe(shown, seat.frame(), passed, seconds);
        let rect = self.layout.views[0];
        let camera =
            *self.camera.get_or_insert_with(|| opening::camera(game, rect, Some(seat.player().0), &[]));
        let (player, view) = (seat.player().0, View { rect, camera });
        self.hearing.listen(&mut self.side, &view, player, seconds, &mut self.log);
        if self.decided.is_none() {
            self.score.note_at(seat.frame(), game);
        }
        if let Some(result) = game.result() {
            if self.decided.is_none() {
                self.score.note(result::kills(game));
                let is_won =
                    u8::try_from(result).is_ok_and(|winner| game.teams().are_friends(winner, player));
                self.hearing.end(is_won, &mut self.log);
                self.log.note("result", u8::try_from(result).ok());
            }
            *self.decided.get_or_insert(0.0) += seconds;
        }
        self.log_progress();
        if self.game.seat().is_some_and(Seat::is_over) {
            self.note_end();
        }
    }

    /// What happens becomes a notice, a line in the log, or both.
    fn hear(&mut self, news: &News) {
        let notice = match news {
            News::Ran { turn, player, order } => {
                self.log.ran(player.0, *turn, order);
                return;
            }
            News::Listening(codes) => {
                self.log.note("listening", codes.address.to_string());
                let all: Vec<&str> = codes.players.iter().map(|(_, code)| code.as_str()).collect();
                self.log.note("codes", all);
                return;
            }
            News::Turn(_) | News::WaitingFor(_) | News::NewCode { .. } => return,
            News::Seated { player, .. } => {
                self.log.note("seated", *player);
                return;
            }
            News::Started => {
                self.log.note("started", true);
                "Everybody is here".into()
            }
            News::Joined(player) => format!("{} has joined", self.called(*player)),
            News::Gone { player, is_taken_over, .. } => {
                self.log.note("gone", player.0);
                let then = if *is_taken_over { ": a bot plays on" } else { "" };
                format!("{} has left{then}", self.called(*player))
            }
            News::Back(player) => {
                self.log.note("back", player.0);
                format!("{} is back", self.called(*player))
            }
            News::Watcher => "Somebody watches".into(),
            News::WatcherGone => "A watcher is gone".into(),
            News::State { percent } => format!("Getting the state: {percent} %"),
            News::Resumes { is_own } => resumes(*is_own).into(),
            News::CameIn { .. } => "The state is here. Catching up".into(),
            News::CaughtUp { .. } => "Caught up".into(),
            News::DiskTrouble(why) => format!("Not kept from here on: {why}"),
            News::Later(why) => format!("Trying again: {why}"),
            News::ComingBack => "The connection is lost. Asking for the place again".into(),
            News::Fingerprint(fingerprint) => {
                self.log.note("fingerprint", fingerprint.to_string());
                format!("Fingerprint of the players' keys: {fingerprint}")
            }
            News::Liars(_) => "Somebody shows different matches to different players".into(),
            News::Remark { remark, .. } => {
                match remark {
                    Remark::Paused { paused, .. } => self.log.note("paused", *paused),
                    _ => self.log.note(remark.name(), remark.player().map(|player| player.0)),
                }
                ending::told(&remark.sentence(|player| self.called(player)))
            }
            News::Differs(turn) => {
                self.log.note("differs", *turn);
                format!("The copies differ from turn {turn} on")
            }
        };
        self.notify(notice);
    }

    fn notify(&mut self, notice: String) {
        if self.notices.len() == NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back((notice, self.seconds));
    }

    /// Whoever comes back to a page that was hidden is told what has happened meanwhile.
    fn note_hidden(&mut self) {
        let turn = self.game.seat().map_or(0, |seat| seat.session().next_turn().0);
        match (is_hidden(), self.hidden_since) {
            (true, None) => {
                self.hidden_since = Some(turn);
                self.log.note("hidden", true);
            }
            (false, Some(since)) => {
                self.hidden_since = None;
                self.log.note("hidden", false);
                self.notices.iter_mut().for_each(|(_, at)| *at = self.seconds);
                self.notify(format!("While you were away, {} turns were played", turn.saturating_sub(since)));
            }
            _ => {}
        }
    }

    /// A player's name, or number.
    fn called(&self, player: PlayerId) -> String {
        let name = self.game.seat().and_then(|seat| seat.name(player));
        name.unwrap_or_else(|| format!("Player {}", player.0 + 1))
    }

    /// Logs agreed checksums from time to time, and findings about a difference.
    fn log_progress(&mut self) {
        let Some(seat) = self.game.seat() else { return };
        let (turns, checksum) = seat.compared();
        if turns >= self.logged_turns + LOGGED_EVERY
            && turns.is_multiple_of(LOGGED_EVERY)
            && let Some(checksum) = checksum
        {
            self.logged_turns = turns;
            self.log.checksum(turns, checksum);
        }
        if let Some(diagnosis) = seat.diagnosis()
            && self.logged.as_ref() != Some(&diagnosis)
        {
            if let Diagnosis::Found { desync, .. } = &diagnosis {
                self.log.desync(desync);
            }
            self.logged = Some(diagnosis);
        }
    }

    /// The last words to the log.
    fn note_end(&mut self) {
        let Some(seat) = self.game.seat().filter(|_| !self.is_noted) else { return };
        self.is_noted = true;
        let (turns, checksum) = seat.compared();
        let agrees = seat.divergent_turn().is_none();
        let failure = seat.failure().map(|error| error.to_string());
        self.log.note("failure", failure);
        let checksum = checksum.map(|checksum| format!("{checksum:016x}"));
        self.log.end(turns, checksum.as_slice(), agrees);
    }

    /// Leaves in good order; the window closes when the others know. Asked again, it closes at once.
    fn leave(&mut self) {
        if self.leaving.is_some() {
            self.leaving = Some(self.seconds - FAREWELL);
            return;
        }
        self.leaving = Some(self.seconds);
        self.log.note("leaving", true);
        self.game.leave();
    }

    fn is_done(&self) -> bool {
        let Some(since) = self.leaving else { return false };
        let is_over = self.game.seat().is_none_or(Seat::is_over) || self.error.is_some();
        is_over || self.seconds - since > FAREWELL
    }

    // ---- mouse and keys

    fn read(&mut self, seconds: f32) {
        if is_key_pressed(KeyCode::F1) {
            self.toggle_help();
        }
        if is_key_pressed(KeyCode::V) {
            self.toggle_prediction();
        }
        if is_key_pressed(KeyCode::Escape) {
            self.shows_help = false;
            self.side.let_go();
        }
        if is_key_pressed(KeyCode::Space) {
            self.toggle_pause();
        }
        self.layers.read_keys();
        self.hearing.read_keys(&mut self.log);
        self.move_camera(seconds);
        self.read_orders(seconds);
    }

    fn move_camera(&mut self, seconds: f32) {
        let (Some(seat), Some(camera)) = (self.game.seat(), &mut self.camera) else { return };
        let (view, mouse) = (self.layout.views[0], self.ui.mouse);
        steer(
            camera,
            mouse,
            Some(view).filter(|view| view.contains(mouse)),
            self.side.drag.is_none(),
            seconds,
        );
        let game = seat.client().game();
        if is_key_pressed(KeyCode::Home) {
            *camera = opening::camera(game, view, Some(seat.player().0), &[]);
        }
    }

    /// What the person tells the units.
    fn read_orders(&mut self, seconds: f32) {
        let (Some(seat), Some(mut camera)) = (self.game.seat(), self.camera) else { return };
        let finger = self.touches.read(&mut camera, self.layout.views[0], seconds);
        let is_free = !self.ui.has_taken_mouse() && !self.shows_help;
        let mouse =
            Mouse { at: self.ui.mouse, left: self.ui.left(), right: self.ui.right(), is_free, finger };
        let is_person = seat.pilot() == Pilot::Person && !seat.is_watching();
        let mut told = Vec::new();
        {
            let sight = self.sight(seat, shown_by(&self.game, seat), camera);
            if is_person {
                told.extend(controls::keys(&mut self.side, &sight, &mut camera, &mut self.log));
            }
            let side = &mut self.side;
            told.extend(controls::mouse(side, &sight, mouse, is_person, &mut camera, &mut self.log));
        }
        let (game, view) = (seat.client().game(), self.layout.views[0]);
        camera.hold(Opened::new(game, view, Some(seat.player().0), &[]).bounds, view);
        self.camera = Some(camera);
        for told in told {
            self.tell(told);
        }
    }

    fn tell(&mut self, told: Told) {
        let (Some(camera), Some(seat)) = (self.camera, self.game.seat()) else { return };
        let (player, own) = (seat.player().0, self.sight(seat, shown_by(&self.game, seat), camera).own());
        let Self { side, log, game, .. } = self;
        let Some(seat) = game.seat_mut() else { return };
        side.tell(player, &own, told, log, |order| Some(seat.order(order).ok()?.0));
    }

    fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.log.note("help", self.shows_help);
    }

    /// Shows the own orders at once, or when they run.
    fn toggle_prediction(&mut self) {
        let predicts = !self.game.predicts();
        self.game.set_prediction(predicts);
        self.log.note("prediction", predicts);
    }

    /// Everybody's battle stands, or goes on, a few turns later.
    fn toggle_pause(&mut self) {
        if let Some(seat) = self.game.seat_mut()
            && seat.session().phase() == SessionPhase::Running
            && let Err(error) = seat.toggle_pause()
        {
            self.log.note("error", error.to_string());
        }
    }

    /// The client as the window shows it.
    fn sight<'a>(&self, seat: &Seat, shown: Shown<'a>, camera: Camera) -> Sight<'a> {
        Sight {
            player: seat.player().0,
            shown,
            view: View { rect: self.layout.views[0], camera },
            map: self.layout.maps[0],
        }
    }
}

/// What is known of the save that the host has given.
fn resumes(is_own: bool) -> &'static str {
    if is_own {
        "The host's save is the one that was kept here"
    } else {
        "No save of this turn was kept here to compare the host's with"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (It covered the battle.)
    #[test]
    fn on_a_phone_the_panel_is_folded_at_first() {
        for (width, height) in [(412.0, 800.0), (800.0, 412.0), (600.0, 1_000.0), (1_024.0, 600.0)] {
            assert!(!begins_unfolded(vec2(width, height)), "{width}x{height}");
        }
        assert!(begins_unfolded(vec2(1_360.0, 860.0)));
    }
}
