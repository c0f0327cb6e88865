//! The one place that chooses instructions, and the only one that may lift the ban on `unsafe`.
//!
//! A kernel is written once, generic over the instruction set, in the module that it belongs to. [`Path`] holds the proof (a token of
//! `fearless_simd`) that this machine has an instruction set. [`with_simd`] compiles a kernel for each of them and runs the one that the
//! path names. Integer arithmetic gives the same bits on every path; the tests compare all of them. Only kernels that gain more than 5 % of
//! a step are written by hand: [`avx512`].

use alloc::vec::Vec;

use fearless_simd::Simd as _;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::{Avx2, Avx512, Level, Sse4_2};

use crate::body::id::BodyId;
use crate::body::record::{Body, Shell};
use crate::body::slot::Slot;
use crate::body::slot_sort;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::{Hits, find_hits};
use crate::contact::cache::ContactCache;
use crate::contact::cached::Owned;
use crate::contact::setup::ContactSetup;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::math::lanes::{self, Base, base};
use crate::motion::movers::{Movement, MoverVelocities};
use crate::motion::working_arrays::{GatherSummary, WorkingArrays};
use crate::solve::batches::{Batches, WindowBatches};
use crate::solve::colors::{BatchLayout, Colors};
use crate::solve::notes::Notes;
use crate::solve::solver::{Batch, Pass, Softness, Velocity, run_pass, run_soft_pass};
use crate::tree::block_join::join_blocks;
use crate::tree::curve_box::CurvePair;
use crate::tree::quadtree::{Quadtree, SplitRule};
use crate::tree::search::Search;
use crate::world_def::Simd;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx512;

/// Prefetches an element that will be read soon: bodies are stored by slot, and the step visits them along the curve. Another one for a slot
/// without an element: which lanes are empty is hard to predict for a branch.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
pub(crate) fn prefetch<T>(elements: &[T], slot: Slot) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = elements.get(slot.at().min(elements.len().wrapping_sub(1))) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint about an address that is valid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(element).cast()) }
    }
    let _ = (elements, slot);
}

/// The instructions that the kernels use. A token in here proves that the machine has them; only [`Path::detect`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path {
    /// What every machine of this target has: see [`Base`].
    Base(Base),
    /// 128 bits: SSE4.2 and the extensions before it.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Sse42(Sse4_2),
    /// 256 bits: AVX2, BMI1, BMI2, LZCNT and what else is x86-64-v3.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2(Avx2),
    /// 512 bits: AVX-512 as in Ice Lake and Zen 4, and the 256 bits that such machines also have.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512(Avx512, Avx2),
}

