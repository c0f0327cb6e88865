//! A game's state, number by number: one walk that hashes, saves, restores, names and corrupts it.
//!
//! A game implements [`State`] once. Whatever the walk shows is hashed, saved and found in the diagnosis of a desync by name; what it does
//! not show is not state ([`crate::testing::assert_deterministic`] finds what is missing).
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

pub mod inquiry;
mod recent;
mod visitors;

use core::fmt;
use core::ops::RangeInclusive;

pub use recent::Recent;
pub use visitors::{digest, first_difference, flip_bit, leaves, load, save};

/// A state that shows all of its numbers.
pub trait State {
    /// Shows every number to `v`, in an order that follows from the state alone. A visitor that restores or corrupts writes into them, so
    /// the lengths of lists come before the lists, and every number that has limits is shown with [`Visit::number_in`].
    ///
    /// # Errors
    /// Whatever the visitor returns, passed on with `?`.
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError>;
}

/// What is done with a state's numbers.
pub trait Visit: Sized {
    /// The numbers that follow belong to this object, such as unit 17.
    fn object(&mut self, kind: &'static str, index: u32);

    /// A number of which every value is valid.
    ///
    /// # Errors
    /// The bytes that are restored from are at their end.
    fn number<T: Number>(&mut self, name: &'static str, value: &mut T) -> Result<(), StateError>;

    /// A number with limits.
    ///
    /// # Errors
    /// As [`Visit::number`], or the value would be out of range; it is unchanged then.
    fn number_in<T: Number>(
        &mut self,
        name: &'static str,
        value: &mut T,
        range: RangeInclusive<i64>,
    ) -> Result<(), StateError> {
        let before = *value;
        self.number(name, value)?;
        let (min, max) = range.into_inner();
        if (i128::from(min)..=i128::from(max)).contains(&value.value()) {
            return Ok(());
        }
        *value = before;
        Err(StateError::OutOfRange { name, min, max })
    }

    /// A part that hashes, saves and names itself, such as a physics engine's world.
    ///
    /// # Errors
    /// The part's own.
    fn part<P: Part>(&mut self, part: &mut P) -> Result<(), StateError>;
}

/// A part of a state that comes with a hash, a snapshot and names of its own.
pub trait Part {
    /// Hash of the whole part.
    fn digest(&self) -> u64;

    /// Appends the whole part.
    fn save(&self, out: &mut Vec<u8>);

    /// Takes over what [`Part::save`] wrote.
    ///
    /// # Errors
    /// The bytes are damaged, of another version, or no state of this part. It is unchanged then.
    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError>;

    /// Shows every number by name.
    fn leaves(&self, each: &mut dyn FnMut(Leaf));

    /// Flips a bit of the number that this leaf names.
    ///
    /// # Errors
    /// There is no such number or bit, or the part cannot be in the state that would follow. It is unchanged then.
    fn flip_bit(&mut self, leaf: &Leaf, bit: u32) -> Result<(), StateError>;
}

/// A number as a state keeps it.
pub trait Number: Copy + PartialEq {
    /// Bits that it has.
    const BITS: u32;
    /// Its value.
    fn value(self) -> i128;
    /// Its bits, least significant first.
    fn to_bits(self) -> u64;
    /// From bits; higher ones than [`Number::BITS`] are ignored.
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
    /// What kind of object it belongs to: `unit`, `body`.
    pub kind: &'static str,
    /// Which of them.
    pub index: u32,
    /// Its name: `hit_points`, `velocity.x`.
    pub name: &'static str,
    /// Bits that can be flipped; 0 for numbers that follow from others.
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

/// Where two states differ first.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The number in the first state; none if that ends before.
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes end before the state does.
    TooShort,
    /// Bytes are left over.
    TooLong {
        /// How many.
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
        /// Why.
        what: &'static str,
    },
    /// There is no such number, or it has no such bit.
    NoSuchBit {
        /// The bit that was asked for.
        bit: u32,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => write!(f, "the bytes end before the state does"),
            Self::TooLong { bytes } => write!(f, "{bytes} bytes are left over after the state"),
            Self::OutOfRange { name, min, max } => write!(f, "{name} is not within {min}..={max}"),
            Self::Part { what } => write!(f, "{what}"),
            Self::NoSuchBit { bit } => write!(f, "the state has no such number, or it has no bit {bit}"),
        }
    }
}

impl std::error::Error for StateError {}
