//! The network: what it does, what lockstep makes of it, and the means to make it worse.

use macroquad::math::Rect;
use macroquad::shapes::{draw_line, draw_rectangle};
use testudo_lockstep::Duration;
use testudo_lockstep::simnet::LinkSettings;

use crate::app::{Sample, Skirmish};
use crate::view::batch::Batch;
use crate::view::graph;
use crate::view::palette::{BAD, GOOD, LINE, PANEL, TEXT, TEXT_DIM, WARN};
use crate::view::pen::{Pen, SIZE, SMALL};
use crate::view::ui::{Scale, Ui};

/// How long a packet that is to be overtaken is held back.
const REORDER_HOLD: Duration = Duration::from_millis(100);

/// Widths of the columns; the graph takes the rest.
const COLUMNS: [f32; 3] = [262.0, 232.0, 372.0];

const SLIDERS: [(&str, Scale); 5] = [
    ("latency", Scale { max: 500.0, unit: "ms" }),
    ("jitter", Scale { max: 300.0, unit: "ms" }),
    ("loss", Scale { max: 60.0, unit: "%" }),
    ("duplicates", Scale { max: 50.0, unit: "%" }),
    ("reorder", Scale { max: 50.0, unit: "%" }),
];

/// Ready-made conditions, in the order of the sliders.
const PRESETS: [(&str, &str, [f32; 5]); 3] = [
    ("perfect", "Perfect", [0.0; 5]),
    ("ordinary", "Ordinary", [60.0, 15.0, 2.0, 0.0, 0.0]),
    ("terrible", "Terrible", [150.0, 60.0, 20.0, 5.0, 10.0]),
];

/// What the person did in the panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    Network(LinkSettings),
    Corrupt,
}

/// Draws the panel and asks its widgets.
pub(crate) fn draw(
    batch: &mut Batch,
    pen: &Pen,
    ui: &mut Ui,
    rect: Rect,
    skirmish: &Skirmish,
) -> Option<Wish> {
    draw_rectangle(rect.x, rect.y, rect.w, rect.h, PANEL);
    draw_line(rect.x, rect.y, rect.x + rect.w, rect.y, 2.0, LINE);
    ui.cover(rect);
    let inner = Rect::new(rect.x + 16.0, rect.y + 10.0, rect.w - 32.0, rect.h - 20.0);
    let mut left = inner.x;
    let columns = COLUMNS.map(|width| {
        let column = Rect::new(left, inner.y, width - 24.0, inner.h);
        left += width;
        column
    });
    turns(pen, columns[0], skirmish);
    let corrupt = checksums(pen, ui, columns[1], skirmish);
    let network = conditions(pen, ui, columns[2], skirmish.link());
    let graph = Rect::new(left, inner.y, inner.x + inner.w - left, inner.h);
    if graph.w > 160.0 {
        graph::draw(batch, pen, graph, skirmish.samples());
    }
    corrupt.then_some(Wish::Corrupt).or(network.map(Wish::Network))
}

/// What is measured: turns, delays, traffic, and for whom the match waits.
fn turns(pen: &Pen, rect: Rect, skirmish: &Skirmish) {
    pen.strong("Turns", rect.x, rect.y + 14.0, SIZE, TEXT);
    let session = skirmish.session(0);
    let sample = skirmish.samples().next_back().copied().unwrap_or_default();
    let (sent, lost) = skirmish
        .samples()
        .rev()
        .take(50)
        .fold((0, 0), |(sent, lost), sample: &Sample| (sent + sample.packets, lost + sample.lost));
    let recent: Vec<u32> = skirmish.samples().rev().take(20).map(|sample| sample.bytes_per_second).collect();
    let rate = recent.iter().sum::<u32>() / (recent.len().max(1) as u32);
    let percent = if sent == 0 { 0.0 } else { f64::from(lost) * 100.0 / f64::from(sent) };
    let lines = [
        ("turn, frame", format!("{}, {}", session.next_turn().0, skirmish.frame(0))),
        ("turn length", format!("{} ms", sample.turn_ms)),
        ("order delay", format!("2 turns = {} ms", 2 * sample.turn_ms)),
        ("round trip", format!("{} ms", sample.round_trip_ms)),
        ("jitter", format!("0 to {} ms", skirmish.link().jitter.as_millis())),
        ("packets lost", format!("{percent:.1} %")),
        ("sent by both", format!("{rate} bytes/s")),
    ];
    for (n, (name, value)) in lines.iter().enumerate() {
        let y = rect.y + 36.0 + n as f32 * 18.0;
        pen.text(name, rect.x, y, SMALL, TEXT_DIM);
        pen.text(value, rect.x + 96.0, y, SMALL, TEXT);
    }
    let (text, color) = waiting(skirmish);
    pen.text(&text, rect.x, rect.y + 36.0 + 7.6 * 18.0, SMALL, color);
}

