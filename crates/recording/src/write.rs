//! Pieces to files: blocks are appended whole, files are begun anew by size or time (REC-1 to REC-3).

use crate::describe::{BYTES, Block, Header, LENGTH, RECORDING, START, TIME};
use crate::error::RecordingError;
use crate::time::{now, stamp};
use fw_schema::Bundle;
use fw_tensogram::{AppendOptions, Appender, Durability, MessageBuilder, TensogramFile};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecorderOptions {
    /// Where the bytes come from, as every file records it.
    pub address: String,
    /// The schema of the frames, stored in every file.
    pub schema: Option<Bundle>,
    /// The framing of the bytes, stored in every file.
    pub framing: Option<String>,
    /// Begin a new file before one grows beyond this many bytes.
    pub rotate_bytes: Option<u64>,
    /// Begin a new file when one is this old.
    pub rotate_after: Option<Duration>,
    /// Write a block when this many bytes have gathered.
    pub block_bytes: usize,
    /// Write a block when its first piece is this old.
    pub flush_after: Duration,
    /// Whether a block counts as recorded when the system has it, or only when the disk has it.
    pub durability: Durability,
}

impl RecorderOptions {
    /// The defaults: one file, blocks of 1 MiB or 0.2 s, written and not synced.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            schema: None,
            framing: None,
            rotate_bytes: None,
            rotate_after: None,
            block_bytes: 1 << 20,
            flush_after: Duration::from_millis(200),
            durability: Durability::Written,
        }
    }

    /// Stores a schema in every file.
    #[must_use]
    pub fn with_schema(mut self, schema: Bundle) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Stores the name of a framing in every file.
    #[must_use]
    pub fn with_framing(mut self, framing: impl Into<String>) -> Self {
        self.framing = Some(framing.into());
        self
    }

    /// Begins a new file by size, age or both.
    #[must_use]
    pub const fn with_rotation(mut self, bytes: Option<u64>, after: Option<Duration>) -> Self {
        (self.rotate_bytes, self.rotate_after) = (bytes, after);
        self
    }

    /// Chooses when blocks are written.
    #[must_use]
    pub const fn with_blocks(mut self, bytes: usize, flush_after: Duration) -> Self {
        (self.block_bytes, self.flush_after) = (bytes, flush_after);
        self
    }

    /// Chooses when a block counts as recorded.
    #[must_use]
    pub const fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// What is in files: it survives the end of this process, and with [`Durability::Synced`] the loss of power.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// Bytes of the stream.
    pub bytes: u64,
    /// Pieces they came in.
    pub chunks: u64,
    /// Blocks they were written as.
    pub blocks: u64,
    /// Bytes that arrived and could not be kept.
    pub dropped: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// The files, in order.
    pub files: Vec<PathBuf>,
}

/// Writes a recording.
///
/// Bytes are acknowledged by [`recorded`](Self::recorded): what it counts is in a file. Dropping a recorder writes what has
/// gathered, but cannot report failures; [`finish`](Self::finish) does.
#[derive(Debug)]
pub struct Recorder {
    options: RecorderOptions,
    place: Place,
    session: String,
    out: Appender<'static>,
    /// When the open file was begun.
    begun: i64,
    /// Blocks in the open file.
    blocks: u64,
    block: Gathered,
    recorded: Recorded,
    /// Bytes that were dropped since the last block.
    dropped: u64,
    /// After a failure nothing is written when the recorder is dropped.
    failed: bool,
}

/// Where files go.
#[derive(Debug)]
enum Place {
    /// Files of this stem in a directory.
    Directory(PathBuf, String),
    /// One file.
    File(PathBuf),
}

impl Place {
    fn path(&self, file: u64) -> PathBuf {
        match self {
            Self::Directory(folder, stem) => folder.join(format!("{stem}-{file:04}.tgm")),
            Self::File(path) => path.clone(),
        }
    }
}

/// The block that is being gathered.
#[derive(Debug, Default)]
struct Gathered {
    connection: u32,
    bytes: Vec<u8>,
    times: Vec<i64>,
    lengths: Vec<u32>,
}

