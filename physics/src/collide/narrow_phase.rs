//! Narrow phase: distance and direction between two shapes.
//!
//! Every shape is a *rounded box*: a core box (`half` extents, zero for a circle) grown by a `radius` (zero for a rectangle). The Minkowski
//! sum of two rounded boxes is a rounded box again, so one formula covers all three pairings:
//!
//! * circle-circle: both cores are points, the distance is the one between the centres;
//! * rectangle-circle: the nearest point of the core to the centre, a face or a corner; a centre inside leaves
//!   through the nearest face;
//! * rectangle-rectangle: the gap along the axis of least overlap, or between two corners.
//!
//! Source: the signed distance of a rounded box (I. Quilez, *2D distance functions*), in integers.

use alloc::vec::Vec;

use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x8, i64x4, u64x4};

use crate::body::record::Shell;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::math::boxes::LANES;
pub(crate) use crate::math::lanes::{UNIT, UNIT_BITS};
use crate::math::lanes::{each, even_first, low_and_high, product, twice};
use crate::math::plain::plain_data;

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
    pub(crate) a: WorkingIndex,
    pub(crate) b: WorkingIndex,
    pub(crate) normal: [i32; 2],
    pub(crate) gap: i32,
}

/// A hit by its number in [`Hits`]. The one behind the last hit stands for none, see [`Hits::end`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct HitIndex(pub(crate) u32);

plain_data!(HitIndex: 0);

impl HitIndex {
    #[inline(always)]
    pub(crate) fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// Where the hit is in an array by hit.
    #[inline(always)]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// Hits field by field, so that wide registers write eight at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    // not state: how many of the elements below count
    pub(crate) len: usize,
    pub(crate) pairs: Vec<WorkingPair>,
    pub(crate) normals: Vec<[i32; 2]>,
    pub(crate) gaps: Vec<i32>,
}

impl Hits {
    /// Forgets all hits and makes room for `most`, and for a block of lanes behind the last.
    #[inline(always)]
    pub(crate) fn begin(&mut self, most: usize) {
        let room = most + LANES;
        if self.pairs.len() < room {
            self.pairs.resize(room, [WorkingIndex(0); 2]);
            self.normals.resize(room, [0; 2]);
            self.gaps.resize(room, 0);
        }
        self.len = 0;
    }

    /// Drops some hits, which `keeps` names by index and pair.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(usize, WorkingPair) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            self.pairs[kept] = self.pairs[at];
            self.normals[kept] = self.normals[at];
            self.gaps[kept] = self.gaps[at];
            kept += usize::from(keeps(at, self.pairs[at]));
        }
        self.len = kept;
    }

    /// Drops those that `keeps` does not name by pair, normal and gap.
    pub(crate) fn retain_hits(&mut self, mut keeps: impl FnMut(WorkingPair, [i32; 2], i32) -> bool) {
        // Most often there is none to drop.
        let drops = |at: &usize| !keeps(self.pairs[*at], self.normals[*at], self.gaps[*at]);
        let Some(mut kept) = (0..self.len).find(drops) else { return };
        for at in kept + 1..self.len {
            let (pair, normal, gap) = (self.pairs[at], self.normals[at], self.gaps[at]);
            (self.pairs[kept], self.normals[kept], self.gaps[kept]) = (pair, normal, gap);
            kept += usize::from(keeps(pair, normal, gap));
        }
        self.len = kept;
    }

    /// Adds a hit, or leaves its position to the next one. It is written in any case, because branches predict badly whether a pair
    /// touches.
    #[inline(always)]
    pub(crate) fn push_if(&mut self, touches: bool, pair: WorkingPair, normal: [i32; 2], gap: i32) {
        let at = self.len;
        (self.pairs[at], self.normals[at], self.gaps[at]) = (pair, normal, gap);
        self.len += usize::from(touches);
    }

    /// Adds the first `count` of eight hits.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] // for AVX-512
    #[inline(always)]
    pub(crate) fn push_some(
        &mut self,
        count: usize,
        pairs: &[WorkingPair; LANES],
        normals: &[[i32; 2]; LANES],
        gaps: &[i32; LANES],
    ) {
        let places = self.len..self.len + LANES;
        self.pairs[places.clone()].copy_from_slice(pairs);
        self.normals[places.clone()].copy_from_slice(normals);
        self.gaps[places].copy_from_slice(gaps);
        self.len += count;
    }

    /// Writes what stands for no hit behind the last one: `dummy` is the working index of a body that never moves.
    pub(crate) fn end(&mut self, dummy: WorkingIndex) {
        let at = self.len;
        (self.pairs[at], self.normals[at], self.gaps[at]) = ([dummy; 2], [0; 2], i32::MAX);
    }

    pub(crate) fn get(&self, at: usize) -> Hit {
        let [a, b] = self.pairs[at];
        Hit { a, b, normal: self.normals[at], gap: self.gaps[at] }
    }

    /// The hits in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Hit> + '_ {
        let fields = self.pairs[..self.len].iter().zip(&self.normals).zip(&self.gaps);
        fields.map(|((&[a, b], &normal), &gap)| Hit { a, b, normal, gap })
    }
}