/// For whom the match waits, and why.
fn waiting(skirmish: &Skirmish) -> (String, macroquad::color::Color) {
    for player in 0..2 {
        if let Some((turn, players)) = skirmish.waiting(player) {
            let whom: Vec<String> = players.iter().map(|player| format!("player {}", player.0 + 1)).collect();
            let text = format!("waits: no orders of {} for turn {}", whom.join(", "), turn.0);
            return (text, BAD);
        }
    }
    let recent: u32 = skirmish.samples().rev().take(30).map(|sample| sample.stalled_frames).sum();
    if recent > 0 {
        (format!("orders came late: {recent} frames waited"), WARN)
    } else {
        ("nobody waits: all orders are here in time".into(), GOOD)
    }
}

/// Whether the copies agree, and the button that breaks one.
fn checksums(pen: &Pen, ui: &mut Ui, rect: Rect, skirmish: &Skirmish) -> bool {
    let (turns, sums) = skirmish.compared();
    pen.strong("Checksums", rect.x, rect.y + 14.0, SIZE, TEXT);
    let broken = skirmish.desync().is_some();
    for (player, sum) in sums.iter().enumerate().take(2) {
        let y = rect.y + 38.0 + player as f32 * 20.0;
        pen.text(&format!("player {}", player + 1), rect.x, y, SMALL, TEXT_DIM);
        pen.text(&format!("{sum:016x}"), rect.x + 62.0, y, SMALL, if broken { BAD } else { GOOD });
    }
    let verdict = match (broken, turns) {
        (_, 0) => ("waiting for the first turn".into(), TEXT_DIM),
        (true, _) => ("\u{2260}  different".into(), BAD),
        (false, turns) => (format!("=  equal in all {turns} turns"), GOOD),
    };
    pen.strong(&verdict.0, rect.x, rect.y + 84.0, SIZE, verdict.1);
    let button = Rect::new(rect.x, rect.y + 102.0, rect.w, 34.0);
    let pressed = ui.button(pen, "corrupt", button, "Corrupt one bit", broken);
    let lines = ["of a unit's place in player 2's copy,", "and see how it is found"];
    for (n, line) in lines.into_iter().enumerate() {
        pen.text(line, rect.x, rect.y + 156.0 + n as f32 * 16.0, 12.0, TEXT_DIM);
    }
    pressed
}

/// The sliders.
fn conditions(pen: &Pen, ui: &mut Ui, rect: Rect, link: LinkSettings) -> Option<LinkSettings> {
    pen.strong("Network", rect.x, rect.y + 14.0, SIZE, TEXT);
    let mut values = values_of(&link);
    let mut changed = false;
    let width = 78.0;
    for (n, (name, text, preset)) in PRESETS.into_iter().enumerate() {
        let x = rect.x + rect.w - (3 - n) as f32 * (width + 6.0) + 6.0;
        if ui.button(pen, name, Rect::new(x, rect.y - 2.0, width, 24.0), text, values == preset) {
            values = preset;
            changed = true;
        }
    }
    for (n, (name, scale)) in SLIDERS.iter().enumerate() {
        let line = Rect::new(rect.x, rect.y + 32.0 + n as f32 * 31.0, rect.w, 28.0);
        changed |= ui.slider(pen, name, line, &mut values[n], scale);
    }
    changed.then(|| link_of(values, link))
}

fn values_of(link: &LinkSettings) -> [f32; 5] {
    let percent = |ppm: u32| (ppm / 10_000) as f32;
    [
        link.latency.as_millis() as f32,
        link.jitter.as_millis() as f32,
        percent(link.loss_ppm),
        percent(link.duplicate_ppm),
        percent(link.reorder_ppm),
    ]
}

fn link_of(values: [f32; 5], link: LinkSettings) -> LinkSettings {
    let [latency, jitter, loss, duplicates, reorder] = values.map(|value| value as u32);
    LinkSettings {
        latency: Duration::from_millis(latency.into()),
        jitter: Duration::from_millis(jitter.into()),
        loss_ppm: loss * 10_000,
        duplicate_ppm: duplicates * 10_000,
        reorder_ppm: reorder * 10_000,
        reorder_hold: REORDER_HOLD,
        ..link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_survive_the_way_to_the_network_and_back() {
        for (name, _, values) in PRESETS {
            assert_eq!(values_of(&link_of(values, LinkSettings::default())), values, "{name}");
            assert!(values.iter().zip(&SLIDERS).all(|(value, (_, scale))| *value <= scale.max), "{name}");
        }
    }
}
