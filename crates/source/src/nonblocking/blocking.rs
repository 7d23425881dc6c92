//! Waiting for futures on any thread, those of other runtimes included.

use super::{AsyncReadAt, read_planned};
use crate::ReadAt;
use crate::plan::{Cost, plan};
use fw_bytes::{Span, interrupt};
use std::future::Future;
use std::io;
use std::sync::{Arc, LazyLock, mpsc};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// Two threads serve every awaited source of the process that is used from blocking code; they start with the first use.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("fw-io")
        .enable_all()
        .build()
        .expect("the process may start two threads")
});

/// The runtime behind [`wait_for`].
pub fn handle() -> &'static Handle {
    RUNTIME.handle()
}

/// Runs `future` on a runtime of our own and waits for it. Safe on a thread that drives another runtime, where waiting in
/// place would panic; that thread is held up all the same, so prefer the awaited functions there.
///
/// # Panics
/// When the future does.
pub fn wait_for<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let (send, receive) = mpsc::sync_channel(1);
    let task = RUNTIME.spawn(async move { drop(send.send(future.await)) });
    match received(&receive, &task) {
        Some(value) => value,
        None => {
            drop(task);
            panic!("a task of a blocking read panicked; its message is on standard error")
        }
    }
}

/// What the task sends, or `None` when it ended without. Watched work is looked after while it waits, and the task ends with it.
fn received<T>(receive: &mpsc::Receiver<T>, task: &JoinHandle<()>) -> Option<T> {
    if !interrupt::is_watched() {
        return receive.recv().ok();
    }
    let _aborted = Abort(task);
    loop {
        match receive.recv_timeout(interrupt::PAUSE) {
            Ok(value) => return Some(value),
            Err(mpsc::RecvTimeoutError::Timeout) => interrupt::check(),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Ends a task that nobody waits for any more; one that is done does not notice.
struct Abort<'a>(&'a JoinHandle<()>);

impl Drop for Abort<'_> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An awaited source as a [`ReadAt`]; cheap to clone.
#[derive(Debug)]
pub struct Blocking<S: ?Sized> {
    source: Arc<S>,
}

impl<S> Blocking<S> {
    /// Waits for `source` in every call.
    pub fn new(source: S) -> Self {
        Self { source: Arc::new(source) }
    }
}

impl<S: ?Sized> Blocking<S> {
    /// The source underneath.
    pub const fn source(&self) -> &Arc<S> {
        &self.source
    }
}

impl<S: ?Sized> Clone for Blocking<S> {
    fn clone(&self) -> Self {
        Self { source: Arc::clone(&self.source) }
    }
}

impl<S: AsyncReadAt + ?Sized + 'static> ReadAt for Blocking<S> {
    fn len(&self) -> io::Result<u64> {
        let source = Arc::clone(&self.source);
        wait_for(async move { source.total_len().await })
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let span = Span::sized(offset, buffer.len() as u64)
            .ok_or_else(|| crate::read_at::short_read(offset, buffer.len(), u64::MAX))?;
        let source = Arc::clone(&self.source);
        let bytes = wait_for(async move { source.read(span).await })?;
        // A source answers with exactly the bytes asked for.
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.source.cost()
    }

    /// All of them travel at the same time.
    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let source = Arc::clone(&self.source);
        let ranges = plan(spans, &source.cost());
        wait_for(async move { read_planned(&*source, &ranges).await })
    }
}
