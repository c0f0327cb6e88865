//! A stable radix sort of packed (key, slot) pairs.

use alloc::vec::Vec;

/// Bits per digit of the radix sort: the counters of one pass fit the first-level cache.
const DIGIT_BITS: u32 = 11;

/// Sorts by the upper 32 bits, of which only the lowest `key_bits` may be set; equal keys keep their order.
pub(crate) fn radix_sort(items: &mut Vec<u64>, scratch: &mut Vec<u64>, key_bits: u32) {
    scratch.clear();
    scratch.resize(items.len(), 0);
    let mut shift = 32;
    while shift < 32 + key_bits {
        let digit = |item: u64| (item >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut starts = [0u32; 1 << DIGIT_BITS];
        for &item in items.iter() {
            starts[digit(item)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += core::mem::replace(start, sum);
        }
        for &item in items.iter() {
            let start = &mut starts[digit(item)];
            scratch[*start as usize] = item;
            *start += 1;
        }
        core::mem::swap(items, scratch);
        shift += DIGIT_BITS;
    }
}
