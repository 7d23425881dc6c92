//! Some of the tensors.

use super::choice::Choice;
use super::draft::{Command, DigestsKept, Draft, Finished, WeightsOptions};
use crate::error::{EditError, Result};
use crate::target::{Input, Target};
use fw_convert::Loss;
use serde::Serialize;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SubsetReport {
    /// Tensors in the output.
    pub tensors: usize,
    /// Tensors of the input that were left out.
    pub left_out: usize,
    /// Patterns that no tensor has a name for.
    pub unused_patterns: Vec<String>,
    /// Bytes of the output.
    pub bytes: u64,
    /// What became of digests.
    pub digests: DigestsKept,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
}

/// Writes the tensors that fit, with what the metadata says about the file and about them.
///
/// # Errors
/// `nothing_selected`; those of [`rename`](super::rename()).
pub fn subset(
    input: &Input<'_>,
    target: Target<'_>,
    choice: &Choice,
    options: &WeightsOptions,
) -> Result<SubsetReport> {
    let command = Command { name: "subset", tensogram: "use fw copy --objects -w name=PATTERN" };
    let mut draft = Draft::open(input, &target, command, options)?;
    let (record, all) = (draft.record()?, draft.entries().len());
    let places = choice.places(&record);
    if places.is_empty() {
        let message = format!("{}: no tensor is selected", draft.name());
        return Err(EditError::refused("nothing_selected", message)
            .with_hint(format!("fw ls {} lists their names", draft.name())));
    }
    draft.keep(&places);
    let Finished { tensors, bytes, digests, losses, .. } = draft.finish(target, options)?;
    let unused_patterns = choice.unused(&record);
    Ok(SubsetReport { tensors, left_out: all.saturating_sub(tensors), unused_patterns, bytes, digests, losses })
}
