//! The solver's passes with the instructions of a path.

use crate::simd::Path;
use crate::solve::run::Kernels;
use crate::solve::solver::{Batch, Pass, Softness, Velocity};

impl Kernels for Path {
    fn pass(&self, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass) {
        self.solve(batches, velocities, pass);
    }

    fn soft_pass(&self, batches: &mut [Batch], softness: &[Softness], velocities: &mut [Velocity]) {
        self.solve_soft(batches, softness, velocities);
    }
}