impl Recorder {
    /// Begins a recording in a directory, which is created when it does not exist. Earlier recordings in it stay as they are.
    ///
    /// # Errors
    /// When the directory or the first file cannot be created.
    pub fn create(directory: impl AsRef<Path>, options: RecorderOptions) -> Result<Self, RecordingError> {
        let directory = directory.as_ref();
        std::fs::create_dir_all(directory).map_err(RecordingError::io(directory))?;
        let (begun, mut tried) = (now(), 1);
        loop {
            let suffix = if tried == 1 { String::new() } else { format!("-{tried}") };
            let place = Place::Directory(directory.to_owned(), format!("{}{suffix}", stamp(begun)));
            match Self::begin(place, options.clone()) {
                // Another recorder began in this second.
                Err(RecordingError::Io { error, .. }) if error.kind() == ErrorKind::AlreadyExists && tried < 1000 => {
                    tried += 1;
                }
                begun => return begun,
            }
        }
    }

    /// Begins a recording in one file, which must not exist yet.
    ///
    /// # Errors
    /// When the file exists or cannot be created, or the options ask for rotation.
    pub fn create_file(path: impl AsRef<Path>, options: RecorderOptions) -> Result<Self, RecordingError> {
        if options.rotate_bytes.is_some() || options.rotate_after.is_some() {
            let message = "a recording in one file cannot begin new files; record into a directory".to_owned();
            return Err(RecordingError::Refused { code: "rotation_needs_directory", message });
        }
        Self::begin(Place::File(path.as_ref().to_owned()), options)
    }

    fn begin(place: Place, options: RecorderOptions) -> Result<Self, RecordingError> {
        let session = uuid::Uuid::new_v4().to_string();
        let begun = now();
        let (out, path) = open(&place, &session, 1, begun, &options)?;
        let recorded = Recorded { file_bytes: out.end(), files: vec![path], ..Recorded::default() };
        let block = Gathered::default();
        Ok(Self { options, place, session, out, begun, blocks: 0, block, recorded, dropped: 0, failed: false })
    }

    /// Takes a piece that arrived at `time` (nanoseconds since the epoch) over the connection of this number, from 0.
    ///
    /// # Errors
    /// When a block was due and could not be written. It is kept; the next call tries again.
    pub fn push(&mut self, time: i64, connection: u32, mut bytes: &[u8]) -> Result<(), RecordingError> {
        if connection != self.block.connection {
            self.flush()?;
            self.block.connection = connection;
        }
        // A block stays close to its size however large the pieces are; an empty datagram is a piece, too.
        loop {
            let room = self.options.block_bytes.clamp(1, MAX_BLOCK).saturating_sub(self.block.bytes.len());
            let (now, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            // Pieces are split only where a whole block would not hold them.
            let whole = rest.is_empty() || self.block.times.is_empty();
            if whole {
                self.block.bytes.extend_from_slice(now);
                self.block.times.push(time);
                self.block.lengths.push(now.len() as u32);
                bytes = rest;
            }
            let full = self.block.bytes.len() >= self.options.block_bytes.min(MAX_BLOCK);
            if !whole || full || self.block.times.len() >= MAX_CHUNKS {
                self.flush()?;
            }
            if bytes.is_empty() {
                break;
            }
        }
        self.tick(time)
    }

    /// Notes that bytes arrived and could not be kept.
    pub fn drop_bytes(&mut self, bytes: u64) {
        self.dropped = self.dropped.saturating_add(bytes);
        self.recorded.dropped = self.recorded.dropped.saturating_add(bytes);
    }

    /// Writes the block if its first piece is old enough at `time`. To be called now and then while nothing arrives.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn tick(&mut self, time: i64) -> Result<(), RecordingError> {
        let due = self.block.times.first().is_some_and(|first| age(*first, time) >= self.options.flush_after);
        if due { self.flush() } else { Ok(()) }
    }

