//! An object in a store, written part by part.

use super::fetch::explain;
use super::location::Location;
use super::watch::{Counters, Statuses};
use super::{Progress, RemoteError, RemoteErrorKind, StoreOptions, Traffic};
use crate::nonblocking::{handle, wait_for};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use object_store::{Error, MultipartUpload, ObjectStoreExt, PutResult, UploadPart};
use std::io::{self, Write};
use std::sync::Arc;

/// What a finished upload left in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// Bytes of the object.
    pub len: u64,
    /// Its tag, where the store has one.
    pub tag: Option<String>,
    /// What it cost.
    pub traffic: Traffic,
}

/// An object being written: parts leave while the next one is filled, a few at a time, so memory is bounded by
/// `part_len` times `concurrency`. The object appears when [`AsyncStoreWriter::finish`] returns, whole; dropped before, it
/// never does.
///
/// An object of less than one part is one request. Plain HTTP servers take no parts, and so no larger objects.
#[derive(Debug)]
pub struct AsyncStoreWriter {
    location: Location,
    options: StoreOptions,
    counters: Arc<Counters>,
    part: BytesMut,
    upload: Option<Upload>,
    /// Parts.
    sent: u32,
    written: u64,
}

/// An upload in parts that has begun.
struct Upload {
    parts: Box<dyn MultipartUpload>,
    in_flight: FuturesUnordered<UploadPart>,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upload").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}

impl AsyncStoreWriter {
    /// A writer to `url`; nothing is sent yet.
    ///
    /// # Errors
    /// A URL or setting that cannot be understood.
    pub fn create(url: &str, options: &StoreOptions) -> io::Result<Self> {
        let counters = Arc::<Counters>::default();
        let location = Location::parse(url, options, &counters, Statuses::Leave)?;
        let part = BytesMut::new();
        Ok(Self { location, options: options.clone(), counters, part, upload: None, sent: 0, written: 0 })
    }

    /// Takes `bytes`; waits while too many parts are on their way.
    ///
    /// # Errors
    /// When the store refuses a part, after its retries. The object will then not appear.
    pub async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let part_len = part_len(self.options.part_len, self.sent);
            let room = part_len.saturating_sub(self.part.len());
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.part.extend_from_slice(now);
            self.written = self.written.saturating_add(now.len() as u64);
            bytes = later;
            if self.part.len() >= part_len {
                let part = self.part.split().freeze();
                self.send(part).await?;
            }
        }
        Ok(())
    }

    /// Sends what is left and makes the object appear.
    ///
    /// # Errors
    /// When the store refuses; the object then does not appear.
    pub async fn finish(mut self) -> io::Result<Stored> {
        let rest = self.part.split().freeze();
        let result = match self.upload {
            None => {
                self.count_local();
                // Nothing of `self` is borrowed while waiting: its parts may move between threads, not be shared.
                let Location { store, path, .. } = self.location.clone();
                let put = store.put(&path, rest.into()).await;
                put.map_err(|error| self.explain(&error))?
            }
            Some(_) => {
                if !rest.is_empty() {
                    self.send(rest).await?;
                }
                self.complete().await?
            }
        };
        self.tell();
        Ok(Stored { len: self.written, tag: result.e_tag, traffic: self.counters.now() })
    }

    /// Gives up: parts already in the store are removed.
    ///
    /// # Errors
    /// When the store cannot be told.
    pub async fn abort(mut self) -> io::Result<()> {
        match self.upload.take() {
            Some(upload) => abort(upload).await.map_err(|error| self.explain(&error)),
            None => Ok(()),
        }
    }

    /// Bytes taken so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    async fn send(&mut self, part: Bytes) -> io::Result<()> {
        let mut upload = match self.upload.take() {
            Some(upload) => upload,
            None => {
                self.count_local();
                let begun = self.location.store.put_multipart(&self.location.path).await;
                let parts = begun.map_err(|error| self.refuses_parts(&error))?;
                Upload { parts, in_flight: FuturesUnordered::new() }
            }
        };
        self.count_local();
        upload.in_flight.push(upload.parts.put_part(part.into()));
        self.sent = self.sent.saturating_add(1);
        let most = self.options.concurrency.clamp(1, MOST_PARTS);
        let mut failed = None;
        // The newest part is polled here too, so that it is on its way while the next one is filled.
        while failed.is_none() && upload.in_flight.len() >= most {
            failed = upload.in_flight.next().await.and_then(Result::err);
            self.tell();
        }
        if let Some(error) = failed {
            // What is there of it is of no use to anybody; the first error is the one to tell.
            drop(abort(upload).await);
            return Err(self.explain(&error));
        }
        self.upload = Some(upload);
        Ok(())
    }

    async fn complete(&mut self) -> io::Result<PutResult> {
        let Some(mut upload) = self.upload.take() else {
            return Err(io::Error::other("no upload has begun"));
        };
        let mut failed = None;
        while let Some(sent) = upload.in_flight.next().await {
            failed = failed.or(sent.err());
            self.tell();
        }
        self.count_local();
        let result = match failed {
            Some(error) => Err(error),
            None => upload.parts.complete().await,
        };
        match result {
            Ok(result) => Ok(result),
            Err(error) => {
                drop(abort(upload).await);
                Err(self.explain(&error))
            }
        }
    }

    fn refuses_parts(&self, error: &Error) -> io::Error {
        if !matches!(error, Error::NotImplemented { .. } | Error::NotSupported { .. }) {
            return self.explain(error);
        }
        let detail = format!(
            "this store does not support uploads in parts: at most {} bytes (the length of a part) at once",
            self.options.part_len
        );
        RemoteError::new(RemoteErrorKind::Request, &self.location.url, detail).into()
    }

    fn explain(&self, error: &Error) -> io::Error {
        let mut error = explain(&self.location.url, error);
        if error.kind == RemoteErrorKind::Failed {
            error.tries = self.options.retries.saturating_add(1);
        }
        error.into()
    }

    fn count_local(&self) {
        if !self.location.over_http {
            self.counters.request();
        }
    }

    fn tell(&self) {
        if let Some(progress) = &self.options.progress {
            progress(Progress { traffic: self.counters.now(), object_len: self.written });
        }
    }
}

