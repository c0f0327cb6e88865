//! A game's state, number by number: one walk that hashes, saves, restores, names and corrupts it.
//!
//! A game implements [`State`] once. Every number that the walk shows is hashed, saved and named in desync reports. A number that it does
//! not show is not state ([`crate::testing::assert_deterministic`] finds missing ones).
//!
//! ```
//! use testudo_lockstep::state::{self, State, StateError, Visit};
//!
//! #[derive(Default)]
//! struct Game { gold: u32, units: Vec<(i32, u8)> }
//!
//! impl State for Game {
//!     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
//!         v.object("game", 0);
//!         v.number("gold", &mut self.gold)?;
//!         let mut units = self.units.len() as u32;
//!         v.number_in("units", &mut units, 0..=1_000)?;
//!         self.units.resize(units as usize, (0, 0));
//!         for (index, (hit_points, team)) in (0..).zip(&mut self.units) {
//!             v.object("unit", index);
//!             v.number("hit_points", hit_points)?;
//!             v.number_in("team", team, 0..=3)?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let mut game = Game { gold: 5, units: vec![(100, 1), (90, 2)] };
//! let mut bytes = Vec::new();
//! state::save(&mut game, &mut bytes);
//! let mut other = Game::default();
//! state::load(&mut other, &bytes).unwrap();
//! assert_eq!(state::first_difference(&mut game, &mut other), None);
//! other.units[1].0 = 89;
//! let difference = state::first_difference(&mut game, &mut other).unwrap();
//! assert_eq!(difference.to_string(), "hit_points of unit 1: 90 and 89");
//! ```

mod hashing;
pub mod inquiry;
mod kept;
mod recent;
mod visitors;

use core::fmt;
use core::ops::RangeInclusive;

pub use kept::Kept;
pub use recent::Recent;
#[cfg(feature = "testing")]
pub(crate) use visitors::flip_or_spoil;
pub use visitors::{digest, first_difference, flip_bit, leaves, load, save};

/// A state that shows all of its numbers.
pub trait State {
    /// Shows every number to `v`, in an order that follows from the state alone. A visitor that restores or corrupts writes to the numbers.
    /// So the length of a list must come before the list, and every number with limits must be shown by [`Visit::number_in`].
    ///
    /// # Errors
    /// Any error of the visitor, passed on with `?`.
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError>;
}

/// An operation on a state's numbers.
pub trait Visit: Sized {
    /// Whether this operation may write to the numbers. A state that keeps something that follows from its numbers, for example its checksum,
    /// computes it anew at the end of such a walk.
    const WRITES: bool = false;

    /// The following numbers belong to this object, for example unit 17.
    fn object(&mut self, kind: &'static str, index: u32);

    /// A number without limits: every value is valid.
    ///
    /// # Errors
    /// The bytes to restore from end too early.
    fn number<T: Number>(&mut self, name: &'static str, value: &mut T) -> Result<(), StateError>;

    /// A number with limits. Where an operation writes ([`Visit::WRITES`]), the value comes from outside and is checked. Otherwise a number that a rule of the
    /// game has brought out of its range stops a debug build; the walk goes on, so that nothing behind it is left out of a hash, a save or a list.
    ///
    /// # Errors
    /// As for [`Visit::number`], or the value to write is out of range; the number is unchanged then. In a debug build also a number that is out of its range:
    /// whoever walks stops with its name, its object and its value.
    #[inline(always)]
    fn number_in<T: Number>(
        &mut self,
        name: &'static str,
        value: &mut T,
        range: RangeInclusive<i64>,
    ) -> Result<(), StateError> {
        let (min, max) = range.into_inner();
        let before = *value;
        self.number(name, value)?;
        let is_checked = Self::WRITES || cfg!(debug_assertions);
        if !is_checked || (i128::from(min)..=i128::from(max)).contains(&value.value()) {
            return Ok(());
        }
        *value = before;
        Err(StateError::OutOfRange { name, min, max })
    }

    /// A part that hashes, saves and names itself, for example a physics world.
    ///
    /// # Errors
    /// The errors of the part.
    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError>;

    /// A list of objects whose hashes are kept as long as nobody could have changed them. `numbers` shows the numbers of one object, and nothing else.
    ///
    /// # Errors
    /// Those of `numbers`.
    #[inline]
    fn kept<T>(
        &mut self,
        kind: &'static str,
        list: &mut Kept<T>,
        mut numbers: impl FnMut(&mut Self, &mut T) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        for (index, object) in (0..).zip(list.visited(Self::WRITES)) {
            self.object(kind, index);
            numbers(self, object)?;
        }
        Ok(())
    }
}

/// A part of a state with its own hash, snapshot and names.
pub trait Part {
    /// Hash of the whole part.
    fn digest(&self) -> u64;

    /// Appends the whole part.
    fn save(&self, out: &mut Vec<u8>);

    /// Restores what [`Part::save`] wrote.
    ///
    /// # Errors
    /// The bytes are damaged, from another version, or not a state of this part. The part is unchanged then.
    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError>;

    /// Shows every number by name.
    fn leaves(&self, each: &mut dyn FnMut(Leaf));

    /// Flips a bit of the number that `leaf` names.
    ///
    /// # Errors
    /// There is no such number or bit, or the resulting state would not be valid. The part is unchanged then.
    fn flip_bit(&mut self, leaf: &Leaf, bit: u32) -> Result<(), StateError>;
}

/// An integer type that a state may contain.
pub trait Number: Copy + PartialEq {
    /// Number of bits.
    const BITS: u32;
    /// Its value.
    fn value(self) -> i128;
    /// Its bits, least significant first.
    fn to_bits(self) -> u64;
    /// The number with these bits; bits beyond [`Number::BITS`] are ignored.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! number {
    ($($integer:ident as $unsigned:ident),*) => {$(
        impl Number for $integer {
            const BITS: u32 = $integer::BITS;
            fn value(self) -> i128 {
                self.into()
            }
            fn to_bits(self) -> u64 {
                u64::from(self as $unsigned)
            }
            fn from_bits(bits: u64) -> Self {
                bits as $unsigned as $integer
            }
        }
    )*};
}

number!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, i8 as u8, i16 as u16, i32 as u32, i64 as u64);

impl Number for bool {
    const BITS: u32 = 1;
    fn value(self) -> i128 {
        self.into()
    }
    fn to_bits(self) -> u64 {
        self.into()
    }
    fn from_bits(bits: u64) -> Self {
        bits & 1 == 1
    }
}

/// One number of a state with its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The kind of object that it belongs to: `unit`, `body`.
    pub kind: &'static str,
    /// The index of the object.
    pub index: u32,
    /// Its name: `hit_points`, `velocity.x`.
    pub name: &'static str,
    /// Number of bits that can be flipped; 0 for numbers that are derived from others.
    pub bits: u32,
    /// The raw value.
    pub value: i128,
}

