//! Captures of every kind: recordings, which have host times, and plain files of bytes, which have none.

use crate::error::RecordingError;
use crate::read::{Damage, Reader, Recording, is_recording};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The bytes of a capture, in the order they arrived.
#[derive(Debug)]
pub struct Capture {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Recording(Box<Reader>),
    File { path: PathBuf, file: File, chunk: Vec<u8>, at: u64 },
}

/// A piece of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureChunk<'a> {
    /// When it arrived, in nanoseconds since the epoch; `None` where nobody recorded it.
    pub time: Option<i64>,
    /// Where its first byte stands in the capture.
    pub at: u64,
    /// Which unbroken stream of bytes it belongs to, from 0; see [`Chunk::stream`](crate::Chunk::stream).
    pub stream: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl Capture {
    /// Opens a recording, which is a file or a directory, or a plain file.
    ///
    /// # Errors
    /// When it cannot be opened, or is a directory without a recording.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        if path.is_dir() || is_recording(path) {
            let reader = Recording::open(path)?.reader();
            return Ok(Self { source: Source::Recording(Box::new(reader)) });
        }
        let file = File::open(path).map_err(RecordingError::io(path))?;
        Ok(Self { source: Source::File { path: path.to_owned(), file, chunk: Vec::new(), at: 0 } })
    }

    /// The recording, where it is one.
    pub fn recording(&self) -> Option<&Recording> {
        match &self.source {
            Source::Recording(reader) => Some(reader.recording()),
            Source::File { .. } => None,
        }
    }

    /// What could not be read so far, and what is missing. A plain file has no such list.
    pub fn damage(&self) -> &[Damage] {
        match &self.source {
            Source::Recording(reader) => reader.damage(),
            Source::File { .. } => &[],
        }
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn next_chunk(&mut self) -> Result<Option<CaptureChunk<'_>>, RecordingError> {
        match &mut self.source {
            Source::Recording(reader) => {
                let chunk = reader.next_chunk()?;
                Ok(chunk.map(|chunk| CaptureChunk {
                    time: Some(chunk.time),
                    at: chunk.at,
                    stream: chunk.stream,
                    bytes: chunk.bytes,
                }))
            }
            Source::File { path, file, chunk, at } => {
                chunk.resize(CHUNK, 0);
                let len = loop {
                    match file.read(chunk) {
                        Ok(len) => break len,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(RecordingError::io(path)(error)),
                    }
                };
                let begin = *at;
                *at += len as u64;
                let bytes = chunk.get(..len).unwrap_or_default();
                Ok((len > 0).then_some(CaptureChunk { time: None, at: begin, stream: 0, bytes }))
            }
        }
    }
}

/// Bytes of a plain file read at a time.
const CHUNK: usize = 256 << 10;
