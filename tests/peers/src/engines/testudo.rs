//! Testudo with the defaults of `WorldDef`: one setting for all scenes.
//!
//! As for the others: no gravity, friction 0, mass 1, the scene's restitution; sleeping stays on. The speed below
//! which restitution is ignored keeps its default, in the bouncing scene too.

use testudo_physics::{Aabb, BodyDef, BodyId, ChainDef, Fx, QueryFilter, Shape, Simd, Vec2, World, WorldDef};
use testudo_tests::scenes::{BodySpec, Form, Scene};

use crate::engine::{Engine, Matter, Settings, Velocities, pool};

/// A world and the handles of its bodies.
pub struct Testudo {
    world: World,
    bodies: Vec<BodyId>,
    restitution: Fx,
    matter: Matter,
    frames_per_second: u32,
    pool: Option<rayon::ThreadPool>,
    found: Vec<BodyId>,
    nearest: Vec<(BodyId, Fx)>,
}

impl Testudo {
    /// An empty world; `simd` says which instructions beyond the ordinary build's it may use.
    pub fn new(scene: &Scene, simd: Simd, settings: Settings, matter: &Matter) -> Self {
        let def = WorldDef::new().simd(simd).gravity(Vec2::new(Fx::ZERO, Fx::from_num(-matter.gravity)));
        let def = settings.iterations.map_or(def, |iterations| def.iterations(iterations));
        let mut world = World::new(def).expect("settings in range");
        if !matter.chain.is_empty() {
            let points: Vec<_> =
                matter.chain.iter().map(|&[x, y]| Vec2::new(Fx::from_num(x), Fx::from_num(y))).collect();
            let chain = ChainDef::new(&points).friction(Fx::from_num(matter.friction));
            world.create_chain(&chain).expect("scenes keep the limits");
        }
        Self {
            world,
            bodies: Vec::with_capacity(scene.bodies.len()),
            restitution: matter.restitution.map_or(Fx::from_num(scene.restitution), Fx::from_num),
            matter: matter.clone(),
            frames_per_second: scene.frames_per_second,
            pool: pool(settings),
            found: Vec::new(),
            nearest: Vec::new(),
        }
    }
}

fn fx(raw: i32) -> Fx {
    Fx::from_bits(i64::from(raw))
}

fn vector([x, y]: [i32; 2]) -> Vec2 {
    Vec2::new(fx(x), fx(y))
}

fn floats(vector: Vec2) -> [f64; 2] {
    [vector.x.to_num(), vector.y.to_num()]
}

impl Engine for Testudo {
    fn add(&mut self, body: &BodySpec) {
        let shape = match body.form {
            Form::Disc { radius } => Shape::Circle { radius: fx(radius) },
            Form::Box { half_extents } => Shape::Rect { half_extents: vector(half_extents) },
        };
        let def = if body.movable {
            BodyDef::dynamic(shape).mass(Fx::from_num(self.matter.mass(self.bodies.len())))
        } else {
            BodyDef::static_body(shape)
        };
        let def = def.position(vector(body.position)).velocity(vector(body.velocity));
        let def = def.restitution(self.restitution).friction(Fx::from_num(self.matter.friction));
        self.bodies.push(self.world.create_body(&def).expect("scenes keep the limits"));
    }

    fn remove(&mut self, body: u32) {
        self.world.remove_body(self.bodies[body as usize]).expect("callers name living bodies");
    }

    fn write_velocities(&mut self, velocities: &Velocities) {
        for (&body, &velocity) in velocities.bodies.iter().zip(&velocities.fixed) {
            self.world
                .set_velocity(self.bodies[body as usize], vector(velocity))
                .expect("callers name living bodies");
        }
    }

    fn set_rank(&mut self, body: u32, rank: u8) {
        self.world.set_dominance(self.bodies[body as usize], rank as i8).expect("callers name living bodies");
    }

    fn step(&mut self) {
        match &self.pool {
            None => self.world.step(self.frames_per_second),
            // From outside of the pool: this thread steps, and one of the pool's helps.
            Some(pool) => self.world.step_on(self.frames_per_second, pool),
        }
        .expect("scenes keep the limits");
    }

    fn position(&self, body: u32) -> [f64; 2] {
        floats(self.world.body(self.bodies[body as usize]).expect("callers name living bodies").position())
    }

    fn velocity(&self, body: u32) -> [f64; 2] {
        floats(self.world.body(self.bodies[body as usize]).expect("callers name living bodies").velocity())
    }

    fn select_area(&mut self, [min, max]: [[i32; 2]; 2]) -> u32 {
        let area = Aabb { min: vector(min), max: vector(max) };
        self.world.query_area(area, &QueryFilter::new(), &mut self.found);
        self.found.len() as u32
    }

    fn ray(&mut self, origin: [i32; 2], offset: [i32; 2]) -> Option<f64> {
        let (origin, end) = (vector(origin), vector([origin[0] + offset[0], origin[1] + offset[1]]));
        let hit = self.world.ray_cast(origin, end, &QueryFilter::new()).expect("scenes keep the limits");
        hit.map(|hit| hit.distance.to_num())
    }

    fn nearest_distance(&mut self, point: [i32; 2]) -> f64 {
        self.world
            .nearest(vector(point), 1, Fx::MAX, &QueryFilter::new(), &mut self.nearest)
            .expect("scenes keep the limits");
        self.nearest[0].1.to_num()
    }

    fn checksum(&mut self) -> u64 {
        self.world.checksum()
    }

    fn checksum_covers(&self) -> &'static str {
        "whole state, contacts"
    }

    fn snapshot(&mut self, out: &mut Vec<u8>) {
        self.world.snapshot(out);
    }

    fn restore(&mut self, bytes: &[u8]) {
        self.world.restore(bytes).expect("bytes were written by this program");
    }
}
