//! The window of a match over a real network: this process's client, and what there is to know about the others.

use std::collections::VecDeque;

use macroquad::color::Color;
use macroquad::input::{KeyCode, is_key_pressed, is_quit_requested, prevent_quit};
use macroquad::math::Rect;
use macroquad::shapes::draw_rectangle;
use macroquad::time::get_frame_time;
use macroquad::window::{clear_background, next_frame, screen_height, screen_width};
use testudo_lockstep::{SessionPhase, Simulation as _};

use crate::app::interrupt;
use crate::app::{Diagnosis, MatchError, NetworkMatch, News, Pilot, Seat};
use crate::bots::Level;
use crate::game::Game;
use crate::view::battle::debug::Layers;
use crate::view::battle::scene;
use crate::view::battle::view::View;
use crate::view::command::controls::{self, Mouse};
use crate::view::command::order_log::OrderLog;
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::command::steering::steer;
use crate::view::command::touch::Touches;
use crate::view::hud::header::{self, Header};
use crate::view::hud::hearing::{self, Hearing};
use crate::view::hud::orders::OrderBar;
use crate::view::hud::{commands, ending, help, lobby, peers};
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::{Camera, place};
use crate::view::paint::palette::{BACKDROP, BAD, GOOD, PANEL, TEXT, TEXT_DIM, WARN, faded};
use crate::view::paint::pen::{Align, LARGE, Pen, SIZE, SMALL};
use crate::view::screens::layout::Layout;
use crate::view::screens::picture::{PICTURE_MAX, Pictures};
use crate::view::widgets::card::Card;
use crate::view::widgets::ui::Ui;

/// Time for leaving in good order, seconds; after it the others find out by themselves.
const FAREWELL: f32 = 3.0;

/// For how long a notice is shown, seconds, and how many at a time.
const NOTICE: f32 = 8.0;
const NOTICES_MAX: usize = 4;

/// Height of a notice with the gap below it, pixels.
const NOTICE_HEIGHT: f32 = 28.0;

/// From this width on there is room for every button of the top bar, pixels.
const WIDE: f32 = 720.0;

/// Turns from one checksum in the log to the next.
const LOGGED_EVERY: u32 = 5;

/// Everything that the window shows.
struct NetworkDesk {
    game: NetworkMatch,
    side: Side,
    touches: Touches,
    hearing: Hearing,
    /// The person's match is decided, and they have heard it.
    is_decided: bool,
    /// None until there is a battle to look at.
    camera: Option<Camera>,
    layout: Layout<1>,
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
    /// When the person began to leave.
    leaving: Option<f32>,
    /// Whether the end is in the log.
    is_noted: bool,
}

/// Picture after picture, until the person has left. `tell` hears what happens.
pub(crate) async fn run(
    game: NetworkMatch,
    log: OrderLog,
    tell: impl Fn(&News),
) -> Result<NetworkMatch, MatchError> {
    prevent_quit();
    let mut desk = NetworkDesk::new(game, log);
    let mut pictures = Pictures::default();
    while !desk.is_done() {
        let seconds = get_frame_time().min(PICTURE_MAX);
        desk.layout = Layout::new(screen_width(), screen_height());
        desk.ui.begin();
        desk.read(seconds);
        desk.advance(seconds, &tell);
        clear_background(BACKDROP);
        desk.draw();
        pictures.save_on_key(&desk.pen, &mut desk.log);
        let is_told = interrupt::is_asked() && desk.leaving.is_none();
        if controls::wants_to_quit() || is_quit_requested() || is_told {
            desk.leave();
        }
        next_frame().await;
    }
    desk.note_end();
    desk.error.map_or(Ok(desk.game), Err)
}

impl NetworkDesk {
    fn new(game: NetworkMatch, log: OrderLog) -> Self {
        Self {
            game,
            side: Side::default(),
            touches: Touches::default(),
            hearing: Hearing::open(),
            is_decided: false,
            camera: None,
            layout: Layout::new(screen_width(), screen_height()),
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
            leaving: None,
            is_noted: false,
        }
    }

    // ---- time

