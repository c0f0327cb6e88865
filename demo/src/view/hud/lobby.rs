//! Before the first turn: how others join, and who has joined.

use std::net::SocketAddr;

use macroquad::math::Rect;
use testudo_lockstep::PlayerId;

use crate::app::online::codes::Codes;
use crate::app::{Seat, TURNS_MAX};
use crate::game::TEAMS_MAX;
use crate::view::hud::qr::Qr;
use crate::view::paint::palette::{
    BACKDROP, GOOD, LINE, PANEL, PANEL_RAISED, SELECTION, TEXT, TEXT_DIM, WARN, army, faded,
};
use crate::view::paint::pen::{Align, LARGE, SIZE, SMALL};
use crate::view::widgets::card;
use crate::view::widgets::ui::{Ui, numbered};

/// Size of the command for the others.
const HUGE: f32 = 26.0;

/// Number of players with their own line; up to sixteen fit, in two columns.
const ROWS: u8 = 8;
const ROW: f32 = 22.0;

/// Side of the small QR code.
const QR: f32 = 92.0;

/// Width of the button with a player's team.
const TEAM_WIDTH: f32 = 28.0;

/// Names of the buttons next to the players: to copy the command, to remove the player, and to change the team.
const BUTTONS: [[&str; 16]; 3] = [numbered!("copy"), numbered!("remove"), numbered!("team")];

/// What the person wants in the lobby.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    Leave,
    /// The person wants to begin, or asks the others to wait.
    Ready(bool),
    /// The host removes a player.
    Remove(PlayerId),
    /// A player is to be in this team; 0: in none.
    Team {
        player: PlayerId,
        team: u8,
    },
}

/// Draws the lobby over the field.
pub(crate) fn draw(ui: &mut Ui, around: Rect, seat: &Seat, qr: &mut Qr) -> Option<Wish> {
    if qr.draw_large(ui, around) {
        return None;
    }
    let terms = seat.terms();
    let rows = terms.setup.players.min(ROWS);
    let card = frame(ui, around, 244.0 + f32::from(rows) * ROW);
    let x = card.x + 28.0;
    let title = ui.pen.strong("Waiting for players", x, card.y + 42.0, LARGE, TEXT);
    let length =
        if terms.turns == TURNS_MAX { "no turn limit".into() } else { format!("{} turns", terms.turns) };
    let setup = terms.setup;
    let what = format!("{} armies of {} units, seed {}, {length}", setup.players, setup.units, setup.seed);
    // (On a phone it lay over the title.)
    if title + ui.pen.width(&what, SMALL) + 12.0 < card.right() - 28.0 {
        ui.pen.label(&what, Rect::new(x, card.y + 26.0, card.w - 56.0, 22.0), Align::Right, SMALL, TEXT_DIM);
    }
    match seat.codes() {
        Some(codes) => invitation(ui, card, (codes, seat), qr),
        None => {
            let text = "You have a place. The battle begins when all players are here and ready.";
            ui.pen.text(text, x, card.y + 84.0, SIZE, TEXT);
        }
    }
    let asked = players(ui, Rect::new(x, card.y + 174.0, card.w - 56.0, f32::from(rows) * ROW), seat);
    if seat.codes().is_some() {
        let seconds = seat.patience().as_millis() / 1_000;
        let text = format!("gives up in {}:{:02}", seconds / 60, seconds % 60);
        if x + 140.0 + ui.pen.width(&text, SMALL) < card.right() - 196.0 {
            ui.pen.text(&text, x + 140.0, card.y + card.h - 30.0, SMALL, TEXT_DIM);
        }
    }
    if seat.are_all_friends() {
        let text = "All are in one team: teams would not count";
        ui.pen.text(text, x + 270.0, card.y + card.h - 30.0, SMALL, WARN);
    }
    let button = Rect::new(card.x + card.w - 188.0, card.y + card.h - 50.0, 160.0, 32.0);
    let is_ready = seat.session().is_ready(seat.player());
    let word = if is_ready { "Wait for me" } else { "I am ready" };
    if !seat.is_watching() && ui.button("ready", button, word, !is_ready) {
        return Some(Wish::Ready(!is_ready));
    }
    if leave(ui, card) { Some(Wish::Leave) } else { asked }
}

