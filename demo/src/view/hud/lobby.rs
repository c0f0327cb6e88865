//! Before the first turn: how others join, and who has joined.

use std::net::SocketAddr;

use macroquad::math::Rect;
use testudo_lockstep::PlayerId;

use crate::app::online::codes::Codes;
use crate::app::words::count;
use crate::app::{Seat, TURNS_MAX};
use crate::view::hud::presence::Presence;
use crate::view::hud::qr::Qr;
use crate::view::widgets::card;
use crate::view::widgets::ui::{Ui, numbered};
use testudo_battle::TEAMS_MAX;
use testudo_render::paint::palette::{
    BACKDROP, GOOD, LINE, PANEL, PANEL_RAISED, SELECTION, TEXT, TEXT_DIM, WARN, army, faded,
};
use testudo_render::paint::pen::{Align, LARGE, SIZE, SMALL};

/// Sizes of the command for the others; it has the first that there is room for.
const COMMAND: [f32; 4] = [26.0, LARGE, SIZE, SMALL];

/// Most players in one column, height of a row, and the width from which on there may be two columns, pixels.
const ROWS: u8 = 8;
const ROW: f32 = 22.0;
const WIDE: f32 = 600.0;

/// Height of what is always there: title, what to do, buttons, the gap above these, and the margins, pixels.
const LEAST: f32 = 30.0 + 26.0 + 32.0 + GAP + 2.0 * MARGIN;
const GAP: f32 = 8.0;
const MARGIN: f32 = 12.0;
const PLATE: f32 = 48.0;

/// Greatest side of the small QR code: two pixels for each of 49 squares.
const QR: f32 = 98.0;

/// Names of the buttons next to the players: to copy the command, to remove the player, and to change the team.
const BUTTONS: [[&str; 16]; 3] = [numbered!("copy"), numbered!("remove"), numbered!("team")];

/// What the person wants in the lobby.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LobbyAction {
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

/// Where everything in the lobby is, one below the other. What there is no room for has no height.
struct Plan {
    card: Rect,
    title: Rect,
    /// What to do, and a small button beside it.
    lead: [Rect; 2],
    /// What the next player needs, on its plate, and the button beside it.
    plate: Rect,
    code: [Rect; 2],
    qr: Rect,
    hint: Rect,
    team: Rect,
    /// Team, name, state and button of each player.
    rows: Vec<[Rect; 4]>,
    /// Leave, words, ready.
    buttons: [Rect; 3],
}

/// A rectangle without the right end of this width, and that end, with a gap in between.
fn cut(rect: Rect, wide: f32) -> [Rect; 2] {
    [Rect { w: rect.w - wide - GAP, ..rect }, Rect { x: rect.right() - wide, w: wide, ..rect }]
}

impl Plan {
    /// For so many players. Whoever has codes may have a `page` for them, which asks for a QR code.
    fn new(around: Rect, players: u8, page: Option<bool>) -> Self {
        let (has_code, most) = (page.is_some(), around.h - 8.0 - LEAST);
        let least = f32::from(players) * ROW + if has_code { PLATE } else { 0.0 };
        let columns = if around.w >= WIDE && (players > ROWS || least > most) { 2 } else { 1 };
        let rows = players.div_ceil(columns);
        let row = (most / f32::from(rows)).min(ROW);
        let mut room = most - f32::from(rows) * row;
        let parts = [(has_code, PLATE), (true, 18.0), (has_code, 24.0), (true, 24.0)];
        let [plate, team, hint, air] = parts.map(|(is_wanted, high)| {
            let high = if is_wanted && high <= room { high } else { 0.0 };
            room -= high;
            high
        });
        let card = card::middle(around, 720.0, around.h - 8.0 - room);
        let side = if card.w < WIDE { MARGIN } else { 2.0 * MARGIN };
        let mut line = Rect::new(card.x + side, card.y + MARGIN, card.w - 2.0 * side, 0.0);
        let heights = [30.0, 26.0, plate, hint, team, f32::from(rows) * row, air + GAP, 32.0];
        let [title, lead, plate, hint, team, list, _, bottom] = heights.map(|high| {
            line = Rect { y: line.bottom(), h: high, ..line };
            line
        });
        let side = (lead.h + plate.h + hint.h).min(QR);
        let (words, qr) = match cut(Rect { h: side, ..lead }, side) {
            [words, qr] if page == Some(true) && plate.h > 0.0 => (words.w, qr),
            _ => (lead.w, Rect::default()),
        };
        let [lead, plate, hint] = [lead, plate, hint].map(|line| Rect { w: words, ..line });
        let code = Rect::new(plate.x + 14.0, plate.y + 9.0, plate.w - 23.0, 30.0);
        let wide = (list.w - f32::from(columns - 1) * 2.0 * GAP) / f32::from(columns);
        let rows = (0..players).map(|player| {
            let [column, n] = [player / rows, player % rows].map(f32::from);
            let y = list.y + n * row + 1.0;
            let (mut left, room) = (list.x + column * (wide + 2.0 * GAP), wide - 100.0 - 3.0 * GAP);
            [28.0, (room * 0.56).min(190.0), (room * 0.44).min(130.0), 72.0].map(|part| {
                left += part + GAP;
                Rect::new(left - part - GAP, y, part, row - 2.0)
            })
        });
        let [rest, ready] = cut(bottom, 150.0);
        let [between, leave] = cut(rest, 110.0);
        Self {
            card,
            title,
            lead: if has_code { cut(lead, 96.0) } else { [lead, Rect::default()] },
            plate,
            code: if plate.h > 0.0 { cut(code, 78.0) } else { Default::default() },
            qr,
            hint,
            team,
            rows: rows.collect(),
            buttons: [Rect { x: rest.x, ..leave }, Rect { x: rest.x + 110.0 + GAP, ..between }, ready],
        }
    }
}

