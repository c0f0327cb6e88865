//! Draws the battle of a network match, what surrounds it, and what lies over it.

use std::path::PathBuf;

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};
use testudo_lockstep::{Duration, EndReason, PlayerId, SessionPhase};

use crate::app::words::count;
use crate::app::{Diagnosis, Pilot, Seat};
use crate::view::hud::lobby::LobbyAction;
use crate::view::hud::peers::PeerAction;
use crate::view::hud::result::{self, Next};
use crate::view::hud::{commands, ending, hearing, help, lobby, peers};
use crate::view::screens::clients::Clients as _;
use crate::view::screens::layout::Layout;
use crate::view::screens::network::NetworkDesk;
use crate::view::widgets::bar::TopBar;
use crate::view::widgets::card::Card;
use testudo_battle::bots::Level;
use testudo_render::paint::palette::{BAD, GOOD, PANEL, TEXT, WARN, faded};
use testudo_render::paint::pen::{Align, SIZE, SMALL};

/// For how long a notice is shown, seconds, and its height with the gap below it, pixels.
const NOTICE: f32 = 8.0;
const NOTICE_HEIGHT: f32 = 28.0;

/// From this width on there is room for every button of the top bar, pixels.
const WIDE: f32 = 720.0;

/// Over a lower view the lobby covers the strips above and below, too, pixels.
const LOW: f32 = 400.0;

impl NetworkDesk {
    pub(super) fn draw_all(&mut self) {
        let slot = match &self.logged {
            Some(Diagnosis::Found { desync, .. }) => desync.body(),
            _ => None,
        };
        let marks = self.stage.accusing(slot);
        self.board.draw(&mut self.stage, &self.game, marks);
        self.draw_header();
        self.draw_top();
        self.draw_orders();
        if let Some(seat) = self.game.seat().filter(|_| self.shows_panel()) {
            let (panel, known) = (self.board.eye.layout.panel, (&mut self.listed, &self.presence));
            match peers::draw(&mut self.stage.ui, panel, seat, known) {
                Some(PeerAction::Vote(player)) => self.vote(player),
                Some(PeerAction::Remove(player)) => self.remove(player),
                None => {}
            }
        }
        self.board.draw_status(&mut self.stage, &self.game, false);
        self.draw_notices();
        self.draw_bar();
        self.draw_result();
        self.draw_cards();
        let view = self.board.eye.layout.views[0];
        self.stage.end(view, &help::NETWORK, &[("view 1", view), ("map 1", self.board.eye.layout.maps[0])]);
    }

    /// The buttons for the person's units.
    fn draw_orders(&mut self) {
        let view = self.board.eye.layout.views[0];
        if !self.is_playing() || view.h < commands::LOWEST_VIEW {
            return;
        }
        commands::legend(&self.stage.ui.pen, vec2(view.x + 10.0, view.y + 10.0), self.stage.layers);
        self.board.draw_orders(&mut self.stage, &mut self.game);
    }

    /// The person votes a player out, or no longer.
    fn vote(&mut self, player: PlayerId) {
        let Some(seat) = self.game.seat_mut() else { return };
        let out = !seat.votes_out(player);
        match seat.vote_out(player, out) {
            Ok(()) => self.stage.log.note("vote", [player.0, u8::from(out)]),
            Err(why) => self.refuse(ending::told(why)),
        }
    }

    /// The person removes a player for good.
    fn remove(&mut self, player: PlayerId) {
        let Some(seat) = self.game.seat_mut() else { return };
        match seat.kick(player) {
            Ok(()) => self.stage.log.note("removed", player.0),
            Err(why) => self.refuse(ending::told(&why)),
        }
    }

    fn draw_header(&mut self) {
        let is_person = self.game.seat().is_some_and(|seat| seat.pilot() == Pilot::Person);
        if self.board.draw_header(&mut self.stage, &mut self.game, (0, "pilot"))
            && let Some(seat) = self.game.seat_mut()
        {
            seat.set_pilot(if is_person { Pilot::Bot(Level::Normal) } else { Pilot::Person });
            self.board.sides[0].let_go();
            self.stage.log.note("pilot", if is_person { "bot" } else { "person" });
        }
    }

