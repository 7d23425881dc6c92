//! New messages behind the last one, so that nothing earlier can be lost.
//!
//! Only bytes behind the end of the file are ever written. A writer that dies leaves at worst an unfinished message at
//! the end, a torn tail, which readers skip and the next writer reports. A lock keeps two writers apart.

use super::{TensogramFile, named};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{ErrorKind, Fault, Result, TensogramError};
use crate::frame::scan::scan;
use crate::options::EncodeOptions;
use crate::write::encode;
use fw_bytes::Span;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};

/// What to do with bytes behind the last message: the remains of a writer that died, or anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TailPolicy {
    /// Refuse to append, and name the byte.
    #[default]
    Error,
    /// Cut them off. What could be recovered from them is then gone: `recover` first when it matters.
    Truncate,
    /// Leave them where they are and append behind them; readers skip them.
    Keep,
}

/// What must have happened before an append returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The system has the bytes: they survive the end of this process.
    #[default]
    Written,
    /// The disk has the bytes: they survive the loss of power.
    Synced,
}

/// How to append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AppendOptions {
    /// What to do with a torn tail.
    pub tail: TailPolicy,
    /// When an append is done.
    pub durability: Durability,
}

impl AppendOptions {
    /// The same with this policy for torn tails.
    #[must_use]
    pub const fn with_tail(mut self, tail: TailPolicy) -> Self {
        self.tail = tail;
        self
    }

    /// The same, with every append on the disk before it returns.
    #[must_use]
    pub const fn synced(mut self) -> Self {
        self.durability = Durability::Synced;
        self
    }
}

impl TensogramFile {
    /// Encodes a message and writes it behind the last one.
    ///
    /// # Errors
    /// As [`encode`], before anything is written; as [`TensogramFile::appender`] and [`Appender::append_message`].
    pub fn append(
        &self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<()> {
        self.append_message(&encode(metadata, objects, options)?)
    }

    /// Writes an encoded message behind the last one.
    ///
    /// # Errors
    /// As [`TensogramFile::appender`] and [`Appender::append_message`].
    pub fn append_message(&self, message: &[u8]) -> Result<()> {
        self.appender(&AppendOptions::default())?.append_message(message)
    }

    /// Locks the file for writing, until the appender is dropped, and looks at what comes after the last message.
    ///
    /// # Errors
    /// `Framing`, code `torn_tail`, when bytes after the last message are not part of any message and the policy is
    /// [`TailPolicy::Error`]; `Io` of kind `WouldBlock` when another writer has the lock, `Unsupported` for mapped files, or
    /// when another file stands at the path by now.
    pub fn appender(&self, options: &AppendOptions) -> Result<Appender<'_>> {
        self.locked(options).map(|locked| Appender::new(Owner::Borrowed(self), locked, options))
    }

