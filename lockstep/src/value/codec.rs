//! Decodes the bits of an entry into actions.

use crate::value::action::{Action, AnyAction};
use crate::value::action_format::ActionFormat;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::Payload;

/// What a session has to know of the type of the game's actions. Functions of the type, and not the type: code that has the type as a parameter is compiled
/// again for each game.
#[derive(Clone, Debug)]
pub(crate) struct Codec {
    validate: fn(&Payload, u32, &mut BitWriter) -> Result<(), DecodeError>,
    count: fn(&Payload) -> u32,
    first: fn(&mut BitReader<'_>) -> bool,
    /// Greatest number of bits of an action.
    bits_max: u32,
    /// Where actions end, if their type does not know it.
    format: Option<ActionFormat>,
}

impl Codec {
    pub(crate) fn of<A: Action>() -> Self {
        Self {
            validate: validate::<A>,
            count: |payload| actions::<A>(payload).count() as u32,
            first: |reader| A::decode(reader).is_ok(),
            bits_max: A::MAX_BITS,
            format: None,
        }
    }

    pub(crate) fn of_format(format: ActionFormat) -> Self {
        Self { bits_max: format.bits_max(), format: Some(format), ..Self::of::<AnyAction>() }
    }

    /// Greatest number of bits of an action.
    pub(crate) fn bits_max(&self) -> u32 {
        self.bits_max
    }

    /// Whether a payload is something else than the canonical encoding of at most `actions_max` actions.
    pub(crate) fn refuses(&self, payload: &Payload, actions_max: u32, scratch: &mut BitWriter) -> bool {
        match &self.format {
            None => (self.validate)(payload, actions_max, scratch).is_err(),
            Some(format) => format.count(payload, actions_max).is_none(),
        }
    }

    /// Whether the bits of an action end it, whatever follows: another one may stand behind it in the same entry.
    pub(crate) fn ends_itself(&self, action: &Payload, scratch: &mut BitWriter) -> bool {
        [0x00, 0xff].into_iter().all(|beyond| {
            scratch.clear();
            scratch.write_slice(action.bytes(), action.bit_count());
            (0..=self.bits_max / 8).for_each(|_| scratch.write_bits(beyond, 8));
            let mut reader = BitReader::with_bit_count(scratch.bytes(), scratch.bit_count());
            let is_one = match &self.format {
                None => (self.first)(&mut reader),
                Some(format) => format.next(&mut reader).is_some(),
            };
            is_one && scratch.bit_count() - reader.bits_left() == action.bit_count()
        })
    }

    /// The number of actions of a payload that has been validated.
    pub(crate) fn count(&self, payload: &Payload) -> u32 {
        match &self.format {
            None => (self.count)(payload),
            Some(format) => format.count(payload, u32::MAX).unwrap_or(0),
        }
    }

    /// Decodes the actions of a payload that has been validated.
    pub(crate) fn actions<'a, A: Action>(&'a self, payload: &'a Payload) -> impl Iterator<Item = A> + 'a {
        let mut reader = BitReader::with_bit_count(payload.bytes(), payload.bit_count());
        core::iter::from_fn(move || match &self.format {
            _ if reader.bits_left() == 0 => None,
            None => A::decode(&mut reader).ok(),
            Some(format) => A::decode(&mut format.next(&mut reader)?).ok(),
        })
    }
}

/// Checks that a payload is the canonical encoding of at most `actions_max` actions.
fn validate<A: Action>(
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
        if scratch.misfit().is_some() {
            return Err(DecodeError::NotCanonical);
        }
    }
    let same = scratch.bit_count() == payload.bit_count() && scratch.bytes() == payload.bytes();
    if same { Ok(()) } else { Err(DecodeError::NotCanonical) }
}

/// The payload of a player who does nothing in input mode.
pub(crate) fn zeros(bits: u32) -> Payload {
    Payload::new(&[0; crate::value::action::ACTION_BITS_MAX as usize / 8], bits)
}

fn actions<A: Action>(payload: &Payload) -> impl Iterator<Item = A> + '_ {
    let mut reader = BitReader::with_bit_count(payload.bytes(), payload.bit_count());
    core::iter::from_fn(move || if reader.bits_left() > 0 { A::decode(&mut reader).ok() } else { None })
}
