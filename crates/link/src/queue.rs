//! Between the thread that reads and its consumer: one batch that grows until it is taken, up to a limit.

use crate::batch::{Batch, Event};
use crate::error::LinkError;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What a link has delivered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes read or written.
    pub bytes: u64,
    /// Pieces they came in.
    pub chunks: u64,
    /// How often the link was opened.
    pub connections: u64,
    /// Bytes of datagrams that did not fit into the queue.
    pub dropped_bytes: u64,
    /// Those datagrams.
    pub dropped_chunks: u64,
    /// How long reading waited for room in the queue. Senders on a stream wait meanwhile.
    pub waited: Duration,
    /// Most bytes that were in the queue at once.
    pub peak_queued: u64,
}

/// What the reading thread and the consumer share.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    ready: Condvar,
    drained: Notify,
    capacity: usize,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// No more data will come.
    ended: bool,
    failure: Option<LinkError>,
    /// The consumer is gone.
    closed: bool,
    statistics: Statistics,
}

/// What happens to pieces that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// Reading waits, and the sender with it.
    Wait,
    /// They are dropped and counted: a sender of datagrams does not wait.
    Drop,
}

/// The consumer is gone.
#[derive(Debug)]
pub(crate) struct Closed;

/// How waiting for data ended.
#[derive(Debug)]
pub(crate) enum Taken {
    Data,
    Nothing,
    End,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), ready: Condvar::new(), drained: Notify::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands pieces over; `pieces` is empty then.
    pub(crate) async fn push(&self, pieces: &mut Batch, excess: Excess) -> Result<(), Closed> {
        if pieces.is_empty() {
            return Ok(());
        }
        let mut waiting: Option<Instant> = None;
        loop {
            {
                let mut state = self.state();
                if state.closed {
                    return Err(Closed);
                }
                if let Some(since) = waiting {
                    state.statistics.waited += since.elapsed();
                }
                let (bytes, chunks) = pieces.lens();
                let fits = state.batch.is_empty() || state.batch.weight() + pieces.weight() <= self.capacity;
                if fits {
                    state.batch.append(pieces);
                    let statistics = &mut state.statistics;
                    statistics.bytes += bytes as u64;
                    statistics.chunks += chunks as u64;
                    let queued = state.batch.lens().0 as u64;
                    state.statistics.peak_queued = state.statistics.peak_queued.max(queued);
                    drop(state);
                    self.ready.notify_one();
                    return Ok(());
                }
                if excess == Excess::Drop {
                    state.batch.drop_bytes(bytes as u64);
                    state.statistics.dropped_bytes += bytes as u64;
                    state.statistics.dropped_chunks += chunks as u64;
                    pieces.clear();
                    return Ok(());
                }
            }
            waiting = Some(Instant::now());
            self.drained.notified().await;
        }
    }

    pub(crate) fn tell(&self, event: Event) {
        let mut state = self.state();
        if matches!(event, Event::Connected(_)) {
            state.statistics.connections += 1;
        }
        state.batch.tell(event);
        drop(state);
        self.ready.notify_one();
    }

    /// Nothing more will come.
    pub(crate) fn end(&self, result: Result<(), LinkError>) {
        let mut state = self.state();
        state.ended = true;
        state.failure = result.err();
        drop(state);
        self.ready.notify_one();
    }

    /// The consumer is gone.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.drained.notify_one();
    }

    /// Takes what is there, or waits for it.
    pub(crate) fn take(&self, batch: &mut Batch, timeout: Option<Duration>) -> Result<Taken, LinkError> {
        batch.clear();
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.state();
        loop {
            if !state.batch.is_empty() || !state.batch.events().is_empty() || state.batch.dropped() > 0 {
                std::mem::swap(&mut state.batch, batch);
                drop(state);
                self.drained.notify_one();
                return Ok(Taken::Data);
            }
            if state.ended {
                return state.failure.take().map_or(Ok(Taken::End), Err);
            }
            state = match deadline {
                None => self.ready.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(Taken::Nothing);
                    }
                    self.ready.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.state().statistics
    }
}
