//! Where the messages of a source are: preambles and ends are read, what lies between is skipped (TG-13).

use crate::error::Result;
use crate::frame::Lookup;
use crate::frame::scan::{ScanOptions, Scanner};
use fw_bytes::{Span, Step};
use fw_source::{FileSource, ReadAt};
use std::collections::VecDeque;
use std::path::Path;

/// Every message in a file, in order; reads preambles and ends, skips what lies between, searches junk in blocks.
///
/// # Errors
/// `Io` when the file cannot be read.
pub fn scan_file(path: impl AsRef<Path>) -> Result<Vec<Span>> {
    scan_source(&FileSource::open(path)?, &ScanOptions::default())
}

/// [`scan_file`] for any source, with options.
///
/// # Errors
/// `Io` when the source cannot be read.
pub fn scan_source(source: &(impl ReadAt + ?Sized), options: &ScanOptions) -> Result<Vec<Span>> {
    run_scanner(source, Scanner::new(source.len()?, *options))
}

pub(super) fn run_scanner(source: &(impl ReadAt + ?Sized), mut scanner: Scanner) -> Result<Vec<Span>> {
    let mut windows = Windows::default();
    loop {
        match scanner.poll(&windows)? {
            Step::Done(spans) => return Ok(spans),
            Step::Need(spans) => spans.into_iter().try_for_each(|span| windows.fetch(source, span))?,
        }
    }
}

/// The last few ranges read: all a scan ever looks back at.
#[derive(Debug, Default)]
struct Windows {
    recent: VecDeque<(u64, Vec<u8>)>,
}

impl Windows {
    const COUNT: usize = 4;

    fn fetch(&mut self, source: &(impl ReadAt + ?Sized), span: Span) -> Result<()> {
        let mut buffer = match self.recent.pop_back() {
            Some((_, buffer)) if self.recent.len() + 1 == Self::COUNT => buffer,
            Some(kept) => {
                self.recent.push_back(kept);
                Vec::new()
            }
            None => Vec::new(),
        };
        buffer.resize(span.len() as usize, 0);
        source.read_exact_at(span.start, &mut buffer)?;
        self.recent.push_front((span.start, buffer));
        Ok(())
    }
}

impl Lookup for Windows {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        self.recent.iter().find_map(|(start, bytes)| span.slice_of(bytes, *start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::MessageBuilder;

    /// Counts the bytes read.
    struct Counting<'a>(&'a [u8], std::cell::Cell<u64>);

    impl ReadAt for Counting<'_> {
        fn len(&self) -> std::io::Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
            self.1.set(self.1.get() + buffer.len() as u64);
            self.0.read_exact_at(offset, buffer)
        }
    }

    #[test]
    fn junk_is_read_once() {
        let decoy = [&b"TENSOGRM"[..], &[0; 56]].concat();
        let streamed = [&b"TENSOGRM\0\x03"[..], &[0; 54]].concat();
        for junk in [vec![7u8; 5 << 20], decoy.repeat(70_000), streamed.repeat(70_000)] {
            let source = Counting(&junk, Default::default());
            assert!(scan_source(&source, &ScanOptions::default()).unwrap().is_empty());
            let read = source.1.get();
            assert!(read < junk.len() as u64 * 5 / 2, "{read} bytes were read of {}", junk.len());
        }
    }

    #[test]
    fn scanning_intact_files_skips_payloads() {
        let values = vec![0u8; 1 << 20];
        let message = MessageBuilder::new().tensor(&[1 << 20], &values).unwrap().encode().unwrap();
        let file = message.repeat(20);
        let source = Counting(&file, Default::default());
        assert_eq!(scan_source(&source, &ScanOptions::default()).unwrap().len(), 20);
        let read = source.1.get();
        assert!(read < 200_000, "{read} of {} bytes were read", file.len());
    }
}
