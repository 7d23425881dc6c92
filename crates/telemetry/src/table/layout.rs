//! A message as a table: the frame's own columns, then the fields.

use super::build::{Builder, Presence};
use arrow_array::builder::{TimestampNanosecondBuilder, UInt8Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use fw_convert::{ConvertError, Feature, FrameRow, Loss, TableLayout};
use std::collections::HashMap;
use std::sync::Arc;

/// Gathers rows into batches.
pub(super) struct Batches {
    schema: SchemaRef,
    name: String,
    at: UInt64Builder,
    time: Option<TimestampNanosecondBuilder>,
    sequence: Option<UInt8Builder>,
    source: Option<(UInt8Builder, UInt8Builder)>,
    fields: Option<Builder>,
    rows: usize,
    /// Rows of a full batch.
    most: usize,
    bad_text: u64,
}

impl Batches {
    pub(super) fn new(layout: &TableLayout<'_>) -> Self {
        let fields = Builder::message(layout.schema, layout.message, layout.enums, Presence::Always);
        let framing = layout.framing;
        let mut columns = vec![Field::new("@at", DataType::UInt64, false)];
        if layout.timed {
            columns.push(Field::new("@time", DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())), true));
        }
        if framing.has_sequence() {
            columns.push(Field::new("@sequence", DataType::UInt8, false));
        }
        if framing.has_system() {
            columns.push(Field::new("@system", DataType::UInt8, false));
            columns.push(Field::new("@component", DataType::UInt8, false));
        }
        let mut columns: Vec<_> = columns.into_iter().map(Arc::new).collect();
        if let Some(Builder::Struct { fields, .. }) = &fields {
            columns.extend(fields.iter().cloned());
        }
        let metadata = HashMap::from([
            ("fw.message".to_owned(), layout.name.to_owned()),
            ("fw.framing".to_owned(), framing.to_string()),
        ]);
        Self {
            schema: Arc::new(Schema::new_with_metadata(columns, metadata)),
            name: layout.name.to_owned(),
            at: UInt64Builder::new(),
            time: layout.timed.then(|| TimestampNanosecondBuilder::new().with_timezone(UTC)),
            sequence: framing.has_sequence().then(UInt8Builder::new),
            source: framing.has_system().then(|| (UInt8Builder::new(), UInt8Builder::new())),
            fields,
            rows: 0,
            most: (BATCH_LEN / layout.message.sizes.max.max(1)).clamp(1, BATCH_ROWS),
            bad_text: 0,
        }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Takes a row; true when a batch is full.
    pub(super) fn push(&mut self, row: &FrameRow<'_, '_>) -> bool {
        self.at.append_value(row.at);
        if let Some(time) = &mut self.time {
            time.append_option(row.time.map(|time| i64::try_from(time).unwrap_or(i64::MAX)));
        }
        if let Some(sequence) = &mut self.sequence {
            sequence.append_value(row.header.sequence);
        }
        if let Some((system, component)) = &mut self.source {
            system.append_value(row.header.system);
            component.append_value(row.header.component);
        }
        if let Some(fields) = &mut self.fields {
            fields.append(Some(&row.values), &mut self.bad_text);
        }
        self.rows = self.rows.saturating_add(1);
        self.rows >= self.most
    }

    /// The rows since the last batch; `None` without any.
    pub(super) fn batch(&mut self) -> Result<Option<RecordBatch>, ConvertError> {
        if self.rows == 0 {
            return Ok(None);
        }
        let made = self.arrays().and_then(|arrays| {
            let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
            RecordBatch::try_new_with_options(self.schema(), arrays, &options)
        });
        self.rows = 0;
        made.map(Some).map_err(|error| failed(&self.name, &error))
    }

    fn arrays(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(self.at.finish())];
        if let Some(time) = &mut self.time {
            arrays.push(Arc::new(time.finish()));
        }
        if let Some(sequence) = &mut self.sequence {
            arrays.push(Arc::new(sequence.finish()));
        }
        if let Some((system, component)) = &mut self.source {
            arrays.push(Arc::new(system.finish()));
            arrays.push(Arc::new(component.finish()));
        }
        if let Some(fields) = &mut self.fields {
            arrays.extend(fields.columns()?);
        }
        Ok(arrays)
    }

    pub(super) fn losses(&self) -> Vec<Loss> {
        let lost = (self.bad_text > 0).then(|| {
            let what = format!(
                "text of {} that is not UTF-8: written with replacement characters ({} values)",
                self.name, self.bad_text
            );
            Loss::new(Feature::Bytes, None, what)
        });
        lost.into_iter().collect()
    }
}

/// What the writer of tables said.
pub(super) fn failed(name: &str, error: &dyn std::fmt::Display) -> ConvertError {
    ConvertError::unsupported("table", format!("table of {name}: {error}"))
}

const UTC: &str = "UTC";

/// Bytes of payloads, and rows, of one batch.
const BATCH_LEN: usize = 4 << 20;
const BATCH_ROWS: usize = 8192;
