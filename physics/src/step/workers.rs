//! Threads, for who wants them: a step can hand out work whose parts do not depend on each other.
//!
//! The engine starts no threads of its own. A game that has a pool or a job system lends it to [`World::step_on`]; how many
//! threads there are, and which takes what, changes no bit.
//!
//! [`World::step_on`]: crate::World::step_on

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::collide::narrow_phase::Hits;
use crate::math::boxes::BoxBlock;
use crate::simd::Path;
use crate::tree::block_join::{BODIES_OF_ONE, IndexPair};

/// Who runs the jobs of a step.
///
/// ```
/// use testudo_physics::{Job, Workers, World, WorldDef};
///
/// /// Two threads for the length of a step. A pool that is kept answers sooner.
/// struct TwoThreads;
///
/// impl Workers for TwoThreads {
///     fn threads(&self) -> usize {
///         2
///     }
///
///     fn run(&self, jobs: &mut [Job<'_>]) {
///         let (mine, theirs) = jobs.split_at_mut(jobs.len() / 2);
///         std::thread::scope(|scope| {
///             scope.spawn(|| theirs.iter_mut().for_each(Job::run));
///             mine.iter_mut().for_each(Job::run);
///         });
///     }
/// }
///
/// let mut world = World::new(WorldDef::new()).unwrap();
/// world.step_on(60, &TwoThreads).unwrap();
/// ```
pub trait Workers {
    /// Number of threads that run jobs. With 1, the step runs everything itself.
    fn threads(&self) -> usize;

    /// Runs every job, in any order, and returns when all are done. The step runs the jobs that are left out.
    fn run(&self, jobs: &mut [Job<'_>]);
}

/// No other threads: what [`World::step`](crate::World::step) uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct SameThread;

impl Workers for SameThread {
    fn threads(&self) -> usize {
        1
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        jobs.iter_mut().for_each(Job::run);
    }
}

/// A part of a step's work: the hits of one window of the broad phase.
#[derive(Debug)]
pub struct Job<'a> {
    window: &'a [IndexPair],
    geometry: Geometry<'a>,
    found: &'a mut WindowHits,
    done: bool,
}

/// What every window is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry<'a> {
    pub(crate) blocks: &'a [BoxBlock],
    pub(crate) shells: &'a [Shell],
    /// Raw units.
    pub(crate) margin: i32,
    pub(crate) path: Path,
}

/// Pairs and hits of one window; kept between steps so that a steady one does not allocate for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowHits {
    pub(crate) pairs: Vec<IndexPair>,
    pub(crate) hits: Hits,
}

impl WindowHits {
    /// Broad phase and narrow phase of one window of block pairs, for the pairs of bodies that are `wanted`.
    #[inline(always)]
    pub(crate) fn find(
        &mut self,
        window: &[IndexPair],
        geometry: Geometry<'_>,
        wanted: Option<&dyn Fn(IndexPair) -> bool>,
    ) {
        let Geometry { blocks, shells, margin, path } = geometry;
        self.pairs.clear();
        path.join(window, blocks, blocks, BODIES_OF_ONE, &mut self.pairs);
        if let Some(wanted) = wanted {
            self.pairs.retain(|&pair| wanted(pair));
        }
        path.narrow(&self.pairs, shells, margin, &mut self.hits);
    }
}

impl<'a> Job<'a> {
    pub(crate) fn new(window: &'a [IndexPair], geometry: Geometry<'a>, found: &'a mut WindowHits) -> Self {
        Self { window, geometry, found, done: false }
    }

    /// Does the work. A second call does nothing.
    pub fn run(&mut self) {
        if !self.done {
            self.found.find(self.window, self.geometry, None);
            self.done = true;
        }
    }
}
