//! A message in memory, read in one call (TG-12.1).

use super::DecodeOptions;
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Fault, Place, Result, TensogramError};
use crate::frame::{Outline, UnknownFrames, Walk, WalkEvent, in_doubt, on_slice};
use crate::message::{ObjectView, full_metadata, metadata_of, verify_frame_hash};
use crate::pipeline::map_objects;
use crate::wire::{FrameType, Preamble};
use fw_bytes::Limits;
use fw_codec::mask::Masks;

/// A descriptor and the decoded bytes of its object.
pub type DecodedObject = (DataObjectDescriptor, Vec<u8>);

/// Reads a whole message: its metadata and every object.
///
/// # Errors
/// Any fault in any frame.
///
/// ```
/// use fw_tensogram::{DecodeOptions, MessageBuilder, decode};
///
/// let message = MessageBuilder::new().tensor(&[2, 2], &[1u16, 2, 3, 4]).unwrap().encode().unwrap();
/// let (_metadata, objects) = decode(&message, &DecodeOptions::default()).unwrap();
/// assert_eq!(objects[0].0.shape, [2, 2]);
/// ```
pub fn decode(message: &[u8], options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
    let (metadata, objects) = open(message, options, Verify::Every)?;
    let decoded = map_objects(options.threads, objects, |object, threads| {
        decoded(object, &DecodeOptions { threads, ..options.clone() })
    })?;
    Ok((metadata, decoded))
}

/// An object with zeros for its NaN and infinities, and the masks that say where they were.
pub type MaskedObject = (DataObjectDescriptor, Vec<u8>, Masks);

/// Reads a whole message without putting NaN and infinities back: zeros stand for them, and the masks come along.
///
/// Digests are not verified.
///
/// # Errors
/// Any fault in any frame.
pub fn decode_with_masks(message: &[u8], options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<MaskedObject>)> {
    let options = DecodeOptions { verify_hash: false, restore_non_finite: false, ..options.clone() };
    let (metadata, objects) = open(message, &options, Verify::None)?;
    let masked = |object: ObjectView<'_>| {
        let located = |error: TensogramError| error.on(format!("object[{}]", object.index()));
        let (bytes, masks) = (object.decode(&options).map_err(located)?, object.decode_masks().map_err(located)?);
        Ok((object.into_descriptor(), bytes, masks))
    };
    Ok((metadata, objects.into_iter().map(masked).collect::<Result<_>>()?))
}

/// Reads the first metadata frame and nothing else; works on the beginning of a message too.
///
/// For streamed messages this is the header copy: without provenance, tensor information or merged preceders.
///
/// # Errors
/// Framing faults before that frame, metadata faults in it.
pub fn decode_metadata(message: &[u8]) -> Result<GlobalMetadata> {
    decode_metadata_with(message, &Limits::default())
}

/// [`decode_metadata`] with limits.
///
/// # Errors
/// As [`decode_metadata`]; metadata that is longer or deeper than the limits allow.
pub fn decode_metadata_with(message: &[u8], limits: &Limits) -> Result<GlobalMetadata> {
    Preamble::read(message, 0)?;
    let mut walk = Walk::bounded(message.len() as u64, UnknownFrames::Refuse);
    loop {
        match on_slice(message, |bytes| walk.poll(bytes))? {
            WalkEvent::Frame(frame) => {
                if matches!(frame.frame_type(), FrameType::HEADER_METADATA | FrameType::FOOTER_METADATA) {
                    return metadata_of(message, &frame, limits);
                }
            }
            WalkEvent::End(_) => {
                let text = "message has no metadata frame";
                return Err(TensogramError::Metadata(Fault::format("no_metadata_frame", text)));
            }
        }
    }
}

/// Reads metadata and descriptors, and decodes no payload.
///
/// # Errors
/// Any framing or metadata fault.
pub fn decode_descriptors(message: &[u8]) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
    let (metadata, objects) = open(message, &DecodeOptions::default(), Verify::None)?;
    Ok((metadata, objects.into_iter().map(ObjectView::into_descriptor).collect()))
}

/// Reads one object of a message.
///
/// # Errors
/// `Object` when there is none with this index; any framing or metadata fault; codec faults of this object.
pub fn decode_object(
    message: &[u8],
    index: usize,
    options: &DecodeOptions,
) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
    let (metadata, object) = open_one(message, index, options)?;
    let (descriptor, bytes) = decoded(object, options)?;
    Ok((metadata, descriptor, bytes))
}

