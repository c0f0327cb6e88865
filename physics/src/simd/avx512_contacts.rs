//! Contact set-up with AVX-512: what the solver and the contact cache want to know about eight ordinary hits at once. Colours are
//! given one by one.

use core::arch::x86_64::*;

use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hits, UNIT};
use crate::contact::cache::CachedContacts;
use crate::contact::setup::{ContactSetup, OVERLAP_ALLOWED, OVERLAP_DEEP, PARTING_GAP, PUSH_MAX};
use crate::math::boxes::LANES;
use crate::simd::avx512::columns;
use crate::simd::equal_lanes;
use crate::solve::coloring::Origin;
use crate::solve::solver::Contact;
use crate::tree::block_join::IndexPair;

/// Blocks that are drafted at a time.
const DRAFTS: usize = 8;

/// Eight contacts, field by field.
struct Draft {
    biased: [i32; LANES],
    relaxed: [i32; LANES],
    impulse: [i32; LANES],
    share_a: [i32; LANES],
    owner: [u32; LANES],
    other_slot: [u32; LANES],
    cached: [u32; LANES],
    touching: __mmask8,
    movable: [__mmask8; 2],
}

/// See [`ContactSetup::add_contacts`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2,lzcnt")]
pub(super) fn add_contacts(setup: &mut ContactSetup<'_>, hits: &Hits) {
    let simple = setup.fresh.is_empty() && !setup.contacts.roles_changed;
    let draft_at = |first: usize, setup: &ContactSetup<'_>| {
        let lanes = first..first + LANES;
        match (hits.pairs[lanes.clone()].as_array(), hits.gaps[lanes.clone()].as_array()) {
            (Some(pairs), Some(gaps)) if simple && lanes.end <= hits.len => draft(pairs, gaps, setup),
            _ => None,
        }
    };
    // Several drafts before their contacts get colours: they do not wait for each other, colours do.
    let mut drafts = [const { None }; DRAFTS];
    for first in (0..hits.len).step_by(LANES * DRAFTS) {
        let blocks = (first..hits.len).step_by(LANES);
        for (draft, at) in drafts.iter_mut().zip(blocks.clone()) {
            *draft = draft_at(at, setup);
        }
        for (draft, at) in drafts.iter().zip(blocks) {
            let end = hits.len.min(at + LANES);
            match draft {
                Some(draft) => (at..end).for_each(|at| draft.add(setup, hits, at)),
                None => setup.add_contacts(hits, at..end, equal_lanes),
            }
        }
    }
}

impl Draft {
    /// Adds the contact of a hit; its lane is the low part of its index.
    #[inline(always)]
    fn add(&self, setup: &mut ContactSetup<'_>, hits: &Hits, at: usize) {
        let l = at % LANES;
        let [a, b] = hits.pairs[at];
        let contact = Contact {
            a,
            b,
            normal: hits.normals[at],
            biased: self.biased[l],
            relaxed: self.relaxed[l],
            impulse: self.impulse[l],
            share_a: self.share_a[l],
        };
        let origin = Origin {
            owner: self.owner[l],
            other: self.other_slot[l],
            cached: self.cached[l],
            touching: self.touching & 1 << l != 0,
        };
        setup.batches.push(&contact, origin, self.movable.map(|lanes| lanes & 1 << l != 0));
    }
}

/// The contacts of eight hits, unless one of them needs more than this: restitution, unequal masses, a long list of cached contacts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn draft(pairs: &[IndexPair; LANES], gaps: &[i32; LANES], setup: &ContactSetup<'_>) -> Option<Draft> {
    let (shells, cached, last) = (setup.shells, setup.cached, &setup.contacts.old_contacts);
    let low_half = _mm512_set1_epi64(0xffff_ffff);
    let upper = |v| _mm512_srli_epi64::<32>(v);
    // SAFETY: eight pairs are 64 bytes.
    let pair = unsafe { _mm512_loadu_si512(pairs.as_ptr().cast()) };
    let (a, b) = (_mm512_and_si512(pair, low_half), upper(pair));
    let bodies = shells.len().min(cached.len()) as i64;
    if _mm512_cmpge_epu64_mask(_mm512_max_epu64(a, b), _mm512_set1_epi64(bodies)) != 0 {
        return None;
    }
    let [mass_a, slot_a, mass_b, slot_b] = masses_and_slots(pairs, shells);
    let bouncy = _mm512_test_epi64_mask(_mm512_or_si512(slot_a, slot_b), low_half);
    let (mass_a, slot_a, mass_b, slot_b) = (upper(mass_a), upper(slot_a), upper(mass_b), upper(slot_b));
    let movable = [_mm512_test_epi64_mask(mass_a, mass_a), _mm512_test_epi64_mask(mass_b, mass_b)];
    let uneven = movable[0] & movable[1] & _mm512_cmpneq_epi64_mask(mass_a, mass_b);
    if bouncy | uneven | !(movable[0] | movable[1]) != 0 {
        return None;
    }
    // The owner is the body with the lower slot that contacts can move.
    let a_owns = movable[0] & (!movable[1] | _mm512_cmplt_epu64_mask(slot_a, slot_b));
    let owner = _mm512_mask_blend_epi64(a_owns, b, a);
    let other_slot = _mm512_cvtepi64_epi32(_mm512_mask_blend_epi64(a_owns, slot_a, slot_b));
    // SAFETY: all indices are below the length.
    let range = unsafe { _mm512_i64gather_epi64::<8>(owner, cached.as_ptr().cast()) };
    let (found, impulse) = look_up(_mm512_and_si512(range, low_half), upper(range), other_slot, last)?;

    let known = _mm256_cmpneq_epi32_mask(found, _mm256_set1_epi32(Origin::NEW as i32));
    // SAFETY: eight gaps are 32 bytes.
    let gap = unsafe { _mm256_loadu_si256(gaps.as_ptr().cast()) };
    let apart = _mm256_maskz_set1_epi32(known, PARTING_GAP);
    let biased = least_speed(gap, setup);
    let half = _mm256_set1_epi32(UNIT / 2);
    let share_a = _mm256_mask_blend_epi32(movable[0], _mm256_setzero_si256(), half);
    let share_a = _mm256_mask_blend_epi32(movable[1], _mm256_set1_epi32(UNIT), share_a);
    Some(Draft {
        biased: signed(biased),
        relaxed: signed(_mm256_min_epi32(biased, _mm256_setzero_si256())),
        impulse: signed(impulse),
        share_a: signed(share_a),
        owner: signed(_mm512_cvtepi64_epi32(owner)).map(|v| v as u32),
        other_slot: signed(other_slot).map(|v| v as u32),
        cached: signed(found).map(|v| v as u32),
        touching: _mm256_cmple_epi32_mask(gap, apart),
        movable,
    })
}

