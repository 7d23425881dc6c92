//! Columns that grow batch by batch. What was gathered of a large capture goes to a temporary file, so that memory holds one
//! batch, and one column while it is written.

use super::write::Column;
use crate::ConvertError;
use fw_bytes::Span;
use fw_tensogram::Value;
use fw_tensor::DType;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// All columns of a capture, in the order in which they are written.
pub(super) struct Growing {
    /// The columns of each message, in order of first arrival.
    tables: Vec<(u16, Vec<Grown>)>,
    strays: Vec<Grown>,
    /// Where there is room for a temporary file.
    folder: PathBuf,
    file: Option<File>,
    file_len: u64,
}

/// A column so far.
pub(super) struct Grown {
    pub(super) name: String,
    pub(super) about: Value,
    path: String,
    pub(super) dtype: DType,
    pub(super) shape: Vec<u64>,
    pub(super) logical: Option<(DType, Vec<u64>)>,
    /// What is in the temporary file.
    spilled: Vec<Span>,
    /// What came after that.
    recent: Vec<u8>,
}

impl Growing {
    /// Nothing yet; `folder` has room for what does not stay in memory.
    pub(super) fn new(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { tables: Vec::new(), strays: Vec::new(), folder, file: None, file_len: 0 }
    }

    /// Rows of a message so far.
    pub(super) fn rows(&self, id: u16) -> u64 {
        let table = self.tables.iter().find(|(known, _)| *known == id);
        table.and_then(|(_, columns)| columns.first()?.shape.first().copied()).unwrap_or(0)
    }

    /// Takes the columns of one batch.
    pub(super) fn add(&mut self, batch: Vec<Column<'_>>) {
        for column in batch {
            let columns = match column.owner {
                None => &mut self.strays,
                Some(id) => {
                    let known = self.tables.iter().position(|(known, _)| *known == id);
                    let place = known.unwrap_or_else(|| {
                        self.tables.push((id, Vec::new()));
                        self.tables.len().saturating_sub(1)
                    });
                    match self.tables.get_mut(place) {
                        Some((_, columns)) => columns,
                        None => continue,
                    }
                }
            };
            match columns.iter_mut().find(|known| known.path == column.path) {
                Some(known) => known.extend(&column),
                None => columns.push(Grown::of(column)),
            }
        }
    }

    /// Moves what is in memory to the temporary file.
    pub(super) fn spill(&mut self) -> Result<(), ConvertError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        for column in self.tables.iter_mut().flat_map(|(_, columns)| columns).chain(&mut self.strays) {
            file.write_all(&column.recent)?;
            let end = self.file_len.saturating_add(column.recent.len() as u64);
            column.spilled.push(Span::new(self.file_len, end));
            self.file_len = end;
            column.recent = Vec::new();
        }
        Ok(())
    }

    /// The columns, in the order in which they are written.
    pub(super) fn columns(&self) -> impl Iterator<Item = &Grown> {
        self.tables.iter().flat_map(|(_, columns)| columns).chain(&self.strays)
    }

    /// All elements of a column.
    pub(super) fn data(&self, column: &Grown) -> Result<Vec<u8>, ConvertError> {
        let spilled = column.spilled.iter().fold(0u64, |sum, span| sum.saturating_add(span.len()));
        let len = usize::try_from(spilled).map_err(std::io::Error::other)?.saturating_add(column.recent.len());
        let mut data = Vec::with_capacity(len);
        for span in &column.spilled {
            let Some(mut file) = self.file.as_ref() else { break };
            file.seek(SeekFrom::Start(span.start))?;
            file.take(span.len()).read_to_end(&mut data)?;
        }
        data.extend_from_slice(&column.recent);
        if data.len() != len {
            let message = format!("the temporary file was changed: {} bytes of {len} are left", data.len());
            return Err(std::io::Error::other(message).into());
        }
        Ok(data)
    }
}

impl Grown {
    fn of(column: Column<'_>) -> Self {
        Self {
            name: column.name,
            about: column.about,
            path: column.path,
            dtype: column.dtype,
            shape: column.shape,
            logical: column.logical,
            spilled: Vec::new(),
            recent: column.data.into_owned(),
        }
    }

    /// More rows of the same column.
    fn extend(&mut self, more: &Column<'_>) {
        let add = |shape: &mut Vec<u64>, more: &[u64]| {
            if let (Some(rows), Some(new)) = (shape.first_mut(), more.first()) {
                *rows = rows.saturating_add(*new);
            }
        };
        add(&mut self.shape, &more.shape);
        if let (Some((_, shape)), Some((_, new))) = (&mut self.logical, &more.logical) {
            add(shape, new);
        }
        self.recent.extend_from_slice(&more.data);
    }
}
