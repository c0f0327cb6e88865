//! The numbers of a body's state in one table. Writing, reading, hashing, naming, comparing and flipping all use it.
//!
//! A new field needs a member of [`Body`] or [`Extra`], its numbers in [`BodyField`], and a row in [`TABLE`]. A missing row, or one that
//! overlaps another one, does not compile.

use core::mem::offset_of;

use BodyField as F;

use crate::body::record::{Body, Extra, ShapeTag, flag};

/// One number of a body's state. Together they are the whole state of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum BodyField {
    /// Distinguishes the bodies that used the same slot; see [`BodyId::generation`](crate::BodyId::generation).
    Generation,
    /// Centre, raw units.
    PositionX,
    /// Centre, raw units.
    PositionY,
    /// Velocity, raw units per second.
    VelocityX,
    /// Velocity, raw units per second.
    VelocityY,
    /// Kind, sleep and other yes-no properties, one bit each, and the shape in three bits.
    Flags,
    /// Half width of a rectangle, raw units; 0 for a circle.
    HalfExtentX,
    /// Half height of a rectangle, raw units; 0 for a circle.
    HalfExtentY,
    /// Radius of a circle, raw units; 0 for a rectangle.
    Radius,
    /// Raw mass; 0 for bodies that contacts cannot move.
    Mass,
    /// Raw coefficient of restitution.
    Restitution,
    /// Raw ground friction, units/s^2.
    GroundFriction,
    /// Raw coefficient of contact friction.
    Friction,
    /// Raw damping, 1/s.
    Damping,
    /// Raw speed limit; `i32::MAX` = only the world's.
    MaxSpeed,
    /// Rare choices, one bit each: whether the body never sleeps, whether it has an anchor.
    Choices,
    /// Rank in contacts, -128..=127, see [`BodyDef::dominance`](crate::BodyDef::dominance).
    Dominance,
    /// Carried remainder of the motion along x, in 1/fps of a raw unit.
    PositionRemainderX,
    /// Carried remainder of the motion along y, in 1/fps of a raw unit.
    PositionRemainderY,
    /// Carried remainder of the acceleration along x, in 1/fps of a raw unit per second.
    AccelerationRemainderX,
    /// Carried remainder of the acceleration along y, in 1/fps of a raw unit per second.
    AccelerationRemainderY,
    /// Carried remainder of the ground friction, in 1/fps of a raw unit per second.
    FrictionRemainder,
    /// Milliseconds for which the body and the bodies that it touches have been still.
    StillMs,
    /// Acceleration by forces that wait for the next step, raw units/s^2.
    AccelerationX,
    /// Acceleration by forces that wait for the next step, raw units/s^2.
    AccelerationY,
    /// Collision layers.
    FilterLayers,
    /// Collision mask.
    FilterMask,
    /// The user's value.
    User,
    /// Anchor of a body that moves to and fro, 1/128 unit, modulo 2^16.
    AnchorX,
    /// Anchor of a body that moves to and fro, 1/128 unit, modulo 2^16.
    AnchorY,
}

/// How a number is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    U16,
    I16,
    U32,
    I32,
    /// Stored as two halves of 32 bits, the low one first.
    U64,
    /// 32 bits, of which the lowest are state.
    Flags,
}

impl Number {
    /// Size in bytes.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::Flags => 4,
            Self::U64 => 8,
        }
    }
}

/// Where the bytes of a field are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// From this byte of [`Body`] on.
    // not state: the offset in this program's memory
    Body(usize),
    /// From this byte of [`Extra`] on.
    // not state: as above
    Extra(usize),
    /// Stored with the slot, in [`Ordered`](crate::body::ordered::Ordered).
    Slot,
}

/// When a snapshot contains a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saved {
    /// Always, in the word that says which other fields follow.
    InTheWord,
    Always,
    /// If the body's shape has this tag, which stands in the word.
    Of(ShapeTag),
    /// If it has another value than this one; then the word has the bit. The lowest are the flags and the tag; [`flag::STATE`] names the free ones.
    Unless(u64, u32),
    /// If the mass is not [`usual_mass`]; then the word has the bit.
    UnusualMass(u32),
}

/// A row of the table: one number, or two that are saved together.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) numbers: &'static [(BodyField, &'static str)],
    pub(crate) number: Number,
    pub(crate) home: Home,
    pub(crate) saved: Saved,
}

