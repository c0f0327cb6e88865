//! The public view of a body.

use crate::body::def::BodyKind;
use crate::body::filter::Filter;
use crate::body::id::BodyId;
use crate::body::material::Material;
use crate::body::record::{Body, Extra, ShapeTag, choice, flag, fx, vec2};
use crate::body::shape::Shape;
use crate::body::terrain::{Piece, TerrainRef};
use crate::math::aabb::Aabb;
use crate::math::num::Fx;
use crate::math::vec2::Vec2;

/// A read-only view of a body. Values are copies of the state between two steps.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new())?;
/// for x in 0..3 {
///     world.create_body(&BodyDef::static_body(Shape::rect(Fx::ONE, Fx::ONE)).position(Vec2::from_ints(x, 0)))?;
/// }
/// let widest = world.bodies().map(|body| body.aabb()).reduce(|a, b| a.union(&b));
/// assert_eq!(widest.unwrap().max, Vec2::from_ints(3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BodyRef<'a> {
    pub(crate) id: BodyId,
    pub(crate) body: &'a Body,
    pub(crate) extra: &'a Extra,
    /// Raw position before the last step.
    pub(crate) previous: [i32; 2],
    pub(crate) piece: Option<&'a Piece>,
}

impl<'a> BodyRef<'a> {
    /// Handle of the body; stays valid until the body is removed.
    #[must_use]
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// Centre of the body, units.
    #[must_use]
    #[inline]
    pub fn position(&self) -> Vec2 {
        vec2(self.body.position)
    }

    /// Velocity, units per second.
    #[must_use]
    #[inline]
    pub fn velocity(&self) -> Vec2 {
        vec2(self.body.velocity)
    }

    /// The outline of a body that is terrain; `None` for circles and rectangles.
    #[must_use]
    pub fn terrain(&self) -> Option<TerrainRef<'a>> {
        self.piece.map(TerrainRef)
    }

    /// Shape of the body. Of terrain it is the box around it; [`Self::terrain`] has the outline.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match ShapeTag::of(self.body.flags) {
            Some(ShapeTag::Circle) => Shape::Circle { radius: fx(self.body.radius) },
            Some(ShapeTag::Rect | ShapeTag::Terrain) | None => {
                Shape::Rect { half_extents: vec2(self.body.half) }
            }
        }
    }

    /// The smallest axis-aligned box around the body. That of terrain is at least 1/512 unit wide and high.
    #[must_use]
    pub fn aabb(&self) -> Aabb {
        let b = self.body.bounds();
        Aabb { min: vec2(b.min), max: vec2(b.max) }
    }

    /// Whether the body is static, kinematic or dynamic.
    #[must_use]
    pub fn kind(&self) -> BodyKind {
        if self.body.has(flag::DYNAMIC) {
            BodyKind::Dynamic
        } else if self.body.has(flag::KINEMATIC) {
            BodyKind::Kinematic
        } else {
            BodyKind::Static
        }
    }

    /// Mass of a dynamic body; 0 for other bodies, which contacts cannot move.
    #[must_use]
    pub fn mass(&self) -> Fx {
        Fx::from_bits(i64::from(self.body.mass))
    }

    /// Restitution, friction and damping.
    pub fn material(&self) -> Material {
        Material {
            restitution: fx(self.body.restitution),
            friction: fx(self.extra.friction),
            ground_friction: fx(self.body.ground_friction),
            damping: fx(self.extra.damping),
        }
    }

    /// Greatest speed after a step, units per second; `None` means only the world's limit per axis.
    #[must_use]
    pub fn max_speed(&self) -> Option<Fx> {
        self.body.has(flag::LIMITED).then(|| fx(self.extra.max_speed))
    }

    /// Collision layers and mask.
    #[must_use]
    pub fn filter(&self) -> Filter {
        self.body.filter()
    }

    /// The game's own value.
    #[must_use]
    pub fn user(&self) -> u64 {
        self.extra.user()
    }

    /// Whether the body only reports overlaps.
    #[must_use]
    pub fn is_sensor(&self) -> bool {
        self.body.has(flag::SENSOR)
    }

    /// Whether the body takes part in steps and queries.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        !self.body.has(flag::DISABLED)
    }

    /// Whether the body moves or may start to move by itself. Resting bodies fall asleep; static ones are always asleep.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.body.has(flag::AWAKE)
    }

    /// Whether the body may fall asleep by itself. A kinematic body without a velocity does in either case.
    #[must_use]
    pub fn can_sleep(&self) -> bool {
        self.extra.choices & choice::NEVER_SLEEPS == 0
    }

    /// Rank in contacts, see [`BodyDef::dominance`](crate::BodyDef::dominance).
    #[must_use]
    pub fn dominance(&self) -> i8 {
        self.extra.dominance as i8
    }

    /// Axes (x, y) along which contacts do not move the body.
    #[must_use]
    pub fn locked_axes(&self) -> (bool, bool) {
        (self.body.has(flag::LOCK_X), self.body.has(flag::LOCK_Y))
    }
}