/// Draws the lobby over the field.
pub(crate) fn draw(
    ui: &mut Ui,
    around: Rect,
    seat: &Seat,
    qr: &mut Qr,
    presence: &Presence,
) -> Option<LobbyAction> {
    let next = seat.codes().and_then(|codes| codes.link(&missing(codes, seat)?.1));
    qr.turn_to(next.as_deref());
    if qr.draw_large(ui, around) {
        return None;
    }
    let (terms, setup) = (seat.terms(), seat.terms().setup);
    let plan = Plan::new(around, setup.players, seat.codes().map(Codes::has_page));
    frame(ui, around, plan.card);
    let end = ui.pen.strong("Waiting for players", plan.title.x, plan.title.y + 20.0, LARGE, TEXT) + 12.0;
    let length = if terms.turns == TURNS_MAX { "no turn limit".into() } else { count(terms.turns, "turn") };
    let what = format!(
        "{} of {}, seed {}, {length}",
        count(setup.players, "army"),
        count(setup.units, "unit"),
        setup.seed
    );
    let beside = Rect { x: end, w: plan.title.right() - end, ..plan.title };
    ui.pen.fit([what], beside, Align::Right, SMALL, TEXT_DIM);
    match seat.codes() {
        Some(codes) => invitation(ui, &plan, (codes, seat), qr),
        None if seat.is_watching() => {
            let lines = ["You watch. The battle begins when all players are here and ready.", "You watch."];
            ui.pen.fit(lines, plan.lead[0], Align::Left, SIZE, TEXT);
        }
        None => {
            let long = "You have a place. The battle begins when all players are here and ready.";
            let lines = [long, "You have a place. Others are missing, or not ready.", "You have a place."];
            ui.pen.fit(lines, plan.lead[0], Align::Left, SIZE, TEXT);
        }
    }
    let asked = players(ui, &plan, seat, presence);
    let [leave, between, ready] = plan.buttons;
    if seat.are_all_friends() {
        let lines = ["All are in one team: teams would not count", "All in one team"];
        ui.pen.fit(lines, between, Align::Middle, SMALL, WARN);
    } else if let Some(patience) = seat.patience() {
        let seconds = patience.as_millis() / 1_000;
        let text = format!("gives up in {}:{:02}", seconds / 60, seconds % 60);
        ui.pen.fit([text], between, Align::Middle, SMALL, TEXT_DIM);
    }
    let is_ready = seat.session().is_ready(seat.player());
    let word = if is_ready { "Wait for me" } else { "I am ready" };
    if !seat.is_watching() && ui.button("ready", ready, word, !is_ready) {
        return Some(LobbyAction::Ready(!is_ready));
    }
    if ui.button("leave", leave, "Leave", false) { Some(LobbyAction::Leave) } else { asked }
}

/// Draws the screen while the host is asked for a place; true if the person wants to leave.
pub(crate) fn draw_asking(ui: &mut Ui, around: Rect, host: SocketAddr, seconds: f32) -> bool {
    let text = "No answer yet. The attempt ends by itself, after half a minute at the latest.";
    draw_waiting(ui, around, (&format!("Asking {host} for a place"), text), seconds)
}

