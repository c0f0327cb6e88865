//! The game's random numbers; they are part of the state.

use testudo_physics::Pcg32;

/// A separate stream from the physics' generator with the same seed.
const STREAM: u64 = 0x6761_6d65;

/// The battle's random numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dice(Pcg32);

impl Dice {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::new(seed, STREAM))
    }

    /// The state: position and stream of the generator.
    pub(crate) fn state(&self) -> (u64, u64) {
        self.0.state()
    }

    /// Continues from a state.
    pub(crate) fn set_state(&mut self, state: u64, stream: u64) {
        self.0 = Pcg32::from_state(state, stream);
    }

    /// Uniform in `low..=high` up to a bias below `(high - low + 1) / 2^32`; `low` if the range is empty.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        let span = (i64::from(high) - i64::from(low)).max(0) as u64 + 1;
        let drawn = (u64::from(self.0.next_u32()) * span) >> 32;
        (i64::from(low) + drawn as i64) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_reaches_both_ends_and_stays_inside() {
        let mut dice = Dice::new(1);
        let rolls: Vec<i32> = (0..200).map(|_| dice.between(-2, 2)).collect();
        assert!(rolls.iter().all(|roll| (-2..=2).contains(roll)));
        assert!(rolls.contains(&-2) && rolls.contains(&2));
        assert_ne!(dice.between(i32::MIN, i32::MAX), dice.between(i32::MIN, i32::MAX));
        assert_eq!(dice.between(5, 5), 5);
        assert_eq!(dice.between(5, 4), 5);
    }
}
