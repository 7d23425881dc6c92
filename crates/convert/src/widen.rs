//! Tensors as `float32`, where that is exact: for programs that have no types of eight bits or fewer.

use crate::model::{Attributes, Entry, Pieces, TensorFile, Unreadable, cut};
use crate::value::{Scalar, scalars};
use crate::{ConvertError, Format, Loss};
use fw_bintensors::HeaderAlignment;
use fw_tensor::{DType, Selection, TensorError};
use std::collections::{BTreeMap, BTreeSet};

/// A file whose tensors are handed out as `float32`. Types that `float32` does not hold exactly are refused when they are read.
///
/// ```
/// use fw_convert::{AsFloat32, MemoryTensors, TensorFile};
/// use fw_tensor::DType;
///
/// let mut tensors = MemoryTensors::new();
/// tensors.push("scales", DType::Float8E8M0, &[2], vec![127, 130])?;
/// let wide = AsFloat32::new(&tensors);
/// assert_eq!(wide.data(0)?, [1.0f32, 8.0].map(f32::to_le_bytes).concat());
/// # Ok::<(), fw_convert::ConvertError>(())
/// ```
pub struct AsFloat32<'a> {
    inner: &'a dyn TensorFile,
    entries: Vec<Entry>,
}

impl<'a> AsFloat32<'a> {
    /// Widens the tensors of a file.
    pub fn new(inner: &'a dyn TensorFile) -> Self {
        let widened = |entry: &Entry| match is_exact(entry.dtype) && entry.dtype != DType::Float32 {
            // What the file says about elements in blocks is about other elements.
            true => Entry {
                dtype: DType::Float32,
                span: None,
                block_type: None,
                attributes: Attributes::new(),
                ..entry.clone()
            },
            false => entry.clone(),
        };
        let entries = inner.entries().iter().map(widened).collect();
        Self { inner, entries }
    }

    /// The tensor as it is in the file.
    fn held(&self, index: usize) -> Result<&Entry, ConvertError> {
        let entry = self.inner.entries().get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        if is_exact(entry.dtype) {
            return Ok(entry);
        }
        Err(inexact(entry.dtype))
    }
}

/// Little-endian elements as little-endian `float32`.
///
/// # Errors
/// `inexact_type`; a shape whose size does not fit in 64 bits.
pub fn to_float32(dtype: DType, shape: &[u64], data: &[u8]) -> Result<Vec<u8>, ConvertError> {
    if !is_exact(dtype) {
        return Err(inexact(dtype));
    }
    let mut floats = Vec::new();
    widen(dtype, data, fw_tensor::element_count(shape)?, &mut floats);
    Ok(floats)
}

fn inexact(dtype: DType) -> ConvertError {
    let message = format!("{dtype} elements are not written as float32, which does not hold them all exactly");
    ConvertError::unsupported("inexact_type", message)
}

/// Types all of whose values are values of `float32`.
const fn is_exact(dtype: DType) -> bool {
    match dtype {
        DType::Float32 | DType::Float16 | DType::BFloat16 => true,
        DType::Float8E4M3 | DType::Float8E5M2 | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => true,
        DType::Float8E8M0 | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => true,
        DType::Bool | DType::Int8 | DType::UInt8 | DType::Int16 | DType::UInt16 => true,
        DType::Int32 | DType::UInt32 | DType::Int64 | DType::UInt64 | DType::Float64 => false,
        DType::Complex64 | DType::Complex128 | DType::Bitmask => false,
    }
}

/// Appends so many of the elements of `data` as little-endian `float32`.
fn widen(dtype: DType, data: &[u8], count: u64, out: &mut Vec<u8>) {
    let Some(values) = scalars(dtype, data) else { return };
    for value in values.take(usize::try_from(count).unwrap_or(usize::MAX)) {
        let float = match value {
            Scalar::Single(value) => value,
            Scalar::Int(value) => value as f32,
            Scalar::Bool(value) => f32::from(value),
            // No exact type has them.
            Scalar::Double(value) => value as f32,
            Scalar::ComplexSingle(..) | Scalar::Complex(..) => f32::NAN,
        };
        out.extend_from_slice(&float.to_le_bytes());
    }
}

impl TensorFile for AsFloat32<'_> {
    fn format(&self) -> Format {
        self.inner.format()
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.inner.metadata()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        self.inner.json_keys()
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let entry = self.held(index)?;
        if entry.dtype == DType::Float32 {
            return self.inner.stream(index, take);
        }
        // Elements begin at a byte every so many bytes: three for types of six bits.
        let group = group_len(entry.dtype);
        let mut left = fw_tensor::element_count(&entry.shape)?;
        let (mut rest, mut floats): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
        self.inner.stream(index, &mut |piece| {
            for piece in piece.chunks(STEP) {
                rest.extend_from_slice(piece);
                let whole = rest.len() / group * group;
                floats.clear();
                widen(entry.dtype, rest.get(..whole).unwrap_or_default(), left, &mut floats);
                left = left.saturating_sub(floats.len() as u64 / 4);
                rest.drain(..whole);
                take(&floats)?;
            }
            Ok(())
        })?;
        floats.clear();
        widen(entry.dtype, &rest, left, &mut floats);
        if floats.is_empty() { Ok(()) } else { take(&floats) }
    }

    fn check_held(&self, index: usize) -> Result<(), ConvertError> {
        self.inner.check_held(index)
    }

    fn unreadable(&self) -> &[Unreadable] {
        self.inner.unreadable()
    }

    fn alignment(&self) -> HeaderAlignment {
        self.inner.alignment()
    }

    fn has_order(&self) -> bool {
        self.inner.has_order()
    }

    fn verifies(&self, index: usize) -> bool {
        self.inner.verifies(index)
    }

    fn remarks(&self) -> Vec<Loss> {
        self.inner.remarks()
    }

    /// A part that begins inside of a byte is cut out of the widened tensor.
    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.held(index)?;
        match self.inner.slice(index, selection) {
            Ok((shape, data)) => {
                let floats = to_float32(entry.dtype, &shape, &data)?;
                Ok((shape, floats))
            }
            Err(ConvertError::Tensor(TensorError::Unsliceable { .. })) => {
                let wide = self.entries.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
                cut(wide, &self.data(index)?, selection)
            }
            Err(error) => Err(error),
        }
    }
}

/// The fewest bytes that hold whole elements.
const fn group_len(dtype: DType) -> usize {
    match dtype.byte_width() {
        Some(width) => width,
        None => match dtype.bits() {
            6 => 3,
            _ => 1,
        },
    }
}

/// Bytes that are widened at a time.
const STEP: usize = 3 << 16;