    fn draw_top(&mut self) {
        let mut bar = TopBar::new(&mut self.stage.ui, self.board.eye.layout.top);
        let (mut leaves, mut pauses) = (false, false);
        if self.is_playing() {
            leaves = bar.button(&mut self.stage.ui, "leave", 84.0, "Leave", false);
        }
        if self.is_playing() && !self.game.is_watching() {
            let wants_pause = self.game.seat().is_some_and(Seat::wants_pause);
            let word = if wants_pause { "Continue" } else { "Pause" };
            pauses = bar.button(&mut self.stage.ui, "pause", 84.0, word, wants_pause);
        }
        self.stage.draw_help_button(bar.place(74.0));
        let (sound, has_room) = (bar.place(hearing::BUTTON), self.board.eye.layout.top.w >= WIDE);
        self.stage.draw_sound(sound, has_room.then(|| bar.place(hearing::SLIDER)));
        let about = match self.game.seat() {
            Some(seat) if seat.is_watching() => "watching; only orders travel".into(),
            Some(seat) => {
                let (own, all) = (seat.player().0 + 1, seat.terms().setup.players);
                format!("player {own} of {all}: bring down the enemy's keep")
            }
            None => "a match over the network".into(),
        };
        bar.title(&self.stage.ui.pen, "Testudo", &about, bar.end());
        if pauses {
            self.toggle_pause();
        }
        if leaves {
            self.leave();
        }
    }

    /// Turns pass.
    pub(super) fn is_playing(&self) -> bool {
        self.game.seat().is_some_and(|seat| {
            matches!(seat.session().phase(), SessionPhase::Running | SessionPhase::Ending)
        })
    }

    fn draw_notices(&mut self) {
        let now = self.stage.seconds;
        self.notices.retain(|(_, at)| now - at < NOTICE);
        let (view, pen) = (self.board.eye.layout.views[0], &self.stage.ui.pen);
        // On a small phone the fingerprint of the keys needs several lines.
        let lines = self.notices.iter().flat_map(|(text, _)| pen.lines(text, view.w - 44.0, SMALL));
        for (n, text) in lines.enumerate() {
            let bar = notice_plate(view, n, pen.width(&text, SMALL));
            pen.fill(bar, faded(PANEL, 0.85));
            pen.label(&text, Rect { w: bar.w - 10.0, ..bar }, Align::Right, SMALL, TEXT);
        }
    }

    /// One line about a match that stands.
    fn draw_bar(&mut self) {
        let Some(seat) = self.game.seat() else { return };
        let is_leaving = self.leaving.is_some();
        let (text, color) = match (seat.session().phase(), seat.waiting()) {
            (SessionPhase::Finished, _) => over(seat),
            _ if seat.is_settled() => ("The others have left. The battle was decided before".into(), GOOD),
            _ if is_leaving => ("Leaving: the others are being told".into(), TEXT),
            (SessionPhase::Running, _) if seat.is_cut_off() => {
                ("The connection is broken. It is being made again".into(), BAD)
            }
            _ if let Some(silence) = seat.silence() => (silent(seat.is_relayed(), silence), BAD),
            (SessionPhase::Running, _) if seat.session().is_paused() && seat.is_watching() => {
                ("Paused for everybody".into(), WARN)
            }
            (SessionPhase::Running, _) if seat.session().is_paused() => {
                ("Paused for everybody. Press Space to continue".into(), WARN)
            }
            (SessionPhase::Running, Some((_, players))) => {
                let names: Vec<String> = players.iter().map(|player| seat.shown_as(*player)).collect();
                let plays_on = seat.session().config().is_played_on(EndReason::Dropped);
                (waits(&names, seat.session().drop_in(), plays_on), WARN)
            }
            // The simulation goes on.
            _ if self.is_ended
                && let Some(told) = result_of(seat) =>
            {
                told
            }
            _ => return,
        };
        let bar = Rect { h: 36.0, ..self.board.eye.layout.views[0] };
        self.stage.ui.pen.plate(&text, bar, SIZE, color, PANEL);
    }

