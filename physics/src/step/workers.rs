//! Threads: other threads can help with a step.
//!
//! The engine starts no threads. A game with a thread pool or a job system can lend it to [`World::step_on`]. The number of threads, and
//! which thread does what, do not affect the bits.
//!
//! [`World::step_on`]: crate::World::step_on

/// Threads that a game lends to a step.
///
/// ```
/// use testudo_physics::{Workers, World, WorldDef};
///
/// /// Two threads for the length of a step. A pool that is kept answers sooner: with the feature `rayon`, a `rayon::ThreadPool` can be lent.
/// struct TwoThreads;
///
/// impl Workers for TwoThreads {
///     fn threads(&self) -> usize {
///         2
///     }
///
///     fn run(&self, step: &mut dyn FnMut(), help: &(dyn Fn() + Sync)) {
///         std::thread::scope(|scope| {
///             scope.spawn(help);
///             step();
///         });
///     }
/// }
///
/// let mut world = World::new(WorldDef::new()).unwrap();
/// world.step_on(60, &TwoThreads).unwrap();
/// ```
pub trait Workers {
    /// Number of threads that can work on a step, the calling one included. With 1, the step runs everything itself.
    fn threads(&self) -> usize;

    /// Calls `step` once, on this thread, and meanwhile `help` on others, once on each. `step` waits for no thread to come: one that comes
    /// late or never costs only its help. `help` returns when the step is over, or after some idle milliseconds. A `run` that also waits until each
    /// thread has come takes as long as the last of them: take back a call of `help` that has not begun, or use threads that have nothing else to do.
    fn run(&self, step: &mut dyn FnMut(), help: &(dyn Fn() + Sync));
}

/// No other threads; [`World::step`](crate::World::step) uses this.
#[derive(Clone, Copy, Debug, Default)]
pub struct SameThread;

impl Workers for SameThread {
    fn threads(&self) -> usize {
        1
    }

    fn run(&self, step: &mut dyn FnMut(), _: &(dyn Fn() + Sync)) {
        step();
    }
}

/// A pool of `rayon`, with the feature of that name. The thread that steps works, too, whether it is one of the pool's or not; so one thread
/// fewer of the pool is asked to help. Asking allocates a few bytes in each step.
///
/// Lend a pool that does nothing else: a step ends only when all threads that were asked have come, because `rayon` takes no job back. One that is in a
/// long job of the game holds the step up for as long, and one that never ends its job, for ever. A caller that is a thread of the pool may run other
/// jobs of the pool within the step.
#[cfg(feature = "rayon")]
impl Workers for rayon::ThreadPool {
    fn threads(&self) -> usize {
        self.current_num_threads()
    }

    fn run(&self, step: &mut dyn FnMut(), help: &(dyn Fn() + Sync)) {
        self.in_place_scope(|scope| {
            (1..self.threads()).for_each(|_| scope.spawn(|_| help()));
            step();
        });
    }
}
