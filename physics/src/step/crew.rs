//! The threads that work on one step.
//!
//! A step runs on the thread that called it. Others may enter at any time and leave at any time; nothing waits for them to come. The parts of
//! the step that can be divided are lists of jobs: the calling thread takes one after the other, and so does every thread that is there.
//! The calling thread goes on when all jobs are done, so it waits only for jobs that somebody has begun. Who does which job
//! changes no bit, because a job reads and writes nothing that another job of the same list writes. (As the solver stages of Box2D v3.)
//!
//! This is the only place besides [`crate::simd`] with `unsafe`: a list of jobs lives shorter than the threads that look for jobs.
#![allow(unsafe_code)]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "no result depends on who does which job"
)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::step::workers::Workers;

/// A list has up to this many jobs that are not taken yet: one bit each.
const JOBS_MAX: usize = u32::BITS as usize;

/// How often a thread looks for work before it lets others run.
const LOOKS: u32 = 1 << 11;

/// How often a thread lets others run before it leaves the step.
const PATIENCE: u32 = 1 << 14;

/// The same before the step has begun, which may never happen: bad workers run their help before the step, or instead of it.
const PATIENCE_AT_FIRST: u32 = 1 << 6;

/// Does job number `.0` of a list.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

/// The thread that runs the step, with those that help it.
pub(crate) struct Crew<'a> {
    /// `None` if nobody can come.
    board: Option<&'a Board>,
}

impl Crew<'_> {
    /// Nobody helps.
    pub(crate) fn alone() -> Self {
        Self { board: None }
    }

    /// Runs `step` with the threads of `workers`.
    pub(crate) fn gather(workers: &dyn Workers, step: impl FnOnce(&mut Crew<'_>)) {
        let board = Board::new(workers.threads());
        let mut step = Some(step);
        let mut run = || {
            if let Some(step) = step.take() {
                let _closed = Closing(&board);
                board.begun.store(true, Ordering::Relaxed);
                step(&mut Crew { board: Some(&board) });
            }
        };
        workers.run(&mut run, &|| board.help());
        // What bad workers left out.
        run();
    }

    /// Whether other threads may come.
    pub(crate) fn is_alone(&self) -> bool {
        self.board.is_none()
    }

    /// Runs all jobs, on any threads, and returns when they are done.
    pub(crate) fn run<J: Send>(&mut self, jobs: &mut [J], job: impl Fn(&mut J) + Sync) {
        let Some(board) =
            self.board.filter(|board| jobs.len() > 1 && board.helpers.load(Ordering::Relaxed) > 0)
        else {
            return jobs.iter_mut().for_each(job);
        };
        for jobs in jobs.chunks_mut(JOBS_MAX) {
            let count = jobs.len();
            let list = List(jobs.as_mut_ptr());
            let task = |at: usize| {
                assert!(at < count);
                // SAFETY: the element exists, and `Board::run` gives each number to one thread only.
                job(unsafe { list.element(at) });
            };
            board.run(count, &task);
        }
    }
}

impl Crew<'_> {
    /// Runs two different jobs.
    pub(crate) fn both(&mut self, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
        let (mut one, mut other) = (Some(one), Some(other));
        let mut one = || one.take().map_or((), |job| job());
        let mut other = || other.take().map_or((), |job| job());
        self.run(&mut [&mut one as &mut (dyn FnMut() + Send), &mut other], |job| job());
    }
}

/// The jobs of a list, whose elements are lent to several threads, each to one of them.
// not state: lives as long as one list of jobs
struct List<J>(*mut J);

// SAFETY: a thread gets elements of its own, which it may get as `J` is `Send`.
unsafe impl<J: Send> Sync for List<J> {}

impl<J> List<J> {
    /// # Safety
    /// The element exists, and nothing else uses it.
    #[allow(clippy::mut_from_ref)]
    unsafe fn element(&self, at: usize) -> &mut J {
        // SAFETY: as promised.
        unsafe { &mut *self.0.add(at) }
    }
}

