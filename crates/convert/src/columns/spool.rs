//! Columns of any source, gathered in a temporary file and written as one Tensogram message.

use super::COLUMN;
use crate::tensogram::{self, Writer, stored_shape};
use crate::{Attributes, ConvertError, NanBits};
use fw_bytes::Span;
use fw_tensogram::{MetadataMap, Value};
use fw_tensor::DType;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// One-dimensional columns that grow. Memory holds a few MiB of all of them, and one column while it is written; the rest waits
/// in a temporary file beside the output.
///
/// ```
/// use fw_convert::{ColumnSpool, open};
/// use fw_tensogram::{MetadataMap, Value};
/// use fw_tensor::DType;
///
/// let folder = tempfile::tempdir()?;
/// let mut spool = ColumnSpool::new(folder.path());
/// let x = spool.column("Pose.x", DType::Float32, Value::Map(Vec::new()));
/// spool.append(x, &1.5f32.to_le_bytes())?;
/// let output = folder.path().join("x.tgm");
/// assert_eq!(spool.finish(&output, MetadataMap::new())?, 1);
/// assert_eq!(open(&output)?.entries()[0].shape, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnSpool {
    columns: Vec<Spooled>,
    names: HashSet<String>,
    folder: PathBuf,
    file: Option<File>,
    file_len: u64,
    /// Bytes in memory, and in all.
    recent: usize,
    len: u64,
}

#[derive(Debug)]
struct Spooled {
    name: String,
    about: Value,
    dtype: DType,
    spilled: Vec<Span>,
    recent: Vec<u8>,
}

impl ColumnSpool {
    /// No columns yet; `folder` has room for what does not stay in memory.
    pub fn new(folder: &Path) -> Self {
        Self {
            columns: Vec::new(),
            names: HashSet::new(),
            folder: folder.to_owned(),
            file: None,
            file_len: 0,
            recent: 0,
            len: 0,
        }
    }

    /// Adds a column of elements that have whole bytes. `about` is its `fw.column`; a name that is taken gets the column's number
    /// after it.
    pub fn column(&mut self, name: &str, dtype: DType, about: Value) -> usize {
        let place = self.columns.len();
        let mut name = name.to_owned();
        while !self.names.insert(name.clone()) {
            name = format!("{name}#{place}");
        }
        self.columns.push(Spooled { name, about, dtype, spilled: Vec::new(), recent: Vec::new() });
        place
    }

    /// How many columns there are.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    /// Bytes in all columns.
    pub fn byte_len(&self) -> u64 {
        self.len
    }

    /// Appends little-endian elements.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn append(&mut self, column: usize, bytes: &[u8]) -> Result<(), ConvertError> {
        let Some(column) = self.columns.get_mut(column) else { return Ok(()) };
        column.recent.extend_from_slice(bytes);
        self.recent = self.recent.saturating_add(bytes.len());
        self.len = self.len.saturating_add(bytes.len() as u64);
        if self.recent >= IN_MEMORY { self.spill() } else { Ok(()) }
    }

    /// Appends zero bytes.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_zeros(&mut self, column: usize, len: u64) -> Result<(), ConvertError> {
        let zeros = [0; 4096];
        let mut rest = len;
        while rest > 0 {
            let piece = usize::try_from(rest).unwrap_or(usize::MAX).min(zeros.len());
            self.append(column, zeros.get(..piece).unwrap_or_default())?;
            rest = rest.saturating_sub(piece as u64);
        }
        Ok(())
    }

    /// Writes all columns, with `extra` as the message's own metadata. Returns how many there are.
    ///
    /// # Errors
    /// When a column does not end at an element, or reading or writing fails. No output is left behind then.
    pub fn finish(mut self, output: &Path, extra: MetadataMap) -> Result<usize, ConvertError> {
        let mut shapes = Vec::new();
        for column in &self.columns {
            let len =
                column.spilled.iter().fold(column.recent.len() as u64, |sum, span| sum.saturating_add(span.len()));
            let width = column.dtype.bits() / 8;
            if width == 0 || !len.is_multiple_of(width) {
                let message = format!("{}: {len} bytes are not whole elements of {}", column.name, column.dtype);
                return Err(ConvertError::format("column_length", message, None));
            }
            shapes.push(vec![len / width]);
        }
        let mut stored = Vec::new();
        let mut base = Vec::new();
        for (column, shape) in self.columns.iter().zip(shapes) {
            let logical = (!tensogram::has(column.dtype)).then(|| (column.dtype, shape.clone()));
            let mut entry = tensogram::described(&column.name, logical.as_ref(), &Attributes::new());
            entry.insert(COLUMN.to_owned(), column.about.clone());
            base.push(entry);
            stored.push(match logical {
                Some((dtype, shape)) => (DType::UInt8, stored_shape(dtype, &shape)?),
                None => (column.dtype, shape),
            });
        }
        let mut out = Writer::create(output, base, extra, NanBits::Keep)?;
        for (index, (dtype, shape)) in stored.iter().enumerate() {
            out.put(*dtype, shape, &self.data(index)?)?;
        }
        out.finish()?;
        Ok(stored.len())
    }

    fn spill(&mut self) -> Result<(), ConvertError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        for column in self.columns.iter_mut().filter(|column| !column.recent.is_empty()) {
            file.write_all(&column.recent)?;
            let end = self.file_len.saturating_add(column.recent.len() as u64);
            match column.spilled.last_mut() {
                Some(last) if last.end == self.file_len => last.end = end,
                _ => column.spilled.push(Span::new(self.file_len, end)),
            }
            self.file_len = end;
            column.recent = Vec::new();
        }
        self.recent = 0;
        Ok(())
    }

    fn data(&mut self, index: usize) -> Result<Vec<u8>, ConvertError> {
        let Some(column) = self.columns.get_mut(index) else { return Ok(Vec::new()) };
        let recent = std::mem::take(&mut column.recent);
        let mut data = Vec::new();
        for span in &column.spilled {
            let Some(file) = self.file.as_mut() else { break };
            file.seek(SeekFrom::Start(span.start))?;
            let read = file.take(span.len()).read_to_end(&mut data)? as u64;
            if read != span.len() {
                let message = format!("the temporary file was changed: {read} bytes of {} are left", span.len());
                return Err(std::io::Error::other(message).into());
            }
        }
        data.extend_from_slice(&recent);
        Ok(data)
    }
}

/// Bytes of columns that stay in memory.
const IN_MEMORY: usize = 16 << 20;
