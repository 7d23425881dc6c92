//! A file under construction, filled with new bytes and with bytes of other files, in bounded memory.

use crate::error::Result;
use crate::meter::Meter;
use fw_bytes::Span;
use fw_source::{AssembledFile, FileSource};
use fw_tensogram::{MessagePlan, Piece};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Where a changed file is written.
#[derive(Debug)]
pub(crate) struct Output<'w> {
    sink: Sink<'w>,
    written: u64,
    meter: &'w Meter,
}

enum Sink<'w> {
    /// Appears at its place when it is complete.
    File(AssembledFile),
    /// Written in pieces of some size.
    Stream(BufWriter<&'w mut dyn Write>),
}

impl<'w> Output<'w> {
    /// A file that takes its place when it is [finished](Output::finish).
    ///
    /// # Errors
    /// When it cannot be created; the message names it.
    pub(crate) fn file(path: &Path, meter: &'w Meter) -> Result<Self> {
        Ok(Self::of(Sink::File(AssembledFile::create(path)?), meter))
    }

    /// A stream that is written as it comes.
    pub(crate) fn stream(sink: &'w mut dyn Write, meter: &'w Meter) -> Self {
        Self::of(Sink::Stream(BufWriter::with_capacity(PENDING, sink)), meter)
    }

    const fn of(sink: Sink<'w>, meter: &'w Meter) -> Self {
        Self { sink, written: 0, meter }
    }

    /// Puts bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.meter.advance(bytes.len() as u64);
        match &mut self.sink {
            Sink::File(file) => file.put(bytes),
            Sink::Stream(sink) => sink.write_all(bytes),
        }
    }

    /// Copies bytes of a file: by the system where they are many, and never through more memory than a buffer.
    pub(crate) fn copy(&mut self, source: &FileSource, span: Span) -> io::Result<()> {
        self.written += span.len();
        let meter = self.meter;
        match &mut self.sink {
            Sink::File(file) => file.copy(source, span, &mut |bytes| meter.advance(bytes)),
            Sink::Stream(sink) => fw_source::stream(source, span, |piece| {
                meter.advance(piece.len() as u64);
                sink.write_all(piece)
            }),
        }
    }

    /// Writes a planned message; `source` says where the bytes of each of its objects are.
    pub(crate) fn message<S: AsRef<FileSource>>(
        &mut self,
        plan: &MessagePlan,
        mut source: impl FnMut(usize) -> Result<S>,
    ) -> Result<()> {
        plan.pieces(|piece| match piece {
            Piece::Bytes(bytes) => Ok(self.put(bytes)?),
            Piece::Copied { object, span } => Ok(self.copy(source(object)?.as_ref(), span)?),
        })
    }

    /// Completes the file: until here nothing of it was to be seen.
    pub(crate) fn finish(self) -> Result<u64> {
        match self.sink {
            Sink::File(file) => file.commit()?,
            Sink::Stream(mut sink) => sink.flush()?,
        }
        Ok(self.written)
    }
}

impl std::fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Stream(_) => "Stream",
        })
    }
}

const PENDING: usize = 1 << 20;
