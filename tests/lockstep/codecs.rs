//! What is not a packet: numbers of bits, join codes, agreements. What is written is read again; any bytes are read to an error or to the same
//! bytes.

use std::net::{IpAddr, SocketAddr};

use proptest::prelude::*;
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::{ADDRESSES_MAX, JoinCode, JoinCodeError};
use testudo_lockstep::{BitReader, BitWriter, Duration, SessionConfig};

fn codes() -> impl Strategy<Value = JoinCode> {
    let address = (any::<IpAddr>(), any::<u16>()).prop_map(|(ip, port)| SocketAddr::new(ip, port));
    let addresses = prop::collection::vec(address, 1..=ADDRESSES_MAX);
    (addresses, any::<[u8; 32]>(), any::<[u8; 16]>())
        .prop_map(|(addresses, hash, secret)| JoinCode::new(&addresses, hash, secret).unwrap())
}

proptest! {
    #[test]
    fn numbers_are_read_as_they_were_written(values in prop::collection::vec((any::<u32>(), 0_u32..20), 0..50)) {
        let mut writer = BitWriter::new();
        for &(value, order) in &values {
            writer.write_golomb(value, order);
            writer.write_golomb_signed(value as i32, order);
            writer.write_bits(u64::from(value), 32);
        }
        let mut reader = BitReader::new(writer.bytes());
        for &(value, order) in &values {
            prop_assert_eq!(reader.read_golomb(order, u32::MAX), Ok(value));
            prop_assert_eq!(reader.read_golomb_signed(order), Ok(value as i32));
            prop_assert_eq!(reader.read_bits(32), Ok(u64::from(value)));
        }
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    /// Bit by bit, as the format says: the first one is the lowest of the first byte.
    #[test]
    fn bytes_hold_the_bits_in_the_order_of_writing(
        parts in prop::collection::vec((any::<u64>(), 0_u32..=64, prop::collection::vec(any::<u8>(), 0..30), 0_u32..8), 0..20),
        skipped in 0_u32..100,
    ) {
        let (mut writer, mut bits) = (BitWriter::new(), Vec::new());
        for (value, width, slice, cut) in parts {
            let value = if width == 64 { value } else { value & ((1 << width) - 1) };
            writer.write_bits(value, width);
            bits.extend((0..width).map(|at| value >> at & 1));
            let length = (8 * slice.len() as u32).saturating_sub(cut);
            writer.write_slice(&slice, length);
            bits.extend((0..length).map(|at| u64::from(slice[at as usize / 8] >> (at % 8) & 1)));
        }
        prop_assert_eq!(writer.bit_count() as usize, bits.len());
        prop_assert_eq!(writer.bytes().len(), bits.len().div_ceil(8));
        let mut reader = BitReader::new(writer.bytes());
        for bit in &bits {
            prop_assert_eq!(reader.read_bits(1), Ok(*bit));
        }
        prop_assert_eq!(reader.finish(), Ok(()));
        // From any bit on, to any bit.
        let skipped = skipped.min(writer.bit_count());
        let (mut rest, mut copy) = (BitReader::new(writer.bytes()), BitWriter::new());
        rest.take(skipped).unwrap();
        copy.write_bits(1, 1);
        rest.copy_to(&mut copy, writer.bit_count() - skipped).unwrap();
        let mut copied = BitReader::new(copy.bytes());
        prop_assert_eq!(copied.read_bits(1), Ok(1));
        for bit in &bits[skipped as usize..] {
            prop_assert_eq!(copied.read_bits(1), Ok(*bit));
        }
    }

    #[test]
    fn any_bytes_are_numbers_or_an_end(bytes in prop::collection::vec(any::<u8>(), 0..40), order in 0_u32..32) {
        let mut reader = BitReader::new(&bytes);
        while reader.read_golomb(order, u32::MAX).is_ok() {}
        let mut reader = BitReader::new(&bytes);
        while reader.read_bits(7).is_ok() {}
        prop_assert!(reader.bits_left() < 7);
    }

    #[test]
    fn a_join_code_is_read_as_it_was_written(code in codes(), width in 1_usize..40) {
        let text = code.to_string();
        prop_assert!((96..=207).contains(&text.len()), "{} characters", text.len());
        prop_assert!(text.chars().all(|character| character.is_ascii_digit() || character.is_ascii_uppercase()));
        prop_assert_eq!(text.parse::<JoinCode>(), Ok(code.clone()));
        let careless = text.to_lowercase().replace('0', "o").replace('1', "l");
        prop_assert_eq!(careless.parse::<JoinCode>(), Ok(code.clone()));
        let lines: Vec<&str> = text.as_bytes().chunks(width).map(|line| core::str::from_utf8(line).unwrap()).collect();
        prop_assert_eq!(format!(" {}\r\n", lines.join("\n")).parse::<JoinCode>(), Ok(code));
    }

    #[test]
    fn damage_of_a_join_code_is_named(code in codes(), at in any::<prop::sample::Index>(), by in 1_u8..32) {
        const SYMBOLS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let text = code.to_string();
        let at = at.index(text.len());
        let mut changed = text.clone().into_bytes();
        let place = SYMBOLS.iter().position(|symbol| *symbol == changed[at]).unwrap();
        changed[at] = SYMBOLS[(place + usize::from(by)) % 32];
        let changed = String::from_utf8(changed).unwrap();
        prop_assert_eq!(changed.parse::<JoinCode>(), Err(JoinCodeError::Damaged));
        prop_assert_eq!(text[..at].parse::<JoinCode>(), Err(JoinCodeError::Damaged));
        let with_one_more = format!("{}{}{}", &text[..at], "7", &text[at..]);
        prop_assert!(with_one_more.parse::<JoinCode>().is_err());
    }

    #[test]
    fn any_text_can_be_read_as_a_join_code(text in any::<String>()) {
        prop_assert!(text.parse::<JoinCode>().is_err());
    }

    #[test]
    fn an_agreement_of_any_bytes_is_refused_or_written_the_same_again(
        flips in prop::collection::vec(any::<u16>(), 0..5),
        cut in 0_usize..4,
    ) {
        let config = SessionConfig::new(3).turns(900).late_joins(Duration::from_secs(5));
        let mut bytes = Agreement::with_action_bits(&config, 9, b"abc").unwrap().to_bytes();
        bytes.truncate(bytes.len() - cut);
        for flip in flips {
            let bit = usize::from(flip) % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if let Ok(agreement) = Agreement::read(&bytes) {
            prop_assert_eq!(agreement.to_bytes(), bytes);
        }
    }
}
