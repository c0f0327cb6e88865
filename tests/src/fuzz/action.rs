//! The codec of bits and of actions.

use testudo_lockstep::{Action, BitReader, BitWriter};

use super::first;
use super::toy::Act;

/// Bits that decode to an action are the bits that the action encodes to, and nothing reads past the end.
pub fn action(bytes: &[u8]) {
    let Some((less, bytes)) = first(bytes) else { return };
    let bit_count = (bytes.len() as u32 * 8).saturating_sub(u32::from(less % 8));
    let mut reader = BitReader::with_bit_count(bytes, bit_count);
    while reader.bits_left() > 0 {
        let start = bit_count - reader.bits_left();
        let mut again = BitReader::with_bit_count(bytes, bit_count);
        skip(&mut again, start);
        let Ok(action) = Act::decode(&mut reader) else { return };
        let mut writer = BitWriter::new();
        action.encode(&mut writer);
        let used = bit_count - reader.bits_left() - start;
        assert!(used <= Act::MAX_BITS && writer.bit_count() == used, "{action:?}: {used} bits");
        let mut original = BitWriter::new();
        again.copy_to(&mut original, used).expect("they were there");
        assert_eq!(original.bytes(), writer.bytes(), "{action:?}");
    }
}

fn skip(reader: &mut BitReader<'_>, bits: u32) {
    for _ in 0..bits {
        reader.read_bool().expect("the bits are there");
    }
}

/// Some actions one after the other.
pub(super) fn action_seeds() -> Vec<Vec<u8>> {
    let mut writer = BitWriter::new();
    for act in
        [Act::Beat, Act::Push(-100), Act::Number(65_535), Act::Pair(9, 14), Act::Push(100), Act::Pair(0, 0)]
    {
        act.encode(&mut writer);
    }
    let spare = (writer.bytes().len() as u32 * 8 - writer.bit_count()) as u8;
    vec![[&[spare], writer.bytes()].concat()]
}
