//! Bytes to records, checked: lengths before memory is taken, checksums as far as they are there, positions in every error.

use crate::error::TelemetryError;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// True when a file begins as MCAP files do.
pub fn is_mcap(path: impl AsRef<Path>) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *MAGIC
}

/// A record that somebody wants, and where it is.
pub(super) struct Record<'r> {
    pub(super) kind: Kind,
    pub(super) body: &'r [u8],
    /// Its first byte in the file; of a record in a compressed chunk, that of the chunk.
    pub(super) at: u64,
}

/// Records that are read; all others are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Schema,
    Channel,
    Message,
    Metadata,
    /// Its body is not read.
    Attachment,
}

/// What was read in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Bytes of the file.
    pub(super) file_len: u64,
    /// Bytes of records, those in chunks after decompression.
    pub(super) record_len: u64,
}

/// Reads a whole file and hands its records to `take`, with the totals so far.
pub(super) fn each_record(
    source: impl Read,
    take: &mut dyn FnMut(&Record<'_>, &Totals) -> Result<(), TelemetryError>,
) -> Result<Totals, TelemetryError> {
    let mut reader = Reader {
        source: Counted { inner: BufReader::with_capacity(1 << 17, source), at: 0, sum: crc32fast::Hasher::new() },
        totals: Totals::default(),
        body: Vec::new(),
        take,
    };
    reader.magic("at the start")?;
    loop {
        if reader.record()? == Next::End {
            break;
        }
    }
    reader.magic("after the footer")?;
    let end = reader.source.at;
    if reader.source.read(&mut [0])? > 0 {
        return Err(TelemetryError::format("trailing_bytes", "bytes after the end of the MCAP file", end));
    }
    reader.totals.file_len = end;
    Ok(reader.totals)
}

/// A source that knows where it is, and the checksum of what was read since it was set.
struct Counted<R> {
    inner: R,
    at: u64,
    sum: crc32fast::Hasher,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.sum.update(buffer.get(..len).unwrap_or_default());
        self.at = self.at.saturating_add(len as u64);
        Ok(len)
    }
}

struct Reader<'t, R> {
    source: Counted<R>,
    totals: Totals,
    body: Vec<u8>,
    take: &'t mut dyn FnMut(&Record<'_>, &Totals) -> Result<(), TelemetryError>,
}

#[derive(PartialEq, Eq)]
enum Next {
    Record,
    End,
}

