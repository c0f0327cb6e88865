//! Side-by-side benchmark: Testudo, rapier2d and Box2D on the same scenes. See `README.md`.

mod doors;
mod engine;
mod engines;
mod field;
mod judge;
mod measure;
mod memory;
mod oracle;
mod plot;
mod quality;
mod queries;
mod report;
mod simulate;
mod state;
mod steering;
mod targets;
mod truths;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use engine::{Contender, Settings};
use report::{Conditions, Report};

/// Runs Testudo, rapier2d and Box2D on the same scenes and compares speed and quality.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only these scenes (repeatable); all by default.
    #[arg(long, value_enum)]
    scene: Vec<SceneName>,
    /// Numbers of bodies instead of the usual ones (repeatable).
    #[arg(long = "n", value_name = "BODIES", value_parser = clap::value_parser!(u32).range(50..=1_000_000))]
    count: Vec<u32>,
    /// Only these engines (repeatable).
    #[arg(long, value_enum)]
    only: Vec<Contender>,
    /// Measured steps instead of the scene's own number.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Solver iterations of rapier2d and substeps of Box2D.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    peer_iterations: u32,
    /// Solver iterations of Testudo instead of its default.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    iterations: Option<u32>,
    /// Starts of each door; the medians are printed.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    starts: u32,
    /// Instead of all that: the true result beside the result of each engine.
    #[arg(long)]
    truths: bool,
    /// Instead of all that: how units flow through doors.
    #[arg(long)]
    doors: bool,
    /// Instead of all that: the same by step size and iterations, beside a judge that is no engine.
    #[arg(long)]
    exactness: bool,
    /// Instead of all that: the cost of pushing one unit of a crowd at rest.
    #[arg(long)]
    poke: bool,
    /// More sizes of the crowd, for the growth curves.
    #[arg(long)]
    growth: bool,
    /// Write all results as JSON to this file; `-` for the standard output, instead of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results into this document and into `measurements.md` beside it, between their marks, and the pictures into the folder `pictures`
    /// there; for a run of everything.
    #[arg(long, value_name = "FILE")]
    fill: Option<PathBuf>,
    /// Draw `speed.svg` and `growth.svg` into this folder.
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
}

impl Arguments {
    fn settings(&self) -> Settings {
        Settings { peer_iterations: self.peer_iterations, iterations: self.iterations, threads: 1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SceneName {
    Crowd,
    Gather,
    Bounce,
    Idle,
    IdleWritten,
    Churn,
    Queries,
    State,
    Memory,
    Threads,
}

/// The sizes whose times per body are compared.
const GROWTH: [u32; 2] = [1_000, 50_000];

impl SceneName {
    /// Numbers of bodies that are run by default.
    fn counts(self, growth: bool) -> &'static [u32] {
        match self {
            SceneName::Crowd if growth => &[1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000],
            SceneName::Crowd => &[1_000, 10_000, 50_000, 100_000],
            SceneName::Idle | SceneName::IdleWritten => &[50_000],
            SceneName::Memory | SceneName::Threads => &[10_000, 50_000],
            _ => &[10_000],
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if engines::box2d::has_assertions() {
        eprintln!("Box2D was compiled with its assertions; a comparison would be unfair. See README.md.");
        return ExitCode::FAILURE;
    }
    let settings = arguments.settings();
    if arguments.truths || arguments.doors || arguments.exactness || arguments.poke {
        if arguments.truths {
            println!("{}", truths::table(settings));
        }
        if arguments.doors {
            println!("{}", doors::doors(settings, arguments.starts));
        }
        if arguments.exactness {
            println!("{}", doors::exactness(settings, arguments.starts));
        }
        if arguments.poke {
            println!("{}", field::poke(settings));
        }
        return ExitCode::SUCCESS;
    }
    let mut report = run(&arguments);
    if arguments.only.is_empty() {
        report.targets = targets::targets(&report);
    }
    match finish(&arguments, &report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Report {
    let settings = arguments.settings();
    let all = Contender::value_variants();
    let contenders = if arguments.only.is_empty() { all } else { &arguments.only };
    let scenes = SceneName::value_variants().iter();
    let mut report = Report {
        conditions: Conditions::of(settings),
        simulated: Vec::new(),
        queries: Vec::new(),
        state: Vec::new(),
        memory: Vec::new(),
        threads: Vec::new(),
        growth: None,
        targets: Vec::new(),
    };
    for &scene in scenes.filter(|scene| arguments.scene.is_empty() || arguments.scene.contains(scene)) {
        let counts =
            if arguments.count.is_empty() { scene.counts(arguments.growth) } else { &arguments.count };
        for &count in counts {
            let name = scene.to_possible_value().expect("no scene is hidden").get_name().to_owned();
            eprintln!("{name} {count} ...");
            match scene {
                SceneName::Queries => report.queries.extend(queries::query(count, contenders, settings)),
                SceneName::State => report.state.extend(state::state(count, contenders, settings)),
                SceneName::Threads => {
                    report.threads.extend(simulate::on_threads(count, settings, arguments.steps));
                }
                SceneName::Memory => report.memory.extend(memory::memory(count, contenders, settings)),
                _ => {
                    // Nobody asks for a hundred thousand of the peers unless told to.
                    let alone = count >= 100_000 && arguments.count.is_empty() && arguments.only.is_empty();
                    let contenders = if alone { &all[..2] } else { contenders };
                    let rows = simulate::simulate(&name, count, contenders, settings, arguments.steps);
                    report.simulated.extend(rows);
                }
            }
        }
        let measures_growth = scene == SceneName::Crowd && GROWTH.iter().all(|count| counts.contains(count));
        if measures_growth && arguments.only.is_empty() {
            eprintln!("crowd {} and {} in turn ...", GROWTH[0], GROWTH[1]);
            report.growth = Some(simulate::growth(GROWTH, settings));
        }
    }
    report
}

fn finish(arguments: &Arguments, report: &Report) -> Result<(), Box<dyn std::error::Error>> {
    let to_stdout = arguments.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if !to_stdout {
        println!("{}", report.tables());
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(report)?;
        if to_stdout { println!("{text}") } else { std::fs::write(path, text)? }
    }
    if let Some(path) = &arguments.fill {
        let measurements = path.with_file_name("measurements.md");
        std::fs::write(path, report.fill(&std::fs::read_to_string(path)?)?)?;
        std::fs::write(&measurements, report.fill_measurements(&std::fs::read_to_string(&measurements)?)?)?;
        plot::plot(report, &path.with_file_name("pictures"))?;
    }
    if let Some(folder) = &arguments.plot {
        plot::plot(report, folder)?;
    }
    eprintln!("{}", report.targets_reached());
    Ok(())
}
