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
        flipped.note_extra(at);
        // Derived data (trees, lists of moving bodies) is rebuilt from the changed state.
        let mut bytes = alloc::vec::Vec::new();
        flipped.validate().map_err(|error| FlipError::OutOfRange { what: error.what })?;
        flipped.snapshot(&mut bytes);
        self.restore(&bytes).map_err(|_| FlipError::OutOfRange { what: "the state could not be saved" })
    }
}
