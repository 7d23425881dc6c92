//! Messages in files: found once, read exactly, appended to safely (TG-13, TG-14).

mod append; // new messages behind the last one
mod chain; // from message to message, as long as all is well
mod inside; // messages in the payload of one that was never finished
mod list; // which messages there are
mod raw; // elements that stand in the file as they are
mod reads; // metadata, objects, ranges, slices
mod scan; // where the messages of a source are
mod unfinished; // messages whose writer has not come to their end

pub use append::{AppendOptions, Appender, Durability, TailPolicy};
pub use scan::{scan_file, scan_source};

use crate::access::MessageIndex;
use crate::error::{Fault, Result, TensogramError};
use crate::message::{MessageView, Origin};
use crate::options::DecodeOptions;
use fw_bytes::Span;
use fw_source::plan::Cost;
use fw_source::{AtomicFile, FileSource, ReadAt};
pub(crate) use inside::sort_out;
pub(crate) use list::KnownMessage;
use list::List;
#[cfg(feature = "async")]
pub(crate) use reads::beginning;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file of messages: opened cheaply, scanned on first use, read exactly, followed while it grows, appended to.
///
/// One handle is held; it may be shared between threads. Sixteen bytes per message are kept, and what was last read of one
/// message's index. A file that another process replaces by renaming stays what it was; one that is cut short or changed
/// in place is scanned again.
///
/// ```
/// use fw_tensogram::*;
/// use fw_tensor::select;
///
/// let directory = tempfile::tempdir()?;
/// let file = TensogramFile::create(directory.path().join("fields.tgm"))?;
/// let descriptor = DataObjectDescriptor::new(fw_tensor::DType::UInt8, &[3])?;
/// file.append(&GlobalMetadata::default(), &[(&descriptor, &[1, 2, 3])], &EncodeOptions::default())?;
/// assert_eq!(file.message_count()?, 1);
/// let object = file.decode_object(0, 0, &DecodeOptions::default())?;
/// assert_eq!(object.bytes, [1, 2, 3]);
/// let last = file.slice(0, 0, select![2..3], &DecodeOptions::default())?;
/// assert_eq!(last.data(), [3]);
/// # Ok::<(), TensogramError>(())
/// ```
#[derive(Debug)]
pub struct TensogramFile {
    path: PathBuf,
    backing: Backing,
    list: Mutex<List>,
}

/// Where the bytes are.
#[derive(Debug)]
enum Backing {
    File(Arc<FileSource>),
    #[cfg(feature = "mmap")]
    Map(fw_source::MappedFile),
}

