//! What a scene needs from an engine: nothing that only one of them could do.

use testudo_physics::Simd;
use testudo_tests::scenes::{BodySpec, ONE, Scene};

use crate::engines::{box2d::Box2d, rapier::Rapier, testudo::Testudo};

/// Settings of the peers that the command line can change.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Solver iterations of rapier2d and substeps of Box2D. Four is the default of rapier2d and what Box2D's
    /// manual recommends.
    pub peer_iterations: u32,
    /// Solver iterations of Testudo; its default if there are none.
    pub iterations: Option<u32>,
    /// Threads that an engine may use.
    pub threads: usize,
}

/// What bodies are made of where a scene asks for more than discs on a plane.
#[derive(Clone, Debug, Default)]
pub struct Matter {
    /// Downwards, units/s^2.
    pub gravity: f32,
    /// Contact friction of all bodies.
    pub friction: f32,
    /// Restitution of all bodies; the scene's if there is none.
    pub restitution: Option<f32>,
    /// Masses by number of creation; 1 behind the end.
    pub masses: Vec<f32>,
    /// Points of a chain of immovable segments, units; none if it is empty.
    pub chain: Vec<[f32; 2]>,
}

impl Matter {
    /// Mass of the body that is created as number `number`.
    pub fn mass(&self, number: usize) -> f32 {
        self.masses.get(number).copied().unwrap_or(1.0)
    }
}

/// A participant of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Contender {
    /// Testudo, with the vector instructions that it finds at run time.
    Testudo,
    /// Testudo with at most 256-bit instructions (AVX2), as on a machine without AVX-512.
    TestudoAvx2,
    /// Testudo with at most 128-bit instructions (SSE4.2), as on a machine without AVX2.
    TestudoSse42,
    /// Testudo with what every machine of the target has (SSE2 on x86-64), as on the oldest machine.
    TestudoPlain,
    /// rapier2d.
    Rapier,
    /// Box2D version 3.
    Box2d,
}

impl Contender {
    /// Name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Testudo => "testudo",
            Contender::TestudoAvx2 => "testudo-avx2",
            Contender::TestudoSse42 => "testudo-sse42",
            Contender::TestudoPlain => "testudo-plain",
            Contender::Rapier => "rapier",
            Contender::Box2d => "box2d",
        }
    }
}

/// Velocities to be written, in the form that each engine wants them: none pays for a conversion.
#[derive(Clone, Debug, Default)]
pub struct Velocities {
    /// Bodies by number of creation.
    pub bodies: Vec<u32>,
    /// Units per second with 16 fraction bits.
    pub fixed: Vec<[i32; 2]>,
    /// The same in floats.
    pub float: Vec<[f32; 2]>,
}

impl Velocities {
    /// Room for `count` entries.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            bodies: Vec::with_capacity(count),
            fixed: Vec::with_capacity(count),
            float: Vec::with_capacity(count),
        }
    }

    /// Forgets all entries and keeps the room.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.fixed.clear();
        self.float.clear();
    }

    /// Adds one entry.
    pub fn push(&mut self, body: u32, velocity: [i32; 2]) {
        self.bodies.push(body);
        self.fixed.push(velocity);
        self.float.push(velocity.map(float));
    }
}

/// 16 fraction bits to a float.
pub fn float(value: i32) -> f32 {
    (f64::from(value) / f64::from(ONE)) as f32
}

/// A world of one engine. Bodies are numbered from 0 in the order of their creation; numbers are not used again.
pub trait Engine {
    /// Creates a body.
    fn add(&mut self, body: &BodySpec);
    /// Removes a body for good.
    fn remove(&mut self, body: u32);
    /// Writes velocities and wakes the bodies.
    fn write_velocities(&mut self, velocities: &Velocities);
    /// A body with a higher rank is not pushed by others. Where an engine knows no ranks, it gets a greater mass: 131 times for a rank of 100.
    fn set_rank(&mut self, body: u32, rank: u8);
    /// Advances by one frame.
    fn step(&mut self);
    /// Centre of a body, in units.
    fn position(&self, body: u32) -> [f64; 2];
    /// Velocity of a body, in units per second.
    fn velocity(&self, body: u32) -> [f64; 2];
    /// Selects the bodies whose bounding boxes meet the area between the corners into a list that is kept
    /// between calls, and returns its length.
    fn select_area(&mut self, corners: [[i32; 2]; 2]) -> u32;
    /// Distance at which the ray from `origin` to `origin + offset` first hits a body; the origin lies outside.
    fn ray(&mut self, origin: [i32; 2], offset: [i32; 2]) -> Option<f64>;
    /// Distance from a point outside of all bodies to the nearest one.
    fn nearest_distance(&mut self, point: [i32; 2]) -> f64;
    /// Makes bodies that were just created visible to queries, where an engine does not do that by itself.
    fn publish_new_bodies(&mut self) {}
    /// A checksum for the comparison between machines; [`Engine::checksum_covers`] says of what.
    fn checksum(&mut self) -> u64;
    /// What the checksum covers.
    fn checksum_covers(&self) -> &'static str;
    /// Writes the whole state, contacts included; `out` is emptied first and keeps its memory.
    fn snapshot(&mut self, out: &mut Vec<u8>);
    /// Goes back to a state written by this world.
    fn restore(&mut self, bytes: &[u8]);
}

