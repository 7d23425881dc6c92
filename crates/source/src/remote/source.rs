//! An object in a store, read.

use super::cache::Cache;
use super::fetch::{Fetcher, Probed, Version};
use super::location::Location;
use super::measure::Measured;
use super::watch::{Counters, Statuses};
use super::whole::Whole;
use super::{RemoteError, RemoteErrorKind, StoreOptions, Traffic};
use crate::ReadAt;
use crate::nonblocking::{AsyncReadAt, read_planned, wait_for};
use crate::plan::{Cost, plan, split};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready, try_join_all};
use fw_bytes::Span;
use std::io;
use std::sync::atomic::AtomicU32;
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
        let given = options.cost.or(match url.split_once(':') {
            // These are on this machine.
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("memory") => Some(Cost::MEMORY),
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => Some(Cost::QUEUED_FILE),
            _ => None,
        });
        let measured = Measured::new(given, options.concurrency);
        let fetcher = Fetcher { location, options: options.clone(), counters, measured, retried: AtomicU32::new(0) };
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
        let known = head.as_ref().map_or(0, |head| head.len() as u64);
        let missing = Span::new(span.start.saturating_add(known), span.end);
        let pieces = split(missing, &inner.fetcher.measured.cost()).map(|piece| self.piece(piece));
        let pieces = try_join_all(pieces).await?;
        let bytes = match (head, <[Bytes; 1]>::try_from(pieces)) {
            (None, Ok([only])) => only,
            (head, pieces) => {
                let pieces = pieces.map_or_else(|several| several, Vec::from);
                let mut whole = BytesMut::with_capacity(usize::try_from(span.len()).unwrap_or(0));
                head.iter().chain(&pieces).for_each(|piece| whole.extend_from_slice(piece));
                whole.freeze()
            }
        };
        inner.cache.lock().unwrap_or_else(PoisonError::into_inner).insert(span.start, &bytes);
        Ok(bytes)
    }

    /// One request, which waits while too many are in flight.
    async fn piece(&self, span: Span) -> Result<Bytes, RemoteError> {
        let inner = &*self.inner;
        // An answer of the semaphore that it is closed cannot come: nobody closes it.
        let _permit = inner.in_flight.acquire().await.ok();
        let waiting = inner.in_flight.available_permits();
        let in_flight = inner.fetcher.options.concurrency.max(1).saturating_sub(waiting);
        inner.fetcher.range(span, &inner.version, in_flight).await
    }

    /// What requests to the store cost, as far as is known: given with the options, or measured.
    pub fn request_cost(&self) -> Cost {
        if self.is_read_whole() { Cost::MEMORY } else { self.inner.fetcher.measured.cost() }
    }
}

impl AsyncReadAt for StoreSource {
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
        ready(Ok(self.object_len())).boxed()
    }

    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
        async move { Ok(self.bytes(span).await?) }.boxed()
    }

    fn cost(&self) -> Cost {
        self.request_cost()
    }
}

impl ReadAt for StoreSource {
    fn len(&self) -> io::Result<u64> {
        Ok(self.object_len())
    }

    /// All of them travel at the same time.
    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let (source, ranges) = (self.clone(), plan(spans, &self.request_cost()));
        wait_for(async move { read_planned(&source, &ranges).await })
    }

    fn cost(&self) -> Cost {
        self.request_cost()
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
