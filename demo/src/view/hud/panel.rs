//! The network: its state, lockstep's reaction to it, and controls to make it worse.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::shapes::draw_line;
use testudo_lockstep::simnet::{LinkConfig, Transport};
use testudo_lockstep::{PlayerId, Turn};

use crate::app::words::count;
use crate::app::{Sample, Skirmish};
use crate::view::hud::conditions;
use crate::view::widgets::graph::{self, Curve};
use crate::view::widgets::ui::Ui;
use testudo_render::paint::batch::Batch;
use testudo_render::paint::palette::{BAD, GOOD, LINE, PANEL, TEXT, TEXT_DIM, WARN, army};
use testudo_render::paint::pen::{Pen, SIZE, SMALL};

/// Height of a line in a list, pixels.
const LINE_HEIGHT: f32 = 18.0;

/// Widths of the columns; the graph takes the rest.
const COLUMNS: [f32; 3] = [262.0, 232.0, 372.0];
const COLUMNS_TIGHT: [f32; 3] = [228.0, 210.0, 330.0];

/// Below these widths columns are tighter, without the measurements, or one below the other, pixels.
const TIGHT: f32 = 900.0;
const NARROW: f32 = 780.0;
pub(crate) const BELOW: f32 = 560.0;

/// Width of the names in a list, and of the column of checksums in a narrow panel, pixels.
const NAMES: f32 = 96.0;
const CHECKSUMS: f32 = 220.0;

/// The person's action in the panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PanelAction {
    Network(LinkConfig),
    Corrupt,
}

/// The background of a panel, its columns of these widths, and the rest of the width for a graph, if that is enough.
pub(crate) fn columns<const N: usize>(ui: &mut Ui, rect: Rect, wide: [f32; N]) -> ([Rect; N], Option<Rect>) {
    ui.pen.fill(rect, PANEL);
    draw_line(rect.x, rect.y, rect.x + rect.w, rect.y, 2.0, LINE);
    ui.cover(rect);
    let inner = Rect::new(rect.x + 16.0, rect.y + 10.0, rect.w - 32.0, rect.h - 20.0);
    let mut left = inner.x;
    let columns = wide.map(|width| {
        let column = Rect::new(left, inner.y, width - 24.0, inner.h);
        left += width;
        column
    });
    let graph = Rect::new(left, inner.y, inner.x + inner.w - left, inner.h);
    (columns, (graph.w > 160.0).then_some(graph))
}

/// The two columns of a narrow panel: beside each other, the first one so wide; or below such a width of the panel below each other, the first one
/// not wider and higher than that.
pub(crate) fn narrow(ui: &mut Ui, rect: Rect, below: f32, wide: f32, most: Vec2) -> [Rect; 2] {
    if rect.w >= below {
        return columns(ui, rect, [wide, rect.w - 8.0 - wide]).0;
    }
    let ([column], _) = columns(ui, rect, [rect.w - 8.0]);
    [Rect { w: column.w.min(most.x), ..column }, Rect { y: column.y + most.y, ..column }]
}

/// Draws the panel and asks its widgets.
pub(crate) fn draw(ui: &mut Ui, rect: Rect, skirmish: &Skirmish) -> Option<PanelAction> {
    let [sums, network] = if rect.w < NARROW {
        narrow(ui, rect, BELOW, CHECKSUMS, vec2(300.0, 190.0))
    } else {
        let wide = if rect.w < TIGHT { COLUMNS_TIGHT } else { COLUMNS };
        let ([first, sums, network], graph) = columns(ui, rect, wide);
        turns(&ui.pen, first, skirmish);
        if let Some(graph) = graph {
            curves(&mut ui.batch, &ui.pen, graph, skirmish.samples().collect());
        }
        [sums, network]
    };
    let corrupt = checksums(ui, sums, skirmish);
    let network = conditions::draw(ui, network, skirmish.link(), &conditions::PLAYERS);
    corrupt.then_some(PanelAction::Corrupt).or(network.map(PanelAction::Network))
}

