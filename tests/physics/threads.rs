//! Threads change no bit: a step on any number of them.

use std::thread;

use testudo_physics::{Job, Workers};

use crate::workers::assert_same_bits;

/// Jobs in even parts on so many threads.
struct Threads(usize);

impl Workers for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        let part = jobs.len().div_ceil(self.0);
        thread::scope(|scope| {
            for jobs in jobs.chunks_mut(part) {
                scope.spawn(|| jobs.iter_mut().for_each(Job::run));
            }
        });
    }
}

#[test]
fn a_step_on_any_number_of_threads_gives_the_same_bits() {
    assert_same_bits(vec![Box::new(Threads(2)), Box::new(Threads(3)), Box::new(Threads(8))]);
}
