//! Elements to payloads (TG-C1).

use super::decode::unknown_stage;
use crate::describe::DataObjectDescriptor;
use crate::error::{Fault, Result, TensogramError};
use crate::write::EncodeOptions;
use std::borrow::Cow;

/// An object ready to be framed.
#[derive(Clone, Debug)]
pub(crate) struct Prepared<'a> {
    /// The descriptor as it will be read.
    pub(crate) descriptor: Cow<'a, DataObjectDescriptor>,
    /// The descriptor in canonical CBOR.
    pub(crate) cbor: Vec<u8>,
    /// The encoded payload.
    pub(crate) payload: Cow<'a, [u8]>,
    /// The mask blobs behind it.
    pub(crate) masks: Vec<u8>,
}

/// Runs the codecs a descriptor names.
pub(crate) fn prepare<'a>(
    descriptor: &'a DataObjectDescriptor,
    data: &'a [u8],
    _options: &EncodeOptions,
) -> Result<Prepared<'a>> {
    check(descriptor)?;
    check_data_len(descriptor, data)?;
    if !descriptor.is_raw() {
        return Err(unknown_stage(descriptor));
    }
    Ok(prepared(Cow::Borrowed(descriptor), Cow::Borrowed(data), Vec::new()))
}

/// Takes a payload that already went through the codecs.
pub(crate) fn prepare_pre_encoded<'a>(descriptor: &'a DataObjectDescriptor, payload: &'a [u8]) -> Result<Prepared<'a>> {
    check(descriptor)?;
    if descriptor.is_raw() {
        check_data_len(descriptor, payload)?;
    }
    Ok(prepared(Cow::Borrowed(descriptor), Cow::Borrowed(payload), Vec::new()))
}

fn prepared<'a>(descriptor: Cow<'a, DataObjectDescriptor>, payload: Cow<'a, [u8]>, masks: Vec<u8>) -> Prepared<'a> {
    let cbor = descriptor.to_cbor();
    Prepared { descriptor, cbor, payload, masks }
}

fn check(descriptor: &DataObjectDescriptor) -> Result<()> {
    descriptor.check_structure()?;
    if !crate::describe::is_tensogram_dtype(descriptor.dtype) {
        let message = format!("the format has no element type {}", descriptor.dtype);
        return Err(TensogramError::Metadata(Fault::misuse("unsupported_dtype", message)));
    }
    if descriptor.masks.is_some() {
        let message = "masks are written by the encoder, not given to it";
        return Err(TensogramError::Metadata(Fault::misuse("masks_given", message)).on("descriptor.masks"));
    }
    Ok(())
}

fn check_data_len(descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
    let expected = descriptor.decoded_len()?;
    if expected == data.len() as u64 {
        return Ok(());
    }
    let (dtype, shape) = (descriptor.dtype, &descriptor.shape);
    let message = format!("{dtype} tensor of shape {shape:?} needs {expected} bytes, got {}", data.len());
    Err(TensogramError::Metadata(Fault::misuse("data_length_mismatch", message)))
}
