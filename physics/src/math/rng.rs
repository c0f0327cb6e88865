//! Random numbers that are state: the same seed gives the same numbers on every machine.
//!
//! The generator is PCG32 (XSH-RR 64/32): Melissa O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for
//! Random Number Generation", 2014. Do not use it for secrets: anybody who sees a few numbers can compute the next ones.

use crate::math::num::Fx;

/// The multiplier of the 64-bit generator under PCG32.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// A seeded random generator with 128 bits of visible state.
///
/// ```
/// use testudo_physics::{Fx, Pcg32};
/// let mut rng = Pcg32::new(42, 54);
/// assert_eq!(rng.next_u32(), 0xa15c_02b7); // as the reference implementation
/// let die = 1 + rng.below(6);
/// assert!((1..=6).contains(&die));
/// let angle = rng.range(-Fx::ONE, Fx::ONE);
/// assert!((-Fx::ONE..=Fx::ONE).contains(&angle));
///
/// let (state, stream) = rng.state();
/// assert_eq!(Pcg32::from_state(state, stream).next_u32(), rng.next_u32());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pcg32 {
    state: u64,
    stream: u64,
}

impl Pcg32 {
    /// A generator that starts at `seed` in one of 2^63 streams (the topmost bit of `stream` is ignored). Different streams give different
    /// numbers from the same seed; use one for the map, one for combat, and so on.
    #[must_use]
    pub const fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self { state: seed, stream };
        rng.state = rng.state.wrapping_add(rng.increment());
        rng.advance();
        rng
    }

    /// State and stream, for hashes and snapshots.
    #[must_use]
    pub const fn state(&self) -> (u64, u64) {
        (self.state, self.stream)
    }

    /// The generator that continues where [`state`](Self::state) was called. Any two numbers are a valid state.
    #[must_use]
    pub const fn from_state(state: u64, stream: u64) -> Self {
        Self { state, stream }
    }

    /// The next 32 random bits.
    pub const fn next_u32(&mut self) -> u32 {
        let state = self.state;
        self.advance();
        let xorshifted = (((state >> 18) ^ state) >> 27) as u32;
        xorshifted.rotate_right((state >> 59) as u32)
    }

    /// The next 64 random bits: two draws, the first one is the lower half.
    pub const fn next_u64(&mut self) -> u64 {
        let low = self.next_u32() as u64;
        low | (self.next_u32() as u64) << 32
    }

    /// A number in `0..bound`, uniformly distributed; 0 if `bound` is 0.
    ///
    /// Takes one draw, rarely more: draws that would bias the result are rejected (Lemire, "Fast Random Integer Generation in an Interval",
    /// 2019). The number of draws is a function of the state, so it is the same on every machine.
    pub const fn below(&mut self, bound: u32) -> u32 {
        let mut product = self.next_u32() as u64 * bound as u64;
        if (product as u32) < bound {
            let unfair = bound.wrapping_neg() % bound;
            while (product as u32) < unfair {
                product = self.next_u32() as u64 * bound as u64;
            }
        }
        (product >> 32) as u32
    }

    /// A number in `low..=high` in steps of the resolution, uniformly distributed; `low` if the range is empty.
    pub const fn range(&mut self, low: Fx, high: Fx) -> Fx {
        let (low, high) = (low.to_bits(), high.to_bits());
        if low >= high {
            return Fx::from_bits(low);
        }
        let steps = high.wrapping_sub(low) as u64;
        let drawn = if steps == u64::MAX { self.next_u64() } else { self.below_u64(steps + 1) };
        Fx::from_bits(low.wrapping_add(drawn as i64))
    }

    /// Shuffles a slice; every order has the same probability (Fisher-Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below_u64(last as u64 + 1);
            items.swap(last, chosen as usize);
        }
    }

    /// Like [`below`](Self::below); takes single draws while 32 bits are enough.
    const fn below_u64(&mut self, bound: u64) -> u64 {
        if bound <= u32::MAX as u64 {
            return self.below(bound as u32) as u64;
        }
        let mut product = self.next_u64() as u128 * bound as u128;
        if (product as u64) < bound {
            let unfair = bound.wrapping_neg() % bound;
            while (product as u64) < unfair {
                product = self.next_u64() as u128 * bound as u128;
            }
        }
        (product >> 64) as u64
    }

    const fn increment(&self) -> u64 {
        self.stream << 1 | 1
    }

    const fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The output of `pcg32-demo` of the reference implementation.
    #[test]
    fn the_reference_sequence() {
        let mut rng = Pcg32::new(42, 54);
        let drawn: Vec<u32> = (0..6).map(|_| rng.next_u32()).collect();
        assert_eq!(drawn, [0xa15c_02b7, 0x7b47_f409, 0xba1d_3330, 0x83d2_f293, 0xbfa4_784b, 0xcbed_606e]);
    }

    /// With 3/4 of all draws as the bound, a modulo would favour the lowest third of the numbers, and a product without rejection would
    /// favour the multiples of three.
    #[test]
    fn below_has_no_bias() {
        let bound = 3 << 30;
        let mut rng = Pcg32::new(1, 2);
        let drawn: Vec<u32> = (0..30_000).map(|_| rng.below(bound)).collect();
        assert!(drawn.iter().all(|&v| v < bound));
        let low = drawn.iter().filter(|&&v| v < bound / 3).count();
        let multiples = drawn.iter().filter(|&&v| v % 3 == 0).count();
        assert!((9_700..10_300).contains(&low) && (9_700..10_300).contains(&multiples), "{low} {multiples}");
        assert_eq!((rng.below(1), rng.below(0)), (0, 0));
    }

    #[test]
    fn wide_bounds_have_no_bias_either() {
        let bound = 3 << 62;
        let mut rng = Pcg32::new(1, 2);
        let drawn: Vec<u64> = (0..30_000).map(|_| rng.below_u64(bound)).collect();
        assert!(drawn.iter().all(|&v| v < bound));
        let low = drawn.iter().filter(|&&v| v < bound / 3).count();
        let multiples = drawn.iter().filter(|&&v| v % 3 == 0).count();
        assert!((9_700..10_300).contains(&low) && (9_700..10_300).contains(&multiples), "{low} {multiples}");
    }

    #[test]
    fn ranges_reach_both_ends_and_stay_inside() {
        let mut rng = Pcg32::new(7, 7);
        let (low, high) = (-Fx::DELTA, Fx::DELTA + Fx::DELTA);
        let mut seen = [0; 4];
        for _ in 0..4_000 {
            seen[(rng.range(low, high).to_bits() + 1) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (900..1_100).contains(count)), "{seen:?}");
        assert_eq!(rng.range(high, low), high);
        assert_ne!(rng.range(Fx::MIN, Fx::MAX), rng.range(Fx::MIN, Fx::MAX));
    }

    #[test]
    fn shuffles_give_every_order_alike() {
        let mut rng = Pcg32::new(3, 0);
        let mut seen = [0; 6];
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            rng.shuffle(&mut items);
            seen[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        assert!(seen.iter().all(|count| (900..1_100).contains(count)), "{seen:?}");
        rng.shuffle::<u8>(&mut []);
    }
}