impl<R: Read> Reader<'_, R> {
    fn magic(&mut self, place: &str) -> Result<(), TelemetryError> {
        let at = self.source.at;
        let found = fixed::<8>(&mut self.source, "the magic bytes", at)?;
        if found != *MAGIC {
            let message = format!("the magic bytes {place} are {found:02x?}, expected {MAGIC:02x?}");
            return Err(TelemetryError::format("bad_magic", message, at));
        }
        Ok(())
    }

    /// A record of the file.
    fn record(&mut self) -> Result<Next, TelemetryError> {
        let at = self.source.at;
        // The checksum of the data section ends before the record that holds it.
        let data_sum = self.source.sum.clone();
        let head = fixed::<9>(&mut self.source, "a record", at)?;
        let (opcode, len) = opcode_and_len(head);
        self.totals.file_len = self.source.at;
        match opcode {
            CHUNK => self.chunk(at, len)?,
            DATA_END => {
                self.read_body(opcode, len, at)?;
                let saved = u32_at(&self.body, 0).ok_or_else(|| short("the end of the data section", at))?;
                checksum("data section", saved, data_sum.finalize(), at)?;
                // That of the summary starts after it.
                self.source.sum = crc32fast::Hasher::new();
            }
            FOOTER => {
                if len != FOOTER_LEN {
                    let message = format!("the footer has {len} bytes, expected {FOOTER_LEN}");
                    return Err(TelemetryError::format("bad_footer", message, at));
                }
                fixed::<16>(&mut self.source, "the footer", at)?;
                let computed = self.source.sum.clone().finalize();
                let saved = u32::from_le_bytes(fixed(&mut self.source, "the footer", at)?);
                checksum("summary", saved, computed, at)?;
                return Ok(Next::End);
            }
            opcode => match kind(opcode) {
                Some(Kind::Attachment) => {
                    self.pass_over(opcode, len, at)?;
                    let record = Record { kind: Kind::Attachment, body: &[], at };
                    (self.take)(&record, &self.totals)?;
                }
                Some(kind) => {
                    self.read_body(opcode, len, at)?;
                    self.totals.record_len = self.totals.record_len.saturating_add(len);
                    (self.take)(&Record { kind, body: &self.body, at }, &self.totals)?;
                }
                None => self.pass_over(opcode, len, at)?,
            },
        }
        Ok(Next::Record)
    }

    fn read_body(&mut self, opcode: u8, len: u64, at: u64) -> Result<(), TelemetryError> {
        body(&mut self.source, opcode, len, at, &mut self.body)
    }

    fn pass_over(&mut self, opcode: u8, len: u64, at: u64) -> Result<(), TelemetryError> {
        pass_over(&mut self.source, opcode, len, at)
    }

    /// The records of a chunk, as they are decompressed.
    fn chunk(&mut self, at: u64, len: u64) -> Result<(), TelemetryError> {
        let end = self.source.at.checked_add(len);
        let end = end.ok_or_else(|| truncated("a chunk", len, 0, at))?;
        let head = fixed::<32>(&mut self.source, "a chunk", at)?;
        let uncompressed = u64_at(&head, 16).unwrap_or(0);
        let saved = u32_at(&head, 24).unwrap_or(0);
        let name_len = u32_at(&head, 28).unwrap_or(0);
        if name_len > LONGEST_NAME {
            let message =
                format!("the name of a chunk's compression has {name_len} bytes, expected up to {LONGEST_NAME}");
            return Err(TelemetryError::format("bad_chunk", message, at));
        }
        let mut name = Vec::new();
        self.source.by_ref().take(name_len.into()).read_to_end(&mut name)?;
        let name = String::from_utf8_lossy(&name).into_owned();
        let compressed = u64::from_le_bytes(fixed(&mut self.source, "a chunk", at)?);
        if self.source.at.checked_add(compressed).is_none_or(|records_end| records_end > end) {
            let message = format!("a chunk of {len} bytes cannot hold {compressed} bytes of records");
            return Err(TelemetryError::format("bad_chunk", message, at));
        }
        let mut stored = self.source.by_ref().take(compressed);
        let sum = match name.as_str() {
            "" => records(&mut stored, uncompressed, at, &mut self.totals, &mut self.body, self.take)?,
            "zstd" => {
                let mut decoder = zstd::stream::read::Decoder::new(&mut stored)?;
                // What the format's own encoders need; more is a frame that asks for memory.
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                records(decoder, uncompressed, at, &mut self.totals, &mut self.body, self.take)?
            }
            "lz4" => {
                let decoder = lz4_flex::frame::FrameDecoder::new(&mut stored);
                records(decoder, uncompressed, at, &mut self.totals, &mut self.body, self.take)?
            }
            other => {
                let message = format!(
                    "the chunk at byte {at} is compressed with {other:?}; only zstd, lz4 and uncompressed chunks can be read"
                );
                return Err(TelemetryError::unsupported("unsupported_compression", message));
            }
        };
        checksum("chunk", saved, sum, at)?;
        // What a compressor left after its last frame, and what follows the records.
        let rest = end.saturating_sub(self.source.at);
        self.pass_over(CHUNK, rest, at)
    }
}

/// The records inside a chunk; their checksum.
fn records(
    source: impl Read,
    len: u64,
    at: u64,
    totals: &mut Totals,
    buffer: &mut Vec<u8>,
    take: &mut dyn FnMut(&Record<'_>, &Totals) -> Result<(), TelemetryError>,
) -> Result<u32, TelemetryError> {
    let source = Decompressed { inner: source, at };
    let mut source =
        Counted { inner: BufReader::with_capacity(1 << 16, source).take(len), at: 0, sum: crc32fast::Hasher::new() };
    while source.at < len {
        let begin = source.at;
        let head = fixed::<9>(&mut source, "a record in a chunk", at)?;
        let (opcode, record_len) = opcode_and_len(head);
        if record_len > len.saturating_sub(source.at) {
            let message =
                format!("a record of {record_len} bytes at byte {begin} of a chunk, which has {len} bytes of records");
            return Err(TelemetryError::format("bad_chunk", message, at));
        }
        totals.record_len = totals.record_len.saturating_add(record_len);
        if totals.record_len > ROOM.saturating_add(totals.file_len.saturating_mul(EXPANSION)) {
            let message = format!(
                "the chunks so far expand to {} bytes, more than {EXPANSION} times what was read",
                totals.record_len
            );
            return Err(TelemetryError::format("expands_too_much", message, at));
        }
        match kind(opcode) {
            Some(kind @ (Kind::Schema | Kind::Channel | Kind::Message)) => {
                body(&mut source, opcode, record_len, at, buffer)?;
                take(&Record { kind, body: buffer, at }, totals)?;
            }
            _ if matches!(opcode, CHUNK | DATA_END | FOOTER) => {
                let message = format!("a record of the kind {opcode:#04x} inside a chunk");
                return Err(TelemetryError::format("bad_chunk", message, at));
            }
            _ => {
                pass_over(&mut source, opcode, record_len, at)?;
            }
        }
    }
    Ok(source.sum.finalize())
}

/// What a decoder says about wrong data is a fault of the file, not of the disk.
struct Decompressed<R> {
    inner: R,
    at: u64,
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(buffer).map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => error,
            _ => std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                format!("the chunk at byte {} cannot be decompressed: {error}", self.at),
            ),
        })
    }
}

