//! The panel of a network match: lockstep's measurements of the match and of each player.

use macroquad::math::Rect;
use testudo_lockstep::{Blame, PlayerId, SessionPhase};

use crate::app::{Sample, Seat};
use crate::view::hud::panel::{about, columns, comparison, count, curves, list, verdict, waiting};
use crate::view::paint::palette::{TEXT, TEXT_DIM, WARN, army};
use crate::view::paint::pen::{Pen, SIZE, SMALL};
use crate::view::widgets::ui::Ui;

/// Widths of the columns; the graph takes the rest.
const COLUMNS: [f32; 3] = [272.0, 232.0, 372.0];

/// Below this width only the players are listed, pixels.
const NARROW: f32 = 600.0;

/// Samples of one second.
const SECOND: usize = 10;

/// Draws the panel.
pub(crate) fn draw(ui: &mut Ui, rect: Rect, seat: &Seat) {
    if rect.w < NARROW {
        let ([column], _) = columns(ui, rect, [rect.w - 8.0]);
        players(&ui.pen, column, seat);
        return;
    }
    if rect.w < COLUMNS.iter().sum::<f32>() + 32.0 {
        let ([left, right], _) = columns(ui, rect, [COLUMNS[0].min(rect.w * 0.42), COLUMNS[2]]);
        let right = Rect { w: rect.right() - right.x, ..right };
        turns(&ui.pen, left, seat);
        // The column may be wider than what is left of the panel.
        let room = (rect.x + rect.w - right.x).min(right.w);
        players(&ui.pen, Rect { w: room, ..right }, seat);
        return;
    }
    let (columns, graph) = columns(ui, rect, COLUMNS);
    turns(&ui.pen, columns[0], seat);
    checksums(&ui.pen, columns[1], seat);
    players(&ui.pen, columns[2], seat);
    if let Some(graph) = graph {
        curves(&mut ui.batch, &ui.pen, graph, seat.samples().collect());
    }
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
        ("order delay", format!("{ahead} turns = {} ms", ahead * sample.turn_ms)),
        ("round trip", milliseconds(sample.round_trip_ms)),
        ("sent", format!("{} bytes/s", rate(|sample| sample.bytes_per_second))),
        ("received", format!("{} bytes/s", rate(|sample| sample.received_per_second))),
    ];
    list(pen, rect, "Turns", &lines);
    if session.phase() == SessionPhase::Lobby {
        return;
    }
    let recent: u32 = seat.samples().rev().take(3 * SECOND).map(|sample| sample.stalled_frames).sum();
    let (text, color) = waiting(seat.waiting(), recent);
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

/// One line for each player.
fn players(pen: &Pen, rect: Rect, seat: &Seat) {
    /// Left edges of the columns, and the number of players that fit.
    const AT: [f32; 4] = [0.0, 92.0, 170.0, 236.0];
    const ROWS: u8 = 8;
    let session = seat.session();
    pen.strong("Players", rect.x, rect.y + 14.0, SIZE, TEXT);
    for (at, name) in AT.into_iter().zip(["", "round trip", "slack", "made us wait"]).skip(1) {
        pen.text(name, rect.x + at, rect.y + 14.0, SMALL, TEXT_DIM);
    }
    for player in (0..session.config().players.min(ROWS)).map(PlayerId) {
        let y = rect.y + 36.0 + f32::from(player.0) * 18.0;
        let report = session.player_report(player);
        let is_own = seat.player() == player && !seat.is_watching();
        let name = match (is_own, seat.team_of(player)) {
            (true, 0) => "you".into(),
            (true, team) => format!("you, team {team}"),
            (false, 0) => format!("player {}", player.0 + 1),
            (false, team) => format!("{}, team {team}", player.0 + 1),
        };
        pen.text(&name, rect.x + AT[0], y, SMALL, army(player.0));
        pen.text(&milliseconds(u32::from(report.network_ms)), rect.x + AT[1], y, SMALL, TEXT);
        let slack = report.slack_tenths.map_or("\u{2013}".into(), |tenths| format!("{} ms", tenths / 10));
        pen.text(&slack, rect.x + AT[2], y, SMALL, TEXT);
        let waited = match report.delayed_turns {
            0 => "never".into(),
            turns => format!("{}, {:.1} s", count(turns, "turn"), report.delayed.as_millis() as f64 / 1e3),
        };
        let (why, color) = match report.blame {
            None => ("", TEXT),
            Some(Blame::Network) => (" (network)", WARN),
            Some(Blame::Processor) => (" (processor)", WARN),
            Some(_) => ("", WARN),
        };
        // In a narrow window the colour has to say it.
        let whole = format!("{waited}{why}");
        let text = if rect.x + AT[3] + pen.width(&whole, SMALL) < rect.right() { whole } else { waited };
        pen.text(&text, rect.x + AT[3], y, SMALL, color);
    }
}

/// A value of 0 means unknown.
fn milliseconds(value: u32) -> String {
    if value == 0 { "\u{2013}".into() } else { format!("{value} ms") }
}