/// Of the first bodies, then of the second ones: masses, and slots, in the upper halves; restitutions in the lower halves of the slots.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn masses_and_slots(pairs: &[IndexPair; LANES], shells: &[Shell]) -> [__m512i; 4] {
    const { assert!(core::mem::offset_of!(Shell, radius) == 16 && size_of::<Shell>() == 32) }
    // SAFETY: the second half of a shell is 16 bytes.
    let of_body = |shell: &Shell| unsafe { _mm_loadu_si128((&raw const shell.radius).cast()) };
    let of_pair = |l: usize| {
        let [a, b] = pairs[l].map(|body| of_body(&shells[body as usize]));
        _mm256_set_m128i(b, a)
    };
    let two = |l: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(of_pair(l)), of_pair(l + 4));
    columns([two(0), two(1), two(2), two(3)])
}

/// Index and impulse of the last frame's contacts with `wanted` in the lists from `start` to `end`; none if a list is long.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512dq,avx512vl")]
fn look_up(
    start: __m512i,
    end: __m512i,
    wanted: __m256i,
    last: &CachedContacts,
) -> Option<(__m256i, __m256i)> {
    // A block of padding follows the last contact.
    let len = last.others.len().min(last.impulses.len()) as i64 - LANES as i64;
    let count = _mm512_sub_epi64(end, start);
    let long = _mm512_cmpgt_epi64_mask(count, _mm512_set1_epi64(LANES as i64));
    if long | _mm512_cmpgt_epi64_mask(end, _mm512_set1_epi64(len)) != 0 {
        return None;
    }
    let mut starts = [0i64; LANES];
    // SAFETY: eight numbers are 64 bytes.
    unsafe { _mm512_storeu_si512(starts.as_mut_ptr().cast(), start) };
    let wanted = signed(wanted);
    let mut equal = 0u64;
    for l in 0..LANES {
        // SAFETY: a block of slots follows every start below the length.
        let others = unsafe { _mm256_loadu_si256(last.others.as_ptr().add(starts[l] as usize).cast()) };
        let mask = _mm256_cmpeq_epi32_mask(others, _mm256_set1_epi32(wanted[l]));
        equal |= u64::from(mask) << (l * LANES);
    }
    let one = _mm512_set1_epi64(1);
    let own = _mm512_sub_epi64(_mm512_sllv_epi64(one, count), one);
    let equal = _mm512_and_si512(_mm512_cvtepu8_epi64(_mm_cvtsi64_si128(equal as i64)), own);
    let known = _mm512_test_epi64_mask(equal, equal);
    // A list names a slot once.
    let place = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(equal));
    let new = _mm512_set1_epi64(Origin::NEW.into());
    let found = _mm512_mask_add_epi64(new, known, start, place);
    // SAFETY: what was found lies before the ends.
    let impulse = unsafe {
        _mm512_mask_i64gather_epi32::<4>(_mm256_setzero_si256(), known, found, last.impulses.as_ptr().cast())
    };
    Some((_mm512_cvtepi64_epi32(found), impulse))
}

/// See [`limits`](crate::contact::setup::limits): the biased ones.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn least_speed(gap: __m256i, setup: &ContactSetup<'_>) -> __m256i {
    let zero = _mm256_setzero_si256();
    let allowed = _mm256_set1_epi32(OVERLAP_ALLOWED as i32);
    let overlap = _mm256_max_epi32(_mm256_sub_epi32(_mm256_sub_epi32(zero, gap), allowed), zero);
    let deep = _mm256_sub_epi32(overlap, _mm256_set1_epi32(OVERLAP_DEEP as i32));
    let overlap = _mm256_add_epi32(overlap, _mm256_max_epi32(deep, zero));
    let fps = i64::from(setup.fps);
    let factor = _mm512_set1_epi64(fps * i64::from(setup.settings.push_factor));
    let push = _mm512_srli_epi64::<16>(_mm512_mul_epu32(_mm512_cvtepu32_epi64(overlap), factor));
    let push = _mm512_min_epu64(push, _mm512_set1_epi64(PUSH_MAX));
    let apart = _mm512_cvtepu32_epi64(_mm256_max_epi32(gap, zero));
    _mm512_cvtepi64_epi32(_mm512_sub_epi64(push, _mm512_mul_epu32(apart, _mm512_set1_epi64(fps))))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn signed(v: __m256i) -> [i32; LANES] {
    let mut values = [0; LANES];
    // SAFETY: eight values are 32 bytes.
    unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), v) }
    values
}
