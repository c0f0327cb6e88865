//! Handles of bodies.

use crate::body::slot::Slot;

/// The handle of a body: the index of its slot, and the generation of the slot.
///
/// A slot is used again after its body was removed, with the next generation. So a stale handle never finds another body (until
/// one slot has held 2^32 bodies). Handles compare by slot first. The same calls in the same order give the same handles on every
/// machine, so a game may send them in actions and hash them, as [`to_bits`].
///
/// ```
/// use testudo_physics::{BodyDef, BodyError, BodyId, Fx, Shape, World, WorldDef};
/// let mut world = World::new(WorldDef::new()).unwrap();
/// let id = world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE))).unwrap();
/// assert_eq!(BodyId::from_bits(id.to_bits()), id);
/// world.remove_body(id).unwrap();
/// assert_eq!(world.remove_body(id), Err(BodyError::Stale(id)));
/// assert!(world.body(id).is_none());
/// ```
///
/// [`to_bits`]: BodyId::to_bits
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C)]
pub struct BodyId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl BodyId {
    pub(crate) fn new(slot: Slot, generation: u32) -> Self {
        Self { index: slot.0, generation }
    }

    /// Its slot as the inside has it.
    #[inline(always)]
    pub(crate) fn slot(self) -> Slot {
        Slot(self.index)
    }

    /// Slot of the body, counted from 0. No two living bodies of a world share a slot.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Generation of the slot: how often it was used before, modulo 2^32.
    #[must_use]
    pub const fn generation(self) -> u32 {
        self.generation
    }

    /// The handle as one number: the generation in the upper half, the slot in the lower.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The handle with these [`to_bits`](Self::to_bits). Any number gives a handle; the world refuses it as stale if no such body exists.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

impl core::fmt::Display for BodyId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::BodyId;

    #[test]
    fn bits_keep_both_halves() {
        let id = BodyId { index: 0xDEAD_BEEF, generation: 7 };
        assert_eq!(id.to_bits(), 0x0000_0007_DEAD_BEEF);
        assert_eq!(BodyId::from_bits(id.to_bits()), id);
        assert_eq!(BodyId::from_bits(u64::MAX).to_bits(), u64::MAX);
    }
}
