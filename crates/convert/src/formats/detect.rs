//! Which format is this?

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
    let mut head = vec![0u8; source.len()?.min(HEAD_LEN) as usize];
    source.read_exact_at(0, &mut head)?;
    // Nothing tells: take the name's word, so that the reader of that format says what is wrong.
    Ok(by_mark(&head).or_else(|| by_header(source)).or(named))
}

pub(super) fn by_mark(head: &[u8]) -> Option<Format> {
    let all = || Format::ALL.iter().copied();
    let marked = |format: &Format| matches!(format.contract().recognition(), Recognition::Mark(shows) if shows(head));
    let likely = |format: &Format| matches!(format.contract().recognition(), Recognition::Likely(shows) if shows(head));
    all().find(marked).or_else(|| all().find(likely))
}

fn by_header(source: &dyn ReadAt) -> Option<Format> {
    let reads =
        |format: &Format| matches!(format.contract().recognition(), Recognition::Header(reads) if reads(source));
    Format::ALL.iter().copied().find(reads)
}

/// Enough for every mark.
const HEAD_LEN: u64 = 16;
