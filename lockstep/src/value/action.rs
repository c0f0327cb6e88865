//! What players do: a value of the game's own type that fits in bits.

use crate::value::bits::{BitReader, BitWriter, DecodeError};

/// An action of a player: an order to units, or the sampled buttons of one frame.
///
/// Every action goes through `encode` and `decode`, the local player's too, so an action names objects by id and never
/// by reference. `decode` faces bytes from the network: it must be total. An action whose decoded form does not encode to the
/// same bits again is refused.
pub trait Action: Sized {
    /// Most bits that `encode` writes, 1..=[`ACTION_BITS_MAX`]. In input mode every action has exactly this many.
    const MAX_BITS: u32;

    /// Writes the action: at least one bit, at most [`Action::MAX_BITS`].
    fn encode(&self, out: &mut BitWriter);

    /// Reads what `encode` wrote and nothing more.
    ///
    /// # Errors
    /// Whatever is not the encoding of an action.
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError>;
}

/// Largest value of [`Action::MAX_BITS`]: 512 bytes, so that one entry always fits a packet beside its header.
pub const ACTION_BITS_MAX: u32 = 4_096;

/// The action of a game without actions: there is no value of this type.
///
/// (A turn in which a player does nothing needs no action: the session puts an explicit empty entry in the stream.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoAction {}

impl Action for NoAction {
    const MAX_BITS: u32 = 1;

    fn encode(&self, _: &mut BitWriter) {
        match *self {}
    }

    fn decode(_: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Err(DecodeError::OutOfRange { value: 1, max: 0 })
    }
}
