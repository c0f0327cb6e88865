//! Axis-aligned boxes.

use crate::math::num::{Fx, saturate};
use crate::math::vec2::Vec2;

/// An axis-aligned box; its corners and edges belong to it.
///
/// A box whose `min` is above its `max` on an axis is empty. The functions here never make an empty box from boxes that are not empty.
///
/// ```
/// use testudo_physics::{Aabb, Vec2};
/// // A selection dragged from the lower right to the upper left.
/// let selection = Aabb::from_corners(Vec2::from_ints(8, 0), Vec2::from_ints(2, 6));
/// assert!(selection.contains(Vec2::from_ints(2, 3)));
/// let unit = Aabb::from_center_half(Vec2::from_ints(9, 3), Vec2::from_ints(1, 1));
/// assert!(selection.overlaps(&unit), "edges that touch overlap");
/// assert_eq!(selection.union(&unit).max, Vec2::from_ints(10, 6));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aabb {
    /// Lower corner, units.
    pub min: Vec2,
    /// Upper corner, units.
    pub max: Vec2,
}

impl Aabb {
    /// The smallest box around two points, given in any order.
    #[must_use]
    pub fn from_corners(a: Vec2, b: Vec2) -> Self {
        Self { min: a.min(b), max: a.max(b) }
    }

    /// The box with this half width and half height (either sign) around a centre. Saturates.
    #[must_use]
    pub fn from_center_half(center: Vec2, half_extents: Vec2) -> Self {
        Self::from_corners(center - half_extents, center + half_extents)
    }

    /// The middle of the box, rounded down.
    #[must_use]
    pub fn center(&self) -> Vec2 {
        Vec2::new(middle(self.min.x, self.max.x), middle(self.min.y, self.max.y))
    }

    /// Half of the width and of the height, rounded up. So [`from_center_half`](Self::from_center_half) of centre and half extents covers
    /// the box.
    #[must_use]
    pub fn half_extents(&self) -> Vec2 {
        Vec2::new(half_width(self.min.x, self.max.x), half_width(self.min.y, self.max.y))
    }

    /// Whether a point lies in the box or on its edge.
    #[must_use]
    pub fn contains(&self, point: Vec2) -> bool {
        (self.min.x..=self.max.x).contains(&point.x) && (self.min.y..=self.max.y).contains(&point.y)
    }

    /// Whether the whole of another box lies in this one.
    #[must_use]
    pub fn contains_box(&self, other: &Self) -> bool {
        self.contains(other.min) && self.contains(other.max)
    }

    /// Whether the boxes have a point in common; touching edges and corners count.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with every edge moved outwards by `amount` units; a negative amount moves edges inwards, at most to the centre. Saturates.
    #[must_use]
    pub fn expand(&self, amount: Fx) -> Self {
        let (center, by) = (self.center(), Vec2::new(amount, amount));
        Self { min: (self.min - by).min(center), max: (self.max + by).max(center) }
    }
}

fn middle(low: Fx, high: Fx) -> Fx {
    saturate((i128::from(low.to_bits()) + i128::from(high.to_bits())) >> 1)
}

fn half_width(low: Fx, high: Fx) -> Fx {
    saturate((i128::from(high.to_bits()) - i128::from(low.to_bits()) + 1) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(x: i32, y: i32, width: i32, height: i32) -> Aabb {
        Aabb { min: Vec2::from_ints(x, y), max: Vec2::from_ints(x + width, y + height) }
    }

    #[test]
    fn edges_belong_to_the_box() {
        let area = boxed(0, 0, 4, 2);
        for corner in [area.min, area.max, Vec2::from_ints(4, 0), Vec2::from_ints(0, 2)] {
            assert!(area.contains(corner));
        }
        for outside in [Vec2::new(-Fx::DELTA, Fx::ONE), Vec2::new(Fx::ONE, Fx::from_num(2) + Fx::DELTA)] {
            assert!(!area.contains(outside));
        }
        assert!(area.contains_box(&area) && area.contains_box(&boxed(1, 1, 3, 1)));
        assert!(!area.contains_box(&boxed(1, 1, 4, 1)));
    }

    #[test]
    fn touching_boxes_overlap() {
        let area = boxed(0, 0, 4, 2);
        for other in [boxed(4, 2, 1, 1), boxed(-1, -1, 1, 1), boxed(4, 0, 9, 9), boxed(1, 1, 1, 0)] {
            assert!(area.overlaps(&other) && other.overlaps(&area), "{other:?}");
        }
        for other in [boxed(5, 0, 1, 1), boxed(0, 3, 1, 1), boxed(-2, 0, 1, 1), boxed(0, -2, 1, 1)] {
            assert!(!area.overlaps(&other) && !other.overlaps(&area), "{other:?}");
        }
    }

    #[test]
    fn expanding_is_undone_by_shrinking_and_ends_at_the_centre() {
        let area = boxed(-3, 5, 4, 2);
        assert_eq!(area.expand(Fx::ONE), boxed(-4, 4, 6, 4));
        assert_eq!(area.expand(Fx::ONE).expand(-Fx::ONE), area);
        let point = area.expand(Fx::from_num(-9));
        assert_eq!((point.min, point.max), (area.center(), area.center()));
    }

    #[test]
    fn the_largest_box_has_a_centre_and_extents() {
        let all = Aabb { min: Vec2::new(Fx::MIN, Fx::MIN), max: Vec2::new(Fx::MAX, Fx::MAX) };
        assert_eq!(all.center(), Vec2::new(-Fx::DELTA, -Fx::DELTA));
        assert_eq!(all.half_extents(), all.max, "saturated");
        assert_eq!(all.expand(Fx::ONE), all);
    }
}
