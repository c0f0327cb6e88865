//! Random numbers.
/// PCG32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcg32 {
    state: u64,
}
impl Pcg32 {
    /// Seeded.
    #[must_use]
    pub fn new(seed: u64, _stream: u64) -> Self {
        Self { state: seed }
    }
    /// State.
    #[must_use]
    pub fn state(&self) -> (u64, u64) {
        (self.state, 1)
    }
    /// From state.
    #[must_use]
    pub fn from_state(state: u64, _stream: u64) -> Self {
        Self { state }
    }
}