/// Where the jobs of a step are offered. Only [`Crew::run`] offers jobs, through `&mut` of the only [`Crew`] that has this board: one list at a
/// time.
struct Board {
    /// The jobs that nobody has taken, one bit each. The thread that clears a bit does the job.
    open: AtomicU32,
    /// The number of jobs that are not done.
    left: AtomicU32,
    /// What the jobs are. Written only while `left` is 0; read only by those who have taken a job and not done it.
    // not state: lives as long as one list of jobs
    task: UnsafeCell<*const Task<'static>>,
    /// How many jobs the list has. Says only where a helper begins.
    count: AtomicU32,
    /// Number of threads that look for jobs, besides the calling one.
    helpers: AtomicU32,
    threads: u32,
    /// Whether the step has begun, and whether it is over.
    begun: AtomicBool,
    closed: AtomicBool,
    /// Whether a job panicked.
    failed: AtomicBool,
}

// SAFETY: see `task` for its accesses, which `left` and `open` order.
unsafe impl Sync for Board {}

impl Board {
    fn new(threads: usize) -> Self {
        Self {
            open: AtomicU32::new(0),
            left: AtomicU32::new(0),
            task: UnsafeCell::new(core::ptr::from_ref(&|_: usize| {})),
            count: AtomicU32::new(0),
            helpers: AtomicU32::new(0),
            threads: threads.clamp(1, JOBS_MAX) as u32,
            begun: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    /// Runs `task` once for each number below `count`, on all threads that are here, and returns when all of it is done. Nobody else may run
    /// a task meanwhile.
    fn run(&self, count: usize, task: &Task<'_>) {
        // Waits also when a job panics.
        let finishing = Finishing(self);
        let task: *const Task<'_> = task;
        // SAFETY: only the lifetime in the type of a pointer changes. The pointer is used for jobs that are not done, and all are done before
        // this function returns or unwinds.
        let task: *const Task<'static> = unsafe { core::mem::transmute(task) };
        // SAFETY: no job is left, so nobody reads.
        unsafe { *self.task.get() = task };
        self.count.store(count as u32, Ordering::Relaxed);
        self.left.store(count as u32, Ordering::Relaxed);
        self.open.store(u32::MAX >> (JOBS_MAX - count), Ordering::Release);
        while let Some(at) = self.take(0) {
            // SAFETY: the job is taken and not done.
            unsafe { self.work(at, task) };
        }
        drop(finishing);
        assert!(!self.failed.load(Ordering::Relaxed), "a thread that helped with a step panicked");
    }

    /// Takes a job: the first from `home` on, or else the first of all.
    fn take(&self, home: u32) -> Option<usize> {
        let mut open = self.open.load(Ordering::Relaxed);
        while open != 0 {
            let near = open >> home << home;
            let at = if near != 0 { near } else { open }.trailing_zeros();
            open = self.open.fetch_and(!(1 << at), Ordering::Acquire);
            if open & 1 << at != 0 {
                return Some(at as usize);
            }
        }
        None
    }

    /// Does a job. When the last one is done, the calling thread may end the life of the task, at once. So the task is a pointer here: a reference
    /// would have to be valid until this function returns.
    ///
    /// # Safety
    /// `task` is that of the current list, and its job `at` is taken by this thread and not done.
    unsafe fn work(&self, at: usize, task: *const Task<'static>) {
        let done = Doing(self);
        // SAFETY: the task lives until all jobs are done, and this one is not. The reference ends with the call.
        unsafe { (*task)(at) };
        core::mem::forget(done);
        self.left.fetch_sub(1, Ordering::Release);
    }

    /// Looks for jobs until the step is over.
    fn help(&self) {
        let number = 1 + self.helpers.fetch_add(1, Ordering::Relaxed);
        let _here = Here(self);
        let mut looks = 0;
        while !self.closed.load(Ordering::Acquire) {
            let begun = self.begun.load(Ordering::Relaxed);
            if looks > LOOKS + if begun { PATIENCE } else { PATIENCE_AT_FIRST } {
                return;
            }
            // Each from another part of the list on, the same one in each list of as many jobs: its data is in that thread's cache.
            let home = number % self.threads * self.count.load(Ordering::Relaxed) / self.threads;
            match self.take(home) {
                Some(at) => {
                    // SAFETY: the job is taken and not done, so nobody writes. The task was written before its jobs were offered.
                    let task = unsafe { *self.task.get() };
                    // SAFETY: the same; this is the task of the job.
                    unsafe { self.work(at, task) };
                    looks = 0;
                }
                None => wait(&mut looks),
            }
        }
    }
}

/// Waits for a moment, and longer after some looks.
fn wait(looks: &mut u32) {
    *looks = looks.saturating_add(1);
    #[cfg(feature = "std")]
    if *looks > LOOKS {
        return std::thread::yield_now();
    }
    core::hint::spin_loop();
}

/// A thread that helps.
struct Here<'a>(&'a Board);

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.helpers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A job that is being done. Only a panic drops this.
struct Doing<'a>(&'a Board);

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.0.failed.store(true, Ordering::Relaxed);
        self.0.left.fetch_sub(1, Ordering::Release);
    }
}

