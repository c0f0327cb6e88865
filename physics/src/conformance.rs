//! A fixed programme over everything that the simulation computes. Whoever builds this package in a new way, for a new machine or into another
//! language's program, can ask whether it computes the same bits.

use alloc::vec::Vec;

use crate::body::def::{BodyDef, BodyKind};
use crate::body::filter::Filter;
use crate::body::id::BodyId;
use crate::body::shape::Shape;
use crate::body::terrain_def::{ChainDef, PolygonDef};
use crate::math::aabb::Aabb;
use crate::math::angle::Angle;
use crate::math::num::Fx;
use crate::math::rate::Rate;
use crate::math::rng::Pcg32;
use crate::math::vec2::Vec2;
use crate::math::{div_floor, isqrt_u64, mul_floor, mul_nearest, sqrt};
use crate::query::filter::QueryFilter;
use crate::state::hash::hash_bytes;
use crate::state::walk::StatePart;
use crate::world::{ContactEvent, World};
use crate::world_def::{EdgePolicy, Simd, WorldDef};

/// Half of the width and of the height of the scenes, units.
const REACH: i32 = 12;

/// Frames of each scene.
const FRAMES: u32 = 120;

/// Bodies that are there at the start of each scene, besides walls.
const BODIES: u32 = 150;

/// Plays a fixed programme and returns a hash of all that it has computed. On every machine, with every choice of instructions and in every build of
/// this version it is [`CONFORMANCE`](crate::CONFORMANCE).
///
/// It plays a scene with gravity and one without: circles, rectangles, walls, chains, polygons, sensors, moving platforms, fast bodies, bodies that
/// sleep, are changed and removed, queries, snapshots that are restored, and the numbers of this package. Each frame's checksum and each answer is hashed
/// together with the hash before it. It takes a tenth of a second in a release build.
///
/// ```
/// use testudo_physics::{CONFORMANCE, Simd, conformance};
/// assert_eq!(conformance(Simd::Widest), CONFORMANCE, "this build computes something else");
/// ```
#[must_use]
pub fn conformance(simd: Simd) -> u64 {
    let mut programme = Programme { chain: 0, rng: Pcg32::new(2_026, 11) };
    programme.numbers();
    for has_gravity in [true, false] {
        programme.scene(simd, has_gravity);
    }
    programme.chain
}

struct Programme {
    chain: u64,
    rng: Pcg32,
}

