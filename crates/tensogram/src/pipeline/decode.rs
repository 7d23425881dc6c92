//! Payloads to elements (TG-12.3).

use super::Encoded;
use super::masks::read_masks;
use super::plan::pipeline_of;
use crate::describe::DataObjectDescriptor;
use crate::error::Result;
use crate::message::ObjectView;
use crate::read::DecodeOptions;
use fw_codec::chain::Pipeline;
use fw_codec::parallel;
use fw_tensor::ByteOrder;

/// Decodes an object into a buffer of its own.
pub(crate) fn decode_to_vec(object: &ObjectView<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    let pipeline = checked_pipeline(object, options)?;
    let (descriptor, payload) = (object.descriptor(), object.payload());
    let chain = chain_options(descriptor, options)?;
    let mut out = if descriptor.is_raw() && payload.len() < FRESH_PAGES {
        // Memory of this size is likely to be warm: one copy, nothing cleared before.
        let mut copy = payload.to_vec();
        if chain.order != descriptor.byte_order {
            fw_codec::swap::swap_threaded(&mut copy, descriptor.dtype.swap_unit(), chain.threads);
        }
        copy
    } else {
        pipeline.decode(payload, &chain)?
    };
    restore(object, options, &mut out)?;
    Ok(out)
}

/// Decodes an object into `out`, whose length is the decoded length.
pub(crate) fn decode_into(object: &ObjectView<'_>, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    let pipeline = checked_pipeline(object, options)?;
    pipeline.decode_into(object.payload(), &chain_options(object.descriptor(), options)?, out)?;
    restore(object, options, out)
}

/// The pipeline of an object, once the payload at hand could truly decode to what the descriptor claims.
///
/// Nothing is reserved before this: a few bytes that claim a terabyte end here.
pub(crate) fn checked_pipeline(object: &impl Encoded, options: &DecodeOptions) -> Result<Pipeline> {
    let pipeline = pipeline_of(object.descriptor())?;
    // The cheap claim first: it says which two sizes disagree. Where only parts are at hand, each part is checked.
    if let Some(payload) = object.whole_payload() {
        pipeline.check_payload(payload)?;
    }
    pipeline.check_limits(object.payload_len(), &options.limits)?;
    Ok(pipeline)
}

/// Whether a payload of this length could belong to the descriptor: parameters that fit the codecs, and the right length
/// where nothing is compressed. A codec that this build lacks is no fault.
pub(crate) fn check_head(descriptor: &DataObjectDescriptor, payload_len: u64) -> Result<()> {
    let pipeline = match pipeline_of(descriptor) {
        Err(error) if error.kind() == crate::ErrorKind::Unsupported => return Ok(()),
        pipeline => pipeline?,
    };
    if descriptor.is_raw() && payload_len != pipeline.decoded_len() {
        let message = format!("payload of {payload_len} bytes for an object of {}", pipeline.decoded_len());
        let fault = crate::Fault::format("payload_length_mismatch", message);
        return Err(crate::TensogramError::Encoding(fault));
    }
    Ok(())
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
fn restore(object: &ObjectView<'_>, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    if options.restore_non_finite && object.masks().next().is_some() {
        let descriptor = object.descriptor();
        read_masks(object)?.restore(out, descriptor.dtype, output_order(descriptor, options), 0);
    }
    Ok(())
}

fn output_order(descriptor: &DataObjectDescriptor, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order }
}

/// From this size on memory comes fresh from the kernel, cleared anyway, and is worth asking for in large pages.
const FRESH_PAGES: usize = 32 << 20;
