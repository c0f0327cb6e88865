//! Deliberate faults: single flipped bits, to rehearse a desync.

use crate::body::field::BodyField;
use crate::body::id::BodyId;
use crate::world::World;

/// Why a bit was not flipped; the world is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlipError {
    /// The handle names a body that was removed, or that never was in this world.
    Stale(BodyId),
    /// The field has fewer bits.
    NoSuchBit {
        /// The field.
        field: BodyField,
        /// The bit that was asked for; it must be below [`BodyField::bits`].
        bit: u32,
    },
    /// No sequence of calls could lead to the resulting state.
    OutOfRange {
        /// The limit or invariant that would be broken.
        what: &'static str,
    },
}

impl core::fmt::Display for FlipError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Stale(id) => write!(f, "body {id} is not in this world (any more)"),
            Self::NoSuchBit { field, bit } => {
                write!(f, "{field} has bits 0..={}, not {bit}", field.bits() - 1)
            }
            Self::OutOfRange { what } => write!(f, "the flipped bit would break a limit: {what}"),
        }
    }
}

impl core::error::Error for FlipError {}

impl World {
    /// Flips one bit of one body's state, as faulty memory or a stray float would, to rehearse a desync. Sleep and contacts change only as
    /// far as the flipped number implies; events of the last step are cleared.
    ///
    /// # Errors
    /// [`FlipError`] if there is no such body or bit, or if the result would break a documented range or an invariant of the state.
    pub fn flip_bit(&mut self, id: BodyId, field: BodyField, bit: u32) -> Result<(), FlipError> {
        let at = self.slot(id).map_err(|_| FlipError::Stale(id))?;
        if bit >= field.bits() {
            return Err(FlipError::NoSuchBit { field, bit });
        }
        let mut flipped = self.clone();
        let mut new_generation = id.generation;
        field.flip(bit, &mut flipped.bodies[at], &mut flipped.extras[at], &mut new_generation);
        flipped.order.set_generation(at, new_generation);
        // Derived data (trees, lists of moving bodies) is rebuilt from the changed state.
        let mut bytes = alloc::vec::Vec::new();
        flipped.validate().map_err(|error| FlipError::OutOfRange { what: error.what })?;
        flipped.snapshot(&mut bytes);
        self.restore(&bytes).map_err(|_| FlipError::OutOfRange { what: "the state could not be saved" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::diff::StatePath;
    use crate::state::diff::tests::heap;

    #[test]
    fn every_bit_that_can_flip_is_named_and_changes_the_checksum() {
        let world = heap();
        let mut flipped = 0;
        for field in BodyField::ALL {
            for slot in 0..world.bodies.len() as u32 {
                let Some(id) = world.body_in_slot(slot) else { continue };
                for bit in 0..field.bits() {
                    let mut other = world.clone();
                    if other.flip_bit(id, field, bit).is_err() {
                        assert_eq!(other.checksum(), world.checksum(), "refused: unchanged");
                        continue;
                    }
                    flipped += 1;
                    assert_ne!(other.checksum(), world.checksum(), "bit {bit} of {field} in slot {slot}");
                    let found = world.first_difference(&other).unwrap();
                    assert!(
                        matches!(found.path, StatePath::Body { body, field: f } if body.index == slot && f == field)
                    );
                    let (here, there) = (found.here.unwrap(), found.there.unwrap());
                    let mask = (1i128 << field.bits()) - 1;
                    assert_eq!((here ^ there) & mask, 1 << bit, "{found}");
                    assert_eq!(other.validate(), Ok(()));
                    for _ in 0..3 {
                        other.step(20).unwrap();
                    }
                }
            }
        }
        assert!(flipped > 1_000, "{flipped}");
    }

    #[test]
    fn flips_out_of_range_are_refused() {
        let mut world = heap();
        let before = world.checksum();
        let id = world.body_in_slot(0).unwrap();
        let wide = world.flip_bit(id, BodyField::Friction, 30);
        assert_eq!(wide, Err(FlipError::OutOfRange { what: "the friction flag" }));
        assert!(world.flip_bit(id, BodyField::PositionX, 31).is_err());
        assert_eq!(
            world.flip_bit(id, BodyField::StillMs, 16),
            Err(FlipError::NoSuchBit { field: BodyField::StillMs, bit: 16 })
        );
        // A slot whose body was removed, one that was never used, and one that another body has by now.
        assert_eq!((world.body_in_slot(11), world.body_in_slot(99)), (None, None));
        let heir = world.body_in_slot(8).unwrap();
        let stale = [(11, 0), (99, 0), (8, heir.generation - 1), (8, heir.generation + 1)];
        for id in stale.map(|(index, generation)| BodyId { index, generation }) {
            assert_eq!(world.flip_bit(id, BodyField::PositionX, 0), Err(FlipError::Stale(id)));
        }
        assert_eq!(world.checksum(), before);
        assert_eq!(world.flip_bit(heir, BodyField::PositionX, 0), Ok(()));
    }
}
