//! Filters.
/// Collision layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Layers of the body.
    pub layers: u32,
    /// Layers it collides with.
    pub mask: u32,
}
impl Default for Filter {
    fn default() -> Self {
        Self { layers: 1, mask: u32::MAX }
    }
}
impl Filter {
    /// Whether both agree.
    #[must_use]
    pub const fn accepts(&self, other: &Self) -> bool {
        self.layers & other.mask != 0 && other.layers & self.mask != 0
    }
}
