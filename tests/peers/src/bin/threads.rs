//! What threads bring to a step of Testudo: wall time of the crowd on 1, 2, 4 ... threads of a rayon pool.
//!
//! `cargo run --release --bin threads [BODIES]`

use std::time::Instant;

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use testudo_physics::{BodyDef, BodyId, Fx, Job, Shape, Vec2, Workers, World, WorldDef};
use testudo_tests::scenes::{Form, Scene, crowd};

/// A pool that is kept between steps.
struct Pool(rayon::ThreadPool);

impl Workers for Pool {
    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        self.0.install(|| jobs.par_iter_mut().for_each(Job::run));
    }
}

fn vector([x, y]: [i32; 2]) -> Vec2 {
    Vec2::new(Fx::from_bits(x.into()), Fx::from_bits(y.into()))
}

fn world(scene: &Scene) -> (World, Vec<(BodyId, Vec2)>) {
    let mut world = World::new(WorldDef::new()).expect("defaults are valid");
    let mut units = Vec::new();
    for body in &scene.bodies {
        let shape = match body.form {
            Form::Disc { radius } => Shape::circle(Fx::from_bits(radius.into())),
            Form::Box { half_extents: [w, h] } => {
                Shape::rect(Fx::from_bits(w.into()), Fx::from_bits(h.into()))
            }
        };
        let def = if body.movable { BodyDef::dynamic(shape) } else { BodyDef::static_body(shape) };
        let id = world.create_body(&def.position(vector(body.position))).expect("scenes keep the limits");
        if body.movable {
            units.push((id, vector(body.velocity)));
        }
    }
    (world, units)
}

/// Median of the steps in milliseconds of wall time, and the checksum at the end.
fn measure(scene: &Scene, workers: &dyn Workers) -> (f64, u64) {
    let (mut world, units) = world(scene);
    let mut times = Vec::new();
    for _ in 0..scene.steps {
        for &(unit, velocity) in &units {
            world.set_velocity(unit, velocity).expect("units live");
        }
        let start = Instant::now();
        world.step_on(scene.frames_per_second, workers).expect("a rate in range");
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], world.checksum())
}

fn main() {
    let bodies = std::env::args().nth(1).map_or(Ok(10_000), |n| n.parse()).expect("a number of bodies");
    let scene = crowd(bodies);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("crowd of {bodies}, {cores} cores");
    let mut checksums = Vec::new();
    for threads in (0..).map(|power| 1 << power).take_while(|&threads| threads <= cores) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (ms, checksum) = measure(&scene, &Pool(pool));
        println!("{threads} threads: {ms:.3} ms per step, checksum {checksum:016x}");
        checksums.push(checksum);
    }
    assert!(checksums.iter().all(|checksum| *checksum == checksums[0]), "threads changed the bits");
}
