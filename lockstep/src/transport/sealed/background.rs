//! The thread of an endpoint: a runtime that nobody outside sees.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

/// Time for what has just been queued to leave and to be read, before a connection is closed: the closing overtakes what a peer has not read yet.
pub(crate) const FLUSH: core::time::Duration = core::time::Duration::from_millis(80);

/// Time for the closing of an endpoint to be sent and answered.
pub(crate) const FAREWELL: core::time::Duration = core::time::Duration::from_millis(170);

/// A running thread. Dropping it asks it to stop and waits until it has, [`FLUSH`] + [`FAREWELL`] and a moment.
#[derive(Debug)]
pub(crate) struct Background {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Resolves when the owner is dropped.
pub(crate) type Stop = oneshot::Receiver<()>;

/// A runtime that is driven by one thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_io().enable_time().build()
}

impl Background {
    /// Runs `work` on a thread of its own. `work` has to end soon after its [`Stop`] resolves.
    pub(crate) fn run<F>(runtime: Runtime, work: impl FnOnce(Stop) -> F + Send + 'static) -> io::Result<Self>
    where
        F: Future<Output = ()>,
    {
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("sealed".into()).spawn(move || {
            runtime.block_on(work(stopped));
            // Tasks that still wait are dropped, and with them their connections.
            runtime.shutdown_background();
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Whether the thread has ended, though nobody has asked it to.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed; the connections are gone with it.
            let _ = thread.join();
        }
    }
}

/// A thread for many [`SealedClient`](super::SealedClient)s, for programs that play for many people. Clones are the same thread; it ends with the last
/// clone and the last client, in a moment.
#[derive(Clone, Debug)]
pub struct SealedThread {
    handle: Handle,
    background: Arc<Background>,
}

impl SealedThread {
    /// # Errors
    /// The system gives no thread.
    pub fn start() -> io::Result<Self> {
        let runtime = runtime()?;
        let handle = runtime.handle().clone();
        let background = Background::run(runtime, |stop| async {
            let _ = stop.await;
        })?;
        Ok(Self { handle, background: Arc::new(background) })
    }

    /// Runs `work` on this thread. It has to end soon after its [`Stop`] resolves.
    pub(crate) fn spawn<F>(&self, work: impl FnOnce(Stop) -> F) -> Owner
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        self.handle.spawn(work(stopped));
        Owner::Guest { _stop: stop, _thread: Arc::clone(&self.background) }
    }
}

/// What keeps a task going. Dropping it asks the task to stop.
#[derive(Debug)]
pub(crate) enum Owner {
    Alone { _thread: Background },
    Guest { _stop: oneshot::Sender<()>, _thread: Arc<Background> },
}

impl Owner {
    /// Runs `work` on a thread of its own.
    pub(crate) fn alone<F>(work: impl FnOnce(Stop) -> F + Send + 'static) -> io::Result<Self>
    where
        F: Future<Output = ()>,
    {
        Ok(Self::Alone { _thread: Background::run(runtime()?, work)? })
    }
}
