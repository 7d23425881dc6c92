//! A whole object at once, for servers that serve no ranges: held in memory up to a size, in a nameless file beyond.

use super::fetch::{Fetcher, Version, innermost};
use super::pace::Pace;
use super::watch::UNKNOWN_LEN;
use super::{FullRead, Progress, RemoteError, RemoteErrorKind};
use crate::nonblocking::{AsyncFile, AsyncReadAt, off_runtime};
use crate::{FileSource, ReadAt};
use bytes::{Bytes, BytesMut};
use fw_bytes::Span;
use object_store::{GetOptions, GetResult};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// All bytes of an object.
#[derive(Debug)]
pub(super) enum Whole {
    Memory(Bytes),
    /// A file that is gone from its folder already, and from the disk with this value.
    Spilled(AsyncFile),
}

impl Whole {
    /// The bytes of `span`.
    pub(super) async fn read(&self, span: Span) -> io::Result<Bytes> {
        match self {
            Self::Memory(bytes) => bytes.read(span).await,
            Self::Spilled(file) => file.read(span).await,
        }
    }

    fn len(&self) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => Ok(bytes.len() as u64),
            Self::Spilled(file) => ReadAt::len(file.source()),
        }
    }
}

impl Fetcher {
    /// Everything, in one request, when the options allow that; `refusal` is what is said when they do not.
    pub(super) async fn whole(&self, refusal: RemoteError) -> Result<(Whole, Version), RemoteError> {
        let limit = match self.options.full_read {
            FullRead::Refuse => {
                let detail = format!(
                    "{}; set the option full_read (StoreOptions::with_full_read) to read the whole object",
                    refusal.detail
                );
                return Err(RemoteError { detail, ..refusal });
            }
            FullRead::UpTo(limit) => limit,
            FullRead::Allow => u64::MAX,
        };
        let mut tried = 0;
        loop {
            match self.whole_once(limit).await {
                Ok(found) => return Ok(found),
                Err(error) => self.pause_after(error, &mut tried).await?,
            }
        }
    }

    async fn whole_once(&self, limit: u64) -> Result<(Whole, Version), RemoteError> {
        let answer = self.location.store.get_opts(&self.location.path, GetOptions::default()).await;
        let answer = answer.map_err(|error| self.explain(&error))?;
        let mut version = Version::of(&answer.meta);
        let stated_len = Some(version.len).filter(|len| *len != UNKNOWN_LEN);
        if let Some(len) = stated_len
            && len > limit
        {
            return Err(self.too_long(&format!("it has {len} bytes"), limit));
        }
        let whole = self.gather(answer, stated_len, limit).await?;
        version.len = whole.len().map_err(|error| self.spilling(&error))?;
        match stated_len {
            Some(stated_len) if stated_len != version.len => {
                let detail = format!("the response ended after {} of {stated_len} bytes", version.len);
                Err(RemoteError::new(RemoteErrorKind::Failed, &self.location.url, detail))
            }
            _ => Ok((whole, version)),
        }
    }

    async fn gather(&self, answer: GetResult, stated_len: Option<u64>, limit: u64) -> Result<Whole, RemoteError> {
        let mut stream = answer.into_stream();
        let mut held = BytesMut::new();
        let mut spill: Option<File> = None;
        let (mut have, mut pace) = (0u64, Pace::new(self.options.patience));
        while let Some(piece) = pace.next(&mut stream, &self.location.url).await? {
            let piece = piece.map_err(|error| {
                let detail = format!("the response broke off after {have} bytes: {}", innermost(&error));
                RemoteError::new(RemoteErrorKind::Failed, &self.location.url, detail)
            })?;
            have = have.saturating_add(piece.len() as u64);
            self.counters.received(piece.len() as u64);
            if have > limit {
                return Err(self.too_long("it is longer", limit));
            }
            if let Some(progress) = &self.options.progress {
                progress(Progress { traffic: self.counters.now(), object_len: stated_len.unwrap_or(0) });
            }
            held.extend_from_slice(&piece);
            if have > self.options.full_read_memory && (spill.is_none() || held.len() >= SPILLED_AT_ONCE) {
                spill = Some(self.spill(spill, held.split().freeze()).await?);
            }
        }
        match spill {
            None => Ok(Whole::Memory(held.freeze())),
            Some(file) => {
                let file = self.spill(Some(file), held.freeze()).await?;
                Ok(Whole::Spilled(AsyncFile::new(Arc::new(FileSource::of(file, &self.location.url)))))
            }
        }
    }

    /// Adds to the file, which is made first where there is none.
    async fn spill(&self, file: Option<File>, bytes: Bytes) -> Result<File, RemoteError> {
        let write = move || {
            let mut file = file.map_or_else(tempfile::tempfile, Ok)?;
            file.write_all(&bytes)?;
            io::Result::Ok(file)
        };
        off_runtime(write).await.map_err(|error| self.spilling(&error))
    }

    pub(super) fn spilling(&self, error: &io::Error) -> RemoteError {
        let folder = std::env::temp_dir();
        let detail = format!("cannot keep the object in a file of {}: {error}", folder.display());
        RemoteError::new(RemoteErrorKind::Spill, &self.location.url, detail)
    }

    fn too_long(&self, how_long: &str, limit: u64) -> RemoteError {
        let detail = format!(
            "the server does not serve ranges of bytes, and reading everything is allowed up to {limit} bytes: {how_long}"
        );
        RemoteError::new(RemoteErrorKind::NoRanges, &self.location.url, detail)
    }
}

/// Pieces of an answer are small; they go to the file together.
const SPILLED_AT_ONCE: usize = 1 << 20;
