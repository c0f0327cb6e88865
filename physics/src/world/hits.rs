//! Point, normal and approach speed of contacts that begin: for sounds, sparks and damage.

use crate::body::id::BodyId;
use crate::body::record::{Body, Shell, fx, vec2};
use crate::collide::narrow_phase::{UNIT_BITS, separation};
use crate::collide::passage::impact;
use crate::math::axes::{both, each_axis};
use crate::math::num::Fx;
use crate::math::vec2::Vec2;
use crate::step::scene::Scene;

/// How a contact began in the last step; see [`World::contact_hits`](crate::World::contact_hits).
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new())?;
/// world.list_contact_hits(true);
/// let wall = world.create_body(&BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(5))))?;
/// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).position(Vec2::from_ints(-4, 2));
/// let ball = world.create_body(&ball.velocity(Vec2::from_ints(50, 0)))?;
/// world.step(20)?;
/// let hit = world.contact_hits()[0];
/// assert_eq!((hit.a, hit.b), (wall, ball));
/// assert_eq!(hit.normal, Vec2::from_ints(-1, 0));
/// assert!((hit.point - Vec2::from_ints(-1, 2)).length() < Fx::lit("0.001"));
/// assert!((hit.approach_speed - Fx::from_num(50)).abs() < Fx::lit("0.001"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContactHit {
    /// The body with the lower slot index.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// Where they touch. For two rectangles that touch along a side, the middle of the common part.
    pub point: Vec2,
    /// Unit normal from `a` to `b`.
    pub normal: Vec2,
    /// Closing speed along the normal before the step's impulses, units per second; not negative.
    pub approach_speed: Fx,
}

impl ContactHit {
    /// The same hit as seen from the other body.
    fn turned(self) -> Self {
        Self { a: self.b, b: self.a, normal: -self.normal, ..self }
    }

    /// The contact that begins between two bodies, before the step moves them.
    pub(crate) fn between([a, b]: [BodyId; 2], scene: Scene<'_>, fps: u32) -> Self {
        let Scene { bodies, terrain, .. } = scene;
        if bodies[a.slot()].is_terrain() {
            return Self::between([b, a], scene, fps).turned();
        }
        let [body_a, body_b] = both([a, b], |id| &bodies[id.slot()]);
        let [shell_a, shell_b] = both([a, b], |id| bodies[id.slot()].shell(id.slot()));
        let speed = each_axis(|axis| body_b.velocity[axis].wrapping_sub(body_a.velocity[axis]));
        let motion = both(speed, |v| v / fps as i32);
        let (met, apart) = if shell_b.is_terrain() {
            let found = terrain.plain_separation(b.slot(), &shell_a);
            let met = terrain.impact(b.slot(), &shell_a, motion, &|other| scene.joins(a.slot(), other));
            (met, found.map_or([0; 2], |found| found.normal))
        } else {
            (impact(&shell_a, &shell_b, motion), separation(&shell_a, &shell_b).0)
        };
        let place = met.map_or(0, |(place, ..)| i64::try_from(place).unwrap_or(0));
        let normal = met.map_or(apart, |(_, _, found)| found.normal);
        // Both at the time of impact.
        let there = |body: &Body, shell: Shell| {
            let way = |axis: usize| i64::from(body.velocity[axis]) / i64::from(fps);
            Shell {
                position: each_axis(|axis| shell.position[axis] + ((way(axis) * place) >> 32) as i32),
                ..shell
            }
        };
        let point = if shell_b.is_terrain() {
            surface_point(&there(body_a, shell_a), normal)
        } else {
            touching_point(&there(body_a, shell_a), &there(body_b, shell_b), normal)
        };
        let along: i64 = (0..2).map(|axis| i64::from(speed[axis]) * i64::from(normal[axis])).sum();
        Self {
            a,
            b,
            point: vec2(point),
            normal: vec2(both(normal, |part| (part + (1 << 13)) >> (UNIT_BITS - 16))),
            approach_speed: fx((-along >> UNIT_BITS).max(0) as i32),
        }
    }
}

/// The point of a shape that lies furthest along a normal; for a side, its middle.
fn surface_point(shell: &Shell, normal: [i32; 2]) -> [i32; 2] {
    each_axis(|axis| {
        let round = (i64::from(shell.radius) * i64::from(normal[axis]) + (1 << (UNIT_BITS - 1))) >> UNIT_BITS;
        shell.position[axis] + shell.half[axis] * normal[axis].signum() + round as i32
    })
}

/// The point of `a` that is nearest to `b`; the middle of the common part if the cores overlap along an axis.
fn touching_point(a: &Shell, b: &Shell, normal: [i32; 2]) -> [i32; 2] {
    each_axis(|axis| {
        let low = (a.position[axis] - a.half[axis]).max(b.position[axis] - b.half[axis]);
        let high = (a.position[axis] + a.half[axis]).min(b.position[axis] + b.half[axis]);
        // Separated on this axis: the end of `a` that points to `b`.
        let side = a.position[axis] + a.half[axis] * normal[axis].signum();
        let core = if low <= high && normal[1 - axis] != 0 { i32::midpoint(low, high) } else { side };
        core + ((i64::from(a.radius) * i64::from(normal[axis]) + (1 << (UNIT_BITS - 1))) >> UNIT_BITS) as i32
    })
}
