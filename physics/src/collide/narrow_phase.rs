//! Narrow phase: how far two shapes are apart, and in which direction.
//!
//! Every shape is a *rounded box*: a core box (`half` extents, zero for a circle) grown by a `radius` (zero for a
//! rectangle). For two of them the Minkowski sum is a rounded box again, so one formula covers all three pairings:
//!
//! * circle-circle: both cores are points, the distance is the one between the centres;
//! * rectangle-circle: the nearest point of the core to the centre, a face or a corner; a centre inside leaves
//!   through the nearest face;
//! * rectangle-rectangle: the gap along the axis of least overlap, or between two corners.
//!
//! Source: the signed distance of a rounded box (I. Quilez, *2D distance functions*), in integers.

use alloc::vec::Vec;
use core::ops::Range;

use crate::body::record::Shell;
use crate::math::boxes::LANES;
pub(crate) use crate::math::lanes::{UNIT, UNIT_BITS};
use crate::tree::block_join::IndexPair;

/// Where two bodies touch or nearly touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manifold {
    /// Unit normal from the first body to the second, 30 fraction bits.
    pub(crate) normal: [i32; 2],
    /// Distance between the surfaces, raw units; negative when they overlap.
    pub(crate) gap: i32,
}

/// A pair of working bodies that touch or nearly touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) normal: [i32; 2],
    pub(crate) gap: i32,
}

/// Hits field by field, so that wide registers write eight at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    // not state: how many of the elements below count
    pub(crate) len: usize,
    pub(crate) pairs: Vec<IndexPair>,
    pub(crate) normals: Vec<[i32; 2]>,
    pub(crate) gaps: Vec<i32>,
}

impl Hits {
    /// Forgets all hits and makes room for `most`, and for a block of lanes behind the last.
    #[inline(always)]
    pub(crate) fn begin(&mut self, most: usize) {
        let room = most + LANES;
        if self.pairs.len() < room {
            self.pairs.resize(room, [0; 2]);
            self.normals.resize(room, [0; 2]);
            self.gaps.resize(room, 0);
        }
        self.len = 0;
    }

    /// Drops the hits of some pairs.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(IndexPair) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            self.pairs[kept] = self.pairs[at];
            self.normals[kept] = self.normals[at];
            self.gaps[kept] = self.gaps[at];
            kept += usize::from(keeps(self.pairs[at]));
        }
        self.len = kept;
    }

    /// Some hits in order.
    pub(crate) fn iter(&self, range: Range<usize>) -> impl Iterator<Item = Hit> + '_ {
        let normals = &self.normals[range.clone()];
        let fields = self.pairs[range.clone()].iter().zip(normals).zip(&self.gaps[range]);
        fields.map(|((&[a, b], &normal), &gap)| Hit { a, b, normal, gap })
    }
}

/// The pairs that are at most `margin` raw units apart, in order.
#[inline(always)]
pub(crate) fn find_hits(pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
    hits.begin(pairs.len());
    add_hits(pairs, shells, margin, hits);
}

/// [`find_hits`] behind the hits that are there; there is room for them.
#[inline(always)]
pub(crate) fn add_hits(pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
    // Written in any case and kept by moving on: whether a pair touches is hard to predict for a branch.
    let mut count = hits.len;
    for &[a, b] in pairs {
        let (normal, gap) = separation(&shells[a as usize], &shells[b as usize]);
        (hits.pairs[count], hits.normals[count], hits.gaps[count]) = ([a, b], normal, gap);
        count += usize::from(gap <= margin);
    }
    hits.len = count;
}

/// The manifold of two shapes that are at most `margin` raw units apart.
pub(crate) fn manifold(a: &Shell, b: &Shell, margin: i32) -> Option<Manifold> {
    let (normal, gap) = separation(a, b);
    (gap <= margin).then_some(Manifold { normal, gap })
}

/// Normal and gap of any two shapes.
#[inline(always)]
pub(crate) fn separation(a: &Shell, b: &Shell) -> ([i32; 2], i32) {
    // Extents are below 2^29 and callers compare neighbours only, so every difference and sum here fits i32.
    let d = [b.position[0].wrapping_sub(a.position[0]), b.position[1].wrapping_sub(a.position[1])];
    let outside =
        [d[0].wrapping_abs() - (a.half[0] + b.half[0]), d[1].wrapping_abs() - (a.half[1] + b.half[1])];
    let reach = a.radius + b.radius;
    let q = [outside[0].max(0), outside[1].max(0)];
    if (q[0] | q[1]) == 0 {
        return inner_separation(a, b, d, outside, reach);
    }
    let (unit, length) = unit_and_length(q);
    let signed = |axis: usize| if d[axis] < 0 { -unit[axis] } else { unit[axis] };
    ([signed(0), signed(1)], length - reach)
}

