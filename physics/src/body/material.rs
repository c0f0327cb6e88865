//! Materials of bodies.

use crate::math::num::Fx;

/// Restitution, friction and damping of a body. All are zero by default: nothing bounces and nothing slows down.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Material, Shape};
/// let rubber = Material::new().restitution(Fx::lit("0.8")).friction(Fx::ONE);
/// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).material(rubber);
/// assert!(ball.validate().is_ok());
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use]
pub struct Material {
    /// Coefficient of restitution, 0..=1: the speed after a collision divided by the speed before. A contact uses the larger value of
    /// its two bodies, and only above the world's restitution threshold.
    pub restitution: Fx,
    /// Coefficient of contact friction, 0..=4. A contact uses the geometric mean of its two bodies.
    pub friction: Fx,
    /// Deceleration by the ground in a world seen from above, units/s^2, 0..=1,024. It does not depend on the speed, so a body stops
    /// after `speed / ground_friction` seconds.
    pub ground_friction: Fx,
    /// Damping, 1/s, 0..=1,024: a body loses this fraction of its velocity per second. Fast bodies lose more than slow ones. A frame
    /// removes at most the whole velocity. Only dynamic bodies are damped: the velocity of a kinematic body is the game's.
    pub damping: Fx,
}

impl Material {
    /// All zero.
    pub const fn new() -> Self {
        Self { restitution: Fx::ZERO, friction: Fx::ZERO, ground_friction: Fx::ZERO, damping: Fx::ZERO }
    }

    /// Sets [`restitution`](field@Self::restitution), 0..=1.
    pub const fn restitution(self, restitution: Fx) -> Self {
        Self { restitution, ..self }
    }

    /// Sets [`friction`](field@Self::friction), 0..=4.
    pub const fn friction(self, friction: Fx) -> Self {
        Self { friction, ..self }
    }

    /// Sets [`ground_friction`](field@Self::ground_friction), units/s^2, 0..=1,024.
    pub const fn ground_friction(self, ground_friction: Fx) -> Self {
        Self { ground_friction, ..self }
    }

    /// Sets [`damping`](field@Self::damping), 1/s, 0..=1,024.
    pub const fn damping(self, damping: Fx) -> Self {
        Self { damping, ..self }
    }
}
