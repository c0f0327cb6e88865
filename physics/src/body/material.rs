//! Materials of bodies.

use crate::math::num::Fx;

/// How a body bounces, rubs and slows down. All zero by default: nothing bounces, slides stop nowhere.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Material, Shape};
/// let rubber = Material { restitution: Fx::lit("0.8"), friction: Fx::ONE, ..Material::default() };
/// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).material(rubber);
/// assert!(ball.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
