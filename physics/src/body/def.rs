//! The definition of a body, and the reasons for which it may be refused.

use crate::body::filter::Filter;
use crate::body::id::BodyId;
use crate::body::material::Material;
use crate::body::shape::Shape;
use crate::math::num::{
    EXTENT_MAX, EXTENT_MIN, FRICTION_MAX, Fx, MASS_MAX, MASS_MIN, POSITION_MAX, SPEED_MAX,
};
use crate::math::vec2::Vec2;

/// How a body moves. Exhaustive on purpose: a game that forgets a kind treats its bodies wrongly.
///
/// ```
/// use testudo_physics::{BodyDef, BodyKind, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new().gravity(Vec2::from_ints(0, -10)))?;
/// let mut drop = |kind| world.create_body(&BodyDef::new(kind, Shape::circle(Fx::ONE)).sensor(true));
/// let (ground, lift, stone) = (drop(BodyKind::Static)?, drop(BodyKind::Kinematic)?, drop(BodyKind::Dynamic)?);
/// world.step(20)?;
/// let velocity = |id| world.body(id).unwrap().velocity().y;
/// assert_eq!([ground, lift, stone].map(velocity), [Fx::ZERO, Fx::ZERO, Fx::lit("-0.5")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// It never moves. Its velocity is zero, and contacts do not push it.
    Static,
    /// It moves with the velocity that the game sets. It pushes dynamic bodies, and nothing pushes it.
    Kinematic,
    /// It moves by velocity, contacts, forces, gravity, friction and damping.
    Dynamic,
}

/// The definition of a body: shape and kind, and defaults for everything else.
///
/// One definition can create any number of bodies. [`World::create_body`](crate::World::create_body) checks it.
///
/// ```
/// use testudo_physics::{BodyDef, BodyError, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new()).unwrap();
/// let unit = BodyDef::dynamic(Shape::circle(Fx::lit("0.5"))).ground_friction(Fx::from_num(2));
/// let id = world.create_body(&unit.position(Vec2::from_ints(3, 4)).user(17)).unwrap();
/// assert_eq!(world.body(id).unwrap().user(), 17);
///
/// let refused = world.create_body(&unit.position(Vec2::from_ints(20_000, 0)));
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     "position must be -16384..=16384, not 20000"
/// );
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct BodyDef {
    pub(crate) kind: BodyKind,
    pub(crate) shape: Shape,
    /// Centre, units.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) position: Vec2,
    /// Units per second.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) velocity: Vec2,
    #[cfg_attr(feature = "serde", serde(default = "one"))]
    pub(crate) mass: Fx,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) material: Material,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) filter: Filter,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) sensor: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) lock_x: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) lock_y: bool,
    #[cfg_attr(feature = "serde", serde(default = "yes"))]
    pub(crate) enabled: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) user: u64,
    /// Units per second; `None` = only the world's limit.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) max_speed: Option<Fx>,
    #[cfg_attr(feature = "serde", serde(default = "yes"))]
    pub(crate) can_sleep: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) dominance: i8,
}

// Written definitions may leave out what the builder has a default for: a later version may have more of it.
#[cfg(feature = "serde")]
fn one() -> Fx {
    Fx::ONE
}

#[cfg(feature = "serde")]
fn yes() -> bool {
    true
}

impl BodyDef {
    /// A body at the origin that does not move. Each method documents its default.
    pub fn new(kind: BodyKind, shape: Shape) -> Self {
        Self {
            kind,
            shape,
            position: Vec2::ZERO,
            velocity: Vec2::ZERO,
            mass: Fx::ONE,
            material: Material::default(),
            filter: Filter::default(),
            sensor: false,
            lock_x: false,
            lock_y: false,
            enabled: true,
            user: 0,
            max_speed: None,
            can_sleep: true,
            dominance: 0,
        }
    }

    /// A body that never moves: ground, walls, buildings.
    pub fn static_body(shape: Shape) -> Self {
        Self::new(BodyKind::Static, shape)
    }

    /// A body that moves with its own velocity; nothing stops it: lifts, doors.
    pub fn kinematic(shape: Shape) -> Self {
        Self::new(BodyKind::Kinematic, shape)
    }