/// The pairs that are at most `margin` raw units apart, in order.
#[inline(always)]
pub(crate) fn find_hits<S: Simd>(
    simd: S,
    pairs: &[WorkingPair],
    shells: &[Shell],
    margin: i32,
    hits: &mut Hits,
) {
    hits.begin(pairs.len());
    let (fours, rest) = pairs.as_chunks::<FOUR>();
    for four in fours {
        let (normals, gaps) = separations(simd, four, shells);
        for l in 0..FOUR {
            hits.push_if(gaps[l] <= margin, four[l], normals[l], gaps[l]);
        }
    }
    for &[a, b] in rest {
        let (normal, gap) = separation(&shells[a], &shells[b]);
        hits.push_if(gap <= margin, [a, b], normal, gap);
    }
}

/// Number of pairs that are compared at a time: the differences of their centres fill 256 bits.
const FOUR: usize = 4;

/// [`separation`] of four pairs. x and y of vectors alternate.
#[inline(always)]
fn separations<S: Simd>(
    simd: S,
    pairs: &[WorkingPair; FOUR],
    shells: &[Shell],
) -> ([[i32; 2]; FOUR], [i32; FOUR]) {
    let a = each([0, 1, 2, 3], |l| &shells[pairs[l][0]]);
    let b = each([0, 1, 2, 3], |l| &shells[pairs[l][1]]);
    let vectors = |of: [[i32; 2]; FOUR]| i32x8::load_array(simd, bytemuck::cast(of));
    let d = vectors(each(b, |s| s.position)) - vectors(each(a, |s| s.position));
    let outside = d.abs() - (vectors(each(a, |s| s.half)) + vectors(each(b, |s| s.half)));
    let reach =
        i32x4::load_array(simd, each(a, |s| s.radius)) + i32x4::load_array(simd, each(b, |s| s.radius));
    let q = outside.max(0);
    let (unit, length) = units_and_lengths(simd, q);
    let sign = d >> 31;
    let mut normals: [[i32; 2]; FOUR] = bytemuck::cast(((unit ^ sign) - sign).to_array());
    let mut gaps = (length - reach).to_array();
    if inside(q) {
        for l in 0..FOUR {
            (normals[l], gaps[l]) = separation(a[l], b[l]);
        }
    }
    (normals, gaps)
}

/// The manifold of two shapes that are at most `margin` raw units apart.
pub(crate) fn manifold(a: &Shell, b: &Shell, margin: i32) -> Option<Manifold> {
    let (normal, gap) = separation(a, b);
    (gap <= margin).then_some(Manifold { normal, gap })
}

