//! The whole match as a strip: compared turns, units and kills, fallen keeps, departures, the winner, and the first difference.

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};
use testudo_lockstep::replay::Timetable;

use crate::app::playback::{ArmySample, Course};
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::palette::{
    BACKDROP, BAD, GOOD, LINE, PANEL_BRIGHT, TEXT, TEXT_DIM, WARN, army, faded,
};
use crate::view::paint::pen::{Pen, SMALL};
use crate::view::widgets::ui::Ui;

/// Height of the strip of compared turns, and of the times below it, pixels.
const TRACK: f32 = 12.0;
const TIMES: f32 = 18.0;

/// Height of the names of the curves above them, pixels.
const NAMES: f32 = 30.0;

/// Least distance between two times, pixels.
const TIMES_APART: f32 = 90.0;

/// Something at a turn.
struct Mark {
    turn: u32,
    color: Color,
    text: String,
}

/// The strip.
pub(crate) struct Timeline;

impl Timeline {
    /// Draws the strip with the present frame. Returns the frame under the mouse during a drag.
    pub(crate) fn draw(ui: &mut Ui, rect: Rect, course: &Course) -> Option<u64> {
        let graph = Rect { h: rect.h - TRACK - TIMES, ..rect };
        let track = Rect { y: graph.y + graph.h, h: TRACK, ..rect };
        draw_graph(&mut ui.batch, graph, course);
        draw_track(&mut ui.batch, track, course);
        for mark in marks(course) {
            let x = x_of(rect, course.timetable(), end_of(course.timetable(), mark.turn));
            ui.batch.line(vec2(x, graph.y), vec2(x, track.y + track.h), 2.0, mark.color);
            ui.batch.sprite(Sprite::Ball, vec2(x, graph.y + 2.0), 4.0, mark.color);
        }
        let wanted = ui.scrub("timeline", Rect { h: graph.h + track.h, ..rect });
        let x = x_of(rect, course.timetable(), course.frame());
        if course.is_seeking() {
            // The target, and the distance to it.
            let to = x_of(rect, course.timetable(), course.target());
            let way = Rect::new(x.min(to), track.y + 2.0, (to - x).abs(), track.h - 4.0);
            ui.batch.block(way, faded(TEXT, 0.35));
            ui.batch.line(vec2(to, graph.y), vec2(to, track.y + track.h), 1.0, TEXT_DIM);
        }
        ui.batch.line(vec2(x, graph.y), vec2(x, track.y + track.h), 2.0, TEXT);
        ui.batch.sprite(Sprite::Ball, vec2(x, track.y + track.h / 2.0), 8.0, TEXT);
        ui.batch.draw();
        draw_times(&ui.pen, rect, course.timetable());
        draw_names(&ui.pen, graph, course);
        for mark in marks(course) {
            let x = x_of(rect, course.timetable(), end_of(course.timetable(), mark.turn));
            let width = ui.pen.width(&mark.text, SMALL);
            let left = if x + width + 10.0 > rect.x + rect.w { x - width - 8.0 } else { x + 8.0 };
            ui.pen.text(&mark.text, left, graph.y + 26.0, SMALL, mark.color);
        }
        wanted.map(|part| (f64::from(part) * course.timetable().frames() as f64).round() as u64)
    }

    /// Where the first difference stands, a few pixels wide.
    pub(crate) fn divergence(rect: Rect, course: &Course) -> Option<Rect> {
        let turn = course.divergence()?.turn();
        let x = x_of(rect, course.timetable(), end_of(course.timetable(), turn));
        Some(Rect::new(x - 4.0, rect.y, 8.0, rect.h - TIMES))
    }
}

/// Living units of each army as lines, and kills as bars, as far as the comparison has come.
fn draw_graph(batch: &mut Batch, rect: Rect, course: &Course) {
    batch.block(rect, BACKDROP);
    let samples: Vec<(u32, ArmySample)> = course.curve().samples().collect();
    let x = |turn| x_of(rect, course.timetable(), course.timetable().start_of(turn));
    let (room, base) = (rect.h - NAMES, rect.bottom());
    let kills = |before: ArmySample, after: ArmySample| after.all_kills() - before.all_kills();
    let most = samples.windows(2).map(|pair| kills(pair[0].1, pair[1].1)).max().unwrap_or(0).max(1);
    let top = samples.iter().flat_map(|(_, sample)| sample.living).max().unwrap_or(1).max(1) as f32;
    for pair in samples.windows(2) {
        let [(turn, before), (next, after)] = [pair[0], pair[1]];
        let tall = room * (kills(before, after) as f32 / most as f32).sqrt();
        let bar = Rect::new(x(turn), base - tall, (x(next) - x(turn) - 1.0).max(1.0), tall);
        batch.block(bar, faded(TEXT_DIM, 0.35));
        for player in 0..usize::from(course.terms().setup.players) {
            let y = |sample: ArmySample| base - 1.0 - (room - 2.0) * sample.living[player] as f32 / top;
            let (from, to) = (vec2(x(turn), y(before)), vec2(x(next), y(after)));
            batch.line(from, to, 2.0, army(player as u8));
        }
    }
}

