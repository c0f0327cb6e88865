//! Hilbert curve: the order of bodies in the quadtree, as keys of the cells that contain their centres.

use alloc::vec::Vec;

use fearless_simd::prelude::*;
use fearless_simd::u32x16;

use crate::body::slot::Slot;
use crate::math::lanes::each;

/// Levels of the curve: 15 levels of two bits fit the 32-bit key with the depth counted from the root.
pub(crate) const DEPTH_LIMIT: u32 = 15;

/// The square that the root covers, and the size of its smallest cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Lower corner of the root, raw units.
    pub(crate) origin: [i32; 2],
    /// Side of the smallest cell is `1 << cell_shift` raw units.
    pub(crate) cell_shift: u32,
    /// Levels below the root: the root's side is `1 << (cell_shift + depth)`.
    pub(crate) depth: u32,
}

/// Number of keys that are computed at a time: each level waits for the one above it, so that two registers of 256 bits take as long as one.
const MANY: usize = 16;

/// A root of a single cell may be larger than a shift can tell. Then no bit of the cell counts.
const SHIFT_MAX: u32 = u32::BITS - 1;

/// A point, x before y in memory.
pub(crate) type Centre = u64;

impl Grid {
    /// The square of the quadrant at `depth` that contains the cell of `key`: lower corner and side, raw units.
    pub(crate) fn quadrant(&self, key: u32, depth: u32) -> ([i64; 2], i64) {
        let (x, y) = hilbert_cell(key);
        let below = self.depth - depth;
        let corner = |cell: u32, axis: usize| {
            i64::from(self.origin[axis]) + (i64::from(cell >> below) << (below + self.cell_shift))
        };
        ([corner(x, 0), corner(y, 1)], 1i64 << (below + self.cell_shift))
    }
}

/// Replaces `out` by the curve key of the cell of each centre (upper half; two bits per level) with its slot (lower half). The centres lie
/// in the root's square.
#[inline(always)]
pub(crate) fn keys<S: Simd>(simd: S, grid: &Grid, centres: &[Centre], slots: &[Slot], out: &mut Vec<u64>) {
    // Every element is written.
    out.resize(slots.len(), 0);
    // There may be room behind the centres.
    let (centres, rest_centres) = centres[..slots.len()].as_chunks::<MANY>();
    let (slots, rest_slots) = slots.as_chunks::<MANY>();
    let (out, rest) = out.as_chunks_mut::<MANY>();
    for ((out, centres), slots) in out.iter_mut().zip(centres).zip(slots) {
        *out = keys_of_many(simd, grid, centres, slots);
    }
    for ((out, centre), slot) in rest.iter_mut().zip(rest_centres).zip(rest_slots) {
        *out = key_of(grid, *centre, *slot);
    }
}

/// Curve key of a centre's cell with its slot.
#[inline(always)]
fn key_of(grid: &Grid, centre: Centre, slot: Slot) -> u64 {
    let centre: [u32; 2] = bytemuck::cast(centre);
    let shift = grid.cell_shift.min(SHIFT_MAX);
    let [x, y] = each([0, 1], |axis: usize| centre[axis].wrapping_sub(grid.origin[axis] as u32) >> shift);
    u64::from(hilbert_key(x, y, grid.depth)) << 32 | u64::from(slot.0)
}

/// [`key_of`] many centres.
#[inline(always)]
fn keys_of_many<S: Simd>(
    simd: S,
    grid: &Grid,
    centres: &[Centre; MANY],
    slots: &[Slot; MANY],
) -> [u64; MANY] {
    let mut packed = [0; MANY];
    // Where lanes are one number at a time, the table is faster.
    if simd.level().is_fallback() {
        for lane in 0..MANY {
            packed[lane] = key_of(grid, centres[lane], slots[lane]);
        }
        return packed;
    }
    let [low, high]: [[u32; MANY]; 2] = bytemuck::cast(*centres);
    let (x, y) = u32x16::load_array(simd, low).deinterleave(u32x16::load_array(simd, high));
    let (shift, [left, bottom]) = (grid.cell_shift.min(SHIFT_MAX), grid.origin);
    let keys = hilbert_keys(simd, (x - left as u32) >> shift, (y - bottom as u32) >> shift, grid.depth);
    let keys = keys.to_array();
    for lane in 0..MANY {
        packed[lane] = u64::from(keys[lane]) << 32 | u64::from(slots[lane].0);
    }
    packed
}

/// Number of quadrants, from the root's children down, that two keys of `depth` levels share; `depth` if they are equal.
#[inline(always)]
pub(crate) fn shared_depth(a: u32, b: u32, depth: u32) -> u32 {
    let differing_bits = u32::BITS - (a ^ b).leading_zeros();
    depth - differing_bits.div_ceil(2)
}

/// Curve digit of a quadrant (x bit, y bit) for each of the four orientations of the curve.
/// Orientation bit 0 swaps the axes, bit 1 inverts both. The construction is the usual one for the Hilbert curve.
const DIGIT: [[u8; 4]; 4] = [[0, 1, 3, 2], [0, 3, 1, 2], [2, 3, 1, 0], [2, 1, 3, 0]];
/// Change of orientation on entering the quadrant with that digit.
const TURN: [u8; 4] = [1, 0, 0, 3];

