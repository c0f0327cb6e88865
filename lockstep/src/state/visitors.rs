//! Operations on a state that shows its numbers.

use core::hash::Hasher;
use core::ops::RangeInclusive;

use twox_hash::xxhash3_64::{RawHasher, SecretBuffer};

use crate::state::{Difference, Leaf, Number, Part, State, StateError, Visit};

/// Hash of the whole state (XXH3 of the numbers in the order of the walk, little-endian). Allocates nothing.
///
/// [`crate::Simulation::checksum`] usually returns this.
#[must_use]
pub fn digest<S: State>(state: &mut S) -> u64 {
    let mut digest = Digest::new();
    walk(state, &mut digest);
    digest.hash_pending();
    digest.hash.finish()
}

/// Writes the whole state into `out`, which is cleared first.
pub fn save<S: State>(state: &mut S, out: &mut Vec<u8>) {
    out.clear();
    walk(state, &mut Saver { out });
}

/// Restores what [`save`] wrote.
///
/// # Errors
/// The bytes are not a state of this kind. The state may have been changed in part then, so load bytes that may be damaged into a copy.
pub fn load<S: State>(state: &mut S, bytes: &[u8]) -> Result<(), StateError> {
    let mut loader = Loader { bytes };
    state.visit(&mut loader)?;
    match loader.bytes.len() {
        0 => Ok(()),
        bytes => Err(StateError::TooLong { bytes }),
    }
}

/// Shows every number by name, in the order of the walk.
pub fn leaves<S: State>(state: &mut S, each: &mut dyn FnMut(Leaf)) {
    walk(state, &mut Lister { kind: "", index: 0, each });
}

/// The first number in which two states differ.
pub fn first_difference<S: State>(here: &mut S, there: &mut S) -> Option<Difference> {
    let mut numbers = Vec::new();
    leaves(here, &mut |leaf| numbers.push(leaf));
    let mut numbers = numbers.into_iter();
    let mut found = None;
    leaves(there, &mut |leaf| {
        if found.is_none() {
            let here = numbers.next();
            if here != Some(leaf) {
                found = Some(Difference { here, there: Some(leaf) });
            }
        }
    });
    found.or_else(|| numbers.next().map(|leaf| Difference { here: Some(leaf), there: None }))
}

/// Flips one bit of the number that `leaf` names, as faulty memory would, to rehearse a desync.
///
/// # Errors
/// There is no such number or bit, or the resulting state would not be valid. Nothing has changed then.
pub fn flip_bit<S: State>(state: &mut S, leaf: &Leaf, bit: u32) -> Result<(), StateError> {
    let mut flipper = Flipper { kind: "", index: 0, leaf, bit, done: false };
    state.visit(&mut flipper)?;
    if flipper.done { Ok(()) } else { Err(StateError::NoSuchBit { bit }) }
}

/// For visitors that cannot fail.
fn walk<S: State, V: Visit>(state: &mut S, v: &mut V) {
    let walked = state.visit(v);
    debug_assert!(walked.is_ok(), "the state breaks its own limits: {walked:?}");
}

/// Bytes of the secret of XXH3.
const SECRET_BYTES: usize = 192;

/// Bytes that are collected before they are hashed, because one call of the hash per number would cost more than the hash.
const PENDING_BYTES: usize = 1_024;

struct Digest {
    hash: RawHasher<[u8; SECRET_BYTES]>,
    pending: [u8; PENDING_BYTES],
    filled: usize,
}

impl Digest {
    fn new() -> Self {
        let secret = SecretBuffer::with_seed(0, [0; SECRET_BYTES])
            .expect("the secret has the length that XXH3 asks for");
        Self { hash: RawHasher::new(secret), pending: [0; PENDING_BYTES], filled: 0 }
    }

    #[inline(always)]
    fn put<T: Number>(&mut self, value: T) {
        if self.filled > PENDING_BYTES - 8 {
            self.hash_pending();
        }
        self.pending[self.filled..self.filled + 8].copy_from_slice(&value.to_bits().to_le_bytes());
        self.filled += T::BITS.div_ceil(8) as usize;
    }

