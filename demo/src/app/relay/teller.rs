//! What is told of a relay's life, on a thread of its own: whoever reads it may stand still (a stopped terminal, a log that nobody takes), and the matches
//! do not wait for that.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// News that wait to be told.
const WAITING_MAX: usize = 256;

/// Time for the last ones when the relay ends.
const LAST_WITHIN: Duration = Duration::from_secs(1);

/// Tells news in their order.
pub(crate) struct Teller<N> {
    queue: Arc<Queue<N>>,
    /// Closed when everything is told.
    done: Receiver<()>,
}

/// What waits; a part that is none is the end.
struct Queue<N> {
    waiting: Mutex<VecDeque<Option<N>>>,
    has_more: Condvar,
}

impl<N> Queue<N> {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Option<N>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the newest; the oldest makes room.
    fn push(&self, news: Option<N>) {
        let mut waiting = self.waiting();
        if waiting.len() >= WAITING_MAX {
            waiting.pop_front();
        }
        waiting.push_back(news);
        self.has_more.notify_one();
    }

    /// Waits for the next.
    fn next(&self) -> Option<N> {
        let waiting = self.has_more.wait_while(self.waiting(), |waiting| waiting.is_empty());
        waiting.unwrap_or_else(PoisonError::into_inner).pop_front().flatten()
    }
}

impl<N: Send + 'static> Teller<N> {
    /// # Errors
    /// No thread.
    pub(crate) fn start(tell: impl FnMut(N) + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(Queue { waiting: Mutex::default(), has_more: Condvar::new() });
        let news = Arc::clone(&queue);
        let (told, done) = channel::<()>();
        thread::Builder::new().name("news".into()).spawn(move || {
            std::iter::from_fn(|| news.next()).for_each(tell);
            drop(told);
        })?;
        Ok(Self { queue, done })
    }

    /// Tells it soon. If too much waits, the oldest is left out.
    pub(crate) fn tell(&self, news: N) {
        self.queue.push(Some(news));
    }

    /// Tells it soon, or leaves it out if too much waits: there may be many of this kind, and others matter more.
    pub(crate) fn tell_if_room(&self, news: N) {
        // Only this thread adds any.
        if self.queue.waiting().len() < WAITING_MAX {
            self.tell(news);
        }
    }

    /// Waits a moment for what has not been told yet. False: the reader stands still.
    #[must_use]
    pub(crate) fn finish(self) -> bool {
        self.queue.push(None);
        self.done.recv_timeout(LAST_WITHIN) == Err(RecvTimeoutError::Disconnected)
    }
}

/// The thread ends when it has told the rest.
impl<N> Drop for Teller<N> {
    fn drop(&mut self) {
        self.queue.push(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_told_in_its_order() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&told);
        let teller = Teller::start(move |news| list.lock().unwrap().push(news)).unwrap();
        (0..100).for_each(|news| teller.tell(news));
        assert!(teller.finish());
        assert_eq!(*told.lock().unwrap(), (0..100).collect::<Vec<_>>());
    }

    /// A relay whose output nobody read stood still with all its matches, once the pipe was full. Then what it told last was lost: its new code, or that it
    /// stops.
    #[test]
    fn nobody_waits_for_a_reader_that_stands_still_and_it_gets_the_newest_of_what_matters() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&told);
        let (reader, read) = channel::<()>();
        let teller = Teller::start(move |news| {
            // Until it goes on.
            let _ = read.recv();
            list.lock().unwrap().push(news);
        });
        let teller = teller.unwrap();
        (0..10 * WAITING_MAX).for_each(|news| teller.tell_if_room(news));
        teller.tell(usize::MAX);
        (0..10 * WAITING_MAX).for_each(|news| teller.tell_if_room(news));
        drop(reader);
        assert!(teller.finish());
        let told = told.lock().unwrap();
        assert!(told.len() <= WAITING_MAX + 1 && told.contains(&usize::MAX), "{}", told.len());
    }

    #[test]
    fn nobody_waits_at_the_end_for_a_reader_that_stands_still() {
        let (reader, read) = channel::<()>();
        let teller = Teller::start(move |_| {
            // Until the test is over.
            let _ = read.recv();
        });
        let teller = teller.unwrap();
        (0..10 * WAITING_MAX).for_each(|news| teller.tell(news));
        assert!(!teller.finish());
        drop(reader);
    }
}
