//! A file under construction, filled with new bytes and with bytes of other files, in bounded memory.

use crate::error::Result;
use crate::meter::Meter;
use fw_bytes::Span;
use fw_source::{AtomicFile, FileSource, ReadAt};
use fw_tensogram::{MessagePlan, Piece};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Where a changed file is written.
#[derive(Debug)]
pub(crate) struct Output<'w> {
    sink: Sink<'w>,
    /// What was put and not handed on yet.
    pending: Vec<u8>,
    written: u64,
    meter: &'w Meter,
}

enum Sink<'w> {
    /// Appears at its place when it is complete.
    File(AtomicFile),
    Stream(&'w mut dyn Write),
}

impl<'w> Output<'w> {
    /// A file that takes its place when it is [finished](Output::finish).
    ///
    /// # Errors
    /// When it cannot be created; the message names it.
    pub(crate) fn file(path: &Path, meter: &'w Meter) -> Result<Self> {
        Ok(Self::of(Sink::File(AtomicFile::create(path)?), meter))
    }

    /// A stream that is written as it comes.
    pub(crate) fn stream(sink: &'w mut dyn Write, meter: &'w Meter) -> Self {
        Self::of(Sink::Stream(sink), meter)
    }

    const fn of(sink: Sink<'w>, meter: &'w Meter) -> Self {
        Self { sink, pending: Vec::new(), written: 0, meter }
    }

    /// Puts bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.meter.advance(bytes.len() as u64);
        if self.pending.len() + bytes.len() > PENDING {
            self.flush()?;
        }
        if bytes.len() >= PENDING {
            return self.sink.write_all(bytes);
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Copies bytes of a file: by the system where they are many, and never through more memory than a buffer.
    pub(crate) fn copy(&mut self, source: &FileSource, span: Span) -> io::Result<()> {
        if span.len() <= SMALL {
            let mut bytes = vec![0; span.len() as usize];
            source.read_exact_at(span.start, &mut bytes)?;
            return self.put(&bytes);
        }
        self.flush()?;
        let at = self.written;
        self.written += span.len();
        let meter = self.meter;
        match &mut self.sink {
            Sink::File(file) => {
                blocks(span, at).into_iter().try_for_each(|part| copy_by_system(source, part, file, meter))
            }
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
    pub(crate) fn finish(mut self) -> Result<u64> {
        self.flush()?;
        match self.sink {
            Sink::File(file) => drop(file.commit()?),
            Sink::Stream(sink) => sink.flush()?,
        }
        Ok(self.written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }
}

/// The bytes up to a border of blocks, whole blocks, and the rest. A file system that lets files share blocks copies none of
/// the whole ones, when they lie on borders of blocks in both files.
fn blocks(span: Span, at: u64) -> [Span; 3] {
    if span.start % BLOCK != at % BLOCK {
        return [span, Span::new(span.end, span.end), Span::new(span.end, span.end)];
    }
    let first = span.start.next_multiple_of(BLOCK).min(span.end);
    let last = (span.end / BLOCK * BLOCK).max(first);
    [Span::new(span.start, first), Span::new(first, last), Span::new(last, span.end)]
}

/// Copies by `copy_file_range` where the system has it.
fn copy_by_system(source: &FileSource, span: Span, file: &AtomicFile, meter: &Meter) -> io::Result<()> {
    let mut from = source.file();
    from.seek(SeekFrom::Start(span.start))?;
    let mut left = span.len();
    while left > 0 {
        // In steps, so that there is progress to tell; they keep to borders of blocks.
        let copied = io::copy(&mut from.take(left.min(STEP)), &mut file.file())?;
        if copied == 0 {
            let text = format!("{}: the file became shorter while it was read", source.path().display());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        left -= copied;
        meter.advance(copied);
    }
    Ok(())
}

impl Sink<'_> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all(bytes),
            Self::Stream(sink) => sink.write_all(bytes),
        }
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

/// The blocks that file systems share, or a multiple of them.
const BLOCK: u64 = 4096;
/// Bytes that the system copies between two reports of progress.
const STEP: u64 = 64 << 20;
const PENDING: usize = 1 << 20;
/// Up to here a read and a copy in memory cost less than a call to the system for each span.
const SMALL: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_copied_apart() {
        let parts = |start, end, at| blocks(Span::new(start, end), at).map(|part| (part.start, part.end));
        assert_eq!(parts(100, 20_000, 8_292), [(100, 4096), (4096, 16_384), (16_384, 20_000)]);
        assert_eq!(parts(100, 20_000, 8_291), [(100, 20_000), (20_000, 20_000), (20_000, 20_000)]);
        assert_eq!(parts(0, 4096, 0), [(0, 0), (0, 4096), (4096, 4096)]);
        assert_eq!(parts(10, 20, 4106), [(10, 20), (20, 20), (20, 20)]);
    }
}
