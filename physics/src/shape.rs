//! Shapes.
use crate::num::Fx;
use crate::vec2::Vec2;
/// A collision shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
