//! Scenes that are stepped: crowd, gather, bounce, idle (left alone, and written to in every frame), churn.

use clap::ValueEnum;
use serde::Serialize;
use testudo_tests::scenes::{self, BodySpec, Churn, Drive, ONE, Scene};

use crate::engine::{Contender, Engine, Settings, Velocities, create};
use crate::measure::{Summary, peak_memory_bytes, time_us, wall_us};
use crate::quality::{Outline, Overlap, overlap};

/// Steps that one engine runs before the next engine has its turn: short against the drift of the machine's
/// speed, long enough for warm caches.
const TURN_STEPS: u32 = 20;

/// Bodies that are removed, and as many added, before each step of the churn scene.
const CHURN_PER_STEP: u32 = 100;

/// What one engine did in one scene.
#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    /// Scene.
    pub scene: String,
    /// Movable bodies.
    pub count: u32,
    /// Engine.
    pub engine: String,
    /// Writes and step together, milliseconds of thread CPU time.
    pub frame_ms: Summary,
    /// The step alone.
    pub step_ms: Summary,
    /// Writing velocities, removing and adding bodies.
    pub write_ms: Summary,
    /// Peak resident memory of the process after the last step, in bytes: this engine's if it runs alone.
    pub process_peak_bytes: Option<u64>,
    /// The same before the first engine was created: program and scene.
    pub harness_peak_bytes: Option<u64>,
    /// Penetration at the end.
    pub overlap: Overlap,
    /// Kinetic energy at the end by that at the start, where nothing is written.
    pub energy_kept: Option<f64>,
    /// How far units came on the way they wanted to go, on average in units.
    pub progress: Option<f64>,
}

/// What one engine is given, and the record of it.
struct Inputs {
    /// All bodies ever created, by number.
    specs: Vec<BodySpec>,
    /// Movable bodies that live.
    live: Vec<u32>,
    churn: Option<Churn>,
    wanted: Velocities,
}

/// One engine in the middle of a scene.
struct Run {
    contender: Contender,
    engine: Box<dyn Engine>,
    inputs: Inputs,
    energy_at_start: f64,
    steps: Vec<f64>,
    writes: Vec<f64>,
    /// By the clock on the wall.
    walls: Vec<f64>,
}

/// One engine on some threads.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadRow {
    /// Bodies of the crowd.
    pub count: u32,
    /// Engine.
    pub engine: String,
    /// Threads it may use.
    pub threads: usize,
    /// The step by the clock on the wall, milliseconds.
    pub wall_ms: Summary,
}

/// The crowd on one and on two threads, by the clock on the wall. rapier2d takes part when it was built with `parallel`.
pub fn on_threads(count: u32, settings: Settings, steps: Option<u32>) -> Vec<ThreadRow> {
    let scene = scenes::crowd(count);
    let mut engines = vec![Contender::Testudo, Contender::Box2d];
    if cfg!(feature = "parallel") {
        engines.push(Contender::Rapier);
    }
    let mut runs = Vec::new();
    for contender in engines {
        for threads in [1, 2] {
            let engine = create(contender, &scene, Settings { threads, ..settings });
            runs.push((threads, Run::new(contender, engine, Inputs::new("crowd", &scene))));
        }
    }
    for _ in 0..steps.unwrap_or(scene.steps).div_ceil(TURN_STEPS) {
        for (_, run) in &mut runs {
            (0..TURN_STEPS).for_each(|_| run.frame(scene.drive));
        }
        runs.rotate_left(1);
    }
    let position = |run: &Run| engine_order(run.contender);
    runs.sort_by_key(|(threads, run)| (position(run), *threads));
    let row = |(threads, run): (usize, Run)| ThreadRow {
        count,
        engine: run.contender.name().to_owned(),
        threads,
        wall_ms: Summary::of(&run.walls.iter().map(|us| us / 1e3).collect::<Vec<_>>()),
    };
    runs.into_iter().map(row).collect()
}

fn engine_order(contender: Contender) -> Option<usize> {
    Contender::value_variants().iter().position(|&other| other == contender)
}