/// A pool for engines that ask for one; none for a single thread.
pub fn pool(settings: Settings) -> Option<rayon::ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(settings.threads);
    (settings.threads > 1).then(|| builder.build().expect("threads can be started"))
}

/// A world of `contender` with the bodies of `scene`.
pub fn create(contender: Contender, scene: &Scene, settings: Settings) -> Box<dyn Engine> {
    create_of(&Matter::default(), contender, scene, settings)
}

/// The same with bodies of `matter`.
pub fn create_of(
    matter: &Matter,
    contender: Contender,
    scene: &Scene,
    settings: Settings,
) -> Box<dyn Engine> {
    let mut engine: Box<dyn Engine> = match contender {
        Contender::Testudo => Box::new(Testudo::new(scene, Simd::Widest, settings, matter)),
        Contender::TestudoAvx2 => Box::new(Testudo::new(scene, Simd::Bits256, settings, matter)),
        Contender::TestudoSse42 => Box::new(Testudo::new(scene, Simd::Bits128, settings, matter)),
        Contender::TestudoPlain => Box::new(Testudo::new(scene, Simd::Plain, settings, matter)),
        Contender::Rapier => Box::new(Rapier::new(scene, settings, matter)),
        Contender::Box2d => Box::new(Box2d::new(scene, settings, matter)),
    };
    for body in &scene.bodies {
        engine.add(body);
    }
    engine
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use testudo_tests::scenes;

    const SETTINGS: Settings = Settings { peer_iterations: 4, iterations: None, threads: 1 };

    /// Nobody starts elsewhere, faster, or with fewer bodies than the others.
    #[test]
    fn all_engines_start_from_the_same_state() {
        for scene in [scenes::crowd(500), scenes::bounce(500), scenes::idle(500), scenes::gather(500)] {
            for &contender in Contender::value_variants() {
                let engine = create(contender, &scene, SETTINGS);
                for (number, body) in (0..).zip(&scene.bodies) {
                    let position = body.position.map(|raw| f64::from(float(raw)));
                    let velocity = body.velocity.map(|raw| f64::from(float(raw)));
                    for axis in 0..2 {
                        let name = contender.name();
                        assert!(
                            (engine.position(number)[axis] - position[axis]).abs() < 2e-5,
                            "{name} {number}"
                        );
                        assert!(
                            (engine.velocity(number)[axis] - velocity[axis]).abs() < 2e-5,
                            "{name} {number}"
                        );
                    }
                }
            }
        }
    }

    /// A unit that meets nobody moves by what was written, and a removed one is gone from queries.
    #[test]
    fn all_engines_do_what_they_are_told() {
        let mut scene = scenes::gather(50);
        scene.bodies.truncate(2);
        scene.bodies[0].position = [0, 0];
        scene.bodies[1].position = [100 * ONE, 0];
        for &contender in Contender::value_variants() {
            let mut engine = create(contender, &scene, SETTINGS);
            let mut velocities = Velocities::default();
            velocities.push(0, [2 * ONE, -ONE]);
            for _ in 0..scene.frames_per_second {
                engine.write_velocities(&velocities);
                engine.step();
            }
            let [x, y] = engine.position(0);
            assert!((x - 2.0).abs() < 1e-3 && (y + 1.0).abs() < 1e-3, "{} at {x} {y}", contender.name());
            assert_eq!(engine.position(1), [100.0, 0.0]);
            let checksum = engine.checksum();
            engine.remove(1);
            engine.step();
            assert_ne!(engine.checksum(), checksum, "{}", contender.name());
            assert_eq!(engine.select_area([[90 * ONE, -ONE], [110 * ONE, ONE]]), 0, "{}", contender.name());
            assert!((engine.nearest_distance([100 * ONE, -ONE]) - 97.5).abs() < 0.1, "{}", contender.name());
        }
    }

    #[test]
    fn box2d_was_compiled_as_it_should_be() {
        assert!(!crate::engines::box2d::has_assertions());
    }
}
