//! `cubes`: opens a window, or prints how far left and right are apart.

use serde::Serialize;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, PlayoutMode};

use crate::app::MatchError;
use crate::cli::args::CubesArgs;
use crate::cli::headless::progress_bar;
use crate::cli::plot::{Plot, PlotFile, Series};
use crate::cli::{Failed, needs_window, tell_no_window, window};
use crate::console::{out, outln};
use crate::pair::{CubesMatch, CubesOutcome, CubesSpec, FRAMES_MAX, Moment, PLAYOUT_DELAY};
use crate::view;
use testudo_cubes::{Autopilot, FRAMES_PER_SECOND, Setup};

/// A cube that is displaced by its own width is visibly somewhere else. This is the mean of the widths, units.
const CUBE_WIDTH: f64 = 0.75;

/// The keys of `--json`.
#[derive(Debug, Serialize)]
struct CubesReport {
    cubes: u32,
    frames: u32,
    seed: u64,
    final_checksum: String,
    checksums_agree: bool,
    first_divergent_frame: Option<u32>,
    /// Over the whole run: left, right.
    client_checksums: [String; 2],
    frames_compared: u32,
    delay_ms_mean: f64,
    delay_ms_max: f64,
    stalled_frames: u64,
    late_fraction: f64,
    delivered_fraction: f64,
    /// Everything that the left side sends: keys, acknowledgements, headers.
    bytes_per_second: f64,
    contacts_mean: f64,
    fixed: Distances,
    float: Distances,
}

/// Distance between left and right in the same scene.
#[derive(Debug, Serialize)]
struct Distances {
    first_divergent_frame: Option<u32>,
    /// Distance of the cube furthest off: in the worst frame, and in the last one. Units.
    max: f64,
    final_max: f64,
    /// Mean over all cubes in the last frame. Units.
    final_mean: f64,
}

/// Seconds without `--seconds`: without a window, and in one.
const TOLD_SECONDS: u32 = 60;
const PLAYED_SECONDS: u32 = FRAMES_MAX / FRAMES_PER_SECOND;

pub(crate) fn cubes(options: &CubesArgs, json: bool) -> Result<bool, Failed> {
    if json {
        needs_window(&options.window, "--json")?;
    }
    if json || options.headless || options.divergence.is_some() {
        return told(options, json);
    }
    // A person changes the network while it runs, so the buffer adapts.
    let playout = PlayoutMode::Adaptive { late_ppm: 1_000, start: PLAYOUT_DELAY };
    let spec = spec(options, PLAYED_SECONDS, playout)?;
    match view::open_cubes(spec, window(&options.window)?) {
        Err(MatchError::NoDisplay(why)) => {
            tell_no_window(&why, "an autopilot plays", &options.window);
            told(options, json)
        }
        shown => Ok(shown?),
    }
}

fn spec(options: &CubesArgs, seconds: u32, playout: PlayoutMode) -> Result<CubesSpec, Failed> {
    let frames = options.seconds.unwrap_or(seconds) * FRAMES_PER_SECOND;
    if let Some(frame) = options.corrupt_frame.filter(|frame| *frame >= frames) {
        return Err(Failed::usage(format!("--corrupt-frame is {frame}, but there are 0 to {}", frames - 1)));
    }
    Ok(CubesSpec {
        setup: Setup { cubes: options.cubes, seed: options.seed },
        frames,
        link: LinkConfig::new()
            .latency(Duration::from_millis(options.latency_ms))
            .jitter(Duration::from_millis(options.jitter_ms))
            .loss_ppm(options.loss),
        playout,
        corrupt_frame: options.corrupt_frame,
    })
}

/// An autopilot plays as fast as possible; then the result is printed.
fn told(options: &CubesArgs, json: bool) -> Result<bool, Failed> {
    let spec = spec(options, TOLD_SECONDS, PlayoutMode::Fixed(PLAYOUT_DELAY))?;
    let file = options.divergence.as_deref().map(PlotFile::create).transpose()?;
    let mut keys = Autopilot::new(options.seed);
    let bar = progress_bar("frame", spec.frames.into());
    let outcome = CubesMatch::start(&spec)
        .and_then(|running| running.finish(|| keys.press(), |frame| bar.set_position(frame.into())));
    bar.finish_and_clear();
    let outcome = outcome?;
    let report = CubesReport::new(&outcome);
    // Before the result is printed: with --json that or the failure is the one object.
    let path = file.map(|file| file.write(&plot(&outcome, &report).to_svg())).transpose()?;
    if json {
        super::print_json(&report);
    } else {
        out!("{}", report.summary());
        path.iter().for_each(|path| outln!("  plot        {}", path.display()));
    }
    Ok(report.checksums_agree)
}