impl Leaf {
    /// Whether both name the same number.
    #[must_use]
    pub fn is_same_number(&self, other: &Self) -> bool {
        (self.kind, self.index, self.name) == (other.kind, other.index, other.name)
    }
}

/// The first difference between two states.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The number in the first state; none if that state ends before it.
    pub here: Option<Leaf>,
    /// The number at the same place of the walk in the second state.
    pub there: Option<Leaf>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |f: &mut fmt::Formatter<'_>, leaf: &Leaf| {
            write!(f, "{} of {} {}", leaf.name, leaf.kind, leaf.index)
        };
        match (&self.here, &self.there) {
            (Some(here), Some(there)) if here.is_same_number(there) => {
                name(f, here)?;
                write!(f, ": {} and {}", here.value, there.value)
            }
            (here, there) => {
                let mut between = "";
                for leaf in [here, there] {
                    f.write_str(between)?;
                    match leaf {
                        Some(leaf) => {
                            name(f, leaf)?;
                            write!(f, " ({})", leaf.value)?;
                        }
                        None => f.write_str("nothing")?,
                    }
                    between = " against ";
                }
                Ok(())
            }
        }
    }
}

/// Why a state was not restored or corrupted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes end before the state does.
    TooShort,
    /// Bytes are left over.
    TooLong {
        /// Number of bytes.
        bytes: usize,
    },
    /// A number is outside of its range.
    OutOfRange {
        /// Its name.
        name: &'static str,
        /// Its smallest value.
        min: i64,
        /// Its largest value.
        max: i64,
    },
    /// A part refuses its bytes, or the change.
    Part {
        /// The reason.
        what: &'static str,
    },
    /// A part refuses its bytes, or the change, for a reason of its own ([`StateError::of_part`]).
    Inner {
        /// The part.
        part: &'static str,
        /// Its error's text.
        error: Box<str>,
    },
    /// There is no such number, or it has no such bit.
    NoSuchBit {
        /// The bit that was asked for.
        bit: u32,
    },
}

impl StateError {
    /// A part's own error, for [`Part::load`].
    ///
    /// ```
    /// use testudo_lockstep::state::StateError;
    /// let error = "abc".parse::<u32>().map_err(|error| StateError::of_part("gold", &error)).unwrap_err();
    /// assert_eq!(error.to_string(), "gold: invalid digit found in string");
    /// ```
    #[must_use]
    pub fn of_part(part: &'static str, error: &dyn fmt::Display) -> Self {
        Self::Inner { part, error: error.to_string().into() }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => write!(f, "the bytes end before the state does"),
            Self::TooLong { bytes } => write!(f, "{bytes} bytes are left over after the state"),
            Self::OutOfRange { name, min, max } => write!(f, "{name} is not within {min}..={max}"),
            Self::Part { what } => write!(f, "{what}"),
            Self::Inner { part, error } => write!(f, "{part}: {error}"),
            Self::NoSuchBit { bit } => write!(f, "the state has no such number, or it has no bit {bit}"),
        }
    }
}

impl std::error::Error for StateError {}
