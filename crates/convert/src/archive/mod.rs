//! Zip archives behind any source: the directory, where each entry lies, and that no two entries share bytes.

mod reader; // any source as a stream with positions

use crate::ConvertError;
use fw_bytes::Span;
use fw_source::ReadAt;
use reader::SourceReader;
use std::io::{self, Read};
use std::sync::Arc;
use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

/// An open archive.
pub(crate) struct Archive {
    source: AnySource,
    /// Copied for every read: the directory is shared, the position is not.
    zip: ZipArchive<SourceReader<AnySource>>,
    members: Vec<Member>,
}

/// A source that several readers share.
pub(crate) type AnySource = Arc<dyn ReadAt + Send + Sync>;

/// One entry.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where its bytes lie in the file, as they lie there.
    pub(crate) data: Span,
    /// Bytes that it unpacks to.
    pub(crate) len: u64,
    pub(crate) compressed: bool,
    /// Where its local header begins.
    header: u64,
}

/// An entry being read.
pub(crate) type Opened<'a> = ZipFile<'a, SourceReader<AnySource>>;

impl Archive {
    /// Reads the directory and the local headers; no data.
    ///
    /// # Errors
    /// When the source cannot be read or is no archive; when entries overlap, have the same name, end past the file or claim
    /// to unpack to more than their bytes can.
    pub(crate) fn open(source: AnySource) -> Result<Self, ConvertError> {
        let zip = ZipArchive::new(SourceReader::new(Arc::clone(&source))?).map_err(zip_error)?;
        if zip.has_duplicate_names() {
            return Err(ConvertError::format("duplicate_entry", "two zip entries have the same name", None));
        }
        let members = members(&zip, &*source)?;
        Ok(Self { source, zip, members })
    }

    /// In the order of the directory.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The file that the archive is.
    pub(crate) const fn source(&self) -> &AnySource {
        &self.source
    }

    /// Hands the entry at `place` to `read`, unpacked.
    ///
    /// # Errors
    /// When it cannot be opened; those of `read`.
    pub(crate) fn read<T>(
        &self,
        place: usize,
        read: impl FnOnce(&mut Opened<'_>) -> Result<T, ConvertError>,
    ) -> Result<T, ConvertError> {
        let mut zip = self.zip.clone();
        read(&mut zip.by_index(place).map_err(zip_error)?)
    }

    /// Reads an entry to its end and compares its checksum.
    ///
    /// # Errors
    /// When it cannot be read; `checksum_mismatch`.
    pub(crate) fn verify(&self, place: usize) -> Result<(), ConvertError> {
        let mut buffer = vec![0u8; 1 << 16];
        self.read(place, |entry| {
            loop {
                fw_bytes::interrupt::check();
                match entry.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(_) => {}
                    Err(error) => return Err(entry_error(error)),
                }
            }
        })
    }
}

/// Names of the entries of an archive, in the order of the directory, where they can be read.
pub(crate) fn zip_names(source: &dyn ReadAt) -> Option<Vec<String>> {
    let zip = ZipArchive::new(SourceReader::new(source).ok()?).ok()?;
    zip.file_names().map(|name| Some(name.ok()?.into_owned())).collect()
}

/// Where the entries lie, from their local headers, which are fetched together.
fn members(zip: &ZipArchive<SourceReader<AnySource>>, source: &dyn ReadAt) -> Result<Vec<Member>, ConvertError> {
    let (file_len, directory) = (source.len()?, zip.central_directory_start());
    let shared = zip.metadata();
    let mut members = Vec::with_capacity(shared.len());
    for place in 0..shared.len() {
        let entry = shared.entry(place).map_err(zip_error)?;
        let name = entry.name().map_err(zip_error)?.into_owned();
        let (header, stored, len) = (entry.header_start(), entry.compressed_size(), entry.size());
        let compressed = entry.compression() != CompressionMethod::Stored;
        if header.saturating_add(LOCAL_LEN) > file_len {
            let message = format!("zip entry {name:?}: its header at byte {header} lies outside the file");
            return Err(ConvertError::format("truncated", message, header));
        }
        if !compressed && stored != len && !entry.encrypted() {
            let message = format!("zip entry {name:?} is stored and has two sizes, {stored} and {len} bytes");
            return Err(ConvertError::format("tensor_size_mismatch", message, header));
        }
        if len > most_unpacked(stored) {
            let message =
                format!("zip entry {name:?} claims {len} bytes unpacked: its {stored} bytes cannot hold them");
            return Err(ConvertError::format("impossible_size", message, header));
        }
        let data = Span::new(0, stored);
        members.push(Member { name, data, len, compressed, header });
    }
    for some in members.chunks_mut(TOGETHER) {
        let spans: Vec<Span> = some.iter().map(|one| Span::new(one.header, one.header + LOCAL_LEN)).collect();
        let mut held = fw_source::Buffers::new();
        for (start, bytes) in source.read_many(&spans)? {
            held.insert(start, bytes);
        }
        for (member, span) in some.iter_mut().zip(&spans) {
            let local = held.get(*span).unwrap_or_default();
            let number =
                |at: usize| local.get(at..at + 2).map_or(0, |two| u64::from(u16::from_le_bytes([two[0], two[1]])));
            if !local.starts_with(b"PK\x03\x04") {
                let message = format!("zip entry {:?}: no local header where the directory says", member.name);
                return Err(ConvertError::format("invalid_zip", message, member.header));
            }
            let start = span.end + number(26) + number(28);
            let end = start.saturating_add(member.data.end);
            if end > file_len {
                let message = format!("zip entry {:?} ends at byte {end}, the file has {file_len}", member.name);
                return Err(ConvertError::format("truncated", message, member.header));
            }
            member.data = Span::new(start, end);
        }
    }
    check_overlap(&members, directory)?;
    Ok(members)
}

/// Entries that share bytes make a small file unpack to anything.
fn check_overlap(members: &[Member], directory: u64) -> Result<(), ConvertError> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by_key(|member| (member.header, member.data.end));
    for (one, next) in sorted.iter().zip(sorted.iter().skip(1)) {
        if next.header < one.data.end {
            let message = format!("zip entries {:?} and {:?} overlap", one.name, next.name);
            return Err(ConvertError::format("overlapping_entries", message, next.header));
        }
    }
    match sorted.last() {
        Some(last) if last.data.end > directory => {
            let message = format!("zip entry {:?} overlaps the directory at byte {directory}", last.name);
            Err(ConvertError::format("overlapping_entries", message, last.header))
        }
        _ => Ok(()),
    }
}

/// What deflate can make of so many bytes: 258 bytes take two bits at least.
const fn most_unpacked(stored: u64) -> u64 {
    stored.saturating_mul(1032).saturating_add(1032)
}

/// What the zip reader says of an archive.
pub(crate) fn zip_error(error: zip::result::ZipError) -> ConvertError {
    match error {
        zip::result::ZipError::Io(error) => entry_error(error),
        other => ConvertError::format("invalid_zip", format!("not a readable zip archive: {other}"), None),
    }
}

/// What reading an entry says: damaged data is a fault of the file, everything else one of the machine.
pub(crate) fn entry_error(error: io::Error) -> ConvertError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            let message = error.to_string();
            let code = if message.contains("checksum") { "checksum_mismatch" } else { "invalid_zip" };
            ConvertError::format(code, format!("damaged zip entry: {message}"), None)
        }
        _ => error.into(),
    }
}

/// Bytes of a local header before the name.
const LOCAL_LEN: u64 = 30;
/// Local headers that are fetched together.
const TOGETHER: usize = 4096;
