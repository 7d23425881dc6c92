//! What commands that change files have in common: their filters, their outputs, how they report losses.

use crate::args::Place;
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::selected::KeyNotes;
use anyhow::Result;
use framewright::convert::Loss;
use framewright::edit::{self, EditError, Existing, Target};
use framewright::look::Catalog;
use framewright::query::Where;
use std::io::{Write, stdout};
use std::path::Path;

/// The input as the library takes it.
///
/// # Errors
/// When its format cannot be detected.
pub(crate) fn source(input: &Input) -> Result<edit::Input<'_>> {
    Ok(edit::Input { path: input.path(), format: input.format()?, name: input.name() })
}

/// Whether the output is standard output.
pub(crate) fn is_pipe(output: Option<&Path>) -> bool {
    output.is_some_and(|path| path.as_os_str() == "-")
}

/// Does something with where the output goes; `word` is the input as it was given.
///
/// # Errors
/// No output, or changing in place what is not a local file; those of `work`.
pub(crate) fn with_target<T>(
    word: &Path,
    input: &Input,
    output: Option<&Path>,
    place: Place,
    work: impl FnOnce(Target<'_>) -> Result<T, EditError>,
) -> Result<T> {
    match output {
        None if !place.in_place => {
            let text = "no output was given\nhint: name a file to write, or use --in-place to change the file itself";
            Err(Usage(text.to_owned()).into())
        }
        None if input.is_copy() => {
            let text = format!("{}: only a local file can be changed in place", word.display());
            Err(Usage(text).into())
        }
        None => Ok(work(Target::InPlace)?),
        Some(path) if path.as_os_str() == "-" => {
            let mut sink = stdout().lock();
            let done = work(Target::Stream(&mut sink))?;
            sink.flush()?;
            Ok(done)
        }
        Some(path) => Ok(work(Target::File { path, existing: existing(place.force, false) })?),
    }
}

/// What becomes of outputs that exist.
pub(crate) const fn existing(force: bool, append: bool) -> Existing {
    match (append, force) {
        (true, _) => Existing::Append,
        (false, true) => Existing::Replace,
        (false, false) => Existing::Refuse,
    }
}

/// How an output is called in text: the file that was named, or the input that was changed.
pub(crate) fn called(output: Option<&Path>, input: &Input) -> String {
    output.map_or_else(|| input.name().to_owned(), |path| path.display().to_string())
}

/// Notes that a filter selected nothing, and which of its keys nothing has.
pub(crate) fn note_nothing<'i>(inputs: impl IntoIterator<Item = &'i Input>, filter: &Where, json: bool) {
    if filter.is_empty() || json {
        return;
    }
    let mut notes = KeyNotes::new(filter.paths());
    for input in inputs {
        // The files were just read; what cannot be read again leaves a hint out.
        let Ok(format) = input.format() else { continue };
        let Ok(catalog) = Catalog::open_as(input.path(), format, input.name()) else { continue };
        catalog.records().filter_map(std::result::Result::ok).for_each(|record| notes.see(&record));
    }
    aside(format_args!("fw: note: --where selects nothing\n"));
    notes.tell(json);
}

/// Names losses on standard error.
pub(crate) fn report_losses(losses: &[Loss]) -> Outcome {
    for group in Loss::grouped(losses) {
        aside(format_args!("fw: {group}\n"));
    }
    if losses.is_empty() { Outcome::Fine } else { Outcome::Lossy }
}
