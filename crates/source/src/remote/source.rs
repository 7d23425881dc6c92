//! An object in a store, read.

use super::cache::Cache;
use super::fetch::{Fetcher, Probed, Version};
use super::location::Location;
use super::watch::{Counters, Statuses};
use super::whole::Whole;
use super::{RemoteError, RemoteErrorKind, StoreOptions, Traffic};
use crate::ReadAt;
use crate::nonblocking::{AsyncReadAt, merge, wait_for};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready, try_join_all};
use fw_bytes::Span;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Opens the object that `url` names and waits for it; see [`StoreSource::open`].
///
/// # Errors
/// As [`StoreSource::open`].
pub fn open_source(url: &str, options: &StoreOptions) -> io::Result<StoreSource> {
    let (url, options) = (url.to_owned(), options.clone());
    wait_for(async move { StoreSource::open(&url, &options).await })
}

/// One version of one object, read range by range; cheap to clone.
///
/// It is an [`AsyncReadAt`] and a [`ReadAt`]; the latter waits, on any thread.
#[derive(Clone, Debug)]
pub struct StoreSource {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    fetcher: Fetcher,
    version: Version,
    cache: Mutex<Cache>,
    in_flight: Semaphore,
    /// All there is, where the server knows no ranges.
    whole: Option<Whole>,
}

impl StoreSource {
    /// Opens an object with one request, which brings its first bytes, its size and its version.
    ///
    /// From a server that serves no ranges a second one brings everything, when [`StoreOptions::full_read`] allows it.
    ///
    /// # Errors
    /// A URL or setting that cannot be understood, before anything is sent; no such object; missing credentials; a server
    /// without ranges; or one that fails or cannot be reached, after the retries that `options` allow. All are
    /// [`RemoteError`] inside.
    pub async fn open(url: &str, options: &StoreOptions) -> io::Result<Self> {
        let counters = Arc::<Counters>::default();
        let location = Location::parse(url, options, &counters, Statuses::Raise)?;
        let fetcher = Fetcher { location, options: options.clone(), counters };
        let (probed, version) = fetcher.probe().await?;
        let mut cache = Cache::new(options.cache_len.max(options.probe_len.saturating_mul(4)));
        let whole = match probed {
            Probed::Whole(whole) => Some(whole),
            Probed::Head(head) => {
                cache.insert(0, &head);
                None
            }
        };
        let in_flight = Semaphore::new(options.concurrency.max(1));
        Ok(Self { inner: Arc::new(Inner { fetcher, version, cache: Mutex::new(cache), in_flight, whole }) })
    }

    /// Where it is, for people: without credentials.
    pub fn url(&self) -> &str {
        &self.inner.fetcher.location.url
    }

    /// Bytes of the object.
    pub fn object_len(&self) -> u64 {
        self.inner.version.len
    }

    /// Whether the server serves no ranges, so that all bytes were read when the object was opened.
    pub fn is_read_whole(&self) -> bool {
        self.inner.whole.is_some()
    }

    /// The tag of this version, where the store has one.
    pub fn tag(&self) -> Option<&str> {
        self.inner.version.tag.as_deref()
    }

    /// What opening and reading cost so far.
    pub fn traffic(&self) -> Traffic {
        self.inner.fetcher.counters.now()
    }

    /// The bytes of `span`: from the cache what is there, from the store what is not.
    ///
    /// # Errors
    /// As [`StoreSource::open`]; a range past the end; an object that changed since it was opened.
    pub async fn bytes(&self, span: Span) -> Result<Bytes, RemoteError> {
        let inner = &*self.inner;
        let len = inner.version.len;
        if span.end > len {
            let detail = format!("need bytes {span}, the object has {len}");
            return Err(RemoteError::new(RemoteErrorKind::PastEnd, self.url(), detail));
        }
        if span.is_empty() {
            return Ok(Bytes::new());
        }
        if let Some(whole) = &inner.whole {
            return whole.read(span).await.map_err(|error| inner.fetcher.spilling(&error));
        }
        let head = {
            let mut cache = inner.cache.lock().unwrap_or_else(PoisonError::into_inner);
            match cache.find(span) {
                Some(found) => return Ok(found),
                None => cache.head(span),
            }
        };
        // An answer of the semaphore that it is closed cannot come: nobody closes it.
        let _permit = inner.in_flight.acquire().await.ok();
        let known = head.as_ref().map_or(0, |head| head.len() as u64);
        let missing = Span::new(span.start.saturating_add(known), span.end);
        let tail = inner.fetcher.range(missing, &inner.version).await?;
        let bytes = match head {
            None => tail,
            Some(head) => {
                let mut whole = BytesMut::with_capacity(usize::try_from(span.len()).unwrap_or(0));
                whole.extend_from_slice(&head);
                whole.extend_from_slice(&tail);
                whole.freeze()
            }
        };
        inner.cache.lock().unwrap_or_else(PoisonError::into_inner).insert(span.start, &bytes);
        Ok(bytes)
    }
}

impl AsyncReadAt for StoreSource {
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
        ready(Ok(self.object_len())).boxed()
    }

    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
        async move { Ok(self.bytes(span).await?) }.boxed()
    }
}

impl ReadAt for StoreSource {
    fn len(&self) -> io::Result<u64> {
        Ok(self.object_len())
    }

    /// All of them travel at the same time.
    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let (source, spans) = (self.clone(), merge(spans));
        wait_for(async move {
            let requests = spans.into_iter().map(|span| {
                let source = source.clone();
                async move { io::Result::Ok((span.start, Vec::from(source.bytes(span).await?))) }
            });
            try_join_all(requests).await
        })
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let len = buffer.len() as u64;
        let span = Span::sized(offset, len).ok_or_else(|| {
            RemoteError::new(RemoteErrorKind::PastEnd, self.url(), format!("{len} bytes at {offset}"))
        })?;
        let cached = self.inner.cache.lock().unwrap_or_else(PoisonError::into_inner).find(span);
        let bytes = match cached {
            Some(bytes) => bytes,
            None => {
                let source = self.clone();
                wait_for(async move { source.bytes(span).await })?
            }
        };
        buffer.copy_from_slice(&bytes);
        Ok(())
    }
}
