//! Materials of bodies.

use crate::math::num::Fx;

/// How a body bounces, rubs and slows down. All zero by default: nothing bounces, slides stop nowhere.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Material, Shape};
/// let rubber = Material::new().restitution(Fx::lit("0.8")).friction(Fx::ONE);
/// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).material(rubber);
/// assert!(ball.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Material {
    /// Part of the closing speed that comes back from a contact, 0..=1. Of two bodies the larger value counts, and only
    /// above the world's restitution threshold.
    pub restitution: Fx,
    /// Coefficient of contact friction, 0..=4. Of two bodies the geometric mean counts.
    pub friction: Fx,
    /// Deceleration by the ground that a body slides on, seen from above; units/s^2, 0..=1,024. It takes the same speed
    /// away every second, so a body stops after `speed / ground_friction` seconds.
    pub ground_friction: Fx,
    /// Part of the velocity that is lost per second, 1/s, 0..=1,024. It takes much from fast bodies and little from slow
    /// ones; per frame at most all of it.
    pub damping: Fx,
}

impl Material {
    /// All zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { restitution: Fx::ZERO, friction: Fx::ZERO, ground_friction: Fx::ZERO, damping: Fx::ZERO }
    }

    /// Sets [`restitution`](field@Self::restitution), 0..=1.
    #[must_use]
    pub const fn restitution(self, restitution: Fx) -> Self {
        Self { restitution, ..self }
    }

    /// Sets [`friction`](field@Self::friction), 0..=4.
    #[must_use]
    pub const fn friction(self, friction: Fx) -> Self {
        Self { friction, ..self }
    }

    /// Sets [`ground_friction`](field@Self::ground_friction), units/s^2, 0..=1,024.
    #[must_use]
    pub const fn ground_friction(self, ground_friction: Fx) -> Self {
        Self { ground_friction, ..self }
    }

    /// Sets [`damping`](field@Self::damping), 1/s, 0..=1,024.
    #[must_use]
    pub const fn damping(self, damping: Fx) -> Self {
        Self { damping, ..self }
    }
}