/// Reads so many bytes, or says what is missing.
fn fixed<const N: usize>(source: &mut impl Read, what: &str, at: u64) -> Result<[u8; N], TelemetryError> {
    let mut bytes = [0; N];
    let mut have = 0;
    while let Some(rest) = bytes.get_mut(have..).filter(|rest| !rest.is_empty()) {
        match source.read(rest) {
            Ok(0) => return Err(truncated(what, N as u64, have as u64, at)),
            Ok(len) => have += len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(fault(error, at)),
        }
    }
    Ok(bytes)
}

/// The body of a record. Memory is taken as bytes arrive, whatever the length claims.
fn body(source: &mut impl Read, opcode: u8, len: u64, at: u64, buffer: &mut Vec<u8>) -> Result<(), TelemetryError> {
    buffer.clear();
    if len > LONGEST_RECORD {
        let message = format!("a record of the kind {opcode:#04x} with {len} bytes, expected up to {LONGEST_RECORD}");
        return Err(TelemetryError::format("record_too_long", message, at));
    }
    if buffer.capacity() > KEPT {
        buffer.shrink_to(KEPT);
    }
    let read = source.by_ref().take(len).read_to_end(buffer).map_err(|error| fault(error, at))?;
    whole(opcode, len, read as u64, at)
}

fn pass_over(source: &mut impl Read, opcode: u8, len: u64, at: u64) -> Result<(), TelemetryError> {
    let passed =
        std::io::copy(&mut source.by_ref().take(len), &mut std::io::sink()).map_err(|error| fault(error, at))?;
    whole(opcode, len, passed, at)
}

fn whole(opcode: u8, len: u64, read: u64, at: u64) -> Result<(), TelemetryError> {
    if read == len { Ok(()) } else { Err(truncated(&format!("a record of the kind {opcode:#04x}"), len, read, at)) }
}

fn truncated(what: &str, need: u64, have: u64, at: u64) -> TelemetryError {
    TelemetryError::format("truncated", format!("{what} needs {need} bytes, the file has {have} more"), at)
}

fn short(what: &str, at: u64) -> TelemetryError {
    TelemetryError::format("bad_record", format!("{what} is too short"), at)
}

fn fault(error: std::io::Error, at: u64) -> TelemetryError {
    match error.kind() {
        std::io::ErrorKind::InvalidData => TelemetryError::format("bad_compression", error.to_string(), at),
        _ => error.into(),
    }
}

fn checksum(what: &str, saved: u32, computed: u32, at: u64) -> Result<(), TelemetryError> {
    // Zero says that there is none.
    if saved == 0 || saved == computed {
        return Ok(());
    }
    let message = format!("checksum mismatch in the {what}: stored {saved:08x}, computed {computed:08x}");
    Err(TelemetryError::format("checksum_mismatch", message, at))
}

fn opcode_and_len(head: [u8; 9]) -> (u8, u64) {
    let [opcode, len @ ..] = head;
    (opcode, u64::from_le_bytes(len))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

const fn kind(opcode: u8) -> Option<Kind> {
    Some(match opcode {
        0x01 => Kind::Header,
        0x03 => Kind::Schema,
        0x04 => Kind::Channel,
        0x05 => Kind::Message,
        0x09 => Kind::Attachment,
        0x0c => Kind::Metadata,
        _ => return None,
    })
}

const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";
const FOOTER: u8 = 0x02;
const CHUNK: u8 = 0x06;
const DATA_END: u8 = 0x0f;
const FOOTER_LEN: u64 = 20;

/// Longer than the name of any compression.
const LONGEST_NAME: u32 = 64;

/// Messages are images and point clouds at most.
const LONGEST_RECORD: u64 = 256 << 20;

/// What stays allocated between records.
const KEPT: usize = 4 << 20;

/// Chunks may expand to this many times the bytes read, beyond the room that every file has.
const EXPANSION: u64 = 1000;
const ROOM: u64 = 64 << 20;

/// Windows of 128 MiB: the largest that zstd itself accepts without being told.
const ZSTD_WINDOW_LOG: u32 = 27;