/// Recent round trips and turn lengths.
pub(crate) fn curves(batch: &mut Batch, pen: &Pen, rect: Rect, samples: Vec<&Sample>) {
    let values = |value: fn(&Sample) -> u32| samples.iter().copied().map(value).collect::<Vec<u32>>();
    let curves = [
        Curve { name: "round trip", color: army(0), values: values(|sample| sample.round_trip_ms) },
        Curve { name: "turn", color: army(1), values: values(|sample| sample.turn_ms) },
    ];
    graph::draw(batch, pen, rect, &curves, &values(|sample| sample.stalled_frames));
}

/// Measurements: turns, delays, traffic, and the players for whom the match waits.
fn turns(pen: &Pen, rect: Rect, skirmish: &Skirmish) {
    let session = skirmish.session(0);
    let sample = skirmish.samples().next_back().copied().unwrap_or_default();
    let (sent, lost) = skirmish
        .samples()
        .rev()
        .take(50)
        .fold((0, 0), |(sent, lost), sample: &Sample| (sent + sample.packets, lost + sample.lost));
    let rate = Sample::mean(skirmish.samples().rev(), 20, |sample| sample.bytes_per_second);
    let percent = if sent == 0 { 0.0 } else { f64::from(lost) * 100.0 / f64::from(sent) };
    let foresight = skirmish.foresight(0).filter(|foresight| foresight.is_wanted());
    let lines = [
        ("turn, frame", format!("{}, {}", session.next_turn().0, skirmish.frame(0))),
        ("turn length", format!("{} ms", sample.turn_ms)),
        match foresight {
            Some(_) => ("order delay", format!("seen at once, {} ms", 2 * sample.turn_ms)),
            None => ("order delay", format!("2 turns = {} ms", 2 * sample.turn_ms)),
        },
        ("round trip", round_trip(pen, rect.w - NAMES, sample.round_trip_ms, &skirmish.link())),
        match (foresight, skirmish.link().transport) {
            (Some(foresight), _) => {
                let cost = foresight.cost().as_micros() as f64 / 1e3;
                ("prediction", format!("{}, {cost:.1} ms", count(foresight.depth(), "frame")))
            }
            (None, Transport::Udp) => ("jitter", format!("0 to {} ms", skirmish.link().jitter.as_millis())),
            // What keeps the order holds packets back.
            (None, _) => ("held back", format!("{} packets", skirmish.held_back())),
        },
        match foresight {
            Some(foresight) => ("units right", format!("{:.1} %", foresight.right_percent())),
            None => ("packets lost", format!("{percent:.1} %")),
        },
        ("sent by both", format!("{rate} bytes/s")),
    ];
    list(pen, rect, "Turns", &lines);
    let recent: u32 = skirmish.samples().rev().take(30).map(|sample| sample.stalled_frames).sum();
    let called = |player: PlayerId| format!("player {}", player.0 + 1);
    let (text, color) = waiting((0..2).find_map(|player| skirmish.waiting(player)), recent, called);
    pen.text(&text, rect.x, rect.y + 36.0 + 7.6 * LINE_HEIGHT, SMALL, color);
}

/// The measured time, and the link's part of it, which can be much less. The rest is waiting: packets are sent and answered once per frame, and
/// TCP waits for what was lost.
fn round_trip(pen: &Pen, room: f32, measured_ms: u32, link: &LinkConfig) -> String {
    let link_ms = 2 * link.latency.as_millis() + link.jitter.as_millis();
    let short = format!("{measured_ms} ms, link {link_ms}");
    pen.fitting([format!("{measured_ms} ms, {link_ms} by the link")], SMALL, room).unwrap_or(short)
}

/// A list of named measurements.
pub(crate) fn list(pen: &Pen, rect: Rect, title: &str, lines: &[(&str, String)]) {
    pen.strong(title, rect.x, rect.y + 14.0, SIZE, TEXT);
    for (n, (name, value)) in lines.iter().enumerate() {
        let y = rect.y + 36.0 + n as f32 * LINE_HEIGHT;
        pen.text(name, rect.x, y, SMALL, TEXT_DIM);
        pen.text(value, rect.x + NAMES, y, SMALL, TEXT);
    }
}

