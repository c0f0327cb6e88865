//! The window of a match over a real network: this process's client, and what there is to know about the others.

mod frame;

use std::collections::VecDeque;

use macroquad::input::{KeyCode, is_key_pressed, is_quit_requested, prevent_quit};
use macroquad::math::{Vec2, vec2};
use macroquad::window::next_frame;
use serde_json::json;
use testudo_lockstep::{Duration, PlayerId, SessionPhase, Simulation as _};

use crate::app::online::codes::Codes;
use crate::app::playback::Course;
use crate::app::words::count;
use crate::app::{Diagnosis, MatchError, NetworkMatch, News, Remark, Seat};
use crate::view::command::side::Side;
use crate::view::command::steering::ARROWS;
use crate::view::hud::ending;
use crate::view::hud::presence::Presence;
use crate::view::hud::qr::Qr;
use crate::view::hud::stage::{Screen, Stage, show_picture};
use crate::view::screens::board::Board;
use crate::view::screens::clients::Clients as _;
use crate::view::screens::eye::Eye;
use crate::view::screens::layout::{Layout, STATUS, Views};
use crate::view::screens::viewing;
use crate::view::widgets::keys;
use testudo_render::paint::camera::place;
use testudo_render::paint::screen;

/// Time for leaving in good order, seconds; after it the others find out by themselves.
const FAREWELL: f32 = 3.0;

/// Height of the panel, pixels; it is open at first in windows of this size.
const PANEL_HIGH: f32 = 190.0;
const UNFOLDED_FROM: Vec2 = vec2(800.0, 700.0);

/// Greatest number of notices at a time.
const NOTICES_MAX: usize = 4;

/// Turns from one checksum in the log to the next.
const LOGGED_EVERY: u32 = 5;

/// Everything that the window shows.
struct NetworkDesk {
    game: NetworkMatch,
    board: Board,
    presence: Presence,
    qr: Qr,
    /// Players in the rows of the panel.
    listed: Vec<PlayerId>,
    /// The card about the end has been answered.
    is_ended: bool,
    /// How much of the state has come that a player who comes back needs, percent.
    state_percent: u8,
    /// The person wants to see the replay next.
    wants_replay: bool,
    stage: Stage,
    /// Recent events with their times.
    notices: VecDeque<(String, f32)>,
    /// Turns whose checksum is in the log.
    logged_turns: u32,
    /// The log knows that the match waits for somebody.
    waits: bool,
    /// An error outside the session.
    error: Option<MatchError>,
    /// The card about a difference has been answered.
    is_answered: bool,
    /// What the log knows of a difference.
    logged: Option<Diagnosis>,
    /// The next turn when the page was hidden; none while somebody sees it.
    hidden_since: Option<u32>,
    /// When the person began to leave, and whether they leave the program, too.
    leaving: Option<f32>,
    quits: bool,
    /// The person is asked whether they want to leave.
    asks: bool,
    /// Whether the end is in the log.
    is_noted: bool,
}

/// What a person leaves behind.
pub(crate) struct Left {
    pub(crate) game: NetworkMatch,
    pub(crate) stage: Stage,
    /// The replay of the match, if the person wants to see it.
    pub(crate) replay: Option<Course>,
    /// What went wrong outside the session.
    pub(crate) error: Option<MatchError>,
    /// The person leaves the program, too.
    pub(crate) quits: bool,
}

