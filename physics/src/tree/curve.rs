//! Hilbert curve: the order of bodies in the quadtree, as keys of the cells that contain their centres.

use alloc::vec::Vec;

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

/// A point, x in the low half and y in the high one.
pub(crate) type Centre = u64;

/// The centre at a point.
pub(crate) fn centre([x, y]: [i32; 2]) -> Centre {
    u64::from(x as u32) | u64::from(y as u32) << 32
}

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

/// Appends the curve key of the cell of each centre (upper half; two bits per level) with its slot (lower half). The centres lie in the root's square.
pub(crate) fn keys(grid: &Grid, centres: &[Centre], slots: &[u32], out: &mut Vec<u64>) {
    let origin = grid.origin.map(|corner| corner as u32);
    let cell = |offset: u32| (u64::from(offset) >> grid.cell_shift) as u32;
    out.extend(slots.iter().zip(centres).map(|(&slot, &centre)| {
        let x = cell((centre as u32).wrapping_sub(origin[0]));
        let y = cell(((centre >> 32) as u32).wrapping_sub(origin[1]));
        u64::from(hilbert_key(x, y, grid.depth)) << 32 | u64::from(slot)
    }));
}

/// Number of quadrants, from the root's children down, that two keys of `depth` levels share; `depth` if they are equal.
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
#[inline]
pub(crate) fn start(depth: u32) -> (u32, u32) {
    let levels = depth.next_multiple_of(STEP);
    (levels, levels & 1)
}

/// Position of a cell along the Hilbert curve in a grid of `depth` levels, at most 16: two bits per level.
#[inline]
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
