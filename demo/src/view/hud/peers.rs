//! The panel of a network match: lockstep's measurements of the match and of each player.

use core::cmp::Reverse;

use macroquad::math::Rect;
use testudo_lockstep::{Blame, Duration, PlayerId, SessionPhase};

use crate::app::words::count;
use crate::app::{Sample, Seat};
use crate::view::hud::panel::{about, columns, comparison, curves, list, verdict, waiting};
use crate::view::hud::presence::Presence;
use crate::view::widgets::ui::{Ui, numbered};
use testudo_render::paint::palette::{TEXT, TEXT_DIM, WARN, army};
use testudo_render::paint::pen::{Pen, SIZE, SMALL};

/// Widths of the columns; the graph takes the rest.
const COLUMNS: [f32; 3] = [272.0, 232.0, 412.0];

/// Below this width only the players are listed, pixels.
const NARROW: f32 = 600.0;

/// Players that there is room for, the height of a line, and the left edges of the columns: name, button, measurements; pixels.
const ROWS: usize = 8;
const LINE: f32 = 18.0;
const AT: [f32; 5] = [0.0, 88.0, 126.0, 192.0, 256.0];

/// How wide a button is that votes, and how much wider one that removes, pixels.
const VOTE: f32 = 34.0;
const MORE: f32 = 26.0;

/// Names of the buttons that vote a player out, or remove one, for scripts.
const VOTES: [&str; 16] = numbered!("vote out");
const REMOVES: [&str; 16] = numbered!("remove");

/// What the person wants with a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PeerAction {
    /// To vote the player out, or no longer.
    Vote(PlayerId),
    /// To remove the player for good.
    Remove(PlayerId),
}

/// What the panel knows from picture to picture: who was listed in the one before, and who is here.
pub(crate) type Known<'a> = (&'a mut Vec<PlayerId>, &'a Presence);

/// Samples of one second.
const SECOND: usize = 10;

/// Draws the panel.
pub(crate) fn draw(ui: &mut Ui, rect: Rect, seat: &Seat, known: Known<'_>) -> Option<PeerAction> {
    if rect.w < NARROW {
        let ([column], _) = columns(ui, rect, [rect.w - 8.0]);
        return players(ui, column, seat, known);
    }
    if rect.w < COLUMNS.iter().sum::<f32>() + 32.0 {
        let ([left, right], _) = columns(ui, rect, [COLUMNS[0].min(rect.w * 0.42), COLUMNS[2]]);
        let right = Rect { w: rect.right() - right.x, ..right };
        turns(&ui.pen, left, seat);
        // The column may be wider than what is left of the panel.
        let room = (rect.x + rect.w - right.x).min(right.w);
        return players(ui, Rect { w: room, ..right }, seat, known);
    }
    let (columns, graph) = columns(ui, rect, COLUMNS);
    turns(&ui.pen, columns[0], seat);
    checksums(&ui.pen, columns[1], seat);
    if let Some(graph) = graph {
        curves(&mut ui.batch, &ui.pen, graph, seat.samples().collect());
    }
    players(ui, columns[2], seat, known)
}

/// Turns, delays, traffic, and the players for whom the match waits.
fn turns(pen: &Pen, rect: Rect, seat: &Seat) {
    let session = seat.session();
    let sample = seat.samples().next_back().copied().unwrap_or_default();
    let ahead = session.config().turns_ahead;
    let rate = |of| Sample::mean(seat.samples().rev(), 2 * SECOND, of);
    let lines = [
        ("turn, frame", format!("{}, {}", session.next_turn().0, seat.frame())),
        ("turn length", format!("{} ms", sample.turn_ms)),
        ("order delay", format!("{} = {} ms", count(ahead, "turn"), ahead * sample.turn_ms)),
        ("round trip", milliseconds(sample.round_trip_ms)),
        ("sent", format!("{} bytes/s", rate(|sample| sample.bytes_per_second))),
        ("received", format!("{} bytes/s", rate(|sample| sample.received_per_second))),
    ];
    list(pen, rect, "Turns", &lines);
    if session.phase() == SessionPhase::Lobby {
        return;
    }
    let recent: u32 = seat.samples().rev().take(3 * SECOND).map(|sample| sample.stalled_frames).sum();
    let (text, color) = waiting(seat.waiting(), recent, |player| seat.shown_as(player));
    pen.text(&text, rect.x, rect.y + 166.0, SMALL, color);
}

