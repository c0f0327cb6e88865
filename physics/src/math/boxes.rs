//! Boxes in raw units, one or eight at a time.

use fearless_simd::prelude::*;
use fearless_simd::{i32x8, mask32x8};

/// Bodies per block, and children per inner block.
pub(crate) const LANES: usize = 8;

/// An axis-aligned box in raw units; inclusive. An empty box has `min > max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawBox {
    pub(crate) min: [i32; 2],
    pub(crate) max: [i32; 2],
}

impl RawBox {
    pub(crate) const EMPTY: Self = Self { min: [i32::MAX; 2], max: [i32::MIN; 2] };

    /// Without branches: in a search they would be predicted badly.
    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (self.min[0] <= other.max[0])
            & (other.min[0] <= self.max[0])
            & (self.min[1] <= other.max[1])
            & (other.min[1] <= self.max[1])
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self {
            min: [self.min[0].min(other.min[0]), self.min[1].min(other.min[1])],
            max: [self.max[0].max(other.max[0]), self.max[1].max(other.max[1])],
        }
    }

    /// Grown by `by` on every side (negative shrinks). Boxes of bodies lie within +-2^30 + 2^28, so any margin fits.
    pub(crate) fn grown(&self, by: i32) -> Self {
        Self {
            min: [self.min[0].wrapping_sub(by), self.min[1].wrapping_sub(by)],
            max: [self.max[0].wrapping_add(by), self.max[1].wrapping_add(by)],
        }
    }
}

/// Eight boxes stored by coordinate, so that one compare tests all of them.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct BoxBlock {
    pub(crate) x0: [i32; LANES],
    pub(crate) x1: [i32; LANES],
    pub(crate) y0: [i32; LANES],
    pub(crate) y1: [i32; LANES],
}

impl BoxBlock {
    pub(crate) const EMPTY: Self =
        Self { x0: [i32::MAX; LANES], x1: [i32::MIN; LANES], y0: [i32::MAX; LANES], y1: [i32::MIN; LANES] };

    pub(crate) fn set(&mut self, lane: usize, b: &RawBox) {
        (self.x0[lane], self.y0[lane]) = (b.min[0], b.min[1]);
        (self.x1[lane], self.y1[lane]) = (b.max[0], b.max[1]);
    }

    pub(crate) fn get(&self, lane: usize) -> RawBox {
        RawBox { min: [self.x0[lane], self.y0[lane]], max: [self.x1[lane], self.y1[lane]] }
    }

    /// The lanes whose boxes overlap `area`, one bit each. Empty lanes never overlap; `area` must not span all of `i32`.
    #[inline(always)]
    pub(crate) fn overlapping<S: Simd>(&self, simd: S, area: &RawBox) -> u32 {
        Lanes8::new(simd, self).overlapping(simd, area)
    }

    /// The box around all lanes.
    #[inline(always)]
    pub(crate) fn bounds<S: Simd>(&self, simd: S) -> RawBox {
        let lanes = Lanes8::new(simd, self);
        RawBox {
            min: [lanes.x0.reduce_min(), lanes.y0.reduce_min()],
            max: [lanes.x1.reduce_max(), lanes.y1.reduce_max()],
        }
    }
}

/// A block in registers.
#[derive(Clone, Copy)]
pub(crate) struct Lanes8<S: Simd> {
    x0: i32x8<S>,
    x1: i32x8<S>,
    y0: i32x8<S>,
    y1: i32x8<S>,
}

impl<S: Simd> Lanes8<S> {
    #[inline(always)]
    pub(crate) fn new(simd: S, boxes: &BoxBlock) -> Self {
        Self {
            x0: i32x8::load_array_ref(simd, &boxes.x0),
            x1: i32x8::load_array_ref(simd, &boxes.x1),
            y0: i32x8::load_array_ref(simd, &boxes.y0),
            y1: i32x8::load_array_ref(simd, &boxes.y1),
        }
    }

    /// See [`BoxBlock::overlapping`].
    #[inline(always)]
    pub(crate) fn overlapping(self, simd: S, area: &RawBox) -> u32 {
        let [min_x, min_y] = [i32x8::splat(simd, area.min[0]), i32x8::splat(simd, area.min[1])];
        let [max_x, max_y] = [i32x8::splat(simd, area.max[0]), i32x8::splat(simd, area.max[1])];
        let apart: mask32x8<S> =
            self.x0.simd_gt(max_x) | min_x.simd_gt(self.x1) | self.y0.simd_gt(max_y) | min_y.simd_gt(self.y1);
        !apart.to_bitmask() as u32 & ((1 << LANES) - 1)
    }
}
