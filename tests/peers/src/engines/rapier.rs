//! rapier2d through its `PhysicsWorld`.
//!
//! Defaults, except for what the scenes ask: no gravity, rotation locked, friction 0, mass 1, the scene's
//! restitution and step length. Automatic sleeping and continuous collision against fixed bodies stay on.

use rapier2d::parry::bounding_volume::Aabb;
use rapier2d::prelude::*;
use testudo_tests::scenes::{BodySpec, Form, Scene};
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::{Engine, Matter, Settings, Velocities, float};

/// A rapier2d world and the handles of its bodies.
pub struct Rapier {
    world: PhysicsWorld,
    #[cfg(feature = "parallel")]
    pool: Option<rayon::ThreadPool>,
    handles: Vec<(RigidBodyHandle, ColliderHandle)>,
    restitution: f32,
    matter: Matter,
    unpublished: Vec<ColliderHandle>,
    packed: Vec<u8>,
    found: Vec<ColliderHandle>,
}

impl Rapier {
    /// An empty world.
    pub fn new(scene: &Scene, settings: Settings, matter: &Matter) -> Self {
        let mut world =
            PhysicsWorld { gravity: Vector::new(0.0, -matter.gravity), ..PhysicsWorld::default() };
        world.integration_parameters.dt = 1.0 / scene.frames_per_second as f32;
        world.integration_parameters.num_solver_iterations = settings.peer_iterations as usize;
        if !matter.chain.is_empty() {
            let points = matter.chain.iter().map(|&[x, y]| Vector::new(x, y)).collect();
            let chain = ColliderBuilder::polyline(points, None).friction(matter.friction);
            world.insert(RigidBodyBuilder::fixed(), chain);
        }
        Self {
            world,
            #[cfg(feature = "parallel")]
            pool: crate::engine::pool(settings),
            handles: Vec::with_capacity(scene.bodies.len()),
            restitution: matter.restitution.unwrap_or(scene.restitution as f32),
            matter: matter.clone(),
            unpublished: Vec::new(),
            packed: Vec::new(),
            found: Vec::new(),
        }
    }

    fn query(&self) -> QueryPipeline<'_> {
        self.world.broad_phase.as_query_pipeline(
            self.world.narrow_phase.query_dispatcher(),
            &self.world.bodies,
            &self.world.colliders,
            QueryFilter::default(),
        )
    }
}

fn vector(raw: [i32; 2]) -> Vector {
    Vector::new(float(raw[0]), float(raw[1]))
}

impl Engine for Rapier {
    fn add(&mut self, body: &BodySpec) {
        let builder = if body.movable { RigidBodyBuilder::dynamic() } else { RigidBodyBuilder::fixed() };
        let collider = match body.form {
            Form::Disc { radius } => ColliderBuilder::ball(float(radius)),
            Form::Box { half_extents: [x, y] } => ColliderBuilder::cuboid(float(x), float(y)),
        };
        let handles = self.world.insert(
            builder.translation(vector(body.position)).linvel(vector(body.velocity)).lock_rotations(),
            collider
                .mass(self.matter.mass(self.handles.len()))
                .friction(self.matter.friction)
                .restitution(self.restitution),
        );
        self.handles.push(handles);
        self.unpublished.push(handles.1);
    }

    fn remove(&mut self, body: u32) {
        self.world.remove_body(self.handles[body as usize].0);
    }

    fn write_velocities(&mut self, velocities: &Velocities) {
        for (&body, &[x, y]) in velocities.bodies.iter().zip(&velocities.float) {
            self.world.bodies[self.handles[body as usize].0].set_linvel(Vector::new(x, y), true);
        }
    }

    fn set_rank(&mut self, body: u32, rank: u8) {
        self.world.bodies[self.handles[body as usize].0].set_dominance_group(rank as i8);
    }

    fn step(&mut self) {
        self.unpublished.clear();
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            let world = &mut self.world;
            return pool.install(|| world.step());
        }
        self.world.step();
    }

    fn position(&self, body: u32) -> [f64; 2] {
        let at = self.world.bodies[self.handles[body as usize].0].translation();
        [f64::from(at.x), f64::from(at.y)]
    }

    fn velocity(&self, body: u32) -> [f64; 2] {
        let velocity = self.world.bodies[self.handles[body as usize].0].linvel();
        [f64::from(velocity.x), f64::from(velocity.y)]
    }

    fn select_area(&mut self, corners: [[i32; 2]; 2]) -> u32 {
        let area = Aabb::new(vector(corners[0]), vector(corners[1]));
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.extend(self.query().intersect_aabb_conservative(area).map(|(handle, _)| handle));
        self.found = found;
        self.found.len() as u32
    }

    fn ray(&mut self, origin: [i32; 2], offset: [i32; 2]) -> Option<f64> {
        let offset = vector(offset);
        let length = offset.length();
        let ray = Ray::new(vector(origin), offset / length);
        self.query().cast_ray(&ray, length, true).map(|(_, distance)| f64::from(distance))
    }

    fn nearest_distance(&mut self, point: [i32; 2]) -> f64 {
        let point = vector(point);
        let (_, projection) =
            self.query().project_point(point, f32::MAX, true).expect("the world has bodies");
        f64::from((projection.point - point).length())
    }

    fn publish_new_bodies(&mut self) {
        for handle in self.unpublished.drain(..) {
            let aabb = self.world.colliders[handle].compute_aabb();
            self.world.broad_phase.set_aabb(&self.world.integration_parameters, handle, aabb);
        }
    }

    fn checksum(&mut self) -> u64 {
        self.packed.clear();
        for (_, body) in self.world.bodies.iter() {
            let (at, velocity) = (body.translation(), body.linvel());
            for value in [at.x, at.y, velocity.x, velocity.y] {
                self.packed.extend_from_slice(&value.to_le_bytes());
            }
        }
        xxh3_64(&self.packed)
    }

    fn checksum_covers(&self) -> &'static str {
        "positions, velocities"
    }

    fn snapshot(&mut self, out: &mut Vec<u8>) {
        out.clear();
        bincode::serialize_into(out, &self.world).expect("rapier2d worlds can be serialised");
    }

    fn restore(&mut self, bytes: &[u8]) {
        self.world = bincode::deserialize(bytes).expect("bytes were written by this program");
    }
}
