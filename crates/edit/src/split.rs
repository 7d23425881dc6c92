//! One file per object.

use crate::copy::{WrittenFile, check_named, excerpt};
use crate::error::{EditError, Result};
use crate::messages::Messages;
use crate::meter::Meter;
use crate::name::Names;
use crate::output::Output;
use crate::target::{Existing, Input};
use crate::tensors::{Picked, Writing, opened, write_to};
use fw_convert::{Format, Loss, StoredUse};
use fw_look::{Catalog, FileRecord};
use fw_query::{OneObject, Record, Where, WholeRecord};
use fw_source::Watch;
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

/// What is split.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SplitOptions {
    /// Which objects.
    pub filter: Where,
    /// What to do with files that exist; they are not appended to.
    pub existing: Existing,
    /// What to do with the digests that files keep of tensors; objects of messages have digests of their own.
    pub stored: StoredUse,
    /// Is told how much is written.
    pub watch: Watch,
}

impl SplitOptions {
    /// The objects that a filter selects.
    #[must_use]
    pub fn new(filter: Where) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Chooses what to do with files that exist.
    #[must_use]
    pub const fn with_existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Chooses what to do with the digests that files keep of tensors.
    #[must_use]
    pub const fn with_stored(mut self, stored: StoredUse) -> Self {
        self.stored = stored;
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SplitReport {
    /// The files written, in the order of the objects.
    pub files: Vec<WrittenFile>,
    /// Messages that were read.
    pub messages: usize,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
    /// Tensors whose digests were carried along without a look, because that was asked for.
    pub ignored_digests: usize,
    /// Whether a file was signed, and the result is not: it has other tensors.
    pub signature_dropped: bool,
}

/// Writes every selected object of every message as a file of its own, with the keys of its message. A message of one object is
/// copied as it is. Names come from `names`; one without keys gets a running number before its extension.
///
/// # Errors
/// Files that cannot be read, names that cannot be formed or that two objects share (`name_collision`), outputs that may not be
/// written. All names are formed and checked before the first file is written.
pub fn split(input: &Input<'_>, names: &Names, options: &SplitOptions) -> Result<SplitReport> {
    if options.existing == Existing::Append {
        let message = "each object is written to a separate new file, so nothing can be appended";
        return Err(EditError::refused("not_appendable", message).with_hint("use fw copy --append"));
    }
    if input.format != Format::Tensogram {
        return split_tensors(input, names, options);
    }
    let file = Messages::open(input)?;
    let mut report = SplitReport { messages: file.catalog.record_count(), ..SplitReport::default() };
    let mut parts: Vec<(PathBuf, usize, Option<usize>)> = Vec::new();
    for record in file.records_where(&options.filter) {
        let record = record?;
        let at = |error: EditError| error.at(file.place(record.index()));
        if record.object_count() == 0 {
            if record.matches(&options.filter) {
                let path = names.numbered(&WholeRecord(&record), parts.len()).map_err(at)?;
                parts.push((path, record.index(), None));
            }
            continue;
        }
        for object in record.selected(&options.filter) {
            let path = names.numbered(&OneObject(&record, object), parts.len()).map_err(at)?;
            parts.push((path, record.index(), Some(object).filter(|_| record.object_count() > 1)));
        }
    }
    check(input, names, options.existing, parts.iter().map(|(path, ..)| path))?;
    let meter = Meter::new(&options.watch, file.catalog.file_len());
    for (path, message, object) in parts {
        names.make_directory(&path)?;
        let mut output = Output::file(&path, &meter)?;
        match object {
            None => {
                let span = file.catalog.spans().get(message).copied().unwrap_or_default();
                output.copy(&file.source, span)?;
            }
            Some(object) => {
                let plan = excerpt(&file, message, &[object])?;
                output.message(&plan, |_| Ok(Rc::clone(&file.source)))?;
            }
        }
        let bytes = output.finish()?;
        report.files.push(WrittenFile::new(path, 1, 1, bytes));
    }
    Ok(report)
}

fn split_tensors(input: &Input<'_>, names: &Names, options: &SplitOptions) -> Result<SplitReport> {
    drop(opened(input, options.stored)?);
    let catalog = Catalog::open_as(input.path, input.format, input.name)?;
    let record: FileRecord = catalog.record(0)?;
    let mut parts = Vec::new();
    for object in record.selected(&options.filter) {
        let path = names.numbered(&OneObject(&record, object), parts.len());
        parts.push((path.map_err(|error| error.at(input.name))?, object));
    }
    check(input, names, options.existing, parts.iter().map(|(path, _)| path))?;
    let mut report = SplitReport { messages: 1, ..SplitReport::default() };
    let meter = Meter::new(&options.watch, catalog.file_len());
    for (path, object) in parts {
        names.make_directory(&path)?;
        let picked = Picked::open(input, Some(&[object]), options.stored)?;
        let done = write_to((&picked, picked.is_signed()), input, &path, &meter, Writing::of(options.stored))?;
        report.losses.extend(done.losses);
        report.ignored_digests += done.ignored;
        report.signature_dropped |= done.signature_dropped;
        report.files.push(WrittenFile::new(path, 1, 1, done.bytes));
    }
    Ok(report)
}

/// Refuses names that two objects share, and outputs that may not be written.
fn check<'p>(
    input: &Input<'_>,
    names: &Names,
    existing: Existing,
    paths: impl Iterator<Item = &'p PathBuf>,
) -> Result<()> {
    let mut seen = HashSet::new();
    for path in paths {
        if !seen.insert(path) {
            let message = format!("{}: two objects would get this name", path.display());
            return Err(EditError::refused("name_collision", message)
                .with_hint("add [index] to the name, or use fw copy to put objects of one name into one file"));
        }
        check_named(input, names, existing, path)?;
    }
    Ok(())
}
