//! The elements of tensors, in the byte order of this machine, whatever the format and wherever the file is.

use crate::catalog::{Backing, Catalog, FileRecord};
use crate::error::{LookError, Result};
use fw_convert::{ConvertError, Named};
use fw_stats::unpack_bits;
use fw_tensogram::{DecodeOptions, DecodedObject, DecodedRanges};
use fw_tensor::{ByteOrder, DType, Selection, element_count, swap_in_place};

/// A part of a tensor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// Element type; bits are widened to `bool`.
    pub dtype: DType,
    /// Shape of the part; axes that were selected by an index are gone.
    pub shape: Vec<u64>,
    /// The elements, row-major, in the byte order of this machine.
    pub data: Vec<u8>,
    /// Whether the part is the whole tensor, and was compared with a digest.
    pub is_verified: bool,
}

/// Takes elements piece by piece.
pub type Pieces<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

impl Catalog {
    /// Hands the elements of an object to `take` piece by piece, row-major, in the byte order of this machine; elements that are
    /// bits come as `bool`. Elements that are stored as they are, are never held all at once; others are decoded in one piece.
    /// Digests are compared where [`Catalog::verifies`] says so.
    ///
    /// # Errors
    /// When there is no such object, its descriptor or payload is wrong, or the file cannot be read; and the errors of `take`.
    pub fn stream(&self, record: &FileRecord, object: usize, take: &mut Pieces<'_>) -> Result<()> {
        let named = described(record, object)?;
        match &self.backing {
            Backing::Tensors { file, .. } => {
                if ByteOrder::NATIVE == ByteOrder::Big || named.dtype.byte_width().is_none() {
                    return take(&native(&named, file.data(object)?)?);
                }
                let mut fault = None;
                let streamed = file.stream(object, &mut |piece| {
                    take(piece).map_err(|error| {
                        fault = Some(error);
                        ConvertError::Io(std::io::Error::other("the elements were not wanted"))
                    })
                });
                fault.map_or_else(|| Ok(streamed?), Err)
            }
            Backing::Messages(file) => {
                let ranges = |range: (u64, u64)| file.decode_range(record.index(), object, &[range], &options());
                if is_raw(record, object) {
                    return in_ranges(&named, RAW_PIECE, take, |range| Ok(ranges(range)?));
                }
                let DecodedObject { bytes, .. } = file.decode_object(record.index(), object, &options())?;
                take(&native(&named, bytes)?)
            }
            #[cfg(feature = "remote")]
            Backing::Remote(file) => {
                let ranges = |range: (u64, u64)| file.decode_range(record.index(), object, &[range], &options());
                if is_raw(record, object) {
                    return in_ranges(&named, REMOTE_PIECE, take, |range| Ok(ranges(range)?));
                }
                let DecodedObject { bytes, .. } = file.decode_object(record.index(), object, &options())?;
                take(&native(&named, bytes)?)
            }
        }
    }

    /// Whether an object that is streamed is compared with a digest on the way: in a catalog of a file that compares them
    /// ([`fw_convert::Checked`]), where the file has one.
    pub fn verifies(&self, object: usize) -> bool {
        match &self.backing {
            Backing::Tensors { file, .. } => file.verifies(object),
            Backing::Messages(_) => false,
            #[cfg(feature = "remote")]
            Backing::Remote(_) => false,
        }
    }

    /// Part of an object. Where format and codec allow, only the bytes that hold it are read. Digests are compared where the part is
    /// all of the object and [`Catalog::verifies`] says so.
    ///
    /// # Errors
    /// As [`Catalog::stream`], and a selection that does not fit the shape.
    pub fn part(&self, record: &FileRecord, object: usize, selection: &Selection) -> Result<Part> {
        let named = described(record, object)?;
        let plan = selection.plan(&named.shape).map_err(ConvertError::from)?;
        let is_verified = plan.shape() == named.shape && plan.run_count() <= 1 && self.verifies(object);
        if named.dtype.byte_width().is_none() || named.carried {
            let mut data = Vec::new();
            self.stream(record, object, &mut |piece| {
                data.extend_from_slice(piece);
                Ok(())
            })?;
            let whole = Named { dtype: shown(named.dtype), ..named };
            let (shape, data) = whole.cut(&data, selection)?;
            return Ok(Part { dtype: whole.dtype, shape, data, is_verified });
        }
        let (dtype, shape) = (named.dtype, plan.shape().to_vec());
        let data = match &self.backing {
            Backing::Tensors { file, .. } => {
                let mut data = match is_verified {
                    true => file.data(object)?,
                    false => file.slice(object, selection)?.1,
                };
                if ByteOrder::NATIVE == ByteOrder::Big {
                    swap_in_place(&mut data, dtype.swap_unit());
                }
                data
            }
            Backing::Messages(file) => file.slice(record.index(), object, selection, &of_one())?.into_data(),
            #[cfg(feature = "remote")]
            Backing::Remote(file) => file.slice(record.index(), object, selection, &of_one())?.into_data(),
        };
        Ok(Part { dtype, shape, data, is_verified })
    }
}

