//! The whole match as a strip: compared turns, units and kills, fallen keeps, departures, the winner, and the first difference.

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};
use testudo_lockstep::replay::Timetable;

use crate::app::playback::{ArmySample, Course};
use crate::view::widgets::ui::Ui;
use testudo_render::paint::atlas::Sprite;
use testudo_render::paint::batch::Batch;
use testudo_render::paint::palette::{
    BACKDROP, BAD, GOOD, LINE, PANEL_BRIGHT, TEXT, TEXT_DIM, WARN, army, faded,
};
use testudo_render::paint::pen::{Pen, SMALL};

/// Height of the strip of compared turns, and of the times below it, pixels.
const TRACK: f32 = 12.0;
const TIMES: f32 = 18.0;

/// Height of the names of the curves above them; a lower strip than this has none, pixels.
const NAMES: f32 = 30.0;
const LOW: f32 = 50.0;

/// Least distance between two times, pixels.
const TIMES_APART: f32 = 90.0;

/// Base line of the first row of words beside marks below the upper edge, the height of a row, and the number of rows, pixels.
const WORDS: f32 = 26.0;
const ROW: f32 = 14.0;
const ROWS: usize = 3;

/// Distance of words from their mark, and least distance between two of them, pixels.
const BESIDE: f32 = 8.0;
const APART: f32 = 6.0;

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
        // Below the names, which a line would strike through.
        let top = graph.y + names_height(graph) / 2.0;
        draw_graph(&mut ui.batch, graph, course);
        draw_track(&mut ui.batch, track, course);
        for mark in marks(course) {
            let x = x_of(rect, course.timetable(), end_of(course.timetable(), mark.turn));
            ui.batch.line(vec2(x, top), vec2(x, track.y + track.h), 2.0, mark.color);
            ui.batch.sprite(Sprite::Ball, vec2(x, top + 2.0), 4.0, mark.color);
        }
        let wanted = ui.scrub("timeline", Rect { h: graph.h + track.h, ..rect });
        let x = x_of(rect, course.timetable(), course.frame());
        if course.is_seeking() {
            // The target, and the distance to it.
            let to = x_of(rect, course.timetable(), course.target());
            let way = Rect::new(x.min(to), track.y + 2.0, (to - x).abs(), track.h - 4.0);
            ui.batch.block(way, faded(TEXT, 0.35));
            ui.batch.line(vec2(to, top), vec2(to, track.y + track.h), 1.0, TEXT_DIM);
        }
        ui.batch.line(vec2(x, top), vec2(x, track.y + track.h), 2.0, TEXT);
        ui.batch.sprite(Sprite::Ball, vec2(x, track.y + track.h / 2.0), 8.0, TEXT);
        ui.batch.draw();
        draw_times(&ui.pen, rect, course.timetable());
        draw_names(&ui.pen, graph, course);
        draw_words(&ui.pen, graph, course);
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
    let (room, base) = (rect.h - names_height(rect), rect.bottom());
    let kills = |before: ArmySample, after: ArmySample| after.all_kills().saturating_sub(before.all_kills());
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

/// Height of the names above the curves.
fn names_height(rect: Rect) -> f32 {
    if rect.h < LOW { 0.0 } else { NAMES }
}

/// What the curves are, as far as there is room for it.
fn draw_names(pen: &Pen, rect: Rect, course: &Course) {
    if names_height(rect) == 0.0 {
        return;
    }
    let mut x = rect.x + 4.0;
    let players = (0..course.terms().setup.players).take(4);
    let players = players.map(|player| (format!("player {}", player + 1), army(player)));
    let words = core::iter::once(("units alive:".to_owned(), TEXT_DIM)).chain(players);
    for (text, color) in words.chain([("bars: kills".to_owned(), TEXT_DIM)]) {
        if x + pen.width(&text, SMALL) > rect.right() {
            return;
        }
        x = pen.text(&text, x, rect.y + 11.0, SMALL, color) + 8.0;
    }
}

