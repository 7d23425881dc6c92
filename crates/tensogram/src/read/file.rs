//! Messages in files: found once, read exactly (TG-13, TG-14).

use super::{DecodeOptions, DecodedObject, decode};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Fault, Result, TensogramError};
use crate::frame::Lookup;
use crate::frame::scan::{ScanOptions, Scanner};
use crate::write::{EncodeOptions, encode};
use fw_bytes::{Span, Step};
use fw_source::{FileSource, ReadAt};
use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

fn run_scanner(source: &(impl ReadAt + ?Sized), mut scanner: Scanner) -> Result<Vec<Span>> {
    let mut windows = Windows::default();
    loop {
        match scanner.poll(&windows)? {
            Step::Done(spans) => return Ok(spans),
            Step::Need(spans) => spans.into_iter().try_for_each(|span| windows.fetch(source, span))?,
        }
    }
}

/// A file of messages: opened cheaply, scanned on first use, read message by message, appended to.
///
/// ```
/// use fw_tensogram::*;
///
/// let directory = tempfile::tempdir()?;
/// let file = TensogramFile::create(directory.path().join("fields.tgm"))?;
/// let descriptor = DataObjectDescriptor::new(fw_tensor::DType::UInt8, &[3])?;
/// file.append(&GlobalMetadata::default(), &[(&descriptor, &[1, 2, 3])], &EncodeOptions::default())?;
/// assert_eq!(file.message_count()?, 1);
/// assert_eq!(file.decode_message(0, &DecodeOptions::default())?.1[0].1, [1, 2, 3]);
/// # Ok::<(), TensogramError>(())
/// ```
#[derive(Debug)]
pub struct TensogramFile {
    path: PathBuf,
    source: FileSource,
    found: Mutex<Found>,
}

/// The messages known so far, and how much of the file they were found in.
#[derive(Debug, Default)]
struct Found {
    spans: Vec<Span>,
    scanned: Option<u64>,
}

impl TensogramFile {
    /// Opens an existing file; nothing is read yet.
    ///
    /// # Errors
    /// `Io` when there is no such regular file; the message names the path.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let source = FileSource::open(&path)?;
        Ok(Self { path: path.as_ref().to_owned(), source, found: Mutex::default() })
    }

    /// Creates a file, and the directories it stands in; a file already there is emptied.
    ///
    /// # Errors
    /// `Io`, naming the path.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(named)?;
        }
        std::fs::File::create(path).map_err(named)?;
        Self::open(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Encodes a message and writes it behind the last byte of the file.
    ///
    /// # Errors
    /// As [`encode`], before anything is written; `Io` from the file.
    pub fn append(
        &self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<()> {
        self.append_message(&encode(metadata, objects, options)?)
    }

    /// Writes an encoded message behind the last byte of the file.
    ///
    /// # Errors
    /// `Io` from the file.
    pub fn append_message(&self, message: &[u8]) -> Result<()> {
        let named =
            |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        let mut file = OpenOptions::new().write(true).open(&self.path).map_err(named)?;
        file.seek(SeekFrom::End(0)).map_err(named)?;
        file.write_all(message).map_err(named)?;
        Ok(())
    }

    /// Number of messages; scans the file on first use, and what was added to it since.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn message_count(&self) -> Result<usize> {
        Ok(self.refreshed()?.spans.len())
    }

    /// Where the messages are.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn message_layouts(&self) -> Result<Vec<Span>> {
        Ok(self.refreshed()?.spans.clone())
    }

    /// The bytes of one message.
    ///
    /// # Errors
    /// `Framing` when there is none with this index, `Io` when the file cannot be read.
    pub fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        let span = self.span(index)?;
        // The scan proved that the file has these bytes.
        let mut bytes = vec![0; span.len() as usize];
        self.source.read_exact_at(span.start, &mut bytes)?;
        Ok(bytes)
    }

    /// Decodes one message.
    ///
    /// # Errors
    /// As [`TensogramFile::read_message`] and [`decode`]; bytes and paths count from the start of the file.
    pub fn decode_message(
        &self,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        let base = self.span(index)?.start;
        decode(&self.read_message(index)?, options).map_err(|error| error.shifted(base).on(format!("message[{index}]")))
    }

    /// The bytes of every message known now, in order.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn iter(&self) -> Result<impl Iterator<Item = Result<Vec<u8>>> + '_> {
        Ok((0..self.message_count()?).map(|index| self.read_message(index)))
    }

    /// Forgets where the messages are; the next use scans from the start.
    pub fn invalidate_offsets(&self) {
        *self.lock() = Found::default();
    }

    fn span(&self, index: usize) -> Result<Span> {
        let found = self.refreshed()?;
        found.spans.get(index).copied().ok_or_else(|| {
            let message = format!("no message {index}, {} has {}", self.path.display(), found.spans.len());
            TensogramError::Framing(Fault::misuse("message_index_out_of_range", message))
        })
    }

    /// The messages, after looking at what the file gained.
    fn refreshed(&self) -> Result<MutexGuard<'_, Found>> {
        let mut found = self.lock();
        let len = self.source.len()?;
        match found.scanned {
            Some(scanned) if scanned == len => {}
            Some(scanned) if scanned < len => {
                let behind = found.spans.last().map_or(0, |span| span.end);
                let scanner = Scanner::new(len, ScanOptions::default()).starting_at(behind);
                let more = run_scanner(&self.source, scanner)?;
                found.spans.extend(more);
                found.scanned = Some(len);
            }
            _ => {
                found.spans = scan_source(&self.source, &ScanOptions::default())?;
                found.scanned = Some(len);
            }
        }
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        // A panic elsewhere leaves at worst an unfinished list, which the next refresh completes.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn a_growing_file_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/er/grow.tgm");
        let writer = TensogramFile::create(&path).unwrap();
        let reader = TensogramFile::open(&path).unwrap();
        assert_eq!(reader.message_count().unwrap(), 0);
        let values = [1u32, 2, 3];
        for count in 1..4 {
            let message =
                MessageBuilder::new().extra("n", count as u64).tensor(&[3], &values).unwrap().encode().unwrap();
            writer.append_message(&message).unwrap();
            assert_eq!(reader.message_count().unwrap(), count);
            assert_eq!(reader.read_message(count - 1).unwrap(), message);
        }
        let error = reader.read_message(3).unwrap_err();
        assert_eq!((error.class(), error.code()), ("Framing", "message_index_out_of_range"));
        assert!(
            TensogramFile::open(directory.path().join("absent.tgm")).unwrap_err().to_string().contains("absent.tgm")
        );
    }

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
