//! Arrow files (IPC file format, also called Feather version 2).

use super::layout::{Batches, failed};
use arrow_ipc::writer::FileWriter;
use fw_convert::{ConvertError, FrameRow, Loss, TableFormat, TableLayout, TableWriter};
use fw_source::AtomicFile;
use std::io::BufWriter;

/// Arrow files: batches as they are in memory, so that readers can map them. Memory holds one batch per table.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ArrowFile;

impl TableFormat for ArrowFile {
    fn create<'t>(
        &'t self,
        file: AtomicFile,
        layout: TableLayout<'t>,
    ) -> Result<Box<dyn TableWriter + 't>, ConvertError> {
        let batches = Batches::new(&layout);
        let file = BufWriter::with_capacity(1 << 17, file);
        let writer = FileWriter::try_new(file, &batches.schema()).map_err(|error| failed(layout.name, &error))?;
        Ok(Box::new(Writer { batches, writer, name: layout.name }))
    }
}

struct Writer<'t> {
    batches: Batches,
    writer: FileWriter<BufWriter<AtomicFile>>,
    name: &'t str,
}

impl Writer<'_> {
    fn flush(&mut self) -> Result<(), ConvertError> {
        match self.batches.batch()? {
            Some(batch) => self.writer.write(&batch).map_err(|error| failed(self.name, &error)),
            None => Ok(()),
        }
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
