//! Two-dimensional vectors.
use crate::num::Fx;
/// A vector of two fixed-point numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vec2 {
    /// Horizontal component.
    pub x: Fx,
    /// Vertical component.
    pub y: Fx,
}
impl Vec2 {
    /// The zero vector.
    pub const ZERO: Self = Self { x: Fx::ZERO, y: Fx::ZERO };
    /// A vector of two numbers.
    #[must_use]
    pub const fn new(x: Fx, y: Fx) -> Self {
        Self { x, y }
    }
    /// A vector of two whole numbers.
    #[must_use]
    pub const fn from_ints(x: i32, y: i32) -> Self {
        Self { x: Fx::const_from_int(x as i64), y: Fx::const_from_int(y as i64) }
    }
}
