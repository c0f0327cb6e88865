//! The order of answers: sorts handles by slot.

use crate::body::id::BodyId;

/// Lists up to this length are sorted by counting.
const SHORT: usize = 128;

/// Number of elements that are compared at once.
const EIGHT: usize = 8;

/// Sorts handles of different slots. In a short list the position of each handle is the number of smaller ones. That takes more comparisons
/// than sorting, but no mispredicted branches, and it compares eight at a time.
#[inline(always)]
pub(crate) fn sort_by_slot(ids: &mut [BodyId]) {
    if ids.len() > SHORT {
        ids.sort_unstable_by_key(|id| id.index);
        return;
    }
    // Slots fit 31 bits (so do the lanes of trees), and the oldest SIMD instructions compare signed numbers only.
    let mut slots = [i32::MAX; SHORT];
    for (slot, id) in slots.iter_mut().zip(ids.iter()) {
        *slot = id.index as i32;
    }
    let rows = &slots[..ids.len().next_multiple_of(EIGHT)];
    for &slot in &slots[..ids.len()] {
        let place: u32 = rows.iter().map(|&other| u32::from(other < slot)).sum();
        ids[place as usize].index = slot as u32;
    }
}