/// Runs a kernel compiled for the instructions of a path: `with_simd!(path, simd => kernel(simd, ...))`, or `with_simd!(path, at most 256,
/// simd => ...)` if 512 bits make it no faster. The kernel and everything that it calls must be `#[inline(always)]`.
macro_rules! with_simd {
    ($path:expr, $simd:ident => $kernel:expr) => {
        with_simd!(@run $path, $simd => $kernel, {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Avx2($simd) => $simd.vectorize(#[inline(always)] || $kernel),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Avx512($simd, _) => $simd.vectorize(#[inline(always)] || $kernel),
        })
    };
    ($path:expr, at most 256, $simd:ident => $kernel:expr) => {
        with_simd!(@run $path, $simd => $kernel, {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Avx2($simd) | Path::Avx512(_, $simd) => $simd.vectorize(#[inline(always)] || $kernel),
        })
    };
    (@run $path:expr, $simd:ident => $kernel:expr, { $($wide:tt)* }) => {
        match $path {
            Path::Base($simd) => $simd.vectorize(#[inline(always)] || $kernel),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Path::Sse42($simd) => $simd.vectorize(#[inline(always)] || $kernel),
            $($wide)*
        }
    };
}

impl Path {
    /// The one that every machine of this target has.
    pub(crate) fn base() -> Self {
        Self::Base(base())
    }

    /// The widest path of this machine that is allowed. Without the feature `std`, only what the program was compiled for counts.
    pub(crate) fn detect(allowed: Simd) -> Self {
        Self::each(allowed).next().unwrap_or_else(Self::base)
    }

    /// The widest limit under which this machine takes this path.
    pub(crate) fn limit(self) -> Simd {
        let limits = [Simd::Widest, Simd::Bits256, Simd::Bits128];
        limits.into_iter().find(|&limit| Self::detect(limit).bits() == self.bits()).unwrap_or(Simd::Plain)
    }

    /// The paths of this machine that are allowed, the widest first; at least the one that every machine has.
    pub(crate) fn each(allowed: Simd) -> impl Iterator<Item = Self> {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let wider = {
            let level = Level::try_detect().unwrap_or(Level::baseline());
            [
                level.as_avx512().zip(level.as_avx2()).map(|(wide, half)| Self::Avx512(wide, half)),
                level.as_avx2().map(Self::Avx2),
                level.as_sse4_2().map(Self::Sse42),
            ]
        };
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        let wider: [Option<Self>; 0] = [];
        let most = match allowed {
            Simd::Plain => 0,
            Simd::Bits128 => 128,
            Simd::Bits256 => 256,
            Simd::Widest => u32::MAX,
        };
        wider.into_iter().flatten().filter(move |path| path.bits() <= most).chain([Self::base()])
    }

    /// Width of a register; 0 for none.
    fn bits(self) -> u32 {
        match self {
            Self::Base(_) => 0,
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Sse42(_) => 128,
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx2(_) => 256,
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512(..) => 512,
        }
    }

    /// See [`World::instruction_set`](crate::world::World::instruction_set).
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Base(_) => lanes::BASE_NAME,
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Sse42(_) => "sse4.2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx2(_) => "avx2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512(..) => "avx512",
        }
    }

    /// See [`WorkingArrays::gather`].
    pub(crate) fn gather(
        self,
        to: WorkingArrays<'_>,
        slots: &[[Slot; LANES]],
        bodies: &[Body],
        ranges: &[Owned],
        limits: [i32; 2],
        fast: &mut [u8],
    ) -> GatherSummary {
        with_simd!(self, at most 256, simd => to.gather(
            simd,
            slots,
            bodies,
            ranges,
            limits,
            fast,
            #[inline(always)]
            |slot| {
                prefetch(bodies, slot);
                prefetch(ranges, slot);
            },
        ))
    }

    /// See [`join_blocks`].
    pub(crate) fn join(
        self,
        pairs: &[CurvePair],
        a: &[BoxBlock],
        b: &[BoxBlock],
        keep_own: u64,
        out: &mut Vec<CurvePair>,
    ) {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if let Self::Avx512(simd, _) = self {
            return avx512::join(simd, pairs, a, b, keep_own, out);
        }
        with_simd!(self, at most 256, simd => join_blocks(simd, pairs, a, b, keep_own, out));
    }

    /// See [`find_hits`].
    pub(crate) fn narrow(self, pairs: &[WorkingPair], shells: &[Shell], margin: i32, hits: &mut Hits) {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if let Self::Avx512(simd, _) = self {
            return avx512::narrow(simd, pairs, shells, margin, hits);
        }
        with_simd!(self, at most 256, simd => find_hits(simd, pairs, shells, margin, hits));
    }

    /// See [`Colors::take_places`]. Without `shells`, every body can be moved.
    pub(crate) fn take_places(
        self,
        colors: &mut Colors,
        hits: &Hits,
        shells: Option<&[Shell]>,
        layout: &mut BatchLayout,
    ) {
        let pairs = &hits.pairs[..hits.len];
        match shells {
            None => {
                with_simd!(self, at most 256, _simd => colors.take_places(pairs, #[inline(always)] |_| true, layout))
            }
            Some(shells) => with_simd!(self, at most 256, _simd => {
                colors.take_places(pairs, #[inline(always)] |body| shells[body].mass != 0, layout);
            }),
        }
    }

    /// See [`ContactSetup::fill_window`].
    pub(crate) fn fill_window(
        self,
        setup: &ContactSetup<'_>,
        hits: &Hits,
        layout: &BatchLayout,
        to: &mut WindowBatches<'_>,
        notes: &mut Notes,
    ) {
        with_simd!(self, at most 256, simd => setup.fill_window(simd, hits, layout, to, notes));
    }

    /// See [`ContactCache::count_contacts`].
    pub(crate) fn count_contacts(
        self,
        cache: &mut ContactCache,
        batches: &mut Batches,
        shells: &[Shell],
        touch: &dyn Fn(WorkingIndex, WorkingIndex) -> bool,
    ) {
        with_simd!(self, at most 256, simd => cache.count_contacts(simd, batches, shells, touch));
    }

    /// See [`Movement::blocks`].
    pub(crate) fn move_blocks(
        self,
        movement: &mut Movement<'_>,
        slots: &[[Slot; LANES]],
        velocities: MoverVelocities<'_>,
        boxes: &mut [BoxBlock],
    ) {
        with_simd!(self, at most 256, simd => movement.blocks(simd, slots, velocities, boxes, prefetch));
    }

    /// See [`Quadtree::sort`].
    pub(crate) fn sort(self, tree: &mut Quadtree, slots: &[Slot], rule: SplitRule, bodies: &[Body]) {
        with_simd!(self, simd => tree.sort(
            simd,
            slots,
            rule,
            #[inline(always)]
            |slot| bodies[slot].centre_and_extent(),
        ));
    }

    /// [`Self::sort`] of these bodies.
    pub(crate) fn sorter(self, rule: SplitRule, bodies: &[Body]) -> impl Fn(&mut Quadtree, &[Slot]) + '_ {
        move |tree, slots| self.sort(tree, slots, rule, bodies)
    }

    /// See [`Quadtree::rebuild_bounds`].
    pub(crate) fn rebuild_bounds(self, tree: &mut Quadtree) {
        with_simd!(self, at most 256, simd => tree.rebuild_bounds(simd));
    }

    /// See [`Quadtree::find_each_in`].
    pub(crate) fn find_each_in(self, few: &Quadtree, many: &Quadtree, out: &mut Vec<CurvePair>) {
        with_simd!(self, at most 256, simd => few.find_each_in(simd, many, out));
    }

    /// Appends the moving bodies whose boxes overlap `area`, see [`Quadtree::visit_lanes`]. `tree` is theirs.
    pub(crate) fn movers_in(self, tree: &Quadtree, area: &RawBox, out: &mut Vec<WorkingIndex>) {
        with_simd!(self, at most 256, simd => {
            tree.visit_lanes(simd, area, #[inline(always)] |lane| out.push(WorkingIndex::new(lane.at())));
        });
    }

    /// See [`Quadtree::search`].
    pub(crate) fn search(self, tree: &Quadtree, search: &mut impl Search) {
        with_simd!(self, at most 256, simd => tree.search(simd, search));
    }

    /// See [`Quadtree::search_blocks`].
    pub(crate) fn search_blocks(self, tree: &Quadtree, search: &mut impl Search) {
        with_simd!(self, at most 256, simd => tree.search_blocks(simd, search));
    }

    /// See [`Quadtree::collect`].
    pub(crate) fn collect(self, tree: &Quadtree, area: &RawBox, out: &mut Vec<BodyId>) {
        with_simd!(self, at most 256, simd => tree.collect(simd, area, out));
    }

    /// See [`slot_sort::sort_by_slot`].
    pub(crate) fn sort_by_slot(self, ids: &mut [BodyId]) {
        with_simd!(self, at most 256, simd => slot_sort::sort_by_slot(simd, ids));
    }

    /// See [`run_pass`].
    pub(crate) fn solve(self, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
        with_simd!(self, at most 256, simd => run_pass(simd, batches, velocities, pass));
    }

    /// See [`run_soft_pass`].
    pub(crate) fn solve_soft(
        self,
        batches: &mut [Batch],
        softness: &[Softness],
        velocities: &mut [Velocity],
    ) {
        with_simd!(self, at most 256, simd => run_soft_pass(simd, batches, softness, velocities));
    }
}

#[cfg(test)]
mod tests;
