//! Two plots: how many times faster than each peer, and how the time of a step grows with the crowd.

use std::path::Path;

use plotters::prelude::*;

use crate::engine::Contender;
use crate::report::Report;
use crate::simulate::StepRow;

type PlotResult = Result<(), Box<dyn std::error::Error>>;

const FONT: &str = "sans-serif";

fn colour(engine: &str) -> RGBColor {
    match engine {
        "testudo" => RGBColor(0x1b, 0x7f, 0x4b),
        "testudo-avx2" => RGBColor(0x3c, 0x96, 0x63),
        "testudo-sse42" => RGBColor(0x6f, 0xb5, 0x8b),
        "testudo-plain" => RGBColor(0xa8, 0xd6, 0xb7),
        "rapier" => RGBColor(0xc2, 0x5b, 0x1e),
        _ => RGBColor(0x2f, 0x5d, 0xa8),
    }
}

fn shown_name(engine: &str) -> &str {
    match engine {
        "testudo" => "Testudo",
        "testudo-avx2" => "Testudo without AVX-512",
        "testudo-sse42" => "Testudo without AVX2",
        "testudo-plain" => "Testudo, plain code",
        "rapier" => "rapier2d",
        "box2d" => "Box2D v3",
        other => other,
    }
}

/// Writes `speed.svg` and `growth.svg` into `folder`.
pub fn plot(report: &Report, folder: &Path) -> PlotResult {
    std::fs::create_dir_all(folder)?;
    bars(report, &folder.join("speed.svg"))?;
    growth(report, &folder.join("growth.svg"))
}

/// One group of bars for each scene: time by that of the slowest engine, so that scenes of all sizes fit.
fn bars(report: &Report, path: &Path) -> PlotResult {
    let mut groups: Vec<Vec<&StepRow>> = Vec::new();
    for row in &report.simulated {
        match groups.iter_mut().find(|group| group[0].scene == row.scene && group[0].count == row.count) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let is_peer = |row: &&StepRow| !row.engine.starts_with("testudo");
    groups.retain(|group| group.iter().any(is_peer) && !group.iter().all(is_peer));
    if groups.is_empty() {
        return Ok(());
    }
    let root = SVGBackend::new(path, (960, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            "Thread CPU time of a frame by that of the slowest engine (lower is better; labels in ms)",
            (FONT, 18),
        )
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..groups.len() as f64, 0.0..1.15)?;
    let label = |x: &f64| {
        let group = groups.get(*x as usize).map(|group| group[0]);
        group.map_or(String::new(), |row| format!("{} {}", row.scene, thousands(row.count)))
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(TRANSPARENT)
        .y_labels(6)
        .y_label_formatter(&|part| format!("{:.0} %", part * 100.0))
        .draw()?;
    for (place, group) in groups.iter().enumerate() {
        let slowest = group.iter().map(|row| row.frame_ms.median).fold(0.0, f64::max);
        let width = 0.8 / group.len() as f64;
        for (bar, row) in group.iter().enumerate() {
            let left = place as f64 + 0.1 + bar as f64 * width;
            let part = row.frame_ms.median / slowest;
            let style = colour(&row.engine).filled();
            chart.draw_series([Rectangle::new([(left, 0.0), (left + width * 0.92, part)], style)])?;
            let time = format!("{}", Milliseconds(row.frame_ms.median));
            chart.draw_series([Text::new(time, (left, part + 0.045), (FONT, 11).into_font())])?;
        }
        let name = label(&(place as f64));
        root.draw(&Text::new(
            name,
            chart.backend_coord(&(place as f64 + 0.1, -0.03)),
            (FONT, 14).into_font(),
        ))?;
    }
    let mut x = 50;
    for engine in engines(report) {
        let name = shown_name(engine);
        root.draw(&Rectangle::new([(x, 422), (x + 12, 434)], colour(engine).filled()))?;
        root.draw(&Text::new(name.to_owned(), (x + 18, 421), (FONT, 14).into_font()))?;
        x += 40 + 7 * name.len() as i32;
    }
    root.present()?;
    Ok(())
}

/// Time of a frame over the size of the crowd, both axes logarithmic.
fn growth(report: &Report, path: &Path) -> PlotResult {
    let crowd: Vec<&StepRow> = report.simulated.iter().filter(|row| row.scene == "crowd").collect();
    let counts = || crowd.iter().map(|row| f64::from(row.count));
    let (few, many) = (counts().fold(f64::INFINITY, f64::min), counts().fold(0.0, f64::max));
    if few >= many {
        return Ok(());
    }
    let times = || crowd.iter().map(|row| row.frame_ms.median);
    let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let root = SVGBackend::new(path, (720, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Crowd: milliseconds per frame over the number of units", (FONT, 18))
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d((few * 0.8..many * 1.25).log_scale(), (low * 0.7..high * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .x_label_formatter(&|count| thousands(*count as u32))
        .y_label_formatter(&|time| format!("{}", Milliseconds(*time)))
        .draw()?;
    for engine in engines(report) {
        let mut points: Vec<(f64, f64)> = crowd
            .iter()
            .filter(|row| row.engine == engine)
            .map(|row| (f64::from(row.count), row.frame_ms.median))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let style = colour(engine).stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.clone(), style))?
            .label(shown_name(engine))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour(engine).filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 14))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    root.present()?;
    Ok(())
}

/// Engines that took part, in the order of [`Contender`].
fn engines(report: &Report) -> Vec<&'static str> {
    [
        Contender::Testudo,
        Contender::TestudoAvx2,
        Contender::TestudoSse42,
        Contender::TestudoPlain,
        Contender::Rapier,
        Contender::Box2d,
    ]
    .map(Contender::name)
    .into_iter()
    .filter(|name| report.simulated.iter().any(|row| row.engine == *name))
    .collect()
}

fn thousands(count: u32) -> String {
    if count >= 1_000 { format!("{}k", count / 1_000) } else { count.to_string() }
}

/// A time with two or three digits that matter.
struct Milliseconds(f64);

impl std::fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.0 >= 10.0 {
            0
        } else if self.0 >= 1.0 {
            1
        } else {
            2
        };
        write!(f, "{:.digits$}", self.0)
    }
}
