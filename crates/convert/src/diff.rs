//! Two files, tensor by tensor, across formats.

mod metadata; // keys whose values differ
mod pairs; // which tensor is compared with which
mod values; // the elements of a pair

pub use metadata::MetadataDifference;

use crate::Format;
use crate::contract::MetadataPlace;
use crate::error::{ConvertError, Side};
use crate::model::{Entry, TensorFile};
use fw_source::Watch;
use pairs::Pair;
use serde::Serialize;

/// How to compare.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Elements may differ by this much.
    pub absolute: f64,
    /// Elements may differ by this fraction of the second file's element.
    pub relative: f64,
    /// Whether element types must agree.
    pub types: Types,
    /// Whether metadata must agree.
    pub metadata: Metadata,
    /// Tensors with equal values of these keys are a pair; by default those of the same name.
    pub by: Vec<fw_query::Path>,
    /// Is told how many bytes of the first file are compared.
    pub watch: Watch,
}

/// Whether element types must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Types {
    /// Equal values in different types are different.
    #[default]
    Strict,
    /// Only values count.
    Values,
}

/// Whether metadata must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metadata {
    /// Files with different metadata are different, unless the format of one of them has no place for any.
    #[default]
    Compare,
    /// Only tensors count.
    Ignore,
}

impl DiffOptions {
    /// Exact.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows `absolute + relative * |second|` between elements.
    #[must_use]
    pub const fn with_tolerance(mut self, absolute: f64, relative: f64) -> Self {
        (self.absolute, self.relative) = (absolute, relative);
        self
    }

    /// Compares values only.
    #[must_use]
    pub const fn with_types(mut self, types: Types) -> Self {
        self.types = types;
        self
    }

    /// Chooses whether metadata must agree.
    #[must_use]
    pub const fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Pairs tensors by the values of these keys.
    #[must_use]
    pub fn with_by(mut self, keys: impl IntoIterator<Item = fw_query::Path>) -> Self {
        self.by = keys.into_iter().collect();
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// The result: a row per tensor of either file, and the metadata of the files that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// First the first file's tensors in its order, then those only in the second.
    pub rows: Vec<DiffRow>,
    /// Metadata of the files whose values differ, or that only one file has.
    pub metadata: Vec<MetadataDifference>,
}

impl Diff {
    /// True when every tensor is equal within the tolerance, and all metadata is equal.
    pub fn is_equal(&self) -> bool {
        self.metadata.is_empty() && self.rows.iter().all(DiffRow::is_equal)
    }

    /// Keys that differ, of the files and of all tensors.
    pub fn metadata_count(&self) -> usize {
        self.rows.iter().fold(self.metadata.len(), |sum, row| sum.saturating_add(row.metadata.len()))
    }
}

/// One tensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffRow {
    /// Name.
    pub name: String,
    /// Name in the second file, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_name: Option<String>,
    /// How it compares.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Metadata of the tensor that differs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<MetadataDifference>,
}

impl DiffRow {
    /// True when the tensors count as equal, and so does their metadata.
    pub fn is_equal(&self) -> bool {
        self.comparison.is_equal() && self.metadata.is_empty()
    }
}

/// How a tensor compares.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Comparison {
    /// The same bits.
    Identical,
    /// Values within the tolerance.
    Close(Distance),
    /// Values beyond the tolerance.
    Different(Distance),
    /// Bits differ in a type that has no values to compare here.
    DifferentBits,
    /// Element types differ.
    Types {
        /// In the first file.
        left: String,
        /// In the second.
        right: String,
    },
    /// Shapes differ.
    Shapes {
        /// In the first file.
        left: Vec<u64>,
        /// In the second.
        right: Vec<u64>,
    },
    /// Only the first file has it.
    OnlyLeft,
    /// Only the second file has it.
    OnlyRight,
}

/// How far apart two tensors are. Root mean square and bias are of the pairs in which both elements are finite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Distance {
    /// Largest absolute difference; infinite where only one element is finite.
    pub max_absolute: f64,
    /// Root of the mean squared difference.
    pub rmse: Option<f64>,
    /// Mean of the second minus the first.
    pub bias: Option<f64>,
    /// Norm of the difference over the norm of the second; nothing where only that is zero.
    pub relative_norm: Option<f64>,
    /// Cosine of the angle between both as vectors; nothing where one is zero.
    pub cosine: Option<f64>,
    /// Elements that differ at all.
    pub differing: u64,
    /// Elements beyond the tolerance.
    pub count: u64,
    /// The first element that differs, in row-major order.
    pub first: u64,
    /// Its coordinates.
    pub first_index: Vec<u64>,
}

impl Comparison {
    /// True when the tensors count as equal.
    pub const fn is_equal(&self) -> bool {
        matches!(self, Self::Identical | Self::Close(_))
    }
}

/// Compares two files. Tensors are paired by name or by the keys of the options; without keys, where each file has only one
/// tensor, those two are a pair whatever they are called (the name of an npy array is that of its file).
///
/// # Errors
/// When a file fails or is wrong: [`ConvertError::Compared`], which says which; `unknown_key` and `ambiguous_pair` when the
/// keys of the options do not pair tensors.
pub fn diff(left: &dyn TensorFile, right: &dyn TensorFile, options: &DiffOptions) -> Result<Diff, ConvertError> {
    for (file, side) in [(left, Side::Left), (right, Side::Right)] {
        // Arrays of text and the like have no counterpart to compare; a damaged object is a fault of its file.
        if let Some(object) = file.unreadable().first().filter(|_| file.format() == Format::Tensogram) {
            return Err(ConvertError::Compared { side, error: Box::new(object.error()) });
        }
    }
    let with_metadata = options.metadata == Metadata::Compare && has_metadata(left) && has_metadata(right);
    let total = left.entries().iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.byte_len().unwrap_or(0)));
    let (mut rows, mut done) = (Vec::new(), 0u64);
    for pair in pairs::of(left, right, &options.by)? {
        let row = |entry: &Entry, comparison| DiffRow {
            name: entry.name.clone(),
            right_name: None,
            comparison,
            metadata: Vec::new(),
        };
        rows.push(match pair {
            Pair::Both { left: (index, a), right: (place, b) } => {
                let watch = |piece: u64| {
                    done = done.saturating_add(piece).min(total);
                    options.watch.tell(done, total);
                };
                let comparison = values::compare((left, index, a), (right, place, b), options, watch)?;
                DiffRow {
                    right_name: (a.name != b.name).then(|| b.name.clone()),
                    metadata: match with_metadata {
                        true => metadata::of_maps(&a.attributes, &b.attributes),
                        false => Vec::new(),
                    },
                    ..row(a, comparison)
                }
            }
            Pair::Left(entry) => row(entry, Comparison::OnlyLeft),
            Pair::Right(entry) => row(entry, Comparison::OnlyRight),
        });
    }
    let metadata = if with_metadata { metadata::of_files(left, right) } else { Vec::new() };
    Ok(Diff { rows, metadata })
}

/// Formats that are only read say themselves what they hold.
fn has_metadata(file: &dyn TensorFile) -> bool {
    let place = file.format().contract().writable().map(|writable| writable.metadata_place());
    !matches!(place, Ok(MetadataPlace::Nowhere))
}