    /// A body that contacts and forces can move.
    pub fn dynamic(shape: Shape) -> Self {
        Self::new(BodyKind::Dynamic, shape)
    }

    /// Centre, units; each axis within +-16,384. Default the origin.
    pub fn position(self, position: Vec2) -> Self {
        Self { position, ..self }
    }

    /// Velocity, units per second; each axis within +-1,024. The world clamps it to its greatest speed. Static bodies ignore
    /// it. Default 0.
    pub fn velocity(self, velocity: Vec2) -> Self {
        Self { velocity, ..self }
    }

    /// Mass of a dynamic body, 1/256..=16,384. The unit is free: only ratios matter, and the unit of forces follows from it.
    /// Other kinds ignore it. Default 1.
    pub fn mass(self, mass: Fx) -> Self {
        Self { mass, ..self }
    }

    /// Restitution, frictions and damping at once. Default all 0.
    pub fn material(self, material: Material) -> Self {
        Self { material, ..self }
    }

    /// Coefficient of restitution, 0..=1; see [`Material::restitution`]. Default 0.
    pub fn restitution(mut self, restitution: Fx) -> Self {
        self.material.restitution = restitution;
        self
    }

    /// Coefficient of contact friction, 0..=4; see [`Material::friction`]. Default 0.
    pub fn friction(mut self, friction: Fx) -> Self {
        self.material.friction = friction;
        self
    }

    /// Deceleration by the ground, units/s^2, 0..=1,024; see [`Material::ground_friction`]. Default 0.
    pub fn ground_friction(mut self, ground_friction: Fx) -> Self {
        self.material.ground_friction = ground_friction;
        self
    }

    /// Damping of the velocity, 1/s, 0..=1,024; see [`Material::damping`]. Default 0.
    pub fn damping(mut self, damping: Fx) -> Self {
        self.material.damping = damping;
        self
    }

    /// Greatest speed (length of the velocity) after a step, units per second, 0..=1,024. By default only the world's limit per axis applies. Within a step a
    /// body still moves with the velocity that a call, a force or another body has given it: a game that sets a greater velocity in each frame moves it that
    /// fast.
    pub fn max_speed(self, max_speed: Fx) -> Self {
        Self { max_speed: Some(max_speed), ..self }
    }

    /// Whether the body may fall asleep. A dynamic body that may not also keeps awake what it touches, directly or through others. Default true.
    /// A kinematic body falls asleep in the first step that finds it without a velocity, in either case.
    pub fn can_sleep(self, can_sleep: bool) -> Self {
        Self { can_sleep, ..self }
    }

    /// Rank in contacts, -128..=127. Of two dynamic bodies in contact, the one of higher rank moves as if the other one had no mass, and
    /// the other one as if it met a wall. So a crowd of lower rank cannot push away units that hold their position, but such a contact does
    /// not conserve momentum. Between equal ranks the masses decide. Static and kinematic bodies push bodies of any rank; so does a body
    /// that is locked along the contact's normal. Default 0.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let guard = world.create_body(&disc.dominance(1))?;
    /// world.create_body(&disc.mass(Fx::from_num(9)).position(Vec2::from_ints(-5, 0)).velocity(Vec2::from_ints(6, 0)))?;
    /// for _ in 0..60 {
    ///     world.step(30)?;
    /// }
    /// assert_eq!(world.body(guard).unwrap().position(), Vec2::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dominance(self, dominance: i8) -> Self {
        Self { dominance, ..self }
    }

    /// Layers and mask. Default layer 0, all layers in the mask.
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Whether the body is a sensor: it reports overlaps and pushes nothing. Default false.
    ///
    /// A sensor notices bodies at rest, too, without waking them, and sees terrain from every side. Two sensors do not detect each other, and two
    /// static bodies do not either. An event is at most one frame late.
    pub fn sensor(self, sensor: bool) -> Self {
        Self { sensor, ..self }
    }

    /// A value for the game's own use. Contact events carry it, and [`BodyRef::user`](crate::BodyRef::user) returns it. Default 0.
    pub fn user(self, user: u64) -> Self {
        Self { user, ..self }
    }

    /// Whether the body takes part in steps and queries. Default true.
    pub fn enabled(self, enabled: bool) -> Self {
        Self { enabled, ..self }
    }

    /// Axes (x, y) along which contacts do not move the body. Default none.
    pub fn locked_axes(self, lock_x: bool, lock_y: bool) -> Self {
        Self { lock_x, lock_y, ..self }
    }

    /// Checks every value against its range. [`World::create_body`](crate::World::create_body) does the same.
    ///
    /// # Errors
    /// [`BodyError::OutOfRange`] with the first value that is out of its range.
    pub fn validate(&self) -> Result<(), BodyError> {
        check_shape(self.shape)?;
        check_axes("position", self.position, POSITION_MAX)?;
        check_axes("velocity", self.velocity, SPEED_MAX)?;
        if self.kind == BodyKind::Dynamic {
            check_mass(self.mass)?;
        }
        check_material(self.material)?;
        self.max_speed.map_or(Ok(()), |speed| check("max_speed", speed, Fx::ZERO, SPEED_MAX))
    }
}

