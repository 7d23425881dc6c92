//! Two files, tensor by tensor, across formats.

use crate::error::{ConvertError, Side};
use crate::model::TensorFile;
use crate::value::scalars;
use fw_tensor::DType;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// How to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Elements may differ by this much.
    pub absolute: f64,
    /// Elements may differ by this fraction of the second file's element.
    pub relative: f64,
    /// Whether element types must agree.
    pub types: Types,
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
}

/// The result: a row per tensor of either file, and the metadata keys that differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// First the first file's tensors in its order, then those only in the second.
    pub rows: Vec<DiffRow>,
    /// Keys whose values differ or that only one file has.
    pub metadata: Vec<String>,
}

impl Diff {
    /// True when every tensor is equal within the tolerance; metadata is shown but does not count.
    pub fn is_equal(&self) -> bool {
        self.rows.iter().all(|row| row.comparison.is_equal())
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
}

/// How a tensor compares.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Comparison {
    /// The same bits.
    Identical,
    /// Values within the tolerance.
    Close {
        /// Largest distance.
        max_absolute: f64,
        /// Largest distance relative to the second file's element.
        max_relative: f64,
    },
    /// Values beyond the tolerance.
    Different {
        /// Largest distance; infinite where only one is finite.
        max_absolute: f64,
        /// Largest distance relative to the second file's element.
        max_relative: f64,
        /// Elements beyond the tolerance.
        count: u64,
        /// The first of them, in row-major order.
        first: u64,
    },
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

impl Comparison {
    /// True when the tensors count as equal.
    pub const fn is_equal(&self) -> bool {
        matches!(self, Self::Identical | Self::Close { .. })
    }
}

/// Compares two files. Tensors are paired by name; where each file has only one, those two are a pair whatever they are
/// called (the name of an npy array is that of its file).
///
/// # Errors
/// When a file fails or is wrong: [`ConvertError::Compared`], which says which.
pub fn diff(left: &dyn TensorFile, right: &dyn TensorFile, options: &DiffOptions) -> Result<Diff, ConvertError> {
    if let ([one], [other]) = (left.entries(), right.entries()) {
        let right_name = (one.name != other.name).then(|| other.name.clone());
        let comparison = compare((left, 0), (right, 0), options)?;
        let row = DiffRow { name: one.name.clone(), right_name, comparison };
        return Ok(Diff { rows: vec![row], metadata: metadata_keys(left.metadata(), right.metadata()) });
    }
    let places: HashMap<&str, usize> =
        right.entries().iter().enumerate().map(|(place, entry)| (entry.name.as_str(), place)).collect();
    let names: HashMap<&str, ()> = left.entries().iter().map(|entry| (entry.name.as_str(), ())).collect();
    let mut rows = Vec::new();
    for (index, entry) in left.entries().iter().enumerate() {
        let comparison = match places.get(entry.name.as_str()) {
            Some(place) => compare((left, index), (right, *place), options)?,
            None => Comparison::OnlyLeft,
        };
        rows.push(DiffRow { name: entry.name.clone(), right_name: None, comparison });
    }
    let only_right = right.entries().iter().filter(|entry| !names.contains_key(entry.name.as_str()));
    rows.extend(only_right.map(|entry| DiffRow {
        name: entry.name.clone(),
        right_name: None,
        comparison: Comparison::OnlyRight,
    }));
    Ok(Diff { rows, metadata: metadata_keys(left.metadata(), right.metadata()) })
}

fn metadata_keys(left: Option<&BTreeMap<String, String>>, right: Option<&BTreeMap<String, String>>) -> Vec<String> {
    let empty = BTreeMap::new();
    let (left, right) = (left.unwrap_or(&empty), right.unwrap_or(&empty));
    let mut keys: Vec<String> =
        left.keys().chain(right.keys()).filter(|key| left.get(*key) != right.get(*key)).cloned().collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn compare(
    (left, index): (&dyn TensorFile, usize),
    (right, place): (&dyn TensorFile, usize),
    options: &DiffOptions,
) -> Result<Comparison, ConvertError> {
    let (Some(a), Some(b)) = (left.entries().get(index), right.entries().get(place)) else {
        return Err(ConvertError::NotFound(format!("#{index}")));
    };
    if a.shape != b.shape {
        return Ok(Comparison::Shapes { left: a.shape.clone(), right: b.shape.clone() });
    }
    if a.dtype != b.dtype && options.types == Types::Strict {
        return Ok(Comparison::Types { left: a.dtype.to_string(), right: b.dtype.to_string() });
    }
    let on = |side| move |error| ConvertError::Compared { side, error: Box::new(error) };
    let first = left.data(index).map_err(on(Side::Left))?;
    let second = right.data(place).map_err(on(Side::Right))?;
    if a.dtype == b.dtype && first == second {
        return Ok(Comparison::Identical);
    }
    Ok(values((a.dtype, &first), (b.dtype, &second), options))
}

fn values((a, first): (DType, &[u8]), (b, second): (DType, &[u8]), options: &DiffOptions) -> Comparison {
    let (Some(first), Some(second)) = (scalars(a, first), scalars(b, second)) else { return Comparison::DifferentBits };
    let (mut max_absolute, mut max_relative) = (0f64, 0f64);
    let (mut count, mut beyond) = (0u64, None);
    for (place, (x, y)) in first.zip(second).enumerate() {
        let distance = x.distance(y);
        if distance == 0.0 {
            continue;
        }
        max_absolute = max_absolute.max(distance);
        let size = y.magnitude();
        max_relative = max_relative.max(if size > 0.0 && size.is_finite() { distance / size } else { f64::INFINITY });
        // Written so that an infinite or undefined allowance forgives nothing.
        let allowed = options.absolute + options.relative * size;
        if !(distance <= allowed && distance.is_finite()) {
            count = count.saturating_add(1);
            beyond = beyond.or(Some(place as u64));
        }
    }
    match beyond {
        None => Comparison::Close { max_absolute, max_relative },
        Some(first) => Comparison::Different { max_absolute, max_relative, count, first },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn tolerances() {
        let (a, b) = (floats(&[1.0, 2.0, f32::NAN, 0.0]), floats(&[1.0, 2.001, f32::NAN, -0.0]));
        let run = |options: DiffOptions| values((DType::Float32, &a), (DType::Float32, &b), &options);
        assert!(matches!(run(DiffOptions::new()), Comparison::Different { count: 1, first: 1, .. }));
        assert!(run(DiffOptions::new().with_tolerance(0.01, 0.0)).is_equal());
        assert!(run(DiffOptions::new().with_tolerance(0.0, 0.001)).is_equal());
        let inf = floats(&[f32::INFINITY, 2.0, f32::NAN, 0.0]);
        let found =
            values((DType::Float32, &inf), (DType::Float32, &a), &DiffOptions::new().with_tolerance(1e300, 1e300));
        assert!(!found.is_equal(), "no tolerance reaches infinity");
    }
}
