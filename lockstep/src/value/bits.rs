//! Bit streams: the first bit written is the lowest bit of the first byte.
//!
//! The writer remembers a value that does not fit its bits, and gives no bytes then: whoever writes for others asks it ([`BitWriter::misfit`]). The reader gets
//! untrusted bytes from the network and returns errors.

use core::fmt;

/// Appends bits to a byte buffer.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    bit_count: u32,
    misfit: Option<Misfit>,
}

/// A value that does not fit the bits in which it was to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Misfit {
    /// The value.
    pub value: i128,
    /// Number of bits that it was to have.
    pub bits: u32,
    /// It was to be written by [`BitWriter::write_signed`].
    pub is_signed: bool,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, bits, is_signed } = self;
        match is_signed {
            true => write!(f, "{value} does not fit {bits} bits with a sign"),
            false if *value < 0 => {
                write!(f, "{value} is negative and does not fit {bits} bits without a sign: use write_signed")
            }
            false => write!(f, "{value} does not fit {bits} bits"),
        }
    }
}

/// Reads bits from a byte slice, never past its end.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    position: u32,
    end: u32,
}

/// Why bytes are not a valid encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// More bits are needed than are left.
    OutOfBits {
        /// Bits needed.
        wanted: u32,
        /// Bits left.
        left: u32,
    },
    /// A value is above its limit.
    OutOfRange {
        /// The value read.
        value: u64,
        /// The largest allowed value.
        max: u64,
    },
    /// The same content has a shorter or otherwise preferred encoding, or bits are left over.
    NotCanonical,
    /// The kind number is reserved.
    UnknownKind(u8),
    /// The packet's tag does not match: the packet is damaged, or from another session.
    WrongTag,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBits { wanted, left } => write!(f, "{wanted} bits are needed, {left} are left"),
            Self::OutOfRange { value, max } => write!(f, "value {value} is above {max}"),
            Self::NotCanonical => write!(f, "not the canonical encoding"),
            Self::UnknownKind(kind) => write!(f, "kind {kind} is unknown"),
            Self::WrongTag => {
                write!(f, "the tag does not match: the packet is damaged or from another session")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

impl BitWriter {
    /// An empty writer. It allocates at the first write; [`BitWriter::clear`] keeps the buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Clears the content and keeps the allocation.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bit_count = 0;
        self.misfit = None;
    }

    /// Bits written so far.
    #[must_use]
    pub fn bit_count(&self) -> u32 {
        self.bit_count
    }

    /// The bytes; unused high bits of the last one are zero.
    ///
    /// # Panics
    /// If a value did not fit: what is written is not what was meant. [`BitWriter::misfit`] says so before.
    #[must_use]
    #[track_caller]
    pub fn bytes(&self) -> &[u8] {
        if let Some(misfit) = &self.misfit {
            panic!("{misfit}");
        }
        &self.bytes
    }

    /// The first value that did not fit its bits. Nobody gets the bytes then: an order that writes such a value is refused
    /// ([`SubmitError::DoesNotFit`](crate::SubmitError::DoesNotFit)).
    #[must_use]
    pub fn misfit(&self) -> Option<Misfit> {
        self.misfit
    }

    /// Writes `value` in `width` bits. One that needs more is remembered ([`BitWriter::misfit`]). For signed numbers use [`BitWriter::write_signed`].
    ///
    /// # Panics
    /// If `width` is above 64.
    #[track_caller]
    pub fn write_bits(&mut self, value: u64, width: u32) {
        assert!(width <= 64, "{width} bits at once, 64 are possible");
        if width < 64 && value >> width != 0 {
            self.note_unsigned(value, width);
            return self.write_bits(value & ((1 << width) - 1), width);
        }
        let used = self.bit_count & 7;
        // Up to 71 bits, with room for those that the last byte holds already. Eight bytes are appended, and those too many taken away: faster than to
        // append as many as are needed.
        let bytes = (u128::from(value) << used).to_le_bytes();
        match self.bytes.last_mut() {
            Some(last) if used != 0 => {
                *last |= bytes[0];
                self.bytes.extend_from_slice(&bytes[1..9]);
            }
            _ => self.bytes.extend_from_slice(&bytes[..8]),
        }
        self.bit_count += width;
        self.bytes.truncate(self.bit_count.div_ceil(8) as usize);
    }

    /// Writes a signed number in two's complement. One that is not within -2^(`width` - 1)..2^(`width` - 1) is remembered ([`BitWriter::misfit`]).
    ///
    /// # Panics
    /// If `width` is not 1..=64.
    #[track_caller]
    pub fn write_signed(&mut self, value: i64, width: u32) {
        assert!((1..=64).contains(&width), "a signed number of {width} bits, 1 to 64 are possible");
        let unused = 64 - width;
        if value << unused >> unused != value {
            self.misfit.get_or_insert(Misfit { value: value.into(), bits: width, is_signed: true });
        }
        self.write_bits((value as u64) << unused >> unused, width);
    }

    /// Writes one bit.
    pub fn write_bool(&mut self, value: bool) {
        self.write_bits(u64::from(value), 1);
    }

    /// Writes a number in Exp-Golomb code of order `order`: short for numbers around 2^`order`, possible for all.
    ///
    /// With `q = (value >> order) + 1` having `n` bits: `n - 1` zero bits, then a one bit, then the low `n - 1` bits of
    /// `q`, then the low `order` bits of `value`.
    ///
    /// # Panics
    /// If `order` is above 31.
    pub fn write_golomb(&mut self, value: u32, order: u32) {
        let high = (u64::from(value) >> order) + 1;
        let extra = 63 - high.leading_zeros();
        self.write_bits(0, extra);
        self.write_bits(1, 1);
        self.write_bits(high - (1 << extra), extra);
        self.write_bits(u64::from(value) & ((1 << order) - 1), order);
    }

    /// Writes a signed number in Exp-Golomb code, mapped 0, -1, 1, -2, 2, ... to 0, 1, 2, 3, 4, ...
    pub fn write_golomb_signed(&mut self, value: i32, order: u32) {
        self.write_golomb(((value << 1) ^ (value >> 31)) as u32, order);
    }

    /// Appends the first `bit_count` bits of `bytes`.
    ///
    /// # Panics
    /// If `bytes` holds fewer bits.
    pub fn write_slice(&mut self, bytes: &[u8], bit_count: u32) {
        assert!(
            bytes.len() as u64 * 8 >= u64::from(bit_count),
            "{bit_count} bits from {} bytes",
            bytes.len()
        );
        let mut left = bit_count;
        for chunk in bytes[..bit_count.div_ceil(8) as usize].chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let take = left.min(64);
            let unused = 64 - take;
            self.write_bits(u64::from_le_bytes(word) << unused >> unused, take);
            left -= take;
        }
    }

    /// A small negative number that was cast is named as such.
    #[cold]
    fn note_unsigned(&mut self, value: u64, bits: u32) {
        let is_small = (i64::from(i32::MIN)..0).contains(&(value as i64));
        let value = if is_small { i128::from(value as i64) } else { value.into() };
        self.misfit.get_or_insert(Misfit { value, bits, is_signed: false });
    }
}