/// Draws the screen while the state of a match is on its way; true if the person wants to leave.
pub(crate) fn draw_joining(ui: &mut Ui, around: Rect, percent: u8, seconds: f32) -> bool {
    let text = "Then this computer catches up with the others.";
    draw_waiting(ui, around, (&format!("Getting the state of the match: {percent} %"), text), seconds)
}

fn draw_waiting(ui: &mut Ui, around: Rect, (title, text): (&str, &str), seconds: f32) -> bool {
    let card = card::middle(around, 720.0, 170.0);
    frame(ui, around, card);
    let dots = ".".repeat(1 + (seconds * 2.0) as usize % 3);
    let line = Rect::new(card.x + 28.0, card.y + 42.0, card.w - 56.0, 22.0);
    let y = ui.pen.wrapped(&format!("{title}{dots}"), line, LARGE, TEXT) + 8.0;
    ui.pen.wrapped(text, Rect { y, ..line }, SIZE, TEXT_DIM);
    ui.button("leave", Rect::new(line.x, card.bottom() - 46.0, 110.0, 32.0), "Leave", false)
}

fn frame(ui: &mut Ui, around: Rect, card: Rect) {
    ui.pen.fill(around, faded(BACKDROP, 0.5));
    ui.cover(around);
    ui.card("lobby", card, PANEL, (4.0, LINE));
}

/// The first place whose player is not here, and its code.
fn missing<'a>(codes: &'a Codes, seat: &Seat) -> Option<&'a (u8, String)> {
    codes.players.iter().find(|(player, _)| !seat.session().is_here(PlayerId(*player)))
}

/// What the next player has to type, or to open. A sealed match has a code for each place, and a button next to each; it is too long to be typed.
/// The watchers' link is not in the large field, because no player needs it.
fn invitation(ui: &mut Ui, plan: &Plan, (codes, seat): (&Codes, &Seat), qr: &mut Qr) {
    let missing = missing(codes, seat);
    if plan.qr.h > 0.0 {
        qr.draw_small(ui, plan.qr);
    }
    let ([lead, small], [text, button]) = (plan.lead, plan.code);
    ui.pen.fill(plan.plate, PANEL_RAISED);
    let (line, button) = match codes.players.first().filter(|_| !codes.is_sealed) {
        Some((_, code)) => {
            let line = codes.command(code);
            let lines = ["Not sealed. The other players type this:", "The others type this:"];
            ui.pen.fit(lines, lead, Align::Left, SIZE, TEXT_DIM);
            let size = COMMAND.into_iter().find(|size| ui.pen.width(&line, *size) <= text.w);
            if let Some(size) = size {
                ui.pen.label(&line, text, Align::Left, size, SELECTION);
            }
            (line, if plan.plate.h > 0.0 { button } else { small })
        }
        None => {
            let what = if codes.has_page() { "link" } else { "command" };
            let lines = [format!("Send each player a {what}."), format!("Send {what}s:")];
            ui.pen.fit(lines, lead, Align::Left, SIZE, TEXT_DIM);
            let (whose, code) = match missing {
                Some((player, code)) => (format!("Player {}'s {what}", player + 1), code),
                None => (format!("A {what} to watch"), &codes.watch),
            };
            ui.pen.fit([format!("{whose} is ready"), whose], text, Align::Left, SIZE, TEXT);
            if missing.is_some() || plan.plate.h == 0.0 {
                ui.copy("copy watch", small, "For watchers", &codes.command(&codes.watch));
            }
            (codes.command(code), button)
        }
    };
    if button.h > 0.0 {
        ui.copy("copy", button, "Copy", &line);
    }
    if codes.address.ip().is_loopback() {
        let said = help_out(seat.is_relayed(), codes.has_page());
        ui.pen.fit(said, plan.hint, Align::Left, SMALL, TEXT_DIM);
    }
}

/// What helps where only this computer can reach the match, and a shorter form. A page cannot call `testudo host`.
fn help_out(is_relayed: bool, has_page: bool) -> [&'static str; 2] {
    let relay = "Only this computer can reach this relay";
    match (is_relayed, has_page) {
        (true, true) => [
            "Only this computer can reach this. For others: testudo relay --bind 0.0.0.0:4433, and the page by https",
            relay,
        ],
        (true, false) => [
            "Only this computer can reach this relay. For others start it with: testudo relay --bind 0.0.0.0:4433",
            relay,
        ],
        (false, _) => [
            "Only this computer can reach this address. For others use: testudo host --bind 0.0.0.0:0",
            "Only this computer can reach this address",
        ],
    }
}

