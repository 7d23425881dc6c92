//! Payloads to elements (TG-12.3).

use crate::describe::DataObjectDescriptor;
use crate::error::{Fault, Result, TensogramError};
use crate::message::ObjectView;
use crate::read::DecodeOptions;
use fw_tensor::{ByteOrder, swap_in_place};

/// Decodes an object into a buffer of its own.
pub(crate) fn decode_to_vec(object: &ObjectView<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    let len = check_claim(object, options)?;
    let len = usize::try_from(len).map_err(|_| claim_fault(object, len))?;
    let mut out = vec![0; len];
    decode_into(object, options, &mut out)?;
    Ok(out)
}

/// Decodes an object into `out`, whose length is the decoded length.
pub(crate) fn decode_into(object: &ObjectView<'_>, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    let descriptor = object.descriptor();
    check_claim(object, options)?;
    if !descriptor.is_raw() {
        return Err(unknown_stage(descriptor));
    }
    out.copy_from_slice(object.payload());
    to_wanted_order(descriptor, options, out);
    Ok(())
}

/// The decoded length, once the payload at hand could truly decode to it.
///
/// Nothing is reserved before this: a few bytes that claim a terabyte end here.
pub(crate) fn check_claim(object: &ObjectView<'_>, options: &DecodeOptions) -> Result<u64> {
    let descriptor = object.descriptor();
    let claimed = descriptor.decoded_len()?;
    let payload_len = object.payload().len() as u64;
    if descriptor.is_raw() && claimed != payload_len {
        let shape = &descriptor.shape;
        let message = format!(
            "{} tensor of shape {shape:?} needs {claimed} bytes, the payload has {payload_len}",
            descriptor.dtype
        );
        let fault = Fault::format("payload_length_mismatch", message).at(object.parts().region.start);
        return Err(TensogramError::Encoding(fault));
    }
    let limits = &options.limits;
    if claimed > limits.object_len {
        let message = format!("object of {claimed} bytes is above the limit object_len of {}", limits.object_len);
        return Err(TensogramError::Encoding(Fault::limit("limit_object_len", message)));
    }
    if claimed > limits.expansion_floor && claimed / limits.expansion_ratio > payload_len {
        let ratio = limits.expansion_ratio;
        let message =
            format!("payload of {payload_len} bytes claims {claimed}, above the limit expansion_ratio of {ratio}");
        return Err(TensogramError::Encoding(Fault::limit("limit_expansion_ratio", message)));
    }
    Ok(claimed)
}

/// Changes elements from the descriptor's byte order to the one the caller wants.
pub(crate) fn to_wanted_order(descriptor: &DataObjectDescriptor, options: &DecodeOptions, out: &mut [u8]) {
    if options.native_byte_order && descriptor.byte_order != ByteOrder::NATIVE {
        swap_in_place(out, descriptor.dtype.swap_unit());
    }
}

fn claim_fault(object: &ObjectView<'_>, len: u64) -> TensogramError {
    let message = format!("object of {len} bytes does not fit in the address space");
    TensogramError::Encoding(Fault::limit("decoded_too_large", message).at(object.parts().region.start))
}

pub(crate) fn unknown_stage(descriptor: &DataObjectDescriptor) -> TensogramError {
    let message = format!(
        "no codec for encoding {:?}, filter {:?}, compression {:?}",
        descriptor.encoding, descriptor.filter, descriptor.compression
    );
    TensogramError::Encoding(Fault::new(crate::error::ErrorKind::Unsupported, "unknown_codec", message))
}
