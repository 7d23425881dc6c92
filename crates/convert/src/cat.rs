//! One tensor, or part of one, to a stream.

use crate::model::TensorFile;
use crate::value::scalars;
use crate::{ConvertError, nested, numpy};
use fw_tensor::{DType, Selection};
use std::io::Write;

/// How to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatFormat {
    /// Numbers, a line per row of the last axis.
    #[default]
    Text,
    /// The bytes, little endian, row-major.
    Raw,
    /// An npy array.
    Npy,
    /// An object with `dtype`, `shape` and `values`: lists nested as the shape says, complex numbers as `[re, im]`, and
    /// `"NaN"`, `"Infinity"` and `"-Infinity"` for what JSON has no numbers for.
    Json,
}

/// Writes the tensor `name`, or the part that `selection` takes of it.
///
/// # Errors
/// `NotFound`, a selection that does not fit, a type the format cannot hold, or when reading or writing fails.
pub fn cat(
    file: &dyn TensorFile,
    name: &str,
    selection: &Selection,
    format: CatFormat,
    out: &mut dyn Write,
) -> Result<(), ConvertError> {
    let index = file.find(name)?;
    let entry = file.entries().get(index).ok_or_else(|| ConvertError::NotFound(name.to_owned()))?;
    let whole = *selection == Selection::new();
    if whole && matches!(format, CatFormat::Raw | CatFormat::Npy) {
        // No need to hold it.
        write_head(entry.dtype, &entry.shape, format, out)?;
        return file.stream(index, &mut |piece| Ok(out.write_all(piece)?));
    }
    let (shape, data) = if whole { (entry.shape.clone(), file.data(index)?) } else { file.slice(index, selection)? };
    write_elements(entry.dtype, &shape, &data, format, out)
}

/// Writes little-endian elements that are at hand.
///
/// # Errors
/// A type the format cannot hold, or when writing fails.
pub fn write_elements(
    dtype: DType,
    shape: &[u64],
    data: &[u8],
    format: CatFormat,
    out: &mut dyn Write,
) -> Result<(), ConvertError> {
    match format {
        CatFormat::Text => text(dtype, shape, data, out),
        CatFormat::Json => nested::write(dtype, shape, data, out),
        CatFormat::Raw | CatFormat::Npy => {
            write_head(dtype, shape, format, out)?;
            Ok(out.write_all(data)?)
        }
    }
}

/// Writes what stands before the elements.
pub(crate) fn write_head(
    dtype: DType,
    shape: &[u64],
    format: CatFormat,
    out: &mut dyn Write,
) -> Result<(), ConvertError> {
    if format == CatFormat::Npy {
        let missing = || ConvertError::unsupported("no_counterpart", format!("NumPy has no {dtype}"));
        let descr = numpy::descr(dtype).ok_or_else(missing)?;
        out.write_all(&numpy::encode_header(descr, shape))?;
    }
    Ok(())
}

fn text(dtype: DType, shape: &[u64], data: &[u8], out: &mut dyn Write) -> Result<(), ConvertError> {
    let Some(values) = scalars(dtype, data) else {
        let message = format!("{dtype} elements have no numbers to write: only the raw bytes can be written");
        return Err(ConvertError::unsupported("no_text", message));
    };
    let row = shape.last().copied().unwrap_or(1).max(1);
    let count = usize::try_from(fw_tensor::element_count(shape)?).unwrap_or(usize::MAX);
    for (place, value) in values.take(count).enumerate() {
        let place = place as u64;
        if place > 0 {
            out.write_all(if place.is_multiple_of(row) { b"\n" } else { b" " })?;
        }
        write!(out, "{value}")?;
    }
    Ok(out.write_all(b"\n")?)
}
