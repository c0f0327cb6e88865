//! A plot of a few lines over time as an SVG. The scale is logarithmic, with a separate place for exact zero below it.
//! It writes the SVG itself: a plotting library would add packages to the first command, for lines and labels on one pair of axes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use crate::cli::Failed;

/// A file for a plot. It is made before what the plot shows is measured, so that one that cannot be written fails at once.
pub(crate) struct PlotFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> PlotFile<'a> {
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn create(path: &'a Path) -> Result<Self, Failed> {
        let file = File::create(path).map_err(|error| Failed::usage(unwritten(path, &error)))?;
        Ok(Self { path, file })
    }

    /// # Errors
    /// The disk is full, or gone.
    pub(crate) fn write(mut self, svg: &str) -> Result<&'a Path, Failed> {
        let written = self.file.write_all(svg.as_bytes());
        written.map_err(|error| Failed { code: 1, sentence: unwritten(self.path, &error) })?;
        Ok(self.path)
    }
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// Lines over one axis.
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// A horizontal line with a label, for orientation.
    pub(crate) mark: Option<(f64, String)>,
    /// Drawn in this order, the last on top.
    pub(crate) series: Vec<Series>,
}

/// One line. Values are not negative.
pub(crate) struct Series {
    pub(crate) name: String,
    /// An SVG colour.
    pub(crate) color: &'static str,
    /// In ascending order of x.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Size of the image, and the frame of the plot in it, pixels.
const SIZE: (f64, f64) = (960.0, 460.0);
const LEFT: f64 = 86.0;
const RIGHT: f64 = 930.0;
const TOP: f64 = 100.0;
/// Height of the end of the smallest decade, and of zero.
const FLOOR: f64 = 360.0;
const ZERO: f64 = 388.0;

/// Most decades on the scale.
const DECADES_MAX: i32 = 16;

/// Points within this many pixels are drawn as one, the largest.
const COLUMN: f64 = 1.5;

impl Plot {
    /// Renders the plot.
    pub(crate) fn to_svg(&self) -> String {
        let scale = Scale::of(&self.series);
        let mut svg = Svg::new(SIZE, (LEFT, 28.0), [&self.title, &self.subtitle]);
        self.legend(&mut svg);
        self.axes(&mut svg, &scale);
        for series in &self.series {
            let points = scale.columns(&series.points);
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            svg.line(&format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
                path.join(" "),
                series.color
            ));
        }
        svg.finish()
    }

    fn legend(&self, svg: &mut Svg) {
        let mut x = LEFT;
        for series in &self.series {
            let (end, y) = (x + 22.0, 74.0);
            svg.line(&format!(
                "<line x1=\"{x}\" y1=\"{y}\" x2=\"{end}\" y2=\"{y}\" stroke=\"{}\" stroke-width=\"3\"/>",
                series.color
            ));
            svg.text((end + 6.0, y + 4.0), "start", "fill=\"#1b2128\"", &series.name);
            x = end + 30.0 + 7.0 * series.name.len() as f64;
        }
    }

