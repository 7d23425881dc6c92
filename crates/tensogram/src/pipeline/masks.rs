//! Mask blobs to masks and back (TG-8.3).

use super::Encoded;
use crate::describe::{MaskDescriptor, MasksMetadata, MetadataMap, Value};
use crate::error::{Fault, Result, TensogramError};
use fw_codec::mask::{Masks, Method, Options};
use fw_tensor::DType;

/// Decodes the masks of an object.
pub(crate) fn read_masks(object: &impl Encoded) -> Result<Masks> {
    let count = object.descriptor().element_count()?;
    let mut masks = Masks::default();
    for (kind, mask) in object.descriptor().masks.iter().flat_map(|masks| masks.iter()) {
        let blob = object.mask_blob(mask)?;
        if object.descriptor().dtype == DType::Bitmask {
            let message = "a bitmask has no elements that could be NaN or infinite";
            return Err(TensogramError::Framing(Fault::format("mask_on_bitmask", message)));
        }
        let method = Method::from_name(&mask.method).ok_or_else(|| {
            let fault = Fault::format("unknown_mask_method", format!("unknown mask method {:?}", mask.method));
            TensogramError::Encoding(fault.on(format!("descriptor.masks.{}", kind.key())))
        })?;
        masks.set(kind, Some(method.decode(blob, count)?));
    }
    Ok(masks)
}

/// Encodes masks behind a payload of `payload_len` bytes: the blobs, and what the descriptor says about them.
pub(crate) fn write_masks(masks: &Masks, options: &Options, payload_len: u64) -> Result<(Vec<u8>, MasksMetadata)> {
    let mut blobs = Vec::new();
    let mut metadata = MasksMetadata::default();
    for stored in masks.append(options, &mut blobs)? {
        let mut params = MetadataMap::new();
        match &stored.method {
            Method::Zstd { level: Some(level) } => drop(params.insert("level".to_owned(), Value::from(*level))),
            Method::Blosc2 { codec, level } => {
                params.insert("codec".to_owned(), Value::from(codec.name()));
                params.insert("level".to_owned(), Value::from(*level));
            }
            Method::None | Method::Rle | Method::Roaring | Method::Lz4 | Method::Zstd { level: None } => {}
        }
        let mask = MaskDescriptor {
            method: stored.method.name().to_owned(),
            offset: payload_len + stored.offset,
            length: stored.length,
            params,
        };
        metadata.set(stored.kind, mask);
    }
    Ok((blobs, metadata))
}
