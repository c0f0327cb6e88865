//! The one place that chooses instructions, and the only one that may lift the ban on `unsafe`.
//!
//! The kernels are plain code over eight lanes. Here they are instantiated again with SSE4.1 and AVX2 enabled, with the few
//! that compilers do not get right written by hand, and chosen at run time. Integer arithmetic gives the same bits either way; the tests compare both.

#![cfg_attr(all(feature = "std", target_arch = "x86_64"), allow(unsafe_code))]

use alloc::vec::Vec;

use crate::body::id::{self, BodyId};
use crate::body::record::Shell;
use crate::collide::narrow_phase::{Hits, find_hits};
use crate::contact::setup::ContactSetup;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::motion::movers::{Movement, MoverBlock};
use crate::solve::coloring::Batches;
use crate::solve::solver::{Pass, Velocity, run_pass};
use crate::tree::block_join::{IndexPair, join_blocks};
use crate::tree::curve::{self, Centre, Grid};
use crate::tree::quadtree::Quadtree;
use crate::tree::search::{self, Search};
use crate::world_def::Simd;

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx512;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx512_contacts;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx512_moving;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod sse;

/// Asks for an element that will be read soon: bodies stand by slot, the step visits them along the curve.
#[inline(always)]
pub(crate) fn prefetch<T>(elements: &[T], index: u32) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if let Some(element) = elements.get(index as usize) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint about an address that is valid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(element).cast()) }
    }
    let _ = (elements, index);
}

/// See [`EqualLanes`](crate::contact::cache::EqualLanes).
#[inline(always)]
pub(crate) fn equal_lanes(values: &[u32; LANES], wanted: u32) -> u32 {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    // SAFETY: SSE2 is part of every x86-64 machine.
    return unsafe { sse::equal_lanes(values, wanted) };
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
    return (0..LANES).map(|l| u32::from(values[l] == wanted) << l).sum();
}

/// Which instantiation of the kernels runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The target's ordinary instructions.
    Plain,
    /// 128-bit integer instructions, found at run time.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    Sse41,
    /// 256-bit integer instructions, found at run time.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    Avx2,
    /// 512-bit integer instructions, found at run time.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    Avx512,
}

impl Path {
    /// The fastest path of this machine that is allowed.
    pub(crate) fn detect(allowed: Simd) -> Self {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        {
            use std::arch::is_x86_feature_detected;
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
            if allowed == Simd::Widest && avx2 && avx512::is_detected() {
                return Self::Avx512;
            }
            if matches!(allowed, Simd::Widest | Simd::Avx2) && avx2 {
                return Self::Avx2;
            }
            if allowed != Simd::Plain && is_x86_feature_detected!("sse4.1") {
                return Self::Sse41;
            }
        }
        let _ = allowed;
        Self::Plain
    }

    /// See [`join_blocks`].
    pub(crate) fn join(
        self,
        pairs: &[IndexPair],
        a: &[BoxBlock],
        b: &[BoxBlock],
        keep_own: u64,
        out: &mut Vec<IndexPair>,
    ) {
        match self {
            Self::Plain => join_blocks(pairs, a, b, keep_own, out),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: `detect` is the only source of these paths, and it found the instructions.
            Self::Avx2 => unsafe { avx2::join(pairs, a, b, keep_own, out) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512::join(pairs, a, b, keep_own, out) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::join(pairs, a, b, keep_own, out) },
        }
    }

    /// See [`find_hits`].
    pub(crate) fn narrow(self, pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
        match self {
            Self::Plain => find_hits(pairs, shells, margin, hits),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 => unsafe { avx2::narrow(pairs, shells, margin, hits) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512::narrow(pairs, shells, margin, hits) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::narrow(pairs, shells, margin, hits) },
        }
    }

    /// See [`ContactSetup::add_contacts`]; all hits.
    pub(crate) fn add_contacts(self, setup: &mut ContactSetup<'_>, hits: &Hits) {
        match self {
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512_contacts::add_contacts(setup, hits) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 => unsafe { avx2::add_contacts(setup, hits) },
            _ => setup.add_contacts(hits, 0..hits.len, equal_lanes),
        }
    }

    /// See [`curve::keys`].
    pub(crate) fn curve_keys(self, grid: &Grid, centres: &[Centre], slots: &[u32], out: &mut Vec<u64>) {
        match self {
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512::curve_keys(grid, centres, slots, out) },
            _ => curve::keys(grid, centres, slots, out),
        }
    }

    /// Moves the bodies of a block and replaces its boxes, if all of them are ordinary; else does nothing and returns `false`.
    /// The result is that of [`Movement::block`].
    pub(crate) fn move_ordinary(
        self,
        block: &MoverBlock<'_>,
        movement: &mut Movement<'_>,
        boxes: &mut BoxBlock,
    ) -> bool {
        match self {
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512_moving::move_ordinary(block, movement, boxes) },
            _ => {
                let _ = (block, movement, boxes);
                false
            }
        }
    }

    /// See [`Quadtree::rebuild_bounds`].
    pub(crate) fn rebuild_bounds(self, tree: &mut Quadtree) {
        match self {
            Self::Plain => tree.rebuild_bounds(),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 | Self::Avx512 => unsafe { avx2::rebuild_bounds(tree) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::rebuild_bounds(tree) },
        }
    }

    /// See [`Quadtree::search`].
    pub(crate) fn search(self, tree: &Quadtree, search: &mut impl Search) {
        match self {
            Self::Plain => tree.search(search),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 | Self::Avx512 => unsafe { avx2::search(tree, search) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::search(tree, search) },
        }
    }

    /// See [`search::search_listed`].
    pub(crate) fn search_listed(
        self,
        listed: &mut impl Iterator<Item = (u32, RawBox)>,
        search: &mut impl Search,
    ) {
        match self {
            Self::Plain => search::search_listed(listed, search),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 | Self::Avx512 => unsafe { avx2::search_listed(listed, search) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::search_listed(listed, search) },
        }
    }

    /// Appends the bodies whose boxes overlap an area, in curve order, without their generations: see [`Quadtree::visit`].
    pub(crate) fn collect(self, tree: &Quadtree, area: &RawBox, out: &mut Vec<BodyId>) {
        match self {
            Self::Plain => tree.visit(area, &mut |index| out.push(BodyId { index, generation: 0 })),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512::collect(tree, area, out) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 => unsafe { avx2::collect(tree, area, out) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::collect(tree, area, out) },
        }
    }

    /// See [`id::sort_by_slot`].
    pub(crate) fn sort_by_slot(self, ids: &mut [BodyId]) {
        match self {
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx2 | Self::Avx512 => unsafe { avx2::sort_by_slot(ids) },
            _ => id::sort_by_slot(ids),
        }
    }

    /// See [`run_pass`].
    ///
    /// # Panics
    /// If there are fewer velocities than the batches were made for, which is a bug of the step.
    pub(crate) fn solve(self, batches: &mut Batches, velocities: &mut [Velocity], pass: Pass) {
        assert!(velocities.len() >= batches.bodies());
        match self {
            Self::Plain => run_pass(batches.as_mut_slice(), velocities, pass),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above; `Batches::push` has checked every index against `bodies()`.
            Self::Avx2 => unsafe { avx2::solve(batches.as_mut_slice(), velocities, pass) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { avx512::solve(batches.as_mut_slice(), velocities, pass) },
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            // SAFETY: as above.
            Self::Sse41 => unsafe { sse::solve(batches.as_mut_slice(), velocities, pass) },
        }
    }
}