    /// The end of the battle, once its last blow has been seen. A rematch needs new codes, so this card does not offer one.
    fn draw_result(&mut self) {
        let Some(seat) = self.game.seat().filter(|_| !self.is_ended && self.leaving.is_none()) else {
            return;
        };
        if !self.board.score.is_last_blow_seen() {
            return;
        }
        let choices = [Some(Next::Leave), Some(Next::Stay), seat.copy().has_replay().then_some(Next::Replay)];
        let view = self.board.eye.layout.views[0];
        match self.board.draw_result(&mut self.stage, &self.game, view, &choices, None) {
            Some(Next::Stay) => self.is_ended = true,
            Some(Next::Replay) => {
                self.wants_replay = true;
                self.leave();
            }
            Some(_) => self.leave(),
            None => {}
        }
    }

    /// Asks whether the person wants to leave the match, and the program. True: they do.
    fn draw_question(&mut self, around: Rect) -> bool {
        let lines = self.game.seat().map(ending::of_leaving).unwrap_or_default();
        let choices = [("stay", "Stay", 110.0), ("leave match", "Leave", 120.0)];
        let card = Card { title: "Leave the match?", color: WARN, lines: &lines, choices: &choices };
        let pressed = card.draw(&mut self.stage.ui, around);
        self.asks &= pressed.is_none();
        let leaves = pressed == Some("leave match");
        self.quits |= leaves;
        leaves
    }

    /// What lies over everything: the lobby, what broke, what differs.
    fn draw_cards(&mut self) {
        let (around, ui) = (self.board.eye.layout.views[0], &mut self.stage.ui);
        // Whoever leaves after the battle is decided breaks nothing.
        let failure = self.game.seat().filter(|seat| !seat.is_settled()).and_then(Seat::failure);
        let (mut leaves, mut action) = (false, None);
        if let Some(error) = self.error.as_ref().or(failure.as_ref()) {
            let save = self.game.seat().and_then(Seat::resumable).map(PathBuf::as_path);
            let (title, lines) = ending::of_error(error, save);
            let choices = [("leave", "Close", 120.0)];
            let card = Card { title, color: BAD, lines: &lines, choices: &choices };
            leaves = card.draw(ui, around).is_some();
        } else if let Some(host) = self.game.asked() {
            leaves = lobby::draw_asking(ui, around, host, self.stage.seconds);
        } else if self.asks {
            leaves = self.draw_question(around);
        } else if let Some(seat) = self.game.seat() {
            let session = seat.session();
            if session.phase() == SessionPhase::Lobby && session.is_joining() {
                leaves = lobby::draw_joining(ui, around, self.state_percent, self.stage.seconds);
            } else if session.phase() == SessionPhase::Lobby {
                let Layout { top, status, .. } = self.board.eye.layout;
                let whole = Rect { y: top.bottom(), h: status.bottom() - top.bottom(), ..around };
                let room = if around.h < LOW { whole } else { around };
                action = lobby::draw(ui, room, seat, &mut self.qr, &self.presence);
            } else if let (Some((title, lines)), false) = (ending::of_copies(seat), self.is_answered) {
                let card = Card {
                    title: &title,
                    color: BAD,
                    lines: &lines,
                    choices: &[("go on", "Continue", 110.0), ("leave match", "Leave", 120.0)],
                };
                match card.draw(ui, around) {
                    Some("go on") => {
                        self.is_answered = true;
                        self.stage.log.note("go on", true);
                    }
                    Some(_) => leaves = true,
                    None => {}
                }
            }
        }
        match (action, self.game.seat_mut()) {
            (Some(LobbyAction::Remove(player)), _) => self.remove(player),
            (Some(LobbyAction::Team { player, team }), Some(seat)) => {
                seat.set_team(player, team);
                self.stage.log.note("team", [player.0, team]);
            }
            (Some(LobbyAction::Ready(is_ready)), Some(seat)) => {
                seat.set_ready(is_ready);
                self.stage.log.note("ready", is_ready);
            }
            _ => {}
        }
        if leaves || action == Some(LobbyAction::Leave) {
            self.leave();
        }
    }
}