/// Why a call that names a body was refused. The world is unchanged.
///
/// ```
/// use testudo_physics::{BodyDef, BodyError, Fx, MASS_MAX, MASS_MIN, Shape};
/// let weightless = BodyDef::dynamic(Shape::circle(Fx::ONE)).mass(Fx::ZERO).validate();
/// let expected = BodyError::OutOfRange { field: "mass", value: Fx::ZERO, min: MASS_MIN, max: MASS_MAX };
/// assert_eq!(weightless, Err(expected));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyError {
    /// The handle names a body that was removed, or that never was in this world.
    Stale(BodyId),
    /// A pair of bodies was asked for, and both are this one.
    SameBody(BodyId),
    /// The body is terrain, which never moves and keeps its shape.
    Terrain(BodyId),
    /// No more pairs of bodies can be ignored.
    TooManyPairs {
        /// How many can.
        max: u32,
    },
    /// A value lies outside of its range.
    OutOfRange {
        /// Name of the value: the builder method or the field.
        field: &'static str,
        /// The given value; for a vector, the component that is out of range.
        value: Fx,
        /// Smallest value allowed.
        min: Fx,
        /// Greatest value allowed.
        max: Fx,
    },
}

impl core::fmt::Display for BodyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Stale(id) => write!(f, "body {id} is not in this world (any more)"),
            Self::Terrain(id) => write!(f, "body {id} is terrain, which never moves and keeps its shape"),
            Self::SameBody(id) => write!(f, "body {id} cannot be paired with itself"),
            Self::TooManyPairs { max } => write!(f, "no more than {max} pairs of bodies can be ignored"),
            Self::OutOfRange { field, value, min, max } => {
                write!(f, "{field} must be {min}..={max}, not {value}")
            }
        }
    }
}

impl core::error::Error for BodyError {}

/// Refuses a value outside of `min..=max`.
pub(crate) fn check(field: &'static str, value: Fx, min: Fx, max: Fx) -> Result<(), BodyError> {
    if (min..=max).contains(&value) { Ok(()) } else { Err(BodyError::OutOfRange { field, value, min, max }) }
}

/// Checks both components against +-`max`.
#[inline]
pub(crate) fn check_axes(field: &'static str, v: Vec2, max: Fx) -> Result<(), BodyError> {
    check(field, v.x, -max, max)?;
    check(field, v.y, -max, max)
}

pub(crate) fn check_mass(mass: Fx) -> Result<(), BodyError> {
    check("mass", mass, MASS_MIN, MASS_MAX)
}

pub(crate) fn check_shape(shape: Shape) -> Result<(), BodyError> {
    let extent = |field, v| check(field, v, EXTENT_MIN, EXTENT_MAX);
    match shape {
        Shape::Circle { radius } => extent("radius", radius),
        Shape::Rect { half_extents } => {
            extent("half_extents", half_extents.x)?;
            extent("half_extents", half_extents.y)
        }
    }
}

