//! Actions: what players do, as values of the game's own type that are encoded as bits.

use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::Payload;

/// An action of a player: an order to units, or the sampled buttons of one frame.
///
/// Every action is encoded and decoded, the local player's too, so an action refers to objects by id and never by reference. `decode` gets
/// untrusted bytes from the network and must be total. If a decoded action does not encode to the same bits again, it is refused.
pub trait Action: Sized {
    /// Greatest number of bits that `encode` writes, 1..=[`ACTION_BITS_MAX`]. In input mode every action has exactly this many,
    /// and that many zeros must be one: the input of a player who does nothing.
    const MAX_BITS: u32;

    /// Writes the action: at least one bit, at most [`Action::MAX_BITS`].
    fn encode(&self, out: &mut BitWriter);

    /// Reads exactly what `encode` wrote.
    ///
    /// # Errors
    /// The bits are not the encoding of an action.
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError>;
}

/// Greatest value of [`Action::MAX_BITS`]: 512 bytes, so that one entry and its header always fit into a packet.
pub const ACTION_BITS_MAX: u32 = 4_096;

/// The action of a game without actions. This type has no value.
///
/// (A turn in which a player does nothing needs no action: the session puts an explicit empty entry into the stream.)
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

/// The actions of any game, as bits: for a relay, which knows none and takes all bits of one entry as one ([`Session::relay`](crate::Session::relay)),
/// and for a peer that knows only at run time how long they are ([`Session::of_format`](crate::Session::of_format)).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnyAction(Payload);

impl AnyAction {
    /// The first `bits` bits of `bytes`: 1..=[`ACTION_BITS_MAX`], the lowest one of each byte first. None if that many are not there, or not allowed.
    #[must_use]
    pub fn new(bytes: &[u8], bits: u32) -> Option<Self> {
        let fits = (1..=ACTION_BITS_MAX).contains(&bits) && bytes.len() >= bits.div_ceil(8) as usize;
        fits.then(|| Self(Payload::new(bytes, bits)))
    }

    /// The bytes; unused high bits of the last one are zero.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// Number of bits.
    #[must_use]
    pub fn bit_count(&self) -> u32 {
        self.0.bit_count()
    }
}

impl Action for AnyAction {
    const MAX_BITS: u32 = ACTION_BITS_MAX;

    fn encode(&self, out: &mut BitWriter) {
        out.write_slice(self.0.bytes(), self.0.bit_count());
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let bit_count = input.bits_left();
        Payload::read(input, bit_count).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_action_is_passed_on_bit_by_bit() {
        let bytes: Vec<u8> = (0..=255).collect();
        for bit_count in [1, 7, 8, 9, 64, 130, 2_048] {
            let given = Payload::new(&bytes, bit_count);
            let mut reader = BitReader::with_bit_count(given.bytes(), bit_count);
            let action = AnyAction::decode(&mut reader).unwrap();
            let mut writer = BitWriter::new();
            action.encode(&mut writer);
            assert_eq!((writer.bytes(), writer.bit_count()), (given.bytes(), bit_count));
        }
    }
}
