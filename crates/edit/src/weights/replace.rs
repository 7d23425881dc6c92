//! One tensor from another file.

use super::draft::{Command, DigestsKept, Draft, Finished, WeightsOptions};
use crate::error::{EditError, Result};
use crate::target::{Input, Target};
use fw_bintensors::ReadOptions;
use fw_convert::{Entry, Loss, StoredUse};
use serde::Serialize;

/// How a tensor is replaced.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReplaceOptions {
    /// What holds for every change of a checkpoint.
    pub common: WeightsOptions,
    /// What to do with a new tensor of another type or shape.
    pub misfit: Misfit,
}

impl ReplaceOptions {
    /// What holds for every change of a checkpoint.
    #[must_use]
    pub fn new(common: WeightsOptions) -> Self {
        Self { common, misfit: Misfit::default() }
    }

    /// Chooses what to do with a new tensor of another type or shape.
    #[must_use]
    pub const fn with_misfit(mut self, misfit: Misfit) -> Self {
        self.misfit = misfit;
        self
    }
}

/// What to do with a new tensor of another type or shape than the one that it replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Misfit {
    /// Stop with an error.
    #[default]
    Refuse,
    /// Give it the shape of the old one, which must have as many elements of the same type.
    Reshape,
    /// Take it with its own type and shape.
    Adopt,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReplaceReport {
    /// Tensors in the output.
    pub tensors: usize,
    /// What the tensor was.
    pub before: Replaced,
    /// What it is.
    pub after: Replaced,
    /// Bytes of the output.
    pub bytes: u64,
    /// What became of digests.
    pub digests: DigestsKept,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
}

/// A tensor, described.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Replaced {
    /// Its name in its file.
    pub name: String,
    /// Its element type.
    pub dtype: &'static str,
    /// Its dimensions.
    pub shape: Vec<u64>,
}

impl Replaced {
    fn of(entry: &Entry) -> Self {
        Self { name: entry.name.clone(), dtype: entry.dtype.name(), shape: entry.shape.clone() }
    }
}

/// Puts a tensor of another file, of any format, in the place of the one called `name`. `from` is that file, and the name of the tensor in
/// it; by default the one of the same name, or its only one.
///
/// # Errors
/// `tensor_not_found`, `tensor_differs` when type or shape are others; those of [`rename`](super::rename()).
pub fn replace(
    input: &Input<'_>,
    target: Target<'_>,
    name: &str,
    (other, other_name): (&Input<'_>, Option<&str>),
    options: &ReplaceOptions,
) -> Result<ReplaceReport> {
    let command = Command { name: "replace", tensogram: "convert it to BinTensors or safetensors with fw convert" };
    let mut draft = Draft::open(input, &target, command, &options.common)?;
    let index = found(draft.entries(), name, draft.name())?;
    let old = draft.entries().get(index).cloned();
    let file = other
        .format
        .open(other.path, &ReadOptions::default())
        .map_err(|error| EditError::from(error).in_file(other.path))?;
    if options.common.stored == StoredUse::Verify {
        fw_convert::check_manifest(&*file).map_err(|error| EditError::from(error).in_file(other.path))?;
    }
    let place = match (other_name, file.entries()) {
        (None, [_]) => 0,
        (wanted, entries) => found(entries, wanted.unwrap_or(name), other.name)?,
    };
    let new = file.entries().get(place).cloned();
    let (Some(old), Some(new)) = (old, new) else { return Ok(ReplaceReport::default()) };
    check_fit(&old, &new, options.misfit)?;
    let after = Replaced::of(&new);
    draft.replace(index, file, place, other.path);
    if options.misfit == Misfit::Reshape {
        draft.reshape(index, old.shape.clone());
    }
    let Finished { tensors, bytes, digests, losses, .. } = draft.finish(target, &options.common)?;
    Ok(ReplaceReport { tensors, before: Replaced::of(&old), after, bytes, digests, losses })
}

fn check_fit(old: &Entry, new: &Entry, misfit: Misfit) -> Result<()> {
    let same_type = old.dtype == new.dtype;
    let fits = match misfit {
        Misfit::Refuse => same_type && old.shape == new.shape,
        Misfit::Reshape => same_type && elements(old)? == elements(new)?,
        Misfit::Adopt => true,
    };
    if fits {
        return Ok(());
    }
    let shown = |entry: &Entry| format!("{} {:?}", entry.dtype, entry.shape);
    let message = format!("tensor {:?} is {}, and {:?} is {}", old.name, shown(old), new.name, shown(new));
    let hint = match same_type && elements(old)? == elements(new)? {
        true => "use --reshape to give it the shape of the old one, or --adopt to take it as it is",
        false => "use --adopt to take it as it is",
    };
    Err(EditError::refused("tensor_differs", message).with_hint(hint))
}

fn elements(entry: &Entry) -> Result<u64> {
    fw_tensor::element_count(&entry.shape).map_err(|error| EditError::File(error.into()))
}

/// The place of a tensor, by its name.
fn found(entries: &[Entry], name: &str, file: &str) -> Result<usize> {
    entries.iter().position(|entry| entry.name == name).ok_or_else(|| {
        let near = fw_query::closest(name, entries.iter().map(|entry| entry.name.as_str()));
        let error = EditError::refused("tensor_not_found", format!("{file}: no tensor is called {name:?}"));
        match near {
            Some(near) => error.with_hint(format!("did you mean {near:?}?")),
            None => error.with_hint(format!("fw ls {file} lists their names")),
        }
    })
}
