//! A whole message in one call (TG-11.2).

use super::frames::{COPIED, digest, frame_len, object_len, padded, write_frame, write_object};
use super::layout::layout;
use super::{EncodeOptions, ObjectInput};
use crate::describe::{DataObjectDescriptor, GlobalMetadata, HashList, RESERVED, Value};
use crate::error::{Fault, Result, TensogramError};
use crate::pipeline::{self, FiniteCheck, Prepared};
use crate::wire::{FrameType, MessageFlags, POSTAMBLE_LEN, Postamble, Preamble};
use fw_codec::parallel;

/// Encodes a message: metadata, and each object's elements in the byte order its descriptor names.
///
/// ```
/// use fw_tensogram::*;
/// use fw_tensor::DType;
///
/// let descriptor = DataObjectDescriptor::new(DType::UInt16, &[300])?.with_pipeline(Pipe::szip())?;
/// let data = [0; 600];
/// let objects = [ObjectInput { descriptor: &descriptor, data: &data }];
/// let message = encode(&GlobalMetadata::default(), &objects, &EncodeOptions::default())?;
/// assert_eq!(MessageView::open(&message)?.object(0)?.decode(&DecodeOptions::default())?, data);
/// # Ok::<(), TensogramError>(())
/// ```
///
/// # Errors
/// `Metadata` for reserved keys, more base entries than objects, descriptors or data lengths that do not fit;
/// `Encoding` for values or parameters a codec refuses.
pub fn encode<'a, O: Into<ObjectInput<'a>> + Copy>(
    metadata: &GlobalMetadata,
    objects: &[O],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    encode_objects(metadata, &inputs(objects), options)
}

fn encode_objects(metadata: &GlobalMetadata, objects: &[ObjectInput<'_>], options: &EncodeOptions) -> Result<Vec<u8>> {
    check_metadata(metadata, objects.len())?;
    // Where all objects are raw, looking at them is most of the work beside copying: both in one go.
    let raw = objects.iter().all(|object| object.descriptor.is_raw());
    let finite = if raw { FiniteCheck::WhileWriting } else { FiniteCheck::First };
    let prepared = prepare_all(objects, options, |descriptor, data, threads| {
        let options = EncodeOptions { threads, ..options.clone() };
        pipeline::prepare(descriptor, data, &options, finite)
    })?;
    assembled(metadata, prepared, options)
}

/// Encodes a message from payloads that already went through the codecs their descriptors name.
///
/// # Errors
/// As [`encode`]; payloads are stored as given and not decoded to check them.
pub fn encode_pre_encoded<'a, O: Into<ObjectInput<'a>> + Copy>(
    metadata: &GlobalMetadata,
    objects: &[O],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    check_metadata(metadata, objects.len())?;
    let prepared = prepare_all(&inputs(objects), options, |descriptor, payload, _| {
        pipeline::prepare_pre_encoded(descriptor, payload)
    })?;
    assembled(metadata, prepared, options)
}

/// The base entry an encoder adds to: tensor information under `_reserved_` (TG-6.2).
pub(crate) fn tensor_information(descriptor: &DataObjectDescriptor) -> Value {
    let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| Value::from(*number)).collect());
    let tensor: Value = [
        ("ndim", Value::from(descriptor.ndim)),
        ("dtype", Value::from(descriptor.dtype.name())),
        ("shape", list(&descriptor.shape)),
        ("strides", list(&descriptor.strides)),
    ]
    .into_iter()
    .collect();
    [("tensor", tensor)].into_iter().collect()
}

/// Refuses more base entries than objects.
pub(super) fn check_base_count(entries: usize, objects: usize) -> Result<()> {
    if entries <= objects {
        return Ok(());
    }
    let message = format!("{entries} base entries for {objects} objects");
    Err(TensogramError::Metadata(Fault::misuse("base_count_exceeds_objects", message)))
}

fn check_metadata(metadata: &GlobalMetadata, object_count: usize) -> Result<()> {
    metadata.check_client()?;
    check_base_count(metadata.base.len(), object_count)
}

fn inputs<'a, O: Into<ObjectInput<'a>> + Copy>(objects: &[O]) -> Vec<ObjectInput<'a>> {
    objects.iter().map(|object| (*object).into()).collect()
}