pub(crate) fn check_material(material: Material) -> Result<(), BodyError> {
    check("restitution", material.restitution, Fx::ZERO, Fx::ONE)?;
    check("friction", material.friction, Fx::ZERO, FRICTION_MAX)?;
    check("ground_friction", material.ground_friction, Fx::ZERO, SPEED_MAX)?;
    check("damping", material.damping, Fx::ZERO, SPEED_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle() -> BodyDef {
        BodyDef::dynamic(Shape::circle(Fx::ONE))
    }

    /// Builds a definition around one number.
    type With = fn(Fx) -> BodyDef;

    /// Every number of a definition with its limits.
    const RANGES: [(&str, With, Fx, Fx); 14] = [
        ("radius", |v| BodyDef::static_body(Shape::circle(v)), EXTENT_MIN, EXTENT_MAX),
        ("half_extents", |v| BodyDef::static_body(Shape::rect(v, Fx::ONE)), EXTENT_MIN, EXTENT_MAX),
        ("half_extents", |v| BodyDef::static_body(Shape::rect(Fx::ONE, v)), EXTENT_MIN, EXTENT_MAX),
        ("position", |v| circle().position(Vec2::new(v, Fx::ZERO)), Fx::MIN, POSITION_MAX),
        ("position", |v| circle().position(Vec2::new(Fx::ZERO, v)), Fx::MIN, POSITION_MAX),
        ("velocity", |v| circle().velocity(Vec2::new(v, Fx::ZERO)), Fx::MIN, SPEED_MAX),
        ("velocity", |v| circle().velocity(Vec2::new(Fx::ZERO, v)), Fx::MIN, SPEED_MAX),
        ("mass", |v| circle().mass(v), MASS_MIN, MASS_MAX),
        ("restitution", |v| circle().restitution(v), Fx::ZERO, Fx::ONE),
        ("friction", |v| circle().friction(v), Fx::ZERO, FRICTION_MAX),
        ("ground_friction", |v| circle().ground_friction(v), Fx::ZERO, SPEED_MAX),
        ("damping", |v| circle().damping(v), Fx::ZERO, SPEED_MAX),
        ("max_speed", |v| circle().max_speed(v), Fx::ZERO, SPEED_MAX),
        ("mass", |v| circle().material(Material::default()).mass(v), MASS_MIN, MASS_MAX),
    ];

    #[test]
    fn every_range_ends_where_it_says() {
        for (name, with, min, max) in RANGES {
            let min = if min == Fx::MIN { -max } else { min };
            for value in [min, max] {
                assert_eq!(with(value).validate(), Ok(()), "{name} {value}");
            }
            for value in [min - Fx::DELTA, max + Fx::DELTA, Fx::MIN, Fx::MAX] {
                let expected = BodyError::OutOfRange { field: name, value, min, max };
                assert_eq!(with(value).validate(), Err(expected), "{name} {value}");
            }
        }
    }

    #[test]
    fn only_dynamic_bodies_need_a_mass() {
        for kind in [BodyKind::Static, BodyKind::Kinematic] {
            assert_eq!(BodyDef::new(kind, Shape::circle(Fx::ONE)).mass(Fx::ZERO).validate(), Ok(()));
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn definitions_come_back_from_text_with_their_bits() {
        let body =
            circle().mass(Fx::lit("0.3")).max_speed(Fx::DELTA).filter(Filter::new(2, 4)).user(u64::MAX);
        let text = serde_json::to_string(&body).unwrap();
        assert_eq!(serde_json::from_str::<BodyDef>(&text).unwrap(), body, "{text}");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_definition_in_text_may_leave_out_what_has_a_default() {
        let shape = r#""shape": {"Circle": {"radius": {"bits": 65536}}}"#;
        let read = |text: &str| serde_json::from_str::<BodyDef>(text);
        let disc = BodyDef::new(BodyKind::Dynamic, Shape::circle(Fx::ONE));
        assert_eq!(read(&alloc::format!(r#"{{"kind": "Dynamic", {shape}}}"#)).unwrap(), disc);
        assert!(read(r#"{"kind": "Dynamic"}"#).is_err() && read(&alloc::format!("{{{shape}}}")).is_err());
    }

    #[test]
    fn errors_name_the_limit() {
        use alloc::string::ToString;
        let error = circle().mass(Fx::ZERO).validate().unwrap_err();
        assert_eq!(error.to_string(), "mass must be 0.0039..=16384, not 0");
        let stale = BodyError::Stale(BodyId { index: 3, generation: 2 });
        assert_eq!(stale.to_string(), "body 3.2 is not in this world (any more)");
    }
}
