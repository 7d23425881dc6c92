//! Where the messages of a source are: preambles and ends are read, what lies between is skipped (TG-13).

use super::chain::{self, Followed};
use crate::error::Result;
use crate::frame::Lookup;
use crate::frame::scan::{ScanDirection, ScanOptions, Scanner};
use fw_bytes::{Span, Step};
use fw_source::{Buffers, FileSource, ReadAt};
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
    let mut found = Vec::new();
    scan_from(source, 0, source.len()?, options, &mut found)?;
    found.shrink_to_fit();
    Ok(found)
}

/// Adds the messages between `low` and the end of the source, at `len`, to those found before; none when it fails.
///
/// Returns what was read of the first of them, from `low` on: whoever opens it next needs these bytes.
pub(super) fn scan_from(
    source: &(impl ReadAt + ?Sized),
    low: u64,
    len: u64,
    options: &ScanOptions,
    found: &mut Vec<Span>,
) -> Result<Vec<u8>> {
    let known = found.len();
    let scanned = add_messages(source, low, len, options, found);
    if scanned.is_err() {
        found.truncate(known);
    }
    scanned
}

fn add_messages(
    source: &(impl ReadAt + ?Sized),
    low: u64,
    len: u64,
    options: &ScanOptions,
    found: &mut Vec<Span>,
) -> Result<Vec<u8>> {
    let known = found.len();
    if source.cost().in_flight > 1 {
        return from_afar(source, low, len, options, found);
    }
    let Followed { reached, beginning } = chain::follow(source, low, len, options, found)?;
    if reached == len {
        return Ok(beginning);
    }
    let mut scanner = Scanner::new(len, *options).starting_at(low);
    if found.len() > known && !chain::ends_in_magic(source, len)? {
        // From the end no message is found: that leaves the way from the start, of which a part is done.
        let options = ScanOptions { direction: ScanDirection::Forward, ..*options };
        scanner = Scanner::new(len, options).starting_at(reached);
    } else {
        found.truncate(known);
    }
    let mut windows = Windows::default();
    loop {
        match scanner.poll(&windows)? {
            Step::Done(spans) => {
                found.extend(spans);
                return Ok(beginning);
            }
            Step::Need(spans) => spans.into_iter().try_for_each(|span| windows.fetch(source, span))?,
        }
    }
}

/// The same for a source whose requests take long: those of a round are sent together. A source that can hold itself in memory
/// is told how many rounds come.
fn from_afar(
    source: &(impl ReadAt + ?Sized),
    low: u64,
    len: u64,
    options: &ScanOptions,
    found: &mut Vec<Span>,
) -> Result<Vec<u8>> {
    let mut scanner = Scanner::new(len, *options).starting_at(low);
    let mut buffers = Buffers::new();
    loop {
        match scanner.poll(&buffers)? {
            Step::Done(spans) => {
                found.extend(spans);
                return Ok(Vec::new());
            }
            Step::Need(mut spans) => {
                if buffers.len() > MOST_HELD {
                    buffers = Buffers::new();
                }
                // A round finds two messages, one from each end.
                source.prepare(scanner.expected() / 2)?;
                spans.retain(|span| buffers.get(*span).is_none());
                for (start, bytes) in source.read_many(&spans)? {
                    buffers.insert(start, bytes);
                }
            }
        }
    }
}

/// Bytes held while scanning from afar.
const MOST_HELD: usize = 4 << 20;

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

    /// Whatever the file holds, following the chain first finds what the scanner finds by itself.
    #[test]
    fn the_chain_changes_nothing() {
        let message = |len: u64| {
            let values = vec![7u8; len as usize];
            MessageBuilder::new().tensor(&[len], &values).unwrap().encode().unwrap()
        };
        let whole: Vec<_> = [3, 700, 9_000].map(message).into();
        let nested = MessageBuilder::new().tensor(&[whole[0].len() as u64], &whole[0]).unwrap().encode().unwrap();
        let streamed = crate::StreamingEncoder::new(Vec::new(), &Default::default(), &Default::default());
        let streamed = streamed.unwrap().finish().unwrap();
        let end = |at: usize, message: &[u8]| message.len() - at;
        let mut pieces = whole.clone();
        pieces.extend([streamed, nested.clone(), vec![0; 5], b"39277777".to_vec(), vec![b'T'; 60]]);
        pieces.push(whole[1][..300].to_vec());
        // A mirror that is not there, one that names the message inside, and a preamble that lies.
        let changed = |message: &[u8], at: usize, length: u64| {
            let mut bytes = message.to_vec();
            bytes[at..at + 8].copy_from_slice(&length.to_be_bytes());
            bytes
        };
        pieces.push(changed(&whole[0], end(16, &whole[0]), 0));
        pieces.push(changed(&nested, end(16, &nested), whole[0].len() as u64));
        pieces.push(changed(&whole[1], end(16, &whole[1]), 48));
        pieces.push(changed(&whole[1], 16, whole[1].len() as u64 - 8));
        let mut state = 1u64;
        let mut below = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        };
        for _ in 0..2_000 {
            let file: Vec<u8> = (0..below(7)).flat_map(|_| pieces[below(pieces.len())].clone()).collect();
            for direction in [ScanDirection::Forward, ScanDirection::Backward, ScanDirection::Bidirectional] {
                let options = ScanOptions { direction, ..ScanOptions::default() };
                let found = scan_source(&file[..], &options).unwrap();
                assert_eq!(found, crate::scan_with(&file, &options), "{direction:?} of {} bytes", file.len());
            }
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