/// The element type that [`Catalog::stream`] hands out for a stored one.
pub fn shown(dtype: DType) -> DType {
    if dtype.byte_width().is_none() { DType::Bool } else { dtype }
}

/// The options that payloads of many objects are decoded with: threads are used over objects, not inside one.
fn options() -> DecodeOptions {
    DecodeOptions::default().with_threads(1)
}

/// The same for a part of one object.
fn of_one() -> DecodeOptions {
    DecodeOptions::default()
}

/// What the object at `object` is.
fn described(record: &FileRecord, object: usize) -> Result<Named> {
    if let Some(named) = record.named(object) {
        return Ok(named);
    }
    match record.surveyed(object).map(|object| &object.descriptor) {
        Some(Err(error)) => {
            let text = format!("object {object}: the descriptor cannot be read: {error}");
            Err(LookError::File(ConvertError::Format { code: error.code(), message: text, at: error.offset() }))
        }
        _ => {
            let text =
                format!("object {object} does not exist: message {} has {}", record.index(), record.objects().len());
            Err(LookError::misuse("object_index_out_of_range", text))
        }
    }
}

/// True when elements are stored as they are.
fn is_raw(record: &FileRecord, object: usize) -> bool {
    let descriptor = record.object(object).and_then(|object| object.descriptor);
    descriptor.is_some_and(|descriptor| {
        descriptor.is_raw() && descriptor.masks.is_none() && descriptor.dtype.byte_width().is_some()
    })
}

/// Reads runs of elements one after the other.
fn in_ranges(
    named: &Named,
    piece: u64,
    take: &mut Pieces<'_>,
    read: impl Fn((u64, u64)) -> Result<DecodedRanges>,
) -> Result<()> {
    // Carried elements are bytes to the file.
    let len = fw_tensor::byte_len(named.dtype, &named.shape).map_err(ConvertError::from)?;
    let width = if named.carried { 1 } else { named.dtype.byte_width().unwrap_or(1) as u64 };
    let count = len / width;
    let step = (piece / width).max(1);
    let mut start = 0;
    while start < count {
        let now = step.min(count - start);
        for mut part in read((start, now))?.parts {
            if named.carried && ByteOrder::NATIVE == ByteOrder::Big {
                swap_in_place(&mut part, named.dtype.swap_unit());
            }
            take(&part)?;
        }
        start += now;
    }
    Ok(())
}

/// Decoded elements as they are handed out.
fn native(named: &Named, mut data: Vec<u8>) -> Result<Vec<u8>> {
    if named.dtype.byte_width().is_none() {
        let count = element_count(&named.shape).map_err(ConvertError::from)?;
        let bits = usize::try_from(count).ok().and_then(|count| unpack_bits(&data, count));
        return bits.ok_or_else(|| {
            let text = format!("{count} elements of one bit need {} bytes, got {}", count.div_ceil(8), data.len());
            LookError::File(ConvertError::Format { code: "decoded_size_mismatch", message: text, at: None })
        });
    }
    if named.carried && ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut data, named.dtype.swap_unit());
    }
    Ok(data)
}

/// Bytes that are read at a time; elements of carried types are at most 16 bytes wide and fill pieces exactly.
const RAW_PIECE: u64 = 1 << 20;
/// The same from a store, where each read is a request.
#[cfg(feature = "remote")]
const REMOTE_PIECE: u64 = 16 << 20;