impl TensogramFile {
    /// Opens an existing file; nothing is read yet.
    ///
    /// # Errors
    /// `Io` when there is no such regular file; the message names the path.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let source = FileSource::open(&path)?;
        Ok(Self { path: path.as_ref().to_owned(), backing: Backing::File(Arc::new(source)), list: Mutex::default() })
    }

    /// Maps an existing file and scans it at once. Messages and raw objects are then handed out without copying:
    /// [`TensogramFile::view`] borrows, [`TensogramFile::message`] shares and outlives this value.
    ///
    /// A map shows the file as it was when it was mapped; it neither grows nor can be appended to.
    ///
    /// # Errors
    /// `Io` when the file cannot be opened or mapped; the message names the path.
    #[cfg(feature = "mmap")]
    pub fn open_mmap(path: impl AsRef<Path>, promise: fw_source::LeftAlone) -> Result<Self> {
        Self::on_map(path.as_ref(), fw_source::MappedFile::map(&path, promise)?)
    }

    /// Maps the open file as [`TensogramFile::open_mmap`] does: also when its name stands for another file by now.
    ///
    /// # Errors
    /// `Io` when the file cannot be mapped; the message names the path.
    #[cfg(feature = "mmap")]
    pub fn to_mapped(&self, promise: fw_source::LeftAlone) -> Result<Self> {
        let map = match &self.backing {
            Backing::File(source) => fw_source::MappedFile::map_file(source, promise)?,
            Backing::Map(map) => map.clone(),
        };
        Self::on_map(&self.path, map)
    }

    #[cfg(feature = "mmap")]
    fn on_map(path: &Path, map: fw_source::MappedFile) -> Result<Self> {
        let len = map.bytes().len() as u64;
        let mut spans = crate::frame::scan::scan(&map);
        let inside = sort_out(&map[..], Span::new(0, len), &mut spans)?;
        let list = Mutex::new(List::fixed(spans, inside, len));
        Ok(Self { path: path.to_owned(), backing: Backing::Map(map), list })
    }

    /// Creates an empty file, and the directories it stands in. A file already there is replaced: who has it open or
    /// mapped keeps the old bytes.
    ///
    /// # Errors
    /// `Io`, naming the path.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|error| named(path, &error))?;
        }
        AtomicFile::create(path)?.commit()?;
        Self::open(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of messages; scans the file on first use, and what was added to it since.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn message_count(&self) -> Result<usize> {
        Ok(self.refreshed()?.spans().len())
    }

    /// Where the messages are.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn message_layouts(&self) -> Result<Vec<Span>> {
        Ok(self.refreshed()?.spans().to_vec())
    }

    /// Where one message is.
    ///
    /// # Errors
    /// `Framing` when there is none with this index; `Io` when the file cannot be read, or became shorter than it was when
    /// the message was found.
    pub fn message_span(&self, message: impl Into<MessageIndex>) -> Result<Span> {
        Ok(self.known(message.into())?.span)
    }

    /// Whole messages that are none of the file's: they stand in the payload of a message that was never finished.
    /// `recover` saves them.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn messages_inside(&self) -> Result<Vec<Span>> {
        Ok(self.refreshed()?.inside().to_vec())
    }

    /// Where a message is now, by any count.
    pub(crate) fn known(&self, message: MessageIndex) -> Result<KnownMessage> {
        let list = self.refreshed()?;
        self.found(&list, message)
    }

    /// Where messages are now; the file is looked at once for all of them.
    pub(crate) fn message_spans(&self, messages: &[MessageIndex]) -> Result<Vec<Span>> {
        let list = self.refreshed()?;
        messages.iter().map(|message| Ok(self.found(&list, *message)?.span)).collect()
    }

    fn found(&self, list: &List, message: MessageIndex) -> Result<KnownMessage> {
        list.find(message).ok_or_else(|| match list.shrunk() {
            Some((was, now)) => {
                let text = format!("{message} does not exist: the file had {was} bytes and has {now} now");
                named(&self.path, &io::Error::new(io::ErrorKind::UnexpectedEof, text)).into()
            }
            None => {
                let text = format!("{message} does not exist: {} has {}", self.path.display(), list.spans().len());
                TensogramError::Framing(Fault::misuse("message_index_out_of_range", text))
            }
        })
    }

    /// The file, or the mapped bytes.
    #[cfg(feature = "async")]
    pub(crate) fn source(&self) -> Result<&Arc<FileSource>, bytes::Bytes> {
        match &self.backing {
            Backing::File(source) => Ok(source),
            #[cfg(feature = "mmap")]
            Backing::Map(map) => Err(map.bytes()),
        }
    }

    /// Forgets where the messages are; the next use scans from the start.
    pub fn invalidate_offsets(&self) {
        if self.backing.file().is_some() {
            self.lock().reset();
        }
    }

    /// One message of a mapped file, borrowed from the map.
    ///
    /// # Errors
    /// `Framing` when there is none with this index, or its frames cannot be followed; misuse when the file is not mapped.
    pub fn view(&self, message: impl Into<MessageIndex>) -> Result<MessageView<'_>> {
        self.view_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::view`] with options, which hold for everything that is read of the message.
    ///
    /// # Errors
    /// As [`TensogramFile::view`], and limits.
    pub fn view_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<MessageView<'_>> {
        let index = message.into();
        let span = self.message_span(index)?;
        let Some(bytes) = self.mapped().and_then(|map| span.slice_of(map, 0)) else {
            let message = format!("{} is not mapped; views require open_mmap", self.path.display());
            return Err(TensogramError::Framing(Fault::misuse("not_mapped", message)));
        };
        MessageView::in_file(bytes, options, Origin::new(index, span.start))
    }

    /// Where the bytes are, as a source.
    pub(crate) const fn backing(&self) -> &impl ReadAt {
        &self.backing
    }

    /// The mapped bytes.
    pub(crate) fn mapped(&self) -> Option<&[u8]> {
        match &self.backing {
            Backing::File(_) => None,
            #[cfg(feature = "mmap")]
            Backing::Map(map) => Some(map),
        }
    }

    /// The messages, after looking at what the file gained.
    fn refreshed(&self) -> Result<MutexGuard<'_, List>> {
        let mut list = self.lock();
        if let Some(source) = self.backing.file() {
            list.refresh(source)?;
        }
        Ok(list)
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // A panic elsewhere leaves at worst an unfinished list, which the next refresh completes.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backing {
    /// The file, unless it is mapped.
    fn file(&self) -> Option<&Arc<FileSource>> {
        match self {
            Self::File(source) => Some(source),
            #[cfg(feature = "mmap")]
            Self::Map(_) => None,
        }
    }
}

impl ReadAt for Backing {
    fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(source) => source.len(),
            #[cfg(feature = "mmap")]
            Self::Map(map) => ReadAt::len(map),
        }
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(source) => source.read_exact_at(offset, buffer),
            #[cfg(feature = "mmap")]
            Self::Map(map) => map.read_exact_at(offset, buffer),
        }
    }

    fn cost(&self) -> Cost {
        match self {
            Self::File(source) => source.cost(),
            #[cfg(feature = "mmap")]
            Self::Map(map) => map.cost(),
        }
    }
}

/// The error with the path before it.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
