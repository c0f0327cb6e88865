//! Which bodies collide.

/// Collision layers: a body is in some of 32 layers and collides with the layers of its mask.
///
/// Two bodies collide when each is in a layer of the other's mask. By default every body is in layer 0 and collides with
/// all layers.
///
/// ```
/// use testudo_physics::Filter;
/// const UNITS: u32 = 1 << 0;
/// const GHOSTS: u32 = 1 << 1;
/// const WALLS: u32 = 1 << 2;
/// let unit = Filter::new(UNITS, UNITS | WALLS);
/// let ghost = Filter::new(GHOSTS, WALLS);
/// let wall = Filter::new(WALLS, u32::MAX);
/// assert!(unit.accepts(&unit) && unit.accepts(&wall) && ghost.accepts(&wall));
/// assert!(!unit.accepts(&ghost) && !ghost.accepts(&unit));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Filter {
    /// The layers that the body is in, one bit each. A body in no layer collides with nothing.
    pub layers: u32,
    /// The layers that the body collides with, one bit each.
    pub mask: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { layers: 1, mask: u32::MAX }
    }
}

impl Filter {
    /// A filter for these layers that collides with the layers of `mask`.
    #[must_use]
    pub const fn new(layers: u32, mask: u32) -> Self {
        Self { layers, mask }
    }

    /// Whether two bodies with these filters collide. The order of the two does not matter.
    #[must_use]
    pub const fn accepts(&self, other: &Self) -> bool {
        self.layers & other.mask != 0 && other.layers & self.mask != 0
    }
}