/// The cores overlap (or the centres coincide): the way out is along the axis of least overlap.
#[cold]
fn inner_separation(a: &Shell, b: &Shell, d: [i32; 2], outside: [i32; 2], reach: i32) -> ([i32; 2], i32) {
    if d == [0, 0] {
        return (coincident_normal(a, b, outside), outside[0].max(outside[1]) - reach);
    }
    // On a tie the axis with the larger offset; then x.
    let along_x = outside[0] > outside[1] || (outside[0] == outside[1] && d[0].abs() >= d[1].abs());
    let axis = usize::from(!along_x);
    let mut normal = [0; 2];
    // Centres level with each other along the axis: the lower slot goes to the negative side.
    let positive = d[axis] > 0 || (d[axis] == 0 && a.slot < b.slot);
    normal[axis] = if positive { UNIT } else { -UNIT };
    (normal, outside[axis] - reach)
}

/// Coincident centres have no direction of their own. Boxes part along their least overlap; circles along one of
/// eight directions that the two slots choose, so that a heap in one point bursts in all directions.
fn coincident_normal(a: &Shell, b: &Shell, outside: [i32; 2]) -> [i32; 2] {
    /// cos 45 degrees, 30 fraction bits.
    const DIAGONAL: i32 = 759_250_125;
    const DIRECTIONS: [[i32; 2]; 8] = [
        [UNIT, 0],
        [DIAGONAL, DIAGONAL],
        [0, UNIT],
        [-DIAGONAL, DIAGONAL],
        [-UNIT, 0],
        [-DIAGONAL, -DIAGONAL],
        [0, -UNIT],
        [DIAGONAL, -DIAGONAL],
    ];
    let (low, high) = (a.slot.min(b.slot), a.slot.max(b.slot));
    let direction = if outside == [0, 0] {
        DIRECTIONS[(low.wrapping_mul(5).wrapping_add(high.wrapping_mul(3)) & 7) as usize]
    } else if outside[0] >= outside[1] {
        [UNIT, 0]
    } else {
        [0, UNIT]
    };
    if a.slot < b.slot { direction } else { [-direction[0], -direction[1]] }
}

/// First guesses of `2^31 / sqrt(v)` for `v` in [1/4, 1) by its top seven bits; error below 1 %.
pub(crate) static RECIPROCAL_ROOT: [u32; 96] = reciprocal_roots();

const fn reciprocal_roots() -> [u32; 96] {
    let mut table = [0; 96];
    let mut i = 0;
    while i < 96 {
        // The middle of the interval, v = (2 i + 65) / 256, gives 2^30 / sqrt(v) = sqrt(2^68 / (2 i + 65)).
        table[i] = (((1u128 << 68) / (2 * i as u128 + 65)).isqrt()) as u32;
        i += 1;
    }
    table
}

/// Direction (30 fraction bits) and length of a vector with components in 0..2^30, not both zero.
///
/// Reciprocal square root by table and two Newton steps on 32-bit factors: the components of the direction are
/// within 2^-28 of the exact ones, the length within one raw unit.
#[inline(always)]
pub(crate) fn unit_and_length(q: [i32; 2]) -> ([i32; 2], i32) {
    let (x, y) = (q[0] as u64, q[1] as u64);
    let square = x * x + y * y;
    // v = square * 2^shift lies in [2^62, 2^64); an even shift halves exactly under the root.
    let shift = square.leading_zeros() & !1;
    let v = (square << shift) >> 32;
    let mut r = u64::from(RECIPROCAL_ROOT[((v >> 25) - 32) as usize]);
    for _ in 0..2 {
        // r <- r * (3 - v r^2) / 2; r has 30 fraction bits and lies in [1, 2], v has 32.
        let error = (v * ((r * r) >> 30)) >> 32;
        r = (r * ((3 << 30) - error)) >> 31;
    }
    // 1/length = r * 2^(shift/2) / 2^62.
    let down = 32 - shift / 2;
    let half = (1u64 << down) >> 1;
    let unit = [((x * r + half) >> down) as i32, ((y * r + half) >> down) as i32];
    let length = (x * unit[0] as u64 + y * unit[1] as u64 + (1 << (UNIT_BITS - 1))) >> UNIT_BITS;
    (unit, length as i32)
}

/// `value * part`, where `part` has 30 fraction bits; rounded toward zero.
pub(crate) fn scale_down(value: i32, part: i32) -> i32 {
    (i64::from(value) * i64::from(part) / (1 << UNIT_BITS)) as i32
}
