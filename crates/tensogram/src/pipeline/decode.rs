//! Payloads to elements (TG-12.3).

use super::masks::read_masks;
use super::plan::pipeline_of;
use super::{Encoded, whole};
use crate::describe::DataObjectDescriptor;
use crate::error::{ErrorKind, Fault, Result, TensogramError, too_large};
use crate::options::DecodeOptions;
use fw_bytes::Limits;
use fw_codec::chain::Pipeline;
use fw_codec::parallel;
use fw_tensor::{ByteOrder, Element, TensorError};
use zerocopy::{FromBytes, IntoBytes};

/// Decodes an object into a buffer of its own.
pub(crate) fn decode_to_vec(object: &impl Encoded, options: &DecodeOptions) -> Result<Vec<u8>> {
    let descriptor = object.descriptor();
    // Limits and the claims of the payload are checked by the pipeline, before it takes memory.
    let pipeline = sized_pipeline(descriptor, object.payload_len())?;
    let mut out = pipeline.decode(whole(object)?, &chain_options(descriptor, options)?)?;
    restore(object, options, &mut out)?;
    Ok(out)
}

/// Decodes an object and keeps nothing of it: shows that [`decode_to_vec`] succeeds. What is held is what its codec needs,
/// and its masks.
pub(crate) fn check_decodes(object: &impl Encoded, options: &DecodeOptions) -> Result<()> {
    let descriptor = object.descriptor();
    let pipeline = sized_pipeline(descriptor, object.payload_len())?;
    let chain = chain_options(descriptor, options)?;
    match descriptor.is_raw() {
        // Its length is right: there is nothing else to decode.
        true => pipeline.check_limits(object.payload_len(), &chain.limits)?,
        false => pipeline.check_decodes(whole(object)?, &chain)?,
    }
    // Putting masks back cannot fail once they are read.
    if object.is_masked() { read_masks(object).map(drop) } else { Ok(()) }
}

/// Decodes an object into `out`.
///
/// # Errors
/// `buffer_length_mismatch` when `out` does not have the decoded length.
pub(crate) fn decode_into(object: &impl Encoded, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    let pipeline = limited_pipeline(object.descriptor(), object.payload_len(), &options.limits)?;
    check_room(object.descriptor(), out.len())?;
    pipeline.decode_into(whole(object)?, &chain_options(object.descriptor(), options)?, out)?;
    restore(object, options, out)
}

/// Decodes an object into values of its element type, in the byte order of this machine.
///
/// # Errors
/// `dtype_mismatch` when `T` is another type.
pub(crate) fn decode_values<T: Element>(object: &impl Encoded, options: &DecodeOptions) -> Result<Vec<T>> {
    let options = DecodeOptions { native_byte_order: true, ..options.clone() };
    let pipeline = limited_pipeline(object.descriptor(), object.payload_len(), &options.limits)?;
    check_type::<T>(object.descriptor())?;
    if let Some(values) = in_place(object).and_then(|bytes| <[T]>::ref_from_bytes(bytes).ok()) {
        check_memory::<T>(values.len())?;
        return Ok(values.to_vec());
    }
    // Nothing is reserved before the payload could truly decode to this many.
    pipeline.check_payload(whole(object)?)?;
    let mut values = values_for::<T>(object.descriptor())?;
    decode_into(object, &options, values.as_mut_bytes())?;
    Ok(values)
}

/// Room for the values of an object.
pub(crate) fn values_for<T: Element>(descriptor: &DataObjectDescriptor) -> Result<Vec<T>> {
    check_type::<T>(descriptor)?;
    let count = usize::try_from(descriptor.element_count()?).map_err(|_| too_large())?;
    check_memory::<T>(count)?;
    Ok(vec![T::new_zeroed(); count])
}

/// Fails if there is no memory for so many values: `vec!` and `to_vec` would end the process. No page is touched.
fn check_memory<T>(count: usize) -> Result<()> {
    Vec::<T>::new().try_reserve_exact(count).map_err(|_| {
        let message = format!("no memory for {count} values of {} bytes each", size_of::<T>());
        TensogramError::Encoding(Fault::limit("out_of_memory", message))
    })
}

/// Whether the payload of an object is its elements: no codec, no masks, and as many bytes as the shape says.
pub(crate) fn is_plain(descriptor: &DataObjectDescriptor, payload_len: u64) -> bool {
    let unmasked = descriptor.masks.as_ref().is_none_or(|masks| masks.is_empty());
    descriptor.is_raw() && unmasked && descriptor.decoded_len().is_ok_and(|len| len == payload_len)
}

