//! The one place that chooses instructions, and the only one that may lift the ban on `unsafe`.
//!
//! The kernels are plain code over eight lanes. Here they are instantiated a second time with AVX2 enabled and chosen at
//! run time. Integer arithmetic gives the same bits either way; the tests compare both.

use alloc::vec::Vec;

use crate::block_join::{IndexPair, join_blocks};
use crate::quadtree::BoxBlock;
use crate::solver::{Batch, Pass, Velocity, run_pass};

/// Which instantiation of the kernels runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The target's ordinary instructions.
    Plain,
    /// 256-bit integer instructions, found at run time.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    Avx2,
}

impl Path {
    /// The fastest path of this machine, or the plain one when `wanted` is false.
    pub(crate) fn detect(wanted: bool) -> Self {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        if wanted
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi2")
        {
            return Self::Avx2;
        }
        let _ = wanted;
        Self::Plain
    }

    /// See [`join_blocks`].
    pub(crate) fn join(
        self,
        pairs: &[IndexPair],
        a: &[BoxBlock],
        b: &[BoxBlock],
        same: bool,
        out: &mut Vec<IndexPair>,
    ) {
        match self {
            Self::Plain => join_blocks(pairs, a, b, same, out),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            #[allow(unsafe_code)]
            // SAFETY: `detect` is the only source of `Avx2`, and it found the instructions.
            Self::Avx2 => unsafe { avx2::join(pairs, a, b, same, out) },
        }
    }

    /// See [`run_pass`].
    pub(crate) fn solve(self, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
        match self {
            Self::Plain => run_pass(batches, velocities, pass),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            #[allow(unsafe_code)]
            // SAFETY: as above.
            Self::Avx2 => unsafe { avx2::solve(batches, velocities, pass) },
        }
    }
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2 {
    use super::*;

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub(super) fn join(
        pairs: &[IndexPair],
        a: &[BoxBlock],
        b: &[BoxBlock],
        same: bool,
        out: &mut Vec<IndexPair>,
    ) {
        join_blocks(pairs, a, b, same, out);
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub(super) fn solve(batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
        run_pass(batches, velocities, pass);
    }
}
