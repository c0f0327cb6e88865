//! Shapes of bodies.

use crate::math::num::Fx;
use crate::math::vec2::Vec2;

/// A collision shape, centred on its body's position. Shapes do not rotate.
///
/// Every extent lies in 1/1,024..=4,096 units ([`EXTENT_MIN`](crate::EXTENT_MIN), [`EXTENT_MAX`](crate::EXTENT_MAX)). The world checks this
/// when it gets a shape.
///
/// ```
/// use testudo_physics::{Fx, Shape, Vec2};
/// let wall = Shape::rect(Fx::from_num(10), Fx::ONE); // 20 units wide, 2 high
/// assert_eq!(wall.half_extents(), Vec2::from_ints(10, 1));
/// assert_eq!(Shape::circle(Fx::ONE).half_extents(), Vec2::from_ints(1, 1));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// A circle.
    Circle {
        /// Radius, units.
        radius: Fx,
    },
    /// An axis-aligned rectangle.
    Rect {
        /// Half of the width and of the height, units.
        half_extents: Vec2,
    },
}

impl Shape {
    /// A circle with this radius in units.
    #[must_use]
    pub const fn circle(radius: Fx) -> Self {
        Self::Circle { radius }
    }

    /// A rectangle with this half width and half height in units.
    #[must_use]
    pub const fn rect(half_width: Fx, half_height: Fx) -> Self {
        Self::Rect { half_extents: Vec2::new(half_width, half_height) }
    }

    /// Half of the width and of the height of the smallest box around the shape.
    #[must_use]
    pub const fn half_extents(&self) -> Vec2 {
        match *self {
            Self::Circle { radius } => Vec2::new(radius, radius),
            Self::Rect { half_extents } => half_extents,
        }
    }
}
