//! The order of answers: sorts handles by slot.

use fearless_simd::i32x8;
use fearless_simd::prelude::*;

use crate::body::id::BodyId;
use crate::math::lanes::each;

/// Lists up to this length are sorted by counting.
const SHORT: usize = 128;

/// Number of handles whose positions are counted at a time: as many as registers hold.
const ROW: usize = 32;

/// Sorts handles of different slots. In a short list the position of each handle is the number of smaller ones. That takes more comparisons
/// than sorting, but no mispredicted branches, and it compares many at once.
#[inline(always)]
pub(crate) fn sort_by_slot<S: Simd>(simd: S, ids: &mut [BodyId]) {
    let count = ids.len();
    if count > SHORT {
        return sort_many(ids);
    }
    // Slots fit 31 bits (so do the lanes of trees), and the oldest SIMD instructions compare signed numbers only.
    let mut slots = [i32::MAX; SHORT];
    for (slot, id) in slots.iter_mut().zip(ids.iter()) {
        *slot = id.index as i32;
    }
    let (zero, minus_one) = (i32x8::splat(simd, 0), i32x8::splat(simd, -1));
    for (at, row) in slots.as_chunks::<ROW>().0.iter().enumerate().take(count.div_ceil(ROW)) {
        let eights = each([0, 8, 16, 24], |from| i32x8::from_slice(simd, &row[from..from + 8]));
        let mut places = [zero; ROW / 8];
        for &other in &slots[..count] {
            let other = i32x8::splat(simd, other);
            for (places, eight) in places.iter_mut().zip(eights) {
                *places -= other.simd_lt(eight).select(minus_one, zero);
            }
        }
        let places = each(places, |places| places.to_array());
        for (place, &slot) in places.as_flattened().iter().zip(row).take(count - at * ROW) {
            ids[*place as usize].index = slot as u32;
        }
    }
}

/// Compiled once, not for each instruction set.
fn sort_many(ids: &mut [BodyId]) {
    ids.sort_unstable_by_key(|id| id.index);
}
