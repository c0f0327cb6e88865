//! Threads: a step can hand out work whose parts do not depend on each other.
//!
//! The engine starts no threads. A game with a thread pool or a job system can lend it to [`World::step_on`]. The number of threads, and
//! which thread runs which job, do not affect the bits.
//!
//! [`World::step_on`]: crate::World::step_on

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::collide::narrow_phase::Hits;
use crate::contact::setup::ContactSetup;
use crate::math::boxes::BoxBlock;
use crate::simd::Path;
use crate::solve::coloring::{Notes, WindowBatches};
use crate::solve::colors::{Colors, Places};
use crate::step::broad_phase::WINDOW;
use crate::tree::block_join::{BODIES_OF_ONE, IndexPair};

/// Runs the jobs of a step.
///
/// ```
/// use testudo_physics::{Job, Workers, World, WorldDef};
///
/// /// Two threads for the length of a step. A pool that is kept answers sooner: with the feature `rayon`, a `rayon::ThreadPool` can be lent.
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

/// No other threads; [`World::step`](crate::World::step) uses this.
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

/// A pool of `rayon`, with the feature of that name. Step from inside of the pool, `pool.install(|| world.step_on(60, &pool))`: then the thread
/// that steps is one of the pool's and works, too. From outside it waits for others to wake up, twice in a step.
#[cfg(feature = "rayon")]
impl Workers for rayon::ThreadPool {
    fn threads(&self) -> usize {
        self.current_num_threads()
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
        self.install(|| jobs.par_iter_mut().for_each(Job::run));
    }
}

/// A part of a step's work, which depends on no other part.
#[derive(Debug)]
pub struct Job<'a>(Work<'a>);

#[derive(Debug)]
enum Work<'a> {
    /// Broad phase and narrow phase of some windows; with colours, the places of their contacts, too.
    Find {
        blocks: &'a [IndexPair],
        geometry: Geometry<'a>,
        found: &'a mut [WindowHits],
        colors: Option<&'a mut Colors>,
    },
    /// Contact set-up of some windows.
    Fill {
        found: &'a mut [WindowHits],
        setup: ContactSetup<'a>,
        path: Path,
        to: WindowBatches<'a>,
    },
    Done,
}

/// The data that all windows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry<'a> {
    pub(crate) blocks: &'a [BoxBlock],
    pub(crate) shells: &'a [Shell],
    /// Raw units.
    pub(crate) margin: i32,
    /// Whether there is a moving body that the solver cannot move.
    pub(crate) some_fixed: bool,
    pub(crate) path: Path,
}

/// Pairs and hits of one window; kept between steps so that a steady step does not allocate for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowHits {
    pub(crate) pairs: Vec<IndexPair>,
    pub(crate) hits: Hits,
    pub(crate) places: Places,
    pub(crate) notes: Notes,
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
        let Geometry { blocks, shells, margin, path, .. } = geometry;
        self.pairs.clear();
        path.join(window, blocks, blocks, BODIES_OF_ONE, &mut self.pairs);
        if let Some(wanted) = wanted {
            self.pairs.retain(|&pair| wanted(pair));
        }
        path.narrow(&self.pairs, shells, margin, &mut self.hits);
    }
}

impl<'a> Job<'a> {
    pub(crate) fn find(
        blocks: &'a [IndexPair],
        geometry: Geometry<'a>,
        found: &'a mut [WindowHits],
        colors: Option<&'a mut Colors>,
    ) -> Self {
        Self(Work::Find { blocks, geometry, found, colors })
    }

    pub(crate) fn fill(
        found: &'a mut [WindowHits],
        setup: ContactSetup<'a>,
        path: Path,
        to: WindowBatches<'a>,
    ) -> Self {
        Self(Work::Fill { found, setup, path, to })
    }

    /// Does the work. A second call does nothing.
    pub fn run(&mut self) {
        match core::mem::replace(&mut self.0, Work::Done) {
            Work::Find { blocks, geometry, found, mut colors } => {
                for (window, found) in blocks.chunks(WINDOW).zip(found) {
                    found.find(window, geometry, None);
                    if let Some(colors) = &mut colors {
                        let shells = geometry.some_fixed.then_some(geometry.shells);
                        geometry.path.take_places(colors, &found.hits, shells, &mut found.places);
                    }
                }
            }
            Work::Fill { found, setup, path, mut to } => {
                for WindowHits { hits, places, notes, .. } in found {
                    let (mut own, later) = to.split_at(places.batches);
                    notes.clear();
                    path.fill_window(&setup, hits, places, &mut own, notes);
                    to = later;
                }
            }
            Work::Done => {}
        }
    }
}