    /// The same, with the file kept in the appender: for writers that hold files over time.
    ///
    /// # Errors
    /// As [`TensogramFile::appender`].
    pub fn into_appender(self, options: &AppendOptions) -> Result<Appender<'static>> {
        let locked = self.locked(options)?;
        Ok(Appender::new(Owner::Owned(Box::new(self)), locked, options))
    }

    fn locked(&self, options: &AppendOptions) -> Result<Locked> {
        let Some(source) = self.backing.file() else {
            let error = io::Error::new(io::ErrorKind::Unsupported, "a mapped file cannot be appended to");
            return Err(named(&self.path, &error).into());
        };
        let file = open_locked(&self.path)?;
        // What is known of one file says nothing about another, least of all where its torn tail begins.
        if is_another(source.file(), &file).map_err(|error| named(&self.path, &error))? {
            let text = "the file was replaced by another one since it was opened; open it again";
            return Err(named(&self.path, &io::Error::other(text)).into());
        }
        if options.durability == Durability::Synced {
            fw_source::sync_directory_of(&self.path)?;
        }
        // Whoever had the lock before may have written: look only now.
        let (last, inside, mut end) = self.settled(&file)?;
        if last < end {
            match options.tail {
                TailPolicy::Error => return Err(torn(last, end, inside)),
                TailPolicy::Truncate => {
                    file.set_len(last).map_err(|error| named(&self.path, &error))?;
                    end = last;
                }
                TailPolicy::Keep => {}
            }
        }
        Ok(Locked { file, end, behind_junk: last < end })
    }

    /// The end of the last message, the number of messages inside what is behind it, and the end of the file: all of one
    /// moment. A writer that does not ask for the lock may add a message just now, which is no torn tail.
    fn settled(&self, file: &File) -> Result<(u64, usize, u64)> {
        for _ in 0..SETTLING {
            let (last, inside, seen) = {
                let list = self.refreshed()?;
                let last = list.spans().last().map_or(0, |span| span.end);
                (last, list.inside().iter().filter(|span| span.start >= last).count(), list.seen_len())
            };
            let end = file.metadata().map_err(|error| named(&self.path, &error))?.len();
            if seen == Some(end) {
                return Ok((last, inside, end));
            }
        }
        let text = "another writer appended to the file without taking the lock";
        Err(named(&self.path, &io::Error::new(io::ErrorKind::WouldBlock, text)).into())
    }
}

/// A file locked for writing. Whatever happens, bytes that were there before stay as they are.
///
/// As a [`Write`] it takes the bytes of a message piece by piece, for a
/// [`StreamingEncoder`](crate::StreamingEncoder): `StreamingEncoder::new(&mut appender, …)`.
#[derive(Debug)]
pub struct Appender<'f> {
    owner: Owner<'f>,
    file: File,
    end: u64,
    /// Whether bytes that belong to no message stand before `end`.
    behind_junk: bool,
    /// Whether bytes were written piece by piece, of which nobody knows yet that they are whole messages.
    in_pieces: bool,
    durability: Durability,
}

/// The file that an appender writes to.
#[derive(Debug)]
enum Owner<'f> {
    Borrowed(&'f TensogramFile),
    Owned(Box<TensogramFile>),
}

impl std::ops::Deref for Owner<'_> {
    type Target = TensogramFile;

    fn deref(&self) -> &TensogramFile {
        match self {
            Self::Borrowed(file) => file,
            Self::Owned(file) => file,
        }
    }
}

/// A file under lock, and what stands at its end.
struct Locked {
    file: File,
    end: u64,
    behind_junk: bool,
}

impl<'f> Appender<'f> {
    fn new(owner: Owner<'f>, locked: Locked, options: &AppendOptions) -> Self {
        let Locked { file, end, behind_junk } = locked;
        Self { owner, file, end, behind_junk, in_pieces: false, durability: options.durability }
    }
}

