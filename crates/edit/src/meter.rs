//! How much of a job is written, for whoever waits for it.

use fw_source::Watch;
use std::cell::Cell;

/// Counts the bytes that a job writes, in however many files.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    watch: Watch,
    total: u64,
    done: Cell<u64>,
}

impl Meter {
    /// Tells `watch` of about `total` bytes.
    pub(crate) fn new(watch: &Watch, total: u64) -> Self {
        Self { watch: watch.clone(), total, done: Cell::new(0) }
    }

    /// The same after work that has told of `done` bytes.
    pub(crate) fn after(watch: &Watch, done: u64, total: u64) -> Self {
        Self { done: Cell::new(done), ..Self::new(watch, done.saturating_add(total)) }
    }

    /// So many bytes more are written.
    pub(crate) fn advance(&self, bytes: u64) {
        let done = self.done.get().saturating_add(bytes);
        self.done.set(done);
        // New metadata may be longer than the old.
        self.watch.tell(done.min(self.total), self.total);
    }

    /// Everything is written, however well its size was foreseen.
    pub(crate) fn finish(&self) {
        self.watch.tell(self.total, self.total);
    }

    /// What a conversion tells as part of this job.
    pub(crate) fn within(&self) -> impl Fn(fw_convert::Progress<'_>) + Send + Sync + 'static {
        let (watch, total, before) = (self.watch.clone(), self.total, self.done.get());
        move |progress| watch.tell(before.saturating_add(progress.bytes_done).min(total), total)
    }
}
