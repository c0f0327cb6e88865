//! Calls in any order, and the judge of pairs.

use crate::scenes::Generator;

pub use crate::pairs::play as pairs;

/// Scripts at random.
pub(super) fn pair_seeds() -> Vec<Vec<u8>> {
    (0..3).map(|seed| script(seed, 400)).collect()
}

/// Random bytes of a seed.
#[must_use]
pub fn script(seed: u64, len: usize) -> Vec<u8> {
    let mut generator = Generator::new(seed);
    (0..len).map(|_| (generator.next_u32() >> 24) as u8).collect()
}