/// The turn and players for which the match waits, and the number of frames in which it waited recently.
pub(crate) fn waiting(
    now: Option<(Turn, &[PlayerId])>,
    recently: u32,
    called: impl Fn(PlayerId) -> String,
) -> (String, Color) {
    if let Some((turn, players)) = now {
        if players.is_empty() {
            return (format!("nothing arrives (turn {})", turn.0), BAD);
        }
        let whom: Vec<String> = players.iter().map(|player| called(*player)).collect();
        return (format!("waiting for {} (turn {})", whom.join(", "), turn.0), BAD);
    }
    if recently > 0 {
        return (format!("late orders: {} waited", count(recently, "frame")), WARN);
    }
    ("no waiting: orders arrive in time".into(), GOOD)
}

/// The checksums of copies below each other, and what comparing them says. Returns the line of that.
pub(crate) fn comparison(
    pen: &Pen,
    rect: Rect,
    title: &str,
    sums: &[(&str, String)],
    (verdict, color): &(String, Color),
) -> f32 {
    pen.strong(title, rect.x, rect.y + 14.0, SIZE, TEXT);
    for (n, (name, sum)) in sums.iter().enumerate() {
        let y = rect.y + 38.0 + n as f32 * LINE_HEIGHT;
        pen.text(name, rect.x, y, SMALL, TEXT_DIM);
        pen.text(sum, rect.x + 62.0, y, SMALL, *color);
    }
    let y = rect.y + 44.0 + sums.len() as f32 * LINE_HEIGHT;
    pen.strong(verdict, rect.x, y, SIZE, *color);
    y
}

/// What comparing so many turns or frames says: since which one the copies differ, or that somebody's cannot be compared.
pub(crate) fn verdict(number: u32, thing: &str, broken: Option<u32>, is_doubtful: bool) -> (String, Color) {
    match broken {
        Some(since) => (format!("\u{2260}  different since {thing} {since}"), BAD),
        None if is_doubtful => ("not everybody can be compared".into(), WARN),
        None if number == 0 => (format!("waiting for the first {thing}"), TEXT_DIM),
        None => (format!("=  equal in all {}", count(number, thing)), GOOD),
    }
}

/// Two small lines of explanation.
pub(crate) fn about(pen: &Pen, x: f32, y: f32, lines: [&str; 2]) {
    for (line, y) in lines.into_iter().zip([y, y + 16.0]) {
        pen.text(line, x, y, 12.0, TEXT_DIM);
    }
}

/// Whether the copies agree, and the button that damages one.
fn checksums(ui: &mut Ui, rect: Rect, skirmish: &Skirmish) -> bool {
    let ((turns, sums), broken) = (skirmish.compared(), skirmish.desync().map(|desync| desync.turn));
    let sums = sums.iter().map(|sum| format!("{sum:016x}"));
    let sums: Vec<(&str, String)> = ["player 1", "player 2"].into_iter().zip(sums).collect();
    let y = comparison(&ui.pen, rect, "Checksums", &sums, &verdict(turns, "turn", broken, false));
    let button = Rect::new(rect.x, y + 22.0, rect.w, 34.0);
    let pressed = ui.button("corrupt", button, "Corrupt one bit", broken.is_some());
    about(&ui.pen, rect.x, y + 76.0, ["in player 2's copy of one position,", "and see how it is found"]);
    pressed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_the_verdict_whatever_comes_after_it() {
        assert_eq!(verdict(0, "turn", None, false).1, TEXT_DIM);
        assert_eq!(verdict(7, "turn", None, false), ("=  equal in all 7 turns".into(), GOOD));
        assert_eq!(verdict(7, "turn", None, true).1, WARN);
        let (text, color) = verdict(90, "turn", Some(12), true);
        assert!(text.contains("since turn 12") && color == BAD, "{text}");
    }
}