impl Drop for AsyncStoreWriter {
    /// Parts of an object that never appears cost money in some stores: they are removed, without waiting.
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            handle().spawn(abort(upload));
        }
    }
}

/// Bytes of the next part when `sent` are on their way: stores take ten thousand parts and objects of terabytes, so parts
/// become twice as long after every thousand.
fn part_len(first: usize, sent: u32) -> usize {
    first.max(1).saturating_mul(1 << (sent / 1000).min(9))
}

async fn abort(mut upload: Upload) -> Result<(), Error> {
    while upload.in_flight.next().await.is_some() {}
    upload.parts.abort().await
}

/// [`AsyncStoreWriter`] as a [`Write`], usable on any thread.
///
/// ```
/// use fw_source::remote::{StoreOptions, StoreWriter, open_source};
/// use fw_source::ReadAt;
/// use std::io::Write;
///
/// let mut writer = StoreWriter::create("memory:///greeting", &StoreOptions::new())?;
/// writer.write_all(b"hello")?;
/// assert_eq!(writer.finish()?.len, 5);
/// assert_eq!(open_source("memory:///greeting", &StoreOptions::new())?.object_len(), 5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct StoreWriter {
    /// Not there after an error.
    inner: Option<AsyncStoreWriter>,
    /// Small writes are gathered before they cross to the runtime.
    gathered: Vec<u8>,
}

impl StoreWriter {
    /// A writer to `url`; nothing is sent yet.
    ///
    /// # Errors
    /// As [`AsyncStoreWriter::create`].
    pub fn create(url: &str, options: &StoreOptions) -> io::Result<Self> {
        Ok(Self { inner: Some(AsyncStoreWriter::create(url, options)?), gathered: Vec::new() })
    }

    /// Sends what is left and makes the object appear.
    ///
    /// # Errors
    /// As [`AsyncStoreWriter::finish`].
    pub fn finish(mut self) -> io::Result<Stored> {
        self.pass_on()?;
        let inner = self.inner.take().ok_or_else(broken)?;
        wait_for(inner.finish())
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let mut inner = self.inner.take().ok_or_else(broken)?;
        let bytes = std::mem::take(&mut self.gathered);
        let (inner, bytes) = wait_for(async move {
            inner.write(&bytes).await?;
            io::Result::Ok((inner, bytes))
        })?;
        self.inner = Some(inner);
        self.gathered = bytes;
        self.gathered.clear();
        Ok(())
    }
}

impl Write for StoreWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.inner.is_none() {
            return Err(broken());
        }
        let now = bytes.get(..GATHERED).unwrap_or(bytes);
        self.gathered.extend_from_slice(now);
        if self.gathered.len() >= GATHERED {
            self.pass_on()?;
        }
        Ok(now.len())
    }

    /// Nothing is in the store before [`StoreWriter::finish`]; there is nothing to hurry.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn broken() -> io::Error {
    io::Error::other("an earlier write to the store failed; the object will not appear")
}

const GATHERED: usize = 1 << 20;
/// Parts on their way at once.
const MOST_PARTS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_parts_hold_the_largest_objects() {
        let first = StoreOptions::default().part_len;
        assert_eq!([0, 999, 1000, 2500].map(|sent| part_len(first, sent) / first), [1, 1, 2, 4]);
        let whole: u64 = (0..10_000).map(|sent| part_len(first, sent) as u64).sum();
        assert!(whole > 5 << 40, "an object may have 5 TiB");
        assert!(part_len(first, 9999) <= 5 << 30, "and a part 5 GiB");
        assert_eq!(part_len(0, 0), 1);
    }
}
