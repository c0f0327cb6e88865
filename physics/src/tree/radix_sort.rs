//! A stable radix sort of packed (key, slot) pairs.

use alloc::vec::Vec;

/// Most bits per digit of the radix sort: the counters of one pass fit the first-level cache.
const DIGIT_BITS: u32 = 11;

/// Most values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;

/// With fewer items than this, comparing them costs less than counters.
const FEW: usize = 128;

/// Sorts by the upper 32 bits, of which only the lowest `key_bits` may be set. Items with equal keys must come in ascending order, and keep it.
#[inline(always)]
pub(crate) fn radix_sort(items: &mut Vec<u64>, scratch: &mut Vec<u64>, key_bits: u32) {
    if items.len() < FEW {
        return items.sort_unstable();
    }
    // Every element is written.
    scratch.resize(items.len(), 0);
    // As few passes as the digits allow, of as few counters as the passes allow: counters cost small worlds more than bodies.
    let passes = key_bits.div_ceil(DIGIT_BITS);
    let digit_bits = key_bits.div_ceil(passes.max(1));
    let values = 1 << digit_bits;
    let mut starts = [0u32; DIGITS];
    for pass in 0..passes {
        let shift = 32 + pass * digit_bits;
        // The second mask tells the compiler that the first one fits.
        let digit = |item: u64| (item >> shift) as usize & (values - 1) & (DIGITS - 1);
        starts[..values].fill(0);
        // As slices, whose addresses stay in registers.
        let (from, to) = (items.as_slice(), scratch.as_mut_slice());
        for &item in from {
            starts[digit(item)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts[..values] {
            sum += core::mem::replace(start, sum);
        }
        for &item in from {
            let start = &mut starts[digit(item)];
            to[*start as usize] = item;
            *start += 1;
        }
        core::mem::swap(items, scratch);
    }
}