/// Words beside the marks, as far as there is room: the last ones first, which are the winner and a difference.
fn draw_words(pen: &Pen, rect: Rect, course: &Course) {
    let marks: Vec<Mark> = marks(course).into_iter().rev().filter(|mark| !mark.text.is_empty()).collect();
    let x = |mark: &Mark| x_of(rect, course.timetable(), end_of(course.timetable(), mark.turn));
    let wide: Vec<(f32, f32)> = marks.iter().map(|mark| (x(mark), pen.width(&mark.text, SMALL))).collect();
    for (mark, place) in marks.iter().zip(places(rect, &wide)) {
        if let Some((left, row)) = place {
            let first = rect.y + WORDS - (NAMES - names_height(rect)) / 2.0;
            pen.text(&mark.text, left, first + row as f32 * ROW, SMALL, mark.color);
        }
    }
}

/// Left edge and row of each text, given its mark and its width: beside the mark, in the first row where no earlier text of the list is.
/// None if every row is full.
fn places(rect: Rect, texts: &[(f32, f32)]) -> Vec<Option<(f32, usize)>> {
    let rows = if names_height(rect) == 0.0 { 1 } else { ROWS };
    let mut taken: [Vec<(f32, f32)>; ROWS] = Default::default();
    let mut place = |&(x, wide): &(f32, f32)| {
        let sides = [x + BESIDE, x - BESIDE - wide];
        let inside = sides.into_iter().filter(|left| *left >= rect.x && left + wide <= rect.right());
        let free = |row: &[(f32, f32)], left: f32| {
            row.iter().all(|(from, to)| left + wide + APART <= *from || *to + APART <= left)
        };
        let found = (0..rows)
            .find_map(|row| inside.clone().find(|left| free(&taken[row], *left)).map(|left| (left, row)));
        found.inspect(|(left, row)| taken[*row].push((*left, left + wide)))
    };
    texts.iter().map(&mut place).collect()
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

    /// Six players who leave and a winner, in the same few turns, lay over each other at 412 and 640 pixels.
    #[test]
    fn words_beside_marks_lie_neither_over_each_other_nor_outside() {
        for width in [328.0, 380.0, 608.0, 1_328.0] {
            let rect = Rect::new(16.0, 700.0, width, 68.0);
            for step in [0.0, 3.0, 40.0, 90.0] {
                let texts: Vec<(f32, f32)> = (0..7)
                    .map(|n| (rect.right() - step * n as f32, 70.0 + 20.0 * (n % 3) as f32))
                    .filter(|(x, _)| *x >= rect.x)
                    .collect();
                let all = places(rect, &texts);
                assert!(all[0].is_some(), "{width} {step}: the most notable one has no place");
                let placed: Vec<Rect> = all
                    .iter()
                    .zip(&texts)
                    .filter_map(|(place, (_, wide))| place.map(|at| (at, wide)))
                    .map(|((left, row), wide)| Rect::new(left, row as f32 * ROW, *wide, ROW - 1.0))
                    .collect();
                for (n, one) in placed.iter().enumerate() {
                    assert!(one.x >= rect.x && one.right() <= rect.right(), "{width} {step}: {one:?}");
                    let other = placed[..n].iter().find(|other| other.overlaps(one));
                    assert_eq!(other, None, "{width} {step}: {one:?}");
                }
                assert!(placed.len() >= texts.len().min(3), "{width} {step}: {}", placed.len());
            }
        }
        let rect = Rect::new(0.0, 0.0, 380.0, 68.0);
        assert_eq!(places(rect, &[(100.0, 80.0)]), [Some((108.0, 0))], "to the right of its mark");
        assert_eq!(places(rect, &[(370.0, 80.0)]), [Some((282.0, 0))], "or to the left, at the end");
    }

    #[test]
    fn times_are_written_as_clocks_show_them() {
        assert_eq!([0, 61_250, 3_599_999].map(|ms| clock(ms, true)), ["0:00.0", "1:01.2", "59:59.9"]);
        assert_eq!(clock(600_000, false), "10:00");
    }
}
