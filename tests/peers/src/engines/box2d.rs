//! Box2D version 3 through the plain C interface.
//!
//! Defaults, except for what the scenes ask: no gravity, rotation locked, friction 0, mass 1, the scene's
//! restitution. Sleeping, continuous collision and contact recycling stay on; one worker. In scenes that
//! bounce without loss the speed below which restitution is ignored (1 unit per second by default) is 0.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use boxdd_sys::ffi::*;
use testudo_tests::scenes::{BodySpec, Form, Scene};
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::{Engine, Matter, Settings, Velocities, float};

/// A Box2D world and the ids of its bodies.
pub struct Box2d {
    world: b2WorldId,
    bodies: Vec<b2BodyId>,
    live: Vec<bool>,
    restitution: f32,
    matter: Matter,
    time_step: f32,
    substeps: c_int,
    packed: Vec<u8>,
    found: Vec<b2ShapeId>,
}

impl Box2d {
    /// An empty world.
    pub fn new(scene: &Scene, settings: Settings, matter: &Matter) -> Self {
        // SAFETY: plain values in and out.
        let world = unsafe {
            let mut def = b2DefaultWorldDef();
            def.gravity = b2Vec2 { x: 0.0, y: -matter.gravity };
            // With more than one it starts threads of its own.
            def.workerCount = settings.threads as c_int;
            if scene.restitution > 0 {
                def.restitutionThreshold = 0.0;
            }
            let world = b2CreateWorld(&def);
            if !matter.chain.is_empty() {
                let ground = b2CreateBody(world, &b2DefaultBodyDef());
                let mut shape = b2DefaultShapeDef();
                shape.material.friction = matter.friction;
                for [a, b] in matter.chain.array_windows() {
                    let [point1, point2] = [a, b].map(|&[x, y]| b2Vec2 { x, y });
                    b2CreateSegmentShape(ground, &shape, &b2Segment { point1, point2 });
                }
            }
            world
        };
        Self {
            world,
            bodies: Vec::with_capacity(scene.bodies.len()),
            live: Vec::with_capacity(scene.bodies.len()),
            restitution: matter.restitution.unwrap_or(scene.restitution as f32),
            matter: matter.clone(),
            time_step: 1.0 / scene.frames_per_second as f32,
            substeps: settings.peer_iterations as c_int,
            packed: Vec::new(),
            found: Vec::new(),
        }
    }

    fn overlapping(&self, min: b2Vec2, max: b2Vec2, visit: b2OverlapResultFcn, context: *mut c_void) {
        let area = b2AABB { lowerBound: min, upperBound: max };
        // SAFETY: the world lives, `visit` gets the context it expects, and neither changes the world.
        unsafe {
            b2World_OverlapAABB(self.world, vector([0, 0]), area, b2DefaultQueryFilter(), visit, context)
        };
    }
}

impl Drop for Box2d {
    fn drop(&mut self) {
        // SAFETY: the world was created by `new` and is destroyed once.
        unsafe { b2DestroyWorld(self.world) };
    }
}

/// Whether the linked Box2D was compiled with its assertions, which the comparison does not want.
pub fn has_assertions() -> bool {
    static SEEN: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn on_assert(_: *const c_char, _: *const c_char, _: c_int) -> c_int {
        SEEN.store(true, Ordering::Relaxed);
        0
    }
    // SAFETY: a box of negative size breaks an assertion of a function without side effects; the handler
    // returns 0, so the program goes on.
    unsafe {
        b2SetAssertFcn(Some(on_assert));
        b2MakeBox(-1.0, -1.0);
    }
    SEEN.load(Ordering::Relaxed)
}

/// Version of the linked library.
pub fn version() -> String {
    // SAFETY: returns a plain value.
    let version = unsafe { b2GetVersion() };
    format!("{}.{}.{}", version.major, version.minor, version.revision)
}

fn vector(raw: [i32; 2]) -> b2Vec2 {
    b2Vec2 { x: float(raw[0]), y: float(raw[1]) }
}

unsafe extern "C" fn collect(shape: b2ShapeId, context: *mut c_void) -> bool {
    // SAFETY: every caller passes a list of shapes as context.
    unsafe { (*context.cast::<Vec<b2ShapeId>>()).push(shape) };
    true
}

struct Nearest {
    point: b2Vec2,
    distance_squared: f32,
}

unsafe extern "C" fn measure(shape: b2ShapeId, context: *mut c_void) -> bool {
    // SAFETY: every caller passes a `Nearest` as context; the shape was just found.
    let (nearest, on_shape) = unsafe {
        let nearest = &mut *context.cast::<Nearest>();
        let on_shape = b2Shape_GetClosestPoint(shape, nearest.point);
        (nearest, on_shape)
    };
    let (x, y) = (on_shape.x - nearest.point.x, on_shape.y - nearest.point.y);
    nearest.distance_squared = nearest.distance_squared.min(x * x + y * y);
    true
}