impl Field {
    const fn new(
        home: Home,
        number: Number,
        saved: Saved,
        numbers: &'static [(BodyField, &'static str)],
    ) -> Self {
        Self { numbers, number, home, saved }
    }

    /// Bytes of all its numbers.
    pub(crate) const fn size(&self) -> usize {
        self.numbers.len() * self.number.size()
    }

    /// Its numbers as one value, the first one lowest.
    #[inline(always)]
    pub(crate) fn get(&self, body: &Body, extra: &Extra, generation: u32) -> u64 {
        let mut bytes = [0; 8];
        let held = &mut bytes[..self.size()];
        match self.home {
            Home::Body(at) => held.copy_from_slice(&bytemuck::bytes_of(body)[at..at + self.size()]),
            Home::Extra(at) => held.copy_from_slice(&bytemuck::bytes_of(extra)[at..at + self.size()]),
            Home::Slot => return generation.into(),
        }
        u64::from_le_bytes(self.reordered(bytes))
    }

    /// Sets its numbers to what [`get`](Self::get) returned.
    #[inline(always)]
    pub(crate) fn set(&self, value: u64, body: &mut Body, extra: &mut Extra, generation: &mut u32) {
        let bytes = self.reordered(value.to_le_bytes());
        let held = &bytes[..self.size()];
        match self.home {
            Home::Body(at) => bytemuck::bytes_of_mut(body)[at..at + self.size()].copy_from_slice(held),
            Home::Extra(at) => bytemuck::bytes_of_mut(extra)[at..at + self.size()].copy_from_slice(held),
            Home::Slot => *generation = value as u32,
        }
    }

    /// From the machine's byte order to little-endian, or back.
    #[inline(always)]
    fn reordered(&self, mut bytes: [u8; 8]) -> [u8; 8] {
        if cfg!(target_endian = "big") {
            let width = self.number.size().min(4);
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        bytes
    }

    /// The bit that says that a snapshot contains the field, or 0.
    pub(crate) const fn bit(&self) -> u32 {
        match self.saved {
            Saved::Unless(_, bit) | Saved::UnusualMass(bit) => 1 << bit,
            _ => 0,
        }
    }
}

/// All fields, in the order in which a snapshot has them.
#[rustfmt::skip] // A table is read in columns.
pub(crate) const TABLE: [Field; 20] = {
    use Home::{Body as B, Extra as E};
    use Number::{Flags, I16, I32, U16, U32, U64};
    use Saved::{Always, InTheWord, Of, Unless, UnusualMass};
    const ANY_SPEED: u64 = i32::MAX as u64;
    const DEFAULT_FILTER: u64 = 1 | (u32::MAX as u64) << 32;
    [
        Field::new(B(offset_of!(Body, flags)), Flags, InTheWord, &[(F::Flags, "flags")]),
        Field::new(B(offset_of!(Body, position)), I32, Always, &[(F::PositionX, "position.x"), (F::PositionY, "position.y")]),
        Field::new(B(offset_of!(Body, radius)), I32, Of(ShapeTag::Circle), &[(F::Radius, "radius")]),
        Field::new(B(offset_of!(Body, half)), I32, Of(ShapeTag::Rect), &[(F::HalfExtentX, "half_extents.x"), (F::HalfExtentY, "half_extents.y")]),
        Field::new(B(offset_of!(Body, velocity)), I32, Unless(0, 16), &[(F::VelocityX, "velocity.x"), (F::VelocityY, "velocity.y")]),
        Field::new(B(offset_of!(Body, position_remainder)), U16, Unless(0, 17), &[(F::PositionRemainderX, "position_remainder.x"), (F::PositionRemainderY, "position_remainder.y")]),
        Field::new(B(offset_of!(Body, acceleration_remainder)), U16, Unless(0, 18), &[(F::AccelerationRemainderX, "acceleration_remainder.x"), (F::AccelerationRemainderY, "acceleration_remainder.y")]),
        Field::new(B(offset_of!(Body, friction_remainder)), U16, Unless(0, 19), &[(F::FrictionRemainder, "friction_remainder")]),
        Field::new(B(offset_of!(Body, still_ms)), U16, Unless(0, 20), &[(F::StillMs, "still_ms")]),
        // Fields that have their usual value in most bodies; see `OFTEN`.
        Field::new(B(offset_of!(Body, mass)), U32, UnusualMass(21), &[(F::Mass, "mass")]),
        Field::new(B(offset_of!(Body, restitution)), I32, Unless(0, 22), &[(F::Restitution, "restitution")]),
        Field::new(B(offset_of!(Body, ground_friction)), I32, Unless(0, 23), &[(F::GroundFriction, "ground_friction")]),
        Field::new(E(offset_of!(Extra, friction)), I32, Unless(0, 27), &[(F::Friction, "friction")]),
        Field::new(E(offset_of!(Extra, damping)), I32, Unless(0, 28), &[(F::Damping, "damping")]),
        Field::new(E(offset_of!(Extra, max_speed)), I32, Unless(ANY_SPEED, 29), &[(F::MaxSpeed, "max_speed")]),
        Field::new(E(offset_of!(Extra, choices)), I16, Unless(0, 31), &[(F::Choices, "choices"), (F::Dominance, "dominance"), (F::AnchorX, "anchor.x"), (F::AnchorY, "anchor.y")]),
        Field::new(Home::Slot, U32, Unless(0, 30), &[(F::Generation, "generation")]),
        Field::new(B(offset_of!(Body, filter)), U32, Unless(DEFAULT_FILTER, 24), &[(F::FilterLayers, "filter.layers"), (F::FilterMask, "filter.mask")]),
        Field::new(E(offset_of!(Extra, user)), U64, Unless(0, 25), &[(F::User, "user")]),
        Field::new(E(offset_of!(Extra, acceleration)), I32, Unless(0, 26), &[(F::AccelerationX, "acceleration.x"), (F::AccelerationY, "acceleration.y")]),
    ]
};

