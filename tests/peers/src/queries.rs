//! Area selections, rays and nearest-body look-ups in the crowd, and the same with a body created before each.

use serde::Serialize;
use testudo_tests::scenes::{self, BodySpec, Queries, Scene};

use crate::engine::{Contender, Engine, Settings, Velocities, create};
use crate::measure::{Summary, time_us};
use crate::oracle;
use crate::quality::Outline;

/// Steps of the crowd before the first query, so that every engine's tree is one that has worked.
const WARM_STEPS: u32 = 100;

/// Queries of each kind per round.
const QUERIES: u32 = 1_000;

/// Rounds over which the median is taken; engines take turns after each.
const ROUNDS: u32 = 15;

/// Median times per query in microseconds of thread CPU time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct QueryTimes {
    /// Selection of an area of 10 x 10 units.
    pub area_us: f64,
    /// First hit of a ray of length 50.
    pub ray_us: f64,
    /// Nearest body.
    pub nearest_us: f64,
}

/// What one engine did.
#[derive(Clone, Debug, Serialize)]
pub struct QueryRow {
    /// Movable bodies.
    pub count: u32,
    /// Engine.
    pub engine: String,
    /// Queries alone.
    pub plain: QueryTimes,
    /// Each query with the creation of a body before it; the creation's time is included.
    pub with_creation: QueryTimes,
    /// Bodies found in an area, on average.
    pub found_per_area: f64,
    /// The same by brute force over bounding boxes: an engine that fattens its boxes finds more.
    pub truly_in_area: f64,
    /// Areas in which a body was missed.
    pub areas_short: u32,
    /// Rays that hit something, of all.
    pub ray_hits: f64,
    /// Greatest deviation of a ray's length from brute force, in units; rays that start outside of bodies.
    pub ray_error: f64,
    /// Greatest deviation of a nearest distance from brute force, in units; points outside of bodies.
    pub nearest_error: f64,
}

struct Run<'a> {
    contender: Contender,
    engine: Box<dyn Engine>,
    specs: Vec<BodySpec>,
    march: Velocities,
    queries: &'a Queries,
    plain: [Vec<f64>; 3],
    with_creation: [Vec<f64>; 3],
}

/// Runs all query kinds with each engine in turn.
pub fn query(count: u32, contenders: &[Contender], settings: Settings) -> Vec<QueryRow> {
    let scene = scenes::crowd(count);
    let queries = scenes::queries(&scene, QUERIES);
    let mut runs: Vec<Run> = contenders
        .iter()
        .map(|&contender| Run::new(contender, create(contender, &scene, settings), &scene, &queries))
        .collect();
    for _ in 0..ROUNDS {
        for run in &mut runs {
            run.round();
        }
    }
    runs.iter_mut().map(|run| run.row(count)).collect()
}

impl<'a> Run<'a> {
    fn new(contender: Contender, engine: Box<dyn Engine>, scene: &Scene, queries: &'a Queries) -> Self {
        let mut run = Self {
            contender,
            engine,
            specs: scene.bodies.clone(),
            march: march(scene),
            queries,
            plain: Default::default(),
            with_creation: Default::default(),
        };
        for _ in 0..WARM_STEPS {
            run.march();
        }
        run
    }

    fn march(&mut self) {
        self.engine.write_velocities(&self.march);
        self.engine.step();
    }

    fn ask(engine: &mut dyn Engine, queries: &Queries, kind: usize, index: usize) {
        match kind {
            0 => {
                std::hint::black_box(engine.select_area(queries.areas[index]));
            }
            1 => {
                let [origin, offset] = queries.rays[index];
                std::hint::black_box(engine.ray(origin, offset));
            }
            _ => {
                std::hint::black_box(engine.nearest_distance(queries.points[index]));
            }
        }
    }

    fn round(&mut self) {
        for kind in 0..3 {
            let us = time_us(|| {
                (0..QUERIES as usize).for_each(|i| Self::ask(&mut *self.engine, self.queries, kind, i))
            });
            self.plain[kind].push(us / f64::from(QUERIES));
        }
        for kind in 0..3 {
            let first = self.specs.len() as u32;
            let us = time_us(|| {
                for (index, newcomer) in self.queries.newcomers.iter().enumerate() {
                    self.engine.add(newcomer);
                    self.engine.publish_new_bodies();
                    Self::ask(&mut *self.engine, self.queries, kind, index);
                }
            });
            self.with_creation[kind].push(us / f64::from(QUERIES));
            self.specs.extend(&self.queries.newcomers);
            for body in first..self.specs.len() as u32 {
                self.engine.remove(body);
            }
            self.march();
        }
    }

    fn row(&mut self, count: u32) -> QueryRow {
        let times = |values: &[Vec<f64>; 3]| {
            let [area_us, ray_us, nearest_us] =
                [0, 1, 2].map(|kind: usize| Summary::of(&values[kind]).median);
            QueryTimes { area_us, ray_us, nearest_us }
        };
        let mut row = QueryRow {
            count,
            engine: self.contender.name().to_owned(),
            plain: times(&self.plain),
            with_creation: times(&self.with_creation),
            found_per_area: 0.0,
            truly_in_area: 0.0,
            areas_short: 0,
            ray_hits: 0.0,
            ray_error: 0.0,
            nearest_error: 0.0,
        };
        self.check(&mut row);
        row
    }

    /// Compares the answers with brute force over the positions that the engine itself reports.
    fn check(&mut self, row: &mut QueryRow) {
        let first = (self.march.bodies.last().map_or(0, |last| last + 1)) as usize;
        let bodies: Vec<Outline> = (0..first)
            .map(|number| Outline::of(&self.specs[number], self.engine.position(number as u32)))
            .collect();
        let share = 1.0 / f64::from(QUERIES);
        for &area in &self.queries.areas {
            let (found, truth) = (self.engine.select_area(area), oracle::count_in_area(&bodies, area));
            row.found_per_area += f64::from(found) * share;
            row.truly_in_area += f64::from(truth) * share;
            row.areas_short += u32::from(found < truth);
        }
        for &[origin, offset] in &self.queries.rays {
            let (found, truth) = (self.engine.ray(origin, offset), oracle::ray(&bodies, origin, offset));
            row.ray_hits += f64::from(u32::from(found.is_some())) * share;
            // Engines differ in what they say of a ray that starts inside of a body. A miss counts as the
            // ray's whole length.
            if truth != Some(0.0) {
                row.ray_error = row.ray_error.max((found.unwrap_or(50.0) - truth.unwrap_or(50.0)).abs());
            }
        }
        for &point in &self.queries.points {
            let (found, truth) =
                (self.engine.nearest_distance(point), oracle::nearest_distance(&bodies, point));
            // The same for points inside of a body: the distance to its outline, or zero.
            if truth > 0.0 {
                row.nearest_error = row.nearest_error.max((found - truth).abs());
            }
        }
    }
}

/// The velocities that a marching crowd gets before each step.
pub fn march(scene: &Scene) -> Velocities {
    let mut velocities = Velocities::default();
    for (number, body) in (0..).zip(&scene.bodies).filter(|(_, body)| body.movable) {
        velocities.push(number, body.velocity);
    }
    velocities
}
