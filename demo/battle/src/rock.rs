//! Immovable rectangles.

use crate::point::Point;

/// An immovable rectangle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rock {
    pub(crate) centre: Point,
    /// Half extents, raw.
    pub(crate) half: Point,
}