impl Programme {
    /// Hashes a value together with everything before it. Inlined at each of its calls, it would cost those who build.
    #[inline(never)]
    fn add(&mut self, value: u64) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.chain.to_le_bytes());
        bytes[8..].copy_from_slice(&value.to_le_bytes());
        self.chain = hash_bytes(&bytes);
    }

    fn add_fx(&mut self, value: Fx) {
        self.add(value.to_bits() as u64);
    }

    fn add_vec(&mut self, value: Vec2) {
        self.add_fx(value.x);
        self.add_fx(value.y);
    }

    /// Whether something was done, and the bodies in an answer.
    fn add_bodies(&mut self, is_done: bool, found: &[BodyId]) {
        self.add(u64::from(is_done));
        self.add(found.len() as u64);
        found.iter().for_each(|id| self.add(id.to_bits()));
    }

    fn add_events(&mut self, events: &[ContactEvent]) {
        self.add(events.len() as u64);
        for event in events {
            self.add(event.a.to_bits());
            self.add(event.b.to_bits() ^ event.user_a ^ event.user_b.rotate_left(32));
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }

    /// A number from `low` to `high`, hundredths of a unit.
    #[inline(never)]
    fn fx(&mut self, low: i64, high: i64) -> Fx {
        let hundredths = |value: i64| Fx::from_bits((value << 16) / 100);
        self.rng.range(hundredths(low), hundredths(high))
    }

    /// Within the scene.
    fn place(&mut self) -> Vec2 {
        let reach = i64::from(REACH) * 100 - 100;
        Vec2::new(self.fx(-reach, reach), self.fx(-reach, reach))
    }

    /// Of which each component is not greater than this, units per second.
    fn velocity(&mut self, max: i64) -> Vec2 {
        Vec2::new(self.fx(-max * 100, max * 100), self.fx(-max * 100, max * 100))
    }

    fn shape(&mut self) -> Shape {
        match self.below(2) {
            0 => Shape::circle(self.fx(20, 90)),
            _ => Shape::rect(self.fx(20, 90), self.fx(20, 90)),
        }
    }

    /// The computations that need no world.
    fn numbers(&mut self) {
        let mut rate = Rate::new(7);
        for _ in 0..200 {
            let (a, b) = (self.fx(-3_000_000, 3_000_000), self.fx(-500, 500));
            let (v, w) = (Vec2::new(a, b), Vec2::new(b, a));
            let angle = Angle::from_bits(self.rng.next_u32());
            let (sin, cos) = angle.sin_cos();
            [
                sin,
                cos,
                mul_nearest(a, b),
                mul_floor(a, b),
                sqrt(a.abs()),
                v.length(),
                v.distance(w),
                v.dot(w),
            ]
            .into_iter()
            .for_each(|number| self.add_fx(number));
            if b != Fx::ZERO {
                self.add_fx(div_floor(a, b));
            }
            let turned = angle.turn_toward(Angle::atan2(a, b), Angle::from_degrees(20));
            self.add(u64::from(turned.to_bits()));
            [
                v.normalize(),
                w.rotate(angle),
                v.clamp_length(b.abs()),
                v.lerp(w, 2, 7),
                Vec2::from_angle(angle),
            ]
            .into_iter()
            .for_each(|vector| self.add_vec(vector));
            let wide = self.rng.next_u64();
            self.add(isqrt_u64(wide));
            let frames_per_second = 1 + self.below(60);
            self.add(rate.take(frames_per_second) as u64);
        }
        let mut items: [u64; 20] = core::array::from_fn(|item| item as u64);
        self.rng.shuffle(&mut items);
        items.into_iter().for_each(|item| self.add(item));
    }

    fn scene(&mut self, simd: Simd, has_gravity: bool) {
        let bounds = Aabb { min: Vec2::from_ints(-REACH, -REACH), max: Vec2::from_ints(REACH, REACH) };
        let def = WorldDef::new().simd(simd).bounds(bounds).sleep_ms(250);
        let def = match has_gravity {
            true => def.gravity(Vec2::from_ints(0, -10)),
            false => def.edge(EdgePolicy::Bounce),
        };
        let Ok(mut world) = World::new(def) else { return self.add(u64::MAX) };
        world.list_contact_hits(true);
        world.list_stayed_contacts(true);
        self.terrain(&mut world);
        let mut ids = Vec::new();
        (0..BODIES).for_each(|_| self.create(&mut world, &mut ids));
        let mut bytes = Vec::new();
        for frame in 0..FRAMES {
            self.operate(&mut world, &mut ids);
            let is_stepped = world.step([20, 30, 60, 60][frame as usize % 4]).is_ok();
            self.add(u64::from(is_stepped));
            self.frame(&world);
            if frame % 8 == 0 {
                self.ask(&world);
            }
            if frame % 24 == 23 {
                world.snapshot(&mut bytes);
                self.add(hash_bytes(&bytes));
                let Ok(mut fresh) = World::new(WorldDef::new().simd(simd)) else { return self.add(u64::MAX) };
                self.add(u64::from(fresh.restore(&bytes).is_ok()));
                fresh.list_contact_hits(true);
                fresh.list_stayed_contacts(true);
                world = fresh;
            }
        }
    }

    /// Hills, a ledge that is open from below, a closed cave, and two rocks.
    fn terrain(&mut self, world: &mut World) {
        let hills: [Vec2; 9] =
            core::array::from_fn(|i| Vec2::new(Fx::from_num(i as i32 * 3 - 12), self.fx(-1_150, -900)));
        let ledge = [Vec2::from_ints(6, 3), Vec2::from_ints(1, 4), Vec2::from_ints(-4, 3)];
        let cave = [(-11, 7), (-7, 8), (-6, 11), (-10, 11)].map(|(x, y)| Vec2::from_ints(x, y));
        let friction = Fx::from_bits(1 << 15);
        for def in [
            ChainDef::new(&hills).friction(friction),
            ChainDef::new(&ledge).one_sided(true),
            ChainDef::new(&cave).closed(true).restitution(friction),
        ] {
            let made = world.create_chain(&def);
            self.add_bodies(made.is_ok(), &made.unwrap_or_default());
        }
        for radius in [Fx::ZERO, Fx::from_bits(1 << 14)] {
            let at = self.place();
            let rock = [(-2, -1), (1, -2), (2, 1), (0, 2)].map(|(x, y)| at + Vec2::from_ints(x, y));
            let made = world.create_polygon(&PolygonDef::new(&rock).radius(radius).friction(friction));
            self.add_bodies(made.is_ok(), made.ok().as_slice());
        }
    }

    fn create(&mut self, world: &mut World, ids: &mut Vec<BodyId>) {
        let shape = self.shape();
        let def = match self.below(8) {
            0 => BodyDef::static_body(shape),
            1 => BodyDef::kinematic(shape).velocity(self.velocity(2)),
            // Fast ones go through walls, if nobody sweeps them.
            2 => BodyDef::dynamic(Shape::circle(self.fx(5, 20))).velocity(self.velocity(200)),
            _ => BodyDef::dynamic(shape).velocity(self.velocity(8)),
        };
        let choices = [0; 6].map(|_| self.below(6) == 0);
        let def = def
            .position(self.place())
            .mass(self.fx(20, 3_000))
            .restitution(self.fx(0, 100))
            .friction(self.fx(0, 100))
            .damping(self.fx(0, 40))
            .dominance(self.below(3) as i8 - 1)
            .user(u64::from(self.below(5)))
            .sensor(choices[0])
            .locked_axes(choices[1], choices[2])
            .ground_friction(if choices[3] { self.fx(0, 300) } else { Fx::ZERO })
            .filter(if choices[4] { Filter::new(1, 2) } else { Filter::default() });
        let def = if choices[5] { def.max_speed(self.fx(100, 900)) } else { def };
        let made = world.create_body(&def);
        self.add_bodies(made.is_ok(), made.ok().as_slice());
        ids.extend(made);
    }

    /// Changes a body, as a game would between two frames.
    fn operate(&mut self, world: &mut World, ids: &mut Vec<BodyId>) {
        let at = self.below(ids.len().max(1) as u32) as usize;
        let Some(&id) = ids.get(at) else { return self.create(world, ids) };
        let other = ids[self.below(ids.len() as u32) as usize];
        let is_asked = self.below(2) == 0;
        let (push, place) = (self.velocity(30), self.place());
        let done = match self.below(15) {
            0 => {
                ids.swap_remove(at);
                world.remove_body(id)
            }
            1 | 2 => return self.create(world, ids),
            3 => world.set_velocity(id, push),
            4 => world.set_position(id, place),
            5 => world.set_enabled(id, is_asked),
            6 => world.apply_force(id, push),
            7 => world.apply_impulse(id, push),
            8 => world.set_shape(id, self.shape()),
            9 => world.set_sensor(id, is_asked),
            10 => world.set_kind(id, if is_asked { BodyKind::Dynamic } else { BodyKind::Kinematic }),
            11 => world.move_kinematic(id, place, 60),
            12 => world.set_mass(id, self.fx(20, 3_000)),
            13 => world.set_pair_ignored(id, other, is_asked),
            _ => world.sleep_body(id),
        };
        self.add(u64::from(done.is_ok()));
    }

    /// The result of a frame and its events.
    fn frame(&mut self, world: &World) {
        self.add(world.checksum());
        for events in [
            world.contacts_began(),
            world.contacts_ended(),
            world.contacts_stayed(),
            world.sensors_began(),
            world.sensors_ended(),
        ] {
            self.add_events(events);
        }
        for hit in world.contact_hits() {
            self.add_fx(hit.approach_speed);
            self.add_vec(hit.point);
            self.add_vec(hit.normal);
        }
        for contact in world.contacts() {
            self.add_fx(contact.impulse);
        }
        self.add(world.bodies().filter(|body| body.is_awake()).count() as u64);
    }

    fn ask(&mut self, world: &World) {
        StatePart::ALL.into_iter().for_each(|part| self.add(world.part_checksum(part)));
        let filter = QueryFilter::new().with_sensors();
        let (from, to, mut found) = (self.place(), self.place(), Vec::new());
        let area = Aabb::from_corners(from, to);
        world.query_area(area, &filter, &mut found);
        self.add_bodies(true, &found);
        world.query_area_exact(area, &filter, &mut found);
        self.add_bodies(true, &found);
        world.query_point(from, &filter, &mut found);
        self.add_bodies(true, &found);
        let shape = self.shape();
        let is_done = world.query_shape(shape, to, &filter, &mut found).is_ok();
        self.add_bodies(is_done, &found);
        let (mut near, mut rays, mut sweeps) = (Vec::new(), Vec::new(), Vec::new());
        let is_done = world.nearest(from, 6, Fx::from_num(15), &filter, &mut near).is_ok()
            && world.ray_cast_all(from, to, &filter, &mut rays).is_ok()
            && world.sweep_all(shape, from, to, &filter, &mut sweeps).is_ok();
        self.add(u64::from(is_done));
        for (body, distance) in near {
            self.add(body.to_bits());
            self.add_fx(distance);
        }
        rays.extend(world.ray_cast(to, from, &QueryFilter::new().both_sides()).ok().flatten());
        for hit in rays {
            self.add_bodies(true, &[hit.body]);
            self.add_fx(hit.fraction);
            self.add_vec(hit.point);
            self.add_vec(hit.normal);
        }
        sweeps.extend(world.sweep_circle(to, from, self.fx(10, 200), &filter).ok().flatten());
        for hit in sweeps {
            self.add_bodies(true, &[hit.body]);
            self.add_fx(hit.distance);
            self.add_vec(hit.position);
            self.add_vec(hit.normal);
        }
    }
}