/// Draws the screen while the host is asked for a place; true if the person wants to leave.
pub(crate) fn draw_asking(ui: &mut Ui, around: Rect, host: SocketAddr, seconds: f32) -> bool {
    let card = frame(ui, around, 150.0);
    let dots = ".".repeat(1 + (seconds * 2.0) as usize % 3);
    ui.pen.strong(&format!("Asking {host} for a place{dots}"), card.x + 28.0, card.y + 42.0, LARGE, TEXT);
    let text = "No answer yet. The attempt ends by itself, after half a minute at the latest.";
    ui.pen.text(text, card.x + 28.0, card.y + 72.0, SIZE, TEXT_DIM);
    leave(ui, card)
}

fn frame(ui: &mut Ui, around: Rect, height: f32) -> Rect {
    ui.pen.fill(around, faded(BACKDROP, 0.5));
    let card = card::middle(around, 720.0, height);
    ui.cover(around);
    ui.card("lobby", card, PANEL, (4.0, LINE));
    card
}

fn leave(ui: &mut Ui, card: Rect) -> bool {
    let button = Rect::new(card.x + 28.0, card.y + card.h - 50.0, 120.0, 32.0);
    ui.button("leave", button, "Leave", false)
}

/// What the next player has to type, or to open. A sealed match has a code for each place, and a button next to each; it is too long to be typed.
/// (The large field had the watchers' link, which no player needs.)
fn invitation(ui: &mut Ui, card: Rect, (codes, seat): (&Codes, &Seat), qr: &mut Qr) {
    let x = card.x + 28.0;
    let missing = codes.players.iter().find(|(player, _)| !seat.session().is_here(PlayerId(*player)));
    let link = missing.and_then(|(_, code)| codes.link(code));
    let picture = link.as_ref().map_or(0.0, |_| QR + 12.0);
    let plate = Rect::new(x, card.y + 82.0, card.w - 56.0 - picture, 46.0);
    if let Some(link) = &link {
        qr.draw_small(ui, link, Rect::new(plate.right() + 12.0, card.y + 52.0, QR, QR));
    }
    let plain = codes.players.first().filter(|_| !codes.is_sealed);
    ui.pen.fill(plate, PANEL_RAISED);
    let button = Rect::new(plate.x + plate.w - 86.0, plate.y + 8.0, 78.0, 30.0);
    let line = match plain {
        Some((_, code)) => {
            ui.pen.text("Not sealed. The other players type this:", x, card.y + 72.0, SIZE, TEXT_DIM);
            let line = codes.command(code);
            ui.pen.strong(&line, plate.x + 14.0, plate.y + 32.0, HUGE, SELECTION);
            line
        }
        None => {
            let what = if codes.has_page() { "link" } else { "command" };
            let each = ui.pen.text(&format!("Send each player a {what}."), x, card.y + 72.0, SIZE, TEXT_DIM);
            let (whose, code) = match missing {
                Some((player, code)) => (format!("Player {}'s {what} is ready", player + 1), code),
                None => (format!("A {what} to watch is ready"), &codes.watch),
            };
            ui.pen.text(&whose, plate.x + 14.0, plate.y + 29.0, SIZE, TEXT);
            let small = Rect::new(each + 12.0, card.y + 57.0, 96.0, 20.0);
            if missing.is_some() {
                ui.copy("copy watch", small, "For watchers", &codes.command(&codes.watch));
            }
            codes.command(code)
        }
    };
    ui.copy("copy", button, "Copy", &line);
    let said = if codes.address.ip().is_loopback() {
        help_out(seat.is_relayed(), codes.has_page())
    } else {
        [""; 2]
    };
    let said = ui.pen.fitting(said, SMALL, plate.w).unwrap_or_default();
    ui.pen.text(said, x, card.y + 145.0, SMALL, TEXT_DIM);
}

