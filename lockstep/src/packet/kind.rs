//! The number at the start of each packet.

use crate::value::bits::{BitReader, BitWriter, DecodeError};

/// Bits of the number.
const BITS: u32 = 4;

/// From one list follow the variants, their numbers and the way back from a number, so none of them can lack a kind.
macro_rules! kinds {
    ($($name:ident = $number:literal,)*) => {
        /// Which packet it is: a variant of [`Packet`](super::Packet). Whoever matches on it is told by the compiler of a new kind.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Kind {
            $($name = $number,)*
        }

        impl Kind {
            fn of(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Hello = 0,
    Welcome = 1,
    Refuse = 2,
    Lobby = 3,
    Turns = 4,
    Bye = 5,
    Challenge = 6,
    Transfer = 7,
    Messages = 8,
}

impl Kind {
    /// What the bytes say, before their tag is checked.
    pub(crate) fn peek(bytes: &[u8]) -> Option<Self> {
        Self::read(&mut BitReader::new(bytes)).ok()
    }

    /// # Errors
    /// [`DecodeError::OutOfBits`], [`DecodeError::UnknownKind`].
    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let number = reader.read_bits(BITS)? as u8;
        Self::of(number).ok_or(DecodeError::UnknownKind(number))
    }

    pub(super) fn write(self, writer: &mut BitWriter) {
        writer.write_bits(self as u64, BITS);
    }
}