/// The players who have joined and those who have not. Returns what the person wants with one of them.
fn players(ui: &mut Ui, plan: &Plan, seat: &Seat, presence: &Presence) -> Option<LobbyAction> {
    let mut asked = None;
    ui.pen.fit(["team"], plan.team, Align::Left, SMALL, TEXT_DIM);
    let sealed = seat.codes().filter(|codes| codes.is_sealed);
    for (player, [team, name, state, button]) in (0..).map(PlayerId).zip(plan.rows.iter().copied()) {
        let [copy, remove, team_name] = BUTTONS.map(|names| names[usize::from(player.0)]);
        if let Some(next) = team_of(ui, team_name, team, seat, player) {
            asked = Some(LobbyAction::Team { player, team: next });
        }
        let is_host = player == seat.host_player();
        let called = match seat.name(player) {
            Some(name) => name,
            None => format!("Player {}{}", player.0 + 1, if is_host { ", the host" } else { "" }),
        };
        let shorter = called.char_indices().rev().map(|(at, _)| &called[..at]);
        let called = core::iter::once(&called[..]).chain(shorter);
        ui.pen.fit(called, name, Align::Left, SIZE, army(player.0));
        let is_own = player == seat.player() && !seat.is_watching();
        let is_here = is_own || seat.session().is_here(player);
        let (states, color) = match (is_here, seat.session().is_ready(player)) {
            (true, true) if is_own => (["you are ready", "ready"], GOOD),
            (true, false) if is_own => (["you are not ready", "not ready"], WARN),
            (true, true) => (["ready", ""], GOOD),
            (true, false) => (["here, asks to wait", "not ready"], WARN),
            (false, _) => (["not here yet", "not here"], TEXT_DIM),
        };
        ui.pen.fit(states, state, Align::Left, SIZE, color);
        if presence.may_remove(seat, player) {
            if ui.button(remove, button, "Remove", false) {
                asked = Some(LobbyAction::Remove(player));
            }
            continue;
        }
        let Some(codes) = sealed else { continue };
        let code = codes.players.iter().find(|(place, _)| *place == player.0);
        if let (true, Some(back)) = (is_own, &codes.back) {
            ui.copy("copy own", button, "For you", &codes.command(back));
        } else if let (false, Some((_, code))) = (is_here, code) {
            ui.copy(copy, button, "Copy", &codes.command(code));
        }
    }
    asked
}

/// A player's team: a button with its number for whoever may change it, which leads to the next team and in the end to none. Returns that team.
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
    use testudo_render::paint::screen::misplaced;

    #[test]
    fn nothing_lies_over_anything_from_a_small_phone_to_a_large_window() {
        let sideways = [(640.0, 328.0), (640.0, 360.0), (667.0, 375.0), (740.0, 360.0), (844.0, 390.0)];
        let others = [(640.0, 430.0), (360.0, 640.0), (390.0, 844.0), (800.0, 600.0), (3_840.0, 2_160.0)];
        for (width, height) in sideways.into_iter().chain(others) {
            for (players, page) in [2, 3, 4, 8, 16]
                .into_iter()
                .flat_map(|players| [None, Some(false), Some(true)].map(|page| (players, page)))
            {
                let what = format!("{width}x{height}, {players} players, page: {page:?}");
                let around = Rect::new(0.0, 44.0, width, height - if height > width { 146.0 } else { 44.0 });
                let plan = Plan::new(around, players, page);
                let single = [plan.title, plan.qr, plan.hint, plan.team];
                let parts = [&single, &plan.lead[..], &plan.code, &plan.buttons, plan.rows.as_flattened()];
                let parts: Vec<Rect> = parts.concat().into_iter().filter(|part| part.h > 0.0).collect();
                assert_eq!(misplaced(plan.card, &parts), None, "{what}");
                assert_eq!(misplaced(around, &[plan.card]), None, "{what}");
                let small = parts.iter().find(|part| part.w < 28.0 || part.h < 14.0);
                assert_eq!(small, None, "{what}");
                let has_code = plan.code[1].h > 0.0;
                assert!(has_code || page.is_none() || players > 8, "{what}: no place for a code");
                assert_eq!(plan.qr.h > 0.0, has_code && page == Some(true), "{what}");
            }
        }
    }

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
