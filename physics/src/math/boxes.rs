//! Boxes in raw units, one or eight at a time.

/// Bodies per block and children per block above.
pub(crate) const LANES: usize = 8;

/// A lane without a body.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// An axis-aligned box in raw units; inclusive. An empty box has `min > max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawBox {
    pub(crate) min: [i32; 2],
    pub(crate) max: [i32; 2],
}

impl RawBox {
    pub(crate) const EMPTY: Self = Self { min: [i32::MAX; 2], max: [i32::MIN; 2] };

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.min[0] <= other.max[0]
            && other.min[0] <= self.max[0]
            && self.min[1] <= other.max[1]
            && other.min[1] <= self.max[1]
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

/// Eight boxes, coordinate by coordinate, so that one compare tests all of them.
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

    /// The lanes whose boxes overlap `area`, one bit each. Empty lanes never do: `area` must not span all of `i32`.
    #[inline(always)]
    pub(crate) fn overlapping(&self, area: &RawBox) -> u32 {
        let mut apart = [0i32; LANES];
        for (lane, apart) in apart.iter_mut().enumerate() {
            *apart = -i32::from(self.x0[lane] > area.max[0])
                | -i32::from(self.x1[lane] < area.min[0])
                | -i32::from(self.y0[lane] > area.max[1])
                | -i32::from(self.y1[lane] < area.min[1]);
        }
        // A compiler that sees both halves at once takes lanes apart and compares half of them one by one: twice the time.
        let apart = core::hint::black_box(apart);
        let lanes = apart.iter().enumerate().fold(0, |lanes, (lane, apart)| lanes | apart & 1 << lane);
        !lanes as u32 & ((1 << LANES) - 1)
    }

    /// The box around all lanes.
    pub(crate) fn bounds(&self) -> RawBox {
        let least = |values: &[i32; LANES]| values.iter().fold(i32::MAX, |least, &v| least.min(v));
        let greatest = |values: &[i32; LANES]| values.iter().fold(i32::MIN, |greatest, &v| greatest.max(v));
        RawBox { min: [least(&self.x0), least(&self.y0)], max: [greatest(&self.x1), greatest(&self.y1)] }
    }
}