    /// Does the due work of the match; stops after an error.
    fn advance(&mut self, seconds: f32, tell: &impl Fn(&News)) {
        self.seconds += seconds;
        if self.error.is_none()
            && let Err(error) = self.game.step()
        {
            self.log.note("error", error.to_string());
            self.error = Some(error);
        }
        while let Some(news) = self.game.seat_mut().and_then(Seat::poll_news) {
            tell(&news);
            self.hear(&news);
        }
        let Some(seat) = self.game.seat() else { return };
        let game = seat.client().game();
        let passed = if seat.session().is_paused() || seat.is_over() { 0.0 } else { seconds };
        self.side.effects.observe(game, seat.frame(), passed, seconds);
        let rect = self.layout.views[0];
        let camera = *self.camera.get_or_insert_with(|| scene::opening(game, rect));
        let (player, view) = (seat.player().0, View { rect, camera });
        self.hearing.listen(&mut self.side, &view, player, seconds, &mut self.log);
        if let (Some(result), false) = (game.result(), self.is_decided) {
            self.is_decided = true;
            self.hearing.end(u8::try_from(result) == Ok(player), &mut self.log);
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
            News::Listening(address) => {
                self.log.note("listening", address.to_string());
                return;
            }
            News::Turn(_) | News::WaitingFor(_) => return,
            News::Seated { player, .. } => {
                self.log.note("seated", *player);
                return;
            }
            News::Started => {
                self.log.note("started", true);
                "Everybody is here".into()
            }
            News::Joined(player) => format!("Player {} has joined", player.0 + 1),
            News::Gone { player, is_taken_over } => {
                self.log.note("gone", player.0);
                let then = if *is_taken_over { ": a bot plays on" } else { "" };
                format!("Player {} has left{then}", player.0 + 1)
            }
            News::Paused { player, paused } => {
                self.log.note("paused", *paused);
                let what = if *paused { "pauses the match" } else { "continues" };
                format!("Player {} {what}", player.0 + 1)
            }
            News::Differs(turn) => {
                self.log.note("differs", *turn);
                format!("The copies differ from turn {turn} on")
            }
        };
        if self.notices.len() == NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back((notice, self.seconds));
    }

    /// Logs agreed checksums from time to time, and findings about a difference.
    fn log_progress(&mut self) {
        let Some(seat) = self.game.seat() else { return };
        let (turns, checksum) = seat.compared();
        if turns >= self.logged_turns + LOGGED_EVERY && turns.is_multiple_of(LOGGED_EVERY) {
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
        self.log.end(turns, &[format!("{checksum:016x}")], agrees);
    }

    /// Leaves in good order; the window closes when the others know. Asked again, it closes at once.
    fn leave(&mut self) {
        if self.leaving.is_some() {
            self.leaving = Some(self.seconds - FAREWELL);
            return;
        }
        self.leaving = Some(self.seconds);
        self.log.note("leaving", true);
        if let Some(seat) = self.game.seat_mut()
            && !seat.is_over()
        {
            seat.leave();
        }
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
            *camera = scene::opening(game, view);
        }
        camera.hold(place(game.field_half()));
    }

    /// What the person tells the units.
    fn read_orders(&mut self, seconds: f32) {
        let (Some(seat), Some(mut camera)) = (self.game.seat(), self.camera) else { return };
        let finger = self.touches.read(&mut camera, self.layout.views[0], seconds);
        let is_free = !self.ui.has_taken_mouse() && !self.shows_help;
        let mouse = Mouse { at: self.ui.mouse, is_free, finger };
        let is_person = seat.pilot() == Pilot::Person;
        let mut told = Vec::new();
        {
            let game = seat.client().game();
            let sight = self.sight(seat, game, camera);
            if is_person {
                told.extend(controls::keys(&mut self.side, &sight, &mut camera, &mut self.log));
            }
            let side = &mut self.side;
            told.extend(controls::mouse(side, &sight, mouse, is_person, &mut camera, &mut self.log));
        }
        self.camera = Some(camera);
        for told in told {
            self.tell(told);
        }
    }

    fn tell(&mut self, told: Told) {
        let (Some(camera), Some(seat)) = (self.camera, self.game.seat()) else { return };
        let (player, own) = (seat.player().0, self.sight(seat, seat.client().game(), camera).own());
        let Self { side, log, game, .. } = self;
        let Some(seat) = game.seat_mut() else { return };
        side.tell(player, &own, told, log, |order| Some(seat.order(order).ok()?.0));
    }

    fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.log.note("help", self.shows_help);
    }

    /// Everybody's battle stands, or goes on, a few turns later.
    fn toggle_pause(&mut self) {
        if let Some(seat) = self.game.seat_mut()
            && seat.session().phase() == SessionPhase::Running
        {
            seat.toggle_pause();
        }
    }

    // ---- pictures

    /// The client as the window shows it. `game` is the seat's.
    fn sight<'a>(&self, seat: &Seat, game: &'a Game, camera: Camera) -> Sight<'a> {
        Sight {
            player: seat.player().0,
            game,
            alpha: seat.alpha(),
            view: View { rect: self.layout.views[0], camera },
            map: self.layout.maps[0],
        }
    }

    fn draw(&mut self) {
        if let (Some(seat), Some(camera)) = (self.game.seat(), self.camera) {
            let game = seat.client().game();
            let slot = match &self.logged {
                Some(Diagnosis::Found { desync, .. }) => desync.body(),
                _ => None,
            };
            let accused = slot.map(|slot| (slot, (self.seconds * 1.2).fract()));
            let sight = self.sight(seat, game, camera);
            sight.draw(&mut self.batch, &self.side, self.layers, self.ui.mouse, accused);
        }
        self.draw_header();
        self.draw_top();
        self.draw_orders();
        if let Some(seat) = self.game.seat() {
            peers::draw(&mut self.batch, &self.pen, &mut self.ui, self.layout.bottom, seat);
            let (view, game) = (self.layout.views[0], seat.client().game());
            header::verdict(&self.pen, view, game, seat.player().0);
        }
        self.draw_notices();
        self.draw_bar();
        self.draw_cards();
        if self.shows_help {
            help::draw(&self.pen, self.layout.views[0], &help::NETWORK);
        }
        self.ui.end();
        let fixed = [("view 1", self.layout.views[0]), ("map 1", self.layout.maps[0])];
        self.log.places(self.ui.places().iter().map(|(name, rect)| (*name, *rect)).chain(fixed));
    }

    /// The buttons for the person's units, and for the layers of debug drawing.
    fn draw_orders(&mut self) {
        let view = self.layout.views[0];
        let (Some(seat), Some(mut camera)) = (self.game.seat(), self.camera) else { return };
        if !self.is_playing() {
            return;
        }
        let top = view.y + 16.0 + NOTICES_MAX as f32 * NOTICE_HEIGHT;
        commands::layers(&self.pen, &mut self.ui, view, top, &mut self.layers);
        if seat.pilot() != Pilot::Person {
            return;
        }
        let sight = Sight {
            player: seat.player().0,
            game: seat.client().game(),
            alpha: seat.alpha(),
            view: View { rect: view, camera },
            map: self.layout.maps[0],
        };
        let mut bar = OrderBar {
            batch: &mut self.batch,
            pen: &self.pen,
            ui: &mut self.ui,
            log: &mut self.log,
            camera: &mut camera,
            now: self.seconds,
        };
        let told = bar.draw(&mut self.side, &sight);
        self.camera = Some(camera);
        if let Some(told) = told {
            self.tell(told);
        }
    }

    fn draw_header(&mut self) {
        let Some(seat) = self.game.seat_mut() else { return };
        let is_person = seat.pilot() == Pilot::Person;
        let player = seat.player().0;
        let header = Header { rect: self.layout.headers[0], player, widget: "pilot", is_person };
        let pressed = header.draw(&self.pen, &mut self.ui, &self.side, seat.client().game());
        if pressed {
            seat.set_pilot(if is_person { Pilot::Bot(Level::Normal) } else { Pilot::Person });
            self.side.let_go();
            self.log.note("pilot", if is_person { "bot" } else { "person" });
        }
    }

    fn draw_top(&mut self) {
        let top = self.layout.top;
        draw_rectangle(top.x, top.y, top.w, top.h, PANEL);
        self.ui.cover(top);
        let mut right = top.x + top.w - 10.0;
        let mut place = |width: f32| {
            right -= width + 6.0;
            Rect::new(right, top.y + 8.0, width, 28.0)
        };
        let (leave, help, pause) = (place(84.0), place(74.0), place(84.0));
        let sound = place(hearing::BUTTON);
        let volume = (top.w >= WIDE).then(|| place(hearing::SLIDER));
        self.hearing.draw(&self.pen, &mut self.ui, sound, volume, &mut self.log);
        let x = self.pen.strong("Testudo", top.x + 16.0, top.y + 29.0, LARGE, TEXT) + 14.0;
        let about = match self.game.seat() {
            Some(seat) => format!(
                "player {} of {}; only orders travel",
                seat.player().0 + 1,
                seat.terms().setup.players
            ),
            None => "a match over the network".into(),
        };
        if x + self.pen.width(&about, SMALL) + 16.0 < volume.unwrap_or(sound).x {
            self.pen.text(&about, x, top.y + 28.0, SMALL, TEXT_DIM);
        }
        if self.is_playing() {
            let is_paused = self.game.seat().is_some_and(|seat| seat.session().is_paused());
            let word = if is_paused { "Continue" } else { "Pause" };
            if self.ui.button(&self.pen, "pause", pause, word, is_paused) {
                self.toggle_pause();
            }
            if self.ui.button(&self.pen, "leave", leave, "Leave", false) {
                self.leave();
            }
        }
        if self.ui.button(&self.pen, "help", help, "F1 help", self.shows_help) {
            self.toggle_help();
        }
    }

    /// Turns pass.
    fn is_playing(&self) -> bool {
        self.game.seat().is_some_and(|seat| {
            matches!(seat.session().phase(), SessionPhase::Running | SessionPhase::Ending)
        })
    }

    fn draw_notices(&mut self) {
        let now = self.seconds;
        self.notices.retain(|(_, at)| now - at < NOTICE);
        let view = self.layout.views[0];
        for (n, (text, _)) in self.notices.iter().enumerate() {
            let bar =
                Rect::new(view.x + view.w - 330.0, view.y + 10.0 + n as f32 * NOTICE_HEIGHT, 320.0, 24.0);
            draw_rectangle(bar.x, bar.y, bar.w, bar.h, faded(PANEL, 0.85));
            self.pen.label(text, Rect { w: bar.w - 10.0, ..bar }, Align::Right, SMALL, TEXT);
        }
    }

    /// One line about a match that stands.
    fn draw_bar(&mut self) {
        let Some(seat) = self.game.seat() else { return };
        let is_leaving = self.leaving.is_some();
        let (text, color) = match (seat.session().phase(), seat.waiting()) {
            (SessionPhase::Finished, _) => over(seat),
            _ if is_leaving => ("Leaving: the others are being told".into(), TEXT),
            (SessionPhase::Running, _) if seat.session().is_paused() => {
                ("Paused for everybody. Press Space to continue".into(), WARN)
            }
            (SessionPhase::Running, Some((_, players))) => {
                let names: Vec<String> =
                    players.iter().map(|player| format!("player {}", player.0 + 1)).collect();
                let whom = names.join(", ");
                (format!("Waiting for {whom}. After 8 s of silence a bot plays on"), WARN)
            }
            _ => return,
        };
        let bar = Rect { h: 36.0, ..self.layout.views[0] };
        draw_rectangle(bar.x, bar.y, bar.w, bar.h, PANEL);
        self.pen.label(&text, bar, Align::Middle, SIZE, color);
    }

    /// What lies over everything: the lobby, what broke, what differs.
    fn draw_cards(&mut self) {
        let (around, pen, ui) = (self.layout.views[0], &self.pen, &mut self.ui);
        let failure = self.game.seat().and_then(Seat::failure);
        let mut leaves = false;
        if let Some(error) = self.error.as_ref().or(failure.as_ref()) {
            let (title, lines) = ending::of_error(error);
            let choices = [("leave", "Close", 120.0)];
            let card = Card { title, color: BAD, lines: &lines, choices: &choices };
            leaves = card.draw(pen, ui, around).is_some();
        } else if let Some(host) = self.game.asked() {
            leaves = lobby::draw_asking(pen, ui, around, host, self.seconds);
        } else if let Some(seat) = self.game.seat() {
            if seat.session().phase() == SessionPhase::Lobby {
                leaves = lobby::draw(pen, ui, around, seat);
            } else if let (Some(diagnosis), false) = (seat.diagnosis(), self.is_answered) {
                let turn = seat.divergent_turn().unwrap_or_default();
                let card = Card {
                    title: &format!("\u{2260}  The copies differ from turn {turn} on"),
                    color: BAD,
                    lines: &ending::of_difference(&diagnosis),
                    choices: &[
                        ("go on", "Continue and watch it spread", 190.0),
                        ("leave match", "Leave", 120.0),
                    ],
                };
                match card.draw(pen, ui, around) {
                    Some("go on") => {
                        self.is_answered = true;
                        self.log.note("go on", true);
                    }
                    Some(_) => leaves = true,
                    None => {}
                }
            }
        }
        if leaves {
            self.leave();
        }
    }
}

/// What a match has come to that was played to its end.
fn over(seat: &Seat) -> (String, Color) {
    let (turns, checksum) = seat.compared();
    let (whose, color) = match seat.divergent_turn() {
        None => ("everybody's", GOOD),
        Some(_) => ("of this copy only", BAD),
    };
    (format!("Over after {turns} turns. Final checksum: {checksum:016x}, {whose}"), color)
}