    fn axes(&self, svg: &mut Svg, scale: &Scale) {
        let dim = "fill=\"#56616d\"";
        let mut across = |y: f64, name: &str, style: &str| {
            svg.line(&format!("<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" {style}/>"));
            svg.text((LEFT - 8.0, y + 4.0), "end", dim, name);
        };
        for decade in scale.decades.0..=scale.decades.1 {
            let name = match decade {
                -2..=4 => format!("{}", 10_f64.powi(decade)),
                _ => format!("1e{decade}"),
            };
            across(scale.y(10_f64.powi(decade)), &name, "stroke=\"#dde2e7\"");
        }
        across(ZERO, "0 exactly", "stroke=\"#98a3ae\"");
        if let Some((value, name)) = &self.mark {
            let y = scale.y(*value);
            svg.line(&format!(
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#98a3ae\" stroke-dasharray=\"5 4\"/>"
            ));
            svg.text((RIGHT, y - 5.0), "end", dim, name);
        }
        for step in 0..=6 {
            let (part, at) =
                (f64::from(step) / 6.0, (LEFT + (RIGHT - LEFT) * f64::from(step) / 6.0, ZERO + 22.0));
            svg.text(at, "middle", dim, &format!("{}", (scale.x_end * part * 10.0).round() / 10.0));
        }
        svg.text((f64::midpoint(LEFT, RIGHT), ZERO + 44.0), "middle", dim, &self.x_label);
        let y = f64::midpoint(TOP, FLOOR);
        let turned = format!("{dim} transform=\"rotate(-90 18 {y})\"");
        svg.text((18.0, y), "middle", &turned, &self.y_label);
    }
}

/// From values to pixels.
struct Scale {
    x_end: f64,
    /// Powers of ten at the lower and the upper end.
    decades: (i32, i32),
}

impl Scale {
    /// The smallest scale that holds every value. Values that are too small next to the largest one lie on its lower end.
    fn of(series: &[Series]) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let sizes = points().map(|point| point.1).filter(|value| *value > 0.0);
        let (low, high) =
            sizes.fold((1.0, 1.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        let x_end = points().map(|point| point.0).fold(0.0, f64::max);
        let top = (high.log10().ceil() as i32).max(1);
        let bottom = (low.log10().floor() as i32).min(-1).max(top - DECADES_MAX);
        Self { x_end: if x_end > 0.0 { x_end } else { 1.0 }, decades: (bottom, top) }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * value / self.x_end
    }

    fn y(&self, value: f64) -> f64 {
        if value <= 0.0 {
            return ZERO;
        }
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        FLOOR - (FLOOR - TOP) * (value.log10().max(low) - low) / (high - low)
    }

    /// One point per column of pixels: a line cannot show more.
    fn columns(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut drawn: Vec<(f64, f64)> = Vec::new();
        for &(x, value) in points {
            let (x, y) = (LEFT + ((self.x(x) - LEFT) / COLUMN).round() * COLUMN, self.y(value));
            match drawn.last_mut() {
                Some(last) if last.0 == x => last.1 = last.1.min(y),
                _ => drawn.push((x, y)),
            }
        }
        drawn
    }
}

pub(crate) struct Svg(String);

impl Svg {
    /// A white picture of this size with a title and what stands below it.
    pub(crate) fn new((width, height): (f64, f64), (x, y): (f64, f64), [title, subtitle]: [&str; 2]) -> Self {
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        ));
        svg.text((x, y), "start", "font-size=\"18\" fill=\"#1b2128\"", title);
        svg.text((x, y + 20.0), "start", "fill=\"#56616d\"", subtitle);
        svg
    }

    pub(crate) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }

    pub(crate) fn line(&mut self, element: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{element}");
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: &str, style: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.line(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{text}</text>"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: &[f64]) -> Plot {
        let points = values.iter().enumerate().map(|(at, value)| (at as f64, *value)).collect();
        let series = Series { name: "a < b".into(), color: "#000000", points };
        let [title, subtitle, x_label, y_label] = ["t", "s", "x", "y"].map(String::from);
        Plot { title, subtitle, x_label, y_label, mark: None, series: vec![series] }
    }

    #[test]
    fn zero_has_a_place_of_its_own_and_larger_is_higher() {
        let scale = Scale::of(&plot(&[0.0, 1e-6, 0.5, 30.0]).series);
        assert_eq!((scale.decades, scale.x_end), ((-6, 2), 3.0));
        let places = [0.0, 1e-6, 0.5, 30.0].map(|value| scale.y(value));
        assert_eq!((places[0], places[1]), (ZERO, FLOOR));
        assert!(places.windows(2).all(|pair| pair[0] > pair[1]), "{places:?}");
    }

    #[test]
    fn any_values_make_a_picture() {
        for values in [&[][..], &[0.0], &[0.0; 5_000], &[1e-300, 1e300], &[7.0, 7.0]] {
            let svg = plot(values).to_svg();
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b"));
            assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.len() < 60_000, "{values:?}");
        }
    }
}
