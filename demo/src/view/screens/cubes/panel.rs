//! What crosses the network, whether both sides are equal, and the means to make it worse.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use testudo_lockstep::simnet::Transport;

use crate::app::Sample;
use crate::app::words::count;
use crate::pair::{LiveCubes, Moment};
use crate::view::hud::conditions;
use crate::view::hud::panel::{PanelAction, columns, comparison, list, narrow, verdict};
use crate::view::widgets::graph::{self, Curve};
use crate::view::widgets::ui::Ui;
use testudo_cubes::FRAMES_PER_SECOND;
use testudo_render::paint::batch::Batch;
use testudo_render::paint::palette::{BACKDROP, BAD, GOOD, TEXT_DIM, WARN, army};
use testudo_render::paint::pen::{Pen, SMALL};

/// Widths of the columns; the graph takes the rest.
const COLUMNS: [f32; 3] = [262.0, 280.0, 372.0];

/// Width of a frame's tick, pixels.
const TICK: f32 = 2.0;

/// Below these widths there are no measurements, and the conditions are below the checksums, pixels.
const NARROW: f32 = 946.0;
const BELOW: f32 = 600.0;

/// Height of the panel, with its columns side by side or one below the other; and what it leaves to the scenes, pixels.
const HIGH: f32 = 214.0;
const HIGH_NARROW: f32 = 404.0;
const SCENES: f32 = 340.0;

/// Height of the panel in a window of this size.
pub(super) fn height(size: Vec2) -> f32 {
    if size.x < BELOW { HIGH_NARROW.min(size.y - SCENES).max(HIGH) } else { HIGH }
}

/// Draws the panel and asks its widgets.
pub(super) fn draw(ui: &mut Ui, rect: Rect, live: &LiveCubes) -> Option<PanelAction> {
    let [sums, network] = if rect.w < NARROW {
        narrow(ui, rect, BELOW, COLUMNS[1], vec2(COLUMNS[1], 194.0))
    } else {
        let ([first, sums, network], graph) = columns(ui, rect, COLUMNS);
        frames(&ui.pen, first, live);
        if let Some(graph) = graph {
            let values = |value: fn(&Sample) -> u32| live.samples().map(value).collect::<Vec<u32>>();
            let behind = |sample: &Sample| sample.behind_frames * 1_000 / FRAMES_PER_SECOND;
            let curve = Curve { name: "delay", color: army(0), values: values(behind) };
            graph::draw(&mut ui.batch, &ui.pen, graph, &[curve], &values(|sample| sample.stalled_frames));
        }
        [sums, network]
    };
    let corrupt = checksums(ui, sums, live);
    let network = conditions::draw(ui, network, live.spec().link, &conditions::WATCHER);
    corrupt.then_some(PanelAction::Corrupt).or(network.map(PanelAction::Network))
}

/// Frame numbers, the latency between them, traffic.
fn frames(pen: &Pen, rect: Rect, live: &LiveCubes) {
    let recent: Vec<&Sample> = live.samples().rev().take(50).collect();
    let sum = |value: fn(&Sample) -> u32| recent.iter().map(|sample| value(sample)).sum::<u32>();
    let (sent, lost, rate) =
        (sum(|sample| sample.packets), sum(|sample| sample.lost), sum(|sample| sample.bytes_per_second));
    let delay = live.moments().last().map_or(0, |moment| moment.delay.as_millis());
    let lines = [
        ("left, right", format!("{}, {}", live.frame(0), live.frame(1))),
        ("delay", format!("{}.{:02} s", delay / 1_000, delay % 1_000 / 10)),
        ("sent by both", format!("{} bytes/s", rate / recent.len().max(1) as u32)),
        match live.spec().link.transport {
            Transport::Udp => ("in flight", format!("{} packets", live.net().in_flight())),
            // What keeps the order holds packets back.
            _ => ("held back", format!("{} behind a lost one", live.net().held_back())),
        },
        ("packets lost", format!("{:.1} %", f64::from(lost) * 100.0 / f64::from(sent.max(1)))),
        ("contacts", format!("{}", live.side(0).fixed.world().contact_count())),
    ];
    list(pen, rect, "Frames", &lines);
    let (text, color) = waiting(live);
    pen.text(&text, rect.x, rect.y + 36.0 + 6.6 * 18.0, SMALL, color);
}

/// Whether the right side has what it needs.
fn waiting(live: &LiveCubes) -> (String, Color) {
    let recent: u32 = live.samples().rev().take(30).map(|sample| sample.stalled_frames).sum();
    match live.late_by() {
        Some(late) => (format!("the right side waits: keys {} ms late", late.as_millis()), BAD),
        None if recent > 0 => (format!("keys came late: waited {}", count(recent, "frame")), WARN),
        None => ("all keys arrive before they are due".into(), GOOD),
    }
}

/// Whether the sides agree, frame by frame, and the button that breaks one.
fn checksums(ui: &mut Ui, rect: Rect, live: &LiveCubes) -> bool {
    // The title says which scene is meant: the pictures beside it may be those in f32, which differ.
    let (broken, count) = (live.first_difference(), live.moments().len() as u32);
    let sums = ["left", "right"].into_iter().zip(live.checksums().map(|sum| format!("{sum:016x}")));
    let (title, verdict) = ("Fixed point, checksums of every frame", verdict(count, "frame", broken, false));
    comparison(&ui.pen, rect, title, &sums.collect::<Vec<_>>(), &verdict);
    ticks(&mut ui.batch, Rect::new(rect.x, rect.y + 86.0, rect.w, 16.0), live.moments());
    let float = live.moments().last().map_or(0.0, |moment| moment.float.max);
    let text = format!("f32, contacts shuffled on the right: {float:.2} apart");
    ui.pen.text(&text, rect.x, rect.y + 121.0, SMALL, if float > 0.0 { WARN } else { TEXT_DIM });
    let button = Rect::new(rect.x, rect.y + 133.0, rect.w, 30.0);
    let pressed = ui.button("corrupt", button, "Corrupt one bit", broken.is_some());
    ui.pen.text("of the right cube's position", rect.x, rect.y + 180.0, 12.0, TEXT_DIM);
    pressed
}

/// The last frames compared, one tick each, the newest on the right.
fn ticks(batch: &mut Batch, rect: Rect, moments: &[Moment]) {
    batch.block(rect, BACKDROP);
    let room = (rect.w / TICK) as usize;
    let skipped = moments.len().saturating_sub(room);
    for (n, moment) in moments[skipped..].iter().enumerate() {
        let number = (skipped + n) as u32;
        // Every second of the scene is a little taller, so that one sees it run.
        let inset = if number.is_multiple_of(FRAMES_PER_SECOND) { 0.0 } else { 4.0 };
        let color = if moment.agrees { GOOD } else { BAD };
        let x = rect.x + n as f32 * TICK;
        batch.block(Rect::new(x, rect.y + inset, TICK - 0.5, rect.h - 2.0 * inset), color);
    }
    batch.draw();
}
