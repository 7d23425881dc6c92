//! Reading a link on a thread of its own.

use crate::address::{Address, Retry};
use crate::batch::{Batch, Event};
use crate::error::LinkError;
use crate::queue::{Queue, Statistics, Taken};
use crate::transport::{Ended, Opener, Transport, Way};
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How to read a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InputOptions {
    /// Bytes that may wait for the consumer. Then streams are no longer read, and their senders wait; datagrams are dropped and
    /// counted.
    pub capacity: usize,
    /// What happens when the link breaks, unless the address says it.
    pub retry: Retry,
}

impl Default for InputOptions {
    fn default() -> Self {
        Self { capacity: 64 << 20, retry: Retry::Forever }
    }
}

impl InputOptions {
    /// Chooses how many bytes may wait.
    #[must_use]
    pub const fn with_capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// Chooses what happens when the link breaks.
    #[must_use]
    pub const fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}

/// How waiting for data ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// The batch holds pieces, events or both.
    Data,
    /// Nothing came in time.
    Timeout,
    /// Nothing will come any more.
    End,
}

/// A link that is read.
///
/// Reading goes on while the consumer is busy, up to [`InputOptions::capacity`]. It ends when this value is dropped.
#[derive(Debug)]
pub struct Input {
    queue: Arc<Queue>,
    local: Option<SocketAddr>,
    /// Dropped with this value; the thread ends then.
    _stop: oneshot::Sender<()>,
}

impl Input {
    /// Opens a link. Without `retry` in the address the first attempt must succeed; what waits for peers returns at once.
    ///
    /// # Errors
    /// When the link cannot be opened.
    pub fn open(address: &Address, options: &InputOptions) -> Result<Self, LinkError> {
        let queue = Arc::new(Queue::new(options.capacity.max(1)));
        let (stop, stopped) = oneshot::channel();
        let (opened, open) = mpsc::channel();
        let reader = Reader {
            address: address.clone(),
            retry: address.retry.unwrap_or(options.retry),
            patient: address.retry.is_some_and(|retry| retry != Retry::Never),
            queue: Arc::clone(&queue),
            opened: Some(opened),
        };
        let failed = |error: std::io::Error| LinkError::Open { address: address.text().to_owned(), error };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let thread = std::thread::Builder::new().name("fw-link".to_owned());
        thread
            .spawn(move || {
                runtime.block_on(async move {
                    let work = std::pin::pin!(reader.run());
                    // Whichever comes first: the end of the link or the end of its consumer.
                    futures_util::future::select(work, stopped).await;
                });
            })
            .map_err(failed)?;
        let local = match open.recv() {
            Ok(result) => result?,
            Err(mpsc::RecvError) => return Err(failed(std::io::Error::other("the reading thread ended"))),
        };
        Ok(Self { queue, local, _stop: stop })
    }

    /// The socket address that peers connect or send to, where there is one.
    pub const fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Replaces the content of `batch` by everything that arrived since the last call; waits for it if nothing has.
    ///
    /// # Errors
    /// When the link broke and is not opened again; everything that arrived before was handed out.
    pub fn next(&mut self, batch: &mut Batch, timeout: Option<Duration>) -> Result<Wait, LinkError> {
        Ok(match self.queue.take(batch, timeout)? {
            Taken::Data => Wait::Data,
            Taken::Nothing => Wait::Timeout,
            Taken::End => Wait::End,
        })
    }

    /// What was delivered so far.
    pub fn statistics(&self) -> Statistics {
        self.queue.statistics()
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// What the thread does.
struct Reader {
    address: Address,
    retry: Retry,
    /// Whether the first attempt may fail.
    patient: bool,
    queue: Arc<Queue>,
    opened: Option<mpsc::Sender<Result<Option<SocketAddr>, LinkError>>>,
}

impl Reader {
    async fn run(mut self) {
        let result = self.read().await;
        match self.opened.take() {
            // Nobody waits at the queue yet.
            Some(opened) => drop(opened.send(result.map(|()| None))),
            None => self.queue.end(result),
        }
    }

    fn answer(&mut self, local: Option<SocketAddr>) {
        if let Some(opened) = self.opened.take() {
            let _ = opened.send(Ok(local));
        }
    }

    async fn read(&mut self) -> Result<(), LinkError> {
        let text = self.address.text().to_owned();
        let unavailable = |error| LinkError::Open { address: text.clone(), error };
        let opener = Opener::new(&self.address, Way::In).await.map_err(unavailable)?;
        if let Some(local) = opener.local() {
            self.answer(Some(local));
        }
        if self.patient {
            self.answer(None);
        }
        let (mut connection, mut pauses) = (0, Pauses::new(self.retry));
        loop {
            let failure = match opener.open().await {
                Ok((transport, peer)) => {
                    self.answer(transport.local());
                    let ended = self.connected(transport, peer, connection).await;
                    connection += 1;
                    // Patience begins when the link breaks, however long it was open.
                    pauses = Pauses::new(self.retry);
                    let again = self.address.is_live() && self.retry != Retry::Never;
                    match ended {
                        Ended::Unwanted => return Ok(()),
                        Ended::Closed if !again => return Ok(()),
                        Ended::Broken(error) if !again => return Err(LinkError::Lost { address: text, error }),
                        Ended::Closed => {
                            self.queue.tell(Event::Disconnected(None));
                            None
                        }
                        Ended::Broken(error) => {
                            self.queue.tell(Event::Disconnected(Some(error.to_string())));
                            None
                        }
                    }
                }
                Err(error) if self.opened.is_some() => return Err(unavailable(error)),
                Err(error) => Some(error),
            };
            let Some(pause) = pauses.next() else {
                let error = failure.unwrap_or_else(|| std::io::Error::other("gave up"));
                return Err(unavailable(error));
            };
            if let Some(error) = failure {
                self.queue.tell(Event::Retrying(error.to_string(), pause));
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn connected(&self, transport: Transport, peer: Option<String>, connection: u32) -> Ended {
        self.queue.tell(Event::Connected(peer));
        transport.read(connection, &self.queue).await
    }
}

/// The pauses between attempts: each twice as long as the one before, up to a limit.
pub(crate) struct Pauses {
    next: Duration,
    until: Option<Instant>,
}

impl Pauses {
    pub(crate) fn new(retry: Retry) -> Self {
        let until = match retry {
            Retry::Never => Some(Instant::now()),
            Retry::For(patience) => Some(Instant::now() + patience),
            Retry::Forever => None,
        };
        Self { next: FIRST_PAUSE, until }
    }

    /// `None` when it is time to give up.
    pub(crate) fn next(&mut self) -> Option<Duration> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return None;
        }
        let pause = self.next;
        self.next = (pause * 2).min(LAST_PAUSE);
        Some(left.map_or(pause, |left| pause.min(left)))
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(5);
