//! Files to pieces. What is damaged is passed over and listed, never an end to reading (REC-4).

use crate::describe::{BYTES, Block, Header, LENGTH, Part, RECORDING, START, TIME, part};
use crate::error::RecordingError;
use fw_schema::Bundle;
use fw_source::{FileSource, ReadAt};
use fw_tensogram::wire::MAGIC;
use fw_tensogram::{DecodeOptions, GlobalMetadata, MessageView, TensogramFile};
use fw_tensor::DType;
use std::path::{Path, PathBuf};

/// True when a path is a recording: a file that begins with the header of one, or a directory that holds such files.
pub fn is_recording(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    if !path.is_dir() {
        return path.is_file() && header(path).is_ok_and(|found| found.is_some());
    }
    files_in(path).is_ok_and(|files| files.iter().any(|file| header(file).is_ok_and(|found| found.is_some())))
}

/// A recording: which files it has, and what they say about it.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    files: Vec<Listed>,
    /// Files that could not be used at all.
    damage: Vec<Damage>,
}

#[derive(Debug)]
struct Listed {
    path: PathBuf,
    header: Header,
    start: i64,
}

impl Recording {
    /// Opens a file or a directory. Files of a directory that are not part of a recording are ignored; files are read in the
    /// order they were begun in.
    ///
    /// # Errors
    /// When it cannot be read, or holds no recording (`not_a_recording`).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let is_directory = std::fs::metadata(path).map_err(RecordingError::io(path))?.is_dir();
        let names = if is_directory { files_in(path)? } else { vec![path.to_owned()] };
        let (mut files, mut damage) = (Vec::new(), Vec::new());
        for name in names {
            match header(&name) {
                Ok(Some((header, start))) => files.push(Listed { path: name, header, start }),
                Ok(None) => {}
                Err(error) if is_directory => damage.push(Damage::of(&name, &error)),
                Err(error) => return Err(error),
            }
        }
        if files.is_empty() {
            let what = if is_directory { "the directory holds no recording" } else { "the file is not a recording" };
            return Err(RecordingError::format("not_a_recording", path, what, None));
        }
        // Sessions in the order of their beginnings, and the files of each by number: clocks may be set back.
        let first = |session: &str| files.iter().filter(|one| one.header.session == session).map(|one| one.start).min();
        let mut order: Vec<(Option<i64>, usize)> =
            files.iter().enumerate().map(|(index, one)| (first(&one.header.session), index)).collect();
        order.sort_by(|(a, x), (b, y)| {
            let key = |index: &usize| files.get(*index).map(|one| (&one.header.session, one.header.file, &one.path));
            a.cmp(b).then_with(|| key(x).cmp(&key(y)))
        });
        let mut slots: Vec<Option<Listed>> = files.into_iter().map(Some).collect();
        let files = order.iter().filter_map(|(_, index)| slots.get_mut(*index)?.take()).collect();
        Ok(Self { path: path.to_owned(), files, damage })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its files, in the order they are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// The schema in it; the last one when several recordings in a directory differ.
    pub fn schema(&self) -> Option<&Bundle> {
        self.files.iter().rev().find_map(|file| file.header.schema.as_ref())
    }

    /// The framing in it, by name.
    pub fn framing(&self) -> Option<&str> {
        self.files.iter().rev().find_map(|file| file.header.framing.as_deref())
    }

    /// Where its bytes came from.
    pub fn address(&self) -> &str {
        self.files.last().map_or("", |file| &file.header.address)
    }

    /// When it was begun: nanoseconds since the epoch.
    pub fn start(&self) -> i64 {
        self.files.first().map_or(0, |file| file.start)
    }

    /// Bytes of all its files.
    ///
    /// # Errors
    /// When a file cannot be asked.
    pub fn file_bytes(&self) -> Result<u64, RecordingError> {
        let len = |file: &Path| std::fs::metadata(file).map(|found| found.len()).map_err(RecordingError::io(file));
        self.files().map(len).sum()
    }

    /// Reads it from the beginning.
    pub fn reader(self) -> Reader {
        let damage = self.damage.clone();
        Reader { recording: self, next_file: 0, open: None, expected: None, stream: 0, block: None, damage, at: 0 }
    }
}

/// A piece as it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk<'a> {
    /// When it arrived: nanoseconds since the epoch.
    pub time: i64,
    /// Where its first byte stands among all bytes of the recording that could be read.
    pub at: u64,
    /// Which unbroken stream of bytes it belongs to, from 0: another connection, another session and a gap begin a new one.
    pub stream: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// Something in a recording that cannot be read, or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Stable snake_case code.
    pub code: &'static str,
    /// The file.
    pub file: PathBuf,
    /// What is wrong, and where.
    pub message: String,
    /// How many bytes of the stream are lost, as far as that is known.
    pub lost: u64,
}

