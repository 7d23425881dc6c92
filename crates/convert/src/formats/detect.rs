//! Which format is this?

use super::foreign;
use crate::archive::zip_names;
use crate::contract::Recognition;
use crate::{ConvertError, Format};
use fw_source::{FileSource, ReadAt};
use std::path::Path;

/// Recognises a file by its bytes where they tell, else by its name.
///
/// # Errors
/// When it cannot be read, or neither bytes nor name tell.
pub fn detect(path: impl AsRef<Path>) -> Result<Format, ConvertError> {
    let path = path.as_ref();
    // The only format of a directory is that of the checkpoint in it.
    if path.is_dir() {
        return Ok(Format::ShardIndex);
    }
    of_source(&FileSource::open(path)?, path)?.ok_or_else(|| unknown(path))
}

/// What to say of a file that nothing tells anything about.
pub(super) fn unknown(path: &Path) -> ConvertError {
    let by_content = |format: Format| !matches!(format.contract().recognition(), Recognition::Name);
    let message = format!("{}: unknown format: not {}", path.display(), Format::listed(by_content, "or"));
    ConvertError::unsupported("unknown_format", message)
}

pub(super) fn of_source(source: &dyn ReadAt, name: &Path) -> Result<Option<Format>, ConvertError> {
    let named = Format::of_name(name);
    if let Some(format) = named
        && matches!(format.contract().recognition(), Recognition::Name)
    {
        return Ok(named);
    }
    let len = source.len()?;
    let mut head = vec![0u8; len.min(HEAD_LEN) as usize];
    source.read_exact_at(0, &mut head)?;
    let found = match head.starts_with(ZIP) {
        true => first_entry(&head).and_then(by_entry).or_else(|| by_zip(source)),
        false => by_mark(&head).or_else(|| by_header(source)),
    };
    if found.is_some() {
        return Ok(found);
    }
    match foreign::named(&head, len) {
        Some(what) => Err(what.error(name)),
        // Nothing tells: take the name's word, so that the reader of that format says what is wrong.
        None => Ok(named),
    }
}

pub(super) fn by_mark(head: &[u8]) -> Option<Format> {
    let all = || Format::ALL.iter().copied();
    let marked = |format: &Format| matches!(format.contract().recognition(), Recognition::Mark(shows) if shows(head));
    let likely = |format: &Format| matches!(format.contract().recognition(), Recognition::Likely(shows) if shows(head));
    let zipped = || match first_entry(head) {
        Some(name) => by_entry(name),
        // Too short to tell what is in the archive: most are of arrays.
        None => head.starts_with(ZIP).then(|| by_entry(None)).flatten(),
    };
    all().find(marked).or_else(zipped).or_else(|| all().find(likely))
}

/// By all names of an archive, where its first one does not tell.
fn by_zip(source: &dyn ReadAt) -> Option<Format> {
    zip_names(source)?.iter().find_map(|name| by_entry(Some(name)))
}

fn by_entry(name: Option<&str>) -> Option<Format> {
    let shown = |format: &Format| matches!(format.contract().recognition(), Recognition::Zip(shows) if shows(name));
    Format::ALL.iter().copied().find(shown)
}

/// The name of the first entry of a zip archive, as far as it is there; an archive may have none.
fn first_entry(head: &[u8]) -> Option<Option<&str>> {
    if head.starts_with(EMPTY_ZIP) {
        return Some(None);
    }
    let len = head.starts_with(ZIP).then(|| head.get(26..28))??;
    let name = head.get(30..)?.get(..usize::from(u16::from_le_bytes([len[0], len[1]])))?;
    Some(Some(std::str::from_utf8(name).ok()?))
}

fn by_header(source: &dyn ReadAt) -> Option<Format> {
    let reads =
        |format: &Format| matches!(format.contract().recognition(), Recognition::Header(reads) if reads(source));
    Format::ALL.iter().copied().find(reads)
}

/// Enough for every mark, and for the name of the first entry of most archives.
const HEAD_LEN: u64 = 512;
/// How archives with and without entries begin.
const ZIP: &[u8] = b"PK\x03\x04";
const EMPTY_ZIP: &[u8] = b"PK\x05\x06";