impl Engine for Box2d {
    fn add(&mut self, body: &BodySpec) {
        // SAFETY: definitions come from Box2D's own defaults and outlive the calls; the world lives.
        unsafe {
            let mut def = b2DefaultBodyDef();
            if body.movable {
                def.type_ = b2BodyType_b2_dynamicBody;
            }
            def.position = vector(body.position);
            def.linearVelocity = vector(body.velocity);
            def.motionLocks.angularZ = true;
            let id = b2CreateBody(self.world, &def);
            let mut shape = b2DefaultShapeDef();
            shape.material.friction = self.matter.friction;
            let mass = self.matter.mass(self.bodies.len());
            shape.material.restitution = self.restitution;
            match body.form {
                Form::Disc { radius } => {
                    let radius = float(radius);
                    shape.density = mass / (std::f32::consts::PI * radius * radius);
                    b2CreateCircleShape(id, &shape, &b2Circle { center: vector([0, 0]), radius });
                }
                Form::Box { half_extents } => {
                    let [x, y] = half_extents.map(float);
                    shape.density = mass / (4.0 * x * y);
                    b2CreatePolygonShape(id, &shape, &b2MakeBox(x, y));
                }
            }
            self.bodies.push(id);
            self.live.push(true);
        }
    }

    fn remove(&mut self, body: u32) {
        // SAFETY: a number is removed once only.
        unsafe { b2DestroyBody(self.bodies[body as usize]) };
        self.live[body as usize] = false;
    }

    fn write_velocities(&mut self, velocities: &Velocities) {
        for (&body, &[x, y]) in velocities.bodies.iter().zip(&velocities.float) {
            // SAFETY: callers name living bodies.
            unsafe { b2Body_SetLinearVelocity(self.bodies[body as usize], b2Vec2 { x, y }) };
        }
    }

    /// It knows no ranks.
    fn set_rank(&mut self, body: u32, rank: u8) {
        let mass = self.matter.mass(body as usize) * 1.05_f32.powi(i32::from(rank));
        let data = b2MassData { mass, center: vector([0, 0]), rotationalInertia: 1.0 };
        // SAFETY: callers name living bodies.
        unsafe { b2Body_SetMassData(self.bodies[body as usize], data) };
    }

    fn step(&mut self) {
        // SAFETY: the world lives.
        unsafe { b2World_Step(self.world, self.time_step, self.substeps) };
    }

    fn position(&self, body: u32) -> [f64; 2] {
        // SAFETY: callers name living bodies.
        let at = unsafe { b2Body_GetPosition(self.bodies[body as usize]) };
        [f64::from(at.x), f64::from(at.y)]
    }

    fn velocity(&self, body: u32) -> [f64; 2] {
        // SAFETY: callers name living bodies.
        let velocity = unsafe { b2Body_GetLinearVelocity(self.bodies[body as usize]) };
        [f64::from(velocity.x), f64::from(velocity.y)]
    }

    fn select_area(&mut self, corners: [[i32; 2]; 2]) -> u32 {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.overlapping(vector(corners[0]), vector(corners[1]), Some(collect), (&raw mut found).cast());
        self.found = found;
        self.found.len() as u32
    }

    fn ray(&mut self, origin: [i32; 2], offset: [i32; 2]) -> Option<f64> {
        let offset = vector(offset);
        // SAFETY: the world lives.
        let hit =
            unsafe { b2World_CastRayClosest(self.world, vector(origin), offset, b2DefaultQueryFilter()) };
        hit.hit.then(|| f64::from(hit.fraction) * f64::from(offset.x).hypot(f64::from(offset.y)))
    }

    /// Box2D has no such query; this is the usual way: a growing box until something is found, and then
    /// once more if something outside of the box could be nearer.
    fn nearest_distance(&mut self, point: [i32; 2]) -> f64 {
        let point = vector(point);
        let mut nearest = Nearest { point, distance_squared: f32::INFINITY };
        let mut reach = 0.5;
        loop {
            let min = b2Vec2 { x: point.x - reach, y: point.y - reach };
            let max = b2Vec2 { x: point.x + reach, y: point.y + reach };
            self.overlapping(min, max, Some(measure), (&raw mut nearest).cast());
            let distance = nearest.distance_squared.sqrt();
            if distance <= reach {
                return f64::from(distance);
            }
            reach = if distance.is_finite() { distance } else { reach * 2.0 };
        }
    }

    fn checksum(&mut self) -> u64 {
        self.packed.clear();
        for (&body, _) in self.bodies.iter().zip(&self.live).filter(|(_, live)| **live) {
            // SAFETY: dead bodies are left out.
            let (at, velocity) = unsafe { (b2Body_GetPosition(body), b2Body_GetLinearVelocity(body)) };
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
        loop {
            // SAFETY: the capacity is the vector's own; Box2D writes nothing if the image does not fit, and
            // otherwise exactly as many bytes as it returns.
            unsafe {
                out.set_len(0);
                let needed = b2World_Snapshot(self.world, out.as_mut_ptr(), out.capacity() as c_int) as usize;
                if needed <= out.capacity() {
                    out.set_len(needed);
                    return;
                }
                out.reserve_exact(needed);
            }
        }
    }

    fn restore(&mut self, bytes: &[u8]) {
        // SAFETY: the image was written by this world, which lives.
        let restored = unsafe { b2World_Restore(self.world, bytes.as_ptr(), bytes.len() as c_int) };
        assert!(restored, "Box2D refused its own snapshot");
    }
}