impl Damage {
    fn new(code: &'static str, file: &Path, message: String, lost: u64) -> Self {
        Self { code, file: file.to_owned(), message, lost }
    }

    fn of(file: &Path, error: &RecordingError) -> Self {
        let words = error.to_string();
        let words = words.strip_prefix(&format!("{}: ", file.display())).map_or(words.as_str(), |rest| rest);
        Self::new(error.code(), file, words.to_owned(), 0)
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.message)
    }
}

/// Reads the pieces of a recording, a block in memory at a time.
#[derive(Debug)]
pub struct Reader {
    recording: Recording,
    next_file: usize,
    open: Option<Open>,
    /// Session, connection, block and position that an unbroken stream goes on with.
    expected: Option<(String, u32, u64, u64)>,
    stream: u64,
    block: Option<Pieces>,
    damage: Vec<Damage>,
    /// Bytes read so far.
    at: u64,
}

#[derive(Debug)]
struct Open {
    file: TensogramFile,
    path: PathBuf,
    messages: usize,
    next: usize,
}

/// A block that was read.
#[derive(Debug)]
struct Pieces {
    bytes: Vec<u8>,
    times: Vec<i64>,
    lengths: Vec<u32>,
    /// The next piece, and where it begins.
    next: usize,
    begin: usize,
}

impl Reader {
    /// The recording.
    pub const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// What could not be read so far, and what is missing.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The next piece, in the order of arrival; `None` at the end. Damage is passed over and listed.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>, RecordingError> {
        while self.block.as_ref().is_none_or(|block| block.next >= block.times.len()) {
            self.block = None;
            if !self.advance()? {
                return Ok(None);
            }
        }
        let (stream, at) = (self.stream, self.at);
        let Some(block) = &mut self.block else { return Ok(None) };
        let index = block.next;
        let (Some(time), Some(length)) = (block.times.get(index), block.lengths.get(index)) else { return Ok(None) };
        let begin = block.begin;
        (block.next, block.begin) = (index + 1, begin + *length as usize);
        self.at += u64::from(*length);
        Ok(Some(Chunk { time: *time, at, stream, bytes: block.bytes.get(begin..block.begin).unwrap_or_default() }))
    }

    /// Goes on to the next message; false at the end of the last file.
    fn advance(&mut self) -> Result<bool, RecordingError> {
        let Some(open) = &mut self.open else { return self.open_next() };
        if open.next >= open.messages {
            self.open = None;
            return Ok(self.next_file < self.recording.files.len());
        }
        let (index, path) = (open.next, open.path.clone());
        open.next += 1;
        let at = open.file.message_span(index).map_or(0, |span| span.start);
        match block(&open.file, index, &path, at) {
            Ok(Some((about, pieces))) => self.take(about, pieces, &path),
            Ok(None) => {}
            Err(error @ RecordingError::Io { .. }) => return Err(error),
            Err(error) => {
                let mut damage = Damage::of(&path, &error);
                if error.position().is_none() {
                    damage.message = format!("{} in the message at byte {at} (0x{at:x})", damage.message);
                }
                self.damage.push(damage);
            }
        }
        Ok(true)
    }

    fn open_next(&mut self) -> Result<bool, RecordingError> {
        let Some(listed) = self.recording.files.get(self.next_file) else { return Ok(false) };
        self.next_file += 1;
        let path = listed.path.clone();
        let file = TensogramFile::open(&path).map_err(RecordingError::message(&path))?;
        let spans = file.message_layouts().map_err(RecordingError::message(&path))?;
        let len = std::fs::metadata(&path).map_err(RecordingError::io(&path))?.len();
        let mut end = 0;
        for span in &spans {
            self.note_hole(&path, end, span.start, "bytes are not part of a message");
            end = span.end;
        }
        self.note_hole(&path, end, len, "bytes at the end are an unfinished block");
        self.open = Some(Open { file, path, messages: spans.len(), next: 0 });
        Ok(true)
    }

    fn note_hole(&mut self, path: &Path, begin: u64, end: u64, what: &str) {
        if begin < end {
            let message = format!("{} {what} at byte {begin} (0x{begin:x})", end - begin);
            self.damage.push(Damage::new("torn_block", path, message, 0));
        }
    }

    /// Takes a block, and notes what is missing before it.
    fn take(&mut self, about: Block, pieces: Pieces, path: &Path) {
        let next = (about.number.saturating_add(1), about.position.saturating_add(pieces.bytes.len() as u64));
        let goes_on = match &self.expected {
            None => about.number == 0,
            Some((session, connection, number, position)) if *session == about.session => {
                if (about.number, about.position) != (*number, *position) {
                    let lost = about.position.saturating_sub(*position);
                    let message =
                        format!("expected block {number}, found block {}: {lost} bytes are missing", about.number);
                    self.damage.push(Damage::new("missing_blocks", path, message, lost));
                }
                *connection == about.connection && (about.number, about.position) == (*number, *position)
            }
            Some(_) => false,
        };
        if self.expected.is_none() && about.number > 0 {
            let message = format!("the first block is block {}: {} bytes are missing", about.number, about.position);
            self.damage.push(Damage::new("missing_blocks", path, message, about.position));
        }
        if about.dropped > 0 {
            let message = format!("the recorder dropped {} bytes before block {}", about.dropped, about.number);
            self.damage.push(Damage::new("dropped_bytes", path, message, about.dropped));
        }
        if self.expected.is_some() && (!goes_on || about.dropped > 0) {
            self.stream += 1;
        }
        self.expected = Some((about.session, about.connection, next.0, next.1));
        self.block = Some(pieces);
    }
}