impl Appender<'_> {
    /// Encodes a message and writes it.
    ///
    /// # Errors
    /// As [`encode`], before anything is written; as [`Appender::append_message`].
    pub fn append(
        &mut self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<()> {
        self.append_message(&encode(metadata, objects, options)?)
    }

    /// Writes an encoded message.
    ///
    /// # Errors
    /// `Framing` when the bytes are not exactly one message, or what was written piece by piece before them is none
    /// (`torn_tail`); `Io` when they cannot be written, and then what was written of them is taken back where the system
    /// allows it.
    pub fn append_message(&mut self, message: &[u8]) -> Result<()> {
        if scan(message) != [Span::new(0, message.len() as u64)] {
            let text = format!("{} bytes are not exactly one message", message.len());
            return Err(TensogramError::Framing(Fault::misuse("not_a_message", text)));
        }
        if self.in_pieces {
            self.check_whole()?;
        }
        let start = self.end;
        // Only behind remains can a new message go unnoticed, or make others appear.
        let before = if self.behind_junk { self.owner.refreshed()?.spans().to_vec() } else { Vec::new() };
        let written = self.write_all(message).and_then(|()| self.settle());
        self.in_pieces = false;
        written.map_err(|error| {
            // Take the torn message back; should that fail too, the next writer will find and report it.
            let _ = self.file.set_len(start);
            self.end = start;
            named(&self.owner.path, &error)
        })?;
        if self.behind_junk {
            self.check_found(before, Span::new(start, self.end))?;
            self.behind_junk = false;
        }
        Ok(())
    }

    /// Waits until the disk has everything, whatever the options say.
    ///
    /// # Errors
    /// `Io` when the system cannot promise it.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| named(&self.owner.path, &error))?;
        Ok(fw_source::sync_directory_of(&self.owner.path)?)
    }

    /// One past the last byte of the file.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Refuses to write behind a message that was begun piece by piece and never finished: it would hide the new one, or
    /// be hidden by it.
    fn check_whole(&mut self) -> Result<()> {
        let (last, inside) = {
            let list = self.owner.refreshed()?;
            (list.spans().last().map_or(0, |span| span.end), list.inside().len())
        };
        if last < self.end {
            return Err(torn(last, self.end, inside));
        }
        self.in_pieces = false;
        self.behind_junk = false;
        Ok(())
    }

    fn settle(&self) -> io::Result<()> {
        match self.durability {
            Durability::Written => Ok(()),
            Durability::Synced => self.file.sync_all(),
        }
    }

    /// Junk may, by bad luck, look like the beginning of a message that swallows the new one; and a message in the payload
    /// of an unfinished one may look like one of the file's once something stands behind it.
    fn check_found(&mut self, mut expected: Vec<Span>, message: Span) -> Result<()> {
        expected.push(message);
        if self.owner.refreshed()?.spans() == expected {
            return Ok(());
        }
        self.file.set_len(message.start).map_err(|error| named(&self.owner.path, &error))?;
        self.end = message.start;
        let text = "the bytes after the last message would corrupt the new one, or be read as messages; truncate them, or \
                    recover the file first";
        let fault = Fault::new(ErrorKind::Format, "torn_tail", text);
        Err(TensogramError::Framing(fault.at(message.start)))
    }
}

impl Write for Appender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.metadata()?.len();
        if len != self.end {
            let text = format!("the file had {} bytes when it was last written and has {len} now", self.end);
            return Err(io::Error::other(text));
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        let written = self.file.write(bytes)?;
        self.end += written as u64;
        self.in_pieces = true;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.settle()
    }
}

/// Opens a file for writing, to the exclusion of other writers.
fn open_locked(path: &std::path::Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        // Others may read and delete, but not write; locks here would shut out readers too.
        options.share_mode(1 | 4);
    }
    let file = options.open(path).map_err(|error| named(path, &error))?;
    #[cfg(not(windows))]
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => {
            named(path, &io::Error::new(io::ErrorKind::WouldBlock, "another writer has the file locked"))
        }
        std::fs::TryLockError::Error(error) => named(path, &error),
    })?;
    Ok(file)
}

/// Whether two handles are of different files.
#[cfg(unix)]
fn is_another(one: &File, other: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (one, other) = (one.metadata()?, other.metadata()?);
    Ok((one.dev(), one.ino()) != (other.dev(), other.ino()))
}

/// A file that is open cannot be replaced here.
#[cfg(not(unix))]
fn is_another(_: &File, _: &File) -> io::Result<bool> {
    Ok(false)
}

/// How often to look at a file that others write to.
const SETTLING: usize = 16;

fn torn(at: u64, end: u64, inside: usize) -> TensogramError {
    let mut text =
        format!("torn tail at byte {at}: {} bytes after the last message are not part of any message", end - at);
    if inside > 0 {
        text += &format!("; whole messages in the payload of the unfinished one: {inside}");
    }
    TensogramError::Framing(Fault::format("torn_tail", text).at(at))
}
