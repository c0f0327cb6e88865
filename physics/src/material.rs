//! Materials.
use crate::num::Fx;
/// Surface and motion properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Material {
    /// 0..=1.
    pub restitution: Fx,
    /// Contact friction, 0..=4.
    pub friction: Fx,
    /// units/s^2.
    pub ground_friction: Fx,
    /// 1/s.
    pub damping: Fx,
}