/// The files that may be part of a recording, by name.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(RecordingError::io(folder))? {
        let path = entry.map_err(RecordingError::io(folder))?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|end| end == "tgm") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The header of a file and when it was begun; `None` when the file is not part of a recording.
fn header(path: &Path) -> Result<Option<(Header, i64)>, RecordingError> {
    let source = FileSource::open(path).map_err(RecordingError::io(path))?;
    // Most files are something else: the first bytes tell, without a scan. The key stands close to the beginning, because the
    // header has one object with a short name.
    let len = source.len().map_err(RecordingError::io(path))?;
    let mut head = vec![0; len.min(HEAD_LEN) as usize];
    source.read_exact_at(0, &mut head).map_err(RecordingError::io(path))?;
    let key = RECORDING.as_bytes();
    if !head.starts_with(MAGIC) || !head.windows(key.len()).any(|window| window == key) {
        return Ok(None);
    }
    let file = TensogramFile::open(path).map_err(RecordingError::message(path))?;
    if file.message_count().map_err(RecordingError::message(path))? == 0 {
        return Ok(None);
    }
    let metadata = file.metadata(0).map_err(RecordingError::message(path))?;
    let Some(Part::Header(header)) = part(&metadata, path, 0)? else { return Ok(None) };
    let start = named(&metadata, START)
        .and_then(|index| file.to_vec::<i64>(0, index, &DecodeOptions::default()).ok())
        .and_then(|times| times.first().copied())
        .ok_or_else(|| RecordingError::format("recording_metadata", path, "the header has no time `start`", Some(0)))?;
    Ok(Some((header, start)))
}

/// A block; `None` when the message is another part of a recording, or of none.
fn block(file: &TensogramFile, index: usize, path: &Path, at: u64) -> Result<Option<(Block, Pieces)>, RecordingError> {
    let wrong = RecordingError::message;
    let message = file.read_message(index).map_err(wrong(path))?;
    let view = MessageView::open(&message).map_err(wrong(path))?;
    let metadata = view.metadata().map_err(wrong(path))?;
    let Some(Part::Block(about)) = part(&metadata, path, at)? else { return Ok(None) };
    let object = |name: &str, dtype: DType| {
        let malformed = |words: String| RecordingError::format("malformed_block", path, words, Some(at));
        let index = named(&metadata, name).ok_or_else(|| malformed(format!("no object `{name}` in the block")))?;
        let object = view.object(index).map_err(wrong(path))?;
        let descriptor = object.descriptor();
        if descriptor.dtype != dtype || descriptor.shape.len() != 1 {
            let found = format!("{} of {} dimensions", descriptor.dtype, descriptor.shape.len());
            return Err(malformed(format!("object `{name}` is {found}, expected {dtype} of one, in the block")));
        }
        object.verify_hash().map_err(wrong(path))?;
        Ok(object)
    };
    let options = DecodeOptions::default();
    let bytes = object(BYTES, DType::UInt8)?.to_vec::<u8>(&options).map_err(wrong(path))?;
    let times = object(TIME, DType::Int64)?.to_vec::<i64>(&options).map_err(wrong(path))?;
    let lengths = object(LENGTH, DType::UInt32)?.to_vec::<u32>(&options).map_err(wrong(path))?;
    let sum: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    if times.len() != lengths.len() || sum != bytes.len() as u64 {
        let words = format!(
            "{} times, {} lengths with a sum of {sum}, {} bytes in the block",
            times.len(),
            lengths.len(),
            bytes.len()
        );
        return Err(RecordingError::format("malformed_block", path, words, Some(at)));
    }
    Ok(Some((about, Pieces { bytes, times, lengths, next: 0, begin: 0 })))
}

/// Bytes in which the key of a header is looked for.
const HEAD_LEN: u64 = 16 << 10;

/// The object of this name.
fn named(metadata: &GlobalMetadata, name: &str) -> Option<usize> {
    metadata.base.iter().position(|entry| entry.get("name").and_then(|value| value.as_text()) == Some(name))
}