/// A list of jobs. Nothing of it is used after this is dropped.
struct Finishing<'a>(&'a Board);

impl Drop for Finishing<'_> {
    fn drop(&mut self) {
        // Jobs are open here only after a panic.
        if self.0.open.load(Ordering::Relaxed) != 0 {
            let open = self.0.open.swap(0, Ordering::Acquire);
            self.0.left.fetch_sub(open.count_ones(), Ordering::Relaxed);
        }
        let mut looks = 0;
        while self.0.left.load(Ordering::Acquire) != 0 {
            wait(&mut looks);
        }
    }
}

/// A step. Nobody looks for jobs after this is dropped.
struct Closing<'a>(&'a Board);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
    }
}

// WebAssembly has no threads of its own, and a panic ends the program.
#[cfg(all(test, feature = "std", not(target_family = "wasm")))]
mod tests {
    use std::boxed::Box;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;
    use std::vec::Vec;

    use super::*;

    const ROUNDS: usize = if cfg!(miri) { 20 } else { 300 };

    /// Threads that live as long as a step.
    // not state: a test
    struct Threads(usize);

    impl Workers for Threads {
        fn threads(&self) -> usize {
            self.0
        }

        fn run(&self, step: &mut dyn FnMut(), help: &(dyn Fn() + Sync)) {
            thread::scope(|scope| {
                (1..self.0).for_each(|_| drop(scope.spawn(help)));
                step();
            });
        }
    }

    #[test]
    fn each_job_is_done_once_before_the_next_list_begins() {
        for threads in [1, 2, 3, 7] {
            let mut sums: Vec<Box<u32>> = (0..75).map(Box::new).collect();
            Crew::gather(&Threads(threads), |crew| {
                for round in 0..ROUNDS {
                    let count = round % (sums.len() + 1);
                    let before = *sums[0];
                    crew.run(&mut sums[..count], |sum| **sum += 1);
                    assert!(*sums[0] == before + u32::from(count > 0));
                }
                let (mut one, mut other) = (0, 0);
                crew.both(|| one += 1, || other += 1);
                assert_eq!((one, other), (1, 1));
            });
            for (at, sum) in sums.iter().enumerate() {
                let expected = (0..ROUNDS).filter(|round| round % 76 > at).count();
                assert_eq!(**sum as usize, at + expected, "job {at} on {threads} threads");
            }
        }
    }

    #[test]
    fn a_panic_in_a_job_ends_the_step_wherever_it_happens() {
        for at in 0..8 {
            let step = || {
                Crew::gather(&Threads(3), |crew| {
                    for _ in 0..50 {
                        crew.run(&mut [0, 1, 2, 3, 4, 5, 6, 7], |job| assert!(*job != at, "planted"));
                    }
                });
            };
            assert!(catch_unwind(AssertUnwindSafe(step)).is_err());
        }
    }
}
