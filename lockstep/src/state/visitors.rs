//! Operations on a state that shows its numbers.

use crate::state::hashing::Hashing;
use crate::state::{Difference, Kept, Leaf, Number, Part, State, StateError, Visit};

/// Hash of the whole state (XXH3 of the numbers in the order of the walk, little-endian; in their place those of single objects in a
/// [`Kept`], and that of a [`Part`]). Allocates nothing while lists keep their lengths.
///
/// [`crate::Simulation::checksum`] usually returns this.
#[must_use]
pub fn digest<S: State>(state: &mut S) -> u64 {
    let mut digest = Hashing::new();
    walk(state, &mut digest);
    digest.finish()
}

/// Writes the whole state into `out`, which is cleared first. A number outside of its range is written as it is, and [`load`] refuses it.
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
/// There is no such number or bit, or the resulting state would not be valid. A valid state has not changed then.
pub fn flip_bit<S: State>(state: &mut S, leaf: &Leaf, bit: u32) -> Result<(), StateError> {
    let mut before = Vec::new();
    save(state, &mut before);
    flip_or_spoil(state, leaf, bit).inspect_err(|_| {
        // It was saved a moment ago.
        let _ = load(state, &before);
    })
}

/// As [`flip_bit`], for whoever has saved the state: after an error it may have changed in part. A longer list, for example, has objects that are refused.
pub(crate) fn flip_or_spoil<S: State>(state: &mut S, leaf: &Leaf, bit: u32) -> Result<(), StateError> {
    let mut flipper = Flipper { kind: "", index: 0, leaf, bit, done: false };
    state.visit(&mut flipper)?;
    if flipper.done { Ok(()) } else { Err(StateError::NoSuchBit { bit }) }
}

/// For visitors that cannot fail.
fn walk<S: State, V: Visit>(state: &mut S, v: &mut V) {
    let walked = state.visit(v);
    debug_assert!(walked.is_ok(), "{}", broken(state));
}

/// Which number breaks the state's own limits: the last one that a walk shows.
fn broken<S: State>(state: &mut S) -> String {
    let mut last = None;
    let walked = state.visit(&mut Lister { kind: "", index: 0, each: &mut |leaf| last = Some(leaf) });
    match (walked, last) {
        (Err(StateError::OutOfRange { name, min, max }), Some(Leaf { kind, index, value, .. })) => {
            format!("{name} of {kind} {index} is {value}, not within {min}..={max}")
        }
        (walked, _) => format!("the state breaks its own limits: {walked:?}"),
    }
}

impl Visit for Hashing {
    fn object(&mut self, _: &'static str, _: u32) {}

    #[inline(always)]
    fn number<T: Number>(&mut self, _: &'static str, value: &mut T) -> Result<(), StateError> {
        self.put(*value);
        Ok(())
    }

    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError> {
        self.put(part.digest());
        Ok(())
    }

    /// The hash of each object. (In an object of another kept list they are no more than their numbers.)
    #[inline(always)]
    fn kept<T>(
        &mut self,
        _: &'static str,
        list: &mut Kept<T>,
        mut numbers: impl FnMut(&mut Self, &mut T) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        if self.is_in_object() {
            return list.visited(false).iter_mut().try_for_each(|object| numbers(self, object));
        }
        list.each_hash(self, &mut numbers, Self::put)
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

    /// A list of kept lists.
    #[derive(Clone, PartialEq, Debug, Default)]
    struct Lists(Kept<Kept<u64>>);

    impl State for Lists {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.kept("list", &mut self.0, |v, list| {
                let mut length = list.len() as u32;
                v.number_in("length", &mut length, 0..=1_000)?;
                if length as usize != list.len() {
                    list.as_mut_vec().resize(length as usize, 0);
                }
                v.kept("entry", list, |v, number| v.number_in("number", number, 0..=99))
            })
        }
    }

    fn lists(lengths: &[u64]) -> Lists {
        let list = |length: &u64| Kept::from((0..*length).map(|number| number % 100).collect::<Vec<_>>());
        Lists(Kept::from(lengths.iter().map(list).collect::<Vec<_>>()))
    }

    /// Some of these have room behind others, and some are longer than everything that is collected.
    #[test]
    fn what_was_kept_is_what_would_be_computed() {
        let lengths = [0, 1, 64, 65, 127, 128, 129, 300, 3, 63];
        let mut lists = lists(&lengths);
        let all_new = |lists: &Lists| Lists(Kept::from(lists.0.to_vec()));
        for at in 0..lengths.len() {
            let before = digest(&mut lists);
            lists.0[at].as_mut_vec().push(7);
            assert_eq!(digest(&mut lists), digest(&mut all_new(&lists)), "list {at}");
            assert_ne!(digest(&mut lists), before, "list {at}");
            lists.0[at][0] ^= 1;
            assert_eq!(digest(&mut lists), digest(&mut all_new(&lists)), "list {at}");
            lists.0.as_mut_vec().rotate_left(1);
            assert_eq!(digest(&mut lists), digest(&mut all_new(&lists)), "list {at}");
            let mut copy = Lists::default();
            copy.0.clone_from(&lists.0);
            assert_eq!(digest(&mut copy), digest(&mut all_new(&lists)), "list {at}");
        }
    }

    #[test]
    fn whoever_writes_to_a_kept_object_has_changed_it() {
        let mut lists = lists(&[3, 0]);
        let before = digest(&mut lists);
        let mut bytes = Vec::new();
        save(&mut lists, &mut bytes);
        let mut numbers = Vec::new();
        leaves(&mut lists, &mut |leaf| numbers.push(leaf));
        assert_eq!(numbers.iter().map(|leaf| leaf.value).collect::<Vec<_>>(), [3, 0, 1, 2, 0]);
        assert_eq!((numbers[3].kind, numbers[3].index, numbers[3].name), ("entry", 2, "number"));
        flip_bit(&mut lists, &numbers[3], 2).unwrap();
        assert_eq!(*lists.0[0], [0, 1, 6]);
        assert_ne!(digest(&mut lists), before);
        // What was loaded before an error counts, too.
        bytes.truncate(bytes.len() - 1);
        assert_eq!(load(&mut lists, &bytes), Err(StateError::TooShort));
        assert_eq!(digest(&mut lists), before);
        bytes[4] = 100;
        let refused = Err(StateError::OutOfRange { name: "number", min: 0, max: 99 });
        assert_eq!(load(&mut lists, &bytes), refused);
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

    /// The message named neither the unit nor the value. (A release build goes on.)
    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "number of entry 2 is 500, not within 0..=99"))]
    fn a_number_outside_of_its_range_is_named_with_its_object() {
        let mut broken = lists(&[3]);
        broken.0[0][2] = 500;
        assert_ne!(digest(&mut broken), digest(&mut lists(&[3])));
    }

    /// A debug build stops at the number instead.
    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "small of toy 0 is 10, not within 0..=9"))]
    fn a_number_outside_of_its_range_hides_nothing_behind_it() {
        let broken = || Toy { small: 10, ..toy() };
        let (mut bytes, mut whole) = (Vec::new(), Vec::new());
        save(&mut broken(), &mut bytes);
        save(&mut toy(), &mut whole);
        assert_eq!((bytes[0], &bytes[1..]), (10, &whole[1..]));
        let refused = Err(StateError::OutOfRange { name: "small", min: 0, max: 9 });
        assert_eq!(load(&mut Toy::default(), &bytes), refused);
        let mut other = broken();
        other.list[1] = 8;
        let found = first_difference(&mut broken(), &mut other).unwrap();
        assert_eq!(found.to_string(), "value of entry 1: -8 and 8");
    }
}
