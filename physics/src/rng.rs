//! Random numbers.
/// PCG32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcg32 {
    state: u64,
    stream: u64,
}
impl Pcg32 {
    /// Seeded.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self { state: 0, stream: stream << 1 | 1 };
        rng.state = rng.stream.wrapping_add(seed);
        rng.next_u32();
        rng
    }
    /// State and stream.
    #[must_use]
    pub fn state(&self) -> (u64, u64) {
        (self.state, self.stream)
    }
    /// From state and stream.
    #[must_use]
    pub fn from_state(state: u64, stream: u64) -> Self {
        Self { state, stream }
    }
    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(self.stream);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }
    /// Uniform below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(n)) >> 32) as u32
    }
}