/// Normal and gap of any two shapes.
#[inline(always)]
pub(crate) fn separation(a: &Shell, b: &Shell) -> ([i32; 2], i32) {
    // Extents are below 2^29, and callers compare neighbours only, so every difference and sum here fits i32.
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

/// The cores overlap (or the centres coincide): the bodies separate along the axis of least overlap.
#[cold]
fn inner_separation(a: &Shell, b: &Shell, d: [i32; 2], outside: [i32; 2], reach: i32) -> ([i32; 2], i32) {
    if d == [0, 0] {
        return (coincident_normal(a, b, outside), outside[0].max(outside[1]) - reach);
    }
    // On a tie the axis with the larger offset; then x.
    let along_x = outside[0] > outside[1] || (outside[0] == outside[1] && d[0].abs() >= d[1].abs());
    let axis = usize::from(!along_x);
    let mut normal = [0; 2];
    // Centres at the same coordinate on the axis: the lower slot goes to the negative side.
    let positive = d[axis] > 0 || (d[axis] == 0 && a.slot < b.slot);
    normal[axis] = if positive { UNIT } else { -UNIT };
    (normal, outside[axis] - reach)
}

/// The normal of coincident centres, which have no direction of their own. Boxes separate along their least overlap; circles along one of
/// eight directions that depends on the two slots, so that a heap in one point separates in all directions.
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
        DIRECTIONS[(low.0.wrapping_mul(5).wrapping_add(high.0.wrapping_mul(3)) & 7) as usize]
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

/// [`unit_and_length`] of four vectors. The same numbers in another order: the components are scaled up by a power of two first, so that no
/// lane needs a shift of its own. The result for the zero vector is not valid.
#[inline(always)]
fn units_and_lengths<S: Simd>(simd: S, q: i32x8<S>) -> (i32x8<S>, i32x4<S>) {
    let square = q.pairwise_dot_product(q).to_array();
    let (mut scale, mut guess) = ([0i32; FOUR], [0u64; FOUR]);
    for l in 0..FOUR {
        let square = square[l].max(1) as u64;
        let shift = square.leading_zeros() & !1;
        scale[l] = 1 << (shift / 2);
        guess[l] = u64::from(RECIPROCAL_ROOT[((square << shift >> 57) - 32) as usize]);
    }
    // 0.0 to below 1.0 as 32 fraction bits; the longer component is at least 1/sqrt(8).
    let x: u64x4<S> = even_first(q * twice(i32x4::load_array(simd, scale)));
    let y = x >> 32;
    let v = (product(x, x) + product(y, y)) >> 32;
    let mut r = u64x4::load_array(simd, guess);
    for _ in 0..2 {
        let error = product(v, product(r, r) >> 30) >> 32;
        r = product(r, u64x4::splat(simd, 3 << 30) - error) >> 31;
    }
    let half = 1 << 31;
    let (unit_x, unit_y) = ((product(x, r) + half) >> 32, product(y, r) + half);
    // Without signs, although `q` has them: compilers know that it is not negative, and then extend the two factors differently, for which
    // WebAssembly has no product.
    let (q_x, half) = (even_first(q), 1 << (UNIT_BITS - 1));
    let along = product(q_x, unit_x) + product(q_x >> 32, unit_y >> 32);
    let (low, high) = ((along + half) >> UNIT_BITS).split();
    (low_and_high(unit_x, unit_y), low.narrow(high).bitcast())
}

/// Whether one of the vectors is 0.
#[inline(always)]
fn inside<S: Simd>(q: i32x8<S>) -> bool {
    let zero: i64x4<S> = even_first(q).bitcast();
    zero.simd_eq(0).any_true()
}

/// `value * part`, where `part` has 30 fraction bits; rounded toward zero.
pub(crate) fn scale_down(value: i32, part: i32) -> i32 {
    (i64::from(value) * i64::from(part) / (1 << UNIT_BITS)) as i32
}
