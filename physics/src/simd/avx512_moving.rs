//! Moving with AVX-512: a body is one register, so eight of them are turned into columns, moved together and written back.

use core::arch::x86_64::*;
use core::mem::{offset_of, size_of};

use crate::body::record::{Body, flag};
use crate::math::boxes::{BoxBlock, LANES};
use crate::motion::movers::{Movement, MoverBlock};
use crate::simd::avx512::{UPPER, columns};
use crate::tree::curve;

// The rows below are these fields, in pairs of 64 bits.
const _: () = {
    assert!(size_of::<Body>() == 64);
    assert!(offset_of!(Body, position) == 0 && offset_of!(Body, velocity) == 8);
    assert!(offset_of!(Body, half) == 16 && offset_of!(Body, radius) == 24);
    assert!(offset_of!(Body, flags) == 36 && offset_of!(Body, position_remainder) == PROGRESS);
    assert!(offset_of!(Body, friction_remainder) == 48 && offset_of!(Body, still_ms) == 50);
    assert!(offset_of!(Body, ground_friction) == 52);
};

/// Where the remainders and the milliseconds of stillness stand in a body.
const PROGRESS: usize = 40;

/// See [`Path::move_ordinary`](crate::simd::Path::move_ordinary). A body is ordinary when contacts can move it, its speed has no limit of
/// its own, the ground does not slow it, it stays inside the world, and it does not move further than its own size.
///
/// x stands in the low half of each 64-bit lane, y in the high one.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn move_ordinary(
    block: &MoverBlock<'_>,
    movement: &mut Movement<'_>,
    boxes: &mut BoxBlock,
) -> bool {
    let settings = &movement.settings;
    // SAFETY: eight slots are 32 bytes.
    let slots = unsafe { _mm256_loadu_si256(block.slots.as_ptr().cast()) };
    let held = _mm256_cmplt_epu32_mask(slots, _mm256_set1_epi32(movement.bodies.len() as i32));
    let fps = movement.per_frame.fps();
    // The reciprocal of fewer frames does not fit a factor.
    if movement.previous.len() != movement.bodies.len() || fps < 3 {
        return false;
    }
    let mut nobody = Body::default();
    // SAFETY: a slot that is held is an index of a body.
    let body: [*mut Body; LANES] = core::array::from_fn(|l| unsafe {
        let some = held & 1 << l != 0;
        if some { movement.bodies.as_mut_ptr().add(block.slots[l] as usize) } else { &raw mut nobody }
    });
    // SAFETY: a body has two halves of 32 bytes.
    let two = |l: usize, half: usize| unsafe {
        let of = |l: usize| _mm256_loadu_si256(body[l].cast::<__m256i>().add(half));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(of(l)), of(l + 4))
    };
    let [position, _, half, radius] = columns([two(0, 0), two(1, 0), two(2, 0), two(3, 0)]);
    let [flags, rests, stillness, _] = columns([two(0, 1), two(1, 1), two(2, 1), two(3, 1)]);

    let high_half = |bits: u32| _mm512_set1_epi64(i64::from(bits) << 32);
    let kind = _mm512_and_si512(flags, high_half(flag::DYNAMIC | flag::LIMITED));
    let free = _mm512_cmpeq_epi64_mask(kind, high_half(flag::DYNAMIC))
        & _mm512_testn_epi64_mask(stillness, high_half(u32::MAX));

    let speed_max = _mm512_set1_epi32(settings.max_speed);
    let clamped = |v| {
        _mm512_max_epi32(_mm512_min_epi32(v, speed_max), _mm512_sub_epi32(_mm512_setzero_si512(), speed_max))
    };
    // SAFETY: eight velocities are 64 bytes.
    let [moving, kept] =
        [block.moving, block.kept].map(|v| clamped(unsafe { _mm512_loadu_si512(v.as_ptr().cast()) }));
    let (step, rest) = take(moving, rests, fps as i32, movement.per_frame.reciprocal);
    let radius = _mm512_and_si512(radius, _mm512_set1_epi64(0xffff_ffff));
    let extent = _mm512_add_epi32(half, _mm512_or_si512(radius, _mm512_slli_epi64::<32>(radius)));
    let distance = _mm512_abs_epi32(step);
    let slow = of_both(_mm512_max_epi32(distance, swapped(distance)))
        .le(of_both(_mm512_min_epi32(extent, swapped(extent))));
    let moved = _mm512_add_epi32(position, step);
    let corner = |point| _mm512_set1_epi64(curve::centre(point) as i64);
    let outside = _mm512_movm_epi32(
        _mm512_cmple_epi32_mask(moved, corner(settings.bounds.min))
            | _mm512_cmpge_epi32_mask(moved, corner(settings.bounds.max)),
    );
    let inside = _mm512_testn_epi64_mask(outside, outside);
    if !(free & slow & inside) & held != 0 {
        return false;
    }

    let speed = _mm512_max_epi32(_mm512_abs_epi32(kept), _mm512_srli_epi32::<1>(_mm512_abs_epi32(moving)));
    let still =
        of_both(_mm512_max_epi32(speed, swapped(speed))).le(of_both(_mm512_set1_epi32(settings.sleep_speed)));
    // SAFETY: eight numbers of 16 bits.
    let calm = _mm512_cvtepu16_epi64(unsafe { _mm_loadu_si128(block.calm.as_ptr().cast()) });
    let limit = _mm512_set1_epi64(i64::from(settings.sleep_ms.max(1)));
    let frame = _mm512_set1_epi64(i64::from(movement.frame_ms));
    let still_ms = _mm512_maskz_min_epi64(still, _mm512_add_epi64(calm, frame), limit);
    if settings.sleep_ms > 0 {
        movement.tired |= _mm512_cmpge_epi64_mask(still_ms, limit) & held != 0;
    }
    let stillness = _mm512_or_si512(
        _mm512_andnot_si512(_mm512_set1_epi64(0xffff_0000), stillness),
        _mm512_slli_epi64::<16>(still_ms),
    );
    write_rows(&body, 0, moved, kept);
    write_rows(&body, PROGRESS, rest, stillness);
    let mut before = [[0; 2]; LANES];
    // SAFETY: eight points are 64 bytes.
    unsafe { _mm512_storeu_si512(before.as_mut_ptr().cast(), position) };
    for (l, &slot) in block.slots.iter().enumerate() {
        if let Some(previous) = movement.previous.get_mut(slot as usize) {
            *previous = before[l];
        }
    }
    let reach = _mm512_add_epi32(extent, _mm512_set1_epi32(settings.box_margin()));
    write_boxes(_mm512_sub_epi32(moved, reach), _mm512_add_epi32(moved, reach), held, boxes);
    true
}

