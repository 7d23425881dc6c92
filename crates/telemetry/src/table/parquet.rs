//! Parquet files.

use super::layout::{Batches, failed};
use fw_convert::{ConvertError, FrameRow, Loss, TableFormat, TableLayout, TableWriter};
use fw_source::AtomicFile;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::cell::Cell;
use std::io::BufWriter;

/// Parquet files, compressed with zstd. Row groups are closed so that all tables together hold about 64 MiB.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parquet {
    tables: Cell<usize>,
}

impl Parquet {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that one table may hold.
    fn room(&self) -> usize {
        (ALL_TABLES / self.tables.get().max(1)).max(ONE_TABLE)
    }
}

impl TableFormat for Parquet {
    fn create<'t>(
        &'t self,
        file: AtomicFile,
        layout: TableLayout<'t>,
    ) -> Result<Box<dyn TableWriter + 't>, ConvertError> {
        let batches = Batches::new(&layout);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("framewright ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = BufWriter::with_capacity(1 << 17, file);
        let writer = ArrowWriter::try_new(file, batches.schema(), Some(properties));
        let writer = writer.map_err(|error| failed(layout.name, &error))?;
        self.tables.set(self.tables.get().saturating_add(1));
        Ok(Box::new(Writer { format: self, batches, writer, name: layout.name }))
    }
}

struct Writer<'t> {
    format: &'t Parquet,
    batches: Batches,
    writer: ArrowWriter<BufWriter<AtomicFile>>,
    name: &'t str,
}

impl Writer<'_> {
    fn flush(&mut self) -> Result<(), ConvertError> {
        let Some(batch) = self.batches.batch()? else { return Ok(()) };
        let written = self.writer.write(&batch).and_then(|()| {
            if self.writer.in_progress_size() > self.format.room() { self.writer.flush() } else { Ok(()) }
        });
        written.map_err(|error| failed(self.name, &error))
    }
}

impl TableWriter for Writer<'_> {
    fn row(&mut self, row: &FrameRow<'_, '_>) -> Result<(), ConvertError> {
        if self.batches.push(row) { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(AtomicFile, Vec<Loss>), ConvertError> {
        self.flush()?;
        let losses = self.batches.losses();
        let file = self.writer.into_inner().map_err(|error| failed(self.name, &error))?;
        Ok((file.into_inner().map_err(std::io::IntoInnerError::into_error)?, losses))
    }
}

/// Bytes of unfinished row groups, of all tables and of one at least.
const ALL_TABLES: usize = 64 << 20;
const ONE_TABLE: usize = 1 << 20;
