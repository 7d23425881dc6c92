//! What notebooks show: tables of tensors and metadata, and small pictures.

use super::file::Opened;
use crate::html::{MOST_DECODED, PICTURES, Row, page, thumbnail};
use framewright::convert::Entry;

/// A file: its metadata, and a row per tensor.
pub(super) fn file(opened: &Opened) -> String {
    let entries = opened.entries();
    let said = opened.file.metadata().into_iter().flatten().map(|(key, text)| (key.as_str(), text.clone()));
    let rows = entries.iter().enumerate().map(|(index, entry)| {
        let picture = if index < PICTURES { picture(opened, index).unwrap_or_default() } else { String::new() };
        row(entry, picture)
    });
    page(&opened.name(), &opened.file.format().to_string(), entries.len(), said, rows)
}

/// A tensor: what it is, what the file says about it, and a picture when it has two axes.
pub(super) fn tensor(opened: &Opened, index: usize) -> String {
    let entry = &opened.entries()[index];
    let said = entry.attributes.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.as_str(), text)
    });
    let rows = std::iter::once(row(entry, picture(opened, index).unwrap_or_default()));
    page(&opened.name(), &opened.file.format().to_string(), 1, said, rows)
}

fn row(entry: &Entry, picture: String) -> Row<'_> {
    Row { name: &entry.name, kind: entry.type_name(), shape: &entry.shape, bytes: entry.byte_len().ok(), picture }
}

/// A small picture. A tensor that would have to be fetched, or decoded whole although it is large, has none.
fn picture(opened: &Opened, index: usize) -> Option<String> {
    let entry = &opened.entries()[index];
    if !opened.is_near() || entry.span.is_none() && entry.byte_len().ok()? > MOST_DECODED {
        return None;
    }
    thumbnail(&entry.name, entry.dtype, &entry.shape, |selection| opened.file.slice(index, selection).ok())
}
