//! From the frames of a message to its one metadata (TG-10, TG-12.2).

use super::object_path;
use crate::describe::{GlobalMetadata, HashList, Index, MetadataMap, RESERVED, digest_text};
use crate::error::{Fault, Place, Result, TensogramError};
use crate::frame::{FrameRef, Lookup, ObjectRef, Outline, in_doubt};
use crate::wire::FrameContent;
use fw_bytes::{Limits, Span, checksum::xxh3_64};

/// The bytes of a span of a message.
///
/// # Errors
/// `truncated` when they are not there.
pub(crate) fn frame_bytes(have: &(impl Lookup + ?Sized), span: Span) -> Result<&[u8]> {
    have.lookup(span).ok_or_else(|| {
        let text = format!("need bytes {span}, which the message does not have");
        TensogramError::Framing(Fault::format("truncated", text).at(span.start))
    })
}

/// Parses one metadata frame.
pub(crate) fn metadata_of(
    message: &(impl Lookup + ?Sized),
    frame: &FrameRef,
    limits: &Limits,
) -> Result<GlobalMetadata> {
    let body = frame.body();
    GlobalMetadata::from_cbor(frame_bytes(message, body)?, body.start, limits)
}

/// Compares a frame's digest with its body. A frame without a digest passes.
pub(crate) fn verify_frame_hash(
    message: &(impl Lookup + ?Sized),
    frame: &FrameRef,
    object_index: Option<usize>,
) -> Result<()> {
    if !frame.has_hash() {
        return Ok(());
    }
    let slot = frame_bytes(message, frame.hash_slot())?;
    compare_frame_hash(frame, object_index, slot, xxh3_64(frame_bytes(message, frame.body())?))
}

/// The same for a frame whose body was hashed already.
pub(crate) fn compare_frame_hash(
    frame: &FrameRef,
    object_index: Option<usize>,
    slot: &[u8],
    actual: u64,
) -> Result<()> {
    let expected = fw_bytes::Cursor::at(slot, frame.hash_slot().start).u64_be("hash")?;
    if expected == actual {
        return Ok(());
    }
    let (expected, actual) = (digest_text(expected), digest_text(actual));
    Err(TensogramError::HashMismatch { object_index, expected, actual, place: Place::at(frame.start()) })
}

/// Compares the digest of a data object with its bytes.
///
/// # Errors
/// `MissingHash` when it carries none, `HashMismatch` when they differ.
pub(crate) fn verify_object(message: &(impl Lookup + ?Sized), frame: &FrameRef, index: usize) -> Result<()> {
    if !frame.has_hash() {
        let missing = TensogramError::MissingHash { object_index: index, place: Place::at(frame.start()) };
        return Err(missing.on(object_path(index)));
    }
    verify_frame_hash(message, frame, Some(index)).map_err(|error| error.on(object_path(index)))
}

/// The metadata of a full decode: the last metadata frame, padded to one base entry per object, with preceders merged.
///
/// Every index, hash and preceder frame is parsed too, and a faulty one is an error.
pub(crate) fn full_metadata(
    message: &(impl Lookup + ?Sized),
    outline: &Outline,
    limits: &Limits,
) -> Result<GlobalMetadata> {
    let mut metadata = None;
    for frame in &outline.others {
        let body = frame.body();
        match frame.content() {
            Some(FrameContent::Metadata) => {
                metadata = Some(metadata_of(message, frame, limits)?);
            }
            Some(FrameContent::Index) => {
                Index::from_cbor(frame_bytes(message, body)?, body.start, limits)?;
            }
            Some(FrameContent::Hashes) => {
                HashList::from_cbor(frame_bytes(message, body)?, body.start, limits)?;
            }
            // The outline keeps the frames of the body elsewhere and refuses unknown types.
            Some(FrameContent::Preceder | FrameContent::Object) | None => {}
        }
    }
    let own = |object: &ObjectRef| {
        object.preceder.as_ref().map_or(Ok(MetadataMap::new()), |frame| preceder_entry(message, frame, limits))
    };
    let preceders: Vec<MetadataMap> = outline.objects.iter().map(own).collect::<Result<_>>()?;
    if let (Some(gap), Some(last)) = (&outline.gap, &metadata)
        && last.base.len() < preceders.len()
    {
        // Nothing says that no object was lost there; an entry might be taken for another's.
        return Err(in_doubt(gap));
    }
    merged(metadata, preceders)
}

/// The last metadata frame, padded to one base entry per object, each with the keys of its preceder on top.
pub(crate) fn merged(metadata: Option<GlobalMetadata>, preceders: Vec<MetadataMap>) -> Result<GlobalMetadata> {
    let Some(mut metadata) = metadata else {
        return Err(TensogramError::Metadata(Fault::format("no_metadata_frame", "message has no metadata frame")));
    };
    let (entries, objects) = (metadata.base.len(), preceders.len());
    if entries > objects {
        let message = format!("{entries} base entries for {objects} objects");
        return Err(TensogramError::Metadata(Fault::format("base_count_exceeds_objects", message)));
    }
    metadata.base.resize_with(objects, Default::default);
    for (entry, own) in metadata.base.iter_mut().zip(preceders) {
        entry.extend(own);
    }
    Ok(metadata)
}

/// The one base entry of a preceder.
pub(crate) fn preceder_entry(
    message: &(impl Lookup + ?Sized),
    frame: &FrameRef,
    limits: &Limits,
) -> Result<MetadataMap> {
    let metadata = metadata_of(message, frame, limits)?;
    match <[_; 1]>::try_from(metadata.base) {
        Ok([mut entry]) => {
            entry.remove(RESERVED);
            Ok(entry)
        }
        Err(entries) => {
            let message = format!("preceder has {} base entries, expected exactly one", entries.len());
            Err(TensogramError::Metadata(Fault::format("preceder_base_count_wrong", message).at(frame.start())))
        }
    }
}

/// An index and the frames that disagree about how many objects there are: none of them can be told by its number.
pub(crate) fn ambiguous(index: usize, span: Span, listed: usize, found: usize) -> TensogramError {
    let text = format!(
        "no data object frame at {span}, where the index has object {index}; it lists {listed} objects, the message has \
         {found}, so that one may be lost"
    );
    TensogramError::Framing(Fault::format("index_count_mismatch", text).at(span.start).on(format!("object[{index}]")))
}