/// What the curves are, as far as there is room for it.
fn draw_names(pen: &Pen, rect: Rect, course: &Course) {
    let mut x = pen.text("units alive:", rect.x + 4.0, rect.y + 11.0, SMALL, TEXT_DIM) + 8.0;
    for player in (0..course.terms().setup.players).take(4) {
        x = pen.text(&format!("player {}", player + 1), x, rect.y + 11.0, SMALL, army(player)) + 8.0;
    }
    pen.text("bars: kills", x + 8.0, rect.y + 11.0, SMALL, TEXT_DIM);
}

/// Green: as it was recorded. Red: not. Grey: nobody has looked yet.
fn draw_track(batch: &mut Batch, rect: Rect, course: &Course) {
    let table = course.timetable();
    let checked = x_of(rect, table, table.start_of(course.turns_checked()));
    let good = course.divergence().map_or(checked, |found| x_of(rect, table, end_of(table, found.turn())));
    batch.block(rect, PANEL_BRIGHT);
    batch.block(Rect { w: good.min(checked) - rect.x, ..rect }, faded(GOOD, 0.8));
    if good < checked {
        batch.block(Rect { x: good, w: checked - good, ..rect }, faded(BAD, 0.8));
    }
    batch.frame(rect, 1.0, LINE);
}

/// Marks of notable turns.
fn marks(course: &Course) -> Vec<Mark> {
    let mut marks = Vec::new();
    for told in course.milestones() {
        marks.push(Mark { turn: told.turn, color: told.player.map_or(TEXT_DIM, army), text: told.text });
    }
    if let Some(turn) = course.replay().desync() {
        marks.push(Mark { turn, color: WARN, text: String::new() });
    }
    if let Some(found) = course.divergence() {
        marks.push(Mark { turn: found.turn(), color: BAD, text: "diverged here".into() });
    }
    marks
}

/// The frame after which a turn is over.
fn end_of(timetable: &Timetable, turn: u32) -> u64 {
    timetable.start_of(turn.saturating_add(1))
}

fn x_of(rect: Rect, timetable: &Timetable, frame: u64) -> f32 {
    let part = frame as f64 / timetable.frames().max(1) as f64;
    rect.x + rect.w * part.min(1.0) as f32
}

/// Times below the strip, as many as there is room for.
fn draw_times(pen: &Pen, rect: Rect, timetable: &Timetable) {
    const STEPS: [u64; 12] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
    let seconds = timetable.length().as_millis() as f32 / 1_000.0;
    let wide = |step: u64| rect.w * step as f32 / seconds.max(0.001) >= TIMES_APART;
    let step = STEPS.into_iter().find(|step| wide(*step)).unwrap_or(7_200);
    let base = rect.y + rect.h - 3.0;
    for at in (0..=(seconds as u64)).step_by(step as usize).take(100) {
        let frame = timetable.frame_at(testudo_lockstep::Duration::from_secs(at));
        let x = x_of(rect, timetable, frame);
        pen.text(&clock(at * 1_000, false), x.min(rect.x + rect.w - 30.0), base, SMALL, TEXT_DIM);
    }
}

/// Minutes and seconds, with tenths on request.
pub(crate) fn clock(millis: u64, tenths: bool) -> String {
    let (minutes, seconds) = (millis / 60_000, millis / 1_000 % 60);
    let part = if tenths { format!(".{}", millis / 100 % 10) } else { String::new() };
    format!("{minutes}:{seconds:02}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_clocks_show_them() {
        assert_eq!([0, 61_250, 3_599_999].map(|ms| clock(ms, true)), ["0:00.0", "1:01.2", "59:59.9"]);
        assert_eq!(clock(600_000, false), "10:00");
    }
}