    #[cold]
    #[inline(never)]
    fn hash_pending(&mut self) {
        self.hash.write(&self.pending[..self.filled]);
        self.filled = 0;
    }
}

impl Visit for Digest {
    fn object(&mut self, _: &'static str, _: u32) {}

    #[inline(always)]
    fn number<T: Number>(&mut self, _: &'static str, value: &mut T) -> Result<(), StateError> {
        self.put(*value);
        Ok(())
    }

    /// What a state holds is within its limits; only what comes from outside is checked in every build.
    #[inline(always)]
    fn number_in<T: Number>(
        &mut self,
        name: &'static str,
        value: &mut T,
        range: RangeInclusive<i64>,
    ) -> Result<(), StateError> {
        let (min, max) = range.into_inner();
        debug_assert!(
            (i128::from(min)..=i128::from(max)).contains(&value.value()),
            "{name} is not within {min}..={max}"
        );
        self.number(name, value)
    }

    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError> {
        self.put(part.digest());
        Ok(())
    }
}

struct Saver<'a> {
    out: &'a mut Vec<u8>,
}

impl Visit for Saver<'_> {
    fn object(&mut self, _: &'static str, _: u32) {}

    #[inline]
    fn number<T: Number>(&mut self, _: &'static str, value: &mut T) -> Result<(), StateError> {
        put(self.out, *value);
        Ok(())
    }

    /// The length in bytes, then the part.
    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError> {
        let at = self.out.len();
        put(self.out, 0_u64);
        part.save(self.out);
        let length = (self.out.len() - at - 8) as u64;
        self.out[at..at + 8].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }
}

#[inline]
fn put<T: Number>(out: &mut Vec<u8>, value: T) {
    let bytes = value.to_bits().to_le_bytes();
    out.extend_from_slice(&bytes[..T::BITS.div_ceil(8) as usize]);
}

struct Loader<'a> {
    bytes: &'a [u8],
}

impl Loader<'_> {
    fn take<T: Number>(&mut self) -> Result<T, StateError> {
        let count = T::BITS.div_ceil(8) as usize;
        let (taken, left) = self.bytes.split_at_checked(count).ok_or(StateError::TooShort)?;
        self.bytes = left;
        let mut bytes = [0; 8];
        bytes[..count].copy_from_slice(taken);
        Ok(T::from_bits(u64::from_le_bytes(bytes)))
    }
}

impl Visit for Loader<'_> {
    const WRITES: bool = true;

    fn object(&mut self, _: &'static str, _: u32) {}

    fn number<T: Number>(&mut self, _: &'static str, value: &mut T) -> Result<(), StateError> {
        *value = self.take()?;
        Ok(())
    }

    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError> {
        let length: u64 = self.take()?;
        let length = usize::try_from(length).map_err(|_| StateError::TooShort)?;
        let (taken, left) = self.bytes.split_at_checked(length).ok_or(StateError::TooShort)?;
        self.bytes = left;
        part.load(taken)
    }
}

struct Lister<'a> {
    kind: &'static str,
    index: u32,
    each: &'a mut dyn FnMut(Leaf),
}

impl Visit for Lister<'_> {
    fn object(&mut self, kind: &'static str, index: u32) {
        (self.kind, self.index) = (kind, index);
    }

    fn number<T: Number>(&mut self, name: &'static str, value: &mut T) -> Result<(), StateError> {
        let (kind, index) = (self.kind, self.index);
        (self.each)(Leaf { kind, index, name, bits: T::BITS, value: value.value() });
        Ok(())
    }

    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError> {
        part.leaves(self.each);
        Ok(())
    }
}

struct Flipper<'a> {
    kind: &'static str,
    index: u32,
    leaf: &'a Leaf,
    bit: u32,
    done: bool,
}

