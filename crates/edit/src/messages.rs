//! A Tensogram file, some of whose messages change: everything else is copied as it is.

use crate::error::{EditError, Result};
use crate::meter::Meter;
use crate::output::Output;
use crate::target::{Input, Target};
use fw_bytes::{Limits, Span};
use fw_convert::Format;
use fw_look::{Catalog, FileRecord, Records};
use fw_query::Where;
use fw_source::{FileSource, ReadAt, Watch};
use fw_tensogram::{MessagePlan, StoredMessage};
use std::rc::Rc;

/// An open Tensogram file.
pub(crate) struct Messages {
    pub(crate) source: Rc<FileSource>,
    pub(crate) catalog: Catalog,
    len: u64,
}

/// A message to write in place of an old one.
pub(crate) struct Changed {
    pub(crate) span: Span,
    pub(crate) plan: MessagePlan,
    /// The file that holds each object of the plan, where it is another than that of the message.
    pub(crate) elsewhere: Vec<Option<Rc<FileSource>>>,
}

impl Messages {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read; `no_message` when it holds bytes and no message.
    pub(crate) fn open(input: &Input<'_>) -> Result<Self> {
        let source = Rc::new(FileSource::open(input.path)?);
        let catalog = Catalog::open_as(input.path, Format::Tensogram, input.name)?;
        let len = source.len()?;
        if catalog.record_count() == 0 && len > 0 {
            return Err(EditError::refused("no_message", format!("{}: holds no readable message", input.name))
                .with_hint(format!("run fw validate {}", input.name)));
        }
        Ok(Self { source, catalog, len })
    }

    /// Every message, in order. A message whose metadata cannot be read is an error: nothing could be selected by it.
    pub(crate) fn records(&self) -> impl Iterator<Item = Result<FileRecord>> + '_ {
        self.readable(self.catalog.records())
    }

    /// The messages that a filter may select, in order; the others are not looked at any further.
    pub(crate) fn records_where<'f>(&'f self, filter: &'f Where) -> impl Iterator<Item = Result<FileRecord>> + 'f {
        self.readable(self.catalog.records_where(filter))
    }

    fn readable<'f>(&'f self, records: Records<'f>) -> impl Iterator<Item = Result<FileRecord>> + 'f {
        records.map(|record| {
            let record = record?;
            match record.survey().map(|survey| &survey.metadata) {
                Some(Err(error)) => Err(self.unreadable(record.index(), &error.to_string())),
                _ => Ok(record),
            }
        })
    }

    /// What a message says, and where its objects stand.
    pub(crate) fn stored(&self, record: &FileRecord) -> Result<StoredMessage> {
        StoredMessage::read(&*self.source, record.span(), &Limits::default())
            .map_err(|error| EditError::from(error).at(self.place(record.index())))
    }

    /// The words for a message.
    pub(crate) fn place(&self, index: usize) -> String {
        format!("{}: message {index}", self.catalog.name())
    }

    fn unreadable(&self, index: usize, why: &str) -> EditError {
        let name = self.catalog.name();
        EditError::refused("unreadable_message", format!("{}: {why}", self.place(index)))
            .with_hint(format!("run fw recover {name} -o repaired.tgm"))
    }

    /// Writes the file with these messages changed, in file order. A file in which nothing changed stays as it is.
    pub(crate) fn rewrite(
        &self,
        input: &Input<'_>,
        target: Target<'_>,
        changed: &[Changed],
        watch: &Watch,
    ) -> Result<u64> {
        let path = target.checked(input)?;
        let meter = Meter::new(watch, self.len);
        let mut output = match (target, path) {
            (Target::InPlace, _) if changed.is_empty() => return Ok(self.len),
            (Target::Stream(sink), _) => Output::stream(sink, &meter),
            (_, Some(path)) => Output::file(&path, &meter)?,
            (_, None) => return Ok(0),
        };
        let mut position = 0;
        for message in changed {
            self.copy_to(&mut output, position, message.span.start)?;
            output.message(&message.plan, |object| {
                let other = message.elsewhere.get(object).and_then(Option::as_ref);
                Ok(Rc::clone(other.unwrap_or(&self.source)))
            })?;
            position = message.span.end;
        }
        self.copy_to(&mut output, position, self.len)?;
        let written = output.finish()?;
        meter.finish();
        Ok(written)
    }

    fn copy_to(&self, output: &mut Output<'_>, from: u64, to: u64) -> Result<()> {
        if from < to {
            output.copy(&self.source, Span::new(from, to))?;
        }
        Ok(())
    }
}
