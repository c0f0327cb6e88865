//! Measurements over the last while.

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};

use testudo_render::paint::batch::Batch;
use testudo_render::paint::palette::{BACKDROP, BAD, LINE, TEXT_DIM, faded};
use testudo_render::paint::pen::{Pen, SMALL};

/// Measurements for which there is room, ten per second.
const SAMPLES_MAX: f32 = 240.0;

/// One line of the graph.
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    pub(crate) color: Color,
    /// Milliseconds, oldest first.
    pub(crate) values: Vec<u32>,
}

/// Draws the curves, and red bars where a player waited: `waiting` has the waiting frames of each measurement.
pub(crate) fn draw(batch: &mut Batch, pen: &Pen, rect: Rect, curves: &[Curve], waiting: &[u32]) {
    let plot = Rect::new(rect.x + 34.0, rect.y + 20.0, rect.w - 40.0, rect.h - 28.0);
    batch.block(plot, BACKDROP);
    let top = scale_top(curves.iter().flat_map(|curve| curve.values.iter().copied()).max().unwrap_or(0));
    for part in [0.0, 0.5, 1.0] {
        let y = plot.y + plot.h * (1.0 - part);
        batch.line(vec2(plot.x, y), vec2(plot.x + plot.w, y), 1.0, LINE);
    }
    let step = plot.w / SAMPLES_MAX;
    let left = plot.x + plot.w - step * waiting.len() as f32;
    for (n, frames) in waiting.iter().enumerate().filter(|(_, frames)| **frames > 0) {
        let tall = plot.h * (0.15 + 0.2 * *frames as f32).min(1.0);
        let bar = Rect::new(left + n as f32 * step, plot.y + plot.h - tall, step.max(1.5), tall);
        batch.block(bar, faded(BAD, 0.55));
    }
    let lines = Rect { x: left, ..plot };
    for Curve { values, color, .. } in curves {
        let heights: Vec<f32> = values.iter().map(|value| *value as f32 / top as f32).collect();
        curve(batch, lines, step, &heights, *color);
    }
    batch.draw();
    let mut x = plot.x;
    for curve in curves {
        x = pen.text(curve.name, x, rect.y + 13.0, SMALL, curve.color) + 14.0;
    }
    x = pen.text("waiting", x, rect.y + 13.0, SMALL, BAD) + 14.0;
    pen.text("last 24 s, in ms", x, rect.y + 13.0, SMALL, TEXT_DIM);
    for part in [0.0, 0.5, 1.0] {
        let text = format!("{}", (top as f32 * part) as u32);
        let width = pen.width(&text, 11.0);
        pen.text(&text, plot.x - 5.0 - width, plot.y + plot.h * (1.0 - part) + 4.0, 11.0, TEXT_DIM);
    }
}

/// Lines over time, the highest of them as high as the plot and all of them as long.
pub(crate) fn plot(batch: &mut Batch, plot: Rect, lines: &[(Color, Vec<f32>)]) {
    batch.block(plot, BACKDROP);
    for half in [0.0, 0.5, 1.0] {
        let y = plot.y + plot.h * half;
        batch.line(vec2(plot.x, y), vec2(plot.right(), y), 1.0, faded(LINE, 0.7));
    }
    let top = lines.iter().flat_map(|(_, values)| values).copied().fold(1.0, f32::max);
    for (color, values) in lines {
        let heights: Vec<f32> = values.iter().map(|value| value / top).collect();
        curve(batch, plot, plot.w / (values.len().max(2) - 1) as f32, &heights, *color);
    }
    batch.draw();
}

/// A line over time through points that are a step apart, each at a height of 0..=1 of the plot.
fn curve(batch: &mut Batch, plot: Rect, step: f32, heights: &[f32], color: Color) {
    let at = |n: usize| vec2(plot.x + n as f32 * step, plot.bottom() - plot.h * heights[n].min(1.0));
    (1..heights.len()).for_each(|n| batch.line(at(n - 1), at(n), 2.0, color));
}

/// A round number of milliseconds above the highest value.
fn scale_top(highest: u32) -> u32 {
    let steps = [200, 400, 600, 1_000, 2_000, 4_000, 10_000, 20_000, 70_000];
    steps.into_iter().find(|step| *step >= highest).unwrap_or(70_000)
}
