//! Where actions end, said at run time.

use core::fmt;
use std::sync::Arc;

use crate::value::bits::{BitReader, BitWriter};
use crate::value::entry::Payload;

/// How long actions are, for a program that knows this only when it runs, because the rules are written in another language or in a script
/// ([`Session::of_format`](crate::Session::of_format)). It stands for [`Action::decode`](crate::Action::decode) of the other peers, and must accept the
/// same bits.
///
/// ```
/// use testudo_lockstep::ActionFormat;
/// // The lowest bit tells a short order from a long one.
/// let format = ActionFormat::variable(24, |bytes, _| if bytes[0] & 1 == 0 { 8 } else { 24 });
/// assert_eq!(format.bits_max(), 24);
/// ```
#[derive(Clone)]
pub struct ActionFormat {
    bits_max: u32,
    length: Option<Arc<Length>>,
}

/// Returns the length of the action at the start of these bits.
type Length = dyn Fn(&[u8], u32) -> u32 + Send + Sync;

impl fmt::Debug for ActionFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.length.is_some() { "at most" } else { "exactly" };
        write!(f, "ActionFormat({kind} {} bits)", self.bits_max)
    }
}

impl ActionFormat {
    /// Every action has exactly this many bits, 1..=[`ACTION_BITS_MAX`](crate::ACTION_BITS_MAX), and all such bits are an action.
    #[must_use]
    pub fn fixed(bits: u32) -> Self {
        Self { bits_max: bits, length: None }
    }

    /// Actions have up to `bits_max` bits, 1..=[`ACTION_BITS_MAX`](crate::ACTION_BITS_MAX). `length` gets the next bits that are left, at most
    /// `bits_max` of them: the bytes, in which unused high bits of the last one are zero, and the number of bits. It returns the number of bits of the
    /// action at their start, 0 if none is there. The bits come from the network. The answer must depend on nothing but the bits of that action, so that
    /// every peer gives the same one.
    #[must_use]
    pub fn variable(bits_max: u32, length: impl Fn(&[u8], u32) -> u32 + Send + Sync + 'static) -> Self {
        Self { bits_max, length: Some(Arc::new(length)) }
    }

    /// Greatest number of bits of an action: [`Action::MAX_BITS`](crate::Action::MAX_BITS) of peers whose actions have a type.
    #[must_use]
    pub fn bits_max(&self) -> u32 {
        self.bits_max
    }

    /// The bits of the next action; none if what is left does not begin with one.
    pub(crate) fn next<'a>(&self, reader: &mut BitReader<'a>) -> Option<BitReader<'a>> {
        let most = self.bits_max.min(reader.bits_left());
        if most == 0 {
            return None;
        }
        let length = match &self.length {
            None => self.bits_max,
            Some(length) => {
                let mut bits = BitWriter::new();
                reader.clone().copy_to(&mut bits, most).ok()?;
                length(bits.bytes(), most)
            }
        };
        if length == 0 || length > most {
            return None;
        }
        reader.take(length).ok()
    }

    /// The number of actions; none if these are not at most `most` actions.
    pub(crate) fn count(&self, payload: &Payload, most: u32) -> Option<u32> {
        let mut reader = BitReader::with_bit_count(payload.bytes(), payload.bit_count());
        let mut actions = 0;
        while reader.bits_left() > 0 {
            self.next(&mut reader).filter(|_| actions < most)?;
            actions += 1;
        }
        Some(actions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_cut_where_actions_end() {
        // The first bit tells whether an action has 3 or 10 bits.
        let format = ActionFormat::variable(10, |bytes, _| if bytes[0] & 1 == 0 { 3 } else { 10 });
        let mut bits = BitWriter::new();
        for (value, width) in [(0b110, 3), (0b11_1111_0001, 10), (0b010, 3)] {
            bits.write_bits(value, width);
        }
        let payload = Payload::new(bits.bytes(), bits.bit_count());
        let mut reader = BitReader::with_bit_count(payload.bytes(), payload.bit_count());
        let mut next = || format.next(&mut reader).map(|mut bits| bits.read_bits(bits.bits_left()).unwrap());
        assert_eq!([next(), next(), next(), next()], [Some(0b110), Some(0b11_1111_0001), Some(0b010), None]);
        assert_eq!([2, 3].map(|most| format.count(&payload, most)), [None, Some(3)]);
        let cut_off = Payload::new(bits.bytes(), 15);
        assert_eq!(format.count(&cut_off, 9), None, "two bits are no action");
    }

    #[test]
    fn whatever_the_length_function_says_nothing_is_read_that_is_not_there() {
        let payload = Payload::new(&[0xff; 4], 32);
        for length in [0, 1, 8, 9, 32, u32::MAX] {
            let format = ActionFormat::variable(8, move |_, _| length);
            let expected =
                [(1, 32), (8, 4)].into_iter().find(|(bits, _)| *bits == length).map(|(_, count)| count);
            assert_eq!(format.count(&payload, 255), expected, "{length}");
        }
        assert_eq!(
            [8, 16, 12, 64, 0].map(|bits| ActionFormat::fixed(bits).count(&payload, 255)),
            [Some(4), Some(2), None, None, None]
        );
        assert_eq!(ActionFormat::fixed(0).count(&Payload::none(), 255), Some(0));
    }
}