/// Number of rows whose fields bodies often have, the word itself first. The other rows follow them.
pub(crate) const OFTEN: usize = 9;

/// The mass that takes no space in a snapshot: 1 for dynamic bodies, 0 for the others.
pub(crate) const fn usual_mass(flags: u32) -> u32 {
    if flags & flag::DYNAMIC != 0 { 1 << 16 } else { 0 }
}

/// Bits of the word that say which fields follow.
pub(crate) const PRESENT: u32 = {
    let (mut bits, mut row) = (0, 0);
    while row < TABLE.len() {
        bits |= TABLE[row].bit();
        row += 1;
    }
    bits
};

/// Bits of the word for fields of [`Extra`].
pub(crate) const EXTRAS: u32 = {
    let (mut bits, mut row) = (0, 0);
    while row < TABLE.len() {
        if let Home::Extra(_) = TABLE[row].home {
            bits |= TABLE[row].bit();
        }
        row += 1;
    }
    bits
};

/// Numbers of a body.
const COUNT: usize = {
    let (mut count, mut row) = (0, 0);
    while row < TABLE.len() {
        count += TABLE[row].numbers.len();
        row += 1;
    }
    count
};

/// Row of each number, and which of the row's numbers it is.
const ROWS: [(usize, usize); COUNT] = {
    let mut rows = [(usize::MAX, 0); COUNT];
    let mut row = 0;
    while row < TABLE.len() {
        let numbers = TABLE[row].numbers;
        let mut which = 0;
        while which < numbers.len() {
            let listed = &mut rows[numbers[which].0 as usize];
            assert!(listed.0 == usize::MAX, "a number stands in the table twice");
            *listed = (row, which);
            which += 1;
        }
        row += 1;
    }
    rows
};

/// What follows from a field is the bit of its row. A row whose bit is a flag of one field has no room for another field, which would set the flag.
const _: () = {
    const fn bit(field: BodyField) -> u32 {
        TABLE[ROWS[field as usize].0].bit()
    }
    let mut row = 0;
    while row < TABLE.len() {
        let follows = TABLE[row].bit() & (flag::ROUGH | flag::DAMPED | flag::LIMITED) != 0;
        assert!(!follows || TABLE[row].numbers.len() == 1, "the row's bit says what its one number is");
        row += 1;
    }
    assert!(flag::FILTERED == bit(F::FilterLayers) && flag::ROUGH == bit(F::Friction));
    assert!(flag::DAMPED == bit(F::Damping) && flag::LIMITED == bit(F::MaxSpeed));
};

/// Every byte of both records belongs to one row.
const _: () = {
    let (mut body, mut extra) = ([false; size_of::<Body>()], [false; size_of::<Extra>()]);
    let mut row = 0;
    while row < TABLE.len() {
        let field = TABLE[row];
        let mut byte = 0;
        while byte < field.size() {
            let covered = match field.home {
                Home::Body(offset) => &mut body[offset + byte],
                Home::Extra(offset) => &mut extra[offset + byte],
                Home::Slot => &mut false,
            };
            assert!(!*covered, "two rows of the table overlap");
            *covered = true;
            byte += 1;
        }
        row += 1;
    }
    let mut byte = 0;
    while byte < body.len() {
        assert!(body[byte], "a field of Body stands in no row of the table");
        byte += 1;
    }
    let mut byte = 0;
    while byte < extra.len() {
        assert!(extra[byte], "a field of Extra stands in no row of the table");
        byte += 1;
    }
};

