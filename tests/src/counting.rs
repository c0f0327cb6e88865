//! An allocator that counts, for test programs that make it theirs with `#[global_allocator]`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with counters of each thread.
#[derive(Debug)]
pub struct Counting;

/// What one thread asked for since it began.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Number of blocks that were given or grown.
    pub allocations: u64,
    /// Bytes held; negative if the thread freed what others got.
    pub bytes: i64,
    /// The most bytes held at any time.
    pub bytes_peak: i64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { allocations: 0, bytes: 0, bytes_peak: 0 }) };
}

impl Counting {
    /// The counters of this thread. Each test runs in its own thread.
    #[must_use]
    pub fn counts() -> Counts {
        COUNTS.get()
    }
}

/// Notes a request that changes the bytes held.
fn note(requests: u64, bytes: i64) {
    let mut counts = COUNTS.get();
    counts.allocations += requests;
    counts.bytes += bytes;
    counts.bytes_peak = counts.bytes_peak.max(counts.bytes);
    COUNTS.set(counts);
}

// SAFETY: every call goes on to the system's allocator unchanged; the counters are plain cells without a destructor.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new block may exist at the same time.
        note(1, size as i64);
        note(0, -(layout.size() as i64));
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
