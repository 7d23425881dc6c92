//! A message in one call: every frame followed, every object decoded (TG-12.1).

use super::held::MessageBytes;
use super::object::{Object, ObjectView};
use crate::access::{
    DecodedMessage, DecodedObject, MaskedMessage, MaskedObject, full_metadata, object_path, verify_description,
    verify_object,
};
use crate::describe::GlobalMetadata;
use crate::error::{Result, TensogramError};
use crate::frame::{Outline, on_slice};
use crate::options::DecodeOptions;
use crate::pipeline::map_objects;

/// Reads a whole message: its metadata and every object.
pub(crate) fn decode(message: &[u8], options: &DecodeOptions) -> Result<DecodedMessage> {
    let (metadata, objects) = open(message, options)?;
    // Opening has verified the digests already.
    let options = DecodeOptions { verify_hash: false, ..options.clone() };
    let objects = map_objects(options.threads, objects, |object, threads| {
        let options = DecodeOptions { threads, ..options.clone() };
        let bytes = object.decode(&options).map_err(|error| error.on(object_path(object.index())))?;
        Ok(DecodedObject { descriptor: object.into_descriptor(), bytes })
    })?;
    Ok(DecodedMessage { metadata, objects })
}

/// Reads a whole message without putting NaN and infinities back.
pub(crate) fn decode_with_masks(message: &[u8], options: &DecodeOptions) -> Result<MaskedMessage> {
    let (metadata, objects) = open(message, options)?;
    let options = DecodeOptions { verify_hash: false, restore_non_finite: false, ..options.clone() };
    let masked = |object: ObjectView<'_>| {
        let located = |error: TensogramError| error.on(object_path(object.index()));
        let bytes = object.decode(&options).map_err(located)?;
        let masks = object.decode_masks_with(&options).map_err(located)?;
        Ok(MaskedObject { descriptor: object.into_descriptor(), bytes, masks })
    };
    Ok(MaskedMessage { metadata, objects: objects.into_iter().map(masked).collect::<Result<_>>()? })
}

/// Follows every frame of a message, compares digests when asked to, and decodes nothing.
pub(crate) fn open<B: MessageBytes>(message: B, options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<Object<B>>)> {
    let bytes = message.as_ref();
    let outline = Outline::of(bytes, &options.limits)?;
    if options.verify_hash {
        // Before anything is parsed: damage anywhere in hashed bytes is a mismatch, whatever it would parse to.
        for (index, object) in outline.objects.iter().enumerate() {
            verify_object(bytes, &object.frame, index)?;
        }
        on_slice(bytes, |have| verify_description(have, &outline))?;
    }
    let metadata = full_metadata(bytes, &outline, &options.limits)?;
    let view = |(index, frame)| {
        let object = Object::read(message.clone(), frame, index, &options.limits);
        object.map_err(|error| error.on(object_path(index)))
    };
    let frames = outline.objects.iter().map(|object| object.frame);
    Ok((metadata, frames.enumerate().map(view).collect::<Result<_>>()?))
}