impl Visit for Flipper<'_> {
    const WRITES: bool = true;

    fn object(&mut self, kind: &'static str, index: u32) {
        (self.kind, self.index) = (kind, index);
    }

    fn number<T: Number>(&mut self, name: &'static str, value: &mut T) -> Result<(), StateError> {
        let wanted = (self.leaf.kind, self.leaf.index, self.leaf.name);
        if !self.done && (self.kind, self.index, name) == wanted {
            if self.bit >= T::BITS {
                return Err(StateError::NoSuchBit { bit: self.bit });
            }
            *value = T::from_bits(value.to_bits() ^ 1 << self.bit);
            self.done = true;
        }
        Ok(())
    }

    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError> {
        if self.done {
            return Ok(());
        }
        match part.flip_bit(self.leaf, self.bit) {
            Ok(()) => self.done = true,
            Err(StateError::NoSuchBit { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Debug, Default)]
    struct Toy {
        small: u8,
        list: Vec<i32>,
        on: bool,
    }

    impl State for Toy {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.object("toy", 0);
            v.number_in("small", &mut self.small, 0..=9)?;
            let mut length = self.list.len() as u32;
            v.number_in("length", &mut length, 0..=100)?;
            self.list.resize(length as usize, 0);
            for (index, value) in (0..).zip(&mut self.list) {
                v.object("entry", index);
                v.number("value", value)?;
            }
            v.object("toy", 0);
            v.number("on", &mut self.on)
        }
    }

    fn toy() -> Toy {
        Toy { small: 3, list: vec![7, -8, i32::MIN], on: true }
    }

    fn all(toy: &mut Toy) -> Vec<Leaf> {
        let mut all = Vec::new();
        leaves(toy, &mut |leaf| all.push(leaf));
        all
    }

    #[test]
    fn a_saved_state_comes_back() {
        let mut bytes = Vec::new();
        save(&mut toy(), &mut bytes);
        let mut other = Toy::default();
        assert_eq!(load(&mut other, &bytes), Ok(()));
        assert_eq!(other, toy());
        for length in 0..bytes.len() {
            assert_eq!(load(&mut Toy::default(), &bytes[..length]), Err(StateError::TooShort));
        }
        bytes.push(0);
        assert_eq!(load(&mut Toy::default(), &bytes), Err(StateError::TooLong { bytes: 1 }));
        bytes[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
        let refused = Err(StateError::OutOfRange { name: "length", min: 0, max: 100 });
        assert_eq!(load(&mut Toy::default(), &bytes), refused, "no allocation for a length out of range");
    }

    #[test]
    fn every_bit_that_can_flip_changes_hash_and_its_own_leaf_first() {
        let before = digest(&mut toy());
        let mut flipped = 0;
        for leaf in all(&mut toy()) {
            for bit in 0..leaf.bits {
                let mut other = toy();
                if flip_bit(&mut other, &leaf, bit).is_err() {
                    assert_eq!(other, toy(), "bit {bit} of {leaf:?}");
                    continue;
                }
                flipped += 1;
                assert_ne!(digest(&mut other), before, "bit {bit} of {leaf:?}");
                let found = first_difference(&mut toy(), &mut other).unwrap();
                assert_eq!(found.here, Some(leaf));
                assert_eq!(found.there.unwrap().name, leaf.name);
                flip_bit(&mut other, &leaf, bit).unwrap();
            }
        }
        assert!(flipped > 3 * 32 + 3, "{flipped}");
    }

    #[test]
    fn a_shorter_state_is_a_difference() {
        let mut other = toy();
        other.list.pop();
        let found = first_difference(&mut toy(), &mut other).unwrap();
        assert_eq!(found.to_string(), "length of toy 0: 3 and 2");
        let leaf = all(&mut toy())[0];
        assert_eq!(flip_bit(&mut toy(), &leaf, 8), Err(StateError::NoSuchBit { bit: 8 }));
    }
}
