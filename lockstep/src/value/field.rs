//! What packets, states and saves are made of. A structure lists its fields once, for both directions.

use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::ids::{PlayerId, Turn};

/// A value with one encoding.
pub(crate) trait Field: Sized {
    fn write(&self, writer: &mut BitWriter);

    /// Reads what [`Field::write`] wrote. Total.
    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError>;
}

/// The fields of a structure, in their order on the wire.
macro_rules! fields {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::value::field::Field for $name {
            fn write(&self, writer: &mut $crate::value::bits::BitWriter) {
                $($crate::value::field::Field::write(&self.$field, writer);)*
            }

            fn read(
                reader: &mut $crate::value::bits::BitReader<'_>,
            ) -> Result<Self, $crate::value::bits::DecodeError> {
                Ok(Self { $($field: $crate::value::field::Field::read(reader)?),* })
            }
        }
    };
}

pub(crate) use fields;

/// Whole numbers in all their bits.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            fn write(&self, writer: &mut BitWriter) {
                writer.write_bits(u64::from(*self), Self::BITS);
            }

            fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
                Ok(reader.read_bits(Self::BITS)? as Self)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64);

/// The low half comes first.
impl Field for u128 {
    fn write(&self, writer: &mut BitWriter) {
        (*self as u64, (*self >> 64) as u64).write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (low, high) = <(u64, u64)>::read(reader)?;
        Ok(Self::from(low) | Self::from(high) << 64)
    }
}

impl Field for bool {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bool(*self);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        reader.read_bool()
    }
}

/// Four bits: there is no other player.
impl Field for PlayerId {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(u64::from(self.0), 4);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(reader.read_bits(4)? as u8))
    }
}

impl Field for Turn {
    fn write(&self, writer: &mut BitWriter) {
        self.0.write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(u32::read(reader)?))
    }
}

impl<const N: usize> Field for [u8; N] {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_slice(self, 8 * N as u32);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = u8::read(reader)?;
        }
        Ok(bytes)
    }
}

/// A bit that tells whether it is there, then the value.
impl<T: Field> Field for Option<T> {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bool(self.is_some());
        if let Some(value) = self {
            value.write(writer);
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        if reader.read_bool()? { T::read(reader).map(Some) } else { Ok(None) }
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn write(&self, writer: &mut BitWriter) {
        self.0.write(writer);
        self.1.write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok((A::read(reader)?, B::read(reader)?))
    }
}

impl<T: Field> Field for Box<T> {
    fn write(&self, writer: &mut BitWriter) {
        T::write(self, writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        T::read(reader).map(Box::new)
    }
}

/// So many bytes.
pub(crate) fn read_bytes(reader: &mut BitReader<'_>, length: u32) -> Result<Vec<u8>, DecodeError> {
    let mut part = reader.take(8 * length)?;
    (0..length).map(|_| u8::read(&mut part)).collect()
}