/// The plate below a notice of this width, the last one at the lowest place.
fn notice_plate(view: Rect, n: usize, width: f32) -> Rect {
    let width = (width + 24.0).max(200.0);
    let top = view.y + 10.0 + n as f32 * NOTICE_HEIGHT;
    Rect::new(view.right() - 10.0 - width, top, width, 24.0)
}

/// Who has won. None of a seat that has come back, until the state is here.
fn result_of(seat: &Seat) -> Option<(String, Color)> {
    let person = (!seat.is_watching()).then_some(seat.player().0);
    result::told(seat.copy().game(), person, |player| seat.shown_as(PlayerId(player)))
}

/// That nothing comes from the middle of the star: whoever else is waited for may well be there.
fn silent(is_relayed: bool, silence: Duration) -> String {
    let whom = if is_relayed { "relay" } else { "host" };
    format!("Nothing has come from the {whom} for {} s", silence.as_millis() / 1_000)
}

/// For whom the match waits, for how long at most, and what comes then: `plays_on`: a bot.
fn waits(names: &[String], drop_in: Option<Duration>, plays_on: bool) -> String {
    let what = if plays_on { "A bot plays on" } else { "The match goes on without them" };
    let then = match drop_in {
        Some(left) if left > Duration::ZERO => {
            format!(". {what} in {} s", left.as_millis().div_ceil(1_000))
        }
        _ => String::new(),
    };
    format!("Waiting for {}{then}", names.join(", "))
}

/// What a match has come to that was played to its end.
fn over(seat: &Seat) -> (String, Color) {
    let (turns, checksum) = seat.compared();
    let (whose, color) = match seat.divergent_turn() {
        None if seat.is_doubtful() => ("not everybody's", WARN),
        None => ("everybody's", GOOD),
        Some(_) => ("of this copy only", BAD),
    };
    let checksum =
        checksum.map_or_else(|| "not known".into(), |checksum| format!("{checksum:016x}, {whose}"));
    (format!("Over after {}. Final checksum: {checksum}", count(turns, "turn")), color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_counts_down_the_seconds_until_a_bot_plays_on() {
        let names = ["Ada".to_owned(), "Ben".to_owned()];
        let said = |count, ms: Option<u64>| waits(&names[..count], ms.map(Duration::from_millis), true);
        assert_eq!(said(1, Some(6_001)), "Waiting for Ada. A bot plays on in 7 s");
        assert_eq!(said(2, Some(1_000)), "Waiting for Ada, Ben. A bot plays on in 1 s");
        assert_eq!([said(1, Some(0)), said(1, None)], ["Waiting for Ada"; 2]);
        // It was promised in matches without bots, too.
        let said = waits(&names[..1], Some(Duration::from_millis(6_001)), false);
        assert_eq!(said, "Waiting for Ada. The match goes on without them in 7 s");
    }

    #[test]
    fn the_plate_of_a_notice_is_as_long_as_its_words() {
        let view = Rect::new(0.0, 74.0, 1_360.0, 600.0);
        for width in [40.0, 200.0, 420.0, 900.0] {
            let plate = notice_plate(view, 1, width);
            assert!(plate.w >= width + 20.0 && plate.right() < view.right(), "{width}: {plate:?}");
            assert!(!plate.overlaps(&notice_plate(view, 2, width)), "{width}");
        }
    }
}
