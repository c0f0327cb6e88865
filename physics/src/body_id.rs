//! Handles.
/// A handle of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}
impl BodyId {
    /// Slot.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }
    /// Generation.
    #[must_use]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}
