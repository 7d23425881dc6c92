//! A message in memory, read in one call (TG-12.1).

use crate::access::{
    DecodedMessage, DecodedObject, DecodedRanges, MaskedMessage, MessageDescription, ObjectFrame, ReadFirstMetadata,
    ReadMachine,
};
use crate::describe::GlobalMetadata;
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{UnknownFrames, Walk, WalkEvent, on_slice};
use crate::message::{self, MessageBytes, MessageView, Object, ObjectView};
use crate::options::DecodeOptions;
use crate::wire::FrameContent;
use fw_bytes::Span;

/// Reads a whole message: its metadata and every object.
///
/// # Errors
/// Any fault in any frame.
///
/// ```
/// use fw_tensogram::{DecodeOptions, MessageBuilder, decode};
///
/// let message = MessageBuilder::new().tensor(&[2, 2], &[1u16, 2, 3, 4]).unwrap().encode().unwrap();
/// let decoded = decode(&message, &DecodeOptions::default()).unwrap();
/// assert_eq!(decoded.objects[0].descriptor.shape, [2, 2]);
/// ```
pub fn decode(message: &[u8], options: &DecodeOptions) -> Result<DecodedMessage> {
    message::decode(message, options)
}

/// Reads a whole message up to its payloads: every frame is followed as [`decode`] does, digests are compared when the options
/// ask for it, and the objects are handed out undecoded.
///
/// The bytes are borrowed (`&[u8]`) or shared ([`Bytes`](bytes::Bytes)); what follows a message of known length is ignored.
///
/// ```
/// use fw_tensogram::{DecodeOptions, MessageBuilder, open_objects};
///
/// let message = MessageBuilder::new().tensor(&[2, 2], &[1u16, 2, 3, 4])?.encode()?;
/// let (metadata, objects) = open_objects(&message[..], &DecodeOptions::default().with_verify_hash())?;
/// assert_eq!((metadata.base.len(), objects[0].values::<u16>()), (1, Some(&[1, 2, 3, 4][..])));
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
///
/// # Errors
/// As [`decode`], payloads aside.
pub fn open_objects<B: MessageBytes>(message: B, options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<Object<B>>)> {
    message::open(message, options)
}

/// Reads a whole message without putting NaN and infinities back: zeros stand for them, and the masks come along.
///
/// # Errors
/// Any fault in any frame.
pub fn decode_with_masks(message: &[u8], options: &DecodeOptions) -> Result<MaskedMessage> {
    message::decode_with_masks(message, options)
}

/// Reads the first metadata frame and nothing else; works on the beginning of a message too.
///
/// For streamed messages this is the header copy: without provenance, tensor information or merged preceders.
///
/// # Errors
/// Framing faults before that frame, metadata faults in it.
pub fn decode_metadata(message: &[u8]) -> Result<GlobalMetadata> {
    decode_metadata_with(message, &DecodeOptions::default())
}

/// [`decode_metadata`] with options.
///
/// # Errors
/// As [`decode_metadata`]; metadata that is longer or deeper than the limits allow, or not what its digest says.
pub fn decode_metadata_with(message: &[u8], options: &DecodeOptions) -> Result<GlobalMetadata> {
    let mut machine = ReadFirstMetadata::with_options(Span::new(0, message.len() as u64), options);
    on_slice(message, |have| machine.poll(have))
}

/// Reads metadata and descriptors through the index, and decodes no payload.
///
/// # Errors
/// Framing and metadata faults of what is read.
pub fn decode_descriptors(message: &[u8]) -> Result<MessageDescription> {
    decode_descriptors_with(message, &DecodeOptions::default())
}

/// [`decode_descriptors`] with options.
///
/// # Errors
/// As [`decode_descriptors`], and limits.
pub fn decode_descriptors_with(message: &[u8], options: &DecodeOptions) -> Result<MessageDescription> {
    MessageView::open_with(message, options)?.decode_descriptors()
}

/// Reads one object of a message, found through the index; other frames are not looked at.
///
/// # Errors
/// `Object` when there is none with this index; framing faults; digest, metadata and codec faults of this object.
pub fn decode_object(message: &[u8], index: usize, options: &DecodeOptions) -> Result<DecodedObject> {
    let object = MessageView::open_with(message, options)?.object(index)?;
    let bytes = object.decode(options)?;
    Ok(DecodedObject { descriptor: object.into_descriptor(), bytes })
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
) -> Result<DecodedRanges> {
    let options = DecodeOptions { verify_hash: false, ..options.clone() };
    MessageView::open_with(message, &options)?.object(index)?.into_ranges(ranges, &options)
}

/// Decodes one data object frame that was cut out of its message.
///
/// # Errors
/// Framing, metadata and codec faults of the frame.
pub fn decode_object_from_frame(frame: &[u8], options: &DecodeOptions) -> Result<DecodedObject> {
    lone_frame(frame)?.decode(frame, options)
}

/// Decodes runs of elements from one data object frame that was cut out of its message.
///
/// # Errors
/// As [`decode_range`].
pub fn decode_range_from_frame(frame: &[u8], ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<DecodedRanges> {
    let found = lone_frame(frame)?;
    ObjectView::read(frame, found.frame, found.index, &options.limits)?.into_ranges(ranges, options)
}

/// The data object frame that `frame` begins with.
fn lone_frame(frame: &[u8]) -> Result<ObjectFrame> {
    let mut walk = Walk::bounded(frame.len() as u64, UnknownFrames::Refuse).starting_at(0);
    match on_slice(frame, |bytes| walk.poll(bytes))? {
        WalkEvent::Frame(found) if found.start() == 0 && found.content() == Some(FrameContent::Object) => {
            Ok(ObjectFrame { index: 0, frame: found })
        }
        _ => {
            let text = "the bytes are not a data object frame";
            Err(TensogramError::Framing(Fault::format("invalid_frame_header", text).at(0)))
        }
    }
}
