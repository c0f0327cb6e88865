//! What players of the toys do.

use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError};

/// Adds a number to the sum that all share.
pub(crate) struct Add(pub(crate) u8);

impl Action for Add {
    const MAX_BITS: u32 = 8;
    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.into(), 8);
    }
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_bits(8)? as u8))
    }
}