/// Whether the copies agree.
fn checksums(pen: &Pen, rect: Rect, seat: &Seat) {
    let (turns, checksum) = seat.compared();
    let here = checksum.map_or_else(|| "not known yet".into(), |checksum| format!("{checksum:016x}"));
    let verdict = verdict(turns, "turn", seat.divergent_turn(), seat.is_doubtful());
    let y = comparison(pen, rect, "Checksums", &[("here", here)], &verdict);
    let lines = ["Everybody's checksum of every turn is", "compared with everybody else's."];
    about(pen, rect.x, y + 26.0, lines);
}

/// One line for each player, as far as there is room: of many, those who made us wait longest.
fn players(ui: &mut Ui, rect: Rect, seat: &Seat, (shown, presence): Known<'_>) -> Option<PeerAction> {
    ui.pen.strong("Players", rect.x, rect.y + 14.0, SIZE, TEXT);
    let (all, at) = ((0..seat.session().config().players).map(PlayerId), columns_of(seat));
    let votes = !seat.may_kick() && all.clone().any(|player| seat.may_vote_out(player));
    let waited = ["made us wait", "waited"];
    let waited = ui.pen.fitting(waited, SMALL, rect.w - 4.0 - at[4]).unwrap_or_default();
    for (at, name) in
        at.into_iter().zip(["", if votes { "vote" } else { "" }, "round trip", "slack", waited]).skip(1)
    {
        ui.pen.text(name, rect.x + at, rect.y + 14.0, SMALL, TEXT_DIM);
    }
    // A vote can be taken back, so its row stays.
    let waits =
        all.map(|player| (player, seat.votes_out(player), seat.session().player_report(player).delayed));
    let (rows, more) = listed(waits.collect());
    follow(shown, rows, ui.hovers(rect));
    let mut line = Rect { y: rect.y + 36.0, ..rect };
    let mut wanted = None;
    for player in shown.iter() {
        wanted = wanted.or(self::player(ui, line, seat, (*player, presence)));
        line.y += LINE;
    }
    if more > 0 {
        ui.pen.text(&format!("and {more} more"), line.x, line.y, SMALL, TEXT_DIM);
    }
    wanted
}

/// The left edges of the columns. Whoever may remove players needs no votes.
fn columns_of(seat: &Seat) -> [f32; 5] {
    let [name, button, others @ ..] = AT;
    let more = if seat.may_kick() { MORE } else { 0.0 };
    let [round_trip, slack, waited] = others.map(|at| at + more);
    [name, button, round_trip, slack, waited]
}

/// The button in a player's line, if there is one.
fn button(
    ui: &mut Ui,
    rect: Rect,
    seat: &Seat,
    (player, presence): (PlayerId, &Presence),
) -> Option<PeerAction> {
    let [vote, remove] = [VOTES, REMOVES].map(|names| names[usize::from(player.0)]);
    if seat.may_kick() {
        let is_offered = presence.may_remove(seat, player);
        let rect = Rect { w: VOTE + MORE, ..rect };
        return (is_offered && ui.button(remove, rect, "Remove", false))
            .then_some(PeerAction::Remove(player));
    }
    let is_offered = seat.may_vote_out(player);
    (is_offered && ui.button(vote, rect, "out", seat.votes_out(player))).then_some(PeerAction::Vote(player))
}

