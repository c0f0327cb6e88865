//! Checksum, snapshot and restore of a crowd with its contacts.

use serde::Serialize;
use testudo_tests::scenes;

use crate::engine::{Contender, Engine, Settings, Velocities, create};
use crate::measure::{Summary, time_us};
use crate::queries::march;

/// Steps before the first snapshot.
const WARM_STEPS: u32 = 100;

/// Repetitions over which the median is taken; engines take turns after each.
const ROUNDS: u32 = 30;

/// Steps after a restore that are compared with the same steps without it.
const CHECKED_STEPS: u32 = 10;

/// What one engine did.
#[derive(Clone, Debug, Serialize)]
pub struct StateRow {
    /// Movable bodies.
    pub count: u32,
    /// Engine.
    pub engine: String,
    /// Checksum, microseconds of thread CPU time.
    pub checksum_us: f64,
    /// What the checksum covers.
    pub checksum_covers: String,
    /// Writing a snapshot into memory that is there already.
    pub snapshot_us: f64,
    /// Going back to it.
    pub restore_us: f64,
    /// Length of the snapshot by the number of bodies, immovable ones included.
    pub bytes_per_body: f64,
    /// Whether the steps after a restore gave exactly what they gave without it.
    pub resumes_exactly: bool,
}

struct Run {
    contender: Contender,
    engine: Box<dyn Engine>,
    bytes: Vec<u8>,
    checksum: Vec<f64>,
    snapshot: Vec<f64>,
    restore: Vec<f64>,
}

/// Measures all engines in turn.
pub fn state(count: u32, contenders: &[Contender], settings: Settings) -> Vec<StateRow> {
    let scene = scenes::crowd(count);
    let march = march(&scene);
    let mut runs: Vec<Run> = contenders
        .iter()
        .map(|&contender| Run::new(contender, create(contender, &scene, settings)))
        .collect();
    for run in &mut runs {
        run.advance(&march, WARM_STEPS);
    }
    for _ in 0..ROUNDS {
        runs.iter_mut().for_each(|run| run.round(&march));
    }
    runs.iter_mut().map(|run| run.row(count, scene.bodies.len() as u32, &march)).collect()
}

impl Run {
    fn new(contender: Contender, engine: Box<dyn Engine>) -> Self {
        Self { contender, engine, bytes: Vec::new(), checksum: vec![], snapshot: vec![], restore: vec![] }
    }

    fn advance(&mut self, march: &Velocities, steps: u32) {
        for _ in 0..steps {
            self.engine.write_velocities(march);
            self.engine.step();
        }
    }

    /// As in a game: the state is hashed and saved right after a step, while it is still in the caches.
    fn round(&mut self, march: &Velocities) {
        self.advance(march, 1);
        self.checksum.push(time_us(|| {
            std::hint::black_box(self.engine.checksum());
        }));
        self.snapshot.push(time_us(|| self.engine.snapshot(&mut self.bytes)));
        self.restore.push(time_us(|| self.engine.restore(&self.bytes)));
    }

    fn row(&mut self, count: u32, bodies: u32, march: &Velocities) -> StateRow {
        self.engine.snapshot(&mut self.bytes);
        let mut outcomes = [(); 2].map(|()| {
            self.advance(march, CHECKED_STEPS);
            let outcome: Vec<_> =
                (0..bodies).map(|body| (self.engine.position(body), self.engine.velocity(body))).collect();
            self.engine.restore(&self.bytes);
            outcome
        });
        let [before, after] = &mut outcomes;
        StateRow {
            count,
            engine: self.contender.name().to_owned(),
            checksum_us: Summary::of(&self.checksum).median,
            checksum_covers: self.engine.checksum_covers().to_owned(),
            snapshot_us: Summary::of(&self.snapshot).median,
            restore_us: Summary::of(&self.restore).median,
            bytes_per_body: self.bytes.len() as f64 / f64::from(bodies),
            resumes_exactly: before == after,
        }
    }
}