    /// Writes what has gathered.
    ///
    /// # Errors
    /// When it cannot be written. It is kept; the next call tries again.
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        if self.block.times.is_empty() {
            return Ok(());
        }
        let written = self.write_block();
        self.failed = written.is_err();
        written
    }

    fn write_block(&mut self) -> Result<(), RecordingError> {
        let about = Block {
            session: self.session.clone(),
            number: self.recorded.blocks,
            connection: self.block.connection,
            position: self.recorded.bytes,
            dropped: self.dropped,
        };
        let Gathered { bytes, times, lengths, .. } = &self.block;
        let encoded = MessageBuilder::new()
            .extra(RECORDING, about.value())
            .tensor(&[bytes.len() as u64], bytes)
            .and_then(|message| message.base("name", BYTES).tensor(&[times.len() as u64], times))
            .and_then(|message| message.base("name", TIME).tensor(&[lengths.len() as u64], lengths))
            .and_then(|message| message.base("name", LENGTH).encode())
            .map_err(RecordingError::message(&self.path()))?;
        if self.is_due(encoded.len() as u64) {
            self.rotate()?;
        }
        let path = self.path();
        self.out.append_message(&encoded).map_err(RecordingError::message(&path))?;
        self.blocks += 1;
        self.recorded.file_bytes += encoded.len() as u64;
        self.recorded.bytes += self.block.bytes.len() as u64;
        self.recorded.chunks += self.block.times.len() as u64;
        self.recorded.blocks += 1;
        self.dropped = 0;
        self.block.bytes.clear();
        self.block.times.clear();
        self.block.lengths.clear();
        Ok(())
    }

    /// Whether a block of this length belongs in a new file. A file holds at least one block.
    fn is_due(&self, len: u64) -> bool {
        let by_size = self.options.rotate_bytes.is_some_and(|most| self.out.end().saturating_add(len) > most);
        let by_time = self.options.rotate_after.is_some_and(|after| age(self.begun, now()) >= after);
        self.blocks > 0 && (by_size || by_time)
    }

    fn rotate(&mut self) -> Result<(), RecordingError> {
        let (number, begun) = (self.recorded.files.len() as u64 + 1, now());
        let (out, path) = open(&self.place, &self.session, number, begun, &self.options)?;
        (self.out, self.begun, self.blocks) = (out, begun, 0);
        self.recorded.file_bytes += self.out.end();
        self.recorded.files.push(path);
        Ok(())
    }

    /// What is in files by now.
    pub const fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Bytes that have arrived and are not in a file yet.
    pub fn pending(&self) -> usize {
        self.block.bytes.len()
    }

    /// The file that is written to.
    pub fn path(&self) -> PathBuf {
        self.place.path(self.recorded.files.len() as u64)
    }

    /// Writes what has gathered and ends the recording.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<Recorded, RecordingError> {
        self.flush()?;
        Ok(std::mem::take(&mut self.recorded))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.failed {
            // Failures are for those who call `finish`.
            let _ = self.flush();
        }
    }
}

/// Creates a file with its header.
fn open(
    place: &Place,
    session: &str,
    number: u64,
    begun: i64,
    options: &RecorderOptions,
) -> Result<(Appender<'static>, PathBuf), RecordingError> {
    let path = place.path(number);
    let header = Header {
        session: session.to_owned(),
        file: number,
        address: options.address.clone(),
        framing: options.framing.clone(),
        schema: options.schema.clone(),
    };
    let message = MessageBuilder::new()
        .extra(RECORDING, header.value())
        .tensor(&[1], &[begun])
        .and_then(|message| message.base("name", START).encode())
        .map_err(RecordingError::message(&path))?;
    File::create_new(&path).map_err(RecordingError::io(&path))?;
    let append = AppendOptions { durability: options.durability, ..AppendOptions::default() };
    let mut out = TensogramFile::open(&path)
        .and_then(|file| file.into_appender(&append))
        .map_err(RecordingError::message(&path))?;
    out.append_message(&message).map_err(RecordingError::message(&path))?;
    Ok((out, path))
}

/// How long ago something was; a clock that was set back makes it now.
fn age(then: i64, now: i64) -> Duration {
    Duration::from_nanos(u64::try_from(now.saturating_sub(then)).unwrap_or(0))
}

/// Bytes in a block at most, whatever the options say.
const MAX_BLOCK: usize = 256 << 20;

/// Pieces in a block at most: empty datagrams have no bytes to count.
const MAX_CHUNKS: usize = 1 << 18;
