//! Runs one scene from start to end.

use testudo_physics::{BodyDef, BodyId, Fx, Shape, Simd, Vec2, World, WorldDef};
use testudo_tests::scenes::{BodySpec, Churn, Drive, Form, Scene, steer_to_origin};

use super::SceneResult;
use super::quality::{Disc, energy, overlaps, quantile};
use testudo_render::clock::Clock;

/// Bodies that are removed and created before each step of the churning crowd.
const CHURN: u32 = 100;
/// Times that saving and restoring are repeated; the median counts.
const REPEATS: usize = 15;

/// A scene while it runs in our engine: its movable bodies, in the order in which they are driven.
struct RunningScene {
    world: World,
    units: Vec<(BodyId, BodySpec)>,
    restitution: u32,
    snapshot: Vec<u8>,
}

/// Runs a scene and measures it.
pub(super) fn scene(
    name: &'static str,
    n: u32,
    scene: &Scene,
    portable: bool,
    memory_before: Option<u64>,
) -> SceneResult {
    let mut running = RunningScene::new(scene, portable);
    let mut churn = (name == "churn").then(|| Churn::new(scene));
    let energy_before = energy(&running.world);
    for _ in 0..scene.settle_steps {
        running.frame(scene, None);
    }
    let mut times: Vec<f64> = (0..scene.steps).map(|_| running.frame(scene, churn.as_mut())).collect();
    let peak = peak_memory_bytes();
    let depths = overlaps(&running.discs());
    let state = running.state_times();
    SceneResult {
        name,
        n,
        step_ms_median: quantile(&mut times, 0.5),
        step_ms_p99: quantile(&mut times, 0.99),
        // Plus zero, because the sum of nothing is -0.0.
        penetration_mean: (depths.iter().sum::<f64>() + 0.0) / depths.len().max(1) as f64,
        penetration_p99: quantile(&mut depths.clone(), 0.99),
        penetration_max: depths.iter().copied().fold(0.0, f64::max),
        contacts: running.world.contact_count(),
        energy_kept: (scene.restitution > 0).then(|| energy(&running.world) / energy_before),
        bytes_per_body: running.snapshot.len() as f64 / f64::from(running.world.body_count()),
        checksum_us: state[0],
        snapshot_us: state[1],
        restore_us: state[2],
        from_bytes_us: state[3],
        peak_memory_bytes: peak.zip(memory_before).map(|(peak, before)| peak.saturating_sub(before)),
    }
}

impl RunningScene {
    fn new(scene: &Scene, portable: bool) -> Self {
        let def = WorldDef::new().simd(if portable { Simd::Plain } else { Simd::Widest });
        let world =
            World::new(def).unwrap_or_else(|error| unreachable!("the default settings are valid: {error}"));
        let mut running =
            Self { world, units: Vec::new(), restitution: scene.restitution, snapshot: Vec::new() };
        for spec in &scene.bodies {
            running.create(spec);
        }
        running
    }

    fn create(&mut self, spec: &BodySpec) {
        let shape = match spec.form {
            Form::Disc { radius } => Shape::Circle { radius: fx(radius) },
            Form::Box { half_extents } => Shape::Rect { half_extents: vec2(half_extents) },
        };
        let kind = if spec.movable { BodyDef::dynamic(shape) } else { BodyDef::static_body(shape) };
        let def = kind
            .position(vec2(spec.position))
            .velocity(vec2(spec.velocity))
            .restitution(Fx::from_num(self.restitution));
        match self.world.create_body(&def) {
            Ok(id) if spec.movable => self.units.push((id, *spec)),
            Ok(_) => {}
            Err(error) => unreachable!("every scene lies within the limits: {error:?}"),
        }
    }

    /// One frame of a game; returns its time in milliseconds. Scenes keep the engine's limits, so no call is refused.
    fn frame(&mut self, scene: &Scene, churn: Option<&mut Churn>) -> f64 {
        let clock = Clock::start();
        if let Some(churn) = churn {
            for _ in 0..CHURN {
                let victim = churn.victim(self.units.len() as u32);
                let (id, _) = self.units.swap_remove(victim as usize);
                accepted(self.world.remove_body(id));
            }
            for _ in 0..CHURN {
                self.create(&churn.newcomer());
            }
        }
        for (id, spec) in &self.units {
            let velocity = match scene.drive {
                Drive::Free => break,
                Drive::March => spec.velocity,
                Drive::Gather => match self.world.body(*id) {
                    Some(body) => steer_to_origin(raw(body.position())),
                    None => continue,
                },
            };
            accepted(self.world.set_velocity(*id, vec2(velocity)));
        }
        accepted(self.world.step(scene.frames_per_second));
        f64::from(clock.elapsed_nanos()) / 1e6
    }

    /// The movable discs at their present positions, in units.
    fn discs(&self) -> Vec<Disc> {
        let disc = |(id, spec): &(BodyId, BodySpec)| match spec.form {
            Form::Disc { radius } => {
                let [x, y] = raw(self.world.body(*id)?.position()).map(|c| f64::from(c) / 65_536.0);
                Some(Disc { x, y, radius: f64::from(radius) / 65_536.0 })
            }
            Form::Box { .. } => None,
        };
        self.units.iter().filter_map(disc).collect()
    }

    /// Microseconds of checksum, snapshot, restore and from_bytes.
    fn state_times(&mut self) -> [f64; 4] {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..REPEATS {
            let clock = Clock::start();
            std::hint::black_box(self.world.checksum());
            times[0].push(f64::from(clock.elapsed_nanos()) / 1e3);
            let clock = Clock::start();
            self.world.snapshot(&mut self.snapshot);
            times[1].push(f64::from(clock.elapsed_nanos()) / 1e3);
            let clock = Clock::start();
            accepted(self.world.restore(&self.snapshot));
            times[2].push(f64::from(clock.elapsed_nanos()) / 1e3);
            let clock = Clock::start();
            accepted(World::from_bytes(&self.snapshot));
            times[3].push(f64::from(clock.elapsed_nanos()) / 1e3);
        }
        times.map(|mut times| quantile(&mut times, 0.5))
    }
}

fn accepted<T, E: std::fmt::Debug>(result: Result<T, E>) {
    if let Err(error) = result {
        unreachable!("every scene lies within the limits: {error:?}");
    }
}

fn fx(raw: i32) -> Fx {
    Fx::from_bits(i64::from(raw))
}

fn vec2(raw: [i32; 2]) -> Vec2 {
    Vec2::new(fx(raw[0]), fx(raw[1]))
}

fn raw(v: Vec2) -> [i32; 2] {
    [v.x.to_bits() as i32, v.y.to_bits() as i32]
}

/// The largest memory that the process has had, where the system tells (Linux).
pub(super) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
