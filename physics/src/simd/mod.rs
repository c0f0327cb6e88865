//! The one place that chooses instructions, and the only one that may lift the ban on `unsafe`.
//!
//! A kernel is written once, generic over the instruction set, in the module that it belongs to. [`Path`] holds the proof (a token of
//! `fearless_simd`) that this machine has an instruction set; [`with_simd`] compiles a kernel for each of them and runs the one
//! that the path names. Integer arithmetic gives the same bits on every path; the tests compare all of them.

#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]

use alloc::vec::Vec;

#[cfg(target_arch = "aarch64")]
use fearless_simd::Neon;
use fearless_simd::Simd as _;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use fearless_simd::WasmSimd128;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::{Avx2, Avx512, Sse4_2};
use fearless_simd::{Fallback, Level};

use crate::body::id::BodyId;
use crate::body::record::Shell;
use crate::body::slot_sort;
use crate::collide::narrow_phase::{Hits, find_hits};
use crate::contact::setup::ContactSetup;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::motion::movers::{Movement, MoverBlock};
use crate::solve::solver::{Batch, Pass, Velocity, run_pass};
use crate::tree::block_join::{IndexPair, join_blocks};
use crate::tree::curve::{self, Centre, Grid};
use crate::tree::quadtree::Quadtree;
use crate::tree::search::{self, Search};
use crate::world_def::Simd;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_contacts;
#[cfg(target_arch = "x86_64")]
mod avx512_moving;
#[cfg(target_arch = "x86_64")]
mod sse;

/// Asks for an element that will be read soon: bodies stand by slot, the step visits them along the curve.
#[inline(always)]
pub(crate) fn prefetch<T>(elements: &[T], index: u32) {
    #[cfg(target_arch = "x86_64")]
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
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of every x86-64 machine.
    return unsafe { sse::equal_lanes(values, wanted) };
    #[cfg(not(target_arch = "x86_64"))]
    return (0..LANES).map(|l| u32::from(values[l] == wanted) << l).sum();
}

/// Which instructions the kernels use. A token in here is the proof that the machine has them: only [`Path::detect`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path {
    /// One number at a time, on every machine.
    Plain(Fallback),
    /// 128 bits: SSE4.2 and what came with it.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Sse42(Sse4_2),
    /// 256 bits: AVX2, BMI1, BMI2, LZCNT and what else is x86-64-v3.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2(Avx2),
    /// 512 bits: AVX-512 as in Ice Lake and Zen 4.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512(Avx512),
    /// 128 bits of ARM.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// 128 bits of WebAssembly. It cannot be found at run time: the program is built with it or without.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128(WasmSimd128),
}

/// Runs a kernel compiled for the instructions of a path: `with_simd!(path, simd => kernel(simd, ...))`. The kernel and all that it calls
/// must be `#[inline(always)]`.
macro_rules! with_simd {
    ($path:expr, $simd:ident => $kernel:expr) => {
        match $path {
            Path::Plain($simd) => $simd.vectorize(
                #[inline(always)]
                || $kernel,
            ),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Sse42($simd) => $simd.vectorize(
                #[inline(always)]
                || $kernel,
            ),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Avx2($simd) => $simd.vectorize(
                #[inline(always)]
                || $kernel,
            ),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Avx512($simd) => $simd.vectorize(
                #[inline(always)]
                || $kernel,
            ),
            #[cfg(target_arch = "aarch64")]
            Path::Neon($simd) => $simd.vectorize(
                #[inline(always)]
                || $kernel,
            ),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Path::Simd128($simd) => $simd.vectorize(
                #[inline(always)]
                || $kernel,
            ),
        }
    };
}

impl Path {
    pub(crate) const PLAIN: Self = Self::Plain(Fallback::new());

    /// The widest path of this machine that is allowed. Without the feature `std`, only what the program was compiled for counts.
    pub(crate) fn detect(allowed: Simd) -> Self {
        Self::each(allowed).next().unwrap_or(Self::PLAIN)
    }