/// The line of a player, with its base at the rectangle's upper edge. Returns what the person wants with the player.
fn player(
    ui: &mut Ui,
    line: Rect,
    seat: &Seat,
    (player, presence): (PlayerId, &Presence),
) -> Option<PeerAction> {
    let (x, y, at) = (line.x, line.y, columns_of(seat));
    let names = called(seat, player);
    let name = ui.pen.fitting(names.iter().map(String::as_str), SMALL, at[1] - 6.0).unwrap_or_default();
    ui.pen.text(name, x + at[0], y, SMALL, army(player.0));
    let button = Rect::new(x + at[1], y - 12.0, VOTE, 16.0);
    let wanted = self::button(ui, button, seat, (player, presence));
    let (pen, report) = (&ui.pen, seat.session().player_report(player));
    pen.text(&milliseconds(u32::from(report.network_ms)), x + at[2], y, SMALL, TEXT);
    let slack = report.slack_tenths.map_or("\u{2013}".into(), |tenths| format!("{} ms", tenths / 10));
    pen.text(&slack, x + at[3], y, SMALL, TEXT);
    let (why, color) = match report.blame {
        None => ("", TEXT),
        Some(Blame::Network) => (" (network)", WARN),
        Some(Blame::Processor) => (" (processor)", WARN),
        Some(_) => ("", WARN),
    };
    // In a narrow window the colour has to say why.
    let seconds = format!("{:.1} s", report.delayed.as_millis() as f64 / 1e3);
    let turns = format!("{}, {seconds}", count(report.delayed_turns, "turn"));
    let forms = match report.delayed_turns {
        0 => ["never".into(), String::new(), String::new()],
        _ => [format!("{turns}{why}"), turns, seconds],
    };
    let text = pen.fitting(forms, SMALL, line.right() - 4.0 - x - at[4]).unwrap_or_default();
    pen.text(&text, x + at[4], y, SMALL, color);
    wanted
}

/// Who is listed, and how many are not. Of more players than there is room for: those voted against, and whoever made us wait longest, in their order.
fn listed(mut waits: Vec<(PlayerId, bool, Duration)>) -> (Vec<PlayerId>, usize) {
    let all = waits.len();
    if all > ROWS {
        // The last row says that there are more.
        waits.sort_by_key(|(_, is_voted, waited)| Reverse((*is_voted, *waited)));
        waits.truncate(ROWS - 1);
        waits.sort_by_key(|(player, ..)| *player);
    }
    let more = all - waits.len();
    (waits.into_iter().map(|(player, ..)| player).collect(), more)
}

/// Lists other players, but not under the mouse: it would press the button of whoever comes into a row.
fn follow(shown: &mut Vec<PlayerId>, rows: Vec<PlayerId>, is_under_mouse: bool) {
    if !is_under_mouse || shown.len() != rows.len() {
        *shown = rows;
    }
}

/// A player's name and team, and shorter forms.
fn called(seat: &Seat, player: PlayerId) -> Vec<String> {
    let is_own = seat.player() == player && !seat.is_watching();
    let name = if is_own { "you".into() } else { seat.shown_as(player) };
    let short: String = name.chars().take(10).collect();
    let names = [name, short, (player.0 + 1).to_string()].into_iter();
    match seat.team_of(player) {
        0 => names.collect(),
        team => names.map(|name| format!("{name}, team {team}")).collect(),
    }
}

/// A value of 0 means unknown.
fn milliseconds(value: u32) -> String {
    if value == 0 { "\u{2013}".into() } else { format!("{value} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 16 players 8 were listed, and nothing said that there were more.
    #[test]
    fn of_many_players_those_are_listed_who_matter() {
        let waits = |players: u8| {
            let waited = |player| if player == 13 || player == 2 { 900 } else { 0 };
            let row = |player| (PlayerId(player), player == 15, Duration::from_millis(waited(player)));
            (0..players).map(row).collect::<Vec<_>>()
        };
        assert_eq!(listed(waits(8)), ((0..8).map(PlayerId).collect(), 0));
        let (players, more) = listed(waits(16));
        assert_eq!((players.len(), more), (7, 9));
        assert_eq!(players, [0, 1, 2, 3, 4, 13, 15].map(PlayerId), "player 15 is voted against");
    }

    /// A click on "out" could vote against whoever had come into the row.
    #[test]
    fn rows_stay_where_they_are_under_the_mouse() {
        let rows = |first: u8| (first..first + 7).map(PlayerId).collect::<Vec<_>>();
        let mut shown = Vec::new();
        for (first, is_under_mouse, listed) in [(0, true, 0), (1, true, 0), (1, false, 1), (2, true, 1)] {
            follow(&mut shown, rows(first), is_under_mouse);
            assert_eq!(shown, rows(listed));
        }
    }
}
