//! One object of a file of messages, to a stream.

use crate::cat::write_head;
use crate::model::stream_range;
use crate::{CatFormat, ConvertError, write_elements};
use fw_bytes::Span;
use fw_bytes::checksum::Xxh3;
use fw_source::{FileSource, ReadAt};
use fw_tensogram::wire::{FrameFlags, FrameHeader};
use fw_tensogram::{DataObjectDescriptor, DecodeOptions, DecodedObject, TensogramFile};
use fw_tensor::{ByteOrder, swap_in_place};
use std::io::Write;

/// Writes one object of a file, by its place; what carries a digest is verified before anything is written.
///
/// Elements that stand in the file as they are written are copied piece by piece. Others are decoded, and held once.
///
/// # Errors
/// When the file cannot be read or is wrong, the form cannot hold the element type, or writing fails.
pub fn cat_object(
    file: &TensogramFile,
    message: usize,
    object: usize,
    format: CatFormat,
    out: &mut dyn Write,
) -> Result<(), ConvertError> {
    let head = file.object_head(message, object)?;
    let (dtype, shape) = (head.descriptor.dtype, &head.descriptor.shape);
    if matches!(format, CatFormat::Raw | CatFormat::Npy)
        && let Some(span) = direct(&head.descriptor, head.parts.region)?
    {
        let source = FileSource::open(file.path())?;
        verify(&source, head.frame.span(), || format!("message {message}, object {object}"))?;
        write_head(dtype, shape, format, out)?;
        return stream_range(&source, span, &mut |piece| Ok(out.write_all(piece)?));
    }
    let options = DecodeOptions { verify_hash: head.frame.has_hash(), ..DecodeOptions::default() };
    let DecodedObject { descriptor, mut bytes } = file.decode_object(message, object, &options)?;
    if ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut bytes, descriptor.dtype.swap_unit());
    }
    write_elements(descriptor.dtype, &descriptor.shape, &bytes, format, out)
}

/// Where the elements of an object stand as we hand them out: not encoded, without masks, little endian.
pub(super) fn direct(
    descriptor: &DataObjectDescriptor,
    region: Span,
) -> Result<Option<Span>, fw_tensogram::TensogramError> {
    let little = descriptor.byte_order == ByteOrder::Little || descriptor.dtype.swap_unit() == 1;
    let plain = descriptor.is_raw() && descriptor.masks.is_none() && little;
    Ok((plain && region.len() == descriptor.decoded_len()?).then_some(region))
}

/// Compares the digest of the frame at `span` with its bytes, where it has one: damage must not be copied on.
pub(super) fn verify(source: &impl ReadAt, span: Span, name: impl FnOnce() -> String) -> Result<(), ConvertError> {
    let mut header = [0; 16];
    source.read_exact_at(span.start, &mut header)?;
    if !FrameHeader::read(&header, span.start).is_ok_and(|header| header.flags.contains(FrameFlags::HASH_PRESENT)) {
        return Ok(());
    }
    // The walk proved that the frame has a header and a footer of twenty bytes, the digest in the middle of it.
    let mut slot = [0; 8];
    source.read_exact_at(span.end.saturating_sub(12), &mut slot)?;
    let stored = u64::from_be_bytes(slot);
    let mut hash = Xxh3::new();
    let body = Span::new(span.start.saturating_add(16), span.end.saturating_sub(20));
    stream_range(source, body, &mut |piece| {
        hash.update(piece);
        Ok(())
    })?;
    let computed = hash.digest();
    if computed == stored {
        return Ok(());
    }
    let message =
        format!("{}: payload hash mismatch (stored {stored:016x}, computed {computed:016x}), bytes {span}", name());
    Err(ConvertError::format("hash_mismatch", message, None))
}