/// See [`PerFrame::take`](crate::motion::rates::PerFrame::take): the steps, and the first field of the remainders replaced.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn take(per_second: __m512i, rests: __m512i, fps: i32, reciprocal: i64) -> (__m512i, __m512i) {
    let low = _mm512_set1_epi64(0xffff);
    let rest_x = _mm512_and_si512(rests, low);
    let rest_y = _mm512_and_si512(_mm512_slli_epi64::<16>(rests), _mm512_slli_epi64::<32>(low));
    let total = _mm512_add_epi32(per_second, _mm512_or_si512(rest_x, rest_y));
    let reciprocal = _mm512_set1_epi64(reciprocal);
    let x = _mm512_srli_epi64::<32>(_mm512_mul_epi32(total, reciprocal));
    let y = _mm512_mul_epi32(_mm512_srli_epi64::<32>(total), reciprocal);
    let quotient = _mm512_mask_blend_epi32(UPPER, x, y);
    let (one, fps) = (_mm512_set1_epi32(1), _mm512_set1_epi32(fps));
    let rest = _mm512_sub_epi32(total, _mm512_mullo_epi32(quotient, fps));
    let (more, less) = (_mm512_cmpge_epi32_mask(rest, fps), _mm512_movepi32_mask(rest));
    let quotient = _mm512_mask_add_epi32(quotient, more, quotient, one);
    let quotient = _mm512_mask_sub_epi32(quotient, less, quotient, one);
    let rest = _mm512_mask_sub_epi32(rest, more, rest, fps);
    let rest = _mm512_mask_add_epi32(rest, less, rest, fps);
    let packed = _mm512_or_si512(_mm512_and_si512(rest, low), _mm512_srli_epi64::<16>(rest));
    let packed = _mm512_and_si512(packed, _mm512_set1_epi64(0xffff_ffff));
    let others = _mm512_andnot_si512(_mm512_set1_epi64(0xffff_ffff), rests);
    (quotient, _mm512_or_si512(packed, others))
}

/// Both halves of each lane exchanged.
#[inline]
#[target_feature(enable = "avx512f")]
fn swapped(v: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0b10_11_00_01>(v)
}

/// Numbers that stand in both halves of their lanes.
struct Both(__m512i);

#[inline]
#[target_feature(enable = "avx512f")]
fn of_both(v: __m512i) -> Both {
    Both(v)
}

impl Both {
    /// Lanes whose number is not greater.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn le(self, other: Self) -> __mmask8 {
        // The halves are equal and so is what they say.
        _mm512_cmple_epi64_mask(self.0, other.0)
    }
}

/// Writes two fields of 64 bits, side by side, into each body.
#[inline]
#[target_feature(enable = "avx512f")]
fn write_rows(body: &[*mut Body; LANES], offset: usize, first: __m512i, second: __m512i) {
    // SAFETY: 16 bytes at `offset` lie inside of a body.
    let write = |l: usize, row: __m128i| unsafe {
        _mm_storeu_si128(body[l].cast::<u8>().add(offset).cast(), row);
    };
    let (even, odd) = (_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
    write(0, _mm512_castsi512_si128(even));
    write(2, _mm512_extracti32x4_epi32::<1>(even));
    write(4, _mm512_extracti32x4_epi32::<2>(even));
    write(6, _mm512_extracti32x4_epi32::<3>(even));
    write(1, _mm512_castsi512_si128(odd));
    write(3, _mm512_extracti32x4_epi32::<1>(odd));
    write(5, _mm512_extracti32x4_epi32::<2>(odd));
    write(7, _mm512_extracti32x4_epi32::<3>(odd));
}

/// Replaces the boxes; lanes that are not held become empty.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn write_boxes(min: __m512i, max: __m512i, held: __mmask8, boxes: &mut BoxBlock) {
    let write = |to: &mut [i32; LANES], v: __m512i, empty: i32| {
        let v = _mm256_mask_blend_epi32(held, _mm256_set1_epi32(empty), _mm512_cvtepi64_epi32(v));
        // SAFETY: eight values are 32 bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), v) }
    };
    write(&mut boxes.x0, min, i32::MAX);
    write(&mut boxes.y0, _mm512_srli_epi64::<32>(min), i32::MAX);
    write(&mut boxes.x1, max, i32::MIN);
    write(&mut boxes.y1, _mm512_srli_epi64::<32>(max), i32::MIN);
}