/// Picture after picture, until the person has left. `tell` hears what happens.
pub(crate) async fn run(game: NetworkMatch, stage: Stage, tell: impl Fn(&NetworkMatch, &News)) -> Left {
    prevent_quit();
    let mut desk = NetworkDesk::new(game, stage);
    while !desk.is_done() {
        show_picture(&mut desk);
        while let Some(news) = desk.game.poll_news() {
            tell(&desk.game, &news);
            desk.hear(&news);
        }
        next_frame().await;
    }
    desk.note_end();
    let NetworkDesk { mut game, mut stage, wants_replay, error, quits, .. } = desk;
    stage.hearing.start_again();
    let page = game.seat().and_then(Seat::codes).and_then(Codes::page).map(str::to_owned);
    let kept = if wants_replay { game.take_replay() } else { None };
    let (replay, failed) = match kept.map(viewing::course) {
        Some(Err(failed)) => (None, Some(failed)),
        Some(Ok(course)) => (Some(course.by_page(page)), None),
        None => (None, None),
    };
    Left { game, stage, replay, error: error.or(failed), quits }
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

impl Screen for NetworkDesk {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn lay_out(&mut self) {
        let panel = if self.shows_panel() { PANEL_HIGH } else { 0.0 };
        let layout = Layout::new(screen::size(), Views::One, STATUS, panel);
        match self.game.game(0) {
            Some(game) => {
                let layout = layout.of_field(place(game.field_half()));
                // Whoever watches has no army of their own to see first.
                let own = (!self.game.is_watching()).then(|| self.game.player(0));
                self.board.eye.lay_out(layout, game, own, &[]);
            }
            None => self.board.eye.layout = layout,
        }
    }

    fn read(&mut self, seconds: f32) {
        self.stage.read_keys();
        if is_key_pressed(KeyCode::V) && !self.game.is_watching() {
            self.board.toggle_prediction(&mut self.stage, &mut self.game, 0);
        }
        if is_key_pressed(KeyCode::Escape) {
            (self.stage.shows_help, self.asks) = (false, false);
            self.board.sides.iter_mut().for_each(Side::let_go);
        }
        if is_key_pressed(KeyCode::Space) {
            self.toggle_pause();
        }
        // Orders run from the start on.
        let waits = |seat: &Seat| seat.session().phase() == SessionPhase::Lobby;
        let is_covered = self.stage.shows_help || self.game.seat().is_some_and(waits);
        self.board.read(&mut self.stage, &mut self.game, is_covered, seconds);
        if let Some(why) = self.board.take_refusal() {
            self.refuse(why);
        }
    }

    /// Does the due work of the match; stops after an error.
    fn advance(&mut self, seconds: f32) {
        if self.error.is_none()
            && let Err(error) = self.game.step()
        {
            self.stage.log.note("error", error.to_string());
            self.error = Some(error);
        }
        if let Some(seat) = self.game.seat() {
            self.presence.see(|player| seat.session().is_here(player), self.stage.seconds);
        }
        self.game.foresee(Duration::from_micros((seconds * 1e6) as u64));
        let stands = self.game.seat().is_some_and(|seat| seat.session().is_paused() || seat.is_over());
        self.board.see(&mut self.stage, &self.game, if stands { 0.0 } else { seconds }, seconds);
        self.log_progress();
        self.asks &= self.is_playing();
        if self.game.seat().is_some_and(Seat::is_over) {
            self.note_end();
        }
        self.note_hidden();
    }

    fn draw(&mut self) {
        // Nobody sees a hidden page; the match goes on there.
        if self.hidden_since.is_none() {
            self.draw_all();
        }
    }

    fn note_work(&mut self, work: Duration) {
        self.game.note_work(work);
    }

    /// A key may be hit by mistake, so it asks whoever plays. Asked again, it closes at once.
    fn close(&mut self) {
        let is_asked_here = keys::wants_to_quit() || is_quit_requested();
        let is_decided = self.game.game(0).is_some_and(|game| game.result().is_some());
        let is_bound = self.is_playing() && !self.game.is_watching() && !is_decided;
        let plays = is_bound && self.leaving.is_none();
        if asks_first(keys::wants_to_quit() && !is_quit_requested(), plays, self.asks) {
            self.asks = true;
            self.stage.log.note("asks", true);
            return;
        }
        if is_asked_here || self.leaving.is_none() {
            self.quits = true;
            self.leave();
        }
    }
}

/// Whether Ctrl Q, and nothing else, first asks whether the person wants to leave.
fn asks_first(is_by_key: bool, plays: bool, has_asked: bool) -> bool {
    is_by_key && plays && !has_asked
}

impl NetworkDesk {
    fn new(game: NetworkMatch, mut stage: Stage) -> Self {
        stage.hearing.start_again();
        stage.log.note("online", true);
        let mut eye = Eye::new(Layout::new(screen::size(), Views::One, STATUS, 0.0));
        eye.is_unfolded = begins_unfolded(screen::size());
        Self {
            game,
            board: Board::new(eye, ARROWS),
            presence: Presence::default(),
            qr: Qr::default(),
            listed: Vec::new(),
            is_ended: false,
            state_percent: 0,
            wants_replay: false,
            stage,
            notices: VecDeque::new(),
            logged_turns: 0,
            waits: false,
            error: None,
            is_answered: false,
            logged: None,
            hidden_since: None,
            leaving: None,
            quits: false,
            asks: false,
            is_noted: false,
        }
    }

    /// The panel is open, and turns pass: the lobby needs the room.
    fn shows_panel(&self) -> bool {
        self.board.eye.is_unfolded && self.is_playing()
    }

    /// What happens becomes a notice, a line in the log, or both.
    fn hear(&mut self, news: &News) {
        let log = &mut self.stage.log;
        match news {
            News::Ran { turn, player, order } => log.ran(player.0, *turn, order),
            News::Listening(codes) => {
                log.note("listening", codes.address.to_string());
                let all: Vec<&str> = codes.players.iter().map(|(_, code)| code.as_str()).collect();
                log.note("codes", all);
                // With it the window, or the page, comes back after a crash.
                codes.back.iter().for_each(|_| log.note("room", json!(codes)));
            }
            News::NewCode { .. } => {
                let codes = self.game.seat().and_then(Seat::codes);
                codes
                    .filter(|codes| codes.back.is_some())
                    .into_iter()
                    .for_each(|codes| log.note("room", json!(codes)));
            }
            News::Seated { player, .. } => {
                log.note("seated", *player);
                self.board.sides.iter_mut().for_each(|side| side.chosen.forget_gathered());
            }
            News::Started => log.note("started", true),
            News::Gone { player, .. } => log.note("gone", player.0),
            News::Back(player) => log.note("back", player.0),
            News::Fingerprint(fingerprint) => log.note("fingerprint", fingerprint.to_string()),
            News::Remark { remark: Remark::Paused { paused, .. }, .. } => log.note("paused", *paused),
            News::Remark { remark, .. } => log.note(remark.name(), remark.player().map(|player| player.0)),
            // A card says so.
            News::State { percent } => return self.state_percent = *percent,
            News::Differs(turn) => log.note("differs", *turn),
            _ => {}
        }
        // The line over the view says that nothing comes, and for how long.
        let is_told = matches!(news, News::Remark { remark: Remark::Silent { .. }, .. });
        if let Some(sentence) = news.sentence(|player| self.game.called(player.0)).filter(|_| !is_told) {
            self.notify(ending::told(&sentence));
        }
    }

    /// What the person wanted is not possible.
    pub(super) fn refuse(&mut self, why: String) {
        self.stage.log.note("refused", why.clone());
        self.notify(why);
    }

    /// Said again, a notice stands there once.
    pub(super) fn notify(&mut self, notice: String) {
        self.notices.retain(|(said, _)| *said != notice);
        if self.notices.len() == NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back((notice, self.stage.seconds));
    }

    /// Whoever comes back to a page that was hidden is told what has happened meanwhile.
    fn note_hidden(&mut self) {
        let turn = self.game.seat().map_or(0, |seat| seat.session().next_turn().0);
        match (is_hidden(), self.hidden_since) {
            (true, None) => {
                self.hidden_since = Some(turn);
                self.stage.log.note("hidden", true);
            }
            (false, Some(since)) => {
                self.hidden_since = None;
                self.stage.log.note("hidden", false);
                self.notices.iter_mut().for_each(|(_, at)| *at = self.stage.seconds);
                self.notify(format!(
                    "Played while you were away: {}",
                    count(turn.saturating_sub(since), "turn")
                ));
            }
            _ => {}
        }
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
            self.stage.log.checksum(turns, checksum);
        }
        let waits = seat.waiting().is_some();
        if core::mem::replace(&mut self.waits, waits) != waits {
            self.stage.log.note("waits", waits);
        }
        if let Some(diagnosis) = seat.diagnosis()
            && self.logged.as_ref() != Some(&diagnosis)
        {
            if let Diagnosis::Found { desync, .. } = &diagnosis {
                self.stage.log.desync(desync);
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
        self.stage.log.note("failure", failure);
        let checksum = checksum.map(|checksum| format!("{checksum:016x}"));
        self.stage.log.end(turns, checksum.as_slice(), agrees);
    }

    /// Leaves in good order; the window closes when the others know. Asked again, it closes at once.
    fn leave(&mut self) {
        if self.leaving.is_some() {
            self.leaving = Some(self.stage.seconds - FAREWELL);
            return;
        }
        self.leaving = Some(self.stage.seconds);
        self.stage.log.note("leaving", true);
        self.game.leave();
    }

    fn is_done(&self) -> bool {
        let Some(since) = self.leaving else { return false };
        let is_over = self.game.seat().is_none_or(Seat::is_over) || self.error.is_some();
        is_over || self.stage.seconds - since > FAREWELL
    }

    /// Everybody's battle stands, or goes on, a few turns later. A watcher cannot ask for it.
    fn toggle_pause(&mut self) {
        if let Some(seat) = self.game.seat_mut().filter(|seat| !seat.is_watching())
            && seat.session().phase() == SessionPhase::Running
            && let Err(error) = seat.toggle_pause()
        {
            self.refuse(format!("Not possible: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One wrong key beside Ctrl A and Ctrl 1, and a bot played on.
    #[test]
    fn the_key_that_leaves_asks_whoever_plays_once() {
        assert!(asks_first(true, true, false));
        assert!(!asks_first(true, true, true), "pressed again it leaves");
        assert!(!asks_first(false, true, false), "the button of the window, or a signal");
        assert!(!asks_first(true, false, false), "nobody plays on for a watcher");
    }

    #[test]
    fn on_a_phone_the_panel_is_folded_at_first() {
        for (width, height) in [(412.0, 800.0), (800.0, 412.0), (600.0, 1_000.0), (1_024.0, 600.0)] {
            assert!(!begins_unfolded(vec2(width, height)), "{width}x{height}");
        }
        assert!(begins_unfolded(vec2(1_360.0, 860.0)));
    }
}
