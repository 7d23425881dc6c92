//! Elements as other floats.

use super::choice::Choice;
use super::draft::{Command, DigestsKept, Draft, Finished, WeightsOptions};
use super::narrow::{CastError, CastType, is_castable};
use crate::error::Result;
use crate::target::{Input, Target};
use fw_convert::Loss;
use serde::Serialize;

/// How tensors are cast.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CastOptions {
    /// What holds for every change of a checkpoint.
    pub common: WeightsOptions,
    /// The new element type.
    pub to: CastType,
    /// Which tensors; others than floats stay as they are.
    pub choice: Choice,
    /// Whether elements beyond the range of the new type become its greatest value, not infinity (NaN where it has no infinity).
    pub saturates: bool,
}

impl CastOptions {
    /// Casts all floats.
    pub fn new(to: CastType, common: WeightsOptions) -> Self {
        Self { common, to, choice: Choice::default(), saturates: false }
    }

    /// Chooses tensors.
    #[must_use]
    pub fn with_choice(mut self, choice: Choice) -> Self {
        self.choice = choice;
        self
    }

    /// Chooses what elements beyond the range become.
    #[must_use]
    pub const fn with_saturation(mut self, saturates: bool) -> Self {
        self.saturates = saturates;
        self
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CastReport {
    /// Tensors in the output.
    pub tensors: usize,
    /// Those that were cast, with the error of each.
    pub cast: Vec<CastTensor>,
    /// Tensors that were selected and are not floats, or floats below a byte: they stay as they are.
    pub not_castable: Vec<String>,
    /// The error of all tensors that were cast.
    pub error: CastError,
    /// Patterns that no tensor has a name for.
    pub unused_patterns: Vec<String>,
    /// Bytes of the data that was cast, before and after.
    pub data_bytes: (u64, u64),
    /// Bytes of the output.
    pub bytes: u64,
    /// What became of digests.
    pub digests: DigestsKept,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
}

/// A tensor that was cast.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CastTensor {
    /// Its name.
    pub name: String,
    /// Its element type before.
    pub from: &'static str,
    /// Its element type now.
    pub to: &'static str,
    /// What this did to its elements.
    #[serde(flatten)]
    pub error: CastError,
}

/// Casts floats to another type, each element rounded once to the nearest value, ties to even. Everything else stays as it is.
///
/// # Errors
/// Those of [`rename`](super::rename()).
pub fn cast(input: &Input<'_>, target: Target<'_>, options: &CastOptions) -> Result<CastReport> {
    let command = Command { name: "cast", tensogram: "use fw recode, or convert it with fw convert" };
    let mut draft = Draft::open(input, &target, command, &options.common)?;
    let record = draft.record()?;
    let mut report = CastReport { unused_patterns: options.choice.unused(&record), ..CastReport::default() };
    let mut places = Vec::new();
    for index in options.choice.places(&record) {
        let Some(entry) = draft.entries().get(index) else { continue };
        let (name, dtype) = (entry.name.clone(), entry.dtype);
        if dtype == options.to.dtype() {
            continue;
        }
        if !is_castable(dtype) {
            report.not_castable.push(name);
            continue;
        }
        report.data_bytes.0 = report.data_bytes.0.saturating_add(entry.byte_len()?);
        draft.cast(index, options.to, options.saturates);
        let len = draft.entries().get(index).map_or(Ok(0), fw_convert::Entry::byte_len)?;
        report.data_bytes.1 = report.data_bytes.1.saturating_add(len);
        let (from, to) = (dtype.name(), options.to.dtype().name());
        places.push(index);
        report.cast.push(CastTensor { name, from, to, error: CastError::default() });
    }
    let done: Finished = draft.finish(target, &options.common)?;
    for (index, tensor) in places.iter().zip(&mut report.cast) {
        if let Some(error) = done.casts.get(index) {
            tensor.error = *error;
            report.error.add(error);
        }
    }
    (report.tensors, report.bytes) = (done.tensors, done.bytes);
    (report.digests, report.losses) = (done.digests, done.losses);
    Ok(report)
}