/// What helps where only this computer can reach the match, and a shorter form. (A page was told to call `testudo host`, which it cannot.)
fn help_out(is_relayed: bool, has_page: bool) -> [&'static str; 2] {
    match (is_relayed, has_page) {
        (true, _) => [
            if has_page {
                "Only this computer can reach this. For others: testudo relay --bind 0.0.0.0:4433, and the page by https"
            } else {
                "Only this computer can reach this relay. For others start it with: testudo relay --bind 0.0.0.0:4433"
            },
            "Only this computer can reach this relay",
        ],
        (false, _) => [
            "Only this computer can reach this address. For others use: testudo host --bind 0.0.0.0:0",
            "Only this computer can reach this address",
        ],
    }
}

/// The players who have joined and those who have not. Returns what the person wants with one of them.
fn players(ui: &mut Ui, rect: Rect, seat: &Seat) -> Option<Wish> {
    let mut asked = None;
    ui.pen.text("team", rect.x, rect.y - 9.0, SMALL, TEXT_DIM);
    let sealed = seat.codes().filter(|codes| codes.is_sealed);
    for player in (0..seat.terms().setup.players).map(PlayerId) {
        let column = f32::from(player.0 / ROWS);
        let (x, y) = (rect.x + column * rect.w / 2.0, rect.y + 14.0 + f32::from(player.0 % ROWS) * ROW);
        let [copy, remove, team] = BUTTONS.map(|names| names[usize::from(player.0)]);
        if let Some(next) = team_of(ui, team, Rect::new(x, y - 15.0, TEAM_WIDTH, 20.0), seat, player) {
            asked = Some(Wish::Team { player, team: next });
        }
        let x = x + TEAM_WIDTH + 8.0;
        let is_host = player == seat.host_player();
        let name = match seat.name(player) {
            Some(name) => name,
            None => format!("Player {}{}", player.0 + 1, if is_host { ", the host" } else { "" }),
        };
        let named = ui.pen.strong(&name, x, y, SIZE, army(player.0));
        let is_own = player == seat.player() && !seat.is_watching();
        let is_here = is_own || seat.session().is_here(player);
        let (text, color) = match (is_here, seat.session().is_ready(player)) {
            (true, true) if is_own => ("you are ready", GOOD),
            (true, false) if is_own => ("you are not ready", WARN),
            (true, true) => ("ready", GOOD),
            (true, false) => ("here, asks to wait", WARN),
            (false, _) => ("not here yet", TEXT_DIM),
        };
        let end = ui.pen.text(text, (x + 112.0).max(named + 12.0), y, SIZE, color);
        let code = sealed.and_then(|codes| codes.players.iter().find(|(place, _)| *place == player.0));
        let Some(((_, code), codes)) = code.zip(sealed) else { continue };
        let button = Rect::new(end + 12.0, y - 15.0, 72.0, 20.0);
        if is_here {
            if seat.may_kick() && ui.button(remove, button, "Remove", false) {
                asked = Some(Wish::Remove(player));
            }
        } else {
            ui.copy(copy, button, "Copy", &codes.command(code));
        }
    }
    asked
}

/// A player's team: a button with its number for who may change it, which leads to the next team and in the end to none. Returns that team.
fn team_of(ui: &mut Ui, name: &'static str, rect: Rect, seat: &Seat, player: PlayerId) -> Option<u8> {
    let team = seat.team_of(player);
    let text = if team == 0 { "\u{2013}".into() } else { team.to_string() };
    if !seat.may_set_team(player) {
        ui.pen.label(&text, rect, Align::Middle, SMALL, TEXT_DIM);
        return None;
    }
    let most = TEAMS_MAX.min(seat.terms().setup.players);
    ui.button(name, rect, &text, team > 0).then_some(if team < most { team + 1 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_plays_through_a_relay_is_not_told_to_host() {
        for has_page in [false, true] {
            let [long, short] = help_out(true, has_page);
            assert!(long.contains("testudo relay --bind") && !long.contains("testudo host"), "{long}");
            assert!(short.len() < long.len());
        }
        assert!(help_out(true, true)[0].contains("https"), "a page needs more than an address");
        assert!(help_out(false, false)[0].contains("testudo host --bind"));
    }
}