/// Bits that [`BitWriter::write_golomb`] writes for this number.
#[must_use]
pub fn golomb_bits(value: u32, order: u32) -> u32 {
    let high = (u64::from(value) >> order) + 1;
    2 * (63 - high.leading_zeros()) + 1 + order
}

/// Bits that [`BitWriter::write_golomb_signed`] writes for this number.
pub(crate) fn golomb_signed_bits(value: i32, order: u32) -> u32 {
    golomb_bits(((value << 1) ^ (value >> 31)) as u32, order)
}

impl<'a> BitReader<'a> {
    /// Reads all bits of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        let end = u32::try_from(bytes.len() * 8).unwrap_or(u32::MAX);
        Self { bytes, position: 0, end }
    }

    /// Reads the first `bit_count` bits of `bytes` (all of them if there are fewer).
    #[must_use]
    pub fn with_bit_count(bytes: &'a [u8], bit_count: u32) -> Self {
        let mut reader = Self::new(bytes);
        reader.end = reader.end.min(bit_count);
        reader
    }

    /// Bits not read yet.
    #[must_use]
    pub fn bits_left(&self) -> u32 {
        self.end - self.position
    }

    /// Reads `width` bits, at most 64.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`] if fewer are left; nothing is consumed then.
    pub fn read_bits(&mut self, width: u32) -> Result<u64, DecodeError> {
        if width > self.bits_left() || width > 64 {
            return Err(DecodeError::OutOfBits { wanted: width, left: self.bits_left() });
        }
        let (mut value, mut done) = (0_u64, 0);
        while done < width {
            let used = self.position & 7;
            let take = (width - done).min(8 - used);
            let byte = u64::from(self.bytes[(self.position >> 3) as usize]);
            value |= ((byte >> used) & ((1 << take) - 1)) << done;
            self.position += take;
            done += take;
        }
        Ok(value)
    }

    /// Reads a number written by [`BitWriter::write_signed`], 1..=64 bits.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`] if fewer are left, or `width` is out of range; nothing is consumed then.
    pub fn read_signed(&mut self, width: u32) -> Result<i64, DecodeError> {
        if width == 0 {
            return Err(DecodeError::OutOfBits { wanted: 0, left: self.bits_left() });
        }
        let unused = 64_u32.saturating_sub(width);
        Ok((self.read_bits(width)? as i64) << unused >> unused)
    }

    /// Reads one bit.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`] if none is left.
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.read_bits(1)? != 0)
    }

    /// Reads `width` bits and checks the value against `max`.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`], [`DecodeError::OutOfRange`].
    pub fn read_max(&mut self, width: u32, max: u64) -> Result<u64, DecodeError> {
        let value = self.read_bits(width)?;
        if value > max { Err(DecodeError::OutOfRange { value, max }) } else { Ok(value) }
    }

    /// Reads a number written by [`BitWriter::write_golomb`] and checks it against `max`.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`], [`DecodeError::OutOfRange`].
    pub fn read_golomb(&mut self, order: u32, max: u32) -> Result<u32, DecodeError> {
        let mut extra = 0;
        while !self.read_bool()? {
            extra += 1;
            if extra > 32 {
                return Err(DecodeError::OutOfRange { value: u64::MAX, max: u64::from(max) });
            }
        }
        let high = (1_u64 << extra) + self.read_bits(extra)? - 1;
        let low = self.read_bits(order)?;
        let value = (u128::from(high) << order) | u128::from(low);
        match u32::try_from(value) {
            Ok(value) if value <= max => Ok(value),
            _ => Err(DecodeError::OutOfRange {
                value: u64::try_from(value).unwrap_or(u64::MAX),
                max: u64::from(max),
            }),
        }
    }

    /// Reads a number written by [`BitWriter::write_golomb_signed`].
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`], [`DecodeError::OutOfRange`].
    pub fn read_golomb_signed(&mut self, order: u32) -> Result<i32, DecodeError> {
        let mapped = self.read_golomb(order, u32::MAX)?;
        Ok(((mapped >> 1) as i32) ^ -((mapped & 1) as i32))
    }

    /// A reader of the next `bit_count` bits alone; this one continues after them.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`] if fewer are left; nothing is consumed then.
    pub fn take(&mut self, bit_count: u32) -> Result<Self, DecodeError> {
        if bit_count > self.bits_left() {
            return Err(DecodeError::OutOfBits { wanted: bit_count, left: self.bits_left() });
        }
        let end = self.position + bit_count;
        let taken = Self { end, ..*self };
        self.position = end;
        Ok(taken)
    }

    /// Appends the next `bit_count` bits to `out`.
    ///
    /// # Errors
    /// [`DecodeError::OutOfBits`] if fewer are left; nothing is consumed then.
    pub fn copy_to(&mut self, out: &mut BitWriter, bit_count: u32) -> Result<(), DecodeError> {
        if bit_count > self.bits_left() {
            return Err(DecodeError::OutOfBits { wanted: bit_count, left: self.bits_left() });
        }
        let mut left = bit_count;
        while left > 0 {
            let take = left.min(64);
            out.write_bits(self.read_bits(take)?, take);
            left -= take;
        }
        Ok(())
    }

    /// Checks that nothing is left but zero bits that pad the last byte.
    ///
    /// # Errors
    /// [`DecodeError::NotCanonical`] if a byte or a set bit is left.
    pub fn finish(mut self) -> Result<(), DecodeError> {
        let left = self.bits_left();
        if left >= 8 || self.read_bits(left)? != 0 { Err(DecodeError::NotCanonical) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn first_bit_is_the_lowest_of_the_first_byte() {
        let mut writer = BitWriter::new();
        writer.write_bool(true);
        writer.write_bits(0b101, 3);
        writer.write_bits(0xabc, 12);
        assert_eq!(writer.bytes(), [0b1100_1011, 0b1010_1011]);
        assert_eq!(writer.bit_count(), 16);
    }

    #[test]
    fn golomb_lengths_of_small_numbers() {
        for (value, order, bits) in
            [(0, 0, 1), (1, 0, 3), (2, 0, 3), (3, 0, 5), (7, 3, 4), (8, 3, 6), (0, 16, 17)]
        {
            let mut writer = BitWriter::new();
            writer.write_golomb(value, order);
            assert_eq!(writer.bit_count(), bits, "{value} order {order}");
            assert_eq!(golomb_bits(value, order), bits);
        }
    }

    #[test]
    fn signed_numbers_keep_their_sign() {
        for width in [1, 2, 7, 8, 11, 33, 64] {
            let (min, max) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
            let mut writer = BitWriter::new();
            for value in [min, -1, 0, max] {
                writer.write_signed(value, width);
            }
            let mut reader = BitReader::new(writer.bytes());
            for value in [min, -1, 0, max] {
                assert_eq!(reader.read_signed(width), Ok(value), "{width} bits");
            }
            assert_eq!(reader.finish(), Ok(()));
        }
    }

    #[test]
    #[should_panic(expected = "-100 is negative and does not fit 11 bits without a sign: use write_signed")]
    fn a_negative_number_in_an_unsigned_field_is_told_how_to_be_written() {
        let mut writer = BitWriter::new();
        writer.write_bits(-100_i64 as u64, 11);
        let _ = writer.bytes();
    }

    #[test]
    #[should_panic(expected = "1024 does not fit 11 bits with a sign")]
    fn a_signed_number_that_does_not_fit_is_refused() {
        let mut writer = BitWriter::new();
        writer.write_signed(1_024, 11);
        let _ = writer.bytes();
    }

    #[test]
    fn the_first_value_that_does_not_fit_is_remembered_until_the_writer_is_cleared() {
        let mut writer = BitWriter::new();
        writer.write_bits(u64::MAX, 64);
        assert_eq!(writer.misfit(), None);
        writer.write_bits(4, 2);
        writer.write_signed(-129, 8);
        writer.write_bits(3, 2);
        let misfit = Misfit { value: 4, bits: 2, is_signed: false };
        assert_eq!((writer.misfit(), writer.bit_count()), (Some(misfit), 64 + 2 + 8 + 2));
        writer.clear();
        writer.write_bits(u64::MAX, 63);
        assert_eq!(writer.misfit().map(|misfit| misfit.value), Some(-1), "that is what it was, most likely");
        writer.clear();
        writer.write_bits(1 << 63, 63);
        assert_eq!(writer.misfit().map(|misfit| misfit.value), Some(1 << 63));
        writer.clear();
        writer.write_signed(-129, 8);
        assert_eq!(writer.misfit(), Some(Misfit { value: -129, bits: 8, is_signed: true }));
        writer.clear();
        assert_eq!((writer.misfit(), writer.bytes()), (None, &[][..]));
    }

    #[test]
    fn leftovers_are_not_canonical() {
        let mut reader = BitReader::new(&[0b0000_0001, 0]);
        reader.read_bits(1).unwrap();
        assert_eq!(reader.finish(), Err(DecodeError::NotCanonical), "a whole byte is left");
        let mut reader = BitReader::new(&[0b1000_0000]);
        reader.read_bits(3).unwrap();
        assert_eq!(reader.finish(), Err(DecodeError::NotCanonical), "a set bit is left");
    }
}