/// The elements where they stand, when nothing about them needs to change on this machine.
pub(crate) fn in_place(object: &impl Encoded) -> Option<&[u8]> {
    let descriptor = object.descriptor();
    let swapped = descriptor.byte_order != ByteOrder::NATIVE && descriptor.dtype.swap_unit() > 1;
    if swapped || !is_plain(descriptor, object.payload_len()) {
        return None;
    }
    object.whole_payload()
}

/// Refuses a buffer that is not as long as the decoded object.
pub(crate) fn check_room(descriptor: &DataObjectDescriptor, len: usize) -> Result<()> {
    let expected = descriptor.decoded_len()?;
    if len as u64 == expected {
        return Ok(());
    }
    let message = format!("buffer of {len} bytes for an object of {expected}");
    Err(TensogramError::Encoding(Fault::misuse("buffer_length_mismatch", message)))
}

/// Refuses a type that is not that of the elements.
pub(crate) fn check_type<T: Element>(descriptor: &DataObjectDescriptor) -> Result<()> {
    if descriptor.dtype == T::DTYPE {
        return Ok(());
    }
    Err(TensorError::WrongType { expected: T::DTYPE, found: descriptor.dtype }.into())
}

/// The pipeline of an object, once the payload at hand could truly decode to what the descriptor claims.
///
/// Nothing is reserved before this: a few bytes that claim a terabyte end here.
pub(crate) fn checked_pipeline(object: &impl Encoded, options: &DecodeOptions) -> Result<Pipeline> {
    let pipeline = limited_pipeline(object.descriptor(), object.payload_len(), &options.limits)?;
    check_at_hand(&pipeline, object)?;
    Ok(pipeline)
}

/// Checks what the payload claims, when all of it is at hand; where only parts are, each part is checked.
pub(super) fn check_at_hand(pipeline: &Pipeline, object: &impl Encoded) -> Result<()> {
    match object.whole_payload() {
        Some(payload) => Ok(pipeline.check_payload(payload)?),
        None => Ok(()),
    }
}

/// The pipeline of an object whose payload has `payload_len` bytes, unless that is above the limits: what can be checked
/// without any byte of the payload, and so comes first wherever the payload is.
pub(crate) fn limited_pipeline(
    descriptor: &DataObjectDescriptor,
    payload_len: u64,
    limits: &Limits,
) -> Result<Pipeline> {
    let pipeline = sized_pipeline(descriptor, payload_len)?;
    pipeline.check_limits(payload_len, limits)?;
    Ok(pipeline)
}

/// Whether a payload of this length could belong to the descriptor: parameters that fit the codecs, and the right length
/// where nothing is compressed. A codec that this build lacks is not a fault.
pub(crate) fn check_head(descriptor: &DataObjectDescriptor, payload_len: u64) -> Result<()> {
    match sized_pipeline(descriptor, payload_len) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
        pipeline => pipeline.map(drop),
    }
}

/// The pipeline of an object whose payload has `payload_len` bytes, which must be right where nothing is encoded. This
/// claim is checked before the limits: the error says which two sizes disagree.
fn sized_pipeline(descriptor: &DataObjectDescriptor, payload_len: u64) -> Result<Pipeline> {
    let pipeline = pipeline_of(descriptor)?;
    if descriptor.is_raw() && payload_len != pipeline.decoded_len() {
        let (shape, dtype, expected) = (&descriptor.shape, descriptor.dtype, pipeline.decoded_len());
        let message = format!("{dtype} elements of shape {shape:?} take {expected} payload bytes, found {payload_len}");
        return Err(TensogramError::Encoding(Fault::new(ErrorKind::Codec, "payload_length_mismatch", message)));
    }
    Ok(pipeline)
}

/// Byte order and threads as the codecs want them.
pub(crate) fn chain_options(
    descriptor: &DataObjectDescriptor,
    options: &DecodeOptions,
) -> Result<fw_codec::chain::DecodeOptions> {
    Ok(fw_codec::chain::DecodeOptions::default()
        .with_threads(parallel::resolve(options.threads)?)
        .with_order(output_order(descriptor, options))
        .with_limits(options.limits))
}

/// Puts NaN and infinities back, unless the caller wants zeros.
fn restore(object: &impl Encoded, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    if options.restore_non_finite && object.is_masked() {
        let descriptor = object.descriptor();
        read_masks(object)?.restore(out, descriptor.dtype, output_order(descriptor, options), 0);
    }
    Ok(())
}

fn output_order(descriptor: &DataObjectDescriptor, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fw_tensor::DType;

    #[test]
    fn more_values_than_memory_holds_are_an_error() {
        let descriptor = DataObjectDescriptor::new(DType::Float64, &[1 << 60]).unwrap();
        let error = values_for::<f64>(&descriptor).unwrap_err();
        assert_eq!((error.code(), error.kind()), ("out_of_memory", ErrorKind::Limit));
    }
}
