//! Numbers of QUIC (RFC 9000, section 16): the upper two bits of the first byte give the length.

pub(super) fn put_number(bytes: &mut Vec<u8>, number: u64) {
    match number {
        0..0x40 => bytes.push(number as u8),
        0x40..0x4000 => bytes.extend_from_slice(&(number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => bytes.extend_from_slice(&(number as u32 | 0x8000_0000).to_be_bytes()),
        _ => bytes.extend_from_slice(&(number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// The number at the beginning, and what follows it.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let first = *bytes.first()?;
    let (head, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let tail = head[1..].iter().fold(u64::from(first & 0x3f), |number, byte| number << 8 | u64::from(*byte));
    Some((tail, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000, appendix A.1, and the ends of the ranges.
    #[test]
    fn numbers_are_those_of_quic() {
        let examples: [(u64, &[u8]); 4] = [
            (151_288_809_941_952_652, &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
            (494_878_333, &[0x9d, 0x7f, 0x3e, 0x7d]),
            (15_293, &[0x7b, 0xbd]),
            (37, &[0x25]),
        ];
        for (value, written) in examples {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value);
            assert_eq!(bytes, written);
            assert_eq!(number(written), Some((value, &[][..])));
            assert_eq!(number(&written[..written.len() - 1]), None);
        }
        assert_eq!(number(&[0x40, 0x25, 7]), Some((37, &[7][..])), "longer than necessary");
        for value in [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, (1 << 60) - 1] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value);
            assert_eq!(number(&bytes), Some((value, &[][..])));
        }
    }
}