impl CubesReport {
    fn new(outcome: &CubesOutcome) -> Self {
        let (frames, compared) = (outcome.spec.frames, outcome.moments.len());
        let delays = outcome.moments.iter().map(|moment| moment.delay.as_micros());
        let (sent, lost) = outcome.packets;
        let [left, right] = outcome.checksums.map(|checksum| format!("{checksum:016x}"));
        let fixed =
            Distances::new(outcome.moments.iter().map(|moment| (moment.fixed.max, moment.fixed.mean)));
        let float =
            Distances::new(outcome.moments.iter().map(|moment| (moment.float.max, moment.float.mean)));
        Self {
            cubes: outcome.spec.setup.cubes,
            frames,
            seed: outcome.spec.setup.seed,
            final_checksum: left.clone(),
            checksums_agree: outcome.agrees(),
            first_divergent_frame: outcome.first_divergent_frame(),
            client_checksums: [left, right],
            frames_compared: compared as u32,
            delay_ms_mean: delays.clone().sum::<u64>() as f64 / 1e3 / compared.max(1) as f64,
            delay_ms_max: delays.max().unwrap_or(0) as f64 / 1e3,
            stalled_frames: outcome.stalled_frames,
            late_fraction: outcome.late_frames as f64 / f64::from(frames),
            delivered_fraction: (sent - lost) as f64 / sent.max(1) as f64,
            bytes_per_second: outcome.bytes_sent as f64 * f64::from(FRAMES_PER_SECOND) / f64::from(frames),
            contacts_mean: outcome.contacts_mean,
            fixed,
            float,
        }
    }

    fn seconds(&self) -> u32 {
        self.frames / FRAMES_PER_SECOND
    }

    fn summary(&self) -> String {
        let result = match self.first_divergent_frame {
            Some(frame) => format!("DIFFERENT from frame {frame} on: {}", self.client_checksums.join(", ")),
            None if self.checksums_agree => {
                format!("{}; equal in every one of {} frames", self.final_checksum, self.frames_compared)
            }
            None => format!("DIFFERENT: {}", self.client_checksums.join(", ")),
        };
        let apart = match self.float.first_divergent_frame {
            Some(frame) => format!(
                "differs from frame {frame} on; at the end the furthest cube is {:.1} units off, the mean distance is {:.1}",
                self.float.final_max, self.float.final_mean
            ),
            None => "no difference".into(),
        };
        let loss = 100.0 * (1.0 - self.delivered_fraction);
        format!(
            "Scene over: {} cubes and the player's, {} s, left and right {:.2} s apart.
  fixed point {result}
  f32         the same scene, contacts in another order on the right: {apart}
  network     {loss:.0} % of the packets lost; {:.0} bytes/s of keys; {} frames of waiting, {:.2} % of the keys too late
",
            self.cubes,
            self.seconds(),
            self.delay_ms_mean / 1e3,
            self.bytes_per_second,
            self.stalled_frames,
            100.0 * self.late_fraction,
        )
    }
}

impl Distances {
    /// From the largest and the mean distance of each frame.
    fn new(frames: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let (final_max, final_mean) = frames.clone().last().unwrap_or_default();
        Self {
            first_divergent_frame: frames.clone().position(|(max, _)| max > 0.0).map(|frame| frame as u32),
            max: frames.map(|(max, _)| max).fold(0.0, f64::max),
            final_max,
            final_mean,
        }
    }
}

fn plot(outcome: &CubesOutcome, report: &CubesReport) -> Plot {
    let seconds = |frame: usize| frame as f64 / f64::from(FRAMES_PER_SECOND);
    let series = |name: &str, color, value: fn(&Moment) -> f64| Series {
        name: name.into(),
        color,
        points: outcome.moments.iter().enumerate().map(|(at, moment)| (seconds(at), value(moment))).collect(),
    };
    let first = report.float.first_divergent_frame;
    let first = first.map_or(String::new(), |frame| format!("; f32 first differs in frame {frame}"));
    Plot {
        title: "Distance between the cubes on the left and on the right, given the same keys".into(),
        subtitle: format!(
            "{} cubes, {} s; the right side plays {:.2} s later; only six keys per frame cross the network{first}",
            report.cubes,
            report.seconds(),
            report.delay_ms_mean / 1e3,
        ),
        x_label: "seconds".into(),
        y_label: "distance, units".into(),
        mark: Some((CUBE_WIDTH, "a cube's width".into())),
        series: vec![
            series("f32: furthest cube", "#d55e00", |moment| moment.float.max),
            series("f32: mean", "#e69f00", |moment| moment.float.mean),
            series("fixed point: furthest cube", "#0072b2", |moment| moment.fixed.max),
        ],
    }
}
