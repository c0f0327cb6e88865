//! What is told of a relay's life, on a thread of its own: whoever reads it may stand still (a stopped terminal, a log that nobody takes), and the matches
//! do not wait for that.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// News that wait to be told; further ones are left out.
const WAITING_MAX: usize = 256;

/// Time for the last ones when the relay ends.
const LAST_WITHIN: Duration = Duration::from_secs(1);

/// Tells news in their order.
pub(crate) struct Teller<N> {
    waiting: SyncSender<N>,
    /// Closed when everything is told.
    done: Receiver<()>,
}

impl<N: Send + 'static> Teller<N> {
    /// # Errors
    /// No thread.
    pub(crate) fn start(tell: impl FnMut(N) + Send + 'static) -> io::Result<Self> {
        let (waiting, news) = sync_channel(WAITING_MAX);
        let (told, done) = channel::<()>();
        thread::Builder::new().name("news".into()).spawn(move || {
            news.into_iter().for_each(tell);
            drop(told);
        })?;
        Ok(Self { waiting, done })
    }

    /// Tells it soon, or leaves it out if too much waits.
    pub(crate) fn tell(&self, news: N) {
        let _ = self.waiting.try_send(news);
    }

    /// Waits a moment for what has not been told yet. False: the reader stands still.
    pub(crate) fn finish(self) -> bool {
        drop(self.waiting);
        self.done.recv_timeout(LAST_WITHIN) == Err(RecvTimeoutError::Disconnected)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

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

    /// A relay whose output nobody read stood still with all its matches, once the pipe was full.
    #[test]
    fn nobody_waits_for_a_reader_that_stands_still() {
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