/// Runs `scene` with each engine in turn. `steps` replaces the scene's number of steps.
pub fn simulate(
    name: &str,
    count: u32,
    contenders: &[Contender],
    settings: Settings,
    steps: Option<u32>,
) -> Vec<StepRow> {
    let scene = scene_named(name, count);
    let prepared: Vec<Inputs> = contenders.iter().map(|_| Inputs::new(name, &scene)).collect();
    // What the program itself needs, before any engine exists.
    let harness_peak = peak_memory_bytes();
    let mut runs: Vec<Run> = contenders
        .iter()
        .zip(prepared)
        .map(|(&contender, inputs)| Run::new(contender, create(contender, &scene, settings), inputs))
        .collect();
    for run in &mut runs {
        for _ in 0..scene.settle_steps {
            run.engine.step();
        }
    }
    let steps = steps.unwrap_or(scene.steps);
    let mut done = 0;
    while done < steps {
        let turn = TURN_STEPS.min(steps - done);
        for run in &mut runs {
            for _ in 0..turn {
                run.frame(scene.drive);
            }
        }
        done += turn;
        // The engines take turns as the first one.
        runs.rotate_left(1);
    }
    // Before the overlaps are measured, which needs memory too.
    let peak = peak_memory_bytes();
    runs.sort_by_key(|run| contenders.iter().position(|&contender| contender == run.contender));
    runs.iter().map(|run| run.row(name, count, scene.drive, [peak, harness_peak])).collect()
}

/// Median frames in milliseconds of Testudo in crowds of these sizes, which take turns: run one after the other, they would
/// also measure how the machine's speed drifts.
pub fn growth(counts: [u32; 2], settings: Settings) -> [f64; 2] {
    let scenes = counts.map(scenes::crowd);
    let mut runs = scenes.each_ref().map(|scene| {
        let engine = create(Contender::Testudo, scene, settings);
        Run::new(Contender::Testudo, engine, Inputs::new("crowd", scene))
    });
    for _ in 0..scenes[0].steps / TURN_STEPS {
        for (run, scene) in runs.iter_mut().zip(&scenes) {
            (0..TURN_STEPS).for_each(|_| run.frame(scene.drive));
        }
    }
    [0, 1].map(|i: usize| runs[i].row("crowd", counts[i], scenes[i].drive, [None; 2]).frame_ms.median)
}

/// The scene called `name`.
pub fn scene_named(name: &str, count: u32) -> Scene {
    match name {
        "crowd" => scenes::crowd(count),
        "gather" => scenes::gather(count),
        "bounce" => scenes::bounce(count),
        "idle" => scenes::idle(count),
        "idle-written" => Scene { drive: Drive::March, ..scenes::idle(count) },
        "churn" => scenes::churn(count),
        _ => panic!("no scene called {name}"),
    }
}

impl Inputs {
    fn new(name: &str, scene: &Scene) -> Self {
        let numbered = (0..).zip(&scene.bodies);
        let live: Vec<u32> = numbered.filter(|(_, body)| body.movable).map(|(number, _)| number).collect();
        Self {
            specs: scene.bodies.clone(),
            wanted: Velocities::with_capacity(live.len()),
            live,
            churn: (name == "churn").then(|| Churn::new(scene)),
        }
    }

    /// Units removed and created before this step.
    fn turnover(&mut self) -> (Vec<u32>, Vec<BodySpec>) {
        let Some(churn) = &mut self.churn else { return (Vec::new(), Vec::new()) };
        let dead: Vec<u32> = (0..CHURN_PER_STEP)
            .map(|_| self.live.swap_remove(churn.victim(self.live.len() as u32) as usize))
            .collect();
        let born: Vec<BodySpec> = (0..CHURN_PER_STEP).map(|_| churn.newcomer()).collect();
        for body in &born {
            self.live.push(self.specs.len() as u32);
            self.specs.push(*body);
        }
        (dead, born)
    }