/// Reads runs of elements of one object, `(first, count)` over the flattened tensor; one buffer per run.
///
/// Digests are not verified: that would read everything.
///
/// # Errors
/// As [`decode_object`]; a run that reaches past the end; codecs that cannot be cut.
pub fn decode_range(
    message: &[u8],
    index: usize,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let options = DecodeOptions { verify_hash: false, ..options.clone() };
    let (_, object) = open_one(message, index, &options)?;
    let parts = object.decode_range(ranges, &options).map_err(|error| error.on(format!("object[{index}]")))?;
    Ok((object.into_descriptor(), parts))
}

/// Decodes one data object frame that was cut out of its message.
///
/// # Errors
/// Framing, metadata and codec faults of the frame.
pub fn decode_object_from_frame(frame: &[u8], options: &DecodeOptions) -> Result<DecodedObject> {
    let object = object_of_frame(frame, options)?;
    decoded(object, options)
}

/// Decodes runs of elements from one data object frame that was cut out of its message.
///
/// # Errors
/// As [`decode_range`].
pub fn decode_range_from_frame(
    frame: &[u8],
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let object = object_of_frame(frame, options)?;
    let parts = object.decode_range(ranges, options)?;
    Ok((object.into_descriptor(), parts))
}

/// Which digests to compare while opening.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verify {
    None,
    Every,
}

fn open<'a>(
    message: &'a [u8],
    options: &DecodeOptions,
    verify: Verify,
) -> Result<(GlobalMetadata, Vec<ObjectView<'a>>)> {
    let outline = Outline::of(message, &options.limits)?;
    if options.verify_hash && verify == Verify::Every {
        // Before anything is parsed: damage anywhere in hashed bytes is a mismatch, whatever it would parse to.
        for index in 0..outline.objects.len() {
            verify_object(message, &outline, index)?;
        }
    }
    let metadata = full_metadata(message, &outline, &options.limits)?;
    let objects = (0..outline.objects.len())
        .map(|index| object_view(message, &outline, index, options))
        .collect::<Result<_>>()?;
    Ok((metadata, objects))
}

fn open_one<'a>(message: &'a [u8], index: usize, options: &DecodeOptions) -> Result<(GlobalMetadata, ObjectView<'a>)> {
    let outline = Outline::of(message, &options.limits)?;
    if index >= outline.objects.len() {
        if let Some(gap) = &outline.gap {
            return Err(in_doubt(gap).on(format!("object[{index}]")));
        }
        let text = format!("no object {index}, the message has {}", outline.objects.len());
        return Err(TensogramError::Object(Fault::misuse("object_index_out_of_range", text)));
    }
    if options.verify_hash {
        verify_object(message, &outline, index)?;
    }
    let metadata = full_metadata(message, &outline, &options.limits)?;
    Ok((metadata, object_view(message, &outline, index, options)?))
}

fn object_view<'a>(
    message: &'a [u8],
    outline: &Outline,
    index: usize,
    options: &DecodeOptions,
) -> Result<ObjectView<'a>> {
    let frame = outline.objects[index].frame;
    ObjectView::read(message, frame, index, &options.limits).map_err(|error| error.on(format!("object[{index}]")))
}

fn verify_object(message: &[u8], outline: &Outline, index: usize) -> Result<()> {
    let frame = &outline.objects[index].frame;
    if !frame.has_hash() {
        return Err(TensogramError::MissingHash { object_index: index, place: Place::at(frame.start()) });
    }
    verify_frame_hash(message, frame, Some(index))
}

fn decoded(object: ObjectView<'_>, options: &DecodeOptions) -> Result<DecodedObject> {
    // Opening has verified the digests already.
    let options = DecodeOptions { verify_hash: false, ..options.clone() };
    let bytes = object.decode(&options).map_err(|error| error.on(format!("object[{}]", object.index())))?;
    Ok((object.into_descriptor(), bytes))
}

fn object_of_frame<'a>(frame: &'a [u8], options: &DecodeOptions) -> Result<ObjectView<'a>> {
    let mut walk = Walk::bounded(frame.len() as u64, UnknownFrames::Refuse).starting_at(0);
    match on_slice(frame, |bytes| walk.poll(bytes))? {
        WalkEvent::Frame(found) if found.start() == 0 && found.frame_type() == FrameType::NTENSOR => {
            if options.verify_hash && !found.has_hash() {
                return Err(TensogramError::MissingHash { object_index: 0, place: Place::at(0) });
            }
            if options.verify_hash {
                verify_frame_hash(frame, &found, Some(0))?;
            }
            ObjectView::read(frame, found, 0, &options.limits)
        }
        _ => {
            let text = "bytes are no data object frame";
            Err(TensogramError::Framing(Fault::format("invalid_frame_header", text).at(0)))
        }
    }
}
