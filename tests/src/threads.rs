//! Threads for a step that live as long as it.

use std::thread;

use testudo_physics::Workers;

/// This many threads, the calling one among them.
pub struct Threads(pub usize);

impl Workers for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run(&self, step: &mut dyn FnMut(), help: &(dyn Fn() + Sync)) {
        thread::scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(help);
            }
            step();
        });
    }
}