    /// What the units want now.
    fn steer(&mut self, drive: Drive, engine: &dyn Engine) {
        self.wanted.clear();
        for &body in &self.live {
            match drive {
                Drive::Free => {}
                Drive::March => {
                    let velocity = self.specs[body as usize].velocity;
                    // A unit that wants to go nowhere is told nothing.
                    if velocity != [0, 0] {
                        self.wanted.push(body, velocity);
                    }
                }
                Drive::Gather => {
                    let position =
                        engine.position(body).map(|coordinate| (coordinate * f64::from(ONE)) as i32);
                    self.wanted.push(body, scenes::steer_to_origin(position));
                }
            }
        }
    }
}

impl Run {
    fn new(contender: Contender, engine: Box<dyn Engine>, inputs: Inputs) -> Self {
        let (steps, writes, walls) = (Vec::new(), Vec::new(), Vec::new());
        let mut run = Self { contender, engine, inputs, energy_at_start: 0.0, steps, writes, walls };
        run.energy_at_start = run.energy();
        run
    }

    /// One frame: writes and step are timed, what decides about the writes is not.
    fn frame(&mut self, drive: Drive) {
        let (dead, born) = self.inputs.turnover();
        let turnover_us = time_us(|| {
            for &body in &dead {
                self.engine.remove(body);
            }
            for body in &born {
                self.engine.add(body);
            }
        });
        self.inputs.steer(drive, &*self.engine);
        let write_us = time_us(|| self.engine.write_velocities(&self.inputs.wanted));
        self.writes.push(turnover_us + write_us);
        self.walls.push(wall_us(|| self.steps.push(time_us(|| self.engine.step()))));
    }

    /// Kinetic energy; every movable body has mass 1.
    fn energy(&self) -> f64 {
        let square = |body: &u32| self.engine.velocity(*body).map(|speed| speed * speed / 2.0);
        self.inputs.live.iter().map(square).map(|[x, y]| x + y).sum()
    }

    fn outlines(&self) -> Vec<Outline> {
        let walls = (0..).zip(&self.inputs.specs).filter(|(_, body)| !body.movable).map(|(number, _)| number);
        let outline = |number| Outline::of(&self.inputs.specs[number as usize], self.engine.position(number));
        walls.chain(self.inputs.live.iter().copied()).map(outline).collect()
    }

    /// Mean way of the units that were there from the start, along what they wanted.
    fn progress(&self, scene: &str, drive: Drive) -> Option<f64> {
        let way = |&body: &u32| {
            let (spec, now) = (self.inputs.specs[body as usize], self.engine.position(body));
            let start = spec.position.map(|raw| f64::from(raw) / f64::from(ONE));
            match drive {
                Drive::Free => 0.0,
                Drive::March => (now[0] - start[0]) * f64::from(spec.velocity[0].signum()),
                Drive::Gather => start[0].hypot(start[1]) - now[0].hypot(now[1]),
            }
        };
        if drive == Drive::Free || self.inputs.churn.is_some() || scene.starts_with("idle") {
            return None;
        }
        Some(self.inputs.live.iter().map(way).sum::<f64>() / self.inputs.live.len() as f64)
    }

    fn row(
        &self,
        scene: &str,
        count: u32,
        drive: Drive,
        [process_peak_bytes, harness_peak_bytes]: [Option<u64>; 2],
    ) -> StepRow {
        let milliseconds =
            |values: Vec<f64>| Summary::of(&values.iter().map(|us| us / 1e3).collect::<Vec<_>>());
        let frames = self.steps.iter().zip(&self.writes).map(|(step, write)| step + write).collect();
        StepRow {
            scene: scene.to_owned(),
            count,
            engine: self.contender.name().to_owned(),
            frame_ms: milliseconds(frames),
            step_ms: milliseconds(self.steps.clone()),
            write_ms: milliseconds(self.writes.clone()),
            process_peak_bytes,
            harness_peak_bytes,
            overlap: overlap(&self.outlines()),
            energy_kept: (drive == Drive::Free).then(|| self.energy() / self.energy_at_start),
            progress: self.progress(scene, drive),
        }
    }
}