    /// The paths of this machine that are allowed, the widest first.
    pub(crate) fn each(allowed: Simd) -> impl Iterator<Item = Self> {
        let level = Level::try_detect().unwrap_or(Level::baseline());
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let found = [
            level.as_avx512().map(Self::Avx512),
            level.as_avx2().map(Self::Avx2),
            level.as_sse4_2().map(Self::Sse42),
        ];
        #[cfg(target_arch = "aarch64")]
        let found = [level.as_neon().map(Self::Neon)];
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        let found = [level.as_wasm_simd128().map(Self::Simd128)];
        #[cfg(not(any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "aarch64",
            all(target_arch = "wasm32", target_feature = "simd128")
        )))]
        let found: [Option<Self>; 0] = {
            let _ = level;
            []
        };
        let most = match allowed {
            Simd::Plain => 0,
            Simd::Bits128 => 128,
            Simd::Bits256 => 256,
            Simd::Widest => u32::MAX,
        };
        found.into_iter().flatten().chain([Self::PLAIN]).filter(move |path| path.bits() <= most)
    }

    /// Width of a register; 0 for none.
    fn bits(self) -> u32 {
        match self.name() {
            "plain" => 0,
            "avx2" => 256,
            "avx512" => 512,
            _ => 128,
        }
    }

    /// For logs and tests.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain(_) => "plain",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Sse42(_) => "sse4.2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx2(_) => "avx2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128(_) => "simd128",
        }
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
            Self::Plain(_) => join_blocks(pairs, a, b, keep_own, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the machine has the instructions that these functions enable, and more.
            Self::Avx2(_) => unsafe { avx2::join(pairs, a, b, keep_own, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx512(_) => unsafe { avx512::join(pairs, a, b, keep_own, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Sse42(_) => unsafe { sse::join(pairs, a, b, keep_own, out) },
        }
    }

    /// See [`find_hits`].
    pub(crate) fn narrow(self, pairs: &[IndexPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
        match self {
            Self::Plain(_) => find_hits(pairs, shells, margin, hits),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) => unsafe { avx2::narrow(pairs, shells, margin, hits) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx512(_) => unsafe { avx512::narrow(pairs, shells, margin, hits) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Sse42(_) => unsafe { sse::narrow(pairs, shells, margin, hits) },
        }
    }

    /// See [`ContactSetup::add_contacts`]; all hits.
    pub(crate) fn add_contacts(self, setup: &mut ContactSetup<'_>, hits: &Hits) {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx512(_) => unsafe { avx512_contacts::add_contacts(setup, hits) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) => unsafe { avx2::add_contacts(setup, hits) },
            _ => setup.add_contacts(hits, 0..hits.len, equal_lanes),
        }
    }

    /// See [`curve::keys`].
    pub(crate) fn curve_keys(self, grid: &Grid, centres: &[Centre], slots: &[u32], out: &mut Vec<u64>) {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx512(_) => unsafe { avx512::curve_keys(grid, centres, slots, out) },
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
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx512(_) => unsafe { avx512_moving::move_ordinary(block, movement, boxes) },
            _ => {
                let _ = (block, movement, boxes);
                false
            }
        }
    }

    /// See [`Quadtree::rebuild_bounds`].
    pub(crate) fn rebuild_bounds(self, tree: &mut Quadtree) {
        match self {
            Self::Plain(_) => tree.rebuild_bounds(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) | Self::Avx512(_) => unsafe { avx2::rebuild_bounds(tree) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Sse42(_) => unsafe { sse::rebuild_bounds(tree) },
        }
    }

    /// See [`Quadtree::search`].
    pub(crate) fn search(self, tree: &Quadtree, search: &mut impl Search) {
        match self {
            Self::Plain(_) => tree.search(search),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) | Self::Avx512(_) => unsafe { avx2::search(tree, search) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Sse42(_) => unsafe { sse::search(tree, search) },
        }
    }

    /// See [`search::search_listed`].
    pub(crate) fn search_listed(
        self,
        listed: &mut impl Iterator<Item = (u32, RawBox)>,
        search: &mut impl Search,
    ) {
        match self {
            Self::Plain(_) => search::search_listed(listed, search),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) | Self::Avx512(_) => unsafe { avx2::search_listed(listed, search) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Sse42(_) => unsafe { sse::search_listed(listed, search) },
        }
    }

    /// Appends the bodies whose boxes overlap an area, in curve order, without their generations: see [`Quadtree::visit`].
    pub(crate) fn collect(self, tree: &Quadtree, area: &RawBox, out: &mut Vec<BodyId>) {
        match self {
            Self::Plain(_) => tree.visit(area, &mut |index| out.push(BodyId { index, generation: 0 })),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx512(_) => unsafe { avx512::collect(tree, area, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) => unsafe { avx2::collect(tree, area, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Sse42(_) => unsafe { sse::collect(tree, area, out) },
        }
    }

    /// See [`slot_sort::sort_by_slot`].
    pub(crate) fn sort_by_slot(self, ids: &mut [BodyId]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2(_) | Self::Avx512(_) => unsafe { avx2::sort_by_slot(ids) },
            _ => slot_sort::sort_by_slot(ids),
        }
    }

    /// See [`run_pass`].
    pub(crate) fn solve(self, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
        with_simd!(self.at_most_256(), simd => run_pass(simd, batches, velocities, pass));
    }

    /// This path without 512-bit instructions: for kernels that have no use for them and that the compiler makes slower with them.
    fn at_most_256(self) -> Self {
        match self {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512(simd) => simd.level().as_avx2().map_or(self, Self::Avx2),
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests;