fn prepare_all<'a>(
    objects: &[ObjectInput<'a>],
    options: &EncodeOptions,
    prepare: impl Fn(&'a DataObjectDescriptor, &'a [u8], usize) -> Result<Prepared<'a>> + Sync,
) -> Result<Vec<Prepared<'a>>> {
    let numbered = objects.iter().copied().enumerate().collect();
    // On several threads one object's digest is made while another is still being compressed; on one it is made while
    // the object is copied, when its bytes are in the cache.
    let several = options.hashing && objects.len() > 1 && parallel::resolve(options.threads)? > 1;
    pipeline::map_objects(options.threads, numbered, |(index, ObjectInput { descriptor, data }), threads| {
        let mut prepared = prepare(descriptor, data, threads).map_err(|error| error.on(format!("object[{index}]")))?;
        if several {
            prepared.digest = Some(digest(&prepared));
        }
        Ok(prepared)
    })
}

/// The message; the memory of its parts is kept for the next one.
fn assembled(metadata: &GlobalMetadata, objects: Vec<Prepared<'_>>, options: &EncodeOptions) -> Result<Vec<u8>> {
    let message = assemble(metadata, &objects, options)?;
    objects.into_iter().for_each(Prepared::recycle);
    Ok(message)
}

fn assemble(metadata: &GlobalMetadata, objects: &[Prepared<'_>], options: &EncodeOptions) -> Result<Vec<u8>> {
    let mut complete = metadata.clone();
    complete.base.resize_with(objects.len(), Default::default);
    for (entry, object) in complete.base.iter_mut().zip(objects) {
        entry.insert(RESERVED.to_owned(), tensor_information(&object.descriptor));
    }
    complete.reserved = options.provenance().to_map();
    let metadata_cbor = complete.to_cbor();

    let hashing = options.hashing;
    let gather = hashing && !objects.is_empty();
    let header_hashes = gather && options.aggregate_hash.in_header();
    let footer_hashes = gather && options.aggregate_hash.in_footer();
    let hash_list_len = HashList::new(std::iter::repeat_n(0, objects.len())).to_cbor().len();
    let object_lens: Vec<u64> = objects.iter().map(object_len).collect();
    let layout = layout(metadata_cbor.len(), header_hashes.then_some(hash_list_len), &object_lens);
    let hash_frame_len = padded(frame_len(FrameType::HEADER_HASH, hash_list_len as u64));
    let postamble_start = layout.footer_start + if footer_hashes { hash_frame_len } else { 0 };
    let total_length = Some(postamble_start + POSTAMBLE_LEN);

    let flags = MessageFlags::HEADER_METADATA
        | MessageFlags::HEADER_INDEX.when(!objects.is_empty())
        | MessageFlags::HEADER_HASHES.when(header_hashes)
        | MessageFlags::FOOTER_HASHES.when(footer_hashes)
        | MessageFlags::HASHES_PRESENT.when(hashing);
    // The whole message at once, in huge pages where it is large, and written once.
    let mut out = fw_codec::alloc::with_capacity((postamble_start + POSTAMBLE_LEN) as usize)?;
    out.extend_from_slice(&Preamble { flags, reserved: 0, total_length }.to_bytes());
    write_frame(&mut out, FrameType::HEADER_METADATA, &metadata_cbor, hashing)?;
    if !objects.is_empty() {
        write_frame(&mut out, FrameType::HEADER_INDEX, &layout.index_cbor, hashing)?;
    }
    // The digests are known only when the objects are written: keep their place and fill it in afterwards.
    let hash_frame_start = out.len();
    if header_hashes {
        out.resize(hash_frame_start + hash_frame_len as usize, 0);
    }
    let mut digests = Vec::with_capacity(objects.len());
    let threads = parallel::resolve(options.threads)?;
    for (index, object) in objects.iter().enumerate() {
        let written = write_object(&mut out, object, hashing, threads, COPIED);
        digests.push(written.map_err(|error| error.on(format!("object[{index}]")))?.digest);
    }
    let hash_list = HashList::new(digests).to_cbor();
    if header_hashes {
        let mut frame = Vec::with_capacity(hash_frame_len as usize);
        write_frame(&mut frame, FrameType::HEADER_HASH, &hash_list, hashing)?;
        out[hash_frame_start..hash_frame_start + frame.len()].copy_from_slice(&frame);
    }
    if footer_hashes {
        write_frame(&mut out, FrameType::FOOTER_HASH, &hash_list, hashing)?;
    }
    out.extend_from_slice(&Postamble { first_footer_offset: layout.footer_start, total_length }.to_bytes());
    debug_assert_eq!(Some(out.len() as u64), total_length);
    Ok(out)
}
