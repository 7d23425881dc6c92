//! Transfers that come to a crawl are given up.

use super::{RemoteError, RemoteErrorKind};
use futures_util::{Stream, StreamExt};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How fast the pieces of an answer come.
#[derive(Debug)]
pub(super) struct Pace {
    patience: Duration,
    /// When the bytes began to be counted.
    since: Instant,
    bytes: u64,
}

impl Pace {
    /// For an answer of which less than a kibibyte per second may come for so long.
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, since: Instant::now(), bytes: 0 }
    }

    /// The next piece; `None` at the end.
    pub(super) async fn next<T: AsRef<[u8]>, E>(
        &mut self,
        answer: &mut (impl Stream<Item = Result<T, E>> + Unpin),
        url: &str,
    ) -> Result<Option<Result<T, E>>, RemoteError> {
        loop {
            // One that is not to come in any time there is, is waited for.
            let Some(end) = self.since.checked_add(self.patience) else { return Ok(answer.next().await) };
            match timeout_at(end, answer.next()).await {
                Ok(piece) => {
                    let len =
                        piece.as_ref().and_then(|piece| piece.as_ref().ok()).map_or(0, |piece| piece.as_ref().len());
                    self.bytes = self.bytes.saturating_add(len as u64);
                    return Ok(piece);
                }
                Err(_) if self.bytes < least(self.patience) => {
                    let detail = format!(
                        "the server sent {} bytes in {} seconds, less than {LEAST_PER_SECOND} per second",
                        self.bytes,
                        self.patience.as_secs_f64()
                    );
                    return Err(RemoteError::new(RemoteErrorKind::Slow, url, detail));
                }
                Err(_) => (self.since, self.bytes) = (Instant::now(), 0),
            }
        }
    }
}

/// What must come in that time.
fn least(patience: Duration) -> u64 {
    (patience.as_secs_f64() * LEAST_PER_SECOND as f64) as u64
}

const LEAST_PER_SECOND: u64 = 1024;