impl BodyField {
    /// All fields, in the order in which differences are looked for: values that players see come before values that follow from them, such
    /// as sleep.
    pub const ALL: [Self; COUNT] = {
        let mut all = [Self::Generation; COUNT];
        let mut row = 0;
        while row < TABLE.len() {
            let mut which = 0;
            while which < TABLE[row].numbers.len() {
                let number = TABLE[row].numbers[which].0;
                all[number as usize] = number;
                which += 1;
            }
            row += 1;
        }
        all
    };

    /// Its name, for example `position.x`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let (row, which) = ROWS[self as usize];
        TABLE[row].numbers[which].1
    }

    /// Number of bits of the field: at most 64.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match TABLE[ROWS[self as usize].0].number {
            Number::U16 | Number::I16 => 16,
            Number::Flags => flag::STATE.count_ones(),
            Number::U32 | Number::I32 => 32,
            Number::U64 => 64,
        }
    }

    /// The raw value; signed fields keep their sign.
    pub(crate) fn get(self, body: &Body, extra: &Extra, generation: u32) -> i128 {
        let (field, shift) = self.row();
        let bits = field.get(body, extra, generation) >> shift;
        match field.number {
            Number::U16 => (bits as u16).into(),
            Number::I16 => (bits as i16).into(),
            Number::U32 => (bits as u32).into(),
            // The others follow from fields that have a number of their own.
            Number::Flags => (bits as u32 & flag::STATE).into(),
            Number::I32 => (bits as i32).into(),
            Number::U64 => bits.into(),
        }
    }

    /// Flips one bit, which must be below [`bits`](Self::bits); the result may be out of range.
    pub(crate) fn flip(self, bit: u32, body: &mut Body, extra: &mut Extra, generation: &mut u32) {
        let (field, shift) = self.row();
        let flipped = field.get(body, extra, *generation) ^ 1 << (shift + bit);
        field.set(flipped, body, extra, generation);
    }

    /// Its row, and the bit of the row's value at which it begins.
    fn row(self) -> (&'static Field, u32) {
        let (row, which) = ROWS[self as usize];
        (&TABLE[row], (which * TABLE[row].number.size() * 8) as u32)
    }
}

impl core::fmt::Display for BodyField {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn all_flags_can_flip() {
        assert_eq!(flag::STATE, (1 << BodyField::Flags.bits()) - 1);
    }

    /// What a snapshot leaves out is what reading starts with: another value would come back changed.
    #[test]
    fn a_snapshot_leaves_out_what_reading_starts_with() {
        for field in &TABLE {
            if let Saved::Unless(usual, _) = field.saved {
                let started = field.get(&Body::default(), &Extra::USUAL, 0);
                assert_eq!(usual, started, "{}", field.numbers[0].1);
            }
        }
    }

    #[test]
    fn every_bit_of_every_field_is_one_number_of_its_own() {
        for (index, field) in BodyField::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, index, "{field}: the list has the order of the enum");
            for bit in 0..field.bits() {
                let (mut body, mut extra, mut generation) = (Body::default(), Extra::USUAL, 0);
                field.flip(bit, &mut body, &mut extra, &mut generation);
                for other in BodyField::ALL {
                    let before = other.get(&Body::default(), &Extra::USUAL, 0);
                    let changed = other.get(&body, &extra, generation) != before;
                    assert_eq!(changed, other == field, "bit {bit} of {field} seen in {other}");
                }
            }
        }
        let names: BTreeSet<_> = BodyField::ALL.iter().map(|f| f.name()).collect();
        assert_eq!(names.len(), BodyField::ALL.len(), "each has a name of its own");
    }

    #[test]
    fn bits_of_the_word_are_used_once() {
        let bits = TABLE.iter().map(Field::bit).filter(|bit| *bit != 0);
        let all = bits.fold(flag::STATE, |all, bit| {
            assert_eq!(all & bit, 0, "bit {bit:#x} is a flag or another field's");
            all | bit
        });
        assert_eq!(all, PRESENT | flag::STATE);
    }
}