/// Levels per look-up. The table for five levels takes 8 kB of the first-level cache, and worlds of ten levels need no third look-up.
pub(crate) const STEP: u32 = 5;

/// `orientation << 2 * STEP | x bits << STEP | y bits` -> key digits << 2 | next orientation. Three more elements, so that 64 bits can be
/// read anywhere.
pub(crate) static LEVELS: [u16; (4 << (2 * STEP)) + 3] = levels();

const fn levels() -> [u16; (4 << (2 * STEP)) + 3] {
    let mut table = [0; (4 << (2 * STEP)) + 3];
    let mut entry = 0;
    while entry < 4 << (2 * STEP) {
        let (x, y) = (entry >> STEP, entry);
        let mut orientation = entry >> (2 * STEP);
        let mut key = 0;
        let mut bit = STEP;
        while bit > 0 {
            bit -= 1;
            let quadrant = ((x >> bit) & 1) << 1 | ((y >> bit) & 1);
            let digit = DIGIT[orientation][quadrant];
            key = key << 2 | digit as u16;
            orientation ^= TURN[digit as usize] as usize;
        }
        table[entry] = key << 2 | orientation as u16;
        entry += 1;
    }
    table
}

/// Mask of a cell's bits for one look-up.
pub(crate) const STEP_BITS: u32 = (1 << STEP) - 1;

/// Number of levels to look up, a multiple of [`STEP`], and the initial orientation. Each leading zero level gives a leading zero digit and
/// swaps the axes: the curve is that of 16 levels.
#[inline(always)]
pub(crate) fn start(depth: u32) -> (u32, u32) {
    let levels = depth.next_multiple_of(STEP);
    (levels, levels & 1)
}

/// Position of a cell along the Hilbert curve in a grid of `depth` levels, at most 16: two bits per level.
#[inline(always)]
fn hilbert_key(x: u32, y: u32, depth: u32) -> u32 {
    let (mut shift, mut orientation) = start(depth);
    let mut key = 0;
    while shift > 0 {
        shift -= STEP;
        let at = orientation << (2 * STEP) | (x >> shift & STEP_BITS) << STEP | (y >> shift & STEP_BITS);
        let entry = LEVELS[at as usize];
        key = key << (2 * STEP) | u32::from(entry >> 2);
        orientation = u32::from(entry & 3);
    }
    key
}

/// [`hilbert_key`] of many cells without a table: ten operations per level on all of them.
///
/// Seen in the curve's orientation, the quadrant (x, y) of a level is (x', y'), and its digit is x' and x' ^ y' as bits. Axes that are swapped or
/// inverted, both of them, leave x ^ y as it is. Digit 0 swaps the axes of the levels below, digit 3 swaps and inverts them: where y' is
/// 0, `swapped` changes, and `inverted` changes by x', which is x ^ y there.
#[inline(always)]
fn hilbert_keys<S: Simd>(simd: S, x: u32x16<S>, y: u32x16<S>, depth: u32) -> u32x16<S> {
    let (differ, not_y) = (x ^ y, !y);
    // In each of these, only the bit of the present level counts.
    let swapped_at_first = if depth.is_multiple_of(2) { 0 } else { u32::MAX };
    let mut swapped = u32x16::splat(simd, swapped_at_first);
    let mut inverted = u32x16::splat(simd, 0);
    // All levels' bits of !y'.
    let mut lower = u32x16::splat(simd, 0);
    for level in (0..depth).rev() {
        let low = not_y ^ inverted ^ (swapped & differ);
        lower |= low & (1 << level);
        inverted = (inverted ^ (differ & low)) >> 1;
        swapped = (swapped ^ low) >> 1;
    }
    let cells = (1 << depth) - 1;
    spread(!(lower ^ differ) & cells) << 1 | spread(differ & cells)
}

/// Moves bit `n` to bit `2 n`, for the lower 16 bits.
#[inline(always)]
fn spread<S: Simd>(bits: u32x16<S>) -> u32x16<S> {
    let bits = (bits | bits << 8) & 0x00ff_00ff;
    let bits = (bits | bits << 4) & 0x0f0f_0f0f;
    let bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// The inverse of [`hilbert_key`].
fn hilbert_cell(key: u32) -> (u32, u32) {
    let (mut x, mut y) = (0, 0);
    let mut orientation = 0usize;
    for level in (0..16).rev() {
        let digit = (key >> (2 * level) & 3) as u8;
        let quadrant = DIGIT[orientation].iter().position(|&d| d == digit).unwrap_or(0) as u32;
        x = x << 1 | quadrant >> 1;
        y = y << 1 | quadrant & 1;
        orientation ^= usize::from(TURN[usize::from(digit)]);
    }
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_neighbouring_cells() {
        for key in 0..4095 {
            let ((x, y), (u, v)) = (hilbert_cell(key), hilbert_cell(key + 1));
            assert_eq!(x.abs_diff(u) + y.abs_diff(v), 1, "cells {key} and {} are neighbours", key + 1);
            assert_eq!(hilbert_key(x, y, 16), key);
            assert_eq!(hilbert_key(x, y, 6), key, "leading levels change nothing");
        }
    }
}
