//! Axis-aligned boxes.
use crate::vec2::Vec2;
/// An axis-aligned box; both corners belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aabb {
    /// Lower corner.
    pub min: Vec2,
    /// Upper corner.
    pub max: Vec2,
}
