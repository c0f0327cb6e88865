//! Decodes the bits of an entry into actions.

use crate::value::action::Action;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::Payload;

/// What a session has to know of the type of the game's actions. Functions of the type, and not the type: code that has the type as a parameter is compiled
/// again for each game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    validate: fn(&Payload, u32, &mut BitWriter) -> Result<(), DecodeError>,
    count: fn(&Payload) -> u32,
}

impl Codec {
    pub(crate) fn of<A: Action>() -> Self {
        Self { validate: validate::<A>, count: |payload| actions::<A>(payload).count() as u32 }
    }

    /// Whether a payload is something else than the canonical encoding of at most `actions_max` actions.
    pub(crate) fn refuses(&self, payload: &Payload, actions_max: u32, scratch: &mut BitWriter) -> bool {
        (self.validate)(payload, actions_max, scratch).is_err()
    }

    /// The number of actions of a payload that has been validated.
    pub(crate) fn count(&self, payload: &Payload) -> u32 {
        (self.count)(payload)
    }
}

/// Checks that a payload is the canonical encoding of at most `actions_max` actions.
pub(crate) fn validate<A: Action>(
    payload: &Payload,
    actions_max: u32,
    scratch: &mut BitWriter,
) -> Result<(), DecodeError> {
    scratch.clear();
    let mut reader = BitReader::with_bit_count(payload.bytes(), payload.bit_count());
    let mut actions = 0;
    while reader.bits_left() > 0 {
        actions += 1;
        if actions > actions_max {
            return Err(DecodeError::OutOfRange { value: u64::from(actions), max: u64::from(actions_max) });
        }
        let before = reader.bits_left();
        let action = A::decode(&mut reader)?;
        let used = before - reader.bits_left();
        if used == 0 || used > A::MAX_BITS {
            return Err(DecodeError::NotCanonical);
        }
        action.encode(scratch);
    }
    let same = scratch.bit_count() == payload.bit_count() && scratch.bytes() == payload.bytes();
    if same { Ok(()) } else { Err(DecodeError::NotCanonical) }
}

/// The payload of a player who does nothing in input mode.
pub(crate) fn zeros(bits: u32) -> Payload {
    Payload::new(&[0; crate::value::action::ACTION_BITS_MAX as usize / 8], bits)
}

/// Decodes the actions of a payload that has been validated.
pub(crate) fn actions<A: Action>(payload: &Payload) -> impl Iterator<Item = A> + '_ {
    let mut reader = BitReader::with_bit_count(payload.bytes(), payload.bit_count());
    core::iter::from_fn(move || if reader.bits_left() > 0 { A::decode(&mut reader).ok() } else { None })
}
